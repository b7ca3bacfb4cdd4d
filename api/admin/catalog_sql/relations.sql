-- Sizes are those of the last vacuum or analyze: to measure them would wait for whoever alters a table.
with reader as materialized (
  select
    oid,
    rolname
  from pg_roles
  where rolname = any ($2::text[])
)
select
  c.oid,
  n.nspname::text,
  c.relname::text,
  case c.relkind
    when 'r' then 'table'
    when 'p' then 'partitioned_table'
    when 'v' then 'view'
    when 'm' then 'materialized_view'
    else 'foreign_table'
  end,
  coalesce(d.description, ''),
  c.relrowsecurity,
  c.relforcerowsecurity,
  case
    when c.relkind not in ('r', 'm', 'p', 'f') then null
    when c.relkind in ('r', 'm') then greatest(c.reltuples::bigint, pg_stat_get_live_tuples(c.oid))
    when c.reltuples >= 0 then c.reltuples::bigint
  end,
  (
    c.relpages::bigint
    + coalesce(t.relpages, 0)
    + coalesce((
      select sum(x.relpages)
      from pg_index i
      join pg_class x on x.oid = i.indexrelid
      where i.indrelid in (c.oid, c.reltoastrelid)
    ), 0)
  )::bigint * current_setting('block_size')::int,
  pg_get_userbyid(c.relowner)::text,
  coalesce(parent.oid::regclass::text, ''),
  case when c.relkind in ('v', 'm') then pg_get_viewdef(c.oid, true) end,
  coalesce('security_invoker=true' = any (c.reloptions) or 'security_invoker=on' = any (c.reloptions), false),
  case when c.relkind = 'v' then pg_relation_is_updatable(c.oid, true) else 28 end,
  array(
    select r.rolname::text
    from reader r
    where has_schema_privilege(r.oid, n.oid, 'usage')
      and (
        has_table_privilege(r.oid, c.oid, 'select')
        or has_any_column_privilege(r.oid, c.oid, 'select')
        and not exists (
          select
          from pg_attribute a
          where a.attrelid = c.oid
            and a.attnum > 0
            and not a.attisdropped
            and not has_column_privilege(r.oid, c.oid, a.attnum, 'select')
        )
      )
    order by array_position($2::text[], r.rolname::text)
  )
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
left join pg_class t on t.oid = c.reltoastrelid
left join pg_description d on d.objoid = c.oid and d.classoid = 'pg_class'::regclass and d.objsubid = 0
left join pg_inherits h on h.inhrelid = c.oid and c.relispartition
left join pg_class parent on parent.oid = h.inhparent
where c.relkind in ('r', 'p', 'v', 'm', 'f')
  and n.nspname !~ '^pg_'
  and n.nspname not in ('information_schema', 'basalt')
order by n.nspname, c.relname
limit $1
