select
  n.nspname::text,
  t.typname::text,
  coalesce(obj_description(t.oid, 'pg_type'), ''),
  array(
    select l.enumlabel::text
    from pg_enum l
    where l.enumtypid = t.oid
    order by l.enumsortorder
  )
from pg_type t
join pg_namespace n on n.oid = t.typnamespace
where t.typtype = 'e'
  and n.nspname !~ '^pg_'
  and n.nspname not in ('information_schema', 'basalt')
order by n.nspname, t.typname
