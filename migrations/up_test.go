package migrations_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"basalt/migrations"
	"basalt/store/storetest"
)

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

func run(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	if err := conn.PgConn().Exec(t.Context(), sql).Close(); err != nil {
		t.Fatalf("run %q: %v", sql, err)
	}
}

func one[T any](t *testing.T, conn *pgx.Conn, sql string) T {
	t.Helper()
	var value T
	if err := conn.QueryRow(t.Context(), sql).Scan(&value); err != nil {
		t.Fatalf("ask %q: %v", sql, err)
	}
	return value
}

func up(t *testing.T, conn *pgx.Conn) migrations.Report {
	t.Helper()
	report, err := migrations.Up(t.Context(), conn, migrations.Options{})
	if err != nil {
		t.Fatalf("Up: %v", err)
	}
	return report
}

func TestASuperuserLacksNothingAndASecondRunDoesNothing(t *testing.T) {
	conn := connect(t, storetest.NewEmpty(t).URL)
	first := up(t, conn)
	if len(first.Applied) == 0 || len(first.Missing) != 0 {
		t.Fatalf("first run: %+v", first)
	}
	if second := up(t, conn); len(second.Applied) != 0 || len(second.Missing) != 0 {
		t.Fatalf("second run: %+v", second)
	}
}

func TestTenProcessesMayStartAtOnceOnEachOfTwoDatabases(t *testing.T) {
	t.Parallel()
	// A server of its own, so that the roles of the cluster are made here and raced for.
	server := storetest.NewServer(t)
	admin := connect(t, server)
	run(t, admin, `create database one`)
	run(t, admin, `create database two`)
	var wg sync.WaitGroup
	var mu sync.Mutex
	applied := map[string]int{}
	for i := range 20 {
		name := []string{"one", "two"}[i%2]
		wg.Go(func() {
			conn, err := pgx.Connect(t.Context(), onDatabase(t, server, name))
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close(context.Background())
			report, err := migrations.Up(t.Context(), conn, migrations.Options{})
			if err != nil || len(report.Missing) != 0 {
				t.Errorf("%v, missing %+v", err, report.Missing)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, file := range report.Applied {
				applied[name+" "+file]++
			}
		})
	}
	wg.Wait()
	for file, times := range applied {
		if times != 1 {
			t.Errorf("%s was applied %d times", file, times)
		}
	}
}

func TestAFileThatChangedAfterItWasAppliedIsRefused(t *testing.T) {
	conn := connect(t, storetest.New(t).URL)
	run(t, conn, `update basalt.migrations set checksum = 'other' where name like '0002%'`)
	_, err := migrations.Up(t.Context(), conn, migrations.Options{})
	var changed *migrations.ChangedError
	if !errors.As(err, &changed) || !strings.HasPrefix(changed.File, "0002") {
		t.Fatalf("got %v", err)
	}
}

func TestALockDiesWithItsSession(t *testing.T) {
	db := storetest.New(t)
	holder := connect(t, db.URL)
	run(t, holder, fmt.Sprintf(`select pg_advisory_lock(%d)`, migrations.SystemLock))
	waiting := connect(t, db.URL)
	done := make(chan error, 1)
	go func() {
		_, err := migrations.Up(t.Context(), waiting, migrations.Options{})
		done <- err
	}()
	select {
	case err := <-done:
		t.Fatalf("Up did not wait for the lock: %v", err)
	default:
	}
	pid := holder.PgConn().PID()
	if !one[bool](t, connect(t, db.URL), fmt.Sprintf(`select pg_terminate_backend(%d)`, pid)) {
		t.Fatal("the session could not be ended")
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// onDatabase and asUser change a server's URL.
func onDatabase(t *testing.T, server, name string) string {
	return changeURL(t, server, func(u *url.URL) { u.Path = "/" + name })
}

func asUser(t *testing.T, server, user, password string) string {
	return changeURL(t, server, func(u *url.URL) { u.User = url.UserPassword(user, password) })
}

func changeURL(t *testing.T, server string, change func(*url.URL)) string {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	change(u)
	return u.String()
}

// ordinary makes a user without the powers of a superuser who owns a new database,
// and returns connections of both to it.
func ordinary(t *testing.T, server, name, attributes string) (user, admin *pgx.Conn) {
	t.Helper()
	root := connect(t, server)
	run(t, root, fmt.Sprintf(`create role %s login password 'secret' %s`, name, attributes))
	run(t, root, fmt.Sprintf(`create database %s owner %s`, name, name))
	database := onDatabase(t, server, name)
	return connect(t, asUser(t, database, name, "secret")), connect(t, database)
}

func whats(missing []migrations.Missing) []string {
	var names []string
	for _, m := range missing {
		if m.Why == "" || m.SQL == "" {
			names = append(names, m.What+" (without a reason or SQL)")
			continue
		}
		names = append(names, m.What)
	}
	return names
}

func TestAPlainOwnerIsToldWhatASuperuserMustRun(t *testing.T) {
	t.Parallel()
	server := storetest.NewServer(t)
	user, admin := ordinary(t, server, "plain", "")
	first := up(t, user)
	if len(first.Applied) == 0 {
		t.Fatal("the schema was not applied")
	}
	if got := whats(first.Missing); !slices.Contains(got, "the API roles") {
		t.Fatalf("missing %q", got)
	}
	if !one[bool](t, user, `select to_regclass('auth.users') is not null`) {
		t.Fatal("auth.users was not made")
	}
	for _, m := range first.Missing {
		run(t, admin, m.SQL)
	}
	second := up(t, user)
	for _, m := range second.Missing {
		if !m.Optional {
			t.Errorf("still missing after the superuser helped: %+v", m)
		}
		run(t, admin, m.SQL)
	}
	if third := up(t, user); len(third.Missing) != 0 {
		t.Errorf("still missing at last: %+v", third.Missing)
	}
	checkRequests(t, user)

	var skipped []string
	_, err := migrations.UserUp(t.Context(), user, sample+"/migrations", migrations.UserOptions{Progress: func(e migrations.Event) {
		if e.Stage == migrations.Skipped {
			skipped = append(skipped, e.Note)
		}
	}})
	if err != nil {
		t.Errorf("the migrations of a Supabase project: %v", err)
	}
	const owner = `"alter table public.teams owner to postgres": the connecting user cannot act for postgres and remains the owner`
	if !slices.Contains(skipped, owner) {
		t.Errorf("skipped %q", skipped)
	}
}

func TestAUserWhoMayNotCreateSchemasIsToldWhatAnOwnerMustRun(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"authenticator", "Odd user"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := storetest.NewServer(t)
			root := connect(t, server)
			run(t, root, fmt.Sprintf(`create role %s login noinherit password 'secret'`, pgx.Identifier{name}.Sanitize()))
			run(t, root, `create database "The app"`)
			database := onDatabase(t, server, "The app")
			user, admin := connect(t, asUser(t, database, name, "secret")), connect(t, database)

			first := up(t, user)
			if got := whats(first.Missing); !slices.Equal(got, []string{"the connecting user may create schemas in this database"}) || len(first.Applied) != 0 {
				t.Fatalf("missing %q, applied %q", got, first.Applied)
			}
			run(t, admin, first.Missing[0].SQL)
			for range 2 {
				for _, m := range up(t, user).Missing {
					run(t, admin, m.SQL)
				}
			}
			if last := up(t, user); len(last.Missing) != 0 {
				t.Errorf("still missing at last: %+v", last.Missing)
			}
			run(t, admin, fmt.Sprintf(`grant create on schema public to %s`, pgx.Identifier{name}.Sanitize()))
			checkRequests(t, user)
		})
	}
}

func TestAnOwnerWithCreateroleLacksOnlyWhatASuperuserCanGive(t *testing.T) {
	t.Parallel()
	server := storetest.NewServer(t)
	user, admin := ordinary(t, server, "creator", "createrole")
	first := up(t, user)
	got := whats(first.Missing)
	want := []string{
		"service_role passes row level security",
		"what postgres makes in public is granted to the API roles",
		"event trigger basalt_ddl (without it a change of the schema is noticed by polling)",
		"event trigger basalt_drop (without it a change of the schema is noticed by polling)",
	}
	if !slices.Equal(got, want) {
		t.Fatalf("missing %q", got)
	}
	for _, m := range first.Missing {
		run(t, admin, m.SQL)
	}
	if second := up(t, user); len(second.Missing) != 0 {
		t.Errorf("still missing: %+v", second.Missing)
	}
	checkRequests(t, user)

	second, admin := ordinary(t, server, "second", "")
	missing := up(t, second).Missing
	if slices.Contains(whats(missing), "the API roles") {
		t.Fatalf("an owner of a second database misses %q", whats(missing))
	}
	for _, m := range missing {
		run(t, admin, m.SQL)
	}
	if again := up(t, second); len(again.Missing) != 0 {
		t.Errorf("still missing: %+v", again.Missing)
	}
	checkRequests(t, second)
}

// checkRequests does what a request does, as the connecting user.
func checkRequests(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	run(t, conn, `
		create table public.notes (id int primary key, owner uuid not null default auth.uid(), body text);
		alter table public.notes enable row level security;
		create policy own on public.notes to authenticated using (owner = (select auth.uid()));`)
	const me, other = "8b0a2f5e-52b6-4f8a-9c1e-6a4f0f8f0001", "8b0a2f5e-52b6-4f8a-9c1e-6a4f0f8f0002"
	as := func(role, sub, sql string) (int, error) {
		var count int
		err := pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
			_, err := tx.Exec(t.Context(), `select set_config('role', $1, true), set_config('request.jwt.claims', $2, true)`,
				role, fmt.Sprintf(`{"sub":"%s","role":"%s"}`, sub, role))
			if err != nil {
				return err
			}
			return tx.QueryRow(t.Context(), sql).Scan(&count)
		})
		return count, err
	}
	const insert, count = `insert into public.notes (id, body) values (1, 'mine') returning id`, `select count(*)::int from public.notes`
	if _, err := as("authenticated", me, insert); err != nil {
		t.Errorf("insert as authenticated: %v", err)
	}
	for _, c := range []struct {
		role, sub string
		want      int
	}{{"authenticated", me, 1}, {"authenticated", other, 0}, {"anon", me, 0}, {"service_role", other, 1}} {
		if got, err := as(c.role, c.sub, count); err != nil || got != c.want {
			t.Errorf("%s sees %d rows, %v; want %d", c.role, got, err, c.want)
		}
	}
	if _, err := as("authenticated", me, `select count(*)::int from auth.users`); err == nil {
		t.Error("authenticated reads auth.users")
	}
}
