-- Functions with the rights of their owner that anybody can call through the API. Those of triggers cannot be called.
select
  n.nspname::text,
  format('%s(%s)', p.proname, pg_get_function_identity_arguments(p.oid)),
  'function',
  '',
  true,
  pg_get_userbyid(p.proowner)::text,
  array[format('revoke execute on routine %s from public, anon', p.oid::regprocedure)]
from pg_proc p
join pg_namespace n on n.oid = p.pronamespace
where p.prosecdef
  and n.nspname = any ($1::text[])
  and p.prorettype not in ('trigger'::regtype, 'event_trigger'::regtype)
  and not exists (select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
  and exists (
    select
    from pg_roles r
    where r.rolname = 'anon'
      and has_function_privilege(r.oid, p.oid, 'execute')
  )
order by 1, 2
limit $2
