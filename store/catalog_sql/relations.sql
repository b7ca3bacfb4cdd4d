-- A partition is a part of its table. What a view lets through is asked for exposed ones only: the question takes
-- a lock on the view. 28 = insert, update, delete.
select
  c.oid,
  n.nspname,
  c.relname,
  c.relkind,
  c.reltype,
  d.description,
  case
    when c.relkind in ('r', 'p') then 28
    when n.nspname <> all ($1::text[]) then 0
    when c.relkind = 'v' then pg_relation_is_updatable(c.oid, true)
    when c.relkind = 'f' and exists (
      -- PostgreSQL raises an error when it asks a wrapper without a handler.
      select
      from pg_foreign_table f
      join pg_foreign_server s on s.oid = f.ftserver
      join pg_foreign_data_wrapper w on w.oid = s.srvfdw
      where f.ftrelid = c.oid
        and w.fdwhandler <> 0
    ) then pg_relation_is_updatable(c.oid, true)
    else 0
  end,
  c.relkind = 'r' and c.relhassubclass
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
left join pg_description d on d.objoid = c.oid
  and d.classoid = 'pg_class'::regclass
  and d.objsubid = 0
where c.relkind in ('r', 'p', 'v', 'm', 'f')
  and not c.relispartition
  and n.nspname !~ '^pg_'
  and n.nspname <> 'information_schema'
