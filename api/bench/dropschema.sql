-- Takes away what `basalt bench` has made. What only has the name of it stays.
do $$
declare
  routine regprocedure;
  tables text;
begin
  for routine in
    select oid
    from pg_catalog.pg_proc
    where pronamespace = 'public'::regnamespace
      and proname in ('bench_rows', 'bench_tables')
      and obj_description(oid, 'pg_proc') = 'Made by basalt bench'
  loop
    execute 'drop function ' || routine;
  end loop;
  select string_agg(oid::regclass::text, ', ')
  into tables
  from pg_catalog.pg_class
  where relnamespace = 'public'::regnamespace
    and relname in ('bench_item', 'bench_part', 'bench_entry')
    and obj_description(oid, 'pg_class') = 'Made by basalt bench';
  if tables is not null then
    execute 'drop table ' || tables;
  end if;
end
$$;
