package store_test

import (
	"context"
	"errors"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"basalt/query/sql"
	"basalt/store"
	"basalt/store/storetest"
)

func unavailable(err error) bool {
	var gone *store.UnavailableError
	return errors.As(err, &gone)
}

func TestOpenDoesNotNeedPostgreSQL(t *testing.T) {
	p := newProxy(t, storetest.NewEmpty(t))
	p.setDown(true)
	db := open(t, store.Options{URL: p.URL, PoolSize: 2})
	err := db.Run(t.Context(), &store.Flight{Steps: []store.Step{statement(`select 1`, nil)}})
	var gone *store.UnavailableError
	if !errors.As(err, &gone) || !gone.Connecting {
		t.Fatalf("got %v, want a *UnavailableError of connecting", err)
	}
	eventually(t, "it is known to be ill", func() bool { return db.Healthy() != nil })
	p.setDown(false)
	eventually(t, "it is known to be well without a flight", func() bool { return db.Healthy() == nil })
	read(t, db, "", `select 1`)
}

func TestOpenRefusesABadURL(t *testing.T) {
	if _, err := store.Open(t.Context(), store.Options{URL: "postgres://%zz"}); err == nil {
		t.Error("got no error")
	}
}

// TestAnOutage takes PostgreSQL away from under load and gives it back.
func TestAnOutage(t *testing.T) {
	database := storetest.NewEmpty(t)
	database.Exec(t, `create table t (id int)`)
	p := newProxy(t, database)
	db := open(t, store.Options{URL: p.URL, PoolSize: 4})
	reading := &sql.Statement{SQL: `select 1`}
	writing := &sql.Statement{SQL: `insert into t values (1)`}
	var stop atomic.Bool
	var good, bad atomic.Int64
	var callers sync.WaitGroup
	for caller := range 8 {
		callers.Go(func() {
			flight := store.Flight{Session: store.Session{ReadOnly: true}, Steps: []store.Step{{Statement: reading}}}
			if caller%2 == 0 {
				flight = store.Flight{Steps: []store.Step{{Statement: writing}}}
			}
			for !stop.Load() {
				switch err := db.Run(context.Background(), &flight); {
				case err == nil:
					good.Add(1)
				case unavailable(err):
					bad.Add(1)
					time.Sleep(time.Millisecond)
				default:
					t.Errorf("got %v, want nil or a *UnavailableError", err)
				}
			}
		})
	}
	for range 3 {
		eventually(t, "flights land", func() bool { before := good.Load(); return good.Load() > before || before > 100 })
		p.setDown(true)
		before := bad.Load()
		dials := p.dials.Load()
		eventually(t, "a thousand flights fail fast", func() bool { return bad.Load() > before+1000 })
		if tries := p.dials.Load() - dials; tries > 200 {
			t.Errorf("a thousand flights tried to connect %d times", tries)
		}
		if db.Healthy() == nil {
			t.Error("it is not known to be ill")
		}
		p.setDown(false)
		after := good.Load()
		eventually(t, "flights land again", func() bool { return good.Load() > after+100 })
		failed := bad.Load()
		landed := good.Load()
		eventually(t, "a hundred more have landed", func() bool { return good.Load() > landed+100 })
		if bad.Load() != failed {
			t.Errorf("%d flights failed after the outage", bad.Load()-failed)
		}
	}
	stop.Store(true)
	callers.Wait()
}

func TestIdleConnectionsThatDiedHarmNobody(t *testing.T) {
	database := storetest.NewEmpty(t)
	database.Exec(t, `create table t (id int)`)
	db := open(t, store.Options{URL: database.URL, PoolSize: 4})
	fill := func() {
		var callers sync.WaitGroup
		for range 4 {
			callers.Go(func() { read(t, db, "", `select pg_sleep(0.05)`) })
		}
		callers.Wait()
	}
	for range 3 {
		fill()
		database.Exec(t, `
			select pg_terminate_backend(pid, 60000)
			from pg_stat_activity
			where datname = current_database() and application_name like 'basalt%'`)
		for range 8 {
			// Writes are never repeated: each must be given a living connection.
			if err := db.Run(t.Context(), &store.Flight{Steps: []store.Step{statement(`insert into t values (1)`, nil)}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if s := db.Stats(); s.Unavailable != 0 {
		t.Errorf("%d flights met a dead connection", s.Unavailable)
	}
}

// TestBackendsTerminatedUnderLoad ends backends at random. Reads are repeated on another connection; writes may fail,
// and then only as unavailable.
func TestBackendsTerminatedUnderLoad(t *testing.T) {
	database := storetest.NewEmpty(t)
	database.Exec(t, `create table t (id int)`)
	db := open(t, store.Options{URL: database.URL, PoolSize: 4})
	reading := &sql.Statement{SQL: `select 1 from pg_sleep(0.001)`}
	writing := &sql.Statement{SQL: `insert into t values (1)`}
	var stop atomic.Bool
	var written, lost atomic.Int64
	var callers sync.WaitGroup
	for caller := range 6 {
		callers.Go(func() {
			for !stop.Load() {
				if caller%2 == 0 {
					sink := &restartable{}
					err := db.Run(context.Background(), &store.Flight{
						Session: store.Session{ReadOnly: true}, Steps: []store.Step{{Statement: reading, Sink: sink}},
					})
					// A connection may be ended twice in a row.
					if err != nil && !unavailable(err) {
						t.Errorf("a read: %v", err)
					}
					continue
				}
				switch err := db.Run(context.Background(), &store.Flight{Steps: []store.Step{{Statement: writing}}}); {
				case err == nil:
					written.Add(1)
				case unavailable(err):
					lost.Add(1)
				default:
					t.Errorf("a write: %v", err)
				}
			}
		})
	}
	for range 20 {
		database.Exec(t, `
			select pg_terminate_backend(pid)
			from (
				select pid
				from pg_stat_activity
				where datname = current_database() and application_name = 'basalt'
				order by random()
				limit 2
			) victims`)
		before := written.Load()
		eventually(t, "writes go on", func() bool { return written.Load() > before+10 })
	}
	stop.Store(true)
	callers.Wait()
	rows := int64(queryInt(t, database, `select count(*) from t`))
	if rows < written.Load() || rows > written.Load()+lost.Load() {
		t.Errorf("%d rows are there, want %d that were acknowledged and at most %d more", rows, written.Load(), lost.Load())
	}
}

func TestAReadIsRepeatedOnlyWhileNothingWasShown(t *testing.T) {
	database := storetest.NewEmpty(t)
	database.Exec(t, `
		create function die(backend int, n int, at int) returns int language plpgsql as $$ begin
			if n = at and pg_backend_pid() = backend then
				perform pg_terminate_backend(backend);
				perform pg_sleep(10);
			end if;
			return n;
		end $$;`)
	tests := []struct {
		name    string
		session store.Session
		sink    store.Sink
		rows    int // before the backend ends itself
		fails   bool
	}{
		{name: "a read without a row yet", session: store.Session{ReadOnly: true}, sink: &result{}},
		{name: "a read with rows that can be forgotten", session: store.Session{ReadOnly: true}, sink: &restartable{}, rows: 5000},
		{name: "not a read with rows that were shown", session: store.Session{ReadOnly: true}, sink: &result{}, rows: 5000, fails: true},
		{name: "not a write", sink: &restartable{}, fails: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			db := openOne(t, database)
			backend := read(t, db, "", `select pg_backend_pid()::text`).value(t)
			flight := &store.Flight{Session: test.session, Steps: []store.Step{{
				Statement: &sql.Statement{SQL: `select die($1, generate_series(0, $2::int), $2::int)`},
				Params:    [][]byte{[]byte(backend), []byte(strconv.Itoa(test.rows))},
				Sink:      test.sink,
			}}}
			err := db.Run(t.Context(), flight)
			if unavailable(err) != test.fails {
				t.Errorf("got %v, want failure: %v", err, test.fails)
			}
		})
	}
}

func TestConnectingFailsFastForAll(t *testing.T) {
	p := newProxy(t, storetest.NewEmpty(t))
	db := open(t, store.Options{URL: p.URL, PoolSize: 2, ConnectTimeout: 2 * time.Second, AcquireTimeout: time.Minute})
	read(t, db, "", `select 1`)
	p.setDown(true)
	p.held.Store(true)
	defer p.held.Store(false)
	p.setDown(false) // connections are taken and never answered
	began := time.Now()
	var callers sync.WaitGroup
	for range 50 {
		callers.Go(func() {
			if err := db.Run(t.Context(), &store.Flight{Steps: []store.Step{statement(`select 1`, nil)}}); !unavailable(err) {
				t.Errorf("got %v, want a *UnavailableError", err)
			}
		})
	}
	callers.Wait()
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("all together waited for %v", took)
	}
}

func TestErrorsOfConnectingKeepTheServersOwn(t *testing.T) {
	absent, err := url.Parse(storetest.NewEmpty(t).URL)
	if err != nil {
		t.Fatal(err)
	}
	absent.Path += "_absent"
	db := open(t, store.Options{URL: absent.String(), PoolSize: 1})
	err = db.Run(t.Context(), &store.Flight{})
	var pgErr *pgconn.PgError
	if !unavailable(err) || !errors.As(err, &pgErr) || pgErr.Code != "3D000" {
		t.Errorf("got %v, want a *UnavailableError with SQLSTATE 3D000", err)
	}
}
