select
  t.tgrelid,
  t.tgname::text,
  pg_get_triggerdef(t.oid, true),
  t.tgenabled <> 'D'
from pg_trigger t
join pg_class c on c.oid = t.tgrelid
join pg_namespace n on n.oid = c.relnamespace
where not t.tgisinternal
  and n.nspname !~ '^pg_'
  and n.nspname not in ('information_schema', 'basalt')
order by t.tgrelid, t.tgname
