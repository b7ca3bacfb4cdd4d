-- Aggregates that make the body of an answer out of rows: what they return is a domain with the name of a media type.
select
  p.oid,
  n.nspname,
  p.proname,
  p.proargtypes[0],
  p.prorettype
from pg_aggregate a
join pg_proc p on p.oid = a.aggfnoid
join pg_type t on t.oid = p.prorettype
join pg_namespace n on n.oid = p.pronamespace
where a.aggkind = 'n'
  and p.pronargs = 1
  and t.typtype = 'd'
  and strpos(t.typname, '/') > 1
  and n.nspname = any ($1::text[])
