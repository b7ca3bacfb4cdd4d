package store

import (
	"cmp"
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// nameTaken is the SQLSTATE of a statement whose name is there already.
const nameTaken = "42P05"

// delivery hands the rows of one statement to its sink until the sink fails.
type delivery struct {
	sink    Sink
	columns *Columns
	begun   bool
	failed  *sinkError
}

func (d *delivery) begin() error {
	if d.begun {
		return nil
	}
	d.begun = true
	return d.sink.Begin(*d.columns)
}

// row reports whether the sink took the row.
func (d *delivery) row(values [][]byte) bool {
	err := d.begin()
	if err == nil {
		err = d.sink.Row(values)
	}
	return d.keep(err)
}

func (d *delivery) end(rows int64) bool {
	err := d.begin()
	if err == nil {
		err = d.sink.End(rows)
	}
	return d.keep(err)
}

func (d *delivery) keep(err error) bool {
	if err != nil {
		d.failed, d.sink = &sinkError{err: err}, nil
	}
	return err == nil
}

// readReplies reads the replies to all requests, the Sync's excepted, up to the first error. When a sink fails, the
// rest is read without it.
func (c *connection) readReplies(replies []reply) (outcome, error) {
	var o outcome
	var failed error
	c.columns = Columns{
		TimeZone:      c.pg.ParameterStatus("TimeZone"),
		IntervalStyle: c.pg.ParameterStatus("IntervalStyle"),
	}
	for i := range replies {
		r := &replies[i]
		if failed != nil {
			r.sink = nil
		}
		err := c.readReply(r, &o)
		if err == nil {
			continue
		}
		if failed == nil {
			c.failedAt = i
		}
		if sunk, ok := errors.AsType[*sinkError](err); ok {
			failed = err
			if sunk.last {
				break
			}
			continue
		}
		if r.cleaning {
			// The flight has succeeded and must not fail for this; its connection must not be used again.
			c.broken = true
			break
		}
		return o, cmp.Or(failed, err)
	}
	return o, failed
}

func (c *connection) readReply(r *reply, o *outcome) error {
	switch r.kind {
	case parseReply:
		err := c.readParse(r.statement)
		if pgErr := asPgError(err); pgErr != nil && pgErr.Code == nameTaken {
			// A routine has taken the name, and what else of ours it has taken nobody knows.
			c.broken = true
			return &UnavailableError{Err: err}
		}
		return err
	case runReply:
		return c.readRun(r, o)
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
func (c *connection) readRun(r *reply, o *outcome) error {
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
	c.columns.Types = r.statement.types
	d := delivery{sink: r.sink, columns: &c.columns}
	err = c.readRows(r, &d)
	o.begun = o.begun || d.begun
	switch {
	case d.failed == nil:
		return err
	case err != nil:
		c.broken = c.broken || connectionLost(err)
		d.failed.last = true
	}
	return d.failed
}

// readRows reads rows up to the end of the command.
func (c *connection) readRows(r *reply, d *delivery) error {
	for {
		message, err := c.receive()
		if err != nil {
			return err
		}
		var tag []byte
		switch message := message.(type) {
		case *pgproto3.DataRow:
			if r.zone {
				d.columns.TimeZone, d.columns.IntervalStyle = string(message.Values[2]), string(message.Values[3])
			}
			if r.look {
				c.broken = true
			}
			if d.sink != nil && !d.row(message.Values) {
				// Nobody wants the other rows: they are not waited for.
				c.cancel()
			}
			continue
		case *pgproto3.CommandComplete:
			tag = message.CommandTag
		case *pgproto3.EmptyQueryResponse:
		default:
			return &protocolError{message}
		}
		if d.sink != nil {
			d.end(rowsAffected(tag))
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

// receive gives the next message of the flight. A server's error is returned as *pgconn.PgError.
func (c *connection) receive() (pgproto3.BackendMessage, error) {
	for {
		message, err := c.wire.Receive()
		if tooLong, ok := errors.AsType[*pgproto3.ExceededMaxBodyLenErr](err); ok {
			return nil, &RowTooLargeError{Bytes: tooLong.ActualBodyLen, Most: tooLong.MaxExpectedBodyLen}
		}
		if err != nil {
			return nil, err
		}
		switch message := message.(type) {
		case *pgproto3.ErrorResponse:
			return nil, pgconn.ErrorResponseToPgError(message)
		case *pgproto3.NoticeResponse, *pgproto3.NotificationResponse, *pgproto3.ParameterStatus:
			// PostgreSQL 14 and newer reports changed parameters only before ReadyForQuery, which readSync reads.
			continue
		}
		return message, nil
	}
}

// readParse reads the replies to a Parse and a Describe.
func (c *connection) readParse(statement *prepared) error {
	message, err := c.receive()
	if err != nil {
		return err
	}
	if _, ok := message.(*pgproto3.ParseComplete); !ok {
		return &protocolError{message}
	}
	message, err = c.receive()
	if err != nil {
		return err
	}
	if _, ok := message.(*pgproto3.ParameterDescription); !ok {
		return &protocolError{message}
	}
	message, err = c.receive()
	if err != nil {
		return err
	}
	switch message := message.(type) {
	case *pgproto3.RowDescription:
		statement.types = make([]uint32, len(message.Fields))
		for i := range message.Fields {
			statement.types[i] = message.Fields[i].DataTypeOID
		}
	case *pgproto3.NoData:
		statement.types = nil
	default:
		return &protocolError{message}
	}
	statement.described = true
	return nil
}

// rowsAffected reads the number at the end of a command tag, 0 when there is none.
func rowsAffected(tag []byte) int64 {
	start := len(tag)
	for start > 0 && '0' <= tag[start-1] && tag[start-1] <= '9' {
		start--
	}
	var n int64
	for _, digit := range tag[start:] {
		n = n*10 + int64(digit-'0')
	}
	return n
}
