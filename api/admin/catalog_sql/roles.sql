select
  r.rolname::text,
  r.rolcanlogin,
  r.rolsuper,
  r.rolbypassrls,
  r.rolname = current_user,
  pg_has_role(current_user, r.oid, 'member')
from pg_roles r
where r.rolname !~ '^pg_'
order by r.rolname
