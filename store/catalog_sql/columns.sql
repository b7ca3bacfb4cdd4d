-- The expression of a default names no column, so it is written without looking at its table (which would take a
-- lock); that of a generated column does, and is not wanted. A column of a view can be written when PostgreSQL passes it
-- through, or when a trigger or an unconditional rule takes whole rows in its place (tgtype: 64 instead of, 4 insert, 16
-- update; ev_type: 2 update, 3 insert); that is asked for exposed views only, for it takes a lock on the view.
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
  d.description,
  case
    when c.relkind <> 'v' then true
    when n.nspname <> all ($1::text[]) then false
    else pg_column_is_updatable(c.oid, a.attnum, false)
      or exists (
        select
        from pg_trigger t
        where t.tgrelid = c.oid
          and not t.tgisinternal
          and t.tgtype & 64 <> 0
          and t.tgtype & 20 <> 0
      )
      or exists (
        select
        from pg_rewrite r
        where r.ev_class = c.oid
          and r.is_instead
          and r.ev_type in ('2', '3')
          and r.ev_qual::text = '<>'
      )
  end
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
