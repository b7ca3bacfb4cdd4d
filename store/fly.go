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

// keptBuffer is the largest buffer that a connection keeps from one flight to the next.
const keptBuffer = 64 << 10

// outcome tells how far a flight came.
type outcome struct {
	begun    bool // a sink was given something
	outdated bool // a statement prepared earlier no longer fits the database
}

// fly sends a flight and hands its rows to the sinks. It returns nil only after the commit.
func (c *connection) fly(ctx context.Context, f *Flight, anew bool) (outcome, error) {
	if f.Session.Role == "none" {
		return outcome{}, noSuchRole(f.Session.Role)
	}
	var begin string
	if f.Session.Isolation != "" || f.Check != nil || f.Rollback {
		var err error
		if begin, err = beginCommand(f.Session.Isolation); err != nil {
			return outcome{}, err
		}
	}
	if err := c.settle(); err != nil {
		return outcome{}, c.name(ctx, err)
	}
	c.queue(f, begin, anew)
	o, err := c.exchange(ctx)
	if begin == "" && err != nil && f.Session.ReadOnly && c.usable() {
		// The failure has taken the cleaning with it. Settings went back by themselves, but locks did not.
		c.clean(f.Calls)
	}
	if begin != "" && c.usable() {
		if err == nil && f.Check != nil {
			err = c.conclude(ctx, f)
		}
		if c.usable() && c.pg.TxStatus() != 'I' {
			c.end("rollback")
		}
		if c.usable() {
			c.clean(f.Calls)
		}
	}
	if c.cancelled && c.usable() && c.settle() == nil {
		c.clean(false)
	}
	return o, err
}

// conclude asks the flight's Check and commits, or leaves the transaction to be rolled back.
func (c *connection) conclude(ctx context.Context, f *Flight) error {
	if err := f.Check(); err != nil {
		return err
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
	c.watcher.Watch(ctx)
	o, err := c.transfer()
	c.unwatch()
	return o, c.name(ctx, err)
}

// transfer writes and reads. A write that may not fit into the socket's buffers goes on while replies are read:
// otherwise both sides could wait for the other to read.
func (c *connection) transfer() (outcome, error) {
	const safe = 16 << 10
	if len(c.out) <= safe {
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
	var sunk *sinkError
	if errors.As(err, &sunk) {
		return sunk.err
	}
	pgErr := asPgError(err)
	if ctx.Err() != nil && (pgErr == nil || pgErr.Code == "57014") {
		return ctx.Err()
	}
	if pgErr != nil && !serverLeft(pgErr) {
		return err
	}
	var protocol *protocolError
	if errors.As(err, &protocol) {
		return fmt.Errorf("read the database's answer: %w", err)
	}
	return &UnavailableError{Err: err}
}
