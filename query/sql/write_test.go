package sql_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// Each request does what the SQL beside it does, which is written by hand: the rows that it gives back and those of the
// table behind it are the same.
var writes = []struct{ name, table, request, sql string }{
	{"one row", "keyed", "POST /keyed # return=representation\n> {\"id\": 7, \"code\": \"x\", \"a\": null}",
		`insert into keyed (id, code) values (7, 'x') returning *`},
	{"an array of one row", "keyed", "POST /keyed\n> [{\"id\": 7, \"code\": \"x\"}]",
		`insert into keyed (id, code) values (7, 'x')`},
	{"many rows", "keyed", "POST /keyed # return=representation\n> [{\"id\": 7, \"code\": \"x\"}, {\"code\": null, \"id\": 8}]",
		`insert into keyed (id, code) values (7, 'x'), (8, null) returning *`},
	{"an empty object is a row of defaults", "only_defaults", "POST /only_defaults # return=representation\n> {}",
		`insert into only_defaults default values returning *`},
	{"empty objects are rows of defaults", "only_defaults", "POST /only_defaults # return=representation\n> [{}, {}, {}]",
		`insert into only_defaults values (default), (default), (default) returning *`},
	{"empty objects for a table of generated columns", "strict", "POST /strict # return=representation\n> [{}, {}]",
		`insert into strict values (default, default), (default, default) returning *`},
	{"an empty array inserts nothing", "keyed", "POST /keyed # return=representation\n> []",
		`delete from keyed where false returning *`},
	{"only the columns that count", "keyed", "POST /keyed?columns=id,code # return=representation\n> [{\"id\": 7, \"a\": 1, \"x\": 2}, {\"id\": 8, \"code\": \"x\"}]",
		`insert into keyed (id, code) values (7, null), (8, 'x') returning *`},
	{"what is missing is null", "defaulted", "POST /defaulted?columns=id,status # return=representation\n> {\"id\": 7}",
		`insert into defaulted (id, status) values (7, null) returning *`},
	{"what is missing has its default", "defaulted",
		"POST /defaulted # missing=default return=representation\n> [{\"name\": \"a\"}, {\"id\": 70, \"status\": null}, {\"must\": \"m\", \"at_most\": 9}]",
		`insert into defaulted (id, name, status, must, at_most) values (default, 'a', default, default, default),
		   (70, null, null, default, default), (default, null, default, 'm', 9) returning *`},
	{"one row whose missing columns have their defaults", "defaulted",
		"POST /defaulted?columns=id,name,status,must,at_most # missing=default return=representation\n> {\"name\": \"a\"}",
		`insert into defaulted (name) values ('a') returning *`},
	{"defaults of a serial column", "only_defaults", "POST /only_defaults?columns=id,note # missing=default return=representation\n> [{}, {\"note\": null}]",
		`insert into only_defaults (note) values (default), (null) returning *`},
	{"defaults beside composites", "kinds",
		"POST /kinds?columns=id,place,places,a_spot,a_short # missing=default\n> [{\"id\": 1, \"place\": {\"x\": 1, \"y\": 2}}, {\"id\": 2, \"a_spot\": {\"x\": 1}}]",
		`insert into kinds (id, place, a_spot) values (1, (1, 2), null), (2, null, (1, null))`},
	{"CSV", "customers", "POST /customers # type=csv\n> id,name,mood,email\n> 7,\"E \"\"v\"\", e\",happy,NULL\n> 8,,sad,\n",
		`insert into customers (id, name, mood, email) values (7, 'E "v", e', 'happy', null), (8, '', 'sad', '')`},
	{"CSV of every shape", "kinds", "POST /kinds # type=csv\n> id,place,places,a_spot,ints,boxes,a_json,some_labels,shorts\n" +
		"> 1,\"(1,2)\",\"{\"\"(1,2)\"\"}\",\"(1,)\",\"{1,2}\",\"{(1,1),(2,2);(3,3),(4,4)}\",\"{\"\"a\"\": 1}\",{a},{abc}\n> 2,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL",
		`insert into kinds (id, place, places, a_spot, ints, boxes, a_json, some_labels, shorts) values
		   (1, (1, 2), array[(1, 2)::point2], (1, null), '{1,2}', '{(1,1),(2,2);(3,3),(4,4)}', '{"a": 1}', '{a}', '{abc}'),
		   (2, null, null, null, null, null, null, null, null)`},
	{"a form", "customers", "POST /customers # type=form\n> id=7&name=Eve%20%26+co&mood=happy",
		`insert into customers (id, name, mood) values (7, 'Eve & co', 'happy')`},
	{"domains that read JSON", "colors", "POST /colors\n> [{\"name\": \"red\", \"color\": \"#ff0000\"}, {\"name\": \"none\", \"color\": null}]",
		`insert into colors (name, color) values ('red', 16711680), ('none', null)`},
	{"one of such domains", "colors", "POST /colors # return=headers-only\n> {\"name\": \"red\", \"color\": \"#ff0000\"}",
		`insert into colors (name, color) values ('red', 16711680)`},
	{"such domains in CSV", "colors", "POST /colors # type=csv\n> name,color\n> red,#ff0000\n> none,NULL",
		`insert into colors (name, color) values ('red', 16711680), ('none', null)`},
	{"changes of such domains", "colors", "PATCH /colors?color=eq.%230000ff\n> {\"color\": \"#00ff00\"}",
		`update colors set color = 65280 where color = 255`},
	{"composites", "orders", "POST /orders?select=id,at,terms # return=representation\n> [{\"id\": 7, \"at\": {\"x\": 1, \"y\": 2}, \"terms\": {\"during\": \"[1,2)\"}}]",
		`insert into orders (id, at, terms) values (7, (1, 2), ('[1,2)', null)) returning id, at, terms`},

	{"a part of the row", "keyed", "POST /keyed?select=big:code,a::text,shout # return=representation\n> {\"id\": 7, \"code\": \"x\", \"a\": 1}",
		`insert into keyed (id, code, a) values (7, 'x', 1) returning code big, a::text, shout(keyed)`},
	{"nothing of the row", "keyed", "POST /keyed?select= # return=representation\n> [{\"id\": 7}, {\"id\": 8}]",
		`insert into keyed (id) values (7), (8) returning 1 |> select from w`},
	{"the row in an order", "keyed", "POST /keyed?select=id,shout&order=code.desc # return=representation\n> [{\"id\": 7, \"code\": \"x\"}, {\"id\": 8, \"code\": \"y\"}]",
		`insert into keyed (id, code) values (7, 'x'), (8, 'y') returning * |> select id, shout(w::keyed) from w order by code desc`},
	{"the number of rows", "keyed", "POST /keyed?select=count(),code.max() # return=representation\n> [{\"id\": 7, \"code\": \"x\"}, {\"id\": 8, \"code\": \"y\"}]",
		`insert into keyed (id, code) values (7, 'x'), (8, 'y') returning * |> select count(*), max(code) from w`},
	{"embeds", "orders", "POST /orders?select=id,customers(name,label),items(line) # return=representation\n> {\"id\": 7, \"customer_id\": 1}",
		`insert into orders (id, customer_id) values (7, 1) returning * |> select id, (select row_to_json(x) from (select name, label(c) label from customers c where c.id = w.customer_id) x) customers,
		     '[]'::json items from w`},
	{"embeds that leave rows out", "orders", "POST /orders?select=id,...customers!inner(name)&customers.name=eq.Ada # return=representation\n> [{\"id\": 7, \"customer_id\": 1}, {\"id\": 8, \"customer_id\": 2}]",
		`insert into orders (id, customer_id) values (7, 1), (8, 2) returning * |> select w.id, c.name from w join customers c on c.id = w.customer_id where c.name = 'Ada'`},
	{"computed columns and relationships", "customers", "POST /customers?select=label,recent_orders(id) # return=representation\n> {\"id\": 7, \"name\": \"Eve\"}",
		`insert into customers (id, name) values (7, 'Eve') returning label(customers), '[]'::json recent_orders`},
	{"columns named like the aliases", "aliases", "POST /aliases?order=written # return=representation\n" +
		"> [{\"id\": 7, \"t\": \"x\", \"p\": 1, \"j\": {\"a\": 1}, \"c1\": 2, \"g1\": 3, \"v\": [1], \"written\": \"w\", \"excluded\": \"e\", \"?inserted?\": true}]",
		`insert into aliases values ('x', 1, '{"a": 1}', 2, 3, '[1]', 'w', 'e', true, 7) returning *`},

	{"a merge", "keyed", "POST /keyed # resolution=merge return=representation\n> [{\"id\": 1, \"code\": \"uno\"}, {\"id\": 9, \"code\": \"nine\"}]",
		`insert into keyed (id, code) values (1, 'uno'), (9, 'nine') on conflict (id) do update set code = excluded.code returning *`},
	{"a merge by another key", "keyed", "POST /keyed?on_conflict=a,b # resolution=merge return=representation\n> {\"id\": 1, \"a\": 1, \"b\": 1, \"code\": \"uno\"}",
		`update keyed set code = 'uno' where id = 1 returning *`},
	{"a merge with defaults", "defaulted", "POST /defaulted?columns=id,name,must # resolution=merge missing=default return=representation\n> [{\"id\": 1, \"name\": \"x\"}, {\"name\": \"y\"}]",
		`insert into defaulted (id, name, must) values (1, 'x', default), (default, 'y', default)
		   on conflict (id) do update set name = excluded.name, must = excluded.must returning *`},
	{"a merge of keys alone", "only_key", "POST /only_key # resolution=merge return=representation\n> [{\"id\": 1}, {\"id\": 4}]",
		`insert into only_key values (4) returning id |> select 1 id union all select id from w`},
	{"a merge of nothing but defaults", "only_defaults", "POST /only_defaults # resolution=merge return=representation\n> {}",
		`insert into only_defaults default values returning *`},
	{"a merge with embeds and an order", "orders", "POST /orders?select=id,status,customers(name)&order=id # resolution=merge return=representation\n> [{\"id\": 9, \"customer_id\": 1}, {\"id\": 1, \"customer_id\": 2}]",
		`insert into orders (id, customer_id) values (9, 1), (1, 2)
		   on conflict (id) do update set customer_id = excluded.customer_id returning * |> select id, status, (select row_to_json(x) from (select name from customers c where c.id = customer_id) x) customers from w order by id`},
	{"a merge with computed columns and an order", "keyed", "POST /keyed?select=id,shout&order=code # resolution=merge return=representation\n> [{\"id\": 7, \"code\": \"z\"}, {\"id\": 1, \"code\": \"y\"}]",
		`insert into keyed (id, code) values (7, 'z'), (1, 'y') on conflict (id) do update set code = excluded.code
		   returning * |> select id, shout(w::keyed) from w order by code`},
	{"the number of merged rows", "keyed", "POST /keyed?select=count() # resolution=merge return=representation\n> [{\"id\": 7}, {\"id\": 1}]",
		`insert into keyed (id) values (7), (1) on conflict (id) do update set id = excluded.id returning 1 |> select count(*) from w`},
	{"duplicates ignored", "keyed", "POST /keyed # resolution=ignore return=representation\n> [{\"id\": 1, \"code\": \"uno\"}, {\"id\": 9, \"code\": \"nine\"}]",
		`insert into keyed (id, code) values (9, 'nine') returning *`},
	{"a merge where there is no key", "no_key", "POST /no_key # resolution=merge\n> {\"a\": 1}",
		`insert into no_key (a) values (1)`},
	{"a merge into a partitioned table", "parts", "POST /parts # resolution=merge return=representation\n> [{\"id\": 1, \"region\": \"north\", \"note\": \"new\"}, {\"id\": 9, \"region\": \"south\", \"note\": \"new\"}]",
		`insert into parts values (1, 'north', 'new'), (9, 'south', 'new') on conflict (id, region) do update set note = excluded.note returning *`},
	{"a merge into a view", "keyed", "POST /keyed_view?select=shout_of:code # resolution=merge return=representation\n> [{\"id\": 1, \"code\": \"uno\"}]",
		`update keyed set code = 'uno' where id = 1 returning code shout_of`},

	{"PUT of a row that is there", "keyed", "PUT /keyed?id=eq.1 # return=representation\n> {\"id\": 1, \"code\": \"uno\"}",
		`update keyed set code = 'uno' where id = 1 returning *`},
	{"PUT of a new row", "pairs", "PUT /pairs?left key=eq.b&right=eq.00000000-0000-0000-0000-000000000001 # return=representation\n> {\"right\": \"00000000-0000-0000-0000-000000000001\", \"left key\": \"b\", \"value\": 3}",
		`insert into pairs values ('b', '00000000-0000-0000-0000-000000000001', 3) returning *`},
	{"PUT with composites", "orders", "PUT /orders?id=eq.1&select=at,customers(name)&customers.name=eq.Ada # return=representation\n> {\"id\": 1, \"at\": {\"x\": 5, \"y\": 6}}",
		`update orders set at = (5, 6) where id = 1 returning at, '{"name":"Ada"}'::json customers`},
	{"PUT with a form", "lettered", "PUT /lettered?id=eq.one # type=form\n> id=one&padded=x",
		`update lettered set padded = 'x' where id = 'one'`},

	{"PATCH", "keyed", "PATCH /keyed?id=gt.1&select=id,shout&order=id.desc # return=representation\n> {\"a\": 7, \"b\": null}",
		`update keyed set a = 7, b = null where id > 1 returning * |> select id, shout(w::keyed) from w order by id desc`},
	{"PATCH of all", "keyed", "PATCH /keyed\n> {\"a\": 7}", `update keyed set a = 7`},
	{"PATCH with logic", "keyed", "PATCH /keyed?or=(id.eq.1,and(a.gt.1,code.like.t*))\n> [{\"a\": 7}]",
		`update keyed set a = 7 where id = 1 or a > 1 and code like 't%'`},
	{"PATCH with the columns that count", "keyed", "PATCH /keyed?id=eq.1&columns=code,a\n> {\"code\": \"uno\", \"b\": 5}",
		`update keyed set code = 'uno', a = null where id = 1`},
	{"PATCH with defaults", "defaulted", "PATCH /defaulted?id=eq.1&columns=name,status,must # missing=default\n> {\"name\": \"x\"}",
		`update defaulted set name = 'x', status = default, must = default where id = 1`},
	{"PATCH of every shape", "orders", "PATCH /orders?id=eq.1\n> {\"data\": [1], \"raw\": {\"a\" : 1}, \"tags\": [\"a,b\", null], \"at\": {\"y\": 2}, \"valid\": \"[3,4)\", \"placed\": \"2024-01-01T00:00:00Z\"}",
		`update orders set data = '[1]', raw = '{"a" : 1}', tags = array['a,b', null], at = (null, 2), valid = '[3,4)',
		   placed = '2024-01-01T00:00:00Z' where id = 1`},
	{"PATCH with nothing to change", "keyed", "PATCH /keyed # return=representation\n> {}", `delete from keyed where false returning *`},
	{"PATCH by the absence of what is embedded", "orders", "PATCH /orders?customers=is.null&select=id,customers(name) # return=representation\n> {\"t\": \"z\"}",
		`update orders set t = 'z' where customer_id is null returning id, null customers`},
	{"PATCH by inside of JSON", "orders", "PATCH /orders?data->b->>c=eq.x\n> {\"t\": \"z\"}",
		`update orders set t = 'z' where data->'b'->>'c' = 'x'`},
	{"PATCH where columns are named like the aliases", "aliases", "PATCH /aliases?t=eq.t&c1=eq.2&select=sum_of,written&order=t # return=representation\n> {\"t\": \"x\", \"p\": 2, \"c1\": 3, \"written\": \"w\"}",
		`update aliases set t = 'x', p = 2, c1 = 3, written = 'w' where t = 't' and c1 = 2 returning 5 sum_of, 'w' written`},

	{"DELETE", "keyed", "DELETE /keyed?id=in.(1,3)&select=shout,id&order=id.desc # return=representation",
		`delete from keyed where id in (1, 3) returning * |> select shout(w::keyed), id from w order by id desc`},
	{"DELETE of all", "only_key", "DELETE /only_key", `delete from only_key`},
	{"DELETE with embeds", "orders", "DELETE /orders?id=eq.4&select=id,customers(name) # return=representation",
		`delete from orders where id = 4 returning id, null customers`},

	{"views with triggers", "groups", "POST /announced # return=representation\n> [{\"id\": 9, \"name\": \"x\"}, {\"id\": 10, \"name\": \"y\"}]",
		`insert into groups values (9, 'X'), (10, 'Y') returning *`},
	{"changes through triggers", "groups", "PATCH /announced?id=eq.2 # return=representation\n> {\"name\": \"x\"}",
		`update groups set name = 'x' where id = 2 returning *`},
	{"deletions through triggers", "groups", "DELETE /announced?id=eq.3&select=name # return=representation",
		`delete from groups where id = 3 returning name`},
	{"rows for partitions", "parts", "POST /parts # return=representation\n> [{\"id\": 3, \"region\": \"north\"}, {\"id\": 3, \"region\": \"south\"}]",
		`insert into parts (id, region) values (3, 'north'), (3, 'south') returning *`},
}

func TestWritesDoWhatTheirNamesakesInSQLDo(t *testing.T) {
	s := newSample(t)
	s.with(t, func(conn *pgconn.PgConn) {
		for _, test := range writes {
			t.Run(test.name, func(t *testing.T) {
				request, statement, err := s.compile(test.request)
				if err != nil {
					t.Fatal(err)
				}
				var want, got []string
				var affected int64
				inTransaction(t, conn, func() {
					var rows string
					exec(t, conn, restart)
					rows, affected = byHand(t, conn, test.sql)
					want = []string{rows, rowsOf(t, conn, test.table)}
				})
				inTransaction(t, conn, func() {
					exec(t, conn, restart)
					a, err := s.answer(t, conn, statement, request)
					if err != nil {
						t.Fatalf("%v\n%s", err, statement.SQL)
					}
					if statement.RowsAffected && a.affected != affected {
						t.Errorf("%d rows are affected, %d by hand", a.affected, affected)
					}
					got = []string{compact(t, a.rows), rowsOf(t, conn, test.table)}
				})
				if !slices.Equal(got, want) {
					t.Errorf("%s\ngot:  %s\nwant: %s\n%s", test.request, strings.Join(got, "\n      "),
						strings.Join(want, "\n      "), statement.SQL)
				}
			})
		}
	})
}

// inTransaction undoes what is done to the sample.
func inTransaction(t *testing.T, conn *pgconn.PgConn, do func()) {
	t.Helper()
	exec(t, conn, `begin; set local search_path = public; set local timezone = 'UTC'`)
	defer exec(t, conn, `rollback`)
	do()
}

// restart makes sequences begin at the same number each time.
const restart = `
alter sequence public.only_defaults_id_seq restart with 50;
alter sequence public.defaulted_id_seq restart with 50;
alter sequence public.strict_id_seq restart with 50;
alter sequence public.customers_id_seq restart with 50`

func exec(t *testing.T, conn *pgconn.PgConn, sql string) {
	t.Helper()
	if err := conn.Exec(t.Context(), sql).Close(); err != nil {
		t.Fatalf("%v\n%s", err, sql)
	}
}

// byHand runs a command and gives its rows as PostgreSQL writes them. Behind |> there may be a query over these, which
// are called w.
func byHand(t *testing.T, conn *pgconn.PgConn, command string) (rows string, affected int64) {
	t.Helper()
	command, query, over := strings.Cut(command, " |> ")
	if !strings.Contains(command, "returning") {
		result := conn.ExecParams(t.Context(), command, nil, nil, nil, nil).Read()
		if result.Err != nil {
			t.Fatalf("%v\n%s", result.Err, command)
		}
		return "[]", result.CommandTag.RowsAffected()
	}
	if !over {
		query = "select * from w"
	}
	result := conn.ExecParams(t.Context(), "with w as ("+command+"), _row as ("+query+
		") select coalesce(json_agg(row_to_json(_row)), '[]') from _row", nil, nil, nil, nil).Read()
	if result.Err != nil {
		t.Fatalf("%v\n%s", result.Err, command)
	}
	return compact(t, result.Rows[0][0]), 0
}

// rowsOf gives what is in a table.
func rowsOf(t *testing.T, conn *pgconn.PgConn, table string) string {
	t.Helper()
	result := conn.ExecParams(t.Context(), "select coalesce(json_agg(r order by r::text), '[]') from public."+table+" r",
		nil, nil, nil, nil).Read()
	if result.Err != nil {
		t.Fatal(result.Err)
	}
	return compact(t, result.Rows[0][0])
}
