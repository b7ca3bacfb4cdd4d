package bench_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"basalt/api/apitest"
	"basalt/api/bench"
)

// quiet is told of progress and of nothing else.
type quiet struct{ begun func(section string) }

func (q quiet) Begin(section string, _, _ int) {
	if q.begun != nil {
		q.begun(section)
	}
}

func (quiet) Step(string) {}

func options(begun func(string)) bench.Options {
	return bench.Options{Only: []string{"micro"}, Pace: 0.05, Rounds: 1, Progress: quiet{begun}}
}

func given(s *apitest.Server, databaseURL string) *bench.Target {
	return &bench.Target{URL: s.URL, AnonKey: s.Keys.AnonKey, ServiceKey: s.Keys.ServiceKey.Reveal(), DatabaseURL: databaseURL}
}

// finish takes away what a run has made.
func finish(t *testing.T, target *bench.Target) {
	t.Helper()
	if err := target.Close(); err != nil {
		t.Errorf("take away what was made: %v", err)
	}
}

func TestSomebodysTablesAreNeitherEmptiedNorDropped(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what, sql string
		database  bool // the run knows the database
		says      string
	}{
		{"all are somebody's", `create table bench_item (id int); create table bench_part (id int); create table bench_entry (id int)`, true, `"bench_item" already exists`},
		{"one is somebody's", `create table bench_entry (id int)`, true, `"bench_entry" already exists`},
		{"the function is somebody's", `create function bench_rows(n int) returns int language sql as 'select n'; create table bench_entry (id int)`, true, "already exists"},
		{"all are somebody's and the database is not known", `create table bench_item (id int); create table bench_part (id int); create table bench_entry (id int)`, false, "are not there"},
		{"one was made anew by somebody", bench.Schema + `drop table bench_entry; create table bench_entry (id int)`, true, "public.bench_entry was not made by the benchmark"},
		{"one was made anew by somebody and the database is not known", bench.Schema + `drop table bench_entry; create table bench_entry (id int)`, false, "public.bench_entry was not made by the benchmark"},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			s := apitest.Start(t, c.sql+`; insert into bench_entry (id) values (7); grant all on bench_entry to service_role`, nil)
			target := given(s, "")
			if c.database {
				target.DatabaseURL = s.Database.URL
			}
			_, err := bench.Run(t.Context(), target, options(nil))
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("the run says %v and not %q", err, c.says)
			}
			finish(t, target)
			var id int
			if err := s.Database.Pool.QueryRow(t.Context(), `select id from public.bench_entry`).Scan(&id); err != nil || id != 7 {
				t.Errorf("the row is %d, %v", id, err)
			}
			// Nor by the command that prints the SQL.
			s.Database.Exec(t, bench.DropSchema)
			if err := s.Database.Pool.QueryRow(t.Context(), `select id from public.bench_entry`).Scan(&id); err != nil || id != 7 {
				t.Errorf("after the printed SQL the row is %d, %v", id, err)
			}
		})
	}
}

func TestASecondRunOnADatabaseIsRefusedAndTakesNothingFromTheFirst(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, "", nil)
	first := given(s, s.Database.URL)
	tried := false
	_, err := bench.Run(t.Context(), first, options(func(section string) {
		if section != "micro" {
			return
		}
		tried = true
		second := given(s, s.Database.URL)
		if _, err := bench.Run(t.Context(), second, options(nil)); err == nil || !strings.Contains(err.Error(), "another benchmark") {
			t.Errorf("the second run says %v", err)
		}
		finish(t, second)
		var rows int
		if err := s.Database.Pool.QueryRow(t.Context(), `select count(*) from public.bench_item`).Scan(&rows); err != nil || rows != 20_000 {
			t.Errorf("the first run has %d rows left, %v", rows, err)
		}
	}))
	if err != nil || !tried {
		t.Fatalf("%v, tried: %v", err, tried)
	}
	finish(t, first)
	var left int
	err = s.Database.Pool.QueryRow(t.Context(), `
		select (select count(*) from pg_class where relname like 'bench\_%') + (select count(*) from pg_proc where proname like 'bench\_%')
		  + (select count(*) from auth.users)`).Scan(&left)
	if err != nil || left != 0 {
		t.Errorf("%d things are left, %v", left, err)
	}
}

func TestAnInterruptTakesTheTablesAwayFromTheDatabaseOfAnotherServer(t *testing.T) {
	t.Parallel()
	s, other := apitest.Start(t, "", nil), apitest.Start(t, "", nil)
	target := given(s, other.Database.URL)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := bench.Run(ctx, target, options(nil))
		ended <- err
	}()
	conn, err := pgx.Connect(ctx, other.Database.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	apitest.Until(t, "the tables are made", func() bool {
		var made bool
		return conn.QueryRow(ctx, `select to_regclass('public.bench_item') is not null`).Scan(&made) == nil && made
	})
	cancel()
	if err := <-ended; err == nil {
		t.Error("a run without its tables succeeds")
	}
	finish(t, target)
	var left bool
	if err := conn.QueryRow(t.Context(), `select to_regclass('public.bench_item') is not null`).Scan(&left); err != nil || left {
		t.Errorf("the tables are left: %v, %v", left, err)
	}
}

func TestAServerThatIsNoBasaltGetsNoKeyAndIsRefused(t *testing.T) {
	t.Parallel()
	const anonKey, serviceKey = "the-anon-key", "the-service-key"
	var followed atomic.Bool
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Store(true) }))
	defer elsewhere.Close()
	for _, c := range []struct {
		what   string
		answer http.HandlerFunc
		says   string
	}{
		{"redirects", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL+r.URL.Path, http.StatusTemporaryRedirect)
		}, "status 307"},
		{"answers with a page", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }, "invalid character"},
		{"is the rival", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"name":"GoTrue","version":"v2"}`))
		}, `names "GoTrue"`},
		{"does not know the path", http.NotFound, "status 404"},
		{"closes", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF"},
	} {
		t.Run(c.what, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				for name, values := range r.Header {
					if strings.Contains(strings.Join(values, " "), serviceKey) {
						t.Errorf("%s bears the service key", name)
					}
				}
				c.answer(w, r)
			}))
			defer server.Close()
			target := &bench.Target{URL: server.URL, AnonKey: anonKey, ServiceKey: serviceKey}
			_, err := bench.Run(t.Context(), target, options(nil))
			if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), serviceKey) {
				t.Errorf("the run says %v and not %q", err, c.says)
			}
			finish(t, target)
		})
	}
	if followed.Load() {
		t.Error("a redirect was followed")
	}
}

func TestWhatIsElsewhereIsKnownInItsDisguises(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ url, database, elsewhere string }{
		{"http://127.0.0.1:8090", "", ""},
		{"http://127.8.9.10:8090", "", ""},
		{"http://localhost", "", ""},
		{"http://[::1]:8090", "", ""},
		{"http://[::ffff:127.0.0.1]:8090", "", ""},
		{"http://127.1:8090", "", "the server"},
		{"http://2130706433", "", "the server"},
		{"http://0.0.0.0:8090", "", "the server"},
		{"http://localhost.example.com", "", "the server"},
		{"http://127.0.0.1.example.com", "", "the server"},
		{"http://127.0.0.1@example.com", "", "the server"},
		{"http://[::ffff:192.0.2.1]", "", "the server"},
		{"http://127.0.0.1", "postgres://u:p@127.0.0.1/x", ""},
		{"http://127.0.0.1", "postgres:///x?host=/run/postgresql", ""},
		{"http://127.0.0.1", "postgres://db.example.com/x", "its database"},
		{"http://127.0.0.1", "host=127.0.0.1,db.example.com", "its database"},
	} {
		target := &bench.Target{URL: c.url, DatabaseURL: c.database}
		if elsewhere := target.Elsewhere(); elsewhere != c.elsewhere {
			t.Errorf("%s with %s: %q instead of %q", c.url, c.database, elsewhere, c.elsewhere)
		}
	}
}
