-- Those with a parent are what partitions inherited.
select
  k.conname,
  k.conrelid,
  k.confrelid,
  k.conkey,
  k.confkey
from pg_constraint k
where k.contype = 'f'
  and k.conparentid = 0
order by
  k.conrelid,
  k.conname
