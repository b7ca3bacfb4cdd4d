select
  i.indrelid,
  x.relname::text,
  pg_get_indexdef(i.indexrelid),
  i.indisunique,
  i.indisprimary,
  i.indisvalid,
  x.relpages::bigint * current_setting('block_size')::int,
  coalesce(pg_stat_get_numscans(i.indexrelid), 0)
from pg_index i
join pg_class c on c.oid = i.indrelid
join pg_class x on x.oid = i.indexrelid
join pg_namespace n on n.oid = c.relnamespace
where c.relkind in ('r', 'p', 'm')
  and n.nspname !~ '^pg_'
  and n.nspname not in ('information_schema', 'basalt')
order by i.indrelid, x.relname
