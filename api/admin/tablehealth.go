package admin

import (
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/labstack/echo/v4"
)

// TablesBody is how tables are kept.
type TablesBody struct {
	// CacheHitRate is of tables, IndexHitRate of indexes; null before anything was read.
	CacheHitRate *float64      `json:"cache_hit_rate"`
	IndexHitRate *float64      `json:"index_hit_rate"`
	Tables       []TableHealth `json:"tables"` // the largest first
}

// TableHealth is how much room a table takes, and how much of that holds nothing.
type TableHealth struct {
	Schema     string `json:"schema"`
	Table      string `json:"table"`
	Rows       int64  `json:"rows"` // as estimated
	Bytes      int64  `json:"bytes"`
	IndexBytes int64  `json:"index_bytes"`
	DeadRows   int64  `json:"dead_rows"`
	// BloatBytes is an estimate from the average width of rows; null where the table was never analyzed.
	BloatBytes   *int64     `json:"bloat_bytes"`
	VacuumedAt   *time.Time `json:"vacuumed_at"`
	AnalyzedAt   *time.Time `json:"analyzed_at"`
	CacheHitRate *float64   `json:"cache_hit_rate"`
}

const (
	hitRates = `
select
  sum(heap_blks_hit)::float8 / nullif(sum(heap_blks_hit + heap_blks_read), 0)::float8,
  sum(idx_blks_hit)::float8 / nullif(sum(idx_blks_hit + idx_blks_read), 0)::float8
from pg_statio_user_tables`

	// A row takes its columns' average widths, a header of 24 bytes aligned to 8, and a line pointer of 4; a page has a
	// header of 24. What the pages hold beyond that is bloat.
	tableHealth = `
select
  n.nspname::text,
  c.relname::text,
  greatest(c.reltuples::bigint, s.n_live_tup, 0),
  pg_table_size(c.oid),
  pg_indexes_size(c.oid),
  s.n_dead_tup,
  case when c.reltuples > 0 and w.width is not null then greatest(0, c.relpages::bigint - ceil(
    c.reltuples * (24 + 8 * ceil(w.width / 8.0) + 4)
    / ((current_setting('block_size')::int - 24) * coalesce(f.fillfactor, 100) / 100.0)
  )::bigint) * current_setting('block_size')::int end,
  greatest(s.last_vacuum, s.last_autovacuum),
  greatest(s.last_analyze, s.last_autoanalyze),
  b.heap_blks_hit::float8 / nullif(b.heap_blks_hit + b.heap_blks_read, 0)
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
join pg_stat_user_tables s on s.relid = c.oid
join pg_statio_user_tables b on b.relid = c.oid
left join lateral (
  select sum((1 - p.null_frac) * p.avg_width) as width
  from pg_stats p
  where p.schemaname = n.nspname
  and p.tablename = c.relname
  and not p.inherited
) w on true
left join lateral (
  select option_value::int as fillfactor
  from pg_options_to_table(c.reloptions)
  where option_name = 'fillfactor'
) f on true
where c.relkind in ('r', 'm')
and ` + appSchemas + `
order by c.relpages desc, 1, 2
limit 200`
)

// tables answers GET /performance/tables.
func (d *Data) tables(c echo.Context) error {
	ctx := c.Request().Context()
	var body TablesBody
	err := d.pool.Use(ctx, performanceSession(), func(conn *pgx.Conn) (err error) {
		if err := conn.QueryRow(ctx, hitRates).Scan(&body.CacheHitRate, &body.IndexHitRate); err != nil {
			return err
		}
		collect(c, conn, tableHealth, &body.Tables, &err)
		return err
	})
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, body)
}
