package rest_test

import (
	"testing"

	"basalt/api"
	"basalt/api/apitest"
)

const toolbox = `
create table client (id int primary key, name text);
create table project (id int primary key, name text, client int references client);
create table task (id int primary key, name text, project int references project);
insert into client values (1, 'MS'), (2, 'Apple');
insert into project values (1, 'W7', 1), (2, 'W10', 1), (3, 'IOS', 2), (4, 'OSX', 2), (5, 'Orphan', null);
insert into task values (1, 'Design', 1), (2, 'Code', 1);
create type season as enum ('spring', 'autumn');
create type point2 as (x int, y int);
create type segment as (a point2, b point2[], label text);
create type deep as (name text, inner_one segment);
create domain small as int check (value < 100);
create domain project_row as project;
create sequence calls;
create function no_args() returns text language sql immutable as $$ select 'nothing' $$;
create function hello(name text) returns text language sql immutable as $$ select 'Hello, ' || name $$;
create function add_them(a int, b int) returns int language sql immutable as 'select a + b';
create function three(a int default 1, b int default 2, c int default 3) returns int language sql immutable as 'select a * 100 + b * 10 + c';
create function kinds(d double precision, t text, ok bool, day date, m money, s season, arr text[], i int, j json default '{}', jb jsonb default '{}') returns jsonb language sql stable as
  $$ select jsonb_build_object('d', d, 't', t, 'ok', ok, 'day', day, 'm', m, 's', s, 'arr', arr, 'i', i, 'j', j, 'jb', jb) $$;
create function json_type(arg json) returns text language sql immutable as 'select json_typeof(arg)';
create function fixed(c char, v varchar, b bit, cs char[], bs bit[]) returns table (c text, v text, b text, cs text[], bs text[]) language sql immutable as 'select c::text, v::text, b::text, cs::text[], bs::text[]';
create function quoted("user" text, "fullName" text, "SSN" text, "a b" int default 0) returns jsonb language sql immutable as $$ select jsonb_build_object('u', "user", 'f', "fullName", 's', "SSN", 'ab', "a b") $$;
create function "Quoted Function"() returns int language sql immutable as 'select 1';
create function many(variadic v text[] default '{}') returns text[] language sql immutable as 'select v';
create function hello_many(name text, variadic v text[] default '{}') returns text language sql immutable as $$ select 'Hello, ' || name || array_length(v, 1) $$;
create function sum_many(variadic v int[]) returns int language sql immutable as 'select sum(x)::int from unnest(v) x';
create function of_point(p point2) returns int language sql immutable as 'select p.x + p.y';
create function of_deep(d deep) returns text language sql immutable as $$ select d.name || (d.inner_one).label || ((d.inner_one).b)[2].y $$;
create function of_points(ps point2[], factor int default 1) returns int language sql immutable as 'select sum(p.x)::int * factor from unnest(ps) p';
create function of_small(n small) returns small language sql immutable as 'select n';
create function of_range(r int4range) returns int language sql immutable as 'select upper(r)';
create function of_row(p project) returns text language sql immutable as 'select p.name';
create function projects_below(id int) returns setof project language sql stable as 'select * from project p where p.id < projects_below.id order by 1';
create function projects_from(id int default 0) returns setof project language sql stable as 'select * from project p where p.id >= projects_from.id order by 1';
create function all_projects() returns setof project language sql stable as 'select * from project order by id';
create function one_project(id int) returns project language sql stable as 'select * from project p where p.id = one_project.id';
create function domain_projects() returns setof project_row language sql stable as 'select row(p.*)::project from project p order by id';
create function tick() returns bigint language sql as $$ select nextval('calls') $$;
create function tick_rows() returns table (n bigint) language sql as $$ select nextval('calls') from generate_series(1, 3) $$;
create function enum_of(s season) returns season language sql immutable as 'select s';
create function range_of(low int, up int) returns int4range language sql immutable as 'select int4range(low, up)';
create function array_of() returns int[] language sql immutable as 'select array[1, 2, 3]';
create function point_of() returns point2 language sql immutable as 'select row(10, 5)::point2';
create function points_of() returns setof point2 language sql immutable as 'select row(g, -g)::point2 from generate_series(1, 2) g';
create function row_of() returns table (a text, b season, c int, d int4range) language sql immutable as $$ select 'scalars', 'spring'::season, 1, '[10,20)'::int4range $$;
create function untyped() returns record language sql stable as 'select p.* from project p where id = 1';
create function untyped_set() returns setof record language sql stable as 'select p.* from project p where id < 3';
create function one_out(num int, out num_plus_one int) language sql immutable as 'select num + 1';
create function one_point_out(out p point2) language sql immutable as 'select row(1, 2)::point2';
create function one_point_inout(inout p point2) language sql immutable as 'select p';
create function one_point_column() returns table (p point2) language sql immutable as 'select row(1, 2)::point2';
create function two_points_out(out p point2, out q point2[]) language sql immutable as 'select row(1, 2)::point2, array[row(3, 4)::point2]';
create function one_json_out(a int, b text, out my_json json) language sql immutable as $$ select json_build_object('a', a, 'b', b) $$;
create function one_inout(inout num int) language sql immutable as 'select num + 1';
create function many_out(out j json, out num int, out str text) language sql immutable as $$ select '{"a": 1}'::json, 3, 'four' $$;
create function many_inout(inout num int, inout str text, inout b bool default true) language sql immutable as 'select num, str, b';
create function one_column() returns table (a text) language sql immutable as $$ select 'A' $$;
create function same_name() returns table (same_name text, value int) language sql immutable as $$ select 'hello', 1 $$;
create function empty_rows() returns setof project language sql stable as 'select * from project where false';
create function empty_scalars() returns setof int language sql stable as 'select 1 where false';
create function nothing() returns void language sql as 'select 1';
create function null_text() returns text language sql stable as 'select null::text';
create function null_row() returns project language sql stable as 'select null::project';
create function null_rows() returns setof project language sql stable as 'select null::project';
create function array_rows() returns setof int[] language sql stable as 'select array[1, 2] union all select array[3]';
create function json_rows() returns setof json language sql stable as $$ select '{"a":  1}'::json union all select null $$;
create function hidden_one() returns int language sql stable as 'select 1';
` + open

// postCall calls a function by POST.
func postCall(name, path, body string, status int, want string) exchange {
	return exchange{name: name, method: "POST", path: "rpc/" + path, body: body, status: status, want: want}
}

// getCall calls a function by GET.
func getCall(name, path string, status int, want string) exchange {
	return exchange{name: name, path: "rpc/" + path, status: status, want: want}
}

func TestArgumentsOfEveryType(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, toolbox, nil)
	form := []string{"Content-Type: application/x-www-form-urlencoded"}
	post, get := postCall, getCall
	all := `{"d":3.1,"i":43,"j":{"k":"v"},"m":"$0.00","s":"spring","t":"hello","jb":{"o":[1,"3"]},"ok":true,"arr":["a","b,c"],"day":"2019-01-01"}`
	plain := `{"d":3.1,"i":43,"j":{},"m":"$0.00","s":"spring","t":"hello","jb":{},"ok":true,"arr":["a","b"],"day":"2019-01-01"}`
	run(t, s, []exchange{
		post("from JSON", "kinds", `{"d":3.1,"t":"hello","ok":true,"day":"20190101","m":0,"s":"spring","arr":["a","b,c"],"i":43,"j":{"k":"v"},"jb":{"o":[1,"3"]}}`, 200, all),
		get("from a query string", "kinds?d=3.1&t=hello&ok=true&day=20190101&m=0&s=spring&arr=%7Ba,b%7D&i=43", 200, plain),
		{name: "from a form", method: "POST", path: "rpc/kinds", headers: form, body: "d=3.1&t=hello&ok=true&day=20190101&m=0&s=spring&arr=%7Ba,b%7D&i=43", status: 200, want: plain},
		{name: "from CSV", method: "POST", path: "rpc/add_them", headers: []string{"Content-Type: text/csv"}, body: "a,b\n1,2\n", status: 200, want: "3"},
		post("strings where numbers belong", "add_them", `{"a":"1","b":"2"}`, 200, "3"),
		post("what the type cannot read", "add_them", `{"a":"x","b":2}`, 400, refusal("22P02", `invalid input syntax for type integer: "x"`, "", "")),
		post("nulls", "hello", `{"name":null}`, 200, "null"),
		post("JSON as it is", "json_type", `{"arg":{"k":3}}`, 200, `"object"`),
		post("a text that is JSON stays one", "json_type", `{"arg":"{ \"k\": 3 }"}`, 200, `"string"`),
		post("a list as JSON", "json_type", `{"arg":[1,2]}`, 200, `"array"`),
		post("characters beyond ASCII", "hello", `{"name":"￥"}`, 200, `"Hello, ￥"`),
		get("characters beyond ASCII by GET", "hello?name=%EF%BF%A5+x", 200, `"Hello, ￥ x"`),
		post("fixed lengths are not cut", "fixed", `{"c":"abcdefg","v":"hij","b":"101010","cs":["abc","abcdefg"],"bs":["101","1"]}`, 200, `[{"c":"abcdefg","v":"hij","b":"101010","cs":["abc","abcdefg"],"bs":["101","1"]}]`),
		get("fixed lengths are not cut by GET", "fixed?c=abcdefg&v=hij&b=101010&cs={abc,abcdefg}&bs={101,1}", 200, `[{"c":"abcdefg","v":"hij","b":"101010","cs":["abc","abcdefg"],"bs":["101","1"]}]`),
		get("names in capitals", "quoted?user=mscott&fullName=Michael Scott&SSN=401", 200, `{"f":"Michael Scott","s":"401","u":"mscott","ab":0}`),
		post("names in capitals and with blanks", "quoted", `{"user":"d","fullName":"D S","SSN":"0","a b":3}`, 200, `{"f":"D S","s":"0","u":"d","ab":3}`),
		get("a function whose name has blanks", "Quoted Function", 200, "1"),
		post("a composite", "of_point", `{"p":{"x":3,"y":4}}`, 200, "7"),
		get("a composite by GET", "of_point?p=(3,4)", 200, "7"),
		post("a composite as PostgreSQL spells it", "of_point", `{"p":"(3,5)"}`, 200, "8"),
		post("composites in composites and arrays", "of_deep", `{"d":{"name":"n","inner_one":{"a":{"x":1},"b":[{"x":1},{"y":9}],"label":"l"}}}`, 200, `"nl9"`),
		post("an array of composites beside a default", "of_points", `{"ps":[{"x":1},{"x":2,"y":null}]}`, 200, "3"),
		post("an array of composites beside another argument", "of_points", `{"factor":10,"ps":[{"x":1},{"x":2}]}`, 200, "30"),
		post("a row of a table", "of_row", `{"p":{"name":"P"}}`, 200, `"P"`),
		post("a domain", "of_small", `{"n":8}`, 200, "8"),
		post("what a domain forbids", "of_small", `{"n":800}`, 400, refusal("23514", `value for domain small violates check constraint "small_check"`, "", "")),
		get("a range", "of_range?r=[1,5)", 200, "5"),
		post("a number with all its digits", "json_type", `{"arg":12345678901234567890.1}`, 200, `"number"`),
		get("the last of an argument given twice", "hello?name=ignored&name=world", 200, `"Hello, world"`),
		{name: "the last in a form", method: "POST", path: "rpc/hello", headers: form, body: "name=ignored&name=world", status: 200, want: `"Hello, world"`},
		post("the last in JSON", "hello", `{"name":"ignored","name":"world"}`, 200, `"Hello, world"`),
		get("an argument that is empty", "hello?name=", 200, `"Hello, "`),
		post("only the keys of columns", "hello?columns=name", `{"name":"J","other":1,"fake":[{}]}`, 200, `"Hello, J"`),
	})
}

func TestDefaultsAndVariadicArguments(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, toolbox, nil)
	form := []string{"Content-Type: application/x-www-form-urlencoded"}
	post, get := postCall, getCall
	run(t, s, []exchange{
		get("all defaults", "three", 200, "123"),
		get("a default in the middle", "three?a=4&c=5", 200, "425"),
		get("the last alone", "three?c=9", 200, "129"),
		post("all defaults by POST", "three", `{}`, 200, "123"),
		post("all defaults by POST without a body", "three", ``, 200, "123"),
		post("a default in the middle by POST", "three", `{"c":7,"a":6}`, 200, "627"),
		{name: "all defaults by an empty form", method: "POST", path: "rpc/three", headers: form, body: "", status: 200, want: "123"},
		{name: "one by a form", method: "POST", path: "rpc/three", headers: form, body: "b=8", status: 200, want: "183"},
		get("no variadic argument", "many", 200, `[]`),
		get("one", "many?v=hi", 200, `["hi"]`),
		get("several", "many?v=hi&v=there, you&v=", 200, `["hi","there, you",""]`),
		get("as an array", "many?v={a,\"b c\"}", 200, `["a","b c"]`),
		post("no variadic argument by POST", "many", `{}`, 200, `[]`),
		post("several by POST", "many", `{"v":["hi","hello",null]}`, 200, `["hi","hello",null]`),
		post("none of them by POST", "many", `{"v":[]}`, 200, `[]`),
		post("as an array by POST", "many", `{"v":"{a,b}"}`, 200, `["a","b"]`),
		{name: "none by a form", method: "POST", path: "rpc/many", headers: form, body: "", status: 200, want: `[]`},
		{name: "one by a form that is variadic", method: "POST", path: "rpc/many", headers: form, body: "v=hi", status: 200, want: `["hi"]`},
		{name: "several by a form", method: "POST", path: "rpc/many", headers: form, body: "v=hi&v=there", status: 200, want: `["hi","there"]`},
		get("the last of others beside it", "hello_many?name=ignored&name=world&v=x&v=y", 200, `"Hello, world2"`),
		post("others beside it", "hello_many", `{"v":["x"],"name":"w"}`, 200, `"Hello, w1"`),
		get("numbers", "sum_many?v=1&v=2&v=3", 200, "6"),
		post("numbers by POST", "sum_many", `{"v":[1,2,4]}`, 200, "7"),
		get("a variadic argument that must be there", "sum_many", 404, refusal("PGRST202", "Could not find the function public.sum_many without parameters in the schema cache", "Searched for the function public.sum_many without parameters, but no matches were found in the schema cache.", "")),
	})
}

func TestArgumentsAndFiltersOfTheSameName(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, toolbox, nil)
	run(t, s, []exchange{
		{name: "both are given", path: "rpc/projects_below?id=5&id=gt.2&select=id", status: 200, want: `[{"id":3},{"id":4}]`},
		{name: "both are given, the filter first", path: "rpc/projects_below?id=gt.2&id=5&select=id", status: 200, want: `[{"id":3},{"id":4}]`},
		{name: "several filters", path: "rpc/projects_below?id=5&id=gt.1&id=not.eq.3&select=id", status: 200, want: `[{"id":2},{"id":4}]`},
		{name: "a negated list", path: "rpc/projects_below?id=5&id=not.in.(1,3)&select=id", status: 200, want: `[{"id":2},{"id":4}]`},
		{name: "the argument alone", path: "rpc/projects_below?id=3&select=id", status: 200, want: `[{"id":1},{"id":2}]`},
		{name: "the filter alone, where the argument has a default", path: "rpc/projects_from?id=gt.3&select=id", status: 200, want: `[{"id":4},{"id":5}]`},
		{name: "both, where the argument has a default", path: "rpc/projects_from?id=2&id=lt.4&select=id", status: 200, want: `[{"id":2},{"id":3}]`},
		{name: "a text that looks like a filter", path: "rpc/hello?name=is.it", status: 200, want: `"Hello, is.it"`},
		{name: "filters by POST", method: "POST", path: "rpc/projects_below?id=gt.2&select=id", body: `{"id":5}`, status: 200, want: `[{"id":3},{"id":4}]`},
		{name: "arguments in the query string of POST", method: "POST", path: "rpc/hello?name=John", body: `{"name":"John"}`, status: 400, has: []string{"PGRST100"}},
		{name: "an unknown one by GET", path: "rpc/add_them?a=1&b=2&smthelse=x", status: 404,
			want: refusal("PGRST202", "Could not find the function public.add_them(a, b, smthelse) in the schema cache", "Searched for the function public.add_them with parameters a, b, smthelse, but no matches were found in the schema cache.", "Perhaps you meant to call the function public.add_them(a, b)")},
	})
}

func TestOneUnnamedArgumentTakesTheBody(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, `
create function json_in(json) returns json language sql immutable as 'select $1';
create function jsonb_in(jsonb) returns jsonb language sql immutable as 'select $1';
create function text_in(text) returns text language sql immutable as 'select $1';
create function xml_in(xml) returns xml language sql immutable as 'select $1';
create function bytes_in(bytea) returns bytea language sql immutable as 'select $1';
create function int_in(int) returns int language sql immutable as 'select $1';
create function over() returns int language sql immutable as 'select 1';
create function over(json) returns json language sql immutable as 'select $1';
create function over(bytea) returns bytea language sql immutable as 'select $1';
create function over(text) returns text language sql immutable as 'select $1';
create function over(x int, y int) returns int language sql immutable as 'select x + y';
create function two_json(json) returns json language sql immutable as 'select $1';
create function two_json(jsonb) returns jsonb language sql immutable as 'select $1';
create function named_text(t text) returns text language sql immutable as 'select t';
create function noargs() returns int language sql immutable as 'select 1';
`+open, nil)
	as := func(kind string) []string { return []string{"Content-Type: " + kind} }
	both := func(kind string) []string { return []string{"Content-Type: " + kind, "Accept: " + kind} }
	run(t, s, []exchange{
		{name: "json as it stands", method: "POST", path: "rpc/json_in", body: `{"A": 1,  "B": 2}`, status: 200, want: `{"A": 1,  "B": 2}`},
		{name: "jsonb", method: "POST", path: "rpc/jsonb_in", body: `{"B":1,"A":[1.50]}`, status: 200, want: `{"A":[1.50],"B":1}`},
		{name: "a list", method: "POST", path: "rpc/json_in", body: `[{"a":1},{"b":2},3]`, status: 200, want: `[{"a":1},{"b":2},3]`},
		{name: "a scalar", method: "POST", path: "rpc/json_in", body: `"x"`, status: 200, want: `"x"`},
		{name: "an empty body is an empty object", method: "POST", path: "rpc/json_in", body: ``, status: 200, want: `{}`},
		{name: "text", method: "POST", path: "rpc/text_in", headers: both("text/plain"), body: "unnamed\ntext {}", status: 200, want: "unnamed\ntext {}"},
		{name: "no text at all", method: "POST", path: "rpc/text_in", headers: both("text/plain"), body: "", status: 200, want: ""},
		{name: "xml", method: "POST", path: "rpc/xml_in", headers: both("text/xml"), body: "<note><to>J</to></note>", status: 200, want: "<note><to>J</to></note>"},
		{name: "xml that is none", method: "POST", path: "rpc/xml_in", headers: both("text/xml"), body: "<", status: 400, has: []string{`"2200N"`, "invalid XML content"}},
		{name: "bytes", method: "POST", path: "rpc/bytes_in", headers: both("application/octet-stream"), body: "\x00\xff\x01\\x", status: 200, want: "\x00\xff\x01\\x"},
		{name: "text of a media type with a character set", method: "POST", path: "rpc/text_in", headers: as("text/plain; charset=utf-8"), body: "é", status: 200, want: `"é"`},
		{name: "JSON for another type", method: "POST", path: "rpc/int_in", body: `{"x":1,"y":2}`, status: 404,
			want: refusal("PGRST202", "Could not find the function public.int_in(x, y) in the schema cache", "Searched for the function public.int_in with parameters x, y or with a single unnamed json/jsonb parameter, but no matches were found in the schema cache.", "")},
		{name: "text for another type", method: "POST", path: "rpc/int_in", headers: as("text/plain"), body: "a simple text", status: 404,
			want: refusal("PGRST202", "Could not find the function public.int_in in the schema cache", "Searched for the function public.int_in with a single unnamed text parameter, but no matches were found in the schema cache.", "")},
		{name: "xml for another type", method: "POST", path: "rpc/int_in", headers: as("text/xml"), body: "<a/>", status: 404,
			want: refusal("PGRST202", "Could not find the function public.int_in in the schema cache", "Searched for the function public.int_in with a single unnamed xml parameter, but no matches were found in the schema cache.", "")},
		{name: "bytes for another type", method: "POST", path: "rpc/int_in", headers: as("application/octet-stream"), body: "\x00", status: 404,
			want: refusal("PGRST202", "Could not find the function public.int_in in the schema cache", "Searched for the function public.int_in with a single unnamed bytea parameter, but no matches were found in the schema cache.", "")},
		{name: "text for a named argument", method: "POST", path: "rpc/named_text", headers: as("text/plain"), body: "x", status: 404, has: []string{"PGRST202", "single unnamed text parameter"}},
		{name: "text for no arguments", method: "POST", path: "rpc/noargs", headers: as("text/plain"), body: "x", status: 404, has: []string{"PGRST202"}},
		{name: "no arguments come before the whole body", method: "POST", path: "rpc/over", body: `{}`, status: 200, want: "1"},
		{name: "named ones come before the whole body", method: "POST", path: "rpc/over", body: `{"x":1,"y":2}`, status: 200, want: "3"},
		{name: "the whole body where the names fit none", method: "POST", path: "rpc/over", body: `{"A":1,"B":2}`, status: 200, want: `{"A":1,"B":2}`},
		{name: "text among overloads", method: "POST", path: "rpc/over", headers: both("text/plain"), body: "t", status: 200, want: "t"},
		{name: "bytes among overloads", method: "POST", path: "rpc/over", headers: both("application/octet-stream"), body: "\x00b", status: 200, want: "\x00b"},
		{name: "GET never has a body, whatever its type", path: "rpc/over", headers: as("text/plain"), status: 200, want: "1"},
		{name: "CSV names its arguments", method: "POST", path: "rpc/over", headers: as("text/csv"), body: "a,b\n1,2\n4,6\n", status: 404,
			want: refusal("PGRST202", "Could not find the function public.over(a, b) in the schema cache", "Searched for the function public.over with parameters a, b, but no matches were found in the schema cache.", "Perhaps you meant to call the function public.over(x, y)")},
		{name: "json and jsonb are one too many", method: "POST", path: "rpc/two_json", body: `{"A":1}`, status: 300,
			want: refusal("PGRST203", "Could not choose the best candidate function between: public.two_json( => json), public.two_json( => jsonb)", "", "Try renaming the parameters or the function itself in the database so function overloading can be resolved")},
		{name: "one object as a parameter is no preference any more", method: "POST", path: "rpc/named_text", headers: []string{"Prefer: params=single-object"}, body: `{"t":"x"}`, status: 200, want: `"x"`, header: []string{"Preference-Applied:"}},
		{name: "and refused when handling is strict", method: "POST", path: "rpc/named_text", headers: []string{"Prefer: params=single-object, handling=strict"}, body: `{"t":"x"}`, status: 400,
			want: refusal("PGRST122", "Invalid preferences given with handling=strict", "Invalid preferences: params=single-object", "")},
	})
}

func TestChoosingAmongOverloads(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, `
create table thing (id int primary key, name text); insert into thing values (1, 'one');
create table part (id int primary key, thing int references thing); insert into part values (7, 1);
create function over() returns setof int language sql immutable as 'values (1), (2), (3)';
create function over(a int, b int) returns int language sql immutable as 'select a + b';
create function over(a text, b text, c text) returns text language sql immutable as 'select a || b || c';
create function same_args(arg int) returns int language sql immutable as 'select 1';
create function same_args(arg xml) returns int language sql immutable as 'select 2';
create function same_args(arg text, num int default 0) returns int language sql immutable as 'select 3';
create function with_default(opt text default 'one') returns setof thing language sql stable as 'select * from thing where name = opt';
create function with_default(must int) returns jsonb language sql immutable as $$ select jsonb_build_object('val', must) $$;
create function with_default(a int, opt text default 'one') returns setof thing language sql stable as 'select * from thing where id = a';
create function with_default(a int, must int) returns jsonb language sql immutable as $$ select jsonb_build_object('a', a, 'val', must) $$;
create function sayhello(name text) returns text language sql immutable as 'select name';
create function required_variadic(a int, variadic v int[] default '{}') returns int language sql immutable as 'select a';
create schema extra;
create function extra.beyond() returns int language sql immutable as 'select 1';
create function helped() returns int language plpgsql stable as $$ begin return beyond(); end $$;
create function unnamed_two(int, int) returns int language sql immutable as 'select $1 + $2';
create function half_named(a int, int) returns int language sql immutable as 'select $1 + $2';
create procedure proc() language sql as 'select 1';
create aggregate agg(int) (sfunc = int4pl, stype = int);
create function trig() returns trigger language plpgsql as $$ begin return new; end $$;
grant usage on schema extra to anon;
`+open, func(settings *api.Settings) { settings.ExtraSearchPath = []string{"extra"} })
	notFound := func(message, details, hint string) string { return refusal("PGRST202", message, details, hint) }
	form := []string{"Content-Type: application/x-www-form-urlencoded"}
	run(t, s, []exchange{
		{name: "by no names", path: "rpc/over", status: 200, want: `[1,2,3]`},
		{name: "by two", path: "rpc/over?a=1&b=2", status: 200, want: "3"},
		{name: "by three", path: "rpc/over?a=1&b=2&c=3", status: 200, want: `"123"`},
		{name: "by names in another order", method: "POST", path: "rpc/over", body: `{"c":"3","b":"2","a":"1"}`, status: 200, want: `"123"`},
		{name: "by no names of a form", method: "POST", path: "rpc/over", headers: form, status: 200, want: `[1,2,3]`},
		{name: "by two of a form", method: "POST", path: "rpc/over", headers: form, body: "a=1&b=2", status: 200, want: "3"},
		{name: "a default that is not given", method: "POST", path: "rpc/with_default?select=id,part(id)", body: `{}`, status: 200, want: `[{"id":1,"part":[{"id":7}]}]`},
		{name: "the one without a default", method: "POST", path: "rpc/with_default", body: `{"must":1}`, status: 200, want: `{"val":1}`},
		{name: "a default behind one that is given", method: "POST", path: "rpc/with_default?select=name", body: `{"a":1}`, status: 200, want: `[{"name":"one"}]`},
		{name: "the other by its second name", method: "POST", path: "rpc/with_default", body: `{"a":2,"must":4}`, status: 200, want: `{"a":2,"val":4}`},
		{name: "the same names of several types", path: "rpc/same_args?arg=1", status: 300,
			want: refusal("PGRST203", "Could not choose the best candidate function between: public.same_args(arg => integer), public.same_args(arg => xml), public.same_args(arg => text, num => integer)", "", "Try renaming the parameters or the function itself in the database so function overloading can be resolved")},
		{name: "the same names but one more", path: "rpc/same_args?arg=1&num=2", status: 200, want: "3"},
		{name: "an unknown name", path: "rpc/over?wrong_arg=x", status: 404,
			want: notFound("Could not find the function public.over(wrong_arg) in the schema cache", "Searched for the function public.over with parameter wrong_arg, but no matches were found in the schema cache.", "")},
		{name: "an unknown name beside known ones", path: "rpc/over?a=1&b=2&wrong_arg=x", status: 404,
			want: notFound("Could not find the function public.over(a, b, wrong_arg) in the schema cache", "Searched for the function public.over with parameters a, b, wrong_arg, but no matches were found in the schema cache.", "Perhaps you meant to call the function public.over(a, b, c)")},
		{name: "a name like that of a function", path: "rpc/sayhell", status: 404,
			want: notFound("Could not find the function public.sayhell without parameters in the schema cache", "Searched for the function public.sayhell without parameters, but no matches were found in the schema cache.", "Perhaps you meant to call the function public.sayhello")},
		{name: "a name like that of an argument", path: "rpc/sayhello?nam=Peter", status: 404,
			want: notFound("Could not find the function public.sayhello(nam) in the schema cache", "Searched for the function public.sayhello with parameter nam, but no matches were found in the schema cache.", "Perhaps you meant to call the function public.sayhello(name)")},
		{name: "an argument that is missing", method: "POST", path: "rpc/sayhello", body: `{}`, status: 404,
			want: notFound("Could not find the function public.sayhello without parameters in the schema cache", "Searched for the function public.sayhello without parameters or with a single unnamed json/jsonb parameter, but no matches were found in the schema cache.", "")},
		{name: "names like nothing", method: "POST", path: "rpc/zzzzzz", body: `{"b":1,"a":2}`, status: 404,
			want: notFound("Could not find the function public.zzzzzz(a, b) in the schema cache", "Searched for the function public.zzzzzz with parameters a, b or with a single unnamed json/jsonb parameter, but no matches were found in the schema cache.", "")},
		{name: "one of the extra search path is not exposed", path: "rpc/beyond", status: 404, has: []string{"PGRST202"}},
		{name: "but may be called by those that are", path: "rpc/helped", status: 200, want: "1"},
		{name: "unnamed arguments of other types", method: "POST", path: "rpc/unnamed_two", body: `{}`, status: 404, has: []string{"PGRST202"}},
		{name: "half named ones", path: "rpc/half_named?a=1", status: 404, has: []string{"PGRST202"}},
		{name: "a procedure", method: "POST", path: "rpc/proc", status: 404, has: []string{"PGRST202"}},
		{name: "an aggregate", method: "POST", path: "rpc/agg", status: 404, has: []string{"PGRST202"}},
		{name: "a trigger function", method: "POST", path: "rpc/trig", status: 404, has: []string{"PGRST202"}},
		{name: "a function of PostgreSQL's own", path: "rpc/version", status: 404, has: []string{"PGRST202"}},
		{name: "a variadic argument that may be left out", path: "rpc/required_variadic?a=5", status: 200, want: "5"},
	})
}
