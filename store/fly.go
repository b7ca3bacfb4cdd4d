package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// commitPatience bounds a COMMIT that follows a Check: it no longer depends on the caller, who may have left.
const commitPatience = 10 * time.Second

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
	o, err := c.exchange(ctx, func() { c.write(f, begin, anew) })
	if begin == "" || !c.usable() {
		return o, err
	}
	if err == nil && f.Check != nil {
		err = c.conclude(ctx, f)
	}
	if c.usable() && c.pg.TxStatus() != 'I' {
		c.end("rollback")
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
	_, err := c.exchange(ctx, func() {
		c.replies = c.replies[:0]
		c.command(command)
	})
	return err
}

func (c *connection) usable() bool {
	return !c.broken && !c.pg.IsClosed()
}

// exchange sends what write queues together with one Sync and reads all replies: one round trip. When it returns, the
// connection is ready for the next exchange or marked as broken.
func (c *connection) exchange(ctx context.Context, write func()) (outcome, error) {
	pipeline := c.pg.StartPipeline(ctx)
	write()
	defer c.forget()
	if err := pipeline.Sync(); err != nil {
		c.broken = true
		return outcome{}, c.failure(ctx, err)
	}
	o, err := c.readReplies()
	var pgErr *pgconn.PgError
	var sunk *sinkError
	switch {
	case err == nil, errors.As(err, &sunk):
	case errors.As(err, &pgErr) && !serverLeft(pgErr):
	default:
		c.broken = true
	}
	if !c.broken {
		if syncErr := c.readSync(pipeline); syncErr != nil && (err == nil || c.broken) {
			err = syncErr
		}
	}
	if pipeline.Close(); c.pg.IsClosed() {
		c.broken = true
	}
	return o, c.failure(ctx, err)
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
}

// readReplies reads the replies to all requests, the Sync's excepted, up to the first error. When a sink fails, the
// rest is read without it.
func (c *connection) readReplies() (o outcome, err error) {
	columns := Columns{
		TimeZone:      c.pg.ParameterStatus("TimeZone"),
		IntervalStyle: c.pg.ParameterStatus("IntervalStyle"),
	}
	var failed error
	for i := range c.replies {
		r := &c.replies[i]
		switch r.kind {
		case closeReply:
			message, err := c.receive()
			if err != nil {
				return o, err
			}
			if _, ok := message.(*pgproto3.CloseComplete); !ok {
				return o, &protocolError{message}
			}
		case parseReply:
			if err := c.readParse(r.statement); err != nil {
				return o, err
			}
		case runReply:
			if failed != nil {
				r.sink = nil
			}
			if err := c.readRun(r, &columns, &o); err != nil {
				var sunk *sinkError
				if !errors.As(err, &sunk) {
					if failed != nil {
						err = failed
					}
					return o, err
				}
				failed = err
			}
		}
	}
	return o, failed
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

// readSync reads ReadyForQuery. An error that comes first is that of the commit.
func (c *connection) readSync(pipeline *pgconn.Pipeline) error {
	var commitErr error
	for {
		result, err := pipeline.GetResults()
		var pgErr *pgconn.PgError
		switch {
		case errors.As(err, &pgErr) && !serverLeft(pgErr):
			commitErr = pgErr
		case err != nil:
			c.broken = true
			return err
		default:
			if _, ok := result.(*pgconn.PipelineSync); ok {
				return commitErr
			}
			c.broken = true
			return &protocolError{result}
		}
	}
}

// failure names an error for the caller: the context's when that ended, the sink's and the server's own as they are,
// and all else as the loss of the connection.
func (c *connection) failure(ctx context.Context, err error) error {
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
