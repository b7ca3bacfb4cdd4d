package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// cancelPatience bounds how long PostgreSQL may take to end a cancelled statement, or to clean a session, before the
// connection is given up.
const cancelPatience = 2 * time.Second

// connectionKey is where a pgconn.PgConn keeps its connection.
const connectionKey = "basalt"

// userParameter is reported by the server whenever it changes.
const userParameter = "session_authorization"

// connection is what the executor keeps beside one connection of the pool: the statements that it has prepared and
// the scratch memory of its flights. It belongs to whoever holds the pool's connection.
//
// It speaks the extended query protocol itself, because a flight is one write and its replies are read in place:
// pgconn's pipeline would queue, allocate and describe for each statement. pgconn makes the connection, reads what
// ends a transaction (so that it knows its state) and closes it.
type connection struct {
	pg         *pgconn.PgConn
	wire       *pgproto3.Frontend
	canceller  canceller
	statements *preparedCache
	settings   map[settingsShape]*prepared
	commands   map[string]*prepared
	socket     socketProbe

	out     []byte // what the flight sends
	failure error  // of encoding it
	replies []reply
	// failedAt is the place in replies of the last error.
	failedAt int
	columns  Columns // of the statement whose rows are read
	entries  []*prepared
	before   *prepared // of the session, nil for none
	params   [][]byte
	bind     pgproto3.Bind
	formats  [1]int16

	// cancelled says that a cancel request was sent, which PostgreSQL has handed to the backend by then but the
	// backend may not have seen yet.
	cancelled bool
	// broken says that the connection must not be used again.
	broken bool

	// pending are the replies to the cleaning behind the last flight, which were not read yet.
	pending []reply
	// uncleaned counts the flights since the last full cleaning.
	uncleaned int
	// sinceLook counts the flights since the last look for foreign prepared statements.
	sinceLook int
	// sinceSure counts the flights since the last such look that a routine cannot deceive.
	sinceSure int
	// user is the session's user, as the server told when the connection was made.
	user string
}

func newConnection(pg *pgconn.PgConn, statements, maxRow int) *connection {
	c := &connection{
		pg:         pg,
		wire:       pg.Frontend(),
		statements: newPreparedCache(statements),
		settings:   make(map[settingsShape]*prepared),
		commands:   make(map[string]*prepared),
		socket:     newSocketProbe(pg.Conn()),
		formats:    [1]int16{pgproto3.BinaryFormat},
		user:       pg.ParameterStatus(userParameter),
	}
	c.wire.SetMaxBodyLen(maxRow)
	c.canceller = canceller{pg: pg, done: make(chan struct{}, 1)}
	c.canceller.ended = c.canceller.contextEnded
	return c
}

// connectionOf finds the connection that belongs to one of the pool's.
func connectionOf(pg *pgconn.PgConn) *connection {
	return pg.CustomData()[connectionKey].(*connection)
}

// canceller cancels what runs on a connection when the flight's context ends. It has no goroutine that waits for that,
// as pgx's watcher has: starting one and meeting it again would take longer than most of a request's steps. While it
// watches, its fields belong to whoever asks for the cancelling.
type canceller struct {
	pg     *pgconn.PgConn
	sent   bool
	failed bool

	ended func()        // contextEnded, made once
	stop  func() bool   // keeps ended from being called; nil when nothing is watched
	done  chan struct{} // holds one token when ended has done its work
}

// watch has the flight cancelled when its context ends, until unwatch.
func (h *canceller) watch(ctx context.Context) {
	if ctx.Done() != nil {
		h.stop = context.AfterFunc(ctx, h.ended)
	}
}

// unwatch ends the watch. A cancelling that has begun is waited for.
func (h *canceller) unwatch() {
	if h.stop != nil && !h.stop() {
		<-h.done
	}
	h.stop = nil
}

func (h *canceller) contextEnded() {
	h.cancel()
	h.done <- struct{}{}
}

// cancel asks PostgreSQL to end what runs on the connection. It returns when the request has been handed to the
// backend, or after cancelPatience.
func (h *canceller) cancel() {
	h.sent = true
	deadline := time.Now().Add(cancelPatience)
	if h.pg.Conn().SetDeadline(deadline) != nil {
		h.failed = true
		return
	}
	ctx, stop := context.WithDeadline(context.Background(), deadline)
	defer stop()
	// The server closes the cancel connection after it has signalled the backend. From then on the signal comes
	// before anything that is sent later, so that it ends at the latest what this connection sends next.
	h.failed = h.pg.CancelRequest(ctx) != nil || ctx.Err() != nil
}

// cancel ends what runs on the connection although the flight's context goes on.
func (c *connection) cancel() {
	c.canceller.unwatch()
	if !c.canceller.sent {
		c.canceller.cancel()
	}
}

// unwatch ends the watch over a flight's context and takes note of a cancel request.
func (c *connection) unwatch() {
	c.canceller.unwatch()
	if !c.canceller.sent {
		return
	}
	c.cancelled = true
	c.broken = c.broken || c.canceller.failed || c.pg.Conn().SetDeadline(time.Time{}) != nil
	c.canceller.sent, c.canceller.failed = false, false
}

// ready tells whether an idle connection can be used: its session was cleaned and the server holds its end open.
func (c *connection) ready() bool {
	if c.settle() == nil && !c.socket.isQuiet() {
		c.broken = true
	}
	return !c.broken
}

// usable tells whether more can be sent.
func (c *connection) usable() bool {
	return !c.broken && !c.pg.IsClosed()
}

// reusable tells whether the next flight may have the connection.
func (c *connection) reusable() bool {
	return c.usable() && !c.pg.IsBusy() && c.pg.TxStatus() == 'I'
}
