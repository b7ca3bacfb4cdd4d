-- TRUNCATE asks no policy.
select
  n.nspname::text,
  c.relname::text,
  'table',
  c.relname::text,
  true,
  string_agg(r.rolname::text, ', ' order by r.rolname),
  array[format('revoke truncate on table %I.%I from public, anon, authenticated', n.nspname, c.relname)]
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
join pg_roles r on r.rolname in ('anon', 'authenticated') and has_table_privilege(r.oid, c.oid, 'truncate')
where n.nspname = any ($1::text[])
  and c.relkind in ('r', 'p')
  and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
group by n.nspname, c.relname
order by 1, 2
limit $2
