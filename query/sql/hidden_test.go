package sql_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

func joined(texts []string) string { return strings.Join(texts, ",") }

// What the answer's status and its Location are made of: the keys of the rows written as text, and 1 for each row that
// was inserted, 0 for each that was updated.
func TestWritesTellTheKeysAndWhichRowsAreNew(t *testing.T) {
	s := newSample(t)
	s.with(t, func(conn *pgconn.PgConn) {
		for _, test := range []struct{ name, request, want string }{
			{"one key", "POST /keyed # return=headers-only\n> {\"id\": 7}", "7"},
			{"a key that the database makes", "POST /only_defaults # return=headers-only\n> {}", "50"},
			{"a key of two columns", "POST /pairs # return=headers-only\n> {\"right\": \"{00000000000000000000000000000002}\", \"left key\": \"ä &\"}",
				"ä &,00000000-0000-0000-0000-000000000002"},
			{"no key", "POST /no_key # return=headers-only\n> {\"a\": 1}", ""},
			{"a merge of one new row", "POST /keyed # resolution=merge\n> {\"id\": 7}", "1"},
			{"a merge of one row that is there", "POST /keyed # resolution=merge\n> {\"id\": 1}", "0"},
			{"a merge of both", "POST /keyed # resolution=merge\n> [{\"id\": 7}, {\"id\": 1}, {\"id\": 8}, {\"id\": 2}, {\"id\": 3}, {\"id\": 9}]", "1,0,1,0,0,1"},
			{"a merge with a key", "POST /keyed # resolution=merge return=headers-only\n> {\"id\": 1}", "1,0"},
			{"a merge that is shown", "POST /keyed # resolution=merge return=representation\n> [{\"id\": 1}, {\"id\": 7}]", "0,1"},
			{"a merge that is shown in an order", "POST /keyed?order=id.desc # resolution=merge return=representation\n> [{\"id\": 1}, {\"id\": 7}]", "1,0"},
			{"a merge that is counted", "POST /keyed?select=count() # resolution=merge return=representation\n> [{\"id\": 1}, {\"id\": 7}]", "1"},
			{"a counted merge of rows that are there", "POST /keyed?select=count() # resolution=merge return=representation\n> [{\"id\": 1}, {\"id\": 2}]", "0"},
			{"a merge with computed columns", "POST /keyed?select=shout&order=id # resolution=merge return=representation\n> [{\"id\": 1}, {\"id\": 7}]", "0,1"},
			{"a merge into a partitioned table", "POST /parts # resolution=merge\n> [{\"id\": 9, \"region\": \"north\"}, {\"id\": 2, \"region\": \"south\"}, {\"id\": 9, \"region\": \"south\"}]", "1,0,1"},
			{"a merge into a view", "POST /keyed_view # resolution=merge\n> [{\"id\": 1}, {\"id\": 7}]", "0,1"},
			{"a merge of keys alone", "POST /only_key # resolution=merge\n> [{\"id\": 1}, {\"id\": 7}]", "0,1"},
			{"PUT of a row that is there", "PUT /keyed?id=eq.1 # return=representation\n> {\"id\": 1}", "0"},
			{"PUT of a new row", "PUT /keyed?id=eq.7 # return=representation\n> {\"id\": 7}", "1"},
			{"PUT that is not shown", "PUT /keyed?id=eq.7\n> {\"id\": 7}", ""},
			{"duplicates ignored", "POST /keyed # resolution=ignore\n> {\"id\": 1}", ""},
		} {
			t.Run(test.name, func(t *testing.T) {
				request, statement, err := s.compile(test.request)
				if err != nil {
					t.Fatal(err)
				}
				inTransaction(t, conn, func() {
					exec(t, conn, restart)
					a, err := s.answer(t, conn, statement, request)
					if err != nil {
						t.Fatalf("%v\n%s", err, statement.SQL)
					}
					if joined(a.hidden) != test.want {
						t.Errorf("%s: %s, want %s\n%s", test.request, joined(a.hidden), test.want, statement.SQL)
					}
				})
			})
		}
	})
}
