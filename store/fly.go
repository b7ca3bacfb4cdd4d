package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
)

// commitPatience bounds a COMMIT that follows a Check: it no longer depends on the caller, who may have left.
const commitPatience = 10 * time.Second

// safeWrite is how much the buffers of a socket hold at least, on the way to a server that reads.
const safeWrite = 8 << 10

// keptBuffer is the largest buffer that a connection keeps from one flight to the next.
const keptBuffer = 64 << 10

// outcome tells how far a flight came.
type outcome struct {
	begun    bool // a sink was given something
	outdated bool // a statement prepared earlier no longer fits the database
}

// transaction is how a flight is kept together.
type transaction struct {
	// begin opens an explicit transaction. Without it the flight is an implicit one, which its Sync commits.
	begin string
	// held says that the end is decided when the sinks have the rows, which takes a second round trip.
	held bool
}

// fly sends a flight and hands its rows to the sinks. It returns nil only after the commit.
func (c *connection) fly(ctx context.Context, f *Flight, anew bool) (outcome, error) {
	if f.Session.Role == "none" {
		return outcome{}, noSuchRole(f.Session.Role)
	}
	if err := c.settle(); err != nil {
		return outcome{}, c.name(ctx, err)
	}
	c.resolve(f, anew)
	t, err := c.transactionFor(f)
	if err != nil {
		return outcome{}, err
	}
	c.queue(f, t)
	o, err := c.exchange(ctx)
	if !c.usable() {
		return o, err
	}
	if t.begin != "" {
		if err == nil && t.held {
			err = c.conclude(ctx, f)
		} else if err == nil && f.Check != nil {
			err = f.Check()
		}
		if c.usable() && c.pg.TxStatus() != 'I' {
			c.end("rollback")
		}
		if c.usable() {
			c.clean(f.Calls)
		}
		return o, err
	}
	if f.Session.ReadOnly {
		if err == nil && f.Check != nil {
			err = f.Check()
		}
		if c.pg.ParameterStatus(userParameter) != c.user {
			c.broken = true
			return o, err
		}
		if err != nil {
			// The failure has taken the cleaning with it. Settings went back by themselves, but locks did not.
			c.uncleaned++
			if f.Calls {
				c.clean(true)
			}
		}
	}
	if c.cancelled && c.settle() == nil {
		c.clean(f.Calls)
	}
	return o, err
}

// transactionFor chooses the transaction. A read has nothing to undo, so its Check can come after its commit. A write
// whose statement was never described on this connection is held: when its sink finds that it does not know a column's
// type (StaleError), the write must not stay, for its caller tries again. Later flights of the statement have the same
// types.
func (c *connection) transactionFor(f *Flight) (transaction, error) {
	var t transaction
	if !f.Session.ReadOnly {
		t.held = f.Check != nil
		for i := range f.Steps {
			t.held = t.held || f.Steps[i].Sink != nil && !c.entries[i].described
		}
	}
	if !t.held && (!f.Rollback || f.Session.ReadOnly) && f.Session.Isolation == "" {
		return t, nil
	}
	var err error
	t.begin, err = beginCommand(f.Session.Isolation)
	return t, err
}

// conclude asks the flight's Check and commits, or leaves the transaction to be rolled back.
func (c *connection) conclude(ctx context.Context, f *Flight) error {
	if f.Check != nil {
		if err := f.Check(); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return c.end(endCommand(f.Rollback))
}

// end sends the command that ends a transaction. It runs to its end even when the caller has left, so that the answer
// is known.
func (c *connection) end(command string) error {
	ctx, stop := context.WithTimeout(context.Background(), commitPatience)
	defer stop()
	c.start()
	c.command(command, reply{})
	c.sync()
	_, err := c.exchange(ctx)
	return err
}

// exchange sends what is queued and reads the replies up to the first ReadyForQuery: one round trip. When it returns,
// the connection can take the next flight or is marked as broken.
func (c *connection) exchange(ctx context.Context) (outcome, error) {
	defer c.forget()
	if c.failure != nil {
		c.broken = true
		return outcome{}, fmt.Errorf("encode the statement: %w", c.failure)
	}
	c.canceller.watch(ctx)
	o, err := c.transfer()
	c.unwatch()
	return o, c.name(ctx, err)
}

// transfer writes and reads. A write that may not fit into the socket's buffers goes on while replies are read:
// otherwise both sides could wait for the other to read.
func (c *connection) transfer() (outcome, error) {
	if len(c.out) <= safeWrite {
		if _, err := c.pg.Conn().Write(c.out); err != nil {
			c.broken = true
			return outcome{}, err
		}
		return c.read()
	}
	written := make(chan error, 1)
	go func() {
		_, err := c.pg.Conn().Write(c.out)
		written <- err
	}()
	o, err := c.read()
	if c.broken {
		// The server may have stopped reading.
		c.pg.Conn().SetWriteDeadline(time.Now())
	}
	if writeErr := <-written; writeErr != nil {
		c.broken = true
		err = cmp.Or(err, writeErr)
	}
	return o, err
}

// read reads all replies and ReadyForQuery.
func (c *connection) read() (outcome, error) {
	o, err := c.readReplies(c.replies)
	if connectionLost(err) {
		c.broken = true
	}
	if err != nil && c.broken {
		return o, err
	}
	syncErr := c.readSync()
	return o, cmp.Or(err, syncErr)
}

// forget drops the references to the flight and the statements whose preparation was not confirmed.
func (c *connection) forget() {
	for i := range c.replies {
		if r := &c.replies[i]; r.kind == parseReply && !r.statement.described {
			c.statements.drop(r.statement)
		}
	}
	clear(c.replies)
	clear(c.entries)
	c.before = nil
	if cap(c.out) > keptBuffer {
		c.out = nil
	}
}

// name names an error for the caller: the context's when that ended, the sink's and the server's own as they are,
// and all else as the loss of the connection.
func (c *connection) name(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if sunk, ok := errors.AsType[*sinkError](err); ok {
		return sunk.err
	}
	pgErr := asPgError(err)
	if ctx.Err() != nil && (pgErr == nil || pgErr.Code == "57014") {
		return ctx.Err()
	}
	if pgErr != nil && !serverLeft(pgErr) {
		return err
	}
	if _, ok := errors.AsType[*RowTooLargeError](err); ok {
		return err
	}
	if _, ok := errors.AsType[*protocolError](err); ok {
		return fmt.Errorf("read the database's answer: %w", err)
	}
	return &UnavailableError{Err: err}
}
