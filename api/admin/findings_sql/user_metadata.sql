-- Policies that believe what users write about themselves.
select
  n.nspname::text,
  p.polname::text,
  'policy',
  c.relname::text,
  n.nspname = any ($1::text[]),
  '',
  array[
    format('alter policy %I on %I.%I', p.polname, n.nspname, c.relname)
    || coalesce(' using (' || mended.using || ')', '')
    || coalesce(' with check (' || mended.checked || ')', '')
  ]
from pg_policy p
join pg_class c on c.oid = p.polrelid
join pg_namespace n on n.oid = c.relnamespace
cross join lateral (
  select
    replace(replace(pg_get_expr(p.polqual, p.polrelid), 'raw_user_meta_data', 'raw_app_meta_data'), 'user_metadata', 'app_metadata') as using,
    replace(replace(pg_get_expr(p.polwithcheck, p.polrelid), 'raw_user_meta_data', 'raw_app_meta_data'), 'user_metadata', 'app_metadata') as checked
) mended
where n.nspname !~ '^pg_'
  and n.nspname not in ('information_schema', 'basalt')
  and concat_ws(' ', pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid)) ~ '\m(user_metadata|raw_user_meta_data)\M'
order by 1, 4, 2
limit $2
