select
  n.nspname,
  obj_description(n.oid, 'pg_namespace')
from pg_namespace n
where n.nspname = any ($1::text[])
