-- Extensions whose functions lie among those of the API.
select
  n.nspname::text,
  e.extname::text,
  'extension',
  '',
  true,
  e.extversion,
  case when e.extrelocatable then array[
    'create schema if not exists extensions',
    'grant usage on schema extensions to public',
    format('alter extension %I set schema extensions', e.extname)
  ] else array[]::text[] end
from pg_extension e
join pg_namespace n on n.oid = e.extnamespace
where n.nspname = any ($1::text[])
order by 1, 2
limit $2
