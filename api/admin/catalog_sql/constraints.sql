select
  c.conrelid,
  c.conname::text,
  c.contype::text,
  pg_get_constraintdef(c.oid, true),
  coalesce((
    select array_agg(a.attname::text order by k.place)
    from unnest(c.conkey) with ordinality as k (number, place)
    join pg_attribute a on a.attrelid = c.conrelid and a.attnum = k.number
  ), '{}'),
  coalesce(fn.nspname::text, ''),
  coalesce(f.relname::text, ''),
  coalesce((
    select array_agg(a.attname::text order by k.place)
    from unnest(c.confkey) with ordinality as k (number, place)
    join pg_attribute a on a.attrelid = c.confrelid and a.attnum = k.number
  ), '{}'),
  case c.confupdtype when 'a' then 'no action' when 'r' then 'restrict' when 'c' then 'cascade' when 'n' then 'set null' when 'd' then 'set default' else '' end,
  case c.confdeltype when 'a' then 'no action' when 'r' then 'restrict' when 'c' then 'cascade' when 'n' then 'set null' when 'd' then 'set default' else '' end,
  c.convalidated,
  c.condeferrable
from pg_constraint c
join pg_class r on r.oid = c.conrelid
join pg_namespace n on n.oid = r.relnamespace
left join pg_class f on f.oid = c.confrelid
left join pg_namespace fn on fn.oid = f.relnamespace
where c.contype in ('p', 'u', 'f', 'c', 'x')
  and n.nspname !~ '^pg_'
  and n.nspname not in ('information_schema', 'basalt')
order by c.conrelid, c.conname
