package rest_test

import (
	"testing"

	"basalt/api/apitest"
)

const functions = `
create table log (x int);
create table thing (id int primary key, name text);
insert into thing values (1, 'one'), (2, 'two'), (3, null);
create type pairing as (a int, b text);
create function add(a int, b int) returns int language sql immutable as 'select a + b';
create function add(a text) returns text language sql immutable as $$ select a || '!' $$;
create function add_default(a int, b int default 10) returns int language sql immutable as 'select a + b';
create function total(variadic xs int[]) returns int language sql immutable as 'select sum(x)::int from unnest(xs) x';
create function whole(json) returns json language sql immutable as $$ select $1 -> 'k' $$;
create function raw(text) returns text language sql immutable as $$ select 'text ' || $1 $$;
create function raw(bytea) returns text language sql immutable as $$ select 'bytes ' || length($1) $$;
create function nothing() returns void language sql as 'insert into log values (1)';
create function series(n int, plus int default 0) returns table (id int) language sql stable as 'select generate_series(1, n) + plus';
create function numbers(n int) returns setof int language sql stable as 'select generate_series(1, n)';
create function things() returns setof thing language sql stable as 'select * from thing order by id';
create function some_thing(i int) returns thing language sql stable as 'select * from thing where id = i';
create function pair() returns pairing language sql stable as $$ select 1, 'x' $$;
create function no_pair() returns pairing language sql stable as $$ select null::pairing $$;
create function outs(out a int, out b text) language sql stable as $$ select 1, 'x' $$;
create function one_out(out a int) language sql stable as 'select 1';
create function records(out a int, out b text) returns setof record language sql stable as $$ values (1, 'x'), (2, null) $$;
create function writes() returns int language sql as 'insert into log values (2) returning x';
create function wrong_stable() returns int language sql stable as 'select writes()';
create function null_of() returns int language sql stable as 'select null::int';
create function doc() returns json language sql stable as $$ select '{"a":  [1, null]}'::json $$;
create function greeting() returns text language sql stable as $$ select 'hé"llo' $$;
create function bytes() returns bytea language sql stable as $$ select '\x00ff10'::bytea $$;
create function markup() returns xml language sql stable as $$ select '<a b="c">d</a>'::xml $$;
create function now_utc() returns timestamptz language sql stable as $$ select '2026-01-02 03:04:05+00'::timestamptz $$;
create function number() returns int language sql stable as 'select 65';
create function array_of() returns int[] language sql stable as 'select array[1, 2]';
create function same_name(id int) returns setof thing language sql stable as 'select * from thing t where t.id = same_name.id';
create function change_thing() returns setof thing language sql as 'update thing set name = name returning *';
create function composite_in(p pairing) returns text language sql immutable as 'select p.b';
` + open

func TestCallingFunctions(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, functions, nil)
	text := "Accept: text/plain"
	run(t, s, []exchange{
		{name: "a scalar", method: "POST", path: "rpc/add", body: `{"a":1,"b":2}`, status: 200, want: "3",
			header: []string{"Content-Type: application/json; charset=utf-8", "Content-Location:", "Content-Range: 0-0/*"}},
		{name: "an overload by its argument", method: "POST", path: "rpc/add", body: `{"a":"x"}`, status: 200, want: `"x!"`},
		{name: "a default", method: "POST", path: "rpc/add_default", body: `{"a":1}`, status: 200, want: "11"},
		{name: "only the keys of columns", method: "POST", path: "rpc/add_default?columns=a", body: `{"a":1,"b":5,"c":6}`, status: 200, want: "11"},
		{name: "arguments in the query string", path: "rpc/add?a=1&b=2", status: 200, want: "3"},
		{name: "variadic ones", path: "rpc/total?xs=1&xs=2&xs=3", status: 200, want: "6"},
		{name: "variadic ones as an array", path: "rpc/total?xs={1,2,3}", status: 200, want: "6"},
		{name: "variadic ones in a body", method: "POST", path: "rpc/total", body: `{"xs":[1,2,3]}`, status: 200, want: "6"},
		{name: "a form", method: "POST", path: "rpc/add", headers: []string{"Content-Type: application/x-www-form-urlencoded"}, body: "a=1&b=2", status: 200, want: "3"},
		{name: "the whole body as JSON", method: "POST", path: "rpc/whole", body: `{"k":[1,2]}`, status: 200, want: "[1,2]"},
		{name: "the whole body as text", method: "POST", path: "rpc/raw", headers: []string{"Content-Type: text/plain"}, body: "ab", status: 200, want: `"text ab"`},
		{name: "the whole body as bytes", method: "POST", path: "rpc/raw", headers: []string{"Content-Type: application/octet-stream"}, body: "a\x00b", status: 200, want: `"bytes 3"`},
		{name: "the whole body as text again", method: "POST", path: "rpc/raw", headers: []string{"Content-Type: text/plain"}, body: "cd", status: 200, want: `"text cd"`},
		{name: "nothing comes of void", method: "POST", path: "rpc/nothing", status: 204, want: "", header: []string{"Content-Type:"}},
		{name: "rows by name", path: "rpc/series?n=5&id=gte.3&order=id.desc&select=id&limit=2", status: 200, want: `[{"id":5},{"id":4}]`, header: []string{"Content-Range: 0-1/*"}},
		{name: "rows with a count", path: "rpc/series?n=5&limit=2&order=id", headers: []string{"Prefer: count=exact"}, status: 206, want: `[{"id":1},{"id":2}]`, header: []string{"Content-Range: 0-1/5"}},
		{name: "rows of a range", path: "rpc/series?n=5&order=id", headers: []string{"Range: 1-2"}, status: 200, want: `[{"id":2},{"id":3}]`, header: []string{"Content-Range: 1-2/*"}},
		{name: "rows by POST with a count", method: "POST", path: "rpc/series?limit=2&order=id", headers: []string{"Prefer: count=exact"}, body: `{"n":5}`, status: 206, want: `[{"id":1},{"id":2}]`, header: []string{"Content-Range: 0-1/5"}},
		{name: "a set of scalars", path: "rpc/numbers?n=3", status: 200, want: "[1,2,3]"},
		{name: "an empty set of scalars", path: "rpc/numbers?n=0", status: 200, want: "[]"},
		{name: "rows of a table", path: "rpc/things?select=name&id=eq.2", status: 200, want: `[{"name":"two"}]`},
		{name: "one row of a table", path: "rpc/some_thing?i=1", status: 200, want: `{"id":1,"name":"one"}`},
		{name: "one row of a table that is not there", path: "rpc/some_thing?i=9", status: 200, want: `{"id":null,"name":null}`},
		{name: "a composite", path: "rpc/pair", status: 200, want: `{"a":1,"b":"x"}`},
		{name: "OUT arguments", path: "rpc/outs", status: 200, want: `{"a":1,"b":"x"}`},
		{name: "one OUT argument", path: "rpc/one_out", status: 200, want: `{"a":1}`},
		{name: "a set of records", path: "rpc/records?order=a.desc", status: 200, want: `[{"a":2,"b":null},{"a":1,"b":"x"}]`},
		{name: "a set of records without nulls", path: "rpc/records?order=a.desc", headers: []string{"Accept: application/vnd.pgrst.array+json;nulls=stripped"}, status: 200, want: `[{"a":2},{"a":1,"b":"x"}]`},
		{name: "a null", path: "rpc/null_of", status: 200, want: "null"},
		{name: "JSON as it is", path: "rpc/doc", status: 200, want: `{"a":  [1, null]}`},
		{name: "an array", path: "rpc/array_of", status: 200, want: "[1,2]"},
		{name: "text as JSON", path: "rpc/greeting", status: 200, want: `"hé\"llo"`},
		{name: "text as text", path: "rpc/greeting", headers: []string{text}, status: 200, want: `hé"llo`, header: []string{"Content-Type: text/plain; charset=utf-8"}},
		{name: "bytes as JSON", path: "rpc/bytes", status: 200, want: `"\\x00ff10"`},
		{name: "bytes as bytes", path: "rpc/bytes", headers: []string{"Accept: application/octet-stream"}, status: 200, want: "\x00\xff\x10", header: []string{"Content-Type: application/octet-stream"}},
		{name: "XML as JSON", path: "rpc/markup", status: 200, want: `"<a b=\"c\">d</a>"`},
		{name: "XML as XML", path: "rpc/markup", headers: []string{"Accept: text/xml"}, status: 200, want: `<a b="c">d</a>`, header: []string{"Content-Type: text/xml; charset=utf-8"}},
		{name: "a number is no text", path: "rpc/number", headers: []string{text}, status: 406, has: []string{"PGRST107"}},
		{name: "text is no bytes", path: "rpc/greeting", headers: []string{"Accept: application/octet-stream"}, status: 406, has: []string{"PGRST107"}},
		{name: "rows are no text", path: "rpc/things", headers: []string{text}, status: 406, has: []string{"PGRST107"}},
		{name: "rows without columns are no text", path: "rpc/things?select=", headers: []string{text}, status: 406, has: []string{"PGRST107"}},
		{name: "a number when text is second", path: "rpc/number", headers: []string{"Accept: text/plain, */*;q=0.1"}, status: 200, want: "65"},
		{name: "rows as CSV", path: "rpc/things?id=lte.2", headers: []string{"Accept: text/csv"}, status: 200, want: "id,name\n1,one\n2,two"},
		{name: "scalars as CSV", path: "rpc/numbers?n=2", headers: []string{"Accept: text/csv"}, status: 200, want: "numbers\n1\n2"},
		{name: "a scalar as one object", path: "rpc/number", headers: []string{"Accept: application/vnd.pgrst.object+json"}, status: 200, want: "65"},
		{name: "rows as one object", path: "rpc/things?id=eq.1", headers: []string{"Accept: application/vnd.pgrst.object+json"}, status: 200, want: `{"id":1,"name":"one"}`},
		{name: "several rows as one object", path: "rpc/things", headers: []string{"Accept: application/vnd.pgrst.object+json"}, status: 406, has: []string{"PGRST116", "3 rows"}},
		{name: "rows one a line", path: "rpc/numbers?n=2", headers: []string{"Accept: application/x-ndjson"}, status: 200, want: "1\n2\n"},
		{name: "HEAD", method: "HEAD", path: "rpc/series?n=5&limit=2", headers: []string{"Prefer: count=exact"}, status: 206, header: []string{"Content-Range: 0-1/5", "Content-Length:"}},
		{name: "an argument named like a column wins", path: "rpc/same_name?id=2", status: 200, want: `[{"id":2,"name":"two"}]`},
		{name: "a composite argument", method: "POST", path: "rpc/composite_in", body: `{"p":{"a":1,"b":"z"}}`, status: 200, want: `"z"`},
		{name: "a write by GET", path: "rpc/writes", status: 405, has: []string{`"25006"`}},
		{name: "a write by a stable function", method: "POST", path: "rpc/wrong_stable", status: 405, has: []string{`"25006"`}},
		{name: "a write by POST", method: "POST", path: "rpc/writes", status: 200, want: "2"},
		{name: "no arguments and no body", method: "POST", path: "rpc/number", status: 200, want: "65"},
		{name: "another method", method: "PUT", path: "rpc/number", status: 405, want: refusal("PGRST101", "Cannot use the PUT method on RPC", "", "")},
		{name: "a name that is none", method: "POST", path: "rpc/", status: 404, has: []string{"PGRST125"}},
		{name: "a deeper path", method: "POST", path: "rpc/a/b", status: 404, has: []string{"PGRST125"}},
		{name: "arguments that no function takes", method: "POST", path: "rpc/add", body: `{"q":1}`, status: 404, has: []string{"PGRST202", "Searched for the function public.add with parameter q"}},
		{name: "a function that is not there", path: "rpc/nothing_like_it", status: 404, has: []string{"PGRST202"}},
		{name: "an array where names are wanted", method: "POST", path: "rpc/add", body: `[1,2]`, status: 404, has: []string{"PGRST202"}},
		{name: "more rows than may be affected", method: "POST", path: "rpc/change_thing", headers: []string{"Prefer: handling=strict, max-affected=2"}, status: 400, has: []string{"PGRST124", "The query affects 3 rows"}},
		{name: "as many rows as may be affected", method: "POST", path: "rpc/change_thing", headers: []string{"Prefer: handling=strict, max-affected=3"}, status: 200, want: anything, header: []string{"Preference-Applied: handling=strict, max-affected=3"}},
		{name: "a maximum of what is no set", method: "POST", path: "rpc/writes", headers: []string{"Prefer: handling=strict, max-affected=3"}, status: 400, has: []string{"PGRST128"}},
	})
}

func TestFunctionsDecideAboutTheResponse(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, `
create table t (id int primary key); insert into t values (1);
create function say(headers text, status text default '') returns int language plpgsql as $$
begin
  perform set_config('response.headers', headers, true), set_config('response.status', status, true);
  return 1;
end $$;
create function teapot() returns int language plpgsql as $$
begin
  perform set_config('response.status', '418', false); -- meant to outlive the transaction
  return 1;
end $$;
create function on_insert() returns trigger language plpgsql as $$
begin
  perform set_config('response.headers', '[{"X-Trigger": "yes"}]', true);
  return new;
end $$;
create trigger told before insert on t for each row execute function on_insert();
`+open, nil)
	say := func(headers, status string) string {
		return `{"headers":` + quote(headers) + `,"status":"` + status + `"}`
	}
	run(t, s, []exchange{
		{name: "headers", method: "POST", path: "rpc/say", body: say(`[{"X-One":"1"},{"Set-Cookie":"a=b"},{"set-cookie":"c=d"}]`, ""), status: 200, want: "1",
			header: []string{"X-One: 1", "Set-Cookie: a=b, c=d"}},
		{name: "a status", method: "POST", path: "rpc/say", body: say("", "202"), status: 202, want: "1"},
		{name: "headers that frame the answer are the server's", method: "POST", path: "rpc/say",
			body:   say(`[{"Transfer-Encoding":"gzip"},{"content-length":"0"},{"Connection":"close"},{"Trailer":"X-A"},{"Trailer:X-A":"b"},{"X-One":"1"}]`, ""),
			status: 200, want: "1", header: []string{"X-One: 1", "Transfer-Encoding:", "Content-Length: 1", "Connection:", "Trailer:"}},
		{name: "headers of our own are replaced", method: "POST", path: "rpc/say", body: say(`[{"Content-Type":"text/weird"},{"Vary":"X"},{"Proxy-Status":"p"}]`, ""), status: 200, want: "1",
			header: []string{"Content-Type: text/weird", "Vary: X, Accept-Encoding", "Proxy-Status: p"}},
		{name: "headers that the server would set", method: "POST", path: "rpc/say", body: say(`[{"Content-Range":"mine"},{"Location":"/there"}]`, "303"), decided: true, status: 303, want: "1",
			header: []string{"Content-Range: mine", "Location: /there"}},
		{name: "headers that are no list", method: "POST", path: "rpc/say", body: say(`{"X":"1"}`, ""), status: 500, has: []string{"PGRST111"}},
		{name: "headers of two keys", method: "POST", path: "rpc/say", body: say(`[{"X-A":"1"},{"X":"1","Y":"2"}]`, ""), status: 500, has: []string{"PGRST111"}, header: []string{"X-A:"}},
		{name: "headers that are no text", method: "POST", path: "rpc/say", body: say(`[{"X":1}]`, ""), status: 500, has: []string{"PGRST111"}},
		{name: "a status that is none", method: "POST", path: "rpc/say", body: say(`[{"X-A":"1"}]`, "abc"), status: 500, has: []string{"PGRST112"}, header: []string{"X-A:"}},
		{name: "a status beyond what there is", method: "POST", path: "rpc/say", body: say("", "999"), status: 500, has: []string{"PGRST112"}},
		{name: "a status without a body", method: "POST", path: "rpc/say", body: say("", "204"), status: 204, want: ""},
		{name: "another status without a body", method: "POST", path: "rpc/say", body: say("", "304"), status: 304, want: ""},
		{name: "values that would end their line", method: "POST", path: "rpc/say", body: say(`[{"X-Evil":"a\r\nX-Injected: 1\u0000"},{"X-Bad\r\nX-Injected":"1"},{"X Space":"1"}]`, ""), status: 200, want: "1",
			header: []string{"X-Injected:", "X-Evil: a  X-Injected: 1"}},
		{name: "a trigger's header", method: "POST", path: "t", body: `{"id":2}`, status: 201, header: []string{"X-Trigger: yes"}},
		{name: "a read is not touched", path: "t?id=eq.1", status: 200, want: `[{"id":1}]`, header: []string{"X-Trigger:"}},
		{name: "a status that a function would leave behind", method: "POST", path: "rpc/teapot", decided: true, status: 418, want: "1"},
		{name: "does not reach the next request", path: "t?id=eq.1", status: 200, want: `[{"id":1}]`},
	})
}
