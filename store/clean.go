package store

import (
	"errors"
	"time"
)

// cleaning makes a session equal to a fresh one, whatever a routine, a trigger or a view left behind in it: a role,
// settings, LISTENs, cursors, locks. Together with cleaningAfterWrite it is DISCARD ALL without what would cost us our
// prepared statements.
func cleaning() [6]string {
	return [6]string{
		`reset session authorization`,
		`reset role`,
		`reset all`,
		`unlisten *`,
		`close all`,
		`select pg_catalog.pg_advisory_unlock_all()`,
	}
}

// cleaningAfterWrite drops what a read-only transaction cannot have made: temporary tables and the last values of
// sequences.
func cleaningAfterWrite() [2]string {
	return [2]string{
		`discard temp`,
		`discard sequences`,
	}
}

// lookForPrepared finds statements that a routine prepared with PREPARE. There is no command that drops just those: a
// connection that has one is closed.
const lookForPrepared = `
select
from pg_catalog.pg_prepared_statement()
where from_sql
limit 1`

// leastLookInterval is how many flights at least go between two looks for foreign prepared statements.
const leastLookInterval = 16

// sureLookInterval is how many flights go between two looks that a routine cannot deceive: it may deallocate the
// prepared look and prepare another statement of the same name.
const sureLookInterval = 64

// errLeftovers says that a session could not be made clean.
var errLeftovers = errors.New("the session keeps what a routine left in it")

// uncleanedReads is how many reads of relations at most go without a full cleaning.
const uncleanedReads = 16

// queueReset queues, at the head of a flight, what makes up for a full cleaning that the flights before did not have:
// the settings that a routine of a view or a policy may have left go back to their defaults. (The role and the locks of
// the session do so in applySettings.) At the tail it would cost several times as much, for there the flight's own
// settings would have to go back one by one.
func (c *connection) queueReset() {
	if c.uncleaned > 0 {
		c.command(`reset all`, reply{})
	}
}

// queueCleaning queues a full cleaning. It is due behind each flight that calls a routine or may write, and behind a
// read of relations now and then: a command costs two microseconds of PostgreSQL's time.
func (c *connection) queueCleaning(afterWrite, look bool) {
	for _, command := range cleaning() {
		c.command(command, reply{cleaning: true})
	}
	if afterWrite {
		for _, command := range cleaningAfterWrite() {
			c.command(command, reply{cleaning: true})
		}
	}
	// To look costs about a microsecond for each of our own statements, so it is done now and then when the flight
	// does not call for it.
	if look || c.sinceLook > max(leastLookInterval, len(c.statements.byKey)) {
		c.look()
	}
	c.uncleaned = 0
}

// look queues the look for foreign prepared statements. Now and then it is parsed anew without a name, which costs more
// than to run it: that one no routine can replace.
func (c *connection) look() {
	r := reply{cleaning: true, look: true}
	c.sinceSure += c.sinceLook
	c.sinceLook = 0
	if c.sinceSure < sureLookInterval {
		c.command(lookForPrepared, r)
		return
	}
	c.sinceSure = 0
	c.run(&prepared{text: lookForPrepared}, nil, r)
}

// postpone moves the replies from the given one on to those that settle reads.
func (c *connection) postpone(from int) {
	c.pending = append(c.pending[:0], c.replies[from:]...)
	clear(c.replies[from:])
	c.replies = c.replies[:from]
}

// clean sends the cleaning by itself, behind a flight that it could not ride with. It also takes a cancel request that
// came too late for that flight, so that it cannot end the next.
func (c *connection) clean(look bool) {
	c.cancelled = false
	c.sinceLook++
	c.start()
	c.queueCleaning(true, look)
	c.sync()
	c.postpone(0)
	if c.failure != nil {
		c.broken = true
		return
	}
	if _, err := c.pg.Conn().Write(c.out); err != nil {
		c.broken = true
	}
}

// settle reads the replies to a cleaning that is on its way. As a rule they are there already.
func (c *connection) settle() error {
	if len(c.pending) == 0 {
		return nil
	}
	conn := c.pg.Conn()
	err := conn.SetReadDeadline(time.Now().Add(cancelPatience))
	if err == nil {
		_, err = c.readReplies(c.pending)
	}
	if err == nil {
		err = c.readSync()
	}
	if err == nil {
		err = conn.SetReadDeadline(time.Time{})
	}
	c.pending = c.pending[:0]
	if err == nil && c.broken {
		err = errLeftovers
	}
	if err != nil {
		c.broken = true
	}
	return err
}
