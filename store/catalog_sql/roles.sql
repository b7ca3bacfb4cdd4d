-- The roles that authenticator may become, each with the settings that any user may change: those are applied by
-- the request itself, which is no superuser. What would change who it is stays out, and so do superusers.
-- Settings of this database come behind those of all.
select
  r.rolname,
  (
    select array_agg(entry order by s.setdatabase, position)
    from pg_db_role_setting s
    cross join unnest(s.setconfig) with ordinality as _ (entry, position)
    left join pg_settings g on g.name = split_part(entry, '=', 1)
    where s.setrole = r.oid
      and s.setdatabase in (0, (select d.oid from pg_database d where d.datname = current_database()))
      and (g.context = 'user' or g.name is null and split_part(entry, '=', 1) like '%.%')
      and split_part(entry, '=', 1) not in ('role', 'session_authorization')
  )
from pg_roles r
join pg_roles a on a.rolname = 'authenticator'
where r.oid <> a.oid
  and not r.rolsuper
  and pg_has_role(
    a.oid,
    r.oid,
    case when current_setting('server_version_num')::int >= 160000 then 'set' else 'member' end
  )
