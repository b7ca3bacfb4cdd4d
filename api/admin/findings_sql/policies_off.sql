-- Policies that nobody asks: row level security is off.
select
  n.nspname::text,
  c.relname::text,
  'table',
  c.relname::text,
  n.nspname = any ($1::text[]),
  (select string_agg(p.polname, ', ' order by p.polname) from pg_policy p where p.polrelid = c.oid),
  array[format('alter table %I.%I enable row level security', n.nspname, c.relname)]
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
where not c.relrowsecurity
  and n.nspname !~ '^pg_'
  and n.nspname not in ('information_schema', 'basalt', 'auth', 'storage', 'realtime')
  and exists (select from pg_policy p where p.polrelid = c.oid)
order by 1, 2
limit $2
