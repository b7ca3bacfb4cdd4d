package rest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"basalt/api"
	"basalt/api/apitest"
)

const explainable = `
create domain "text/html" as text;
create table owner (id int primary key, name text);
create table item (id int primary key, owner_id int references owner, name text, secret boolean default false);
insert into owner values (1, 'Ann');
insert into item values (1, 1, 'one'), (2, 1, 'two');
create sequence marks;
create table guarded (id int primary key, owner text);
alter table guarded enable row level security;
create policy own on guarded using (owner = current_user);
create function items(i int) returns setof item language sql stable as 'select * from item where id = i';
create function add_item(i int) returns int language sql as 'insert into item values (i) returning id';
create function page() returns "text/html" language sql stable as $$ select '<p>' $$;
create function html_step(state "text/html", next item) returns "text/html" language sql as $$ select state || next.id $$;
create aggregate html(item) (stype = "text/html", sfunc = html_step, initcond = '');
` + open

func plans(settings *api.Settings) { settings.RestPlan = true }

func TestPlansOfRequests(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, explainable, plans)
	const plan = "application/vnd.pgrst.plan"
	accept := func(what string) []string { return []string{"Accept: " + what} }
	kind := func(what string) []string {
		return []string{"Content-Type: " + what + "; charset=utf-8", "Content-Range:"}
	}
	run(t, s, []exchange{
		{name: "text is the default", path: "item?id=in.(1,2)", headers: accept(plan), status: 200, has: []string{"(cost="}, header: kind(plan + `+text; for="application/json"`)},
		{name: "text by name", path: "item", headers: accept(plan + "+text"), status: 200, has: []string{"Seq Scan on item"}, header: kind(plan + `+text; for="application/json"`)},
		{name: "JSON", path: "item", headers: accept(plan + "+json"), status: 200, has: []string{`"Node Type": "Seq Scan"`, `"Total Cost"`}, header: kind(plan + `+json; for="application/json"`)},
		{name: "in capital letters", path: "item", headers: accept("Application/Vnd.Pgrst.Plan+JSON; Options=analyze"), status: 200, has: []string{`"Actual Rows": 2`}, header: kind(plan + `+json; for="application/json"; options=analyze`)},
		{name: "analyze", path: "item?id=eq.1", headers: accept(plan + "+json; options=analyze"), status: 200, has: []string{`"Actual Rows": 1`}, header: kind(plan + `+json; for="application/json"; options=analyze`)},
		{name: "verbose", path: "item?select=name", headers: accept(plan + "+json; options=verbose"), status: 200, has: []string{`"Output": ["t.name"]`}, header: kind(plan + `+json; for="application/json"; options=verbose`)},
		{name: "settings", path: "item", headers: accept(plan + "+json; options=settings"), status: 200, has: []string{`"search_path"`}, header: kind(plan + `+json; for="application/json"; options=settings`)},
		{name: "buffers", path: "item", headers: accept(plan + "+json; options=buffers"), status: 200, has: []string{`"Shared Hit Blocks"`}, header: kind(plan + `+json; for="application/json"; options=buffers`)},
		{name: "wal", path: "item", headers: accept(plan + "+json; options=analyze|wal"), status: 200, has: []string{`"WAL Records"`}, header: kind(plan + `+json; for="application/json"; options=analyze|wal`)},
		{name: "wal needs analyze", path: "item", headers: accept(plan + "+json; options=wal"), status: 400, has: []string{`"22023"`}, header: []string{"Content-Type: application/json; charset=utf-8"}},
		{name: "options in another order, with one that is none", path: "item", headers: accept(plan + `; options=wal|nothing|analyze|buffers ; for="text/csv"`), status: 200, has: []string{"actual time"}, header: kind(plan + `+text; for="text/csv"; options=analyze|buffers|wal`)},
		{name: "for one object", path: "item", headers: accept(plan + `+json; for="application/vnd.pgrst.object"`), status: 200, has: []string{"Seq Scan"}, header: kind(plan + `+json; for="application/vnd.pgrst.object+json"`)},
		{name: "for one object without nulls", path: "item", headers: accept(plan + `; for="application/vnd.pgrst.object+json;nulls=stripped"`), status: 200, has: []string{"Seq Scan"}, header: kind(plan + `+text; for="application/vnd.pgrst.object+json;nulls=stripped"`)},
		{name: "for what a handler makes", path: "item", headers: accept(plan + `+json; for="text/html"; options=verbose`), status: 200, has: []string{`"Aggregate"`, "html("}, header: kind(plan + `+json; for="text/html"; options=verbose`)},
		{name: "for what a function makes", path: "rpc/page", headers: accept(plan + `+json; for="text/html"; options=verbose`), status: 200, has: []string{`"Node Type": "Result"`}},
		{name: "for what there is not", path: "owner", headers: accept(plan + `+json; for="text/html"`), status: 406,
			want: refusal("PGRST107", `None of these media types are available: application/vnd.pgrst.plan+json; for="text/html"`, "", "")},
		{name: "for a plan", path: "owner", headers: accept(plan + `; for="application/vnd.pgrst.plan"`), status: 406, has: []string{"PGRST107"}},
		{name: "of an embed", path: "item?select=id,owner(name)&order=id", headers: accept(plan), status: 200, has: []string{"owner", "Join"}},
		{name: "with a filter's value", path: "item?name=eq.one", headers: accept(plan), status: 200, has: []string{`Filter: (name = 'one'::text)`}},
		{name: "of another's rows under policies", path: "guarded", headers: accept(plan), status: 200, has: []string{"Filter: (owner = CURRENT_USER)"}},
		{name: "with a count", path: "item", headers: append(accept(plan), "Prefer: count=exact"), status: 200, has: []string{"Seq Scan"}},
		{name: "of a function", path: "rpc/items?i=2", headers: accept(plan + "+json"), status: 200, has: []string{"Plan"}},
		{name: "HEAD", method: "HEAD", path: "item", headers: accept(plan), status: 200, header: kind(plan + `+text; for="application/json"`)},
		{name: "an error of the request", path: "item?id=eq.x", headers: accept(plan), status: 400, has: []string{`"22P02"`}},
		{name: "an insert", method: "POST", path: "item", headers: accept(plan), body: `{"id":10}`, status: 200, has: []string{"Insert on item"}, header: kind(plan + `+text; for="application/json"`)},
		{name: "an insert carried out", method: "POST", path: "item", headers: append(accept(plan+"+json; options=analyze"), give), body: `[{"id":10},{"id":11}]`, status: 200, has: []string{`"Actual Rows": 2`}},
		{name: "an upsert carried out", method: "POST", path: "item", headers: append(accept(plan+"; options=analyze"), "Prefer: resolution=merge-duplicates"), body: `[{"id":1,"name":"x"},{"id":12,"name":"y"}]`, status: 200, has: []string{"Tuples Inserted: 1"}},
		{name: "an update carried out", method: "PATCH", path: "item?id=eq.1", headers: accept(plan + "; options=analyze"), body: `{"name":"changed"}`, status: 200, has: []string{"Update on item", "actual time"}},
		{name: "a put carried out", method: "PUT", path: "item?id=eq.13", headers: accept(plan + "; options=analyze"), body: `{"id":13}`, status: 200, has: []string{"Insert on item"}},
		{name: "a delete carried out", method: "DELETE", path: "item?id=gt.0", headers: accept(plan + "; options=analyze"), status: 200, has: []string{"Delete on item"}},
		{name: "a function that writes", method: "POST", path: "rpc/add_item", headers: accept(plan + "; options=analyze"), body: `{"i":14}`, status: 200, has: []string{"actual time"}},
		{name: "a write of nothing", method: "POST", path: "item", headers: accept(plan + "+json"), body: `[]`, status: 200, want: "[]"},
		{name: "a write of nothing in text", method: "PATCH", path: "item?id=eq.1", headers: accept(plan), body: `{}`, status: 200, want: ""},
		{name: "a write that breaks a constraint", method: "POST", path: "item", headers: accept(plan + "; options=analyze"), body: `{"id":1}`, status: 409, has: []string{`"23505"`}},
		{name: "a write of more rows than preferred", method: "PATCH", path: "item?id=gt.0", headers: append(accept(plan+"; options=analyze"), "Prefer: handling=strict, max-affected=1"), body: `{"name":"all"}`, status: 400, has: []string{"PGRST124"}},
		{name: "a put of another row than named", method: "PUT", path: "item?id=eq.15", headers: accept(plan + "; options=analyze"), body: `{"id":16}`, status: 400, has: []string{"PGRST115"}},
		{name: "nothing of all that stayed", path: "item?select=id,name&order=id", status: 200, want: `[{"id":1,"name":"one"},{"id":2,"name":"two"}]`},
	})
}

func TestPlansAreHiddenUnlessAllowed(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, explainable, nil)
	plan := []string{"Accept: application/vnd.pgrst.plan+json; options=analyze"}
	refused := refusal("PGRST107", `None of these media types are available: application/vnd.pgrst.plan+json; for="application/json"; options=analyze`, "", "The operator can allow plans with --rest-plan.")
	run(t, s, []exchange{
		{name: "a read", path: "item", headers: plan, status: 406, want: refused},
		{name: "a call", method: "POST", path: "rpc/add_item", headers: plan, body: `{"i":9}`, status: 406, want: refused},
		{name: "a delete", method: "DELETE", path: "item?id=eq.1", headers: plan, status: 406, want: refused},
		{name: "what comes next is given", path: "item?select=id&order=id", headers: []string{plan[0] + ", text/csv;q=0.1"}, status: 200, want: "id\n1\n2"},
	})
}

// The plan is that of the statement the request itself runs, with its role, its settings and its values.
func TestAPlanIsThatOfTheRequestsOwnStatement(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, `
		create table big (id int primary key, kind text);
		insert into big select i, case when i = 1 then 'rare' else 'usual' end from generate_series(1, 20000) i;
		create index on big (kind);
		analyze big;
		do $$ begin
		  execute format('alter role authenticated in database %I set enable_indexscan = off', current_database());
		  execute format('alter role authenticated in database %I set enable_bitmapscan = off', current_database());
		end $$;`+open, plans)
	node := func(headers ...string) string {
		answer := s.Do(t, "GET", "/rest/v1/big?kind=eq.rare", "", append(headers, "Accept: application/vnd.pgrst.plan+json")...)
		var plan []struct {
			Plan json.RawMessage
		}
		answer.JSON(t, &plan)
		return string(plan[0].Plan)
	}
	if got := node(); !strings.Contains(got, `"Index Name": "big_kind_idx"`) {
		t.Errorf("a rare value is not looked up by its index: %s", got)
	}
	answer := s.Do(t, "GET", "/rest/v1/big?kind=eq.usual", "", "Accept: application/vnd.pgrst.plan")
	if !strings.Contains(answer.Body, "Seq Scan") {
		t.Errorf("a usual value is not: %s", answer.Body)
	}
	if got := node(s.As(t, "authenticated", "")); !strings.Contains(got, `"Seq Scan"`) {
		t.Errorf("the settings of the role do not hold: %s", got)
	}
}

// What is checked before each statement is checked before a plan is shown too, and a plan is an answer like others.
func TestPlansFollowWhatHoldsForEachRequest(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, `
		create table item (id int primary key);
		create function gate() returns void language plpgsql as $$ begin
		  if current_setting('request.headers', true)::json->>'x-gate' = 'shut' then raise sqlstate 'PT402' using message = 'Pay first'; end if;
		end $$;`+open, func(settings *api.Settings) {
		settings.RestPlan, settings.ServerTiming, settings.RestPreRequest = true, true, "public.gate"
	})
	plan := "Accept: application/vnd.pgrst.plan; options=analyze"
	run(t, s, []exchange{
		{name: "open", path: "item", headers: []string{plan}, status: 200, has: []string{"actual time"}, header: []string{"Server-Timing: any", "Vary: any"}},
		{name: "shut", path: "item", headers: []string{plan, "X-Gate: shut"}, status: 402, has: []string{"Pay first"}},
		{name: "without a filter", method: "DELETE", path: "item", headers: []string{plan}, status: 400, has: []string{"must name them"}},
	})
}
