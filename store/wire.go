package store

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/jackc/pgx/v5/pgproto3"

	"basalt/query/sql"
)

// reply is what the server will answer to one request of a flight, in the order of the requests.
type reply struct {
	kind      replyKind
	statement *prepared
	sink      Sink
	zone      bool // the row tells TimeZone and IntervalStyle
	cleaning  bool // the flight itself is over
	look      bool // a row means that a routine left a prepared statement
}

type replyKind byte

const (
	closeReply replyKind = iota // CloseComplete
	parseReply                  // ParseComplete, ParameterDescription, then RowDescription or NoData
	runReply                    // BindComplete, DataRow …, CommandComplete
)

// settingsShape selects the statement that applies a session's settings.
type settingsShape struct {
	count int
	zone  bool
}

// text gives the statement. The names are parameters too, so one statement serves all lists of the same length.
// num_nulls evaluates them in order and keeps the server from sending every value back. Locks of the session can only
// be what a routine of an earlier flight has left.
func (s settingsShape) text() string {
	var b strings.Builder
	b.WriteString("select pg_catalog.num_nulls(")
	for i := range s.count {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("pg_catalog.set_config($" + strconv.Itoa(2*i+1) + ", $" + strconv.Itoa(2*i+2) + ", true)")
	}
	b.WriteString("), pg_catalog.pg_advisory_unlock_all()")
	if s.zone {
		b.WriteString(", pg_catalog.current_setting('TimeZone'), pg_catalog.current_setting('IntervalStyle')")
	}
	return b.String()
}

// readZone asks for what values are written by, at the places where applySettings asks for it too.
const readZone = `
select
  null,
  null,
  pg_catalog.current_setting('TimeZone'),
  pg_catalog.current_setting('IntervalStyle')`

// checkConstraints makes PostgreSQL check now what it would check at the commit.
const checkConstraints = `set constraints all immediate`

// beginCommand gives the command that opens an explicit transaction of an isolation level.
func beginCommand(isolation string) (string, error) {
	switch isolation {
	case "":
		return "begin", nil
	case "read committed", "repeatable read", "serializable":
		return "begin isolation level " + isolation, nil
	}
	return "", fmt.Errorf("unknown isolation level %q", isolation)
}

// resolve finds the prepared statements of a flight's steps. With anew, those that this connection has are prepared
// again.
func (c *connection) resolve(f *Flight, anew bool) {
	c.entries, c.before = c.entries[:0], nil
	if f.Session.Before != nil {
		c.before = c.entry(f.Session.Before, f.Session.Role, anew)
	}
	for i := range f.Steps {
		c.entries = append(c.entries, c.entry(f.Steps[i].Statement, f.Session.Role, anew))
	}
}

// entry finds the prepared statement of one that a flight runs.
func (c *connection) entry(statement *sql.Statement, role string, anew bool) *prepared {
	entry := c.statements.get(statement, role)
	if anew && entry.described {
		c.statements.drop(entry)
		entry = c.statements.get(statement, role)
	}
	return entry
}

// queue encodes all requests of a flight and notes the replies to expect.
func (c *connection) queue(f *Flight, t transaction) {
	c.start()
	c.queueClosing()
	if t.begin != "" {
		c.command(t.begin, reply{})
	}
	c.queueReset()
	c.applySettings(&f.Session)
	if c.before != nil {
		c.runBefore(c.before)
	}
	for i := range f.Steps {
		c.run(c.entries[i], f.Steps[i].Params, reply{sink: f.Steps[i].Sink})
	}
	if t.begin != "" {
		if f.Rollback && !f.Session.ReadOnly {
			c.command(checkConstraints, reply{}) // a commit would have told what they refuse
		}
		if !t.held {
			c.command(endCommand(f.Rollback), reply{})
		}
		c.sync()
		return
	}
	c.sinceLook++
	if f.Session.ReadOnly {
		// A read's transaction has nothing to do after its last statement, so the cleaning can be part of it.
		if f.Calls || c.uncleaned >= uncleanedReads {
			c.queueCleaning(false, f.Calls)
		} else {
			c.uncleaned++
		}
		c.sync()
		return
	}
	// The commit of a write may run deferred triggers, which see the role and the settings. So the cleaning is a
	// transaction of its own in the same write; its replies are read by settle when the connection is used again, and
	// nobody waits for it.
	c.sync()
	flight := len(c.replies)
	c.queueCleaning(true, f.Calls)
	c.sync()
	c.postpone(flight)
}

// runBefore queues the statement that runs before the steps of a flight.
func (c *connection) runBefore(statement *prepared) {
	c.run(statement, nil, reply{})
	c.command(readZone, reply{zone: true})
}

// queueClosing queues the end of the statements that nobody will use again. Nothing may stand before them that can fail,
// so that each is surely carried out.
func (c *connection) queueClosing() {
	for _, name := range c.statements.closing {
		c.encode(&pgproto3.Close{ObjectType: 'S', Name: name})
		c.replies = append(c.replies, reply{kind: closeReply})
	}
	c.statements.closing = c.statements.closing[:0]
}

func endCommand(rollback bool) string {
	if rollback {
		return "rollback"
	}
	return "commit"
}

// start makes an empty flight.
func (c *connection) start() {
	c.out = c.out[:0]
	c.failure = nil
	c.replies = c.replies[:0]
}

// applySettings queues the session's settings. They are set as the role that Basalt connected with, whatever role a
// routine may have left: that decides what may be set. The flight's own role comes last.
func (c *connection) applySettings(s *Session) {
	params := append(c.params[:0], bytesOf("role"), bytesOf("none"))
	shape := settingsShape{}
	if s.ReadOnly {
		params = append(params, bytesOf("transaction_read_only"), bytesOf("on"))
	}
	for i := range s.Settings {
		setting := &s.Settings[i]
		if strings.EqualFold(setting.Name, "timezone") || strings.EqualFold(setting.Name, "intervalstyle") {
			shape.zone = true
		}
		params = append(params, bytesOf(setting.Name), bytesOf(setting.Value))
	}
	if s.Role != "" {
		params = append(params, bytesOf("role"), bytesOf(s.Role))
	}
	c.params = params
	shape.count = len(params) / 2
	statement := c.settings[shape]
	if statement == nil {
		statement = &prepared{name: c.statements.newName(), text: shape.text()}
		c.settings[shape] = statement
	}
	c.run(statement, params, reply{zone: shape.zone})
	clear(params)
}

// command queues a statement without parameters that returns nothing of interest.
func (c *connection) command(text string, r reply) {
	statement := c.commands[text]
	if statement == nil {
		statement = &prepared{name: c.statements.newName(), text: text}
		c.commands[text] = statement
	}
	c.run(statement, nil, r)
}

// run queues the execution of a statement, behind its preparation when this connection does not have it yet. Both
// ride in the same flight: results are asked for in binary whatever their types, so nothing waits for a description.
func (c *connection) run(statement *prepared, params [][]byte, r reply) {
	if !statement.described && !c.parsing(statement) {
		c.encode(&pgproto3.Parse{Name: statement.name, Query: statement.text})
		c.encode(&pgproto3.Describe{ObjectType: 'S', Name: statement.name})
		c.replies = append(c.replies, reply{kind: parseReply, statement: statement, cleaning: r.cleaning})
	}
	size := 0
	for _, param := range params {
		size += len(param) + 4
	}
	c.out = slices.Grow(c.out, size)
	c.bind.PreparedStatement = statement.name
	c.bind.ParameterFormatCodes = statement.formats
	c.bind.Parameters = params
	c.bind.ResultFormatCodes = c.formats[:]
	c.encode(&c.bind)
	c.bind.Parameters = nil
	c.out = append(c.out, 'E', 0, 0, 0, 9, 0, 0, 0, 0, 0) // Execute of the unnamed portal, all rows
	r.kind, r.statement = runReply, statement
	c.replies = append(c.replies, r)
}

// sync queues a Sync, which ends the implicit transaction.
func (c *connection) sync() {
	c.out = append(c.out, 'S', 0, 0, 0, 4)
}

// encode appends a message to what the flight sends.
func (c *connection) encode(message pgproto3.FrontendMessage) {
	if c.failure != nil {
		return
	}
	out, err := message.Encode(c.out)
	if err != nil {
		c.failure = err
		return
	}
	c.out = out
}

// parsing tells whether this flight prepares the statement.
func (c *connection) parsing(statement *prepared) bool {
	for i := range c.replies {
		if c.replies[i].kind == parseReply && c.replies[i].statement == statement {
			return true
		}
	}
	return false
}

// bytesOf views a string as bytes without copying. The bytes are only read, and are not nil (which means NULL) for
// the empty string.
func bytesOf(s string) []byte {
	if s == "" {
		return []byte{}
	}
	return unsafe.Slice(unsafe.StringData(s), len(s))
}
