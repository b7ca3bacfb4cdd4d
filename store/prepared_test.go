package store_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"basalt/query/sql"
	"basalt/store"
	"basalt/store/storetest"
)

func TestPreparedStatementsAreBounded(t *testing.T) {
	const limit = 20
	db := open(t, store.Options{URL: storetest.NewEmpty(t).URL, PoolSize: 1, StatementCache: limit})
	var statements []*sql.Statement
	for i := range 3 * limit {
		statements = append(statements, &sql.Statement{SQL: "select 'shape " + strconv.Itoa(i) + "'"})
	}
	count := &sql.Statement{SQL: `
		select count(*)::text
		from pg_prepared_statements
		where statement like 'select ''shape%'`}
	for i := range 10 * limit {
		r, counted := &result{}, &result{}
		shape := (i * 7) % len(statements)
		err := db.Run(t.Context(), &store.Flight{Steps: []store.Step{
			{Statement: statements[shape], Sink: r}, {Statement: count, Sink: counted},
		}})
		if err != nil {
			t.Fatal(err)
		}
		if want := "shape " + strconv.Itoa(shape); r.value(t) != want {
			t.Fatalf("got %q, want %q", r.value(t), want)
		}
		if n, _ := strconv.Atoi(counted.value(t)); n > limit {
			t.Fatalf("%d statements are prepared, want at most %d", n, limit)
		}
	}
}

func TestTheTextOfPreparedStatementsIsBounded(t *testing.T) {
	const most, least = 4 << 20, 16
	db := open(t, store.Options{URL: storetest.NewEmpty(t).URL, PoolSize: 1})
	text := strings.Repeat("x", 400<<10)
	prepared := &sql.Statement{SQL: `
		select count(*)::text
		from pg_prepared_statements
		where statement like 'select length(''shape%'`}
	for i := range 3 * least {
		counted := &result{}
		err := db.Run(t.Context(), &store.Flight{Steps: []store.Step{
			{Statement: &sql.Statement{SQL: "select length('shape " + strconv.Itoa(i) + text + "')"}},
			{Statement: prepared, Sink: counted},
		}})
		if err != nil {
			t.Fatal(err)
		}
		n, _ := strconv.Atoi(counted.value(t))
		if n > max(most/len(text)+1, least) {
			t.Fatalf("%d statements of %d bytes are prepared after %d", n, len(text), i+1)
		}
	}
}

func TestStatementsArePreparedOnceForEachRole(t *testing.T) {
	db := openOne(t, storetest.New(t))
	shape := &sql.Statement{SQL: `select 'this shape'`}
	for range 5 {
		for _, role := range []string{"anon", "authenticated"} {
			err := db.Run(t.Context(), &store.Flight{
				Session: store.Session{Role: role},
				Steps:   []store.Step{{Statement: shape}},
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	r := read(t, db, "", `
		select (generic_plans + custom_plans)::text
		from pg_prepared_statements
		where statement = 'select ''this shape'''`)
	if fmt.Sprint(r.rows) != "[[5] [5]]" {
		t.Errorf("plans of each are %v, want two statements with 5", r.rows)
	}
}

// TestRolesNeverSeeEachOthersRows alternates users and roles on one connection under policies that depend on both.
func TestRolesNeverSeeEachOthersRows(t *testing.T) {
	database := storetest.New(t)
	database.Exec(t, `
		create table notes (id int primary key, owner text not null);
		insert into notes select n, 'user ' || n % 3 from generate_series(1, 30) n;
		alter table notes enable row level security;
		create policy own on notes to authenticated
			using (owner = current_setting('request.jwt.claims')::json ->> 'sub');
		create policy one on notes to anon using (id = 1);
		create policy every on notes to service_role using (true);
		grant select on notes to anon, authenticated, service_role;`)
	db := openOne(t, database)
	shape := &sql.Statement{SQL: `
		select
			count(*)::text,
			count(distinct owner)::text,
			min(owner)
		from public.notes
		where id > $1`}
	for i := range 60 {
		role := []string{"authenticated", "anon", "service_role"}[i/3%3]
		user := "user " + strconv.Itoa(i%3)
		r := &result{}
		err := db.Run(t.Context(), &store.Flight{
			Session: store.Session{
				Role: role, ReadOnly: i%2 == 0,
				Settings: []store.Setting{{Name: "request.jwt.claims", Value: `{"sub":"` + user + `"}`}},
			},
			Steps: []store.Step{{Statement: shape, Params: [][]byte{[]byte("0")}, Sink: r}},
		})
		if err != nil {
			t.Fatal(err)
		}
		want := map[string][]string{
			"authenticated": {"10", "1", user},
			"anon":          {"1", "1", "user 1"},
			"service_role":  {"30", "3", "user 0"},
		}[role]
		if fmt.Sprint(r.rows) != fmt.Sprint([][]string{want}) {
			t.Fatalf("%s as %s sees %v, want %v", user, role, r.rows, want)
		}
	}
}

func TestAFlightSurvivesAChangeOfDefinitions(t *testing.T) {
	database := storetest.NewEmpty(t)
	tests := []struct {
		name   string
		text   string
		params [][]byte
		change string
		want   string
	}{
		{
			name:   "of a result's type",
			text:   `select v from t`,
			change: `alter table t alter v type text`,
			want:   "7",
		},
		{
			name:   "of the number of columns",
			text:   `select * from t`,
			change: `alter table t add more int; alter table t drop more; alter table t add w text default 'w'`,
			want:   "\x00\x00\x00\x07w",
		},
		{
			name:   "of a parameter's type",
			text:   `select 'found' from t where v = $1`,
			params: [][]byte{[]byte("7")},
			change: `alter table t alter v type text`,
			want:   "found",
		},
		{
			name:   "of the table itself",
			text:   `select v from t`,
			change: `drop table t; create table t as select 8::int v`,
			want:   "\x00\x00\x00\x08",
		},
		{
			name:   "of a routine",
			text:   `select f()`,
			change: `drop function f; create function f() returns text language sql as 'select ''new'''`,
			want:   "new",
		},
	}
	for _, test := range tests {
		for _, isolation := range []string{"", "repeatable read"} {
			t.Run(test.name+" "+isolation, func(t *testing.T) {
				database.Exec(t, `
					drop table if exists t;
					drop function if exists f();
					create table t as select 7::int v;
					create function f() returns int language sql as 'select 1';`)
				db := openOne(t, database)
				shape := &sql.Statement{SQL: test.text}
				fly := func() (*result, error) {
					r := &result{}
					return r, db.Run(t.Context(), &store.Flight{
						Session: store.Session{Isolation: isolation},
						Steps:   []store.Step{{Statement: shape, Params: test.params, Sink: r}},
					})
				}
				if _, err := fly(); err != nil {
					t.Fatal(err)
				}
				database.Exec(t, test.change)
				r, err := fly()
				if err != nil {
					t.Fatal(err)
				}
				var got string
				for _, value := range r.rows[0] {
					got += value
				}
				if got != test.want {
					t.Errorf("got %q, want %q", got, test.want)
				}
				if s := db.Stats(); s.Reprepared > 1 || s.Destroyed != 0 {
					t.Errorf("prepared %d times again and closed %d connections, want at most 1 and 0", s.Reprepared, s.Destroyed)
				}
			})
		}
	}
}

func TestAnOutdatedStatementBehindAnother(t *testing.T) {
	database := storetest.NewEmpty(t)
	for _, test := range []struct {
		name  string
		first store.Sink
		code  string
	}{
		{name: "is repeated when the first sink can forget", first: &restartable{}},
		{name: "is repeated when there is no first sink", first: nil},
		{name: "fails when the first sink cannot forget", first: &result{}, code: "0A000"},
	} {
		t.Run(test.name, func(t *testing.T) {
			database.Exec(t, `drop table if exists t; create table t as select 7::int v`)
			db := openOne(t, database)
			flight := store.Flight{Steps: []store.Step{
				statement(`select count(*) from t`, test.first), statement(`select v from t`, &restartable{}),
			}}
			if err := db.Run(t.Context(), &flight); err != nil {
				t.Fatal(err)
			}
			database.Exec(t, `alter table t alter v type text`)
			err := db.Run(t.Context(), &flight)
			var pgErr *pgconn.PgError
			if errors.As(err, &pgErr) && pgErr.Code == test.code || err == nil && test.code == "" {
				return
			}
			t.Errorf("got %v, want SQLSTATE %q", err, test.code)
		})
	}
}

func TestDefinitionsChangeUnderLoad(t *testing.T) {
	database := storetest.NewEmpty(t)
	database.Exec(t, `create table t as select n id, n::int v from generate_series(1, 10) n`)
	db := open(t, store.Options{URL: database.URL, PoolSize: 4})
	shape := &sql.Statement{SQL: `select v from t where id = $1`}
	var stop atomic.Bool
	var flights atomic.Int64
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			for !stop.Load() {
				err := db.Run(context.Background(), &store.Flight{Steps: []store.Step{
					{Statement: shape, Params: [][]byte{[]byte("3")}, Sink: &result{}},
				}})
				if err != nil {
					t.Errorf("flight %d: %v", flights.Load(), err)
					return
				}
				flights.Add(1)
			}
		})
	}
	for i := range 20 {
		kind := []string{"text", "int using v::int", "bigint"}[i%3]
		database.Exec(t, `alter table t alter v type `+kind)
		before := flights.Load()
		eventually(t, "flights go on", func() bool { return flights.Load() > before+20 || t.Failed() })
	}
	stop.Store(true)
	callers.Wait()
}
