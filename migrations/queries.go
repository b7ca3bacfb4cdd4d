package migrations

// CatalogVersion answers one bigint that differs after any committed DDL which a
// request is planned by. It is for polling where the event triggers could not be
// made, and for the moment after a listening connection was lost. Row versions
// (xmin) are compared, except in pg_class and pg_index, where PostgreSQL writes new
// ones without DDL: TRUNCATE, VACUUM FULL. Temporary objects do not count.
//
// It takes tens of milliseconds for 1,000 tables (see its benchmark), as long as jit
// is off in the session: the planner thinks it expensive enough to compile.
const CatalogVersion = `
with namespace as materialized (
  select oid, xmin
  from pg_namespace
  where oid >= 16384 and nspname !~ '^pg_' or nspname = 'public'
),
relation as materialized (
  select c.oid, c.relkind,
    hash_record_extended(row(c.oid, c.relname, c.relnamespace, c.relkind, c.relowner, c.reltype,
      c.relacl::text, c.reloptions, c.relispartition), 0) as hash
  from pg_class c
  join namespace n on n.oid = c.relnamespace
  where c.relkind in ('r', 'p', 'v', 'm', 'f', 'c')
),
part as (
  select hash_record_extended(row(oid, xmin), 1) as hash from namespace
  union all
  select hash from relation
  union all
  select hash_record_extended(row(a.attrelid, a.attnum, a.xmin), 2)
  from relation r
  join pg_attribute a on a.attrelid = r.oid and a.attnum > 0
  union all
  select hash_record_extended(row(d.oid, d.xmin), 3)
  from pg_attrdef d
  join relation r on r.oid = d.adrelid
  union all
  select hash_record_extended(row(c.oid, c.xmin), 4)
  from pg_constraint c
  join namespace n on n.oid = c.connamespace
  union all
  select hash_record_extended(row(i.indexrelid, i.indrelid, i.indkey::text, i.indisunique, i.indisvalid), 5)
  from pg_index i
  join relation r on r.oid = i.indrelid
  where i.indisunique
  union all
  select hash_record_extended(row(w.oid, w.xmin), 6)
  from pg_rewrite w
  join relation r on r.oid = w.ev_class
  union all
  select hash_record_extended(row(t.oid, t.xmin), 7)
  from pg_trigger t
  join relation r on r.oid = t.tgrelid and r.relkind = 'v'
  union all
  select hash_record_extended(row(h.inhrelid, h.inhparent, h.inhseqno), 8)
  from pg_inherits h
  join relation r on r.oid = h.inhrelid
  union all
  select hash_record_extended(row(p.oid, p.xmin), 9)
  from pg_proc p
  join namespace n on n.oid = p.pronamespace
  union all
  select hash_record_extended(row(t.oid, t.xmin), 10)
  from pg_type t
  join namespace n on n.oid = t.typnamespace
  where t.typtype in ('d', 'e', 'r', 'm')
    or t.typtype = 'b' and t.typcategory <> 'A'
  union all
  select hash_record_extended(row(e.oid, e.xmin), 11) from pg_enum e
  union all
  select hash_record_extended(row(c.oid, c.xmin), 12) from pg_cast c where c.oid >= 16384
  union all
  select hash_record_extended(row(d.objoid, d.classoid, d.objsubid, d.xmin), 13)
  from pg_description d
  where d.objoid >= 16384
  union all
  select hash_record_extended(row(s.setdatabase, s.setrole, s.xmin), 14) from pg_db_role_setting s
  union all
  select hash_record_extended(row(m.roleid, m.member), 15) from pg_auth_members m
)
select coalesce(bit_xor(hash), 0) from part
`
