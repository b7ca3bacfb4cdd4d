package migrations_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"basalt/migrations"
	"basalt/store/storetest"
)

const sample = "../testdata/supabase"

// folder writes files, name and text by turns, to a new folder.
func folder(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		write(t, dir, files[i], files[i+1])
	}
	return dir
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func userUp(t *testing.T, conn *pgx.Conn, dir string) []string {
	t.Helper()
	done, err := migrations.UserUp(t.Context(), conn, dir, migrations.UserOptions{})
	if err != nil {
		var refused *migrations.StatementError
		if errors.As(err, &refused) {
			t.Fatal(refused.Explain())
		}
		t.Fatal(err)
	}
	return done
}

func states(t *testing.T, conn *pgx.Conn, dir string) string {
	t.Helper()
	all, err := migrations.UserStatus(t.Context(), conn, dir)
	if err != nil {
		t.Fatal(err)
	}
	var parts []string
	for _, file := range all {
		parts = append(parts, file.Version+" "+string(file.State))
	}
	return strings.Join(parts, ", ")
}

func TestASupabaseMigrationsFolderWorksUnchanged(t *testing.T) {
	db := storetest.New(t)
	conn := connect(t, db.URL)
	var events []string
	done, err := migrations.UserUp(t.Context(), conn, sample+"/migrations", migrations.UserOptions{
		Progress: func(e migrations.Event) {
			events = append(events, fmt.Sprintf("%s %s", e.Stage, strings.Split(e.File, "_")[0]))
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(done) != 4 || events[0] != "started 20240101000000" || events[len(events)-1] != "done 20240301080000" {
		t.Fatalf("done %q, events %q", done, events)
	}
	if !slices.Contains(events, "skipped 20240101000000") {
		t.Errorf("no skipped extension among %q", events)
	}
	if again := userUp(t, conn, sample+"/migrations"); len(again) != 0 {
		t.Errorf("a second run applied %q", again)
	}
	// The file pulled from a dump empties the search path of its session.
	if path := one[string](t, conn, `show search_path`); path != `"$user", public` {
		t.Errorf("the session is left with search_path %s", path)
	}
	run(t, conn, `insert into auth.users (id, email, raw_user_meta_data)
		values ('5b1f8f0e-3c1a-4d6b-9a57-0d9f6a1c0009', 'eve@example.com', '{"username": "evelyn"}')`)
	if name := one[string](t, conn, `select username from public.profiles`); name != "evelyn" {
		t.Errorf("the trigger on auth.users made %q", name)
	}
	if n := one[int](t, conn, `select count(*)::int from pg_index i join pg_class c on c.oid = i.indexrelid
		where c.relname in ('messages_author_idx', 'messages Body_idx') and i.indisvalid`); n != 2 {
		t.Errorf("%d of 2 concurrent indexes are there", n)
	}
	if tables := one[string](t, conn, `select string_agg(tablename, ',' order by tablename)
		from pg_publication_tables where pubname = 'supabase_realtime'`); tables != "boards,messages" {
		t.Errorf("published: %s", tables)
	}
	if n := one[int](t, conn, `select cardinality(statements) from supabase_migrations.schema_migrations
		where version = '20240115093000'`); n != 7 {
		t.Errorf("%d statements recorded", n)
	}
}

func TestWhatSupabaseAppliedIsNotAppliedAgain(t *testing.T) {
	conn := connect(t, storetest.New(t).URL)
	run(t, conn, `insert into supabase_migrations.schema_migrations (version, name) values ('1', 'first'), ('0', 'gone')`)
	dir := folder(t, "1_first.sql", "this is no SQL", "2_second.sql", "create table public.second (id int);")
	if got := states(t, conn, dir); got != "0 absent, 1 applied, 2 pending" {
		t.Errorf("before: %s", got)
	}
	if done := userUp(t, conn, dir); !slices.Equal(done, []string{"2_second.sql"}) {
		t.Errorf("applied %q", done)
	}
	if got := states(t, conn, dir); got != "0 absent, 1 applied, 2 applied" {
		t.Errorf("after: %s", got)
	}
}

func TestAFailingStatementIsNamedWithItsPlace(t *testing.T) {
	const good = "create table public.good (id int primary key);\n"
	cases := []struct {
		name, text   string
		line, column int
		code         string
		want         []string // parts of the explanation
	}{
		{
			"where PostgreSQL points at", good + "\n-- é\nselect 'é',\n       nowhere\nfrom public.good;\n", 5, 8, "42703",
			[]string{`column "nowhere" does not exist`, "| select 'é',"},
		},
		{
			"where the statement begins when it points nowhere", good + "insert into public.good\nvalues (1), (1);", 2, 1, "23505",
			[]string{"detail: Key (id)=(1) already exists."},
		},
		{
			"a syntax error", good + "creat table x ();", 2, 1, "42601", []string{"syntax error"},
		},
		{
			"a hint of PostgreSQL", good + "\n\nselect idd from public.good;", 4, 8, "42703", []string{"hint: Perhaps you meant"},
		},
		{
			"inside a function", good + "do $$\nbegin\n  raise exception 'stop' using hint = 'turn round';\nend $$;", 2, 1, "P0001",
			[]string{"stop", "hint: turn round", "where: PL/pgSQL function inline_code_block line 3 at RAISE"},
		},
		{
			"what has to run outside of a transaction", good + "create index concurrently on public.good (id);", 2, 1, "25001",
			[]string{"advice: write '-- basalt: no-transaction' in the first line"},
		},
		{
			"a value of an enum too early", "alter type auth.aal_level add value 'aal4';\nselect 'aal4'::auth.aal_level;", 2, 8, "55P04",
			[]string{"advice: add the value in a migration of its own"},
		},
		{
			"a row of inline data", good + "copy public.good from stdin;\n1\nx\n\\.\n", 2, 1, "22P02",
			[]string{"COPY good, line 2"},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			conn := connect(t, storetest.New(t).URL)
			dir := folder(t, "1_ok.sql", "create table public.before (id int);", "2_bad.sql", c.text, "3_never.sql", "create table public.never ();")
			done, err := migrations.UserUp(t.Context(), conn, dir, migrations.UserOptions{})
			var refused *migrations.StatementError
			if !errors.As(err, &refused) {
				t.Fatalf("got %v", err)
			}
			if refused.File != "2_bad.sql" || refused.Line != c.line || refused.Column != c.column || refused.Refusal.Code != c.code {
				t.Errorf("got %s", err)
			}
			for _, part := range c.want {
				if !strings.Contains(refused.Explain(), part) {
					t.Errorf("%q is not in\n%s", part, refused.Explain())
				}
			}
			if !slices.Equal(done, []string{"1_ok.sql"}) {
				t.Errorf("done %q", done)
			}
			if one[bool](t, conn, `select to_regclass('public.good') is not null or to_regclass('public.never') is not null`) {
				t.Error("the failed file left something behind")
			}
			if got := states(t, conn, dir); got != "1 applied, 2 pending, 3 pending" {
				t.Error(got)
			}
		})
	}
}

func TestWhatIsWrongWithAFileIsSaidBeforeAnythingRuns(t *testing.T) {
	db := storetest.New(t)
	for _, c := range []struct{ name, text, want string }{
		{"an open string", "select 1;\nselect 'a;", "2_bad.sql:2:8: a string is never closed"},
		{"a rollback", "create table a ();\nrollback;", "2_bad.sql:2:1: a migration cannot roll itself back"},
		{"a command of psql", "\\connect other\n", `2_bad.sql:1:1: \connect is a command of psql`},
		{"an open transaction", "-- basalt: no-transaction\nselect 1;\nbegin;\nselect 2;", "2_bad.sql:3:1: this transaction is never committed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := connect(t, db.URL)
			_, err := migrations.UserUp(t.Context(), conn, folder(t, "1_ok.sql", "create table public.ok ();", "2_bad.sql", c.text), migrations.UserOptions{})
			var script *migrations.ScriptError
			if !errors.As(err, &script) || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got %v", err)
			}
			if one[bool](t, conn, `select to_regclass('public.ok') is not null`) {
				t.Error("an earlier file ran")
			}
		})
	}
	conn := connect(t, db.URL)
	if _, err := migrations.UserUp(t.Context(), conn, folder(t, "1_a.sql", "", "1_b.sql", ""), migrations.UserOptions{}); err == nil ||
		!strings.Contains(err.Error(), "1_a.sql and 1_b.sql have the same version") {
		t.Errorf("two files of one version: %v", err)
	}
	if _, err := migrations.UserUp(t.Context(), conn, "/nonexistent", migrations.UserOptions{}); err == nil || !strings.Contains(err.Error(), "basalt migrate new") {
		t.Errorf("no folder: %v", err)
	}
}

func TestAnAppliedFileThatChangedIsRefusedButLineEndsMayDiffer(t *testing.T) {
	conn := connect(t, storetest.New(t).URL)
	dir := folder(t, "1_a.sql", "select 1;\nselect 2;\n", "2_b.sql", "select 3;")
	userUp(t, conn, dir)
	write(t, dir, "1_a.sql", "\ufeffselect 1;\r\nselect 2;\r\n")
	write(t, dir, "3_c.sql", "create table public.c ();")
	if done := userUp(t, conn, dir); len(done) != 1 {
		t.Errorf("done %q", done)
	}
	write(t, dir, "2_b.sql", "select 4;")
	write(t, dir, "4_d.sql", "create table public.d ();")
	_, err := migrations.UserUp(t.Context(), conn, dir, migrations.UserOptions{})
	var changed *migrations.ChangedError
	if !errors.As(err, &changed) || changed.File != "2_b.sql" {
		t.Errorf("got %v", err)
	}
	if got := states(t, conn, dir); got != "1 applied, 2 changed, 3 applied, 4 pending" {
		t.Error(got)
	}
}

func TestTwoRunsAtOnceApplyEachFileOnce(t *testing.T) {
	db := storetest.New(t)
	dir := folder(t, "1_a.sql", "create table public.a ();", "2_b.sql",
		"-- basalt: no-transaction\ncreate index concurrently on auth.users (created_at);", "3_c.sql", "create table public.c ();")
	var wg sync.WaitGroup
	var mu sync.Mutex
	var all []string
	for range 4 {
		wg.Go(func() {
			conn, err := pgx.Connect(t.Context(), db.URL)
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close(context.Background())
			done, err := migrations.UserUp(t.Context(), conn, dir, migrations.UserOptions{})
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, done...)
		})
	}
	wg.Wait()
	if slices.Sort(all); !slices.Equal(all, []string{"1_a.sql", "2_b.sql", "3_c.sql"}) {
		t.Errorf("applied %q", all)
	}
}

func TestAFileMaySetRoleAndPathWithoutHarmToTheNext(t *testing.T) {
	conn := connect(t, storetest.New(t).URL)
	dir := folder(t,
		"1_a.sql", "set role anon; set search_path = ''; set statement_timeout = '1min';",
		"2_b.sql", "create table b (id uuid default uuid_generate_v4(), who text default current_user); insert into b default values;",
		"3_c.sql", "-- basalt: no-transaction\nset session authorization anon;\nset search_path = '';\nselect 1;",
		"4_d.sql", "create table d ();")
	userUp(t, conn, dir)
	if who := one[string](t, conn, `select who from public.b`); who != "postgres" {
		t.Errorf("the second file ran as %s", who)
	}
}

func TestNewFilesSortAfterAllOthers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "migrations")
	first, err := migrations.UserNew(dir, "Add Cities & countries")
	if err != nil || !strings.HasSuffix(first, "_add_cities_countries.sql") {
		t.Fatalf("%s, %v", first, err)
	}
	second, err := migrations.UserNew(dir, "../../etc/passwd")
	if err != nil || filepath.Dir(second) != dir || filepath.Base(second) <= filepath.Base(first) {
		t.Fatalf("%s after %s, %v", second, first, err)
	}
	if _, err := time.Parse("20060102150405", strings.Split(filepath.Base(second), "_")[0]); err != nil {
		t.Error(err)
	}
	if _, err := migrations.UserNew(dir, " ;"); err == nil {
		t.Error("a name without letters was taken")
	}
}
