-- Those with a parent are what partitions inherited. A reference over time (PERIOD, since PostgreSQL 18) rests on a key
-- without overlaps: it is met by rows that together cover the time, not by one that equals, so it joins nothing.
select
  k.conname,
  k.conrelid,
  k.confrelid,
  k.conkey,
  k.confkey
from pg_constraint k
left join pg_index i on i.indexrelid = k.conindid
where k.contype = 'f'
  and k.conparentid = 0
  and i.indisexclusion is not true
order by
  k.conrelid,
  k.conname
