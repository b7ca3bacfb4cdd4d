package admin

import (
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/labstack/echo/v4"
)

// IndexesBody are findings about indexes. The SQL of each is a proposal, which nobody has run.
type IndexesBody struct {
	// Since is when PostgreSQL began to count uses, null for always.
	Since *time.Time `json:"since"`
	// Hypothetical tells whether indexes can be tried without being made, by the extension hypopg.
	Hypothetical bool `json:"hypothetical"`
	// HypotheticalAvailable tells whether hypopg is there to be created.
	HypotheticalAvailable bool               `json:"hypothetical_available"`
	Unused                []UnusedIndex      `json:"unused"`
	Duplicate             []DuplicateIndex   `json:"duplicate"`
	ForeignKeys           []BareForeignKey   `json:"foreign_keys"`
	Scanned               []ScannedTable     `json:"scanned"`
	Invalid               []InvalidIndexBody `json:"invalid"`
}

// UnusedIndex is an index that no query has used, and that holds up no constraint.
type UnusedIndex struct {
	Schema     string `json:"schema"`
	Table      string `json:"table"`
	Name       string `json:"name"`
	Bytes      int64  `json:"bytes"`
	Definition string `json:"definition"`
	SQL        string `json:"sql"`
}

// DuplicateIndex is an index whose columns another one begins with.
type DuplicateIndex struct {
	Schema     string `json:"schema"`
	Table      string `json:"table"`
	Name       string `json:"name"`
	Bytes      int64  `json:"bytes"`
	Definition string `json:"definition"`
	CoveredBy  string `json:"covered_by"`
	Same       bool   `json:"same"` // both have the same columns
	SQL        string `json:"sql"`
}

// BareForeignKey is a foreign key whose columns no index begins with: each delete of what it refers to reads the table.
type BareForeignKey struct {
	Schema    string   `json:"schema"`
	Table     string   `json:"table"`
	Name      string   `json:"name"`
	Columns   []string `json:"columns"`
	RefTable  string   `json:"ref_table"`
	TableRows int64    `json:"table_rows"`
	SQL       string   `json:"sql"`
}

// ScannedTable is a large table that is read from its beginning to its end again and again.
type ScannedTable struct {
	Schema     string `json:"schema"`
	Table      string `json:"table"`
	Rows       int64  `json:"rows"`
	Bytes      int64  `json:"bytes"`
	Scans      int64  `json:"scans"`
	RowsRead   int64  `json:"rows_read"`
	IndexScans int64  `json:"index_scans"`
}

// InvalidIndexBody is an index that PostgreSQL keeps up but does not use: making it has failed.
type InvalidIndexBody struct {
	Schema string `json:"schema"`
	Table  string `json:"table"`
	Name   string `json:"name"`
	SQL    string `json:"sql"`
}

const (
	countedSince = `
select
  (select stats_reset from pg_stat_database where datname = current_database()),
  exists (select from pg_extension where extname = 'hypopg'),
  exists (select from pg_available_extensions where name = 'hypopg')`

	// Schemas of the system are not for people to tune.
	appSchemas = `
n.nspname not in ('pg_catalog', 'information_schema', 'auth', 'basalt', 'supabase_migrations')
and n.nspname !~ '^pg_(toast|temp)'`

	unusedIndexes = `
select
  n.nspname::text,
  t.relname::text,
  c.relname::text,
  pg_relation_size(c.oid),
  pg_get_indexdef(c.oid),
  format('drop index concurrently %I.%I;', n.nspname, c.relname)
from pg_stat_user_indexes s
join pg_index i on i.indexrelid = s.indexrelid
join pg_class c on c.oid = i.indexrelid
join pg_class t on t.oid = i.indrelid
join pg_namespace n on n.oid = c.relnamespace
where s.idx_scan = 0
and not i.indisunique
and i.indisvalid
and not exists (select from pg_constraint k where k.conindid = i.indexrelid)
and not exists (select from pg_inherits h where h.inhrelid = i.indexrelid)
and ` + appSchemas + `
order by 4 desc, 1, 2, 3
limit 200`

	duplicateIndexes = `
select
  n.nspname::text,
  t.relname::text,
  c.relname::text,
  pg_relation_size(c.oid),
  pg_get_indexdef(c.oid),
  o.relname::text,
  i.indnkeyatts = j.indnkeyatts,
  format('drop index %s%I.%I;', case when c.relkind = 'I' then '' else 'concurrently ' end, n.nspname, c.relname)
from pg_index i
join pg_index j on j.indrelid = i.indrelid and j.indexrelid <> i.indexrelid
join pg_class c on c.oid = i.indexrelid
join pg_class o on o.oid = j.indexrelid
join pg_class t on t.oid = i.indrelid
join pg_namespace n on n.oid = c.relnamespace
join pg_am m on m.oid = c.relam
where c.relam = o.relam
and i.indisvalid
and j.indisvalid
and i.indnkeyatts = i.indnatts
and (i.indnkeyatts = j.indnkeyatts or m.amname = 'btree' and i.indnkeyatts < j.indnkeyatts)
and (i.indkey::int2[])[0:i.indnkeyatts - 1] = (j.indkey::int2[])[0:i.indnkeyatts - 1]
and (i.indclass::oid[])[0:i.indnkeyatts - 1] = (j.indclass::oid[])[0:i.indnkeyatts - 1]
and (i.indcollation::oid[])[0:i.indnkeyatts - 1] = (j.indcollation::oid[])[0:i.indnkeyatts - 1]
and (i.indoption::int2[])[0:i.indnkeyatts - 1] = (j.indoption::int2[])[0:i.indnkeyatts - 1]
and i.indexprs is null
and j.indexprs is null
and pg_get_expr(i.indpred, i.indrelid) is not distinct from pg_get_expr(j.indpred, j.indrelid)
-- What is unique or holds a constraint up is no copy of what does neither, and of two alike only one is named.
and not i.indisunique
and not exists (select from pg_constraint k where k.conindid = i.indexrelid)
and (i.indnkeyatts < j.indnkeyatts or j.indisunique or i.indexrelid > j.indexrelid)
-- That of a partition goes with that of its table.
and not exists (select from pg_inherits h where h.inhrelid = i.indexrelid)
and ` + appSchemas + `
order by 4 desc, 1, 2, 3
limit 200`

	bareForeignKeys = `
select
  n.nspname::text,
  t.relname::text,
  k.conname::text,
  k.names,
  k.confrelid::regclass::text,
  greatest(t.reltuples::bigint, pg_stat_get_live_tuples(t.oid), 0),
  -- A partitioned table takes no index concurrently.
  format('create index %son %I.%I (%s);', case when t.relkind = 'p' then '' else 'concurrently ' end, n.nspname, t.relname, k.quoted)
from (
  select
    k.conrelid,
    k.confrelid,
    k.conname,
    k.conkey,
    array_agg(a.attname::text order by p.place) as names,
    string_agg(quote_ident(a.attname), ', ' order by p.place) as quoted
  from pg_constraint k
  cross join unnest(k.conkey) with ordinality as p (number, place)
  join pg_attribute a on a.attrelid = k.conrelid and a.attnum = p.number
  where k.contype = 'f'
  and k.conparentid = 0
  group by 1, 2, 3, 4
) k
join pg_class t on t.oid = k.conrelid
join pg_namespace n on n.oid = t.relnamespace
where not exists (
  select
  from pg_index i
  where i.indrelid = k.conrelid
  and i.indisvalid
  and i.indpred is null
  and (i.indkey::int2[])[0:cardinality(k.conkey) - 1] @> k.conkey
)
and ` + appSchemas + `
order by 6 desc, 1, 2, 3
limit 200`

	scannedTables = `
select
  s.schemaname::text,
  s.relname::text,
  greatest(s.n_live_tup, c.reltuples::bigint, 0),
  pg_table_size(s.relid),
  s.seq_scan,
  s.seq_tup_read,
  coalesce(s.idx_scan, 0)
from pg_stat_user_tables s
join pg_class c on c.oid = s.relid
join pg_namespace n on n.oid = c.relnamespace
where greatest(s.n_live_tup, c.reltuples::bigint) >= 10000
and s.seq_scan >= 10
and s.seq_tup_read / greatest(s.seq_scan, 1) >= 5000
and s.seq_scan > coalesce(s.idx_scan, 0) / 10
and ` + appSchemas + `
order by s.seq_tup_read desc
limit 100`

	invalidIndexes = `
select
  n.nspname::text,
  t.relname::text,
  c.relname::text,
  format('reindex index concurrently %I.%I;', n.nspname, c.relname)
from pg_index i
join pg_class c on c.oid = i.indexrelid
join pg_class t on t.oid = i.indrelid
join pg_namespace n on n.oid = c.relnamespace
where not i.indisvalid
and c.relkind = 'i'
and ` + appSchemas + `
order by 1, 2, 3
limit 100`
)

// indexes answers GET /performance/indexes.
func (d *Data) indexes(c echo.Context) error {
	ctx := c.Request().Context()
	var body IndexesBody
	err := d.pool.Use(ctx, performanceSession(), func(conn *pgx.Conn) (err error) {
		if err := conn.QueryRow(ctx, countedSince).Scan(&body.Since, &body.Hypothetical, &body.HypotheticalAvailable); err != nil {
			return err
		}
		collect(c, conn, unusedIndexes, &body.Unused, &err)
		collect(c, conn, duplicateIndexes, &body.Duplicate, &err)
		collect(c, conn, bareForeignKeys, &body.ForeignKeys, &err)
		collect(c, conn, scannedTables, &body.Scanned, &err)
		collect(c, conn, invalidIndexes, &body.Invalid, &err)
		return err
	})
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, body)
}

// collect reads all rows of a query, unless an earlier one has failed.
func collect[T any](c echo.Context, conn *pgx.Conn, sql string, into *[]T, failed *error) {
	if *failed != nil {
		return
	}
	rows, err := conn.Query(c.Request().Context(), sql)
	if err == nil {
		*into, err = pgx.AppendRows([]T{}, rows, pgx.RowToStructByPos[T])
	}
	*failed = err
}
