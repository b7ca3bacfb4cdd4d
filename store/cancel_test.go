package store_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"basalt/query/sql"
	"basalt/store"
	"basalt/store/storetest"
)

const running = `
select count(*)
from pg_stat_activity
where query like $1
	and state <> 'idle'
	and pid <> pg_backend_pid()`

func TestAFlightIsCancelledWithItsContext(t *testing.T) {
	database := storetest.NewEmpty(t)
	db := openOne(t, database)
	refused := func() error { return errors.New("the check was asked") }
	tests := []struct {
		name   string
		flight store.Flight
		text   string
	}{
		{name: "a read", flight: store.Flight{Session: store.Session{ReadOnly: true}}, text: `select pg_sleep(60), 'a read'`},
		{name: "a write", text: `select pg_sleep(60), 'a write'`},
		{name: "with a check", flight: store.Flight{Check: refused}, text: `select pg_sleep(60), 'with a check'`},
		{name: "between rows", text: `select generate_series(1, 100), pg_sleep(1), 'between rows'`},
	}
	var slowest time.Duration
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			flight := test.flight
			flight.Steps = []store.Step{statement(test.text, &result{})}
			done := make(chan error, 1)
			go func() { done <- db.Run(ctx, &flight) }()
			eventually(t, "the statement runs", func() bool { return queryInt(t, database, running, test.text+"%") == 1 })
			cancelled := time.Now()
			cancel()
			if err := <-done; err != context.Canceled {
				t.Errorf("got %v, want %v", err, context.Canceled)
			}
			eventually(t, "the statement has ended", func() bool { return queryInt(t, database, running, test.text+"%") == 0 })
			if got := read(t, db, "", `select 'next'`).value(t); got != "next" {
				t.Errorf("the next flight got %q", got)
			}
			slowest = max(slowest, time.Since(cancelled))
		})
	}
	// A server that takes longer than that to answer a cancel costs the connection, as it should.
	const patience = 2 * time.Second
	if s := db.Stats(); s.Destroyed != 0 && slowest < patience {
		t.Errorf("%d connections were closed, want none", s.Destroyed)
	}
}

func TestADeadlineEndsAFlight(t *testing.T) {
	db := openOne(t, storetest.NewEmpty(t))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err := db.Run(ctx, &store.Flight{Steps: []store.Step{statement(`select pg_sleep(60)`, nil)}})
	if err != context.DeadlineExceeded {
		t.Errorf("got %v, want %v", err, context.DeadlineExceeded)
	}
	if err := db.Run(ctx, &store.Flight{}); err != context.DeadlineExceeded {
		t.Errorf("with a deadline that has passed: got %v, want %v", err, context.DeadlineExceeded)
	}
}

func TestAStatementTimeoutIsTheServersError(t *testing.T) {
	database := storetest.NewEmpty(t)
	for _, test := range []struct {
		name    string
		options store.Options
		session store.Session
	}{
		{name: "of the pool", options: store.Options{StatementTimeout: 20 * time.Millisecond}},
		{name: "of the session", session: store.Session{Settings: []store.Setting{{Name: "statement_timeout", Value: "20"}}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.options.URL, test.options.PoolSize = database.URL, 1
			db := open(t, test.options)
			err := db.Run(t.Context(), &store.Flight{
				Session: test.session, Steps: []store.Step{statement(`select pg_sleep(60)`, nil)},
			})
			if pgErr, ok := err.(*pgconn.PgError); !ok || pgErr.Code != "57014" {
				t.Errorf("got %v, want SQLSTATE 57014", err)
			}
			if s := db.Stats(); s.Destroyed != 0 {
				t.Errorf("%d connections were closed, want none", s.Destroyed)
			}
		})
	}
}

// TestAbortsLeakNothing leaves flights at random moments and looks at what remains: no open transaction, no lock, no
// flight that got a cancel meant for another.
func TestAbortsLeakNothing(t *testing.T) {
	database := storetest.NewEmpty(t)
	database.Exec(t, `create table t (id int)`)
	db := open(t, store.Options{URL: database.URL, PoolSize: 4})
	shapes := []*sql.Statement{
		{SQL: `select 1 from pg_sleep(0.002)`},
		{SQL: `select generate_series(1, 2000)`},
		{SQL: `insert into t values (1)`},
		{SQL: `select pg_advisory_lock(1)`},
		{SQL: `select 1 / 0`},
	}
	const aborts = 1000
	var callers sync.WaitGroup
	for caller := range 8 {
		callers.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(caller)))
			for range aborts / 8 {
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(random.IntN(4000))*time.Microsecond)
				flight := store.Flight{Steps: []store.Step{{Statement: shapes[random.IntN(len(shapes))], Sink: &result{}}}}
				flight.Session.ReadOnly = random.IntN(2) == 0
				switch random.IntN(4) {
				case 0:
					flight.Check = func() error { return nil }
				case 1:
					flight.Session.Isolation = "serializable"
				}
				db.Run(ctx, &flight)
				cancel()
				// Nobody cancels this one.
				r := &result{}
				err := db.Run(context.Background(), &store.Flight{Steps: []store.Step{{Statement: shapes[0], Sink: r}}})
				if err != nil {
					t.Errorf("a flight that nobody left: %v", err)
				}
			}
		})
	}
	callers.Wait()
	eventually(t, "no transaction is open and no lock held", func() bool {
		return queryInt(t, database, `
			select count(*)
			from pg_stat_activity a
			left join pg_locks l on l.pid = a.pid and l.locktype = 'advisory'
			where a.datname = current_database()
				and a.pid <> pg_backend_pid()
				and (a.state <> 'idle' or l.pid is not null)`) == 0
	})
	if s := db.Stats(); s.InUse != 0 || s.Waiting != 0 {
		t.Errorf("flights remain: %+v", s)
	}
}
