package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/labstack/echo/v4"

	"basalt/api/rest"
	"basalt/auth"
	"basalt/store"
)

// refusal is an answer other than success.
type refusal struct {
	status int
	ErrorBody
}

func (r *refusal) Error() string { return r.Code + ": " + r.Message }

// refusedf makes a refusal of our own.
func refusedf(status int, code, format string, values ...any) *refusal {
	return &refusal{status, ErrorBody{Code: code, Message: fmt.Sprintf(format, values...)}}
}

// refuse writes the answer to a request that failed.
func (d *Data) refuse(c echo.Context, err error) error {
	if c.Request().Context().Err() != nil {
		panic(http.ErrAbortHandler) // nobody is there to read an answer
	}
	if c.Response().Committed {
		return err
	}
	r := explain(err)
	if r.status >= 500 && r.status != http.StatusServiceUnavailable {
		d.options.Log.Error().Err(err).Str("request_id", c.Response().Header().Get(echo.HeaderXRequestID)).Msg("request of the dashboard failed")
	}
	if r.status == http.StatusServiceUnavailable {
		c.Response().Header().Set("Retry-After", strconv.Itoa(1+rand.IntN(4)))
	}
	return c.JSON(r.status, r.ErrorBody)
}

// explain turns whatever stopped a request into its answer.
func explain(err error) *refusal {
	var (
		own         *refusal
		full        *store.PoolFullError
		unavailable *store.UnavailableError
		wide        *store.RowTooLargeError
		database    *pgconn.PgError
		tooLarge    *http.MaxBytesError
		account     *auth.Error
		problem     *problem
	)
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &full):
		return refusedf(http.StatusServiceUnavailable, "busy", "All connections of the dashboard are in use")
	case errors.As(err, &database) && !left(database):
		return databaseRefusal(database)
	case errors.As(err, &unavailable):
		r := refusedf(http.StatusServiceUnavailable, "unavailable", "PostgreSQL cannot be reached")
		if !unavailable.Connecting {
			r.Message = "The connection to PostgreSQL was lost"
			r.Hint = "What was in a transaction has been undone, unless it was just being committed"
		}
		return r
	case errors.As(err, &wide):
		return refusedf(http.StatusRequestEntityTooLarge, "54000", "A row of %d bytes is larger than the dashboard takes (%d)", wide.Bytes, wide.Most)
	case errors.As(err, &tooLarge):
		return refusedf(http.StatusRequestEntityTooLarge, "too_large", "The request body is larger than %d bytes", tooLarge.Limit)
	case errors.As(err, &account):
		status := cmp.Or(account.Status, http.StatusBadRequest)
		if account.Code == auth.CodeUserNotFound {
			status = http.StatusNotFound
		}
		return refusedf(status, string(account.Code), "%s", account.Message)
	case errors.As(err, &problem):
		return &refusal{problem.status, ErrorBody{Code: problem.code, Message: problem.message, Details: problem.details, Hint: problem.hint}}
	case errors.Is(err, context.Canceled):
		return refusedf(http.StatusConflict, "57014", "The request was cancelled")
	}
	return refusedf(http.StatusInternalServerError, "internal", "Something went wrong")
}

// left says that PostgreSQL has ended the session with this error.
func left(e *pgconn.PgError) bool {
	return e.SeverityUnlocalized == "FATAL" || e.SeverityUnlocalized == "PANIC"
}

func databaseRefusal(e *pgconn.PgError) *refusal {
	return &refusal{databaseStatus(e), ErrorBody{
		Code: e.Code, Message: e.Message, Details: e.Detail, Hint: e.Hint, Position: e.Position,
		Schema: e.SchemaName, Table: e.TableName, Column: e.ColumnName, Constraint: e.ConstraintName, Where: e.Where,
	}}
}

// databaseStatus is that of the REST API, but for what a person at a dashboard may well run into: that is no fault of the
// server.
func databaseStatus(e *pgconn.PgError) int {
	switch e.Code {
	case "55P03", "40001", "40P01", "55006", "57014": // locks, serialization, deadlock, in use, timeout
		return http.StatusConflict
	case "25006":
		return http.StatusForbidden
	case "42883", "42P01", "42P17", "22023":
		return http.StatusBadRequest
	}
	status := rest.SQLStatus(e, false)
	if status < 400 {
		return http.StatusBadRequest // a function may raise any status
	}
	if status >= 500 && status != http.StatusServiceUnavailable && e.Code[:2] != "XX" && e.Code[:2] != "58" {
		return http.StatusBadRequest
	}
	return status
}

// mostBody bounds the bodies that hold rows or SQL.
const mostBody = 32 << 20

// decode reads a JSON body that may hold rows or SQL.
func decode(c echo.Context, into any) error { return readLargeJSON(c, into, mostBody) }
