-- A routine that may set response.headers or response.status names the setting in its source; the source of one
-- with a standard SQL body has to be written out.
select
  current_setting('server_version_num')::int,
  exists (
    select
    from pg_proc p
    join pg_namespace n on n.oid = p.pronamespace
    where n.nspname !~ '^pg_'
      and n.nspname <> 'information_schema'
      and (
        p.prosrc ~ 'response\.(headers|status)'
        or p.prosqlbody is not null and pg_get_function_sqlbody(p.oid) ~ 'response\.(headers|status)'
      )
  )
