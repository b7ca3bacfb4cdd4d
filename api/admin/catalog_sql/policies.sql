select
  p.polrelid,
  p.polname::text,
  case p.polcmd when 'r' then 'select' when 'a' then 'insert' when 'w' then 'update' when 'd' then 'delete' else 'all' end,
  p.polpermissive,
  array(
    select case when role = 0 then 'public' else pg_get_userbyid(role)::text end
    from unnest(p.polroles) as role
  ),
  pg_get_expr(p.polqual, p.polrelid),
  pg_get_expr(p.polwithcheck, p.polrelid)
from pg_policy p
join pg_class c on c.oid = p.polrelid
join pg_namespace n on n.oid = c.relnamespace
where n.nspname !~ '^pg_'
  and n.nspname not in ('information_schema', 'basalt')
order by p.polrelid, p.polname
