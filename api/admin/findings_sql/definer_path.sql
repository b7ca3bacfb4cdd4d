-- Functions with the rights of their owner whose caller says where names are looked up.
select
  n.nspname::text,
  format('%s(%s)', p.proname, pg_get_function_identity_arguments(p.oid)),
  'function',
  '',
  n.nspname = any ($1::text[]),
  pg_get_userbyid(p.proowner)::text,
  array[format('alter routine %s set search_path = %I, pg_temp', p.oid::regprocedure, n.nspname)]
from pg_proc p
join pg_namespace n on n.oid = p.pronamespace
where p.prosecdef
  and n.nspname !~ '^pg_'
  and n.nspname not in ('information_schema', 'basalt')
  and not exists (select from unnest(p.proconfig) as setting where setting like 'search_path=%')
  and not exists (select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
order by 1, 2
limit $2
