package admin_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

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
create table public.parts (id int, parent_id int references public.parent) partition by range (id);`, nil)
	hire(t, s, "v@example.com", administrator.Viewer)
	b := enter(t, s, "v@example.com")
	var body admin.IndexesBody
	b.want(t, http.StatusOK, "", "GET", "/performance/indexes", "").JSON(t, &body)
	var covered []string
	for _, d := range body.Duplicate {
		covered = append(covered, fmt.Sprint(d.Name, " ", d.CoveredBy, " ", d.Same))
	}
	if got := strings.Join(covered, ", "); got != "child_a child_a_b false, child_b_2 child_b_1 true" {
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
	if len(tables.Tables) != 3 {
		t.Errorf("%+v", tables)
	}
	b.want(t, http.StatusConflict, "no_hypopg", "POST", "/performance/hypothetical", `{"schema":"public","table":"parent","columns":["name"]}`)
	b.want(t, http.StatusBadRequest, "bad_index", "POST", "/performance/hypothetical", `{"schema":"public","table":"parent","columns":[]}`)
}

func TestAHypotheticalIndexTellsItsGain(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, `
create table public.big (id int, "the name" text);
insert into public.big select i, 'name ' || i from generate_series(1, 20000) i;
analyze public.big;`, nil)
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
		b.want(t, http.StatusOK, `"state":"ready"`, "GET", "/performance/statements?order="+order, "").JSON(t, &body)
		if len(body.Statements) == 0 || body.TotalMS <= 0 || body.Since == nil {
			t.Errorf("by %s: %+v", order, body)
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
