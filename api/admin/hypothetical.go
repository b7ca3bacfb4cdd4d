package admin

import (
	"encoding/json"
	"errors"
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
		var schema string
		err := conn.QueryRow(ctx, `
			select coalesce((
			  select n.nspname::text
			  from pg_extension e
			  join pg_namespace n on n.oid = e.extnamespace
			  where e.extname = 'hypopg'
			), '')`).Scan(&schema)
		if err != nil {
			return err
		}
		if schema == "" {
			r := refusedf(http.StatusConflict, "no_hypopg", "The extension hypopg is not created in this database")
			r.Hint = "Install it beside PostgreSQL, then run: create extension hypopg"
			return r
		}
		var plan string
		cost := func() (total float64, err error) {
			if err = conn.QueryRow(ctx, "explain (format json) execute look_up ("+strings.TrimSuffix(strings.Repeat("null, ", len(columns)), ", ")+")").Scan(&plan); err != nil {
				return 0, err
			}
			var parsed []struct {
				Plan struct {
					Total float64 `json:"Total Cost"`
				}
			}
			if err = json.Unmarshal([]byte(plan), &parsed); err != nil {
				return 0, fmt.Errorf("read a plan: %w", err)
			}
			if len(parsed) == 0 {
				return 0, errors.New("read a plan: there is none")
			}
			return parsed[0].Plan.Total, nil
		}
		// A plan for any values: with NULLs in their place PostgreSQL would see that no row matches.
		for _, statement := range []string{"set plan_cache_mode = force_generic_plan", "prepare look_up as " + gain.Query} {
			if _, err := conn.Exec(ctx, statement); err != nil {
				return err
			}
		}
		if gain.Before, err = cost(); err != nil {
			return err
		}
		var name string
		in := pgx.Identifier{schema}.Sanitize()
		err = conn.QueryRow(ctx, `select indexname, `+in+`.hypopg_relation_size(indexrelid) from `+in+`.hypopg_create_index($1)`,
			"create index on "+table+" ("+strings.Join(columns, ", ")+")").Scan(&name, &gain.Bytes)
		if err != nil {
			return err
		}
		// A plan that was made before the index is not made again for it.
		for _, statement := range []string{"deallocate look_up", "prepare look_up as " + gain.Query} {
			if _, err := conn.Exec(ctx, statement); err != nil {
				return err
			}
		}
		gain.After, err = cost()
		gain.Used = strings.Contains(plan, name)
		return err
	})
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, gain)
}
