package sql_test

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"basalt/query/sql"
)

func TestWritesOfTheWrongNumberOfRowsEndThemselves(t *testing.T) {
	s := newSample(t)
	s.with(t, func(conn *pgconn.PgConn) {
		for _, test := range []struct {
			name, request string
			rows          int64
		}{
			{"a PUT of a row that is not named", "PUT /keyed?id=eq.2\n> {\"id\": 1, \"code\": \"uno\"}", 0},
			{"a PUT of a row with two names", "PUT /keyed?id=eq.1&id=eq.2 # return=representation\n> {\"id\": 1, \"code\": \"uno\"}", 0},
			{"no row where one must be", "PATCH /keyed?id=eq.99 # return=representation one\n> {\"a\": 1}", 0},
			{"several rows where one must be", "PATCH /keyed?id=in.(1,2) # return=representation one\n> {\"a\": 1}", 2},
			{"the same in order and with computed columns", "PATCH /keyed?id=in.(1,2)&select=shout&order=id # return=representation one\n> {\"a\": 1}", 2},
			{"more than may be", "DELETE /keyed?id=lte.3 # max-affected=2", 3},
		} {
			t.Run(test.name, func(t *testing.T) {
				request, statement, err := s.compile(test.request)
				if err != nil {
					t.Fatal(err)
				}
				inTransaction(t, conn, func() {
					_, err = s.answer(t, conn, statement, request)
				})
				if rows, ok := sql.Miscounted(err); !statement.Guarded || !ok || rows != test.rows {
					t.Errorf("%v tells of %d rows, %v\n%s", err, rows, ok, statement.SQL)
				}
			})
		}
	})
	for _, other := range []error{nil, errors.New("x"), &pgconn.PgError{Code: "42704", Message: `type "basalt" does not exist`},
		&pgconn.PgError{Code: "22P02", Message: `"basalt: rows written 5"`}} {
		if _, ok := sql.Miscounted(other); ok {
			t.Errorf("%v is taken for a count", other)
		}
	}
}
