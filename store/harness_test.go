package store_test

import (
	"bytes"
	"context"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"go.uber.org/goleak"

	"basalt/query/sql"
	"basalt/store"
	"basalt/store/storetest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// open opens a database for a test.
func open(t testing.TB, options store.Options) *store.DB {
	t.Helper()
	db, err := store.Open(context.Background(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}

// openOne opens a database with a single connection for flights, so that all of them share it.
func openOne(t testing.TB, database *storetest.Database) *store.DB {
	return open(t, store.Options{URL: database.URL, PoolSize: 1})
}

// result is a sink that keeps what it is given.
type result struct {
	columns store.Columns
	rows    [][]string // NULL is "<null>"
	begins  int
	ends    int
	count   int64
}

func (r *result) Begin(columns store.Columns) error {
	r.begins++
	r.columns = columns
	r.rows = nil
	return nil
}

func (r *result) Row(values [][]byte) error {
	row := make([]string, len(values))
	for i, value := range values {
		row[i] = string(value)
		if value == nil {
			row[i] = "<null>"
		}
	}
	r.rows = append(r.rows, row)
	return nil
}

func (r *result) End(count int64) error {
	r.ends++
	r.count = count
	return nil
}

// value is the only value of the result.
func (r *result) value(t testing.TB) string {
	t.Helper()
	if len(r.rows) != 1 || len(r.rows[0]) != 1 {
		t.Fatalf("got %q, want one value", r.rows)
	}
	return r.rows[0][0]
}

// restartable is a result that can forget what it was given.
type restartable struct {
	result
	restarts int
}

func (r *restartable) Restart() bool {
	r.restarts++
	return true
}

// failing is a sink that fails where it is told to.
type failing struct {
	begin, row, end error
}

func (f failing) Begin(store.Columns) error { return f.begin }
func (f failing) Row([][]byte) error        { return f.row }
func (f failing) End(int64) error           { return f.end }

// statement makes a step without parameters.
func statement(text string, sink store.Sink) store.Step {
	return store.Step{Statement: &sql.Statement{SQL: text}, Sink: sink}
}

// read flies one statement that only reads.
func read(t testing.TB, db *store.DB, role, text string) *result {
	t.Helper()
	r := &result{}
	err := db.Run(t.Context(), &store.Flight{
		Session: store.Session{Role: role, ReadOnly: true},
		Steps:   []store.Step{statement(text, r)},
	})
	if err != nil {
		t.Fatalf("run %q: %v", text, err)
	}
	return r
}

// eventually waits until a condition holds.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("still not so after a minute: %s", what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// queryInt asks the test's own connection for a number.
func queryInt(t testing.TB, database *storetest.Database, text string, args ...any) int {
	t.Helper()
	var n int
	if err := database.Pool.QueryRow(context.Background(), text, args...).Scan(&n); err != nil {
		t.Fatalf("run %q: %v", text, err)
	}
	return n
}

// proxy stands between the store and PostgreSQL, counts what passes and can break.
type proxy struct {
	URL string

	target   func() (net.Conn, error)
	listener net.Listener
	running  sync.WaitGroup

	mu    sync.Mutex
	conns map[net.Conn]struct{}
	down  bool

	dials atomic.Int64
	turns atomic.Int64 // times that the server was heard after the client was, on connections for flights
	held  atomic.Bool  // the client's bytes are not passed on
}

// link is one connection through the proxy.
type link struct {
	*proxy
	spoken atomic.Bool // the client was heard last
	side   atomic.Bool // it is not for flights
}

func newProxy(t testing.TB, database *storetest.Database) *proxy {
	t.Helper()
	config, err := pgx.ParseConfig(database.URL)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: listener, conns: map[net.Conn]struct{}{}}
	p.target = func() (net.Conn, error) {
		network, address := pgconn.NetworkAddress(config.Host, config.Port)
		return net.Dial(network, address)
	}
	target, err := url.Parse(database.URL)
	if err != nil {
		t.Fatal(err)
	}
	target.Host, target.RawQuery = listener.Addr().String(), ""
	p.URL = target.String()
	p.running.Go(p.serve)
	t.Cleanup(func() {
		listener.Close()
		p.cut()
		p.running.Wait()
	})
	return p
}

func (p *proxy) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.dials.Add(1)
		p.mu.Lock()
		down := p.down
		p.mu.Unlock()
		if down {
			client.Close()
			continue
		}
		server, err := p.target()
		if err != nil {
			client.Close()
			continue
		}
		p.mu.Lock()
		p.conns[client], p.conns[server] = struct{}{}, struct{}{}
		p.mu.Unlock()
		l := &link{proxy: p}
		p.running.Go(func() { l.pass(client, server, true) })
		p.running.Go(func() { l.pass(server, client, false) })
	}
}

func (l *link) pass(from, to net.Conn, fromClient bool) {
	defer from.Close()
	defer to.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		if fromClient {
			l.spoken.Store(true)
			if bytes.Contains(buffer[:n], []byte("basalt side")) { // application_name, in the first message
				l.side.Store(true)
			}
			for l.held.Load() {
				time.Sleep(time.Millisecond)
			}
		} else if l.spoken.Swap(false) && !l.side.Load() {
			l.turns.Add(1)
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// cut breaks all connections.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn := range p.conns {
		conn.Close()
	}
	clear(p.conns)
}

// setDown breaks all connections and refuses new ones, or lets them pass again.
func (p *proxy) setDown(down bool) {
	p.mu.Lock()
	p.down = down
	p.mu.Unlock()
	if down {
		p.cut()
	}
}
