package store_test

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"basalt/store"
	"basalt/store/storetest"
)

func TestRunReturnsTheServersErrorAsItIs(t *testing.T) {
	database := storetest.New(t)
	database.Exec(t, `
		create table parents (id int primary key);
		create table children (
			id int primary key,
			parent int references parents deferrable initially deferred
		);
		insert into children values (1, null);`)
	db := openOne(t, database)
	tests := []struct {
		name    string
		session store.Session
		steps   []string
		code    string
		begun   []bool
	}{
		{
			name:  "in the syntax",
			steps: []string{`selec 1`},
			code:  "42601",
			begun: []bool{false},
		},
		{
			name:  "before the first row",
			steps: []string{`select 1/0`},
			code:  "22012",
			begun: []bool{false},
		},
		{
			name:  "after the first row",
			steps: []string{`select 1 / (2 - n) from generate_series(1, 2) n`},
			code:  "22012",
			begun: []bool{true},
		},
		{
			name:  "and calls nothing of a later step's sink",
			steps: []string{`select 1`, `select 1/0`, `select 2`},
			code:  "22012",
			begun: []bool{true, false, false},
		},
		{
			name:  "of the commit, after the rows",
			steps: []string{`insert into children values (2, 99) returning id`},
			code:  "23503",
			begun: []bool{true},
		},
		{
			name:    "of an explicit commit, after the rows",
			session: store.Session{Isolation: "repeatable read"},
			steps:   []string{`insert into children values (3, 99) returning id`},
			code:    "23503",
			begun:   []bool{true},
		},
		{
			name:    "of a write in a read-only flight",
			session: store.Session{ReadOnly: true},
			steps:   []string{`insert into parents values (1)`},
			code:    "25006",
			begun:   []bool{false},
		},
		{
			name:    "of the role",
			session: store.Session{Role: "no such role"},
			steps:   []string{`select 1`},
			code:    "22023",
			begun:   []bool{false},
		},
		{
			name:  "that a routine raised, whatever it claims to be",
			steps: []string{`do $$ begin raise sqlstate '57P01'; end $$`},
			code:  "57P01",
			begun: []bool{false},
		},
		{
			name:    "of the role none, which would be the one that connected",
			session: store.Session{Role: "none"},
			steps:   []string{`select 1`},
			code:    "22023",
			begun:   []bool{false},
		},
		{
			name:    "of a setting",
			session: store.Session{Settings: []store.Setting{{Name: "timezone", Value: "Mars/Olympus"}}},
			steps:   []string{`select 1`},
			code:    "22023",
			begun:   []bool{false},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for range 2 {
				var results []*result
				var steps []store.Step
				for _, text := range test.steps {
					r := &result{}
					results = append(results, r)
					steps = append(steps, statement(text, r))
				}
				err := db.Run(t.Context(), &store.Flight{Session: test.session, Steps: steps})
				pgErr, ok := err.(*pgconn.PgError)
				if !ok || pgErr.Code != test.code {
					t.Fatalf("got %v, want SQLSTATE %s", err, test.code)
				}
				for i, r := range results {
					if (r.begins > 0) != test.begun[i] {
						t.Errorf("sink %d begun is %v, want %v", i, r.begins > 0, test.begun[i])
					}
				}
			}
		})
	}
	if n := queryInt(t, database, `select count(*) from children`); n != 1 {
		t.Errorf("%d rows were kept, want 1", n)
	}
	if s := db.Stats(); s.Destroyed != 0 {
		t.Errorf("%d connections were closed for a statement's error", s.Destroyed)
	}
}

func TestASinkMayFail(t *testing.T) {
	database := storetest.NewEmpty(t)
	db := openOne(t, database)
	stale := &store.StaleError{TypeOID: 1}
	stop := errors.New("stop")
	const many = `select generate_series(1, 100000000)`
	tests := []struct {
		name string
		sink failing
		text string
		want error
	}{
		{name: "at the beginning", sink: failing{begin: stale}, text: many, want: stale},
		{name: "at a row", sink: failing{row: stop}, text: many, want: stop},
		{name: "at the end", sink: failing{end: stop}, text: `select 1`, want: stop},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			after := &result{}
			err := db.Run(t.Context(), &store.Flight{
				Session: store.Session{ReadOnly: true},
				Steps:   []store.Step{statement(test.text, test.sink), statement(`select 1`, after)},
			})
			if err != test.want {
				t.Fatalf("got %v, want %v", err, test.want)
			}
			if after.begins != 0 {
				t.Error("a later step's sink was called")
			}
			if got := read(t, db, "", `select 'next'`).value(t); got != "next" {
				t.Errorf("the next flight got %q", got)
			}
		})
	}
	t.Run("at the beginning of a write, which is undone", func(t *testing.T) {
		database.Exec(t, `create table kept (id int)`)
		err := db.Run(t.Context(), &store.Flight{
			Steps: []store.Step{statement(`insert into kept values (1) returning id`, failing{begin: stale})},
		})
		if err != stale {
			t.Errorf("got %v, want %v", err, stale)
		}
		if n := queryInt(t, database, `select count(*) from kept`); n != 0 {
			t.Errorf("%d rows were kept, want none", n)
		}
	})
	t.Run("by a panic, which costs its connection and no more", func(t *testing.T) {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic was swallowed")
				}
			}()
			db.Run(t.Context(), &store.Flight{Steps: []store.Step{statement(many, panicking{})}})
		}()
		if got := read(t, db, "", `select 'next'`).value(t); got != "next" {
			t.Errorf("the next flight got %q", got)
		}
		eventually(t, "the statement has ended", func() bool {
			return queryInt(t, database, `select count(*) from pg_stat_activity where query like '%100000000%' and state = 'active' and pid <> pg_backend_pid()`) == 0
		})
	})
}

type panicking struct{}

func (panicking) Begin(store.Columns) error { panic("a sink's fault") }
func (panicking) Row([][]byte) error        { return nil }
func (panicking) End(int64) error           { return nil }

func TestARowThatIsTooLargeIsRefusedUnread(t *testing.T) {
	options := store.Options{URL: storetest.NewEmpty(t).URL}
	options.PoolSize, options.MaxRow = 1, 1<<20
	db := open(t, options)
	for _, readOnly := range []bool{true, false} {
		rows := &result{}
		err := db.Run(t.Context(), &store.Flight{
			Session: store.Session{ReadOnly: readOnly},
			Steps:   []store.Step{statement(`select repeat('x', n) from (values (1000), (2097152)) as _(n)`, rows)},
		})
		tooLarge, ok := errors.AsType[*store.RowTooLargeError](err)
		if !ok || tooLarge.Bytes < 2<<20 || tooLarge.Most != 1<<20 {
			t.Fatalf("got %v, want a *RowTooLargeError of 2 MiB", err)
		}
		if got := read(t, db, "", `select repeat('y', 1000)`).value(t); len(got) != 1000 {
			t.Errorf("the next flight got %d bytes", len(got))
		}
	}
}
