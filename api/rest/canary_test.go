package rest_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"basalt/api"
	"basalt/api/apitest"
)

// secretOf is what every row of bob's holds, in values and in keys.
const secretOf = "canary4f1c"

// tenants is a schema of two tenants, whose rows refer to each other by keys of every kind. Each has rows of its own only;
// those of bob hold a secret in every column that can hold one.
const tenants = `
create table team (id text primary key, owner uuid not null default auth.uid(), name text unique, boss text references team);
create table task (id uuid primary key default gen_random_uuid(), owner uuid not null default auth.uid(), team_id text references team, title text, body jsonb, tags text[], n int);
create table member (team_id text references team, task_id uuid references task, owner uuid not null default auth.uid(), primary key (team_id, task_id));
create table profile (team_id text primary key references team, owner uuid not null default auth.uid(), bio text);
create view open_task as select id, team_id, title, n from task where n is not null and owner = auth.uid();
create view open_of_open as select * from open_task;
create function tasks(above int default 0) returns setof task language sql stable as 'select * from task where n > above';
create function titles() returns setof text language sql stable as 'select title from task';
create function first_task() returns task language sql stable as 'select * from task order by n desc limit 1';
create function shouted(task) returns text language sql stable as 'select upper($1.title)';
create function team_tasks(team) returns setof task language sql stable as 'select * from task where team_id = $1.id';
create function renamed(old text, new text) returns int language sql as 'with u as (update team set name = new where name = old returning 1) select count(*)::int from u';
create function raised() returns void language plpgsql as $$ begin perform 1 / (select count(*) from task where title like 'canary%'); end $$;
insert into team (id, owner, name, boss)
select 'canary4f1c-' || g, '00000000-0000-4000-8000-00000000000b', 'canary4f1c name ' || g, case when g > 1 then 'canary4f1c-' || g - 1 end from generate_series(1, 9) g;
insert into task (owner, team_id, title, body, tags, n)
select '00000000-0000-4000-8000-00000000000b', 'canary4f1c-' || 1 + g % 9, 'canary4f1c ' || g, jsonb_build_object('canary4f1c', 'canary4f1c'), array['canary4f1c'], 4711000 + g from generate_series(1, 30) g;
insert into member select team_id, id, owner from task;
insert into profile select id, owner, 'canary4f1c' from team;
insert into team (id, owner, name) select 'a' || g, '00000000-0000-4000-8000-00000000000a', 'name ' || g from generate_series(1, 4) g;
insert into task (owner, team_id, title, body, tags, n) select '00000000-0000-4000-8000-00000000000a', 'a' || 1 + g % 4, 'title ' || g, '{"k":1}', array['x'], g from generate_series(1, 8) g;
insert into member select team_id, id, owner from task where owner = '00000000-0000-4000-8000-00000000000a';
insert into profile select id, owner, 'bio' from team where owner = '00000000-0000-4000-8000-00000000000a';
do $$
declare
  t text;
begin
  foreach t in array array['team', 'task', 'member', 'profile'] loop
    execute format('alter table %I enable row level security', t);
    execute format('create policy own on %I to authenticated using (owner = auth.uid()) with check (owner = auth.uid())', t);
  end loop;
end
$$;
`

// mine is how many rows of each relation ann has at most, however many requests have changed some.
func mine() map[string]int { return map[string]int{"team": 4, "task": 8, "member": 8, "profile": 4} }

// askAsTenant makes a random request of ann's, or of nobody's, that would like to know something of bob's.
func askAsTenant(r *rand.Rand) (method, path, body string, headers []string) {
	guess := pick(r, secretOf, secretOf+"-1", secretOf+" name 1", secretOf+" 3", "4711003", "a1", "x", "title 1", "")
	v := url.QueryEscape(guess)
	filter := pick(r, "", "&title=eq."+v, "&title=like.*"+v+"*", "&title=gte."+v, "&body->>"+secretOf+"=eq."+v, "&tags=cs.{"+v+"}", "&n=gte.4711000",
		"&or=(title.eq.%22"+v+"%22,n.lt.4)", "&not.and=(n.is.null)", "&team_id=in.(%22"+v+"%22,a1)", "&title=isdistinct."+v, "&title=match.^c", "&title=plfts."+v)
	path = pick(r,
		"task?select=*"+filter, "task?select=id,title,team(*)"+filter, "task?select=title,...team(name,boss)"+filter, "team?select=*,task(*),profile(*)", "team?select=id,...task(title,n)",
		"team?select=*,task!inner(title)&task.title=like."+v+"*", "team?select=id,task()&task=not.is.null", "team?select=id,task!member(title,shouted)", "team?select=id,boss(name)", "team?select=name,team!boss(name)",
		"team?select=id,team_tasks(title)&team_tasks.title=like.*"+v+"*", "open_task?select=*,team(name)&order=n.desc", "open_of_open?order=title.desc.nullslast&limit=3", "task?select=title,team(name)&order=team(name).desc",
		"task?select=title.max(),n.sum(),n.min(),count()"+filter, "task?select=team_id,count()"+filter, "team?select=id,task(n.max(),count())", "rpc/tasks?above=4711000", "rpc/tasks?select=title,team(*)"+filter,
		"rpc/titles", "rpc/first_task", "rpc/raised", "task?select=title::int"+filter, "task?title=gt.int", "task?order=body->"+secretOf, "profile?bio=eq."+v, "member?select=*,team(name),task(title)",
		"task?select=shouted&order=shouted"+filter, "task?limit=1&offset=3"+filter, "task?n=eq."+v)
	method = pick(r, "GET", "GET", "GET", "HEAD")
	switch r.IntN(12) {
	case 0:
		method, path, body = "POST", "team"+pick(r, "", "?on_conflict=name", "?on_conflict=id", "?select=*,task(*)"), fmt.Sprintf(`{"id":%q,"name":%q}`, pick(r, guess, "a1", "new"), pick(r, guess, "name 1"))
	case 1:
		method, path, body = "POST", "member", fmt.Sprintf(`{"team_id":%q,"task_id":%q}`, pick(r, guess, secretOf+"-2"), ann)
	case 2:
		method, path, body = "PATCH", "task?"+strings.TrimPrefix(filter, "&"), fmt.Sprintf(`{"team_id":%q}`, pick(r, guess, "a1"))
	case 3:
		method, path = "DELETE", "task?n=gte.4711000"+filter
	case 4:
		id := pick(r, secretOf+"-1", "a1", "p")
		method, path, body = "PUT", "profile?team_id=eq."+id, fmt.Sprintf(`{"team_id":%q,"bio":"b"}`, id)
	case 5:
		method, path, body = "POST", "rpc/renamed", fmt.Sprintf(`{"old":%q,"new":%q}`, guess, pick(r, "name 1", secretOf+" name 2"))
	case 6:
		method, path, body = "PATCH", "team?select=*,task(*),profile(*)&id=eq."+v, `{"name":"mine"}`
	}
	headers = []string{
		"Prefer: " + pick(r, "return=representation", "return=headers-only", "count=exact", "return=representation,count=exact", "resolution=merge-duplicates,return=representation", "resolution=ignore-duplicates,return=representation",
			"resolution=merge-duplicates,return=headers-only", "page=keyset", "count=estimated", "handling=strict,max-affected=1", "handling=strict,"+secretOf),
		"Accept: " + pick(r, "application/json", "text/csv", "application/vnd.pgrst.object+json", "application/x-ndjson", "application/vnd.pgrst.array+json;nulls=stripped", "application/vnd.pgrst.plan+json"),
	}
	return method, path, body, headers
}

// secondOfTwo puts a request into a batch of two, behind one that finds nothing.
func secondOfTwo(t *testing.T, method, path, body string, headers []string) string {
	t.Helper()
	operation := map[string]any{"method": method, "path": "/" + path, "prefer": strings.TrimPrefix(headers[0], "Prefer: ")}
	if body != "" {
		operation["body"] = json.RawMessage(body)
	}
	text, err := json.Marshal([]any{map[string]any{"method": "GET", "path": "/task?id=is.null"}, operation})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Two tenants: whatever one asks, on whatever way, nothing that comes back tells of the other's rows: no word of theirs in
// bodies, headers, errors or the log, and no count of them. What the client sent itself is no secret, so it does not count.
func TestNothingTellsOfAnotherTenantsRows(t *testing.T) {
	t.Parallel()
	requests := 1200
	if testing.Short() {
		requests = 150
	}
	s := apitest.Start(t, tenants+open, func(s *api.Settings) { s.RestAggregates, s.RequireFilters, s.RestPlan = true, false, true })
	r := rand.New(rand.NewPCG(21, 22))
	a := s.As(t, "authenticated", `"sub":"`+ann+`"`)
	before := bobsRows(t, s)
	shown, batches := 0, map[int]int{}
	for i := range requests {
		method, path, body, headers := askAsTenant(r)
		who := pick(r, a, a, a, "X-Nobody: 1")
		answer := (*apitest.Answer)(nil)
		batched := method != "HEAD" && r.IntN(5) == 0
		if batched {
			answer = s.Do(t, "POST", "/rest/v1/", secondOfTwo(t, method, path, body, headers), "Content-Type: application/vnd.basalt.batch+json", who)
			batches[answer.Status]++
		} else {
			answer = s.Do(t, method, "/rest/v1/"+path, body, append(headers, who)...)
		}
		line := fmt.Sprintf("request %d: %s %s %v %s\n%d %v\n%s", i, method, path, headers, body, answer.Status, answer.Header, answer.Body)
		told := answer.Body + fmt.Sprint(answer.Header)
		decoded, _ := url.QueryUnescape(path)
		for _, word := range []string{secretOf + "-", secretOf + " name", secretOf + " ", "47110"} {
			// A refusal may repeat what was asked; rows may not hold it, unless ann has just written it herself.
			if strings.Contains(told, word) && !strings.Contains(decoded+body+strings.Join(headers, ""), word) && !ownWord(t, s, word) {
				t.Fatal(line)
			}
		}
		if answer.Status >= 500 {
			t.Fatal(line)
		}
		name, _, _ := strings.Cut(path, "?")
		_, total, counted := strings.Cut(answer.Header.Get("Content-Range"), "/")
		if most, ok := mine()[name]; ok && counted && total != "*" && method == "GET" && !batched && !strings.Contains(headers[0], "estimated") {
			var n int
			if _, err := fmt.Sscan(total, &n); err != nil || n > most+annsNew(t, s, name) {
				t.Fatalf("counted %s\n%s", total, line)
			}
		}
		if answer.Status == 200 && strings.Contains(answer.Body, "title ") {
			shown++
		}
	}
	if shown == 0 || batches[200] == 0 {
		t.Errorf("ann is not shown her own rows either: %d answers, batches %v", shown, batches)
	}
	if after := bobsRows(t, s); after != before {
		t.Errorf("bob's rows were changed:\n%s\n%s", before, after)
	}
	for _, line := range strings.Split(s.Log.String(), "\n") {
		if strings.Contains(line, secretOf+" name") || strings.Contains(line, "4711003") {
			t.Errorf("the log tells %s", line)
		}
	}
}

// ownWord says whether ann has a row of her own that holds a word.
func ownWord(t *testing.T, s *apitest.Server, word string) bool {
	t.Helper()
	var own bool
	err := s.Database.Pool.QueryRow(t.Context(), `
select exists (select from team where owner = $1 and position($2 in team::text) > 0)
  or exists (select from task where owner = $1 and position($2 in task::text) > 0)
  or exists (select from profile where owner = $1 and position($2 in profile::text) > 0)`, ann, word).Scan(&own)
	if err != nil {
		t.Fatal(err)
	}
	return own
}

// annsNew is how many rows ann has added to a table.
func annsNew(t *testing.T, s *apitest.Server, table string) int {
	t.Helper()
	var rows int
	if err := s.Database.Pool.QueryRow(t.Context(), `select count(*) from `+table+` where owner = $1`, ann).Scan(&rows); err != nil {
		t.Fatal(err)
	}
	return max(rows-mine()[table], 0)
}

func bobsRows(t *testing.T, s *apitest.Server) string {
	t.Helper()
	var rows string
	err := s.Database.Pool.QueryRow(t.Context(), `
select (select string_agg(x::text, '|' order by x::text) from team x where owner = $1)
  || (select string_agg(x::text, '|' order by x::text) from task x where owner = $1)
  || (select string_agg(x::text, '|' order by x::text) from member x where owner = $1)
  || (select string_agg(x::text, '|' order by x::text) from profile x where owner = $1)`, bob).Scan(&rows)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// Who may not read a column or table learns nothing of its values by asking for rows that have them, in an order or with
// a match: whatever is guessed, right or wrong, the answer is the same to the byte.
func TestGuessesAboutWhatMayNotBeReadAreAllAnsweredAlike(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, `
create table person (id int primary key, name text, pin int);
create table vault (person_id int primary key references person, code text);
create table hidden_link (person_id int references person, person2_id int references person, primary key (person_id, person2_id));
insert into person values (1, 'Ann', 1234), (2, 'Bo', 9);
insert into vault values (1, 'open sesame');
create view names as select id, name from person;
create function pin_of(person) returns int language sql stable as 'select $1.pin';
`+open+`
revoke all on person, vault, hidden_link from anon;
grant select (id, name) on person to anon;
grant insert, update, delete on person to anon;
`, nil)
	for name, pair := range map[string][3]string{ // right and wrong, and the method
		"a filter":                   {"person?select=id&pin=eq.1234", "person?select=id&pin=eq.1235"},
		"a comparison":               {"person?select=id&pin=gt.1000", "person?select=id&pin=gt.9999"},
		"a filter in a group":        {"person?select=id&or=(id.eq.7,pin.eq.1234)", "person?select=id&or=(id.eq.7,pin.eq.1235)"},
		"an order":                   {"person?select=id&order=pin.asc", "person?select=id&order=pin.desc"},
		"a computed column":          {"person?select=id&pin_of=eq.1234", "person?select=id&pin_of=eq.1235"},
		"an aggregate":               {"person?select=pin.max()&id=eq.1", "person?select=pin.max()&id=eq.2"},
		"an inner embed":             {"person?select=id,vault!inner(person_id)&id=eq.1", "person?select=id,vault!inner(person_id)&id=eq.2"},
		"a filter on an embed":       {"person?select=id,vault!inner()&vault.code=like.o*", "person?select=id,vault!inner()&vault.code=like.x*"},
		"the presence of an embed":   {"person?select=id,vault()&vault=not.is.null&id=eq.1", "person?select=id,vault()&vault=not.is.null&id=eq.2"},
		"an order by an embed":       {"person?select=id,vault(person_id)&order=vault(code)", "person?select=id,vault(person_id)&order=vault(code).desc"},
		"a filter of a change":       {"person?pin=eq.1234", "person?pin=eq.1235", "PATCH"},
		"a filter of a removal":      {"person?pin=eq.1234&id=eq.77", "person?pin=eq.1235&id=eq.77", "DELETE"},
		"a JSON path":                {"person?select=id&pin->>x=eq.1", "person?select=id&pin->>x=is.null"},
		"a count":                    {"vault?select=person_id&code=like.o*", "vault?select=person_id&code=like.x*"},
		"a spread":                   {"person?select=id,...vault(code)&id=eq.1", "person?select=id,...vault(code)&id=eq.2"},
		"the rest of a table's name": {"vault?person_id=eq.1", "vault?person_id=eq.2"},
	} {
		method := pair[2]
		if method == "" {
			method = "GET"
		}
		for _, prefer := range []string{"Prefer: count=exact", "Prefer: return=representation", "Prefer: handling=strict, max-affected=0"} {
			right := s.Do(t, method, "/rest/v1/"+pair[0], `{"name":"x"}`, prefer)
			wrong := s.Do(t, method, "/rest/v1/"+pair[1], `{"name":"x"}`, prefer)
			for _, header := range []http.Header{right.Header, wrong.Header} {
				header.Del("Date")
				header.Del("X-Request-Id")
				header.Del("Content-Location")
			}
			if right.Status != wrong.Status || right.Body != wrong.Body || fmt.Sprint(right.Header) != fmt.Sprint(wrong.Header) {
				t.Errorf("%s, %s:\n%d %v %s\n%d %v %s", name, prefer, right.Status, right.Header, right.Body, wrong.Status, wrong.Header, wrong.Body)
			}
			if right.Status < 400 {
				t.Errorf("%s: %d %s", name, right.Status, right.Body)
			}
		}
	}
}

// What lies in schemas that are not exposed is not there: by any way, for any of the public's roles, the answer is that
// for what does not exist.
func TestWhatIsNotExposedIsNotThere(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, `
create table film (id int primary key, owner uuid references auth.users);
create schema cellar; create table cellar.wine (id int primary key, film_id int references film); create type cellar.grape as enum ('merlot');
create function cellar.drink() returns int language sql as 'select 1';
grant usage on schema cellar to anon, authenticated; grant all on cellar.wine to anon, authenticated;
insert into film values (1, null);
`+open, nil)
	hidden := [][3]string{ // where it is asked for, what is there, and what is not
		{"%s", "wine", "wina"}, {"%s", "users", "userz"}, {"%s", "sessions", "sezsions"}, {"%s", "objects", "objectz"}, {"%s", "pg_class", "pg_clazz"},
		{"%s", "pg_authid", "pg_authiz"}, {"%s", "auth.users", "auth.userz"}, {"%s", "cellar.wine", "cellar.wina"}, {"rpc/%s", "drink", "drinx"},
		{"rpc/%s", "uid", "uix"}, {"rpc/%s", "pg_read_file", "pg_read_filx"}, {"rpc/%s", "pg_sleep", "pg_sleex"}, {"rpc/%s", "set_config", "set_confix"},
		{"rpc/%s", "lo_import", "lo_imporx"}, {"rpc/%s", "pg_terminate_backend", "pg_terminate_backenx"}, {"rpc/%s", "query_to_xml", "query_to_xmx"},
		{"rpc/%s", "dblink", "dblinx"}, {"film?select=%s(*)", "wine", "wina"}, {"film?select=%s(*)", "users", "userz"}, {"film?select=%s(*)", "owner", "ownex"},
		{"film?select=id,x:%s(id)", "wine", "wina"}, {"film?%s.id=eq.1", "wine", "wina"}, {"film?select=id::%s", "grape", "grapx"},
		{"film?select=film!%s(id)", "wine", "wina"}, {"film?select=*&order=%s(id)", "wine", "wina"},
	}
	headers := []string{"X-Nobody: 1", s.As(t, "authenticated", `"sub":"`+ann+`"`)}
	for _, profile := range []string{"auth", "storage", "basalt", "pg_catalog", "information_schema", "cellar", "absent"} {
		for _, header := range headers {
			answer := s.Do(t, "GET", "/rest/v1/users", "", header, "Accept-Profile: "+profile)
			if want := `"Invalid schema: ` + profile + `"`; answer.Status != 406 || !strings.Contains(answer.Body, want) || !strings.Contains(answer.Body, "exposed: public") {
				t.Errorf("%s: %d %s", profile, answer.Status, answer.Body)
			}
		}
	}
	for _, header := range headers {
		for _, h := range hidden {
			for _, method := range []string{"GET", "POST", "DELETE"} {
				if strings.Contains(h[0], "?") && method != "GET" {
					continue
				}
				got := s.Do(t, method, "/rest/v1/"+fmt.Sprintf(h[0], h[1]), "{}", header)
				want := s.Do(t, method, "/rest/v1/"+fmt.Sprintf(h[0], h[2]), "{}", header)
				if same := strings.ReplaceAll(want.Body, h[2], h[1]); got.Status != want.Status || got.Body != same || got.Status < 400 {
					t.Errorf("%s "+h[0]+": %d %s\nand not %d %s", method, h[1], got.Status, got.Body, want.Status, same)
				}
			}
		}
	}
}
