package rest_test

import (
	"strings"
	"testing"

	"basalt/api/apitest"
)

const workshop = stock + `
create table digits (id int primary key, b bigint, n numeric);
create type mood as enum ('glad', 'so so');
create table kinds (id int primary key, f float8, g float4, n numeric, t timestamptz, ts timestamp, d date, tm time, ttz timetz, a int[], m int[], c point2, ca point2[],
  r int4range, mr int4multirange, b bytea, j jsonb, raw json, i interval, e mood, u uuid, ch char(4), bits bit(4), vb varbit(8), ok bool, o text, money money, ip inet, v tsvector);
insert into kinds values (1, 'NaN', 'Infinity', 'NaN', '2026-01-02 03:04:05.6+00', '-infinity', 'infinity', '03:04:05', '03:04:05+02', '{1,NULL,3}', '{{1,2},{3,4}}', row (1, 'q"uo\te'),
  array[row (1, null)::point2], '[1,5)', '{[1,3),[5,9)}', '\x00ff', '{"k": [1, {"z": null}]}', '{"k" : 1.50}', '1 day 02:03:04', 'so so', '00000000-0000-0000-0000-00000000000a', 'ab', '1010', '11', true, null, 1.5, '10.0.0.1/8', 'a:1');
create table texts (id int primary key, s text);
insert into texts values (1, 'a,b'), (2, 'c"d'), (3, 'e\f'), (4, '(g)'), (5, 'O''Brien%'), (6, 'null'), (7, ' x ');
create table emp (id int primary key, boss_id int references emp (id));
insert into emp values (1, null), (2, 1), (3, 2), (4, 2);
create table doc (y int, n int, title text, primary key (y, n));
create table line (no int primary key, y int, n int, foreign key (y, n) references doc (y, n));
insert into doc values (1, 1, 'A'), (1, 2, 'B');
insert into line values (1, 1, 1), (2, 1, 2), (3, 1, null);
create table addr (id int primary key);
create table orders (id int primary key, bill_id int constraint bill references addr, ship_id int constraint ship references addr);
insert into addr values (10), (20);
insert into orders values (1, 10, 20);
create table film (id int primary key);
create table actor (id int primary key, name text);
create table part (film int references film, actor int references actor, primary key (film, actor));
insert into film values (1), (2);
insert into actor values (1, 'Al'), (2, 'Bo');
insert into part values (1, 1), (1, 2), (2, 1);
create table person (id int primary key, name text);
create table note (id int primary key, author int references person);
create view note1 as select id as number, author as aut from note;
create view note2 as select number as nr, aut as wrote from note1;
insert into person values (1, 'P');
insert into note values (1, 1);
create table paths (id int primary key, j jsonb);
insert into paths values (1, '{"a":["x","y"],"b c":{"d.e":"v"},"n":10}'), (2, '{"n":11}'), (3, '{"n":2}');
create table params ("select" int primary key, "order" int, "limit" int, "and" int, offset_ int);
insert into params values (1, 2, 3, 4, 5);
create schema vault;
create table vault.secret_plans (id int);
create function vault.secret_fn() returns int language sql as 'select 1';
` + open

func TestValuesKeepTheirDigitsAndForms(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, workshop, nil)
	run(t, s, []exchange{
		{name: "numbers in a body", method: "POST", path: "digits", headers: []string{give}, body: `[{"id":1,"b":9007199254740993,"n":12345678901234567890.123456789012345678}]`,
			status: 201, want: `[{"id":1,"b":9007199254740993,"n":12345678901234567890.123456789012345678}]`},
		{name: "numbers in a filter", path: "digits?b=eq.9007199254740993&select=id", status: 200, want: `[{"id":1}]`},
		{name: "a number beside it", path: "digits?b=eq.9007199254740992&select=id", status: 200, want: `[]`},
		{name: "the ends of bigint", method: "POST", path: "digits", headers: []string{give}, body: `[{"id":2,"b":9223372036854775807,"n":1e400},{"id":3,"b":-9223372036854775808,"n":-0.00000000000000000001}]`,
			status: 201, want: `[{"id":2,"b":9223372036854775807,"n":1` + strings.Repeat("0", 400) + `},{"id":3,"b":-9223372036854775808,"n":-0.00000000000000000001}]`},
		{name: "one beyond bigint", method: "POST", path: "digits", body: `{"id":4,"b":9223372036854775808}`, status: 400, has: []string{`"22003"`}},
		{name: "beyond float8", method: "PATCH", path: "kinds?id=eq.1", body: `{"f":1e400}`, status: 400, has: []string{`"22003"`}},
		{name: "a number that is no JSON", method: "POST", path: "digits", body: `{"id":4,"n":NaN}`, status: 400, has: []string{"PGRST102"}},
		{name: "NaN as text", method: "POST", path: "digits", headers: []string{give}, body: `{"id":5,"n":"NaN"}`, status: 201, want: `[{"id":5,"b":null,"n":"NaN"}]`},
		{name: "a date far away", method: "PATCH", path: "kinds?id=eq.1&select=d,t", headers: []string{give}, body: `{"d":"5874897-12-31","t":"4714-11-24 00:00:00+00 BC"}`, status: 200,
			want: `[{"d":"5874897-12-31","t":"4714-11-24T00:00:00+00:00 BC"}]`},
		{name: "a date too far away", method: "PATCH", path: "kinds?id=eq.1", body: `{"d":"5874898-01-01"}`, status: 400, has: []string{`"22008"`}},
	})
	var want string
	if err := s.Database.Pool.QueryRow(t.Context(), `select set_config('timezone', 'UTC', false), json_agg(k)::text from kinds k`).Scan(new(string), &want); err != nil {
		t.Fatal(err)
	}
	run(t, s, []exchange{
		{name: "every kind as to_json writes it", path: "kinds", headers: []string{"Prefer: timezone=UTC"}, status: 200, want: want},
		{name: "fixed lengths by insert", method: "POST", path: "kinds?select=ch,bits,vb", headers: []string{give}, body: `{"id":2,"ch":"abc","bits":"1011","vb":"101"}`, status: 201, want: `[{"ch":"abc ","bits":"1011","vb":"101"}]`},
		{name: "fixed lengths by update", method: "PATCH", path: "kinds?id=eq.2&select=ch,bits", headers: []string{give}, body: `{"ch":"xyz","bits":"0101"}`, status: 200, want: `[{"ch":"xyz ","bits":"0101"}]`},
		{name: "fixed lengths in filters", path: "kinds?bits=eq.0101&ch=eq.xyz&select=id", status: 200, want: `[{"id":2}]`},
	})
}

func TestNamesListsAndPaths(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, workshop+`insert into odd values (1, 'x', 'y', 2, 'z'), (2, 'k', 'l', 3, 'ñ');`, nil)
	run(t, s, []exchange{
		{name: "names that need quotes", path: `odd?select="Select","a b","c.d","order","naïve"&"Select"=eq.1&order="a b".desc`, status: 200,
			want: `[{"Select":1,"a b":"x","c.d":"y","order":2,"naïve":"z"}]`},
		{name: "names that need quotes in lists", path: `odd?select="c.d"&"c.d"=in.("l","m")&"order"=gt.2`, status: 200, want: `[{"c.d":"l"}]`},
		{name: "columns named like parameters", path: `params?select="select","order","limit","and"&"select"=eq.1&"limit"=eq.3&"and"=eq.4&"order"=eq.2&order="limit"`, status: 200,
			want: `[{"select":1,"order":2,"limit":3,"and":4}]`},
		{name: "quoted elements of a list", path: `texts?select=id&s=in.("a,b","c\"d","e\\f","(g)")&order=id`, status: 200, want: `[{"id":1},{"id":2},{"id":3},{"id":4}]`},
		{name: "quoted values in or", path: `texts?select=id&or=(s.eq."a,b",s.eq."(g)")&order=id`, status: 200, want: `[{"id":1},{"id":4}]`},
		{name: "a raw value to its end", path: "texts?select=id&s=eq.a,b", status: 200, want: `[{"id":1}]`},
		{name: "an empty list", path: "texts?select=id&s=in.()", status: 200, want: `[]`},
		{name: "a quote of SQL", path: "texts?select=id&s=eq.O'Brien%25", status: 200, want: `[{"id":5}]`},
		{name: "the text null", path: "texts?select=id&s=eq.null", status: 200, want: `[{"id":6}]`},
		{name: "the text null in a list", path: "texts?select=id&s=in.(null)", status: 200, want: `[{"id":6}]`},
		{name: "keys with blanks and dots", path: `paths?select=id,j->a->>0,j->"b c"->>"d.e"&id=eq.1`, status: 200, want: `[{"id":1,"a":"x","d.e":"v"}]`},
		{name: "a place from the end", path: "paths?select=last:j->a->>-1&j->>n=eq.10", status: 200, want: `[{"last":"y"}]`},
		{name: "order by what is inside", path: "paths?select=id&j->n=gt.9&order=j->n.desc", status: 200, want: `[{"id":2},{"id":1}]`},
		{name: "the same key twice", path: "texts?select=id,id:s&id=eq.4", status: 200, want: `[{"id":4,"id":"(g)"}]`},
	})
}

func TestEmbeds(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, workshop, nil)
	run(t, s, []exchange{
		{name: "both directions of a self reference", path: "emp?id=eq.2&select=id,boss:boss_id(id),reports:emp!boss_id(id)&reports.order=id", status: 200,
			want: `[{"id":2,"boss":{"id":1},"reports":[{"id":3},{"id":4}]}]`},
		{name: "a filter through a self reference", path: "emp?select=id,boss:boss_id!inner(id)&boss.id=eq.2&order=id", status: 200, want: `[{"id":3,"boss":{"id":2}},{"id":4,"boss":{"id":2}}]`},
		{name: "a key of two columns", path: "line?select=no,doc(title)&order=no", status: 200, want: `[{"no":1,"doc":{"title":"A"}},{"no":2,"doc":{"title":"B"}},{"no":3,"doc":null}]`},
		{name: "a key of two columns from the other side", path: "doc?select=title,line(no)&order=title", status: 200, want: `[{"title":"A","line":[{"no":1}]},{"title":"B","line":[{"no":2}]}]`},
		{name: "two keys between the same tables", path: "orders?select=id,addr(id)", status: 300,
			has: []string{"PGRST201", "many-to-one", "bill using orders(bill_id) and addr(id)", "ship using orders(ship_id) and addr(id)", "addr!bill", "addr!ship"}},
		{name: "two keys between the same tables with hints", path: "orders?select=id,bill:addr!bill(id),ship:ship_id(id)", status: 200, want: `[{"id":1,"bill":{"id":10},"ship":{"id":20}}]`},
		{name: "no key", path: "orders?select=id,film(id)", status: 400, has: []string{"PGRST200", "Could not find a relationship between 'orders' and 'film' in the schema cache"}},
		{name: "a filter on children", path: "film?select=id,actor(name)&actor.name=eq.Bo&order=id", status: 200, want: `[{"id":1,"actor":[{"name":"Bo"}]},{"id":2,"actor":[]}]`},
		{name: "a filter on parents by children", path: "film?select=id,actor!inner(name)&actor.name=eq.Bo", headers: []string{"Prefer: count=exact"}, status: 200,
			want: `[{"id":1,"actor":[{"name":"Bo"}]}]`, header: []string{"Content-Range: 0-0/1"}},
		{name: "no parents without children", path: "film?select=id,actor()&actor=is.null", status: 200, want: `[]`},
		{name: "parents with children", path: "film?select=id,actor()&actor.name=eq.Bo&actor=not.is.null", status: 200, want: `[{"id":1}]`},
		{name: "views of views", path: "note2?select=nr,who:person(name)&order=nr", status: 200, want: `[{"nr":1,"who":{"name":"P"}}]`},
		{name: "views of views from the other side", path: "person?select=name,note2(nr)", status: 200, want: `[{"name":"P","note2":[{"nr":1}]}]`},
		{name: "the relation's name beside its alias", path: "film?select=id,cast:actor(name)&actor.name=eq.Bo&id=eq.1", status: 200, want: `[{"id":1,"cast":[{"name":"Bo"}]}]`,
			header: []string{`Warning: 299 - "Addressing the embedded resource 'actor' by its name is deprecated, use its alias 'cast'"`}},
		{name: "what is not embedded", path: "film?select=id&actor.name=eq.Bo", status: 400, want: refusal("PGRST108", "'actor' is not an embedded resource in this request", "", "Verify that 'actor' is included in the 'select' query parameter.")},
		{name: "aggregates are off", path: "film?select=id.sum()", status: 400, has: []string{"PGRST123"}},
		{name: "nulls stripped from embeds", path: "line?select=no,doc(title)&no=eq.3", headers: []string{"Accept: application/vnd.pgrst.array+json;nulls=stripped"}, status: 200, want: `[{"no":3}]`},
	})
}

func TestWordsOfClientsNeverBecomeSQL(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, workshop, nil)
	evil := `x') is null; create table stolen(); --`
	encoded := strings.NewReplacer(" ", "%20", ";", "%3B", `"`, "%22").Replace
	run(t, s, []exchange{
		{name: "in a cast", path: encoded(`texts?select=id::int);create table stolen();--`), status: 400, want: anything},
		{name: "in an alias", path: encoded(`texts?select="` + evil + `":id&id=eq.1`), status: 200, want: `[{"` + evil + `":1}]`},
		{name: "in an alias of an embed", path: encoded(`film?select="` + evil + `":actor(id)&id=eq.9`), status: 200, want: `[]`},
		{name: "in a configuration", path: encoded(`texts?s=fts(english');create table stolen();--).a`), status: 400, want: anything},
		{name: "in a JSON key", path: encoded(`paths?select=j->"` + evil + `"&id=eq.1`), status: 200, want: `[{"` + evil + `":null}]`},
		{name: "in a JSON key of a filter", path: encoded(`paths?j->>"` + evil + `"=eq.1`), status: 200, want: `[]`},
		{name: "in a JSON place", path: encoded(`paths?select=j->1);create table stolen();--`), status: 400, want: anything},
		{name: "in an order", path: encoded(`texts?order=id;create table stolen()`), status: 400, want: anything},
		{name: "in a quoted order", path: encoded(`texts?order="` + evil + `"`), status: 400, want: anything},
		{name: "in a column", path: encoded(`texts?select="` + evil + `"`), status: 400, want: anything},
		{name: "in an operator", path: encoded(`texts?s=eq;create table stolen().1`), status: 400, want: anything},
		{name: "in a value", path: encoded(`texts?s=eq.` + evil), status: 200, want: `[]`},
		{name: "in a list", path: encoded(`texts?s=in.("` + evil + `")`), status: 200, want: `[]`},
		{name: "in a pattern", path: encoded(`texts?s=like.` + evil), status: 200, want: `[]`},
		{name: "in a limit", path: encoded(`texts?limit=1;create table stolen()`), status: 200, want: anything},
		{name: "in the columns of a write", method: "POST", path: encoded(`texts?columns=id,"` + evil + `"`), body: `{"id":50}`, status: 400, want: anything},
		{name: "in a key of a body", method: "POST", path: "texts", body: `{"id":50,` + quote(evil) + `:1}`, status: 400, want: anything},
		{name: "in a value of a body", method: "POST", path: "texts?select=s", headers: []string{give}, body: `{"id":50,"s":` + quote(evil) + `}`, status: 201, want: `[{"s":` + quote(evil) + `}]`},
		{name: "in a conflict target", method: "POST", path: encoded(`texts?on_conflict="` + evil + `"`), headers: []string{"Prefer: resolution=merge-duplicates"}, body: `{"id":50}`, status: 400, want: anything},
		{name: "in a CSV header", method: "POST", path: "texts", headers: []string{"Content-Type: text/csv"}, body: "id,\"" + evil + "\"\n1,2\n", status: 400, want: anything},
		{name: "in a schema", path: "texts", headers: []string{`Accept-Profile: public"; create table stolen(); --`}, status: 406, want: anything},
		{name: "in a relation", path: encoded(`texts"; create table stolen(); --`), status: 404, want: anything},
		{name: "in a hint", path: encoded(`film?select=id,actor!"` + evil + `"(id)`), status: 400, want: anything},
		{name: "in a function's name", path: encoded(`rpc/f();create table stolen();--`), status: 404, want: anything},
		{name: "in a cookie", path: "texts?id=eq.1&select=id", headers: []string{`Cookie: a='); create table stolen(); --`}, status: 200, want: `[{"id":1}]`},
		{name: "in a header", path: "texts?id=eq.1&select=id", headers: []string{`X-A: '); create table stolen(); --`}, status: 200, want: `[{"id":1}]`},
	})
	var stolen bool
	if err := s.Database.Pool.QueryRow(t.Context(), `select exists (select from pg_class where relname = 'stolen')`).Scan(&stolen); err != nil || stolen {
		t.Fatalf("stolen %v, %v", stolen, err)
	}
}

func TestHintsDoNotNameWhatIsNotExposed(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, workshop, nil)
	hidden := s.Do(t, "GET", "/rest/v1/secret_plans", "")
	absent := s.Do(t, "GET", "/rest/v1/absent_plans", "")
	if strings.ReplaceAll(absent.Body, "absent_plans", "secret_plans") != hidden.Body || hidden.Status != 404 {
		t.Errorf("hidden %d %s, absent %d %s", hidden.Status, hidden.Body, absent.Status, absent.Body)
	}
	hidden = s.Do(t, "POST", "/rest/v1/rpc/secret_fn", "{}")
	absent = s.Do(t, "POST", "/rest/v1/rpc/absent_fn", "{}")
	if strings.ReplaceAll(absent.Body, "absent_fn", "secret_fn") != hidden.Body || hidden.Status != 404 {
		t.Errorf("hidden %d %s, absent %d %s", hidden.Status, hidden.Body, absent.Status, absent.Body)
	}
	for _, path := range []string{"secret_plan", "rpc/secret_f", "rpc/secret_fnn"} {
		if answer := s.Do(t, "GET", "/rest/v1/"+path, ""); answer.Status != 404 || strings.Contains(answer.Body, "vault") || strings.Contains(answer.Body, "secret_plans") || strings.Contains(answer.Body, "secret_fn(") {
			t.Errorf("%s: %d %s", path, answer.Status, answer.Body)
		}
	}
}

func TestDefinitionsMayChangeUnderPreparedStatements(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, `create table t (id int primary key, v int); insert into t values (1, 7); create function f() returns setof t language sql stable as 'select * from t';`, onePooled)
	requests := []exchange{
		{path: "t?select=*"}, {path: "t?select=*", headers: []string{"Prefer: count=exact"}}, {path: "rpc/f"}, {path: "t?select=*&v=not.is.null", headers: []string{"Prefer: count=planned"}},
	}
	all := func(want string) {
		t.Helper()
		for round := range 6 {
			for _, e := range requests {
				answer := s.Do(t, "GET", "/rest/v1/"+e.path, "", e.headers...)
				if answer.Body != want || answer.Status > 206 {
					t.Fatalf("round %d, %s: %d %s", round, e.path, answer.Status, answer.Body)
				}
			}
		}
	}
	all(`[{"id":1,"v":7}]`)
	version := metric(t, s, "basalt_catalog_version")
	s.Database.Exec(t, `alter table t alter v type text using 'n' || v; alter table t add w int default 3;`)
	// Before the catalog is loaded anew, the statements prepared for the old one are already of no use. (PostgreSQL does
	// not notice this of functions whose body it has inlined; those have to wait for the catalog.)
	for _, e := range requests {
		if strings.HasPrefix(e.path, "rpc/") {
			continue
		}
		if answer := s.Do(t, "GET", "/rest/v1/"+e.path, "", e.headers...); answer.Status > 206 || !strings.Contains(answer.Body, `"n7"`) {
			t.Errorf("at once, %s %v: %d %s", e.path, e.headers, answer.Status, answer.Body)
		}
	}
	apitest.Until(t, "the change is seen", func() bool { return metric(t, s, "basalt_catalog_version") != version })
	all(`[{"id":1,"v":"n7","w":3}]`)
}
