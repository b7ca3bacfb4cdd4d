package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// cancelPatience bounds how long PostgreSQL may take to end a cancelled statement before its connection is given up.
const cancelPatience = 2 * time.Second

// connectionKey is where a pgconn.PgConn keeps its connection.
const connectionKey = "basalt"

// connection is what the executor keeps beside one connection of the pool: the statements that it has prepared and
// the scratch memory of its flights. It belongs to whoever holds the pool's connection.
type connection struct {
	pg         *pgconn.PgConn
	wire       *pgproto3.Frontend
	statements *preparedCache
	settings   map[settingsShape]*prepared
	commands   map[string]*prepared
	socket     socketProbe

	replies []reply
	entries []*prepared
	params  [][]byte
	bind    pgproto3.Bind
	formats [1]int16

	// cancelled says that a cancel request was sent, which PostgreSQL has handed to the backend by then but the
	// backend may not have seen yet.
	cancelled bool
	// broken says that the connection must not be used again.
	broken bool
	// cleaning says that the replies to the cleaning after the last flight were not read yet.
	cleaning bool
}

func newConnection(pg *pgconn.PgConn, statements int) *connection {
	return &connection{
		pg:         pg,
		wire:       pg.Frontend(),
		statements: newPreparedCache(statements),
		settings:   make(map[settingsShape]*prepared),
		commands:   make(map[string]*prepared),
		socket:     newSocketProbe(pg.Conn()),
		formats:    [1]int16{pgproto3.BinaryFormat},
	}
}

// connectionOf finds the connection that belongs to one of the pool's.
func connectionOf(pg *pgconn.PgConn) *connection {
	return pg.CustomData()[connectionKey].(*connection)
}

// HandleCancel asks PostgreSQL to cancel what runs on the connection, because the flight's context has ended. It
// returns when the request has been handed to the backend, or after cancelPatience.
func (c *connection) HandleCancel(context.Context) {
	c.cancel()
}

// HandleUnwatchAfterCancel lifts the deadline that HandleCancel set.
func (c *connection) HandleUnwatchAfterCancel() {
	if c.pg.Conn().SetDeadline(time.Time{}) != nil {
		c.broken = true
	}
}

func (c *connection) cancel() {
	c.cancelled = true
	deadline := time.Now().Add(cancelPatience)
	if c.pg.Conn().SetDeadline(deadline) != nil {
		c.broken = true
	}
	ctx, stop := context.WithDeadline(context.Background(), deadline)
	defer stop()
	// The postmaster closes the cancel connection after it has signalled the backend: from then on the signal comes
	// before anything that we send.
	if c.pg.CancelRequest(ctx) != nil || ctx.Err() != nil {
		c.broken = true
	}
}

// reusable tells whether the next flight may have the connection.
func (c *connection) reusable() bool {
	return !c.broken && !c.pg.IsClosed() && !c.pg.IsBusy() && c.pg.TxStatus() == 'I'
}
