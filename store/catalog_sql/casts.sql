select
  c.castsource,
  c.casttarget,
  n.nspname,
  p.proname
from pg_cast c
join pg_type s on s.oid = c.castsource
join pg_type t on t.oid = c.casttarget
join pg_proc p on p.oid = c.castfunc
join pg_namespace n on n.oid = p.pronamespace
where c.castcontext = 'i'
  and c.castmethod = 'f'
  and (
    s.typtype = 'd' and t.oid = 'json'::regtype
    or t.typtype = 'd' and s.oid in ('json'::regtype, 'text'::regtype)
  )
