package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Run carries out a flight: its settings, its statements and their commit in one round trip and one transaction. It
// returns nil only after the commit; an error of a statement or of the commit itself (a deferred constraint, 40001)
// is the server's *pgconn.PgError. Rows go to the sinks as they arrive, so a sink that must not show what might be
// rolled back holds its answer until Run returns.
//
// Other errors are *PoolFullError, *UnavailableError, the context's, and what a sink or the flight's Check returned. A
// Check's error undoes a write and so does a *StaleError of a sink's Begin; other errors of a sink may come too late.
//
// A flight is flown again, once, when no sink has been given anything that it cannot forget (see Restarter): after
// the database's definitions changed under a prepared statement, and after the connection broke if the flight only
// reads.
func (db *DB) Run(ctx context.Context, f *Flight) error {
	for attempt := 0; ; attempt++ {
		o, err := db.attempt(ctx, f)
		gone, ok := errors.AsType[*UnavailableError](err)
		if !ok {
			return err
		}
		db.counts.unavailable.Add(1)
		if gone.Connecting {
			return err
		}
		db.sweep()
		if attempt > 0 || !f.Session.ReadOnly || ctx.Err() != nil || !restart(f, o) {
			return err
		}
		db.counts.repeated.Add(1)
	}
}

// attempt flies a flight on one connection.
func (db *DB) attempt(ctx context.Context, f *Flight) (outcome, error) {
	pooled, err := db.take(ctx)
	if err != nil {
		return outcome{}, err
	}
	if f.Boarded != nil {
		f.Boarded()
	}
	c := connectionOf(pooled.Conn().PgConn())
	landed := false
	defer func() {
		if !landed { // a sink panicked
			c.cancel()
			c.broken = true
			db.release(pooled, c)
		}
	}()
	o, err := c.fly(ctx, f, false)
	if err != nil && o.outdated && c.reusable() && restart(f, o) {
		db.counts.reprepared.Add(1)
		o, err = c.fly(ctx, f, true)
	}
	landed = true
	if c.usable() {
		db.counts.landed.Add(1)
	}
	db.release(pooled, c)
	return o, err
}

// take waits for a place at the gate and takes a connection, which release gives back.
func (db *DB) take(ctx context.Context) (*pgxpool.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := db.gate.enter(ctx); err != nil {
		return nil, err
	}
	db.counts.flights.Add(1)
	pooled, err := db.acquire(ctx)
	if err != nil {
		db.gate.leave()
	}
	return pooled, err
}

// acquire takes a clean connection of the pool. There is one for everyone who passed the gate, so this waits for
// nothing but the making of a new one.
func (db *DB) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	for {
		pooled, err := db.flights.Acquire(ctx)
		if err != nil {
			return nil, db.notConnected(ctx, err)
		}
		if connectionOf(pooled.Conn().PgConn()).ready() {
			return pooled, nil
		}
		db.discard(pooled, func() {})
	}
}

// notConnected names the error of an attempt to connect and remembers it for others.
func (db *DB) notConnected(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if remembered, ok := errors.AsType[*outageError](err); ok {
		return &UnavailableError{Connecting: true, Err: remembered.err}
	}
	db.outage.failed(err)
	return &UnavailableError{Connecting: true, Err: err}
}

// release gives the connection back if the next flight may have it, and closes it otherwise. A place at the gate
// becomes free only when PostgreSQL has one connection less.
func (db *DB) release(pooled *pgxpool.Conn, c *connection) {
	if c.reusable() {
		pooled.Release()
		db.gate.leave()
		return
	}
	db.discard(pooled, db.gate.leave)
}

// discard takes a connection out of the pool and closes it in the background.
func (db *DB) discard(pooled *pgxpool.Conn, closed func()) {
	db.counts.destroyed.Add(1)
	db.closing.Add(1) // before the pool forgets it, so that Close waits
	conn := pooled.Hijack()
	go func() {
		defer db.closing.Done()
		defer closed()
		ctx, stop := context.WithTimeout(context.Background(), cancelPatience)
		defer stop()
		conn.Close(ctx)
		select {
		case <-conn.PgConn().CleanupDone():
		case <-ctx.Done():
		}
	}()
}

// restart makes the sinks forget what they were given. It returns false when one of them cannot.
func restart(f *Flight, o outcome) bool {
	if !o.begun {
		return true
	}
	for i := range f.Steps {
		sink := f.Steps[i].Sink
		if sink == nil {
			continue
		}
		restarter, ok := sink.(Restarter)
		if !ok || !restarter.Restart() {
			return false
		}
	}
	return true
}
