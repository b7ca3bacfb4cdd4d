package admin

import (
	"net/http"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/labstack/echo/v4"
)

// mostRungs is how many keys a list of rungs has at most.
const mostRungs = 2000

// RungsBody are keys of a table at even distances: whoever goes to a far row begins at the rung before it, where an
// offset would pass over all rows before.
type RungsBody struct {
	Step int64 `json:"step"`
	// Keys are of the rows step, 2·step and so on, counted from 1 in the order of the key.
	Keys []string `json:"keys"`
}

// rungs answers GET /rungs/{schema}/{table}?step=&descending=. Only a table with a primary key of one column has any.
func (d *Data) rungs(c echo.Context) error {
	step, err := strconv.ParseInt(c.QueryParam("step"), 10, 64)
	if err != nil || step < 100 {
		return refusedf(http.StatusBadRequest, "bad_step", "step is a number of rows from 100 on, not %q", c.QueryParam("step"))
	}
	v, err := d.viewOf(c)
	if err != nil {
		return err
	}
	direction := ""
	if c.QueryParam("descending") == "true" {
		direction = " desc"
	}
	ctx := c.Request().Context()
	answer := RungsBody{Step: step}
	err = d.pool.Tx(ctx, v.session(), func(tx pgx.Tx) error {
		table, err := findTable(ctx, tx, named(c, "schema"), named(c, "table"))
		if err != nil {
			return err
		}
		if len(table.key) != 1 {
			return refusedf(http.StatusBadRequest, "no_key", "%s has no primary key of one column", table.name)
		}
		key := pgx.Identifier{table.key[0]}.Sanitize()
		rows, err := tx.Query(ctx, `select key
from (
  select `+key+`::text as key, row_number() over (order by `+key+direction+`) as n
  from `+table.sql()+`
) as numbered
where n % $1 = 0
order by n
limit $2`, step, mostRungs)
		if err != nil {
			return err
		}
		answer.Keys, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, answer)
}
