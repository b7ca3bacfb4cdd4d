package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
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
	c.watcher.Unwatch()
	if c.cancelled && !c.broken && c.pg.Conn().SetDeadline(time.Time{}) != nil {
		c.broken = true
	}
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
	var sunk *sinkError
	if err != nil && !errors.As(err, &sunk) {
		if pgErr := asPgError(err); pgErr == nil || serverLeft(pgErr) {
			c.broken = true
			return o, err
		}
	}
	if syncErr := c.readSync(); syncErr != nil && (err == nil || c.broken) {
		err = syncErr
	}
	return o, err
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

// readReplies reads the replies to all requests, the Sync's excepted, up to the first error. When a sink fails, the
// rest is read without it.
func (c *connection) readReplies(replies []reply) (o outcome, err error) {
	columns := Columns{
		TimeZone:      c.pg.ParameterStatus("TimeZone"),
		IntervalStyle: c.pg.ParameterStatus("IntervalStyle"),
	}
	var failed error
	for i := range replies {
		r := &replies[i]
		if failed != nil {
			r.sink = nil
		}
		err := c.readReply(r, &columns, &o)
		var sunk *sinkError
		switch {
		case err == nil:
		case errors.As(err, &sunk):
			failed = err
		case r.cleaning:
			// The flight has succeeded and must not fail for this; its connection must not be used again.
			c.broken = true
			return o, failed
		default:
			return o, cmp.Or(failed, err)
		}
	}
	return o, failed
}

func (c *connection) readReply(r *reply, columns *Columns, o *outcome) error {
	switch r.kind {
	case parseReply:
		return c.readParse(r.statement)
	case runReply:
		return c.readRun(r, columns, o)
	}
	message, err := c.receive()
	if err != nil {
		return err
	}
	if _, ok := message.(*pgproto3.CloseComplete); !ok {
		return &protocolError{message}
	}
	return nil
}

// readRun reads the replies to a Bind and an Execute.
func (c *connection) readRun(r *reply, columns *Columns, o *outcome) error {
	message, err := c.receive()
	if err != nil {
		pgErr := asPgError(err)
		// An error before BindComplete is one of analysis or planning. A statement that this very flight prepared
		// has just been analysed: nothing is gained by doing that again.
		o.outdated = pgErr != nil && planOutdated(pgErr) && !c.parsing(r.statement)
		return err
	}
	if _, ok := message.(*pgproto3.BindComplete); !ok {
		return &protocolError{message}
	}
	columns.Types = r.statement.types
	sink, begun := r.sink, false
	var failed error
	for {
		message, err := c.receive()
		if err != nil {
			if failed != nil && asPgError(err) != nil {
				return failed
			}
			return err
		}
		var tag []byte
		switch message := message.(type) {
		case *pgproto3.DataRow:
			if r.zone {
				columns.TimeZone, columns.IntervalStyle = string(message.Values[1]), string(message.Values[2])
			}
			if r.look {
				c.broken = true
			}
			if sink == nil {
				continue
			}
			if !begun {
				begun, o.begun = true, true
				failed = sink.Begin(*columns)
			}
			if failed == nil {
				failed = sink.Row(message.Values)
			}
			if failed != nil {
				// Nobody wants the other rows: they are not waited for.
				failed, sink = &sinkError{failed}, nil
				c.watcher.Unwatch()
				c.cancel()
			}
			continue
		case *pgproto3.CommandComplete:
			tag = message.CommandTag
		case *pgproto3.EmptyQueryResponse:
		default:
			return &protocolError{message}
		}
		if failed != nil || sink == nil {
			return failed
		}
		if !begun {
			o.begun = true
			failed = sink.Begin(*columns)
		}
		if failed == nil {
			failed = sink.End(rowsAffected(tag))
		}
		if failed != nil {
			return &sinkError{failed}
		}
		return nil
	}
}

// readSync reads ReadyForQuery through pgconn, which learns the state of the transaction and changed parameters. An
// error that comes first is that of the commit.
func (c *connection) readSync() error {
	var commitErr error
	for {
		message, err := c.pg.ReceiveMessage(context.Background())
		if err != nil {
			c.broken = true
			return err
		}
		switch message := message.(type) {
		case *pgproto3.ReadyForQuery:
			return commitErr
		case *pgproto3.ErrorResponse:
			commitErr = pgconn.ErrorResponseToPgError(message)
		case *pgproto3.NoticeResponse, *pgproto3.NotificationResponse, *pgproto3.ParameterStatus:
		default:
			c.broken = true
			return &protocolError{message}
		}
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
