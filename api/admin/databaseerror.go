package admin

import (
	"net/http"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"basalt/api/rest"
)

// databaseRefusal is PostgreSQL's own error as an answer.
func databaseRefusal(e *pgconn.PgError) *refusal {
	return &refusal{status: databaseStatus(e), ErrorBody: ErrorBody{
		Code: e.Code, Message: e.Message, Details: e.Detail, Hint: e.Hint, Position: e.Position,
		Schema: e.SchemaName, Table: e.TableName, Column: e.ColumnName, Constraint: e.ConstraintName, Where: e.Where,
	}, cause: e}
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
	if status >= 500 && status != http.StatusServiceUnavailable && !strings.HasPrefix(e.Code, "XX") && !strings.HasPrefix(e.Code, "58") {
		return http.StatusBadRequest
	}
	return status
}
