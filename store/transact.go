package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Transaction says how several flights are kept together.
type Transaction struct {
	Isolation string // "" for the default, else "repeatable read" or "serializable"
	ReadOnly  bool   // no flight of it writes
	Rollback  bool   // its changes are not kept
}

// Tx is a transaction under way. It belongs to the function that Transact runs.
type Tx struct {
	ctx     context.Context
	c       *connection
	options Transaction
	anew    bool  // statements that the connection has are prepared again
	begun   bool  // BEGIN was sent
	calls   bool  // a flight called a routine
	failure error // after one nothing more is sent

	cleaned   bool // the cleaning rode with the only exchange
	outdated  bool // a statement prepared earlier no longer fits the database
	committed bool

	entries []*prepared // of the exchange
	ends    []int       // of each flight of the exchange, the place in the replies behind its last
}

// FlightError says which flight of an exchange has failed.
type FlightError struct {
	Flight int // 0 is the first that was given to Run or Commit
	Err    error
}

func (e *FlightError) Error() string {
	return fmt.Sprintf("flight %d of the transaction: %v", e.Flight, e.Err)
}

func (e *FlightError) Unwrap() error { return e.Err }

// Transact runs work over one transaction: each exchange (Tx.Run, Tx.Commit) sends any number of flights, each under
// its own identity and settings, in one round trip. When work returns nil the transaction commits, if Tx.Commit has
// not done so, and else it is rolled back; Transact returns work's error or those of Run.
//
// Work may be run a second time from its beginning, for the reasons that Run flies a flight again: nothing of the
// first time stands then. Rows must not be shown before Transact returns.
//
// Between two exchanges the transaction holds its connection and its locks: work does nothing there that may wait.
func (db *DB) Transact(ctx context.Context, t Transaction, work func(*Tx) error) error {
	anew := false
	for attempt := 0; ; attempt++ {
		tx, err := db.attemptTransaction(ctx, t, anew, work)
		if err == nil || attempt > 0 || ctx.Err() != nil {
			return err
		}
		if tx.outdated && !tx.committed {
			db.counts.reprepared.Add(1)
			anew = true
			continue
		}
		gone, ok := errors.AsType[*UnavailableError](err)
		if !ok {
			return err
		}
		db.counts.unavailable.Add(1)
		if gone.Connecting {
			return err
		}
		db.sweep()
		if !t.ReadOnly {
			return err
		}
		db.counts.repeated.Add(1)
	}
}

// attemptTransaction runs work once.
func (db *DB) attemptTransaction(ctx context.Context, t Transaction, anew bool, work func(*Tx) error) (Tx, error) {
	tx := Tx{ctx: ctx, options: t, anew: anew}
	pooled, err := db.take(ctx)
	if err != nil {
		return tx, err
	}
	c := connectionOf(pooled.Conn().PgConn())
	tx.c = c
	landed := false
	defer func() {
		if !landed { // a sink or work panicked
			c.cancel()
			c.broken = true
			db.release(pooled, c)
		}
	}()
	if err = work(&tx); err == nil {
		err = tx.Commit()
	}
	tx.end()
	landed = true
	if c.usable() {
		db.counts.landed.Add(1)
	}
	db.release(pooled, c)
	return tx, err
}

// Run sends flights in one round trip and hands their rows to their sinks. Then their Checks are asked in turn. The
// first that fails ends the transaction; the error is a *FlightError where it is a flight's own. Their Rollback and
// their Session's Isolation are the transaction's to say.
func (tx *Tx) Run(flights ...*Flight) error {
	_, err := tx.exchange(flights, false)
	return err
}

// Commit sends the last flights and commits. The COMMIT rides along, which makes one round trip of it, unless a flight
// has a Check or a statement that was never described on this connection (see StaleError). Nothing can be run behind it.
func (tx *Tx) Commit(flights ...*Flight) error {
	if tx.committed || tx.failure == nil && !tx.begun && len(flights) == 0 {
		return tx.failure
	}
	ended, err := tx.exchange(flights, true)
	if err == nil && !ended {
		err = tx.conclude()
	}
	tx.committed = err == nil
	return err
}

// conclude sends the end by itself. It is waited for even when the caller has left, so that it is known.
func (tx *Tx) conclude() error {
	if tx.failure = tx.ctx.Err(); tx.failure != nil {
		return tx.failure
	}
	ctx, stop := context.WithTimeout(context.Background(), commitPatience)
	defer stop()
	tx.c.start()
	tx.queueEnd()
	tx.c.sync()
	_, tx.failure = tx.c.exchange(ctx)
	return tx.failure
}

// exchange sends flights, with last the end of the transaction too where it may ride along.
func (tx *Tx) exchange(flights []*Flight, last bool) (ended bool, err error) {
	if tx.failure == nil {
		tx.failure = tx.ctx.Err()
	}
	if tx.failure != nil || len(flights) == 0 {
		return false, tx.failure
	}
	ended, tx.failure = tx.send(flights, last)
	for i, f := range flights {
		if tx.failure == nil && f.Check != nil {
			if err := f.Check(); err != nil {
				tx.failure = &FlightError{i, err}
			}
		}
	}
	return ended, tx.failure
}

func (tx *Tx) send(flights []*Flight, last bool) (ended bool, err error) {
	c := tx.c
	for i, f := range flights {
		if f.Session.Role == "none" {
			return false, &FlightError{i, noSuchRole(f.Session.Role)}
		}
	}
	if err := c.settle(); err != nil {
		return false, c.name(tx.ctx, err)
	}
	c.start()
	c.queueClosing() // of those that went before, and not of what this exchange may push out of the cache
	held := tx.resolve(flights)
	ended = last && !held
	implicit := ended && !tx.begun && tx.mayBeImplicit(flights)
	if !tx.begun && !implicit {
		begin, err := beginCommand(tx.options.Isolation)
		if err != nil {
			return false, err
		}
		c.command(begin, reply{})
	}
	entries := tx.entries
	tx.ends = tx.ends[:0]
	for i, f := range flights {
		entries = tx.queue(f, entries, i == 0 && !tx.begun)
		tx.ends = append(tx.ends, len(c.replies))
	}
	if ended && !implicit {
		tx.queueEnd()
	}
	c.sync()
	if implicit {
		// As behind any write: a transaction of its own, whose replies nobody waits for.
		c.sinceLook++
		exchange := len(c.replies)
		c.queueCleaning(true, tx.calls)
		c.sync()
		c.postpone(exchange)
	}
	tx.begun, tx.cleaned = true, implicit
	c.failedAt = -1
	o, err := c.exchange(tx.ctx)
	tx.outdated = err != nil && o.outdated
	tx.dropUncached()
	return ended, tx.named(err)
}

// resolve finds the prepared statements of all flights and tells whether the COMMIT must wait for what comes of them.
func (tx *Tx) resolve(flights []*Flight) (held bool) {
	tx.entries = tx.entries[:0]
	for _, f := range flights {
		held = held || f.Check != nil
		if f.Session.Before != nil {
			tx.entries = append(tx.entries, tx.c.entry(f.Session.Before, f.Session.Role, tx.anew))
		}
		for i := range f.Steps {
			entry := tx.c.entry(f.Steps[i].Statement, f.Session.Role, tx.anew)
			held = held || f.Steps[i].Sink != nil && !entry.described
			tx.entries = append(tx.entries, entry)
		}
		tx.calls = tx.calls || f.Calls
	}
	return held && !tx.options.ReadOnly // a read has nothing to undo
}

// mayBeImplicit says that a transaction of one exchange needs no BEGIN: its Sync commits, and an error undoes it.
func (tx *Tx) mayBeImplicit(flights []*Flight) bool {
	if tx.options.Isolation != "" || tx.options.Rollback && !tx.options.ReadOnly {
		return false
	}
	return !slices.ContainsFunc(flights, tx.guards)
}

// guards says that a flight that must not write stands among others that do. Only the end of a subtransaction lets
// those behind it write again.
func (tx *Tx) guards(f *Flight) bool {
	return f.Session.ReadOnly && !tx.options.ReadOnly && !f.Continues
}

// queue queues a flight, whose statements come first among the entries, and gives those of the others.
func (tx *Tx) queue(f *Flight, entries []*prepared, first bool) []*prepared {
	c := tx.c
	guarded := tx.guards(f)
	if guarded {
		c.command(`savepoint basalt`, reply{})
	}
	if !f.Continues {
		if first {
			c.queueReset()
		} else {
			c.command(`reset all`, reply{}) // what the flight before has set is none of this one's
		}
		c.applySettings(&f.Session)
	}
	if f.Session.Before != nil {
		c.runBefore(entries[0])
		entries = entries[1:]
	}
	for i := range f.Steps {
		c.run(entries[i], f.Steps[i].Params, reply{sink: f.Steps[i].Sink})
	}
	if guarded {
		c.command(`release savepoint basalt`, reply{})
	}
	return entries[len(f.Steps):]
}

// queueEnd queues the end of the transaction.
func (tx *Tx) queueEnd() {
	if tx.options.Rollback && !tx.options.ReadOnly {
		tx.c.command(checkConstraints, reply{}) // a commit would have told what they refuse
	}
	tx.c.command(endCommand(tx.options.Rollback), reply{})
}

// dropUncached takes note of the statements that one exchange has prepared and pushed out of the cache.
func (tx *Tx) dropUncached() {
	statements := tx.c.statements
	for _, entry := range tx.entries {
		if entry.described && !entry.closing && statements.byKey[entry.key] != entry {
			statements.close(entry)
		}
	}
	clear(tx.entries)
}

// named says which flight an error of an exchange belongs to, if to any. That a connection was lost is no flight's; that
// it was given up for the size of a row is that of the flight whose row it was.
func (tx *Tx) named(err error) error {
	_, tooLarge := errors.AsType[*RowTooLargeError](err)
	if err == nil || tx.c.failedAt < 0 || !tx.c.usable() && !tooLarge {
		return err
	}
	for i, end := range tx.ends {
		if tx.c.failedAt < end {
			return &FlightError{i, err}
		}
	}
	return err
}

// end rolls back what was not committed and cleans the connection.
func (tx *Tx) end() {
	c := tx.c
	if c.usable() && c.pg.TxStatus() != 'I' {
		c.end("rollback")
	}
	if !c.usable() || !tx.begun || tx.cleaned && !c.cancelled || c.settle() != nil {
		return
	}
	c.clean(tx.calls)
}
