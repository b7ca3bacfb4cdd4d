package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// cleaning are the commands that make a session equal to a fresh one, whatever a routine, a trigger or a view left
// behind in it: a role, settings, LISTENs, cursors, temporary tables, the last values of sequences, locks. They are
// DISCARD ALL without what would cost us our prepared statements. As a transaction of their own behind the flight's,
// in the same write, they cost a few microseconds that nobody waits for.
func cleaning() [8]string {
	return [8]string{
		`reset session authorization`,
		`reset role`,
		`reset all`,
		`unlisten *`,
		`close all`,
		`discard temp`,
		`discard sequences`,
		`select pg_advisory_unlock_all()`,
	}
}

// lookForPrepared finds statements that a routine prepared with PREPARE. There is no command that drops just those: a
// connection that has one is closed.
const lookForPrepared = `select 1, 2 from pg_prepared_statement() where from_sql limit 1`

// errLeftovers says that a session could not be made clean.
var errLeftovers = errors.New("the session keeps what a routine left in it")

// queueCleaning queues the cleaning with its own Sync. Its replies are read by settle when the connection is used
// again. To look for prepared statements costs about a microsecond for each of our own, so it is done now and then
// when the flight did not call for it.
func (c *connection) queueCleaning(look bool) {
	flight := len(c.replies)
	for _, command := range cleaning() {
		c.command(command)
	}
	c.sinceLook++
	if look || c.sinceLook > max(16, len(c.statements.byKey)) {
		c.sinceLook = 0
		c.command(lookForPrepared)
	}
	c.sync()
	c.unconfirmed = c.unconfirmed[:0]
	for _, r := range c.replies[flight:] {
		if r.kind == parseReply {
			c.unconfirmed = append(c.unconfirmed, r.statement)
		}
	}
	clear(c.replies[flight:])
	c.replies = c.replies[:flight]
	c.cleaning = true
}

// clean sends the cleaning by itself, behind a flight that it could not ride with.
func (c *connection) clean(look bool) {
	c.start()
	c.queueCleaning(look)
	if _, err := c.pg.Conn().Write(c.out); err != nil {
		c.broken = true
	}
}

// settle reads the replies to the cleaning. As a rule they are there already.
func (c *connection) settle() error {
	if !c.cleaning {
		return nil
	}
	c.cleaning = false
	conn := c.pg.Conn()
	err := conn.SetReadDeadline(time.Now().Add(cancelPatience))
	if err == nil {
		err = c.readCleaning()
	}
	if err == nil {
		err = conn.SetReadDeadline(time.Time{})
	}
	if err != nil {
		c.broken = true
		return err
	}
	for _, statement := range c.unconfirmed {
		statement.described = true
	}
	return nil
}

// readCleaning reads through pgconn, which keeps track of parameters that go back to their defaults.
func (c *connection) readCleaning() error {
	clean := true
	for {
		message, err := c.pg.ReceiveMessage(context.Background())
		if err != nil {
			return err
		}
		switch message := message.(type) {
		case *pgproto3.DataRow:
			// Only lookForPrepared gives a row of two columns.
			clean = clean && len(message.Values) != 2
		case *pgproto3.ErrorResponse:
			clean = false
		case *pgproto3.ReadyForQuery:
			if !clean {
				return errLeftovers
			}
			return nil
		}
	}
}
