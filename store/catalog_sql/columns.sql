-- The expression of a default names no column, so it is written without looking at its table (which would take a
-- lock); that of a generated column does, and is not wanted.
select
  a.attrelid,
  a.attnum,
  a.attname,
  a.atttypid,
  a.atttypmod,
  a.attnotnull,
  case when a.attgenerated = '' and n.nspname = any ($1::text[]) then pg_get_expr(e.adbin, 0) end,
  a.attgenerated <> '',
  a.attidentity,
  d.description
from pg_attribute a
join pg_class c on c.oid = a.attrelid
join pg_namespace n on n.oid = c.relnamespace
left join pg_attrdef e on e.adrelid = a.attrelid
  and e.adnum = a.attnum
left join pg_description d on d.objoid = a.attrelid
  and d.classoid = 'pg_class'::regclass
  and d.objsubid = a.attnum
where c.relkind in ('r', 'p', 'v', 'm', 'f', 'c')
  and not c.relispartition
  and n.nspname !~ '^pg_'
  and n.nspname <> 'information_schema'
  and a.attnum > 0
  and not a.attisdropped
order by
  a.attrelid,
  a.attnum
