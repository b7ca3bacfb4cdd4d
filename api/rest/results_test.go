package rest_test

import (
	"testing"

	"basalt/api/apitest"
)

func TestResultsOfEveryShape(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, toolbox+`
create type pair as (left_one int, right_one int);
create domain couple as pair;
create function out_pair(out x pair) language sql as 'select row(1, 2)::pair';
create function out_pairs(out x pair) returns setof pair language sql as 'select row(1, 2)::pair';
create function out_couple(out x couple) language sql as 'select row(1, 2)::couple';
create function table_of_pairs() returns table (x pair) language sql as 'select row(1, 2)::pair';
create function out_project(out project) language sql as 'select * from project where id = 1';
create function out_nameless(out int) language sql as 'select 1';
create function out_two(out int, out named int) language sql as 'select 1, 2';
`, nil)
	get := func(name, path string, want string) exchange {
		return exchange{name: name, path: "rpc/" + path, status: 200, want: want, header: []string{"Content-Type: application/json; charset=utf-8"}}
	}
	exact := []string{"Prefer: count=exact"}
	run(t, s, []exchange{
		get("an enum", "enum_of?s=autumn", `"autumn"`),
		get("a domain", "of_small?n=8", "8"),
		get("a range", "range_of?low=10&up=20", `"[10,20)"`),
		get("an array", "array_of", "[1,2,3]"),
		get("a composite", "point_of", `{"x":10,"y":5}`),
		get("a composite, part of it", "point_of?select=y,left:x", `{"y":5,"left":10}`),
		get("a set of composites", "points_of?order=x.desc&x=gt.0", `[{"x":2,"y":-2},{"x":1,"y":-1}]`),
		get("a row of a table", "one_project?id=1&select=id,name", `{"id":1,"name":"W7"}`),
		get("a row of scalars", "row_of", `[{"a":"scalars","b":"spring","c":1,"d":"[10,20)"}]`),
		get("a record without a type", "untyped", `{"id":1,"name":"W7","client":1}`),
		get("records without a type", "untyped_set", `[{"id":1,"name":"W7","client":1},{"id":2,"name":"W10","client":1}]`),
		get("one OUT argument", "one_out?num=5", `{"num_plus_one":6}`),
		get("one OUT argument of JSON", "one_json_out?a=1&b=two", `{"my_json":{"a" : 1, "b" : "two"}}`),
		get("one OUT argument of a composite", "out_pair", `{"left_one":1,"right_one":2}`),
		get("one OUT argument of a set of composites", "out_pairs?select=right_one", `[{"right_one":2}]`),
		get("one OUT argument of a domain over a composite", "out_couple", `{"left_one":1,"right_one":2}`),
		get("a table of one composite", "table_of_pairs", `[{"left_one":1,"right_one":2}]`),
		get("one OUT argument of a row of a table", "out_project?select=id,client(name)", `{"id":1,"client":{"name":"MS"}}`),
		get("one OUT argument without a name", "out_nameless", `1`),
		get("OUT arguments with and without a name", "out_two?select=named,column1", `{"named":2,"column1":1}`),
		get("one INOUT argument", "one_inout?num=2", `{"num":3}`),
		get("one OUT argument that is a composite", "one_point_out", `{"x":1,"y":2}`),
		get("one INOUT argument that is a composite, part of it", "one_point_inout?p=(1,2)&select=y", `{"y":2}`),
		get("a table of one column that is a composite", "one_point_column?x=eq.1", `[{"x":1,"y":2}]`),
		get("composites beside others", "two_points_out?select=p->x,q", `{"x":1,"q":[{"x":3,"y":4}]}`),
		get("several OUT arguments", "many_out", `{"j":{"a": 1},"num":3,"str":"four"}`),
		get("several INOUT arguments", "many_inout?num=1&str=two&b=false", `{"num":1,"str":"two","b":false}`),
		get("several INOUT arguments with a default", "many_inout?num=1&str=two", `{"num":1,"str":"two","b":true}`),
		get("a table of one column", "one_column", `[{"a":"A"}]`),
		get("a column named like the function", "same_name", `[{"same_name":"hello","value":1}]`),
		get("an empty set of rows", "empty_rows", `[]`),
		get("an empty set of scalars", "empty_scalars", `[]`),
		get("a null", "null_text", `null`),
		get("a row that is null", "null_row", `{"id":null,"name":null,"client":null}`),
		get("rows that are null", "null_rows", `[{"id":null,"name":null,"client":null}]`),
		get("a set of arrays", "array_rows", `[[1,2],[3]]`),
		get("a set of JSON", "json_rows", `[{"a":  1},null]`),
		{name: "nothing", method: "POST", path: "rpc/nothing", status: 204, want: "", header: []string{"Content-Type:"}},
		{name: "nothing by GET", path: "rpc/nothing", status: 204, want: "", header: []string{"Content-Type:"}},
		{name: "a scalar counts as one", path: "rpc/add_them?a=3&b=4", headers: exact, status: 200, want: "7", header: []string{"Content-Range: 0-0/1", "Preference-Applied: count=exact"}},
		{name: "a domain counts as one", path: "rpc/of_small?n=8", headers: exact, status: 200, want: "8", header: []string{"Content-Range: 0-0/1"}},
		{name: "a composite counts as one", path: "rpc/point_of", headers: exact, status: 200, want: `{"x":10,"y":5}`, header: []string{"Content-Range: 0-0/1"}},
		{name: "a scalar without a count", path: "rpc/add_them?a=3&b=4", status: 200, want: "7", header: []string{"Content-Range: 0-0/*"}},
		{name: "rows counted by HEAD", method: "HEAD", path: "rpc/all_projects", headers: exact, status: 200, want: "", header: []string{"Content-Range: 0-4/5", "Content-Type: application/json; charset=utf-8"}},
		{name: "rows counted beside an inner embed", method: "HEAD", path: "rpc/all_projects?select=*,client!inner(*)&client.id=eq.1", headers: exact, status: 200, want: "", header: []string{"Content-Range: 0-1/2"}},
		{name: "rows whose count is planned", path: "rpc/all_projects?limit=2&select=id", headers: []string{"Prefer: count=planned"}, status: 200, want: `[{"id":1},{"id":2}]`, header: []string{"Content-Range: 0-1/*", "Preference-Applied: count=planned"}},
		{name: "rows whose count is estimated", path: "rpc/all_projects?limit=2&select=id", headers: []string{"Prefer: count=estimated"}, status: 206, want: `[{"id":1},{"id":2}]`, header: []string{"Content-Range: 0-1/5"}},
		{name: "an offset beyond the count", path: "rpc/all_projects?offset=9", headers: exact, status: 416, has: []string{"PGRST103"}},
		{name: "an offset beyond the count by HEAD", method: "HEAD", path: "rpc/all_projects?offset=9", headers: exact, status: 416, want: ""},
		{name: "an offset beyond what is not counted", path: "rpc/all_projects?offset=9", status: 200, want: `[]`, header: []string{"Content-Range: */*"}},
		{name: "a limit and an offset", path: "rpc/all_projects?limit=1&offset=1&select=id", status: 200, want: `[{"id":2}]`, header: []string{"Content-Range: 1-1/*"}},
		{name: "a limit and an offset by HEAD", method: "HEAD", path: "rpc/all_projects?limit=1&offset=1", headers: exact, status: 206, want: "", header: []string{"Content-Range: 1-1/5"}},
		{name: "a limit of nothing", path: "rpc/all_projects?limit=0", status: 200, want: `[]`, header: []string{"Content-Range: */*"}},
		{name: "a limit of nothing with a count", path: "rpc/all_projects?limit=0", headers: []string{"Prefer: count=exact"}, status: 206, want: `[]`, header: []string{"Content-Range: */5"}},
		{name: "a Range header", path: "rpc/all_projects?select=id", headers: []string{"Range: 1-1", "Prefer: count=exact"}, status: 206, want: `[{"id":2}]`, header: []string{"Content-Range: 1-1/5"}},
		{name: "a Range header by POST does not count", method: "POST", path: "rpc/projects_below?select=id", headers: []string{"Range: 0-0", "Prefer: count=exact"}, body: `{"id":3}`, status: 200, want: `[{"id":1},{"id":2}]`, header: []string{"Content-Range: 0-1/2"}},
		{name: "a Range header by HEAD does not count", method: "HEAD", path: "rpc/projects_below?id=3", headers: []string{"Range: 1-1", "Prefer: count=exact"}, status: 200, want: "", header: []string{"Content-Range: 0-1/2"}},
		{name: "a limit by POST", method: "POST", path: "rpc/projects_below?select=id&limit=2&offset=1", headers: exact, body: `{"id":5}`, status: 206, want: `[{"id":2},{"id":3}]`, header: []string{"Content-Range: 1-2/4"}},
		{name: "CSV by HEAD", method: "HEAD", path: "rpc/all_projects", headers: []string{"Accept: text/csv"}, status: 200, want: "", header: []string{"Content-Type: text/csv; charset=utf-8"}},
		{name: "CSV by POST", method: "POST", path: "rpc/projects_below?select=id", headers: []string{"Accept: text/csv"}, body: `{"id":3}`, status: 200, want: "id\n1\n2"},
		{name: "a type that is none", path: "rpc/hello?name=x", headers: []string{"Accept: audio/mpeg3"}, status: 406, has: []string{"PGRST107"}},
	})
}

func TestReadingWhatFunctionsGive(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, toolbox, nil)
	both := func(name, function, query, body, want string) []exchange {
		return []exchange{
			{name: name + " by GET", path: "rpc/" + function + "?" + query, status: 200, want: want},
			{name: name + " by POST", method: "POST", path: "rpc/" + function + "?" + query, body: body, status: 200, want: want},
		}
	}
	var all []exchange
	for _, list := range [][]exchange{
		both("filters", "all_projects", "id=gt.1&id=lt.5&select=id", `{}`, `[{"id":2},{"id":3},{"id":4}]`),
		both("filters on what is not selected", "all_projects", "client=eq.2&select=name", `{}`, `[{"name":"IOS"},{"name":"OSX"}]`),
		both("logic", "all_projects", "or=(id.eq.1,name.like.*X)&select=id", `{}`, `[{"id":1},{"id":4}]`),
		both("a window", "all_projects", "select=id&limit=2&offset=1", `{}`, `[{"id":2},{"id":3}]`),
		both("an order", "all_projects", "select=id&order=client.desc.nullslast,id.desc&limit=3", `{}`, `[{"id":4},{"id":3},{"id":2}]`),
		both("embeds to one and to many", "all_projects", "id=eq.1&select=id,name,c:client(id),task(id)", `{}`, `[{"id":1,"name":"W7","c":{"id":1},"task":[{"id":1},{"id":2}]}]`),
		both("embeds of a single row", "one_project", "id=1&select=name,client(name),task(name)", `{"id":1}`, `{"name":"W7","client":{"name":"MS"},"task":[{"name":"Design"},{"name":"Code"}]}`),
		both("embeds of a domain over rows", "domain_projects", "id=eq.3&select=id,client(name)", `{}`, `[{"id":3,"client":{"name":"Apple"}}]`),
		both("a spread", "all_projects", "id=lt.2&select=id,...client(of:name)", `{}`, `[{"id":1,"of":"MS"}]`),
		both("rows without a parent left out", "all_projects", "select=id,client!inner()&order=id.desc&limit=1", `{}`, `[{"id":4}]`),
		both("ordered by a parent", "all_projects", "select=id,client(name)&client=not.is.null&order=client(name),id&limit=1", `{}`, `[{"id":3,"client":{"name":"Apple"}}]`),
		both("casts and aliases", "all_projects", "id=eq.1&select=nr:id::text", `{}`, `[{"nr":"1"}]`),
	} {
		for _, e := range list {
			if e.method == "POST" && e.body == `{"id":1}` {
				e.path = "rpc/one_project?select=name,client(name),task(name)"
			}
			all = append(all, e)
		}
	}
	all = append(all,
		exchange{name: "an embed that is none", path: "rpc/all_projects?select=id,worker(id)", status: 400, has: []string{"PGRST200", "'project' and 'worker'"}},
		exchange{name: "a column that is none", path: "rpc/all_projects?select=nope", status: 400, has: []string{`"42703"`}},
		exchange{name: "a filter on a column that is none", path: "rpc/all_projects?nope=eq.1", status: 400, has: []string{`"42703"`}},
		exchange{name: "a filter on single values", path: "rpc/array_of?x=eq.1", status: 400, want: anything},
		exchange{name: "one object of one row", path: "rpc/all_projects?id=eq.1&select=id", headers: []string{"Accept: application/vnd.pgrst.object+json"}, status: 200, want: `{"id":1}`},
		exchange{name: "one object of none", method: "POST", path: "rpc/projects_below", headers: []string{"Accept: application/vnd.pgrst.object+json"}, body: `{"id":0}`, status: 406, has: []string{"PGRST116", "The result contains 0 rows"}},
		exchange{name: "one object of a scalar", method: "POST", path: "rpc/hello", headers: []string{"Accept: application/vnd.pgrst.object+json"}, body: `{"name":"w"}`, status: 200, want: `"Hello, w"`},
		exchange{name: "without nulls", path: "rpc/all_projects?id=eq.5", headers: []string{"Accept: application/vnd.pgrst.array+json;nulls=stripped"}, status: 200, want: `[{"id":5,"name":"Orphan"}]`},
	)
	run(t, s, all)
}

func TestFunctionsRunOnceAndInTheirOwnMode(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, toolbox+`
create table note (id int generated always as identity primary key, v text);
create function add_note(v text) returns setof note language sql as 'insert into note (v) values (v) returning *';
create function add_notes(n int) returns setof note language sql as 'insert into note (v) select g::text from generate_series(1, n) g returning *';
create function stable_write() returns int language plpgsql stable as $$ begin insert into note (v) values ('x'); return 1; end $$;
create function immutable_write() returns int language plpgsql immutable as $$ begin insert into note (v) values ('x'); return 1; end $$;
create function mode() returns text language sql volatile as $$ select current_setting('transaction_read_only') $$;
create function stable_mode() returns text language sql stable as $$ select current_setting('transaction_read_only') $$;
create function immutable_mode() returns text language sql immutable as $$ select current_setting('transaction_read_only') $$;
create function problem() returns void language plpgsql as $$ begin raise 'bad thing'; end $$;
create function wrong() returns void language plpgsql as $$ begin assert false, 'bad thing'; end $$;
create function closed() returns int language sql as 'select 1';
revoke execute on function closed() from public, anon;
`+open, nil)
	readOnly := refusal("25006", "cannot execute INSERT in a read-only transaction", "", "")
	run(t, s, []exchange{
		{name: "once", method: "POST", path: "rpc/tick", body: `{}`, status: 200, want: "1"},
		{name: "once more", method: "POST", path: "rpc/tick", headers: []string{"Prefer: count=exact"}, body: `{}`, status: 200, want: "2"},
		{name: "once for all rows", method: "POST", path: "rpc/tick_rows?order=n.desc&limit=1", headers: []string{"Prefer: count=exact"}, body: `{}`, status: 206, want: `[{"n":5}]`},
		{name: "once although nothing is selected", method: "POST", path: "rpc/tick_rows?select=", body: `{}`, status: 200, want: `[{},{},{}]`},
		{name: "and no more", method: "POST", path: "rpc/tick", status: 200, want: "9"},
		{name: "GET is read-only", path: "rpc/mode", status: 200, want: `"on"`},
		{name: "POST of a volatile one is not", method: "POST", path: "rpc/mode", status: 200, want: `"off"`},
		{name: "POST of a stable one is", method: "POST", path: "rpc/stable_mode", status: 200, want: `"on"`},
		{name: "POST of an immutable one is", method: "POST", path: "rpc/immutable_mode", status: 200, want: `"on"`},
		{name: "a sequence by GET", path: "rpc/tick", status: 405, has: []string{`"25006"`}},
		{name: "a write by GET", path: "rpc/add_note?v=x", status: 405, want: readOnly},
		{name: "a write by HEAD", method: "HEAD", path: "rpc/add_note?v=x", status: 405, want: ""},
		{name: "a write by a stable one", method: "POST", path: "rpc/stable_write", status: 400, has: []string{`"0A000"`}},
		{name: "a write by an immutable one", method: "POST", path: "rpc/immutable_write", status: 400, has: []string{`"0A000"`}},
		{name: "a write by POST", method: "POST", path: "rpc/add_note?select=v", body: `{"v":"x"}`, status: 200, want: `[{"v":"x"}]`},
		{name: "a write whose rows are filtered", method: "POST", path: "rpc/add_notes?v=eq.2&select=v", body: `{"n":3}`, status: 200, want: `[{"v":"2"}]`},
		{name: "has written all", path: "note?select=v&order=id", status: 200, want: `[{"v":"x"},{"v":"1"},{"v":"2"},{"v":"3"}]`},
		{name: "one object of several is undone", method: "POST", path: "rpc/add_notes", headers: []string{"Accept: application/vnd.pgrst.object+json"}, body: `{"n":2}`, status: 406, has: []string{"PGRST116", "The result contains 2 rows"}},
		{name: "too many are undone", method: "POST", path: "rpc/add_notes", headers: []string{"Prefer: handling=strict, max-affected=10"}, body: `{"n":15}`, status: 400,
			want: refusal("PGRST124", "Query result exceeds max-affected preference constraint", "The query affects 15 rows", "")},
		{name: "indeed", path: "note?select=v&order=id", status: 200, want: `[{"v":"x"},{"v":"1"},{"v":"2"},{"v":"3"}]`},
		{name: "few enough", method: "POST", path: "rpc/add_notes?select=v", headers: []string{"Prefer: handling=strict, max-affected=1"}, body: `{"n":1}`, status: 200, want: `[{"v":"1"}]`, header: []string{"Preference-Applied: handling=strict, max-affected=1"}},
		{name: "a maximum that is not strict", method: "POST", path: "rpc/add_notes?select=v", headers: []string{"Prefer: max-affected=1"}, body: `{"n":2}`, status: 200, want: `[{"v":"1"},{"v":"2"}]`, header: []string{"Preference-Applied:"}},
		{name: "a maximum of a table by GET", path: "rpc/all_projects?select=id&limit=2", headers: []string{"Prefer: handling=strict, max-affected=2"}, status: 200, want: `[{"id":1},{"id":2}]`},
		{name: "a maximum of nothing", method: "POST", path: "rpc/nothing", headers: []string{"Prefer: handling=strict, max-affected=20"}, status: 400,
			want: refusal("PGRST128", "Function must return SETOF or TABLE when max-affected preference is used with handling=strict", "", "")},
		{name: "a maximum of a composite", path: "rpc/point_of", headers: []string{"Prefer: handling=strict, max-affected=20"}, status: 400, has: []string{"PGRST128"}},
		{name: "preferences of writes are none of calls", method: "POST", path: "rpc/tick", headers: []string{"Prefer: return=minimal, resolution=merge-duplicates, missing=default"}, status: 200, want: anything, header: []string{"Preference-Applied:"}},
		{name: "a plain raise", method: "POST", path: "rpc/problem", status: 400, want: refusal("P0001", "bad thing", "", "")},
		{name: "an assertion", method: "POST", path: "rpc/wrong", status: 500, has: []string{`"P0004"`}},
		{name: "a function that one may not call", method: "POST", path: "rpc/closed", status: 401, want: refusal("42501", "permission denied for function closed", "", "")},
		{name: "DELETE", method: "DELETE", path: "rpc/tick", status: 405, want: refusal("PGRST101", "Cannot use the DELETE method on RPC", "", "")},
		{name: "PATCH", method: "PATCH", path: "rpc/tick", body: `{}`, status: 405, want: refusal("PGRST101", "Cannot use the PATCH method on RPC", "", "")},
		{name: "no JSON", method: "POST", path: "rpc/hello", body: "sdfsdf", status: 400, has: []string{"PGRST102", "Empty or invalid json"}},
		{name: "a body of an unknown type", method: "POST", path: "rpc/hello", headers: []string{"Content-Type: application/pdf"}, body: "x", status: 400, has: []string{"PGRST102"}},
	})
}
