-- The rule of type 1 (on select) is the view itself; others stand for writes.
select
  r.ev_class,
  r.ev_action::text
from pg_rewrite r
join pg_class c on c.oid = r.ev_class
join pg_namespace n on n.oid = c.relnamespace
where c.relkind in ('v', 'm')
  and r.ev_type = '1'
  and n.nspname !~ '^pg_'
  and n.nspname <> 'information_schema'
