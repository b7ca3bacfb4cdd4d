-- Views that read tables with row level security by the rights of their owner.
with recursive reads (view, relation) as (
  select distinct r.ev_class, d.refobjid
  from pg_rewrite r
  join pg_class v on v.oid = r.ev_class and v.relkind = 'v'
  join pg_namespace n on n.oid = v.relnamespace and n.nspname = any ($1::text[])
  join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid and d.refclassid = 'pg_class'::regclass and d.refobjid <> r.ev_class
  union
  select reads.view, d.refobjid
  from reads
  join pg_rewrite r on r.ev_class = reads.relation
  join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid and d.refclassid = 'pg_class'::regclass and d.refobjid <> r.ev_class
)
select
  n.nspname::text,
  v.relname::text,
  'view',
  '',
  true,
  string_agg(distinct format('%I.%I', tn.nspname, t.relname), ', '),
  case
    when current_setting('server_version_num')::int >= 150000 then array[format('alter view %I.%I set (security_invoker = true)', n.nspname, v.relname)]
    else array[format('revoke all on %I.%I from public, anon, authenticated', n.nspname, v.relname)]
  end
from reads
join pg_class v on v.oid = reads.view
join pg_namespace n on n.oid = v.relnamespace
join pg_class t on t.oid = reads.relation and t.relrowsecurity
join pg_namespace tn on tn.oid = t.relnamespace
where not coalesce(v.reloptions && array['security_invoker=true', 'security_invoker=on', 'security_invoker=1', 'security_invoker=yes'], false)
  and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = v.oid and d.deptype = 'e')
  and exists (
    select
    from pg_roles r
    where r.rolname in ('anon', 'authenticated')
      and has_any_column_privilege(r.oid, v.oid, 'select')
  )
group by n.nspname, v.relname
order by 1, 2
limit $2
