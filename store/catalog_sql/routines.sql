-- Of the extra search path those are wanted that may serve as computed columns.
select
  p.oid,
  n.nspname,
  p.proname,
  d.description,
  p.proargtypes::oid[],
  p.proallargtypes,
  p.proargmodes,
  p.proargnames,
  p.pronargdefaults,
  p.provariadic <> 0,
  p.provolatile,
  p.prorettype,
  p.proretset,
  p.prorows,
  p.proconfig
from pg_proc p
join pg_namespace n on n.oid = p.pronamespace
left join pg_description d on d.objoid = p.oid
  and d.classoid = 'pg_proc'::regclass
  and d.objsubid = 0
where p.prokind = 'f'
  and p.prorettype not in ('trigger'::regtype, 'event_trigger'::regtype)
  and (
    n.nspname = any ($1::text[])
    or n.nspname = any ($2::text[])
      and p.pronargs - p.pronargdefaults <= 1
      and exists (
        select
        from pg_type t
        where t.oid = p.proargtypes[0]
          and t.typrelid <> 0
      )
  )
order by
  p.oid
