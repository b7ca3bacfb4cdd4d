select
  p.oid,
  r.rolname::text
from pg_proc p
join pg_namespace n on n.oid = p.pronamespace
join pg_roles r on r.rolname = any ($2::text[])
where p.prokind = 'f'
  and n.nspname = any ($1::text[])
  and has_schema_privilege(r.oid, n.oid, 'usage')
  and has_function_privilege(r.oid, p.oid, 'execute')
order by p.oid, array_position($2::text[], r.rolname::text)
