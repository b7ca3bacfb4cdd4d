// Package console gives the dashboard a few connections of its own to PostgreSQL, as the owner of the database.
package console

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"

	"basalt/store"
)

const (
	// ApplicationName is shown in pg_stat_activity where a session has no name of its own.
	ApplicationName = "basalt console"
	// cancelPatience bounds how long PostgreSQL may take to end a cancelled statement, or to clean a session, before the
	// connection is given up.
	cancelPatience = 2 * time.Second
	// mostRow is the most bytes of one message from PostgreSQL, and so of a row.
	mostRow = 64 << 20
	// idle is how long a connection is kept that nobody uses.
	idle = time.Minute
)

// Options say how to reach the database and how much of it to use. Zero values take the defaults.
type Options struct {
	// URL names the database and its owner.
	URL string
	// Connections are the most at once; 6. Two of them are kept from work that is Long.
	Connections int
	// MaxWaiting is how many callers may wait for a connection; 64.
	MaxWaiting int
	// AcquireTimeout is how long each of them waits; 5 s.
	AcquireTimeout time.Duration
}

func (o *Options) setDefaults() {
	if o.Connections <= 0 {
		o.Connections = 6
	}
	if o.MaxWaiting <= 0 {
		o.MaxWaiting = 64
	}
	if o.AcquireTimeout <= 0 {
		o.AcquireTimeout = 5 * time.Second
	}
}

// Pool holds the connections. Each is reset after its use, whatever was run on it.
type Pool struct {
	options Options
	pool    *pgxpool.Pool
	long    chan struct{} // holds a token for each piece of long work
	waiting atomic.Int64
}

// Open makes a pool. Connections are made when they are needed, and ended when nobody has for a while.
func Open(ctx context.Context, options Options) (*Pool, error) {
	options.setDefaults()
	config, err := pgxpool.ParseConfig(options.URL)
	if err != nil {
		return nil, errors.New("read the database URL: it is not one of PostgreSQL") // the cause may hold the password
	}
	config.MaxConns, config.MinConns, config.MinIdleConns = int32(options.Connections), 0, 0
	config.MaxConnIdleTime = idle
	config.ConnConfig.ConnectTimeout = 3 * time.Second
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec // what is prepared would not outlive the reset
	config.ConnConfig.StatementCacheCapacity, config.ConnConfig.DescriptionCacheCapacity = 0, 0
	config.ConnConfig.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler { return canceller(conn) }
	config.AfterConnect = func(_ context.Context, conn *pgx.Conn) error {
		conn.PgConn().Frontend().SetMaxBodyLen(mostRow)
		return nil
	}
	// One that died while nobody used it, as all do when PostgreSQL is started anew, is not given to the next.
	config.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return true }
	for name, value := range map[string]string{
		"application_name": ApplicationName,
		"client_encoding":  "UTF8",
		// What values look like is not for a role's settings to say: grids send the text back.
		"DateStyle":                           "ISO",
		"IntervalStyle":                       "postgres",
		"bytea_output":                        "hex",
		"extra_float_digits":                  "1",
		"standard_conforming_strings":         "on",
		"idle_in_transaction_session_timeout": "60s",
	} {
		config.ConnConfig.RuntimeParams[name] = value
	}
	p := &Pool{options: options, long: make(chan struct{}, max(1, options.Connections-2))}
	if p.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, fmt.Errorf("make the dashboard's pool: %w", err)
	}
	return p, nil
}

// Close ends all connections once their users have given them back.
func (p *Pool) Close() { p.pool.Close() }

// canceller has PostgreSQL end what runs when a context does.
func canceller(conn *pgconn.PgConn) ctxwatch.Handler {
	return &pgconn.CancelRequestContextWatcherHandler{Conn: conn, DeadlineDelay: cancelPatience}
}

// Session is how one use of a connection begins.
type Session struct {
	// Role is the role to act as, the owner when it is empty.
	Role string
	// Claims is the JSON text of request.jwt.claims, "" for none.
	Claims string
	// ReadOnly makes transactions read-only unless they say otherwise.
	ReadOnly bool
	// StatementTimeout and LockTimeout bound each statement and each wait for a lock; 0 leaves it to the database.
	StatementTimeout, LockTimeout time.Duration
	// Name is the session's application_name, "" for the pool's.
	Name string
	// Long says that the use may take more than seconds. Some connections are kept from such.
	Long bool
	// Dirty says that the use leaves something in the session that no cleaning takes away: the connection is closed
	// behind it, however it ends.
	Dirty bool
}

// Use lends a connection. It is given back clean when do returns, and closed when that cannot be done. The context
// ends what runs on it.
//
// Other errors than do's are *store.PoolFullError, *store.UnavailableError, the context's, and PostgreSQL's own about
// the role.
func (p *Pool) Use(ctx context.Context, s Session, do func(*pgx.Conn) error) (err error) {
	if s.Long {
		if err := p.enter(ctx); err != nil {
			return err
		}
		defer func() { <-p.long }()
	}
	pooled, err := p.acquire(ctx)
	if err != nil {
		return err
	}
	done := false
	defer func() {
		if !done || s.Dirty { // do has panicked, or the session is no good to others
			p.discard(pooled)
			return
		}
		p.giveBack(ctx, pooled)
	}()
	conn := pooled.Conn()
	if err = s.begin(ctx, conn); err == nil {
		err = do(conn)
	}
	done = true
	return lost(ctx, conn, err)
}

// lost says of an error that the connection was lost with it.
func lost(ctx context.Context, conn *pgx.Conn, err error) error {
	if err == nil || !conn.IsClosed() || ctx.Err() != nil {
		return err
	}
	if _, wide := errors.AsType[*store.RowTooLargeError](err); wide {
		return err
	}
	return &store.UnavailableError{Err: err}
}

// Tx runs do in a transaction, which commits unless it fails.
func (p *Pool) Tx(ctx context.Context, s Session, do func(pgx.Tx) error) error {
	return p.Use(ctx, s, func(conn *pgx.Conn) error { return pgx.BeginFunc(ctx, conn, do) })
}

// enter takes a place for long work.
func (p *Pool) enter(ctx context.Context) error {
	return p.wait(ctx, func(ctx context.Context) error {
		select {
		case p.long <- struct{}{}:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
}

// acquire takes a connection that answers.
func (p *Pool) acquire(ctx context.Context) (pooled *pgxpool.Conn, err error) {
	err = p.wait(ctx, func(ctx context.Context) error {
		pooled, err = p.pool.Acquire(ctx)
		return err
	})
	if err == nil {
		return pooled, nil
	}
	if _, full := errors.AsType[*store.PoolFullError](err); full || ctx.Err() != nil {
		return nil, err
	}
	return nil, &store.UnavailableError{Connecting: true, Err: err}
}

// wait bounds a wait in time and by the number of those who wait.
func (p *Pool) wait(ctx context.Context, take func(context.Context) error) error {
	defer p.waiting.Add(-1)
	if n := p.waiting.Add(1); n > int64(p.options.MaxWaiting) {
		return &store.PoolFullError{Waiting: int(n - 1)}
	}
	bounded, stop := context.WithTimeout(ctx, p.options.AcquireTimeout)
	defer stop()
	err := take(bounded)
	if err != nil && ctx.Err() == nil && errors.Is(bounded.Err(), context.DeadlineExceeded) {
		return &store.PoolFullError{Waited: p.options.AcquireTimeout}
	}
	return err
}

// begin sets what a session begins with, its role last: that one may lack the right to set the others.
func (s *Session) begin(ctx context.Context, conn *pgx.Conn) error {
	settings := []store.Setting{}
	set := func(name, value string) { settings = append(settings, store.Setting{Name: name, Value: value}) }
	if s.Name != "" {
		set("application_name", s.Name)
	}
	if s.ReadOnly {
		set("default_transaction_read_only", "on")
	}
	if s.StatementTimeout > 0 {
		set("statement_timeout", strconv.FormatInt(s.StatementTimeout.Milliseconds(), 10))
	}
	if s.LockTimeout > 0 {
		set("lock_timeout", strconv.FormatInt(s.LockTimeout.Milliseconds(), 10))
	}
	if s.Claims != "" {
		set("request.jwt.claims", s.Claims)
	}
	if s.Role != "" {
		set("role", s.Role)
	}
	if len(settings) == 0 {
		return nil
	}
	names, values := make([]string, len(settings)), make([]string, len(settings))
	for i, setting := range settings {
		names[i], values[i] = setting.Name, setting.Value
	}
	_, err := conn.Exec(ctx, `
select pg_catalog.set_config(name, value, false)
from unnest($1::text[], $2::text[]) with ordinality as setting (name, value, place)
order by place`, names, values)
	return err
}

// cleaning makes a session as good as new. A role stays through DISCARD ALL in some versions of PostgreSQL.
var cleaning = [...]string{`reset session authorization; reset role`, `discard all`}

// giveBack cleans a connection for the next, or closes it.
func (p *Pool) giveBack(ctx context.Context, pooled *pgxpool.Conn) {
	conn := pooled.Conn()
	if ctx.Err() != nil || conn.IsClosed() || conn.PgConn().IsBusy() {
		p.discard(pooled) // a cancel request may be on its way to it
		return
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelPatience)
	defer stop()
	commands := cleaning[:]
	if conn.PgConn().TxStatus() != 'I' {
		commands = append([]string{`rollback`}, commands...)
	}
	for _, command := range commands {
		if _, err := conn.PgConn().Exec(ctx, command).ReadAll(); err != nil {
			p.discard(pooled)
			return
		}
	}
	pooled.Release()
}

// discard closes a connection.
func (p *Pool) discard(pooled *pgxpool.Conn) {
	ctx, stop := context.WithTimeout(context.Background(), cancelPatience)
	defer stop()
	_ = pooled.Hijack().Close(ctx) // it is given up, whatever it says
}
