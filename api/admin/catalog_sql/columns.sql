select
  a.attrelid,
  a.attname::text,
  a.attnum::int,
  format_type(a.atttypid, a.atttypmod),
  case
    when t.typtype = 'b' and t.typcategory = 'A' then 'array'
    when t.typtype = 'e' then 'enum'
    when t.typtype = 'd' then 'domain'
    when t.typtype in ('r', 'm') then 'range'
    when t.typtype = 'c' then 'composite'
    else 'base'
  end,
  case
    when t.typtype = 'b' and t.typcategory = 'A' then format_type(t.typelem, null)
    when t.typtype = 'd' then format_type(t.typbasetype, t.typtypmod)
  end,
  case when e.typtype = 'e' then array(
    select l.enumlabel::text
    from pg_enum l
    where l.enumtypid = e.oid
    order by l.enumsortorder
  ) else '{}' end,
  a.attnotnull or t.typnotnull,
  case when a.attgenerated = '' then pg_get_expr(f.adbin, f.adrelid) end,
  case a.attidentity when 'a' then 'always' when 'd' then 'by default' else '' end,
  case when a.attgenerated <> '' then pg_get_expr(f.adbin, f.adrelid) end,
  coalesce(d.description, '')
from pg_attribute a
join pg_class c on c.oid = a.attrelid
join pg_namespace n on n.oid = c.relnamespace
join pg_type t on t.oid = a.atttypid
left join pg_type e on e.oid = case
  when t.typtype = 'd' then t.typbasetype
  when t.typcategory = 'A' then t.typelem
  else t.oid
end
left join pg_attrdef f on f.adrelid = a.attrelid and f.adnum = a.attnum
left join pg_description d on d.objoid = c.oid and d.classoid = 'pg_class'::regclass and d.objsubid = a.attnum
where a.attnum > 0
  and not a.attisdropped
  and c.relkind in ('r', 'p', 'v', 'm', 'f')
  and n.nspname !~ '^pg_'
  and n.nspname not in ('information_schema', 'basalt')
order by a.attrelid, a.attnum
