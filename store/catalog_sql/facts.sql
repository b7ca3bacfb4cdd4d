-- A routine that may set response.headers or response.status names the setting in its source; the source of one
-- with a standard SQL body has to be written out. Last comes the schema of PostGIS's function of a whole row.
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
  ),
  (
    select n.nspname
    from pg_extension e
    join pg_depend d on d.refobjid = e.oid
      and d.refclassid = 'pg_extension'::regclass
      and d.classid = 'pg_proc'::regclass
      and d.deptype = 'e'
    join pg_proc p on p.oid = d.objid
    join pg_namespace n on n.oid = p.pronamespace
    where e.extname = 'postgis'
      and p.proname = 'st_asgeojson'
      and p.proargtypes[0] = 'record'::regtype
      and n.nspname = any ($1::text[] || $2::text[])
    limit 1
  )
