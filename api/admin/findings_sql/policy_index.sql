-- Columns that policies compare, that no index begins with: each statement then reads the whole table.
select
  n.nspname::text,
  c.relname::text,
  'table',
  c.relname::text,
  n.nspname = any ($1::text[]),
  string_agg(distinct format('%s (%s)', a.attname, p.polname), ', '),
  array_agg(distinct format('create index %s on %I.%I (%I)', case when c.relkind = 'r' then 'concurrently' else '' end, n.nspname, c.relname, a.attname))
from pg_policy p
join pg_class c on c.oid = p.polrelid
join pg_namespace n on n.oid = c.relnamespace
join pg_depend d on d.classid = 'pg_policy'::regclass and d.objid = p.oid and d.refclassid = 'pg_class'::regclass and d.refobjid = c.oid and d.refobjsubid > 0
join pg_attribute a on a.attrelid = c.oid and a.attnum = d.refobjsubid
where n.nspname !~ '^pg_'
  and n.nspname not in ('information_schema', 'basalt', 'auth', 'storage', 'realtime')
  and c.relkind in ('r', 'p')
  and p.polcmd <> 'a'
  and p.polpermissive
  and (
    position(quote_ident(a.attname) || ' = ' in pg_get_expr(p.polqual, p.polrelid)) > 0
    or pg_get_expr(p.polqual, p.polrelid) like '%= ' || replace(replace(replace(quote_ident(a.attname), '\', '\\'), '%', '\%'), '_', '\_') || ')%'
  )
  and not exists (
    select
    from pg_index i
    where i.indrelid = c.oid
      and i.indisvalid
      and i.indkey[0] = a.attnum
  )
group by n.nspname, c.relname, c.relkind
order by 1, 2
limit $2
