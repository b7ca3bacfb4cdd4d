package console_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"basalt/store"
	"basalt/store/console"
	"basalt/store/storetest"
)

func open(t *testing.T, change func(*console.Options)) (*console.Pool, *storetest.Database) {
	t.Helper()
	database := storetest.New(t)
	options := console.Options{URL: database.URL}
	if change != nil {
		change(&options)
	}
	pool, err := console.Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool, database
}

func TestASessionLeavesNothingToTheNext(t *testing.T) {
	t.Parallel()
	pool, _ := open(t, func(o *console.Options) { o.Connections = 1 })
	var first, second uint32
	err := pool.Use(t.Context(), console.Session{Role: "anon", Claims: `{"role":"anon"}`, ReadOnly: true, Name: "a name", StatementTimeout: time.Second}, func(conn *pgx.Conn) error {
		first = conn.PgConn().PID()
		var role, claims, readOnly string
		err := conn.QueryRow(t.Context(), `select current_user::text, current_setting('request.jwt.claims'), current_setting('transaction_read_only')`).Scan(&role, &claims, &readOnly)
		if err != nil || role != "anon" || claims != `{"role":"anon"}` || readOnly != "on" {
			t.Errorf("%s %s %s %v", role, claims, readOnly, err)
		}
		_, err = conn.PgConn().Exec(t.Context(), `begin; select pg_advisory_lock(1); listen x; set search_path = nowhere; prepare p as select 1`).ReadAll()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	err = pool.Use(t.Context(), console.Session{}, func(conn *pgx.Conn) error {
		second = conn.PgConn().PID()
		var clean bool
		err := conn.QueryRow(t.Context(), `
			select current_user = session_user and coalesce(current_setting('request.jwt.claims', true), '') = '' and current_setting('statement_timeout') = '0'
			  and not exists (select from pg_locks where locktype = 'advisory' and pid = pg_backend_pid())
			  and not exists (select from pg_prepared_statements) and not exists (select from pg_listening_channels())
			  and current_setting('application_name') = 'basalt console' and current_setting('search_path') <> 'nowhere'`).Scan(&clean)
		if !clean {
			t.Error("something was left")
		}
		return err
	})
	if err != nil || first != second {
		t.Errorf("%v; connections %d and %d", err, first, second)
	}
}

func TestADirtySessionIsNotUsedAgain(t *testing.T) {
	t.Parallel()
	pool, _ := open(t, func(o *console.Options) { o.Connections = 1 })
	used := map[uint32]bool{}
	note := func(conn *pgx.Conn) error { used[conn.PgConn().PID()] = true; return nil }
	failed := errors.New("failed")
	for i, end := range []error{nil, failed} {
		err := pool.Use(t.Context(), console.Session{Dirty: true}, func(conn *pgx.Conn) error { return errors.Join(note(conn), end) })
		if !errors.Is(err, end) {
			t.Errorf("ended by %v", err)
		}
		if len(used) != i+1 {
			t.Error("a connection was used again")
		}
	}
	if err := pool.Use(t.Context(), console.Session{}, note); err != nil || len(used) != 3 {
		t.Errorf("%d connections, %v", len(used), err)
	}
}

func TestWaitsAreBounded(t *testing.T) {
	t.Parallel()
	pool, _ := open(t, func(o *console.Options) { o.Connections, o.MaxWaiting, o.AcquireTimeout = 3, 1, 50*time.Millisecond })
	held, done := make(chan struct{}), make(chan error)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	hold := func(s console.Session) {
		done <- pool.Use(ctx, s, func(*pgx.Conn) error { held <- struct{}{}; <-ctx.Done(); return nil })
	}
	go hold(console.Session{Long: true})
	<-held
	var full *store.PoolFullError
	if err := pool.Use(t.Context(), console.Session{Long: true}, func(*pgx.Conn) error { return nil }); !errors.As(err, &full) {
		t.Errorf("a second piece of long work: %v", err)
	}
	for range 2 { // what is short has its own
		go hold(console.Session{})
		<-held
	}
	if err := pool.Use(t.Context(), console.Session{}, func(*pgx.Conn) error { return nil }); !errors.As(err, &full) {
		t.Errorf("one too many: %v", err)
	}
	leave()
	for range 3 {
		<-done
	}
	// Their connections are closed in the background, which a busy machine may take its time for.
	for deadline := time.Now().Add(30 * time.Second); ; {
		err := pool.Use(t.Context(), console.Session{}, func(*pgx.Conn) error { return nil })
		if err == nil {
			break
		}
		if !errors.As(err, &full) || time.Now().After(deadline) {
			t.Fatalf("when all have left: %v", err)
		}
	}
}

func TestErrorsSayWhoIsToBlame(t *testing.T) {
	t.Parallel()
	pool, database := open(t, nil)
	var refused *pgconn.PgError
	if err := pool.Use(t.Context(), console.Session{Role: "nobody at all"}, func(*pgx.Conn) error { return nil }); !errors.As(err, &refused) || refused.Code != "22023" {
		t.Errorf("an unknown role: %v", err)
	}
	var gone *store.UnavailableError
	err := pool.Use(t.Context(), console.Session{Name: "victim"}, func(conn *pgx.Conn) error {
		database.Exec(t, `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'victim' and datname = current_database()`)
		_, err := conn.Exec(t.Context(), `select 1`)
		return err
	})
	if !errors.As(err, &gone) || gone.Connecting {
		t.Errorf("a connection that was lost: %v", err)
	}
	nowhere, err := console.Open(t.Context(), console.Options{URL: "postgres://127.0.0.1:1/x"})
	if err != nil {
		t.Fatal(err)
	}
	defer nowhere.Close()
	if err := nowhere.Use(t.Context(), console.Session{}, func(*pgx.Conn) error { return nil }); !errors.As(err, &gone) || !gone.Connecting {
		t.Errorf("no server: %v", err)
	}
}

// counting takes rows and looks at the memory that they take.
type counting struct {
	rows int
	most uint64
	stop error
}

func (c *counting) Columns([]console.Column) error { return nil }

func (c *counting) Notice(*pgproto3.NoticeResponse) error { return nil }

func (c *counting) Row([][]byte) error {
	if c.rows++; c.rows%20_000 == 0 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		c.most = max(c.most, m.HeapAlloc)
	}
	return c.stop
}

func TestRowsPassInConstantMemory(t *testing.T) {
	pool, _ := open(t, nil)
	err := pool.Use(t.Context(), console.Session{}, func(conn *pgx.Conn) error {
		var sink counting
		result, err := console.Run(t.Context(), conn, `select n, repeat('x', 500) from generate_series(1, 100000) n`, 1_000_000, &sink)
		if err != nil || result.Rows != 100_000 || result.Truncated || sink.most > 40<<20 {
			t.Errorf("%+v %v, %d bytes at most", result, err, sink.most)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestASinkThatFailsEndsTheStatement(t *testing.T) {
	t.Parallel()
	pool, _ := open(t, nil)
	err := pool.Use(t.Context(), console.Session{}, func(conn *pgx.Conn) error {
		enough := errors.New("enough")
		if _, err := console.Run(t.Context(), conn, `select generate_series(1, 1000000000)`, 2_000_000_000, &counting{stop: enough}); err != enough {
			t.Errorf("ended by %v", err)
		}
		result, err := console.Run(t.Context(), conn, `select 1`, 10, &counting{})
		if err != nil || result.Rows != 1 {
			t.Errorf("the connection is no good any more: %+v %v", result, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestARowThatIsTooLargeIsRefused(t *testing.T) {
	t.Parallel()
	pool, _ := open(t, nil)
	var wide *store.RowTooLargeError
	err := pool.Use(t.Context(), console.Session{}, func(conn *pgx.Conn) error {
		_, err := console.Run(t.Context(), conn, `select repeat('x', 70000000)`, 10, &counting{})
		return err
	})
	if !errors.As(err, &wide) {
		t.Errorf("answered by %v", err)
	}
}

func TestAURLThatCannotBeReadIsNotRepeated(t *testing.T) {
	t.Parallel()
	_, err := console.Open(t.Context(), console.Options{URL: "postgres://user:very-secret@[::1/x"})
	if err == nil || strings.Contains(err.Error(), "very-secret") {
		t.Errorf("%v", err)
	}
}

func TestAConnectionThatDiedUnusedIsNobodysFault(t *testing.T) {
	t.Parallel()
	pool, database := open(t, nil)
	for range 3 {
		var pid uint32
		note := func(conn *pgx.Conn) error {
			pid = conn.PgConn().PID()
			return conn.Ping(t.Context())
		}
		if err := pool.Use(t.Context(), console.Session{}, note); err != nil {
			t.Fatal(err)
		}
		if _, err := database.Pool.Exec(t.Context(), `select pg_terminate_backend($1, 10000)`, pid); err != nil { // and waits until it is gone
			t.Fatal(err)
		}
		if err := pool.Use(t.Context(), console.Session{StatementTimeout: time.Minute}, note); err != nil {
			t.Errorf("the next use is told: %v", err)
		}
	}
}
