-- Policies that let whoever they are for write what they like.
select
  n.nspname::text,
  p.polname::text,
  'policy',
  c.relname::text,
  n.nspname = any ($1::text[]),
  format(
    '%s for %s',
    case p.polcmd when 'a' then 'insert' when 'w' then 'update' when 'd' then 'delete' else 'all' end,
    array_to_string(array(
      select case when role = 0 then 'public' else pg_get_userbyid(role)::text end
      from unnest(p.polroles) as role
    ), ', ')
  ),
  array[format('drop policy %I on %I.%I', p.polname, n.nspname, c.relname)]
from pg_policy p
join pg_class c on c.oid = p.polrelid
join pg_namespace n on n.oid = c.relnamespace
cross join lateral (
  select
    pg_get_expr(p.polqual, p.polrelid) = 'true' as reaches_all,
    coalesce(pg_get_expr(p.polwithcheck, p.polrelid), pg_get_expr(p.polqual, p.polrelid)) = 'true' as takes_all
) e
where p.polpermissive
  and n.nspname !~ '^pg_'
  and n.nspname not in ('information_schema', 'basalt')
  and exists (
    select
    from unnest(p.polroles) as role
    where role = 0 or pg_get_userbyid(role) in ('anon', 'authenticated')
  )
  and case p.polcmd
    when 'a' then e.takes_all
    when 'w' then e.takes_all
    when 'd' then e.reaches_all
    when '*' then e.takes_all or e.reaches_all
    else false
  end
order by 1, 4, 2
limit $2
