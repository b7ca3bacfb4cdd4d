package admin

import (
	"errors"
	"net/http"

	"github.com/jackc/pgx/v5"
	"github.com/labstack/echo/v4"

	"basalt/store/console"
)

// ImpactBody tells what a change of a table would meet.
type ImpactBody struct {
	// EstimatedRows are what PostgreSQL believes, null when it has no idea.
	EstimatedRows *int64 `json:"estimated_rows"`
	// Bytes are of the table, IndexBytes of its indexes, at the last vacuum or analyze.
	Bytes      int64 `json:"bytes"`
	IndexBytes int64 `json:"index_bytes"`
	// Dependents are what refers to the table.
	Dependents []DependentBody `json:"dependents"`
	// Holders are who holds a lock on the table now, or waits for one: a change waits for them, and they for it.
	Holders []HolderBody `json:"holders"`
}

// HolderBody is a session with a lock.
type HolderBody struct {
	PID     int32  `json:"pid"`
	Mode    string `json:"mode"`
	Granted bool   `json:"granted"`
	// TransactionMS is how long its transaction lasts already.
	TransactionMS   float64 `json:"transaction_ms"`
	State           string  `json:"state"`
	ApplicationName string  `json:"application_name"`
	Query           string  `json:"query"`
}

const (
	impactSize = `
select
  c.oid,
  case
    when c.relkind in ('r', 'm') then greatest(c.reltuples::bigint, pg_stat_get_live_tuples(c.oid))
    when c.reltuples >= 0 then c.reltuples::bigint
  end,
  (c.relpages::bigint + coalesce(t.relpages, 0)) * current_setting('block_size')::int,
  coalesce((
    select sum(x.relpages::bigint)
    from pg_index i
    join pg_class x on x.oid = i.indexrelid
    where i.indrelid in (c.oid, c.reltoastrelid)
  ), 0)::bigint * current_setting('block_size')::int
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
left join pg_class t on t.oid = c.reltoastrelid
where n.nspname = $1
  and c.relname = $2
  and c.relkind in ('r', 'p', 'v', 'm', 'f')`

	impactHolders = `
select
  l.pid,
  l.mode,
  l.granted,
  coalesce(extract(epoch from clock_timestamp() - a.xact_start) * 1000, 0)::double precision,
  coalesce(a.state, ''),
  coalesce(a.application_name, ''),
  coalesce(left(a.query, 1000), '')
from pg_locks l
left join pg_stat_activity a on a.pid = l.pid
where l.locktype = 'relation'
  and l.relation = $1
  and l.database = (select d.oid from pg_database d where d.datname = current_database())
  and l.pid <> pg_backend_pid()
order by a.xact_start
limit 100`
)

// impact answers GET /ddl/impact?schema=, with table= and perhaps column= or constraint= of it, or type=, or function= with
// arguments= as they identify it: what a change, or the drop, of it would meet. Sizes and locks are those of the table.
func (d *Data) impact(c echo.Context) error {
	ctx := c.Request().Context()
	body := ImpactBody{Dependents: []DependentBody{}, Holders: []HolderBody{}}
	session := console.Session{ReadOnly: true, StatementTimeout: catalogTimeout, LockTimeout: catalogLocks}
	err := d.pool.Use(ctx, session, func(conn *pgx.Conn) error {
		// As in the catalog, every name outside of pg_catalog is spelled with its schema.
		if _, err := conn.Exec(ctx, `select pg_catalog.num_nulls(pg_catalog.set_config('search_path', '', false))`); err != nil {
			return err
		}
		of := target{schema: c.QueryParam("schema"), table: c.QueryParam("table")}
		if of.table != "" {
			err := conn.QueryRow(ctx, impactSize, of.schema, of.table).Scan(&of.tableOID, &body.EstimatedRows, &body.Bytes, &body.IndexBytes)
			if errors.Is(err, pgx.ErrNoRows) {
				return refusedf(http.StatusNotFound, "42P01", "relation %q does not exist", of.schema+"."+of.table)
			}
			if err != nil {
				return err
			}
			rows, err := conn.Query(ctx, impactHolders, of.tableOID)
			if err != nil {
				return err
			}
			if body.Holders, err = pgx.AppendRows(body.Holders, rows, pgx.RowToStructByPos[HolderBody]); err != nil {
				return err
			}
		}
		if err := of.find(ctx, conn, c.QueryParams()); err != nil {
			return err
		}
		rows, err := conn.Query(ctx, dependentsOf, of.class, of.object, of.sub)
		if err != nil {
			return err
		}
		body.Dependents, err = pgx.AppendRows(body.Dependents, rows, pgx.RowToStructByPos[DependentBody])
		return err
	})
	if err != nil {
		return err
	}
	if administratorOf(c).Role == viewer {
		for i := range body.Holders {
			body.Holders[i].Query = "" // it may hold anything
		}
	}
	return c.JSON(http.StatusOK, body)
}
