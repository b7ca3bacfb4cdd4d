package admin

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/jackc/pgx/v5"
)

// DependentBody is something that uses what is to be changed.
type DependentBody struct {
	// Kind is view, materialized_view, foreign_key, primary_key, unique, check, exclusion, index, policy, trigger, default,
	// column, function, sequence, table, type, publication, statistics or other.
	Kind   string `json:"kind"`
	Schema string `json:"schema"`
	Name   string `json:"name"` // of what belongs to a table: the table and its own name
	// Blocks says that a drop without CASCADE is refused because of it; without, it goes along.
	Blocks bool `json:"blocks"`
}

// target is an object as pg_depend names it.
type target struct {
	schema, table string
	tableOID      uint32
	class, object uint32
	sub           int32
}

// dependentsOf finds what pg_depend knows to use an object: not what is a table's own when the whole table is meant, as
// that is no news. The types of a table's rows and of arrays, and the index of a constraint, stand for it.
const dependentsOf = `
with recursive target (class, object, sub) as (
  select $1::oid, $2::oid, $3::int
  union
  select d.classid, d.objid, 0
  from target t
  join pg_depend d on d.refclassid = t.class and d.refobjid = t.object and t.sub = 0
  where d.deptype = 'i'
    and (d.classid = 'pg_type'::regclass or d.classid = 'pg_class'::regclass and t.class = 'pg_constraint'::regclass)
),
used as (
  select d.classid, d.objid, d.objsubid, bool_and(d.deptype = 'n') as blocks
  from target t
  join pg_depend d on d.refclassid = t.class and d.refobjid = t.object and (t.sub = 0 or d.refobjsubid = t.sub)
  where d.deptype in ('n', 'a')
  group by 1, 2, 3
),
known as (
  select
    case u.classid
      when 'pg_rewrite'::regclass then case v.relkind when 'm' then 'materialized_view' else 'view' end
      when 'pg_constraint'::regclass then case k.contype when 'f' then 'foreign_key' when 'p' then 'primary_key' when 'u' then 'unique' when 'x' then 'exclusion' else 'check' end
      when 'pg_policy'::regclass then 'policy'
      when 'pg_trigger'::regclass then 'trigger'
      when 'pg_attrdef'::regclass then 'default'
      when 'pg_proc'::regclass then 'function'
      when 'pg_type'::regclass then 'type'
      when 'pg_publication_rel'::regclass then 'publication'
      when 'pg_statistic_ext'::regclass then 'statistics'
      when 'pg_class'::regclass then
        case
          when r.relkind = 'v' then 'view'
          when r.relkind = 'm' then 'materialized_view'
          when u.objsubid > 0 then 'column'
          when r.relkind in ('i', 'I') then 'index'
          when r.relkind = 'S' then 'sequence'
          else 'table'
        end
      else 'other'
    end as kind,
    coalesce(n.nspname, o.schema, '') as schema,
    case
      when v.oid is not null then v.relname::text
      when r.relkind in ('v', 'm', 'i', 'I') then r.relname::text
      when owner.oid is not null and part.name is not null then owner.relname || '.' || part.name
      when u.classid = 'pg_proc'::regclass then f.proname || '(' || pg_get_function_identity_arguments(f.oid) || ')'
      else coalesce(o.name, o.identity, '')
    end as name,
    u.blocks
  from used u
  cross join lateral pg_identify_object(u.classid, u.objid, u.objsubid) o
  left join pg_rewrite w on u.classid = 'pg_rewrite'::regclass and w.oid = u.objid
  left join pg_class v on v.oid = w.ev_class
  left join pg_constraint k on u.classid = 'pg_constraint'::regclass and k.oid = u.objid
  left join pg_policy p on u.classid = 'pg_policy'::regclass and p.oid = u.objid
  left join pg_trigger g on u.classid = 'pg_trigger'::regclass and g.oid = u.objid
  left join pg_attrdef e on u.classid = 'pg_attrdef'::regclass and e.oid = u.objid
  left join pg_class r on u.classid = 'pg_class'::regclass and r.oid = u.objid
  left join pg_index i on i.indexrelid = r.oid
  left join pg_proc f on u.classid = 'pg_proc'::regclass and f.oid = u.objid
  left join pg_class owner on owner.oid = coalesce(nullif(k.conrelid, 0), p.polrelid, g.tgrelid, e.adrelid, case when u.objsubid > 0 then r.oid end, i.indrelid)
  left join pg_attribute a on a.attrelid = owner.oid and a.attnum = coalesce(e.adnum, nullif(u.objsubid, 0))
  cross join lateral (select coalesce(k.conname, p.polname, g.tgname, a.attname)::text as name) part
  left join pg_namespace n on n.oid = coalesce(v.relnamespace, owner.relnamespace, f.pronamespace)
  where not (u.classid = 'pg_rewrite'::regclass and v.oid = $2 and $1 = 'pg_class'::regclass)
    and not ($1 = 'pg_class'::regclass and $3 = 0 and coalesce(owner.oid = $2, false))
    and not ($1 = 'pg_class'::regclass and $3 > 0 and coalesce(e.adrelid = $2 and e.adnum = $3, false))
    and not ($1 = 'pg_class'::regclass and $3 = 0 and coalesce(r.relkind = 'S', false))
    and not coalesce(g.tgisinternal, false)
    and not coalesce(k.conparentid <> 0, false)
)
select kind, schema, name, bool_and(blocks)
from known
group by 1, 2, 3
order by 1, 2, 3
limit 1000`

const (
	targetTable = `
select 'pg_class'::regclass::oid, c.oid, 0
from pg_class c
where c.oid = $1`

	targetColumn = `
select 'pg_class'::regclass::oid, a.attrelid, a.attnum::int
from pg_attribute a
where a.attrelid = $1
  and a.attname = $2
  and a.attnum > 0
  and not a.attisdropped`

	targetConstraint = `
select 'pg_constraint'::regclass::oid, k.oid, 0
from pg_constraint k
where k.conrelid = $1
  and k.conname = $2`

	targetType = `
select 'pg_type'::regclass::oid, t.oid, 0
from pg_type t
join pg_namespace n on n.oid = t.typnamespace
where n.nspname = $1
  and t.typname = $2`

	targetFunction = `
select 'pg_proc'::regclass::oid, p.oid, 0
from pg_proc p
join pg_namespace n on n.oid = p.pronamespace
where n.nspname = $1
  and p.proname = $2
  and pg_get_function_identity_arguments(p.oid) = $3`
)

// find looks the object up that a request names.
func (t *target) find(ctx context.Context, conn *pgx.Conn, asked url.Values) error {
	column, constraint, typ, function := asked.Get("column"), asked.Get("constraint"), asked.Get("type"), asked.Get("function")
	query, arguments, code, name := targetTable, []any{t.tableOID}, "42P01", t.table
	switch {
	case t.table != "" && column != "":
		query, arguments, code, name = targetColumn, []any{t.tableOID, column}, "42703", column
	case t.table != "" && constraint != "":
		query, arguments, code, name = targetConstraint, []any{t.tableOID, constraint}, "42704", constraint
	case t.table != "":
	case typ != "":
		query, arguments, code, name = targetType, []any{t.schema, typ}, "42704", typ
	case function != "":
		query, arguments, code, name = targetFunction, []any{t.schema, function, asked.Get("arguments")}, "42883", function
	default:
		return refusedf(http.StatusBadRequest, "bad_target", "Name a table, a type or a function")
	}
	err := conn.QueryRow(ctx, query, arguments...).Scan(&t.class, &t.object, &t.sub)
	if errors.Is(err, pgx.ErrNoRows) {
		return refusedf(http.StatusNotFound, code, "%q does not exist", name)
	}
	return err
}
