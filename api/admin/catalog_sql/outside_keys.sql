-- The relations of other schemas that foreign keys lead to or come from.
select
  c.oid,
  array_agg(distinct o.oid::regclass::text order by o.oid::regclass::text)
from pg_constraint k
cross join lateral (values (k.conrelid, k.confrelid), (k.confrelid, k.conrelid)) ends (here, there)
join pg_class c on c.oid = ends.here
join pg_class o on o.oid = ends.there
join pg_namespace n on n.oid = c.relnamespace
where k.contype = 'f'
  and k.conparentid = 0
  and n.nspname = any ($1::text[])
  and o.relnamespace <> c.relnamespace
group by c.oid
