package store_test

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"basalt/query/sql"
	"basalt/store"
	"basalt/store/storetest"
)

func TestRunAppliesTheSession(t *testing.T) {
	db := openOne(t, storetest.New(t))
	tests := []struct {
		name    string
		session store.Session
		text    string
		want    string
	}{
		{
			name:    "the role",
			session: store.Session{Role: "authenticated"},
			text:    `select current_user::text`,
			want:    "authenticated",
		},
		{
			name:    "no role is the one that connected",
			session: store.Session{},
			text:    `select (current_user = session_user)::text`,
			want:    "true",
		},
		{
			name:    "a setting",
			session: store.Session{Settings: []store.Setting{{Name: "request.path", Value: "/notes"}}},
			text:    `select current_setting('request.path')`,
			want:    "/notes",
		},
		{
			name:    "an empty setting",
			session: store.Session{Settings: []store.Setting{{Name: "request.path", Value: ""}}},
			text:    `select '<' || current_setting('request.path') || '>'`,
			want:    "<>",
		},
		{
			name: "the last of two settings of one name",
			session: store.Session{Settings: []store.Setting{
				{Name: "request.path", Value: "/a"}, {Name: "request.path", Value: "/b"},
			}},
			text: `select current_setting('request.path')`,
			want: "/b",
		},
		{
			name:    "a search path, seen while the statement is prepared",
			session: store.Session{Settings: []store.Setting{{Name: "search_path", Value: "auth"}}},
			text:    `select count(*)::text from users`,
			want:    "0",
		},
		{
			name:    "read only",
			session: store.Session{ReadOnly: true},
			text:    `select current_setting('transaction_read_only')`,
			want:    "on",
		},
		{
			name:    "an isolation level",
			session: store.Session{Isolation: "serializable"},
			text:    `select current_setting('transaction_isolation')`,
			want:    "serializable",
		},
		{
			name:    "an isolation level of a read",
			session: store.Session{Isolation: "repeatable read", ReadOnly: true, Role: "anon"},
			text:    `select current_setting('transaction_isolation') || current_setting('transaction_read_only') || current_user`,
			want:    "repeatable readonanon",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			step := statement(test.text, nil)
			for range 3 { // prepared anew, then as it stands
				r := &result{}
				step.Sink = r
				if err := db.Run(t.Context(), &store.Flight{Session: test.session, Steps: []store.Step{step}}); err != nil {
					t.Fatal(err)
				}
				if got := r.value(t); got != test.want {
					t.Errorf("got %q, want %q", got, test.want)
				}
			}
		})
	}
}

func TestTheStatementBeforeSeesTheSessionAndMayChangeIt(t *testing.T) {
	database := storetest.New(t)
	database.Exec(t, `create table t (id int primary key); grant all on t to anon`)
	db := openOne(t, database)
	fly := func(before, text string, readOnly bool) (*result, error) {
		r := &result{}
		return r, db.Run(t.Context(), &store.Flight{
			Session: store.Session{
				Role: "anon", ReadOnly: readOnly, Before: &sql.Statement{SQL: before},
				Settings: []store.Setting{{Name: "search_path", Value: "public"}, {Name: "request.path", Value: "/a"}},
			},
			Steps: []store.Step{statement(text, r)},
		})
	}
	const mark = `select set_config('request.path', current_setting('request.path') || ' ' || current_user, true)`
	for _, readOnly := range []bool{true, false} {
		r, err := fly(mark, `select current_setting('request.path')`, readOnly)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.value(t); got != "/a anon" {
			t.Errorf("the path is %q", got)
		}
		r, err = fly(`select set_config('timezone', 'Asia/Tokyo', true), set_config('intervalstyle', 'iso_8601', true)`, `select now()`, readOnly)
		if err != nil || r.columns.TimeZone != "Asia/Tokyo" || r.columns.IntervalStyle != "iso_8601" {
			t.Errorf("values are written by %q and %q, %v", r.columns.TimeZone, r.columns.IntervalStyle, err)
		}
		r, err = fly(`select generate_series(1, 3)`, `select 'x'`, readOnly)
		if err != nil || r.value(t) != "x" {
			t.Errorf("rows before: %v", err)
		}
		if r, err = fly(`select from generate_series(1, 0)`, `select now()`, readOnly); err != nil || r.columns.TimeZone == "Asia/Tokyo" {
			t.Errorf("no rows before: the zone %s, %v", r.columns.TimeZone, err)
		}
		r, err = fly(`select 1 / 0`, `insert into t values (1)`, readOnly)
		if pgErr, ok := err.(*pgconn.PgError); !ok || pgErr.Code != "22012" || r.begins != 0 {
			t.Errorf("an error before: %v", err)
		}
	}
	if _, err := fly(`insert into t values (1)`, `select 1 / 0`, false); err == nil {
		t.Error("a failure behind passes")
	}
	if _, err := fly(`insert into t values (2)`, `select 1`, false); err != nil {
		t.Error(err)
	}
	if n := queryInt(t, database, `select sum(id) from t`); n != 2 {
		t.Errorf("what was done before a failure is kept: %d", n)
	}
}

func TestARollbackTellsWhatTheCommitWouldHaveTold(t *testing.T) {
	database := storetest.NewEmpty(t)
	database.Exec(t, `create table p (id int primary key); create table c (p int references p deferrable initially deferred)`)
	db := openOne(t, database)
	for _, check := range []func() error{nil, func() error { return nil }} {
		for range 2 {
			err := db.Run(t.Context(), &store.Flight{
				Rollback: true, Check: check, Steps: []store.Step{statement(`insert into c values (1)`, nil)},
			})
			if pgErr, ok := err.(*pgconn.PgError); !ok || pgErr.Code != "23503" {
				t.Errorf("got %v, want SQLSTATE 23503", err)
			}
		}
	}
}

func TestRunHandsRowsToSinks(t *testing.T) {
	db := openOne(t, storetest.NewEmpty(t))
	tests := []struct {
		name   string
		text   string
		params []string
		rows   [][]string
		types  []uint32
		count  int64
	}{
		{
			name:   "in binary, with parameters as text",
			text:   `select $1::int, $2::text, null::text, ''`,
			params: []string{"258", "ä"},
			rows:   [][]string{{"\x00\x00\x01\x02", "ä", "<null>", ""}},
			types:  []uint32{23, 25, 25, 25},
			count:  1,
		},
		{
			name:  "several",
			text:  `select n::text from generate_series(1, 3) n`,
			rows:  [][]string{{"1"}, {"2"}, {"3"}},
			types: []uint32{25},
			count: 3,
		},
		{
			name:  "none, and Begin is called all the same",
			text:  `select n from generate_series(1, 0) n`,
			types: []uint32{23},
		},
		{
			name:  "without columns",
			text:  `select from generate_series(1, 2)`,
			rows:  [][]string{{}, {}},
			count: 2,
		},
		{
			name: "of a command that returns nothing",
			text: `set local work_mem = '1MB'`,
		},
		{
			name:  "the number that a command reports",
			text:  `create table t as select generate_series(1, 12345)`,
			count: 12345,
		},
		{
			name: "an empty statement",
			text: `-- nothing`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := &result{}
			step := statement(test.text, r)
			for _, param := range test.params {
				step.Params = append(step.Params, []byte(param))
			}
			if err := db.Run(t.Context(), &store.Flight{Steps: []store.Step{step}}); err != nil {
				t.Fatal(err)
			}
			if fmt.Sprintf("%q", r.rows) != fmt.Sprintf("%q", test.rows) {
				t.Errorf("rows are %q, want %q", r.rows, test.rows)
			}
			if fmt.Sprint(r.columns.Types) != fmt.Sprint(test.types) {
				t.Errorf("types are %v, want %v", r.columns.Types, test.types)
			}
			if r.begins != 1 || r.ends != 1 || r.count != test.count {
				t.Errorf("begun %d, ended %d times with %d rows, want once with %d", r.begins, r.ends, r.count, test.count)
			}
		})
	}
}

func TestColumnsTellHowTimesArePrinted(t *testing.T) {
	database := storetest.NewEmpty(t)
	database.Exec(t, `
		do $$ begin
			execute format('alter database %I set timezone to %L', current_database(), 'Asia/Kathmandu');
		end $$`)
	db := openOne(t, database)
	fly := func(settings ...store.Setting) store.Columns {
		r := &result{}
		err := db.Run(t.Context(), &store.Flight{
			Session: store.Session{Settings: settings},
			Steps:   []store.Step{statement(`select now()`, r)},
		})
		if err != nil {
			t.Fatal(err)
		}
		return r.columns
	}
	if got := fly(); got.TimeZone != "Asia/Kathmandu" || got.IntervalStyle != "postgres" {
		t.Errorf("the database's: got %+v", got)
	}
	got := fly(store.Setting{Name: "TimeZone", Value: "europe/berlin"}, store.Setting{Name: "intervalstyle", Value: "iso_8601"})
	if got.TimeZone != "Europe/Berlin" || got.IntervalStyle != "iso_8601" {
		t.Errorf("the session's: got %+v", got)
	}
	if got := fly(); got.TimeZone != "Asia/Kathmandu" || got.IntervalStyle != "postgres" {
		t.Errorf("the database's again: got %+v", got)
	}
}

func TestAFlightIsOneTransaction(t *testing.T) {
	database := storetest.NewEmpty(t)
	database.Exec(t, `create table t (id int primary key)`)
	db := openOne(t, database)
	refuse := errors.New("refused")
	tests := []struct {
		name   string
		flight store.Flight
		err    error
		kept   bool
	}{
		{name: "kept without a check", kept: true},
		{name: "kept when the check agrees", flight: store.Flight{Check: func() error { return nil }}, kept: true},
		{name: "not kept when the check refuses", flight: store.Flight{Check: func() error { return refuse }}, err: refuse},
		{name: "not kept when it is to be rolled back", flight: store.Flight{Rollback: true}},
		{
			name:   "not kept when it is to be rolled back, with a check that agrees",
			flight: store.Flight{Rollback: true, Check: func() error { return nil }},
		},
		{name: "kept when serializable", flight: store.Flight{Session: store.Session{Isolation: "serializable"}}, kept: true},
	}
	for i, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			flight := test.flight
			flight.Steps = []store.Step{
				statement(fmt.Sprintf(`insert into t values (%d)`, 2*i), nil),
				statement(fmt.Sprintf(`insert into t values (%d)`, 2*i+1), nil),
			}
			if err := db.Run(t.Context(), &flight); err != test.err {
				t.Fatalf("got %v, want %v", err, test.err)
			}
			want := 0
			if test.kept {
				want = 2
			}
			if n := queryInt(t, database, `select count(*) from t where id / 2 = $1`, i); n != want {
				t.Errorf("%d rows were kept, want %d", n, want)
			}
		})
	}
	t.Run("which an error anywhere undoes", func(t *testing.T) {
		err := db.Run(t.Context(), &store.Flight{Steps: []store.Step{
			statement(`insert into t values (100)`, nil), statement(`insert into t values (100)`, nil),
		}})
		if err == nil || queryInt(t, database, `select count(*) from t where id = 100`) != 0 {
			t.Errorf("the first insert was kept, error %v", err)
		}
	})
	if s := db.Stats(); s.Destroyed != 0 || s.Connected != 1 {
		t.Errorf("the connection was not kept: %+v", s)
	}
}

func TestOneRoundTrip(t *testing.T) {
	database := storetest.New(t)
	database.Exec(t, `create table t (id int); grant all on t to anon`)
	p := newProxy(t, database)
	db := open(t, store.Options{URL: p.URL, PoolSize: 1})
	session := store.Session{Role: "anon", Settings: []store.Setting{
		{Name: "search_path", Value: "public"}, {Name: "request.jwt.claims", Value: "{}"},
	}}
	reading := session
	reading.ReadOnly = true
	serializable := session
	serializable.Isolation = "serializable"
	guarded, writing := reading, session
	guarded.Before = &sql.Statement{SQL: `select pg_catalog.set_config('request.path', '/guarded', true)`}
	writing.Before = guarded.Before
	flight := func(session store.Session, steps ...store.Step) func() store.Flight {
		return func() store.Flight {
			// Each flight brings statements of its own, so that it is the first to prepare them.
			own := make([]store.Step, len(steps))
			for i, step := range steps {
				own[i] = statement(step.Statement.SQL+" -- "+rand.Text(), step.Sink)
			}
			return store.Flight{Session: session, Steps: own}
		}
	}
	count := statement(`select count(*) from t`, nil)
	rows := statement(`select * from t limit 10`, nil)
	insert := statement(`insert into t values (1)`, nil)
	returning := statement(`insert into t values (1) returning id`, &result{})
	rolledBack := func() store.Flight {
		f := flight(session, insert)()
		f.Rollback = true
		return f
	}
	checked := func() store.Flight {
		f := flight(session, insert)()
		f.Check = func() error { return nil }
		return f
	}
	// trips counts what a flight costs, with its cleaning where that is a message of its own, whose reply nobody waits
	// for.
	trips := func(t *testing.T, f *store.Flight, want int64) int64 {
		read(t, db, "", `select 1`) // what an earlier flight left unread is read by this one
		before := p.turns.Load()
		if err := db.Run(t.Context(), f); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the replies have passed", func() bool { return p.turns.Load()-before >= want })
		read(t, db, "", `select 1`)
		return p.turns.Load() - before - 1
	}
	tests := []struct {
		name            string
		flight          func() store.Flight
		first, prepared int64 // round trips of the first flight, which prepares its statements, and of the next
	}{
		{"a read", flight(reading, rows), 1, 1},
		{"a read with its count", flight(reading, count, rows), 1, 1},
		{"a write", flight(session, insert), 1, 1},
		{"a serializable write, and its cleaning", flight(serializable, insert), 2, 2},
		{"a write rolled back, and its cleaning", rolledBack, 2, 2},
		{"a write with a check, and its cleaning", checked, 3, 3},
		// The first one is held until the sink has seen the types.
		{"a write that returns rows", flight(session, returning), 3, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			// A busy machine may cut a message in two, which the proxy takes for two: the cheapest of a few counts.
			var first, prepared int64
			for range 5 {
				f := test.flight()
				first, prepared = trips(t, &f, test.first), trips(t, &f, test.prepared)
				if first == test.first && prepared == test.prepared {
					return
				}
			}
			t.Errorf("took %d round trips and %d when prepared, want %d and %d", first, prepared, test.first, test.prepared)
		})
	}
}

func TestLargeValuesPassInBothDirections(t *testing.T) {
	db := openOne(t, storetest.NewEmpty(t))
	big := strings.Repeat("0123456789abcdef", 50<<20/16)
	echo := &sql.Statement{SQL: `select $1::text, repeat(left($1, 1000), 20000)`}
	sizes := &sizes{}
	err := db.Run(t.Context(), &store.Flight{Steps: []store.Step{
		{Statement: echo, Params: [][]byte{[]byte(big)}, Sink: sizes},
		// The server answers the first step while the second is still being sent.
		{Statement: echo, Params: [][]byte{[]byte(big)}, Sink: sizes},
		{Statement: &sql.Statement{SQL: `select length($1::text)`}, Params: [][]byte{[]byte(big)}, Sink: sizes},
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprint([]int{len(big), 20_000_000, len(big), 20_000_000, 4})
	if fmt.Sprint(sizes.sizes) != want {
		t.Errorf("got values of %v bytes, want %s", sizes.sizes, want)
	}
	if got := int(binary.BigEndian.Uint32(sizes.last)); got != len(big) {
		t.Errorf("the server saw %d characters, want %d", got, len(big))
	}
	if _, err := db.Pool().Exec(context.Background(), `select 1`); err != nil {
		t.Error(err)
	}
}

// sizes is a sink that keeps the sizes of values and the last short one.
type sizes struct {
	sizes []int
	last  []byte
}

func (s *sizes) Begin(store.Columns) error { return nil }
func (s *sizes) End(int64) error           { return nil }
func (s *sizes) Row(values [][]byte) error {
	for _, value := range values {
		s.sizes = append(s.sizes, len(value))
		if len(value) < 100 {
			s.last = append(s.last[:0], value...)
		}
	}
	return nil
}
