package admin

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/labstack/echo/v4"

	"basalt/migrations"
)

// mostStatement is the most bytes of a statement's text that are shown.
const mostStatement = 20_000

// StatementsBody are the statements that have cost the most.
type StatementsBody struct {
	// State is ready, not_created (the extension is not created here) or not_loaded (nor does PostgreSQL load it).
	State string `json:"state"`
	// Since is when counting began, where PostgreSQL tells.
	Since *time.Time `json:"since"`
	// TotalMS is the time of all statements that were looked at.
	TotalMS    float64         `json:"total_ms"`
	Statements []StatementBody `json:"statements"`
}

// StatementBody is a statement with its constants taken out, and what its runs have cost.
type StatementBody struct {
	ID      string  `json:"id"`
	Role    string  `json:"role"`
	Query   string  `json:"query"`
	Calls   int64   `json:"calls"`
	Rows    int64   `json:"rows"`
	TotalMS float64 `json:"total_ms"`
	MeanMS  float64 `json:"mean_ms"`
	MaxMS   float64 `json:"max_ms"`
	// CacheHitRate is null when it has touched no page.
	CacheHitRate *float64 `json:"cache_hit_rate"`
}

const (
	statementsState = `
select
  coalesce((
    select n.nspname::text
    from pg_extension e
    join pg_namespace n on n.oid = e.extnamespace
    where e.extname = 'pg_stat_statements'
  ), ''),
  exists (
    select
    from pg_settings
    where name = 'pg_stat_statements.max'
  ),
  -- Before PostgreSQL 14 there is none.
  exists (
    select
    from pg_extension e
    join pg_class c on c.relnamespace = e.extnamespace
    where e.extname = 'pg_stat_statements'
    and c.relname = 'pg_stat_statements_info'
  )`

	statementsPage = `
select
  s.queryid::text || '_' || s.userid::text,
  coalesce(r.rolname::text, s.userid::text),
  left(s.query, $1),
  s.calls,
  s.rows,
  s.total_exec_time,
  s.mean_exec_time,
  s.max_exec_time,
  s.shared_blks_hit::float8 / nullif(s.shared_blks_hit + s.shared_blks_read, 0),
  sum(s.total_exec_time) over ()
from {}.pg_stat_statements s
left join pg_roles r on r.oid = s.userid
where s.dbid = (select oid from pg_database where datname = current_database())
and s.queryid is not null
-- What the server asks for itself: its own relations and functions, settings, locks and looks at columns, which begin as
-- it alone writes them, the frames of transactions, and, as one of its own users, the catalogs and statistics, roles and
-- what they may, and accounts where no relation of apps is named beside theirs.
and (
  $4
  or s.query !~* '\m(from|join|into|update|table)\s+basalt\.|\mbasalt\.\w+\(|\mpg_temp\.basalt_|\mtable basalt_probe\M'
  and s.query !~* '^\s*select\s+pg_catalog\.(num_nulls\(\s*pg_catalog\.set_config\(|set_config\(name, value,|pg_(try_)?advisory_|format_type\(f\.type_oid|pg_notify\()'
  and s.query !~* '^\s*select\s+a\.attname::text,\s+a\.attnum::int,\s+pg_catalog\.|^\s*select\s+(false|\$\d+) as routine,\s+c\.oid'
  and s.query !~* '^\s*(begin|commit|rollback|savepoint|release|set|discard|reset|show|listen|unlisten|close|deallocate)\M'
  and (
    r.rolname is null
    or r.rolname not in (session_user, '` + migrations.RequestUser + `')
    or s.query !~* '\m(from|join)\s+("[^"]*"\.|\w+\.)?(pg_|hypopg_)|\mto_regrole\(|\mas t \(name, labels\)'
    and s.query !~* '^\s*select\s+(current_user\s*$|to_regclass\(|has_database_privilege\(|bool_and\(has_schema_privilege\()'
    and (
      s.query !~* '\m(from|join|into|update)\s+(only\s+)?auth\.'
      or exists (
        select
        from regexp_matches(s.query, '\m(?:from|join|into|update)\s+(?:only\s+)?(?!auth\.)(?:"?\w+"?\.)?"?(\w+)', 'gi') named (part)
        join pg_class c on c.relname in (named.part[1], lower(named.part[1]))
        join pg_namespace n on n.oid = c.relnamespace
        where c.relkind in ('r', 'p', 'v', 'm', 'f')
        and n.nspname not in ('auth', 'basalt', 'pg_catalog', 'information_schema')
      )
    )
  )
)
order by case $2 when 'mean' then s.mean_exec_time when 'calls' then s.calls when 'max' then s.max_exec_time else s.total_exec_time end desc
limit $3`

	statementsSince = `
select stats_reset
from {}.pg_stat_statements_info`
)

// mostStatements is how many statements one answer has at most.
const mostStatements = 100

// statements answers GET /performance/statements?order=&all=&limit=.
func (d *Data) statements(c echo.Context) error {
	order := c.QueryParam("order")
	if order == "" {
		order = "total"
	}
	if !slices.Contains([]string{"total", "mean", "max", "calls"}, order) {
		return badParameter("order", "total, mean, max or calls")
	}
	limit := mostStatements
	if text := c.QueryParam("limit"); text != "" {
		var err error
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > mostStatements {
			return badParameter("limit", fmt.Sprintf("a number from 1 to %d", mostStatements))
		}
	}
	var body *StatementsBody
	ctx := c.Request().Context()
	err := d.pool.Use(ctx, performanceSession(), func(conn *pgx.Conn) (err error) {
		body, err = slowStatements(ctx, conn, order, c.QueryParam("all") == "true", limit)
		return err
	})
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, body)
}

// statementCounts says whether statements are counted, as StatementsBody does, in which schema, and whether it is told since
// when.
func statementCounts(ctx context.Context, conn *pgx.Conn) (state, schema string, dated bool, err error) {
	var loaded bool
	err = conn.QueryRow(ctx, statementsState).Scan(&schema, &loaded, &dated)
	switch {
	case !loaded:
		state = "not_loaded"
	case schema == "":
		state = "not_created"
	default:
		state = "ready"
	}
	return state, schema, dated, err
}

// slowStatements reads the statements that come first by an order: all of them, or those that apps have sent.
func slowStatements(ctx context.Context, conn *pgx.Conn, order string, all bool, most int) (*StatementsBody, error) {
	state, schema, dated, err := statementCounts(ctx, conn)
	body := &StatementsBody{State: state, Statements: []StatementBody{}}
	if err != nil || state != "ready" {
		return body, err
	}
	in := pgx.Identifier{schema}.Sanitize()
	rows, err := conn.Query(ctx, strings.ReplaceAll(statementsPage, "{}", in), mostStatement, order, most, all)
	if err != nil {
		return nil, err
	}
	body.Statements, err = pgx.AppendRows(body.Statements, rows, func(row pgx.CollectableRow) (s StatementBody, err error) {
		err = row.Scan(&s.ID, &s.Role, &s.Query, &s.Calls, &s.Rows, &s.TotalMS, &s.MeanMS, &s.MaxMS, &s.CacheHitRate, &body.TotalMS)
		if tellsSecret(s.Query) {
			s.Query, _, _ = strings.Cut(s.Query, " ") // commands such as CREATE ROLE keep their constants
			s.Query += " … (hidden: it may hold a password)"
		}
		return s, err
	})
	if err != nil || !dated {
		return body, err
	}
	err = conn.QueryRow(ctx, strings.ReplaceAll(statementsSince, "{}", in)).Scan(&body.Since)
	return body, err
}
