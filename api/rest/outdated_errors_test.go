package rest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"basalt/query"
	"basalt/store"
)

func TestOnlyErrorsOfOurOwnStatementsMayBeOutdated(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		err  error
		want bool
	}{
		{"a type that the catalog does not know", fmt.Errorf("write: %w", &store.StaleError{TypeOID: 1}), true},
		{"a column", &pgconn.PgError{Code: "42703", Position: 8}, true},
		{"a table", &pgconn.PgError{Code: "42P01", Position: 8}, true},
		{"a column's type", &pgconn.PgError{Code: "42804", Position: 8}, true},
		{"a function", &pgconn.PgError{Code: "42883", Position: 8, Message: "function public.f(x => integer) does not exist"}, true},
		{"a function of PostgreSQL's own", &pgconn.PgError{Code: "42883", Position: 8, Message: "function pg_catalog.to_tsvector(integer) does not exist"}, false},
		{"an operator, which clients choose", &pgconn.PgError{Code: "42883", Position: 8, Message: "operator does not exist: integer ~~ unknown"}, false},
		{"a column within a function", &pgconn.PgError{Code: "42703", Position: 8, Where: "PL/pgSQL function f() line 1 at RETURN"}, false},
		{"a column that a function says is missing", &pgconn.PgError{Code: "42703"}, false},
		{"a key", &pgconn.PgError{Code: "23505", Position: 8}, false},
		{"no error of PostgreSQL's", errors.New("no"), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := outdated(test.err, &query.Request{Action: query.Read, Schema: "public"}); got != test.want {
				t.Errorf("%v, want %v", got, test.want)
			}
		})
	}
}
