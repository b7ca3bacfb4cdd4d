-- Tables of exposed schemas that hold nobody back who has a grant.
select
  n.nspname::text,
  c.relname::text,
  'table',
  c.relname::text,
  true,
  (
    select string_agg(format('%s may %s', r.rolname, held.names), '; ' order by r.rolname)
    from pg_roles r
    cross join lateral (
      select string_agg(p.name, ', ' order by p.place) as names
      from unnest(array['select', 'insert', 'update', 'delete']) with ordinality as p (name, place)
      where has_table_privilege(r.oid, c.oid, p.name)
        or (p.name <> 'delete' and has_any_column_privilege(r.oid, c.oid, p.name))
    ) held
    where r.rolname in ('anon', 'authenticated')
      and held.names is not null
  ),
  array[format('alter table %I.%I enable row level security', n.nspname, c.relname)]
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
where n.nspname = any ($1::text[])
  and c.relkind in ('r', 'p')
  and not c.relrowsecurity
  and not exists (select from pg_policy p where p.polrelid = c.oid)
  and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
  and exists (
    select
    from pg_roles r
    cross join unnest(array['select', 'insert', 'update', 'delete']) as p (name)
    where r.rolname in ('anon', 'authenticated')
      and (
        has_table_privilege(r.oid, c.oid, p.name)
        or (p.name <> 'delete' and has_any_column_privilege(r.oid, c.oid, p.name))
      )
  )
order by 1, 2
limit $2
