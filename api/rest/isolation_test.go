package rest_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"basalt/api"
	"basalt/api/apitest"
)

// Whatever the policies, nobody is shown or changes a row more or less through HTTP than in SQL as that role. All
// share one connection, with its prepared statements.
func TestPoliciesHoldForRandomRequests(t *testing.T) {
	t.Parallel()
	worlds, requests := 8, 250
	if testing.Short() {
		worlds, requests = 2, 60
	}
	for seed := range worlds {
		t.Run(fmt.Sprintf("world %d", seed), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, uint64(seed))
			conn, err := pgx.Connect(t.Context(), w.server.Database.URL)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close(context.WithoutCancel(t.Context()))
			rows, refusals, changes := 0, 0, 0
			for i := range requests {
				who, r := pick(w.random, w.people...), w.next()
				want := w.inSQL(t, conn, who, r)
				before := ""
				if r.writes {
					before = w.state(t, w.server.Database.Pool)
				}
				got, answer := w.overHTTP(t, who, r)
				if want.code != "" {
					refusals++
				}
				if want.state != "" && want.state != before {
					changes++
				}
				if list, ok := want.rows.([]any); ok {
					rows += len(list)
				}
				if got.code != "" && r.writes && w.state(t, w.server.Database.Pool) != before {
					t.Fatalf("request %d is refused and changes rows\n%s %s %s", i, r.method, r.path, r.body)
				}
				if !reflect.DeepEqual(got, want) {
					t.Fatalf("request %d of %s %s\n%s %s %v %s\n%s\ngot  %d %s %s\n%+v\nwant %+v", i, who.role, who.claims, r.method, r.path, r.headers, r.body, r.sql,
						answer.Status, answer.Header.Get("Content-Range"), answer.Body, got, want)
				}
			}
			if rows == 0 || refusals == requests || refusals == 0 || changes == 0 {
				t.Errorf("these policies show nothing: %d rows, %d refusals, %d changes", rows, refusals, changes)
			}
		})
	}
}

// Two users take turns on one connection with the same statements, whose plans depend on the role and the claims.
func TestUsersWhoTakeTurnsOnOneConnectionSeeTheirOwn(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, `
create table note (id int primary key, owner uuid not null default auth.uid(), role text default auth.role(), secret text);
alter table note enable row level security;
create policy own on note to authenticated using (owner = auth.uid()) with check (owner = auth.uid());
create policy public_ones on note for select to anon using (secret = 'public');
create function mine() returns setof note language sql stable as 'select * from note';
create function my_id() returns uuid language sql stable as 'select auth.uid()';
insert into note (id, owner, role, secret) values (1, '`+ann+`', 'authenticated', 'of ann'), (2, '`+bob+`', 'authenticated', 'of bob'), (3, '`+bob+`', 'anon', 'public');`, onePooled)
	people := []struct{ header, uid, rows, count string }{
		{s.As(t, "authenticated", `"sub":"`+ann+`"`), quote(ann), `[{"id":1,"secret":"of ann"}]`, "0-0/1"},
		{s.As(t, "authenticated", `"sub":"`+bob+`"`), quote(bob), `[{"id":2,"secret":"of bob"},{"id":3,"secret":"public"}]`, "0-1/2"},
		{"X-Nobody: 1", "null", `[{"id":3,"secret":"public"}]`, "0-0/1"},
		{s.Service(), "null", `[{"id":1,"secret":"of ann"},{"id":2,"secret":"of bob"},{"id":3,"secret":"public"}]`, "0-2/3"},
	}
	random := rand.New(rand.NewPCG(5, 6))
	check := func(t *testing.T, i int) {
		t.Helper()
		p := people[i]
		if answer := s.Do(t, "GET", "/rest/v1/note?select=id,secret&order=id", "", p.header, "Prefer: count=exact"); compact(answer.Body) != compact(p.rows) || answer.Header.Get("Content-Range") != p.count {
			t.Fatalf("%d reads %s, %s", i, answer.Body, answer.Header.Get("Content-Range"))
		}
		if answer := s.Do(t, "GET", "/rest/v1/rpc/mine?select=id,secret&order=id", "", p.header); compact(answer.Body) != compact(p.rows) {
			t.Fatalf("%d calls %s", i, answer.Body)
		}
		if answer := s.Do(t, "POST", "/rest/v1/rpc/my_id", "", p.header); answer.Body != p.uid {
			t.Fatalf("%d is %s", i, answer.Body)
		}
	}
	for range 100 {
		check(t, random.IntN(len(people)))
		if random.IntN(4) == 0 { // an error in between
			s.Do(t, "POST", "/rest/v1/note", `{"id":1}`, people[random.IntN(2)].header)
		}
	}
	var group sync.WaitGroup
	for i := range people {
		group.Go(func() {
			for range 25 {
				check(t, i)
			}
		})
	}
	group.Wait()
}

// Whatever somebody asks, nothing that comes back, in bodies, headers or errors, holds a word of another's rows.
func TestNoAnswerHoldsASecretOfAnother(t *testing.T) {
	t.Parallel()
	requests := 600
	if testing.Short() {
		requests = 60
	}
	const secret = "canary-4f1c"
	random := rand.New(rand.NewPCG(7, 8))
	s := apitest.Start(t, table("t0", "")+table("t1", "t0")+`
alter table t0 enable row level security;
alter table t1 enable row level security;
create policy own on t0 using (owner = auth.uid()) with check (owner = auth.uid());
create policy own on t1 using (owner = auth.uid()) with check (owner = auth.uid());
create unique index on t0 (s);
`+since15(`create view shown with (security_invoker = true) as select * from t0`)+`
insert into t0 (id, owner, n, s, flag, tags, j) select g, '`+bob+`', g, '`+secret+`' || g, true, array['`+secret+`'], jsonb_build_object('k', '`+secret+`') from generate_series(1, 20) g;
insert into t1 (id, owner, n, s, ref) select g, '`+bob+`', g, '`+secret+`', g from generate_series(1, 20) g;
insert into t0 (id, owner, n, s) select g, '`+ann+`', g, 'a' || g from generate_series(101, 110) g;
`+open, func(s *api.Settings) { s.RestAggregates = true })
	headers := []string{s.As(t, "authenticated", `"sub":"`+ann+`"`), "X-Nobody: 1"}
	for i := range requests {
		c := randomCondition(random, 2).parameter()
		method, path, body := "GET", "t0?"+c, ""
		switch random.IntN(12) {
		case 0:
			path = "t1?select=*,t0(*)&" + c
		case 1:
			path = "t0?select=*,t1!inner(*)&" + c
		case 2:
			path = "t0?select=s.max(),n.sum(),count()&" + c
		case 3:
			path = "shown?order=s.desc&" + c
		case 4:
			method, path, body = "POST", "t0?on_conflict=s", fmt.Sprintf(`{"id":%d,"s":"a%d"}`, random.IntN(30), random.IntN(30))
		case 5:
			method, path, body = "POST", "t0", fmt.Sprintf(`{"id":%d,"n":1}`, random.IntN(30))
		case 6:
			method, path, body = "PATCH", "t0?"+c, fmt.Sprintf(`{"id":%d}`, random.IntN(30))
		case 7:
			method, path = "DELETE", "t0?"+c
		case 8:
			path = "t0?select=id,x:s::int&" + c
		case 9:
			path = "t0?n=eq.x&" + c
		case 10:
			method, path, body = "POST", "t1", fmt.Sprintf(`{"id":%d,"ref":%d}`, 1000+i, random.IntN(30))
		}
		prefer := "Prefer: " + pick(random, "return=representation", "count=exact", "count=estimated", "return=headers-only", "resolution=merge-duplicates, return=representation", "resolution=ignore-duplicates")
		sent := []string{pick(random, headers...), prefer, "Accept: " + pick(random, "application/json", "text/csv", "application/vnd.pgrst.object+json", "application/x-ndjson")}
		var answer *apitest.Answer
		if random.IntN(3) == 0 {
			answer = inBatch(t, s, method, path, body, sent, readAround(random, []string{"t0", "t1"}), readAround(random, []string{"t0", "t1"}))
		} else {
			answer = s.Do(t, method, "/rest/v1/"+path, body, sent...)
		}
		if strings.Contains(answer.Body, secret) || strings.Contains(fmt.Sprint(answer.Header), secret) {
			t.Fatalf("request %d: %s %s %s %s: %d %v %s", i, method, path, prefer, body, answer.Status, answer.Header, answer.Body)
		}
		if answer.Status >= 500 {
			t.Fatalf("request %d: %s %s %s %s: %d %s", i, method, path, prefer, body, answer.Status, answer.Body)
		}
	}
	var left int
	if err := s.Database.Pool.QueryRow(t.Context(), `select count(*) from t0 where s like '`+secret+`%' and id <= 20 and owner = '`+bob+`'`).Scan(&left); err != nil || left != 20 {
		t.Errorf("%d of the other's rows are left: %v", left, err)
	}
	if strings.Contains(s.Log.String(), secret) {
		t.Error("the log holds the other's secret")
	}
}

func TestWritingUnderPolicies(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, `
create table letter_box (id int primary key, v text);
alter table letter_box enable row level security;
create policy throw_in on letter_box for insert to anon with check (true);
create table own (id int primary key, owner uuid not null default auth.uid(), v text);
alter table own enable row level security;
create policy own on own to authenticated using (owner = auth.uid()) with check (owner = auth.uid());`+open, nil)
	a, b := s.As(t, "authenticated", `"sub":"`+ann+`"`), s.As(t, "authenticated", `"sub":"`+bob+`"`)
	run(t, s, []exchange{
		{name: "what one may not read", method: "POST", path: "letter_box", headers: []string{"Prefer: return=minimal"}, body: `{"id":1}`, status: 201},
		{name: "and wants to see", method: "POST", path: "letter_box", headers: []string{give}, body: `{"id":2}`, status: 401, has: []string{"42501"}},
		{name: "and wants to know the key of", method: "POST", path: "letter_box", headers: []string{"Prefer: return=headers-only"}, body: `{"id":3}`, status: 401, has: []string{"42501"}},
		{name: "is there once", path: "letter_box?select=id", headers: []string{s.Service()}, status: 200, want: `[{"id":1}]`},
		{name: "one's own row", method: "POST", path: "own?select=id", headers: []string{a, give}, body: `{"id":1}`, status: 201, want: `[{"id":1}]`},
		{name: "another's own row", method: "POST", path: "own", headers: []string{b}, body: `{"id":2}`, status: 201},
		{name: "a key that another has taken", method: "POST", path: "own", headers: []string{a}, body: `{"id":2}`, status: 409, want: anything, has: []string{`"23505"`, `"details":null`}},
		{name: "another's row by an upsert", method: "POST", path: "own", headers: []string{a, "Prefer: resolution=merge-duplicates"}, body: `{"id":2,"v":"x"}`, status: 403, has: []string{"42501"}},
		{name: "another's row by PUT", method: "PUT", path: "own?id=eq.2", headers: []string{a}, body: `{"id":2,"v":"x"}`, status: 403, has: []string{"42501"}},
		{name: "a count of one's own", path: "own?select=id", headers: []string{a, "Prefer: count=exact"}, status: 200, want: `[{"id":1}]`, header: []string{"Content-Range: 0-0/1"}},
		{name: "another's row is not changed", method: "PATCH", path: "own?id=eq.2&select=id", headers: []string{a, give}, body: `{"v":"x"}`, status: 200, want: `[]`},
		{name: "a row is not given away", method: "PATCH", path: "own?id=eq.1", headers: []string{a}, body: `{"owner":"` + bob + `"}`, status: 403, has: []string{"42501"}},
		{name: "only one's own rows are deleted", method: "DELETE", path: "own?id=gt.0&select=id", headers: []string{a, give}, status: 200, want: `[{"id":1}]`},
		{name: "another's stay", path: "own?select=id,v", headers: []string{b}, status: 200, want: `[{"id":2,"v":null}]`},
	})
}
