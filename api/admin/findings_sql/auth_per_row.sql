-- Policies that ask who the user is once a row. Within a select it is asked once a statement. What stands in one already is
-- marked before the others are wrapped.
select
  n.nspname::text,
  p.polname::text,
  'policy',
  c.relname::text,
  n.nspname = any ($1::text[]),
  '',
  array[
    format('alter policy %I on %I.%I', p.polname, n.nspname, c.relname)
    || coalesce(' using (' || replace(regexp_replace(marked.using, 'auth\.(uid|jwt|role|email)\(\)', '(select auth.\1())', 'g'), 'auth~', 'auth') || ')', '')
    || coalesce(' with check (' || replace(regexp_replace(marked.checked, 'auth\.(uid|jwt|role|email)\(\)', '(select auth.\1())', 'g'), 'auth~', 'auth') || ')', '')
  ]
from pg_policy p
join pg_class c on c.oid = p.polrelid
join pg_namespace n on n.oid = c.relnamespace
cross join lateral (
  select
    regexp_replace(pg_get_expr(p.polqual, p.polrelid), 'SELECT (\(*)auth\.', 'SELECT \1auth~.', 'g') as using,
    regexp_replace(pg_get_expr(p.polwithcheck, p.polrelid), 'SELECT (\(*)auth\.', 'SELECT \1auth~.', 'g') as checked
) marked
where n.nspname !~ '^pg_'
  and n.nspname not in ('information_schema', 'basalt')
  and concat_ws(' ', marked.using, marked.checked) ~ '\mauth\.(uid|jwt|role|email)\(\)'
order by 1, 4, 2
limit $2
