package admin

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/labstack/echo/v4"
)

const (
	// leastStep and mostStep bound how many rows are from one rung to the next.
	leastStep, mostStep = 100, 1_000_000
	// mostRungs is how many keys a list of rungs has at most.
	mostRungs = 2000
)

// RungsBody are keys of a table at even distances: whoever goes to a far row begins at the rung before it, where an
// offset would pass over all rows before.
type RungsBody struct {
	Step int64 `json:"step"`
	// Keys are of the rows step, 2·step and so on, counted from 1 in the order of the key: a value of each of its columns.
	Keys [][]string `json:"keys"`
}

// rungs answers GET /rungs/{schema}/{table}?step=&descending=. Only a table with a primary key has any.
func (d *Data) rungs(c echo.Context) error {
	step, err := strconv.ParseInt(c.QueryParam("step"), 10, 64)
	if err != nil || step < leastStep || step > mostStep {
		return refusedf(http.StatusBadRequest, "bad_step", "step is a number of rows from %d to %d, not %q", leastStep, mostStep, c.QueryParam("step"))
	}
	v, err := d.readerOf(c)
	if err != nil {
		return err
	}
	// The timeout of a statement bounds one fetch alone.
	ctx, stop := context.WithTimeout(c.Request().Context(), writeTimeout)
	defer stop()
	answer := RungsBody{Step: step, Keys: [][]string{}}
	session := v.session()
	session.ReadOnly = true
	err = d.pool.Tx(ctx, session, func(tx pgx.Tx) error {
		table, err := findTable(ctx, tx, named(c, "schema"), named(c, "table"))
		if err != nil {
			return err
		}
		if len(table.key) == 0 {
			return refusedf(http.StatusBadRequest, "no_key", "%s has no primary key", table.name)
		}
		key, order := make([]string, len(table.key)), make([]string, len(table.key))
		for i, column := range table.key {
			key[i] = pgx.Identifier{column}.Sanitize()
			order[i] = key[i]
			if c.QueryParam("descending") == "true" {
				order[i] += " desc"
			}
		}
		// A cursor goes through the index once, and writes out none of the keys that it passes over. To begin anew at each
		// rung (key > $1) would do as well but for policies: before one, a comparison that is not leakproof, as that of
		// numeric, does not reach the index, and every rung would begin at the first row.
		_, err = tx.Exec(ctx, `declare rungs no scroll cursor for select `+strings.Join(key, ", ")+` from `+table.sql()+` order by `+strings.Join(order, ", "))
		for err == nil && len(answer.Keys) < mostRungs {
			rung, into := make([]string, len(key)), make([]any, len(key))
			for i := range rung {
				into[i] = &rung[i]
			}
			err = tx.QueryRow(ctx, `fetch relative `+strconv.FormatInt(step, 10)+` from rungs`).Scan(into...)
			if err == nil {
				answer.Keys = append(answer.Keys, rung)
			}
		}
		if errors.Is(err, pgx.ErrNoRows) { // fewer rows than a step are left
			return nil
		}
		return err
	})
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, answer)
}
