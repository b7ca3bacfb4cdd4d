package sql_test

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"basalt/query/plan"
)

// Each call gives the rows or values beside it. Those of a total come behind its number.
var calls = []struct{ name, request, want string }{
	{"named arguments", "GET /rpc/add?a=1&b=2", `[3]`},
	{"a default", "POST /rpc/add\n> {\"a\": 1}", `[11]`},
	{"a form", "POST /rpc/add # type=form\n> a=1&b=2", `[3]`},
	{"CSV", "POST /rpc/add # type=csv\n> a,b\n> 1,2\n> 3,4", `[3]`},
	{"the arguments that count", "POST /rpc/add?columns=a\n> {\"a\": 1, \"b\": 2, \"c\": 3}", `[11]`},
	{"the last of several values", "GET /rpc/add?a=1&a=2", `[12]`},
	{"nothing", "POST /rpc/nothing", `[null]`},
	{"JSON", "GET /rpc/as_json?a=x", `[{"a":"x"}]`},
	{"an interval", "GET /rpc/interval_of?days=2", `["2 days"]`},
	{"null", "GET /rpc/null_of", `[null]`},
	{"a domain with a JSON form of its own", "GET /rpc/favorite", `["#0000ff"]`},
	{"a record without names", "GET /rpc/a_record", `[{"id":1,"name":"staff"}]`},
	{"records without names", "GET /rpc/records?limit=2", `[{"id":1,"name":"staff"},{"id":2,"name":"press"}]`},
	{"odd names", "POST /rpc/Odd name\n> {\"The Arg\": 1, \"sel\\\"ect\": \"x\"}", `["1x"]`},
	{"a set of values", "GET /rpc/numbers?most=3", `[1,2,3]`},
	{"a part of a set of values", "GET /rpc/numbers?most=5&limit=2&offset=1 # count=exact", `[5,1,5,1] [2,3]`},
	{"a part behind the end of a set", "GET /rpc/numbers?most=5&limit=2&offset=7 # count=exact", `[5,0] [null]`},
	{"labels", "GET /rpc/moods", `["sad","ok","happy"]`},

	{"composite arguments", "POST /rpc/middle\n> {\"a\": {\"x\": 1, \"y\": 2}, \"b\": {\"x\": 3, \"y\": 4}}", `[{"x":2,"y":3}]`},
	{"composite arguments as text", "GET /rpc/middle?a=(1,2)&b=(3,4)&select=y", `[{"y":3}]`},
	{"arrays of composites", "POST /rpc/points?x=gt.1&order=y.desc\n> {\"places\": [{\"x\": 1, \"y\": 2}, {\"x\": 2, \"y\": 1}, {\"x\": 3, \"y\": 5}]}", `[{"x":3,"y":5},{"x":2,"y":1}]`},
	{"composites beside others", "POST /rpc/named_like_aliases\n> {\"a\": {\"x\": 1}, \"t\": \"1\", \"v\": 2}", `[4]`},
	{"rows", "GET /rpc/customers_of?country=NL&select=name,label,orders(id)&orders.order=id&name=like.A* # count=exact",
		`[1] [{"name":"Ada","label":"Ada <ada@example.org>","orders":[{"id":1},{"id":2}]}]`},
	{"rows with embeds that leave some out", "GET /rpc/customers_of?country=NL&select=id,orders!inner()&orders.id=gt.100 # count=exact", `[]`},
	{"groups", "GET /rpc/customers_of?country=NL&select=country_code,count()", `[{"country_code":"NL","count":1}]`},
	{"empty objects", "GET /rpc/customers_of?country=NL&select=", `[{}]`},
	{"one row", "GET /rpc/one_order?id=1&select=id,customers(name)", `[{"id":1,"customers":{"name":"Ada"}}]`},
	{"one row that is null", "GET /rpc/one_order?id=100&select=id,status", `[{"id":null,"status":null}]`},
	{"a table", "POST /rpc/totals?total=gt.6&select=status\n> {\"at_least\": 1}", `[{"status":"open"}]`},
	{"a table of one column", "GET /rpc/single_column?order=a.desc", `[{"a":"y"},{"a":"x"}]`},
	{"what it writes", "POST /rpc/add_group?select=name\n> {\"id\": 5, \"name\": \"five\"}", `[{"name":"five"}]`},
	{"one OUT", "GET /rpc/one_out?n=1", `[{"plus_one":2}]`},
	{"one OUT without a name", "GET /rpc/unnamed_out?n=1", `[2]`},
	{"several OUT without names", "GET /rpc/unnamed_outs?n=1", `[{"column1":1,"column2":"1"}]`},
	{"several OUT", "GET /rpc/several_out?n=1&select=high,low", `[{"high":2,"low":0}]`},
	{"INOUT", "GET /rpc/in_out?n=1", `[{"n":2,"word":"w1"}]`},

	{"VARIADIC by repetition", "GET /rpc/joined?separator=-&words=a&words=b,\"c", `["a-b,\"c"]`},
	{"VARIADIC once", "GET /rpc/joined?separator=-&words=a", `["a"]`},
	{"VARIADIC left out", "GET /rpc/joined?separator=-", `[""]`},
	{"VARIADIC left out of a body", "POST /rpc/joined\n> {\"separator\": \"-\"}", `[""]`},
	{"VARIADIC of a body", "POST /rpc/joined\n> {\"separator\": \"-\", \"words\": [\"a\", \"b\"]}", `["a-b"]`},
	{"VARIADIC alone", "GET /rpc/sum_up?numbers=1&numbers=2", `[3]`},
	{"VARIADIC as an array", "GET /rpc/sum_up?numbers={1,2,3}", `[6]`},
	{"VARIADIC of a form", "POST /rpc/sum_up # type=form\n> numbers=1&numbers=2", `[3]`},
	{"arrays and JSON", "POST /rpc/array_of\n> {\"list\": [1, 2], \"doc\": \"x\", \"docb\": {\"a\": 1}}", `["{1,2}string{\"a\": 1}"]`},
	{"arrays and JSON in the address", "GET /rpc/array_of?list={1,2}&doc={}", `["{1,2}object{}"]`},
	{"a domain", "GET /rpc/word_of?w=x", `["x"]`},

	{"a JSON object", "POST /rpc/whole_json\n> {\"a\" : 1}", `[{"a":1}]`},
	{"a JSON array", "POST /rpc/whole_json\n> [1, {}]", `[[1,{}]]`},
	{"a JSON text", "POST /rpc/whole_json\n> \"text\"", `["text"]`},
	{"a text", "POST /rpc/whole_text # type=text/plain\n> a \"text\"", `["a \"text\""]`},
	{"XML", "POST /rpc/whole_xml # type=text/xml\n> <a/>", `["<a/>"]`},
	{"bytes", "POST /rpc/whole_bytea # type=application/octet-stream\n> \x01\xffx", `["\\x01ff78"]`},

	{"the overload without arguments", "POST /rpc/over\n> {}", `[0]`},
	{"the overload of two", "GET /rpc/over?a=1&b=2", `[3]`},
	{"the overload of three", "GET /rpc/over?a=1&b=2&c=3", `["123"]`},
	{"the overload that takes any object", "POST /rpc/over\n> {\"d\": 1}", `["json {\"d\": 1}"]`},
	{"the overload that takes an array", "POST /rpc/over\n> [1]", `["json [1]"]`},
	{"the overload that takes text", "POST /rpc/over # type=text/plain\n> x", `["text x"]`},
	{"the overload that takes bytes", "POST /rpc/over # type=application/octet-stream\n> xyz", `["bytes 3"]`},
}

func TestCallsGiveWhatTheirRoutinesGive(t *testing.T) {
	s := newSample(t)
	s.with(t, func(conn *pgconn.PgConn) {
		for _, test := range calls {
			t.Run(test.name, func(t *testing.T) {
				request, statement, err := s.compile(test.request)
				if err != nil {
					t.Fatal(err)
				}
				inTransaction(t, conn, func() {
					a, err := s.answer(t, conn, statement, request)
					if err != nil {
						t.Fatalf("%v\n%s", err, statement.SQL)
					}
					got := compact(t, a.rows)
					if len(a.hidden) > 0 {
						got = "[" + joined(a.hidden) + "] " + got
					}
					if got != test.want {
						t.Errorf("%s\ngot:  %s\nwant: %s\n%s", test.request, got, test.want, statement.SQL)
					}
				})
			})
		}
	})
}

// How many rows a call may affect at most is no part of its shape: the same statement serves with and without it.
func TestCallsOfOneResultRefuseALimitOfWhatTheyAffect(t *testing.T) {
	s := newSample(t)
	for _, test := range []struct{ request, want string }{
		{"GET /rpc/add?a=1", "PGRST128"},
		{"GET /rpc/one_order?id=1", "PGRST128"},
		{"POST /rpc/nothing", "PGRST128"},
		{"GET /rpc/numbers?most=1", ""},
		{"GET /rpc/totals", ""},
		{"GET /rpc/customers_of?country=NL", ""},
		{"DELETE /keyed", ""},
	} {
		_, statement, err := s.compile(test.request)
		if err != nil {
			t.Fatal(err)
		}
		limited, err := s.request(test.request + " # max-affected=0")
		if err != nil {
			t.Fatal(err)
		}
		var refused *plan.Error
		if _, err := statement.Bind(nil, limited); errors.As(err, &refused) != (test.want != "") || refused != nil && refused.Code != test.want {
			t.Errorf("%s: %v, want %s", test.request, err, test.want)
		}
	}
}
