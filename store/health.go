package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// heartbeat is how often an idle DB asks whether PostgreSQL is there, and recoveryBeat how often while it is not.
const (
	heartbeat    = time.Second
	recoveryBeat = 200 * time.Millisecond
)

// Ping asks PostgreSQL for a sign of life.
func (db *DB) Ping(ctx context.Context) error {
	conn, err := db.side.Acquire(ctx)
	if err != nil {
		return db.notConnected(ctx, err)
	}
	defer conn.Release()
	if err := conn.Ping(ctx); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return &UnavailableError{Err: err}
	}
	return nil
}

// Healthy tells from memory whether PostgreSQL can be reached; the error says why not. It asks nobody and waits for
// nothing.
func (db *DB) Healthy() error {
	if _, err := db.outage.state(); err != nil {
		return &UnavailableError{Connecting: true, Err: err}
	}
	return nil
}

// watch keeps what Healthy tells true while there are no flights to find out, and notices the end of an outage before
// the next request does.
func (db *DB) watch(ctx context.Context) {
	defer close(db.watched)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		beat := heartbeat
		if flights := db.counts.landed.Load(); flights == db.counts.watched.Swap(flights) || db.Healthy() != nil {
			db.beat(ctx)
		}
		if db.Healthy() != nil {
			beat = recoveryBeat
		} else {
			db.tidy()
		}
		timer.Reset(beat)
	}
}

func (db *DB) beat(ctx context.Context) {
	ctx, stop := context.WithTimeout(ctx, db.options.ConnectTimeout)
	defer stop()
	since, before := db.outage.state()
	switch err := db.Ping(ctx); {
	case err == nil && before != nil:
		db.outage.over()
		db.options.Log.Info().Dur("duration_ms", time.Since(since)).Msg("PostgreSQL is back")
	case err != nil && before == nil && ctx.Err() == nil:
		db.options.Log.Warn().Err(err).Msg("PostgreSQL is unavailable")
	}
}

// tidy cleans the idle connections whose last flights were not followed by a cleaning: what a routine of a view or a
// policy left in them, such as a lock, must not wait for their next flight.
func (db *DB) tidy() {
	for _, pooled := range db.flights.AcquireAllIdle(context.Background()) {
		c := connectionOf(pooled.Conn().PgConn())
		if c.uncleaned > 0 && c.ready() {
			c.clean(false)
		}
		if !c.reusable() {
			db.discard(pooled, func() {})
			continue
		}
		pooled.Release()
	}
}

// sweep closes the idle connections that the server has left, so that no flight finds one of them.
func (db *DB) sweep() {
	for _, pool := range []*pgxpool.Pool{db.flights, db.side} {
		for _, pooled := range pool.AcquireAllIdle(context.Background()) {
			c := connectionOf(pooled.Conn().PgConn())
			if c.ready() {
				pooled.Release()
				continue
			}
			db.discard(pooled, func() {})
		}
	}
}
