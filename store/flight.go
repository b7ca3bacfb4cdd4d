package store

import "basalt/query/sql"

// Flight is one request as the database sees it: who asks, under which settings, and the statements, sent
// together in one network round trip and one transaction.
type Flight struct {
	Session Session
	Steps   []Step
	// Check is asked when all rows have arrived and before the transaction commits; an error rolls back. A write with
	// a Check takes a second round trip for its COMMIT or ROLLBACK.
	Check func() error
	// Rollback ends the transaction without keeping its changes (Prefer: tx=rollback). Deferred constraints are
	// checked before.
	Rollback bool
	// Calls says that a routine is called by name. A routine can leave anything in the session, so all of it is cleaned
	// right behind the flight; behind a read of relations only what could matter to the next flight is.
	Calls bool
	// Continues says that a flight within a transaction goes on as the one before has left the session: its own Session
	// says nothing.
	Continues bool
	// Boarded, unless nil, is called when the flight has its connection: until then it waited. A flight that is flown
	// again boards again.
	Boarded func()
}

// Session is the identity and the settings of one request. They hold for its transaction only.
type Session struct {
	Role     string    // "" for the role that Basalt connected with, never for a client
	Settings []Setting // in the order they are set; always the same names for one server, so that one statement serves
	// Before, unless nil, is run as the role once the settings are there, before the flight's steps; its rows are
	// dropped. It may change the settings.
	Before    *sql.Statement
	ReadOnly  bool
	Isolation string // "" for the default, else "repeatable read" or "serializable"
}

// Setting is a configuration parameter (GUC) with its value.
type Setting struct{ Name, Value string }

// Step is one statement of a flight.
type Step struct {
	Statement *sql.Statement
	Params    [][]byte // in the statement's formats, nil is NULL
	Sink      Sink     // nil drops the rows
}

// Sink takes the rows of one statement.
type Sink interface {
	// Begin is called once before the first row, also when there is none.
	Begin(Columns) error
	// Row is called for each row; the values are valid until it returns.
	Row(values [][]byte) error
	// End is called with the number of rows that the command reports.
	End(rows int64) error
}

// Restarter is a Sink that can forget what it was given while nothing of it has been shown, so that its flight may be
// flown again (see DB.Run). Begin follows when it returns true.
type Restarter interface {
	Restart() bool
}

// Columns describes the columns that a statement gives.
type Columns struct {
	Types         []uint32 // type OIDs, as the server describes them
	TimeZone      string   // the session's TimeZone
	IntervalStyle string
}
