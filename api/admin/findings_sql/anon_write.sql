-- Rights to write of those who are not signed in, that no policy makes use of.
select
  n.nspname::text,
  c.relname::text,
  'table',
  c.relname::text,
  true,
  string_agg(g.name, ', ' order by g.place),
  array[format('revoke %s on table %I.%I from public, anon', string_agg(g.name, ', ' order by g.place), n.nspname, c.relname)]
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
join pg_roles r on r.rolname = 'anon'
cross join unnest(array['insert', 'update', 'delete'], array['a', 'w', 'd']::"char"[]) with ordinality as g (name, command, place)
where n.nspname = any ($1::text[])
  and c.relkind in ('r', 'p')
  and c.relrowsecurity
  and has_table_privilege(r.oid, c.oid, g.name)
  and not exists (
    select
    from pg_policy p
    where p.polrelid = c.oid
      and p.polpermissive
      and p.polcmd in ('*', g.command)
      and exists (
        select
        from unnest(p.polroles) as role
        where case when role = 0 then true else pg_has_role(r.oid, role, 'usage') end
      )
  )
group by n.nspname, c.relname
order by 1, 2
limit $2
