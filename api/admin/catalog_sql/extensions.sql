select
  e.extname::text,
  e.extversion,
  n.nspname::text,
  coalesce(obj_description(e.oid, 'pg_extension'), '')
from pg_extension e
join pg_namespace n on n.oid = e.extnamespace
order by e.extname
