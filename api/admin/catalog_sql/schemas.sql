select
  n.nspname::text,
  coalesce(obj_description(n.oid, 'pg_namespace'), ''),
  pg_get_userbyid(n.nspowner)::text
from pg_namespace n
where n.nspname !~ '^pg_'
  and n.nspname not in ('information_schema', 'basalt')
order by n.nspname
