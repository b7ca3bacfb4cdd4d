-- What grants allow a role on a relation or on some column of it, and what of that row level security leaves.
select
  c.oid,
  c.relrowsecurity,
  r.rolname::text,
  held.granted,
  array(
    select verb
    from unnest(held.granted) verb
    where not c.relrowsecurity
      or r.rolsuper
      or r.rolbypassrls
      or exists (
        select
        from pg_policy p
        where p.polrelid = c.oid
          and p.polpermissive
          and p.polcmd in ('*', case verb when 'select' then 'r' when 'insert' then 'a' when 'update' then 'w' else 'd' end)
          and exists (
            select
            from unnest(p.polroles) named
            where named = 0
              or pg_has_role(r.oid, named, 'usage')
          )
      )
  )
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
join pg_roles r on r.rolname = any ($2::text[])
cross join lateral (
  select array(
    select verb
    from unnest(array['select', 'insert', 'update', 'delete']) verb
    where has_schema_privilege(r.oid, n.oid, 'usage')
      and (
        has_table_privilege(r.oid, c.oid, verb)
        or verb <> 'delete'
        and has_any_column_privilege(r.oid, c.oid, verb)
      )
  ) as granted
) held
where c.relkind in ('r', 'p', 'v', 'm', 'f')
  and n.nspname = any ($1::text[])
order by c.oid, array_position($2::text[], r.rolname::text)
