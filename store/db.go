// Package store is PostgreSQL as the rest of Basalt sees it.
package store

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"
)

// Options say how to reach a database and how much of it to use. Zero values take the defaults.
type Options struct {
	// URL names the database, also as keywords and values; several hosts and target_session_attrs work.
	URL string
	// RequestUser and RequestPassword are whom flights connect as; the user of the URL when they are empty.
	RequestUser, RequestPassword string
	// PoolSize is the most connections for flights; 4 for each CPU, at least 8.
	PoolSize int32
	// SidePoolSize is the most connections for everything else (Pool); half of PoolSize, at least 4.
	SidePoolSize int32
	// MaxWaiting is the most flights that wait for a connection; 64 for each connection.
	MaxWaiting int
	// AcquireTimeout is how long a flight waits for a connection; 10 s.
	AcquireTimeout time.Duration
	// StatementTimeout is how long PostgreSQL runs one statement; 0 leaves it to the database.
	StatementTimeout time.Duration
	// ConnectTimeout is how long one attempt to connect may take; 3 s.
	ConnectTimeout time.Duration
	// StatementCache is the most prepared statements of a connection; 500.
	StatementCache int
	// MaxRow is the most bytes of one row, which is read whole before a sink sees it; 1 GiB, PostgreSQL's own limit.
	MaxRow int
	// ApplicationName is shown in pg_stat_activity; basalt.
	ApplicationName string
	Log             zerolog.Logger
}

func (o *Options) setDefaults() {
	if o.PoolSize <= 0 {
		o.PoolSize = max(8, int32(4*runtime.GOMAXPROCS(0)))
	}
	if o.SidePoolSize <= 0 {
		o.SidePoolSize = max(4, o.PoolSize/2)
	}
	if o.MaxWaiting <= 0 {
		o.MaxWaiting = 64 * int(o.PoolSize)
	}
	if o.AcquireTimeout <= 0 {
		o.AcquireTimeout = 10 * time.Second
	}
	if o.ConnectTimeout <= 0 {
		o.ConnectTimeout = 3 * time.Second
	}
	if o.StatementCache <= 0 {
		o.StatementCache = 500
	}
	o.StatementCache = max(o.StatementCache, leastPrepared)
	if o.MaxRow <= 0 {
		o.MaxRow = 1 << 30
	}
	if o.ApplicationName == "" {
		o.ApplicationName = "basalt"
	}
}

// DB is one PostgreSQL database. Flights have a pool of their own: what clients do cannot take the last connection
// from sign-ins, health checks and the catalog, nor the other way round.
type DB struct {
	options Options
	flights *pgxpool.Pool
	side    *pgxpool.Pool
	gate    *gate
	outage  outage
	counts  counters

	stop    context.CancelFunc // ends watch
	watched chan struct{}      // closed when it has ended

	// closing are the connections that were taken out of the pool and are being closed.
	closing sync.WaitGroup
}

// Open makes the pools. It does not wait for PostgreSQL: connections are made when they are needed.
func Open(ctx context.Context, options Options) (*DB, error) {
	options.setDefaults()
	config, err := pgxpool.ParseConfig(options.URL)
	if err != nil {
		return nil, fmt.Errorf("read the database URL: %w", err)
	}
	db := &DB{
		options: options,
		gate:    newGate(int(options.PoolSize), options.MaxWaiting, options.AcquireTimeout),
		watched: make(chan struct{}),
	}
	db.configure(config)
	flights, side := config, config.Copy()
	if options.RequestUser != "" {
		flights.ConnConfig.User, flights.ConnConfig.Password = options.RequestUser, options.RequestPassword
	}
	flights.MaxConns = options.PoolSize
	flights.MinIdleConns = min(2, options.PoolSize)
	side.MaxConns = options.SidePoolSize
	side.PrepareConn = func(_ context.Context, conn *pgx.Conn) (bool, error) {
		return connectionOf(conn.PgConn()).ready(), nil
	}
	side.ConnConfig.RuntimeParams["application_name"] = options.ApplicationName + " side"
	if db.flights, err = pgxpool.NewWithConfig(ctx, flights); err != nil {
		return nil, fmt.Errorf("open the pool: %w", err)
	}
	if db.side, err = pgxpool.NewWithConfig(ctx, side); err != nil {
		db.flights.Close()
		return nil, fmt.Errorf("open the side pool: %w", err)
	}
	watching, stop := context.WithCancel(context.WithoutCancel(ctx))
	db.stop = stop
	go db.watch(watching)
	return db, nil
}

// configure sets what both pools share. Session parameters ride in the startup message: no round trip, and RESET ALL
// returns to them. Those that the URL sets stay.
func (db *DB) configure(config *pgxpool.Config) {
	config.MaxConnLifetime = time.Hour
	config.MaxConnLifetimeJitter = 15 * time.Minute
	config.MaxConnIdleTime = 5 * time.Minute
	config.HealthCheckPeriod = 15 * time.Second
	config.ConnConfig.ConnectTimeout = db.options.ConnectTimeout
	config.ConnConfig.DialFunc = db.dial
	config.BeforeConnect = func(ctx context.Context, _ *pgx.ConnConfig) error { return db.outage.beforeConnect(ctx) }
	config.AfterConnect = func(_ context.Context, conn *pgx.Conn) error {
		db.outage.over()
		pg := conn.PgConn()
		pg.CustomData()[connectionKey] = newConnection(pg, db.options.StatementCache, db.options.MaxRow)
		return nil
	}
	// Whether a connection is alive shows without a round trip: see ready.
	config.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false }

	params := config.ConnConfig.RuntimeParams
	for name, value := range map[string]string{
		"application_name":                    db.options.ApplicationName,
		"client_encoding":                     "UTF8",
		"DateStyle":                           "ISO",
		"bytea_output":                        "hex",
		"extra_float_digits":                  "1",
		"idle_in_transaction_session_timeout": "30s",
	} {
		if _, given := params[name]; !given {
			params[name] = value
		}
	}
	if _, given := params["statement_timeout"]; !given && db.options.StatementTimeout > 0 {
		params["statement_timeout"] = strconv.FormatInt(db.options.StatementTimeout.Milliseconds(), 10)
	}
}

// dial connects and notes when that fails, for those who would try in vain. A peer that has vanished without a word is
// noticed within half a minute.
func (db *DB) dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{KeepAliveConfig: net.KeepAliveConfig{
		Enable:   true,
		Idle:     15 * time.Second,
		Interval: 5 * time.Second,
		Count:    3,
	}}
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil && !errors.Is(ctx.Err(), context.Canceled) {
		db.outage.failed(err)
	}
	return conn, err
}

// Pool gives connections for queries of Basalt's own. They run as the role that Basalt connects with.
func (db *DB) Pool() *pgxpool.Pool { return db.side }

// Close ends the flights' connections when they have landed, and all others.
func (db *DB) Close() {
	db.stop()
	<-db.watched
	db.flights.Close()
	db.side.Close()
	db.closing.Wait()
}
