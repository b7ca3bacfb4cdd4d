-- Those of extensions stay out: nobody edits them here.
select
  n.nspname::text,
  p.proname::text,
  pg_get_function_arguments(p.oid),
  pg_get_function_identity_arguments(p.oid),
  coalesce(pg_get_function_result(p.oid), ''),
  l.lanname::text,
  p.prosecdef,
  case p.provolatile when 'i' then 'immutable' when 's' then 'stable' else 'volatile' end,
  case when p.prokind <> 'a' then pg_get_functiondef(p.oid) else '' end,
  case p.prokind when 'f' then 'function' when 'p' then 'procedure' when 'a' then 'aggregate' else 'window' end,
  coalesce(obj_description(p.oid, 'pg_proc'), '')
from pg_proc p
join pg_namespace n on n.oid = p.pronamespace
join pg_language l on l.oid = p.prolang
where n.nspname !~ '^pg_'
  and n.nspname not in ('information_schema', 'basalt')
  and not exists (
    select
    from pg_depend d
    where d.classid = 'pg_proc'::regclass
      and d.objid = p.oid
      and d.deptype = 'e'
  )
order by n.nspname, p.proname, p.oid
limit $1
