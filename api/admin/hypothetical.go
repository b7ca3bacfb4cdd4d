package admin

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/labstack/echo/v4"
)

// HypotheticalBody names the index to try.
type HypotheticalBody struct {
	Schema  string   `json:"schema"`
	Table   string   `json:"table"`
	Columns []string `json:"columns"`
}

// GainBody is what PostgreSQL believes a look-up by the columns to cost, without and with the index.
type GainBody struct {
	Before float64 `json:"before"`
	After  float64 `json:"after"`
	Bytes  int64   `json:"bytes"` // of the index, as estimated
	Used   bool    `json:"used"`  // the plan uses it
	Query  string  `json:"query"`
	SQL    string  `json:"sql"`
}

// mostIndexColumns is PostgreSQL's own bound.
const mostIndexColumns = 32

// hypothetical answers POST /performance/hypothetical. The index exists in the memory of one session, for the planner alone.
func (d *Data) hypothetical(c echo.Context) error {
	var in HypotheticalBody
	if err := readJSON(c, &in); err != nil {
		return err
	}
	if len(in.Columns) == 0 || len(in.Columns) > mostIndexColumns {
		return refusedf(http.StatusBadRequest, "bad_index", "An index has from 1 to %d columns", mostIndexColumns)
	}
	table := pgx.Identifier{in.Schema, in.Table}.Sanitize()
	columns, conditions := make([]string, len(in.Columns)), make([]string, len(in.Columns))
	for i, name := range in.Columns {
		columns[i] = pgx.Identifier{name}.Sanitize()
		conditions[i] = fmt.Sprintf("%s = $%d", columns[i], i+1)
	}
	gain := GainBody{
		Query: "select * from " + table + " where " + strings.Join(conditions, " and "),
		SQL:   "create index concurrently on " + table + " (" + strings.Join(columns, ", ") + ");",
	}
	ctx := c.Request().Context()
	session := performanceSession()
	session.Dirty = true // the index ends with the session alone, whatever comes between
	err := d.pool.Use(ctx, session, func(conn *pgx.Conn) error {
		schema, err := hypopgSchema(ctx, conn)
		if err != nil {
			return err
		}
		if schema == "" {
			r := refusedf(http.StatusConflict, "no_hypopg", "The extension hypopg is not created in this database")
			r.Hint = "Install it beside PostgreSQL, then run: create extension hypopg"
			return r
		}
		planned := func() (*planNode, error) {
			var text []byte
			if err := conn.QueryRow(ctx, "explain (format json) execute look_up ("+strings.TrimSuffix(strings.Repeat("null, ", len(columns)), ", ")+")").Scan(&text); err != nil {
				return nil, err
			}
			return readPlan(text)
		}
		// A plan for any values: with NULLs in their place PostgreSQL would see that no row matches.
		for _, statement := range []string{"set plan_cache_mode = force_generic_plan", "prepare look_up as " + gain.Query} {
			if _, err := conn.Exec(ctx, statement); err != nil {
				return err
			}
		}
		before, err := planned()
		if err != nil {
			return err
		}
		var name string
		if name, gain.Bytes, err = tryIndex(ctx, conn, schema, table, columns); err != nil {
			return err
		}
		// A plan that was made before the index is not made again for it.
		for _, statement := range []string{"deallocate look_up", "prepare look_up as " + gain.Query} {
			if _, err := conn.Exec(ctx, statement); err != nil {
				return err
			}
		}
		after, err := planned()
		if err != nil {
			return err
		}
		gain.Before, gain.After, gain.Used = before.Cost, after.Cost, after.uses(name)
		return nil
	})
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, gain)
}

// hypopgSchema gives the schema of the extension hypopg, "" when it is not created.
func hypopgSchema(ctx context.Context, conn *pgx.Conn) (schema string, err error) {
	err = conn.QueryRow(ctx, `
		select coalesce((
		  select n.nspname::text
		  from pg_extension e
		  join pg_namespace n on n.oid = e.extnamespace
		  where e.extname = 'hypopg'
		), '')`).Scan(&schema)
	return schema, err
}

// tryIndex shows an index to the planner of this session alone. Table and columns are quoted. It gives what plans call the
// index, and its size as estimated.
func tryIndex(ctx context.Context, conn *pgx.Conn, schema, table string, columns []string) (name string, bytes int64, err error) {
	in := pgx.Identifier{schema}.Sanitize()
	err = conn.QueryRow(ctx, `select indexname, `+in+`.hypopg_relation_size(indexrelid) from `+in+`.hypopg_create_index($1)`,
		"create index on "+table+" ("+strings.Join(columns, ", ")+")").Scan(&name, &bytes)
	return name, bytes, err
}
