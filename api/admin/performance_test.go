package admin_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"basalt/api/admin"
	"basalt/api/apitest"
	"basalt/auth/administrator"
)

func TestFindingsAboutIndexes(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, `
create table public.parent (id int primary key, name text);
create table public."Child's" (id int primary key, parent_id int references public.parent, a int, b int);
create index child_a on public."Child's" (a);
create index child_a_b on public."Child's" (a, b);
create index child_b_1 on public."Child's" (b);
create index child_b_2 on public."Child's" (b);
create index child_partial on public."Child's" (parent_id) where parent_id > 3;
create table public.kept (id int primary key, parent_id int references public.parent);
create index on public.kept (parent_id);
create table public.parts (id int, parent_id int references public.parent) partition by range (id);
create table public.parts_1 partition of public.parts for values from (0) to (10);
create index parts_a on public.parts (id);
create index parts_b on public.parts (id);`, nil)
	hire(t, s, "v@example.com", administrator.Viewer)
	b := enter(t, s, "v@example.com")
	var body admin.IndexesBody
	b.want(t, http.StatusOK, "", "GET", "/performance/indexes", "").JSON(t, &body)
	var available bool
	if err := s.Database.Pool.QueryRow(t.Context(), `select exists (select from pg_available_extensions where name = 'hypopg')`).Scan(&available); err != nil {
		t.Fatal(err)
	}
	if body.Hypothetical || body.HypotheticalAvailable != available {
		t.Errorf("hypopg is created: %v, available: %v, which is %v", body.Hypothetical, body.HypotheticalAvailable, available)
	}
	var covered []string
	for _, d := range body.Duplicate {
		covered = append(covered, fmt.Sprint(d.Name, " ", d.CoveredBy, " ", d.Same))
		if d.Name == "parts_b" && d.SQL != "drop index public.parts_b;" {
			t.Errorf("of a partitioned table: %s", d.SQL)
		}
	}
	if got := strings.Join(covered, ", "); got != "child_a child_a_b false, child_b_2 child_b_1 true, parts_b parts_a true" {
		t.Errorf("duplicates: %s", got)
	}
	if len(body.ForeignKeys) != 2 || body.ForeignKeys[0].SQL != `create index concurrently on public."Child's" (parent_id);` || body.ForeignKeys[0].RefTable != "parent" {
		t.Errorf("foreign keys: %+v", body.ForeignKeys)
	} else if sql := body.ForeignKeys[1].SQL; sql != "create index on public.parts (parent_id);" {
		t.Errorf("of a partitioned table: %s", sql)
	}
	if len(body.Unused) != 6 {
		t.Errorf("unused: %+v", body.Unused)
	}
	var tables admin.TablesBody
	b.want(t, http.StatusOK, "", "GET", "/performance/tables", "").JSON(t, &tables)
	if len(tables.Tables) != 4 {
		t.Errorf("%+v", tables)
	}
	b.want(t, http.StatusConflict, "no_hypopg", "POST", "/performance/hypothetical", `{"schema":"public","table":"parent","columns":["name"]}`)
	b.want(t, http.StatusBadRequest, "bad_index", "POST", "/performance/hypothetical", `{"schema":"public","table":"parent","columns":[]}`)
}

func TestTheStatementsAboutIndexesOfPartitionedTablesRun(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, `
create table parted (id int, k int) partition by range (id);
create table part partition of parted for values from (0) to (1000);
create index a on parted (k);
create index b on parted (k);`, nil)
	d := &dashboard{s, s.Administrator(t, administrator.Owner)}
	var body admin.IndexesBody
	d.call(t, "GET", "/performance/indexes", nil).JSON(t, &body)
	if len(body.Duplicate) != 1 || body.Duplicate[0].Name != "b" {
		t.Fatalf("%+v", body.Duplicate)
	}
	s.Database.Exec(t, body.Duplicate[0].SQL)
}

func TestAHypotheticalIndexTellsItsGain(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, `
create table public.big (id int, "the name" text);
insert into public.big select i, 'name ' || i from generate_series(1, 20000) i;
create table public."a ""quoted"" name" as table public.big;
analyze;`, nil)
	if _, err := s.Database.Pool.Exec(t.Context(), `create extension hypopg`); err != nil {
		t.Skip("this PostgreSQL has no hypopg")
	}
	hire(t, s, "v@example.com", administrator.Viewer)
	b := enter(t, s, "v@example.com")
	var gain admin.GainBody
	b.want(t, http.StatusOK, "", "POST", "/performance/hypothetical", `{"schema":"public","table":"big","columns":["the name"]}`).JSON(t, &gain)
	if !gain.Used || gain.After*10 > gain.Before || gain.Bytes == 0 || gain.SQL != `create index concurrently on "public"."big" ("the name");` {
		t.Errorf("%+v", gain)
	}
	b.want(t, http.StatusOK, "", "POST", "/performance/hypothetical", `{"schema":"public","table":"big","columns":["id","the name"]}`)
	b.want(t, http.StatusOK, `"used":true`, "POST", "/performance/hypothetical", `{"schema":"public","table":"a \"quoted\" name","columns":["id"]}`)
	b.want(t, http.StatusBadRequest, "42703", "POST", "/performance/hypothetical", `{"schema":"public","table":"big","columns":["no"]}`)
	b.want(t, http.StatusBadRequest, "42P01", "POST", "/performance/hypothetical", `{"schema":"public","table":"no\"; drop table big","columns":["id"]}`)
}

func TestStatementsAreCountedWhereTheExtensionIs(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, `create table public.thing (id int);`, nil)
	hire(t, s, "v@example.com", administrator.Viewer)
	b := enter(t, s, "v@example.com")
	b.want(t, http.StatusBadRequest, "order", "GET", "/performance/statements?order=name", "")
	b.want(t, http.StatusBadRequest, "limit", "GET", "/performance/statements?limit=101", "")
	var body admin.StatementsBody
	b.want(t, http.StatusOK, `"state":"not_`, "GET", "/performance/statements", "")
	if _, err := s.Database.Pool.Exec(t.Context(), `create schema "Odd schema"; create extension pg_stat_statements schema "Odd schema"`); err != nil {
		t.Skip("this PostgreSQL has no pg_stat_statements")
	}
	b.want(t, http.StatusOK, "", "GET", "/performance/statements", "").JSON(t, &body)
	if body.State == "not_loaded" {
		t.Skip("this PostgreSQL does not load pg_stat_statements")
	}
	for _, order := range []string{"total", "mean", "max", "calls"} {
		b.want(t, http.StatusOK, `"state":"ready"`, "GET", "/performance/statements?all=true&order="+order, "").JSON(t, &body)
		if len(body.Statements) == 0 || body.TotalMS <= 0 || body.Since == nil {
			t.Errorf("by %s: %+v", order, body)
		}
	}
}

func TestTheStatementsOfAppsAreShownAndTheServersOwnAreNot(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, `
create table public.basalt_rocks (id int primary key, basalt_hardness int);
grant all on public.basalt_rocks to anon, authenticated;`, administrator.Owner)
	if _, err := d.Database.Pool.Exec(t.Context(), `create extension pg_stat_statements`); err != nil {
		t.Skip("this PostgreSQL has no pg_stat_statements")
	}
	// The server at work.
	signedIn, _ := d.SignUp(t, "ada@example.com")
	d.Do(t, "PUT", "/auth/v1/user", `{"data":{"likes":"basalt"}}`, signedIn)
	d.Do(t, "POST", "/auth/v1/logout", "", signedIn)
	for _, route := range routes(t) {
		if route.Method == http.MethodGet && route.Path != "/logs/live" { // which does not end
			d.Do(t, "GET", at(route), "", d.headers...)
		}
	}
	d.call(t, "POST", "/ddl", `{"statements":["create table public.made (id int)"],"summary":"make a table"}`)
	d.call(t, "POST", "/policies/check", `{"statements":["create policy p on public.basalt_rocks using (true)"]}`)
	d.call(t, "POST", "/policies/test", `{"schema":"public","table":"basalt_rocks","role":"anon","verb":"select"}`)
	d.call(t, "POST", "/policies/test", `{"schema":"public","table":"basalt_rocks","role":"anon","verb":"update","set":{"basalt_hardness":"1"}}`)
	for _, by := range []*dashboard{d, {d.Server, d.Administrator(t, administrator.Viewer)}} {
		body := map[string]any{"id": uuid.NewString(), "sql": "select id as of_the_editor from public.basalt_rocks", "role": "anon", "explain": "plan"}
		if by == d {
			delete(body, "explain")
		}
		if answer := by.call(t, "POST", "/sql", body); answer.Status != http.StatusOK {
			t.Fatalf("%d %s", answer.Status, answer.Body)
		}
	}
	d.rows(t, http.StatusOK, "public/basalt_rocks", []admin.RowChange{{Op: "insert", Set: values("id", "7")}}, "X-View-As-Role: anon")
	d.call(t, "GET", "/ddl/impact?schema=public&table=basalt_rocks", nil)
	var counted admin.StatementsBody
	d.call(t, "GET", "/performance/statements?all=true", nil).JSON(t, &counted)
	for _, one := range counted.Statements[:min(len(counted.Statements), 10)] {
		d.call(t, "POST", "/performance/advice", admin.AdviceAskBody{Statement: one.ID})
	}
	// Apps, some with a connection of their own.
	conn, err := pgx.Connect(t.Context(), d.Database.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	work := func() {
		t.Helper()
		if answer := d.Do(t, "GET", "/rest/v1/basalt_rocks?select=id", ""); answer.Status != http.StatusOK {
			t.Fatalf("%d %s", answer.Status, answer.Body)
		}
		if answer := d.Do(t, "PUT", "/rest/v1/basalt_rocks?id=eq.1", `{"id":1,"basalt_hardness":6}`, "Content-Type: application/json"); answer.Status/100 != 2 {
			t.Fatalf("%d %s", answer.Status, answer.Body)
		}
		// pg_notify alone would be counted as one with that of triggers, by the text of which came first.
		for _, statement := range []string{
			`reset role`, `select pg_typeof(basalt_hardness) from public.basalt_rocks`, `select set_config('app.tenant', 'acme', false)`,
			`select pg_advisory_lock(42)`, `select pg_advisory_unlock(42)`, `select basalt_hardness from basalt_rocks where id = 7`,
			`update basalt_rocks set basalt_hardness = 5 where pg_typeof(id)::text = 'text'`, `select pg_notify('basalt_quarry', 'open'), 1`,
			`select 'basalt.administrators' as "from basalt of"`, `select pg_indexes_size('basalt_rocks')`,
			`select u.email from auth.users u join basalt_rocks on basalt_hardness = 4`, `update basalt_rocks set basalt_hardness = 3 where exists (select from auth.users)`,
			`set role authenticated`, `select reltuples from pg_class where relname = 'basalt_rocks'`,
		} {
			if _, err := conn.Exec(t.Context(), statement); err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
		}
	}
	wanted := []string{
		"select pg_typeof(", "select set_config($1, $2, $3)", "select pg_advisory_lock(", "select pg_advisory_unlock(", "select basalt_hardness from",
		"update basalt_rocks", "select pg_notify(", `as "from basalt of"`, "select pg_indexes_size(", "select reltuples from pg_class",
		"select u.email from auth.users u join basalt_rocks", "update basalt_rocks set basalt_hardness = $1 where exists",
		`from "public"."basalt_rocks"`, `insert into "public"."basalt_rocks"`,
	}
	var shown admin.StatementsBody
	if d.call(t, "GET", "/performance/statements", nil).JSON(t, &shown); shown.State == "not_loaded" {
		t.Skip("this PostgreSQL does not load pg_stat_statements")
	}
	// PostgreSQL counts so many statements of all databases, and forgets some to make room for others.
	apitest.Until(t, "all statements of apps are shown", func() bool {
		work()
		d.call(t, "GET", "/performance/statements?order=calls", nil).JSON(t, &shown)
		return !slices.ContainsFunc(wanted, func(part string) bool {
			return !slices.ContainsFunc(shown.Statements, func(s admin.StatementBody) bool { return strings.Contains(s.Query, part) })
		})
	})
	wanted = append(wanted, "of_the_editor", `"public"."basalt_rocks"`, "create extension", "create table public.made", "create policy p")
	for _, s := range shown.Statements {
		if !slices.ContainsFunc(wanted, func(part string) bool { return strings.Contains(s.Query, part) }) {
			t.Errorf("the server's own is shown to %s: %s", s.Role, s.Query)
		}
	}
}

// blocked begins two sessions of which the second waits for the first.
func blocked(t *testing.T, s *apitest.Server) (holder, waiter *pgx.Conn, waits chan error) {
	t.Helper()
	connect := func(name string) *pgx.Conn {
		conn, err := pgx.Connect(t.Context(), s.Database.URL)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close(context.WithoutCancel(t.Context())) })
		if _, err := conn.Exec(t.Context(), `select set_config('application_name', $1, false)`, name); err != nil {
			t.Fatal(err)
		}
		return conn
	}
	holder, waiter = connect("holder"), connect("waiter")
	if _, err := holder.Exec(t.Context(), `begin; lock table public.thing`); err != nil {
		t.Fatal(err)
	}
	waits = make(chan error, 1)
	go func() {
		_, err := waiter.Exec(t.Context(), `select * from public.thing`)
		waits <- err
	}()
	return holder, waiter, waits
}

// seen waits until the dashboard shows that one session waits for another.
func seen(t *testing.T, b *browser) (holder, waiter admin.SessionBody) {
	t.Helper()
	for until := time.Now().Add(20 * time.Second); time.Now().Before(until); {
		var body admin.ActivityBody
		b.want(t, http.StatusOK, "", "GET", "/performance/activity", "").JSON(t, &body)
		holder, waiter = admin.SessionBody{}, admin.SessionBody{}
		for _, session := range body.Sessions {
			switch session.ApplicationName {
			case "holder":
				holder = session
			case "waiter":
				waiter = session
			}
		}
		if len(waiter.BlockedBy) == 1 && waiter.BlockedBy[0] == holder.PID {
			return holder, waiter
		}
	}
	t.Fatalf("nobody is seen to wait: %+v %+v", holder, waiter)
	return
}

func TestWhoBlocksWhomIsSeenAndEnded(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, `create table public.thing (id int);`, nil)
	hire(t, s, "v@example.com", administrator.Viewer)
	hire(t, s, "e@example.com", administrator.Editor)
	hire(t, s, "o@example.com", administrator.Owner)
	viewer, editor, owner := enter(t, s, "v@example.com"), enter(t, s, "e@example.com"), enter(t, s, "o@example.com")
	_, _, waits := blocked(t, s)

	_, waiter := seen(t, viewer)
	if waiter.Query != "" || waiter.Lock != "AccessShareLock on thing" {
		t.Errorf("a viewer sees %+v", waiter)
	}
	holder, waiter := seen(t, editor)
	if waiter.Query != "select * from public.thing" || holder.State != "idle in transaction" || holder.TransactionMS <= 0 {
		t.Errorf("an editor sees %+v and %+v", waiter, holder)
	}
	body := fmt.Sprintf(`{"started":%q}`, waiter.Started)
	cancel := fmt.Sprintf("/performance/activity/%d/cancel", waiter.PID)
	viewer.want(t, http.StatusForbidden, "role_too_low", "POST", cancel, body)
	editor.want(t, http.StatusNotFound, "not_found", "POST", cancel, `{"started":"2001-01-01 00:00:00+00"}`)
	editor.want(t, http.StatusBadRequest, "bad_pid", "POST", "/performance/activity/x/cancel", body)
	editor.want(t, http.StatusNoContent, "", "POST", cancel, body)
	if err := <-waits; err == nil || !strings.Contains(err.Error(), "57014") {
		t.Errorf("the statement ended by %v", err)
	}
	terminate := fmt.Sprintf("/performance/activity/%d/terminate", holder.PID)
	editor.want(t, http.StatusNoContent, "", "POST", terminate, fmt.Sprintf(`{"started":%q}`, holder.Started))
	audit := owner.want(t, http.StatusOK, "session.terminate", "GET", "/audit", "")
	if !strings.Contains(audit.Body, "session.cancel") || !strings.Contains(audit.Body, `"application_name":"waiter"`) {
		t.Errorf("the audit log says %s", audit.Body)
	}
}
