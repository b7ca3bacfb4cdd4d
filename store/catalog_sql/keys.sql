select
  k.conrelid,
  k.contype = 'p',
  k.conkey
from pg_constraint k
join pg_class c on c.oid = k.conrelid
join pg_namespace n on n.oid = c.relnamespace
where k.contype in ('p', 'u')
  and not c.relispartition
  and n.nspname !~ '^pg_'
  and n.nspname <> 'information_schema'
order by
  k.conrelid,
  k.conname
