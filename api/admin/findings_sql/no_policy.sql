-- Tables that nobody reads through the API, perhaps not on purpose.
select
  n.nspname::text,
  c.relname::text,
  'table',
  c.relname::text,
  true,
  '',
  array[format('revoke all on table %I.%I from public, anon, authenticated', n.nspname, c.relname)]
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
where n.nspname = any ($1::text[])
  and c.relkind in ('r', 'p')
  and c.relrowsecurity
  and not c.relispartition
  and not exists (select from pg_policy p where p.polrelid = c.oid)
  and exists (
    select
    from pg_roles r
    cross join unnest(array['select', 'insert', 'update', 'delete']) as p (name)
    where r.rolname in ('anon', 'authenticated')
      and has_table_privilege(r.oid, c.oid, p.name)
  )
order by 1, 2
limit $2
