package store

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// PoolFullError says that no connection became free in time, or that too many flights were waiting already. Nothing
// was sent to the database.
type PoolFullError struct {
	Waited  time.Duration
	Waiting int // flights that were waiting for a connection
}

func (e *PoolFullError) Error() string {
	if e.Waited == 0 {
		return fmt.Sprintf("no free database connection: %d requests are waiting already", e.Waiting)
	}
	return fmt.Sprintf("no free database connection within %s", e.Waited.Round(time.Millisecond))
}

// UnavailableError says that PostgreSQL cannot be reached or went away.
type UnavailableError struct {
	// Connecting is true when no connection could be made, so that nothing was sent. Otherwise the connection broke
	// under the flight, and a write may or may not have been committed.
	Connecting bool
	Err        error
}

func (e *UnavailableError) Error() string {
	if e.Connecting {
		return fmt.Sprintf("connect to the database: %v", e.Err)
	}
	return fmt.Sprintf("lost the database connection: %v", e.Err)
}

func (e *UnavailableError) Unwrap() error { return e.Err }

// RowTooLargeError says that the database answered with a row that is larger than Options.MaxRow. The flight's
// connection is given up with what else came on it, so that a write may or may not have been committed.
type RowTooLargeError struct {
	Bytes, Most int
}

func (e *RowTooLargeError) Error() string {
	return fmt.Sprintf("a row of %d bytes is larger than %d", e.Bytes, e.Most)
}

// StaleError is what a Sink returns from Begin when the catalog that its statement was compiled with no longer
// describes the database (a type OID that it does not know). The caller loads the catalog and plans again.
type StaleError struct {
	TypeOID uint32
}

func (e *StaleError) Error() string {
	return fmt.Sprintf("the catalog is outdated: it does not know the type with OID %d", e.TypeOID)
}

// protocolError says that the server sent a message that has no place in a flight (COPY from a routine, for one).
type protocolError struct {
	message any
}

func (e *protocolError) Error() string {
	return fmt.Sprintf("unexpected message %T from the database", e.message)
}

// sinkError carries what a Sink returned through the executor, so that it is not taken for the connection's.
type sinkError struct {
	err error
	// last says that no replies follow but the Sync's, because the server stopped as well.
	last bool
}

func (e *sinkError) Error() string { return e.err.Error() }
func (e *sinkError) Unwrap() error { return e.err }

// connectionLost tells whether an error of reading replies leaves the connection in a state that cannot be known:
// neither a sink has failed nor the server has answered with an error of a statement.
func connectionLost(err error) bool {
	if err == nil {
		return false
	}
	if _, sunk := errors.AsType[*sinkError](err); sunk {
		return false
	}
	pgErr := asPgError(err)
	return pgErr == nil || serverLeft(pgErr)
}

// serverLeft tells whether the server has closed the connection with this error. A routine may raise any SQLSTATE, even
// 57P01, but not one that is fatal.
func serverLeft(err *pgconn.PgError) bool {
	return err.SeverityUnlocalized == "FATAL" || err.SeverityUnlocalized == "PANIC"
}

// planOutdated tells whether a statement that was prepared earlier failed because the database changed under it, so
// that preparing it again may help: its parameters or results got other types, or somebody deallocated it.
func planOutdated(err *pgconn.PgError) bool {
	switch err.Code {
	case "0A000": // cached plan must not change result type
		return true
	case "26000": // prepared statement does not exist
		return true
	case "42501": // insufficient_privilege: the answer, not a fault of the plan
		return false
	case "XX000": // cache lookup failed for …
		return true
	}
	return strings.HasPrefix(err.Code, "42")
}

// noSuchRole is the server's error for an unknown role. For PostgreSQL "none" is no role but the way back to the one
// that connected, which a client must not get by a claim.
func noSuchRole(role string) error {
	return &pgconn.PgError{
		Severity:            "ERROR",
		SeverityUnlocalized: "ERROR",
		Code:                "22023",
		Message:             fmt.Sprintf("role %q does not exist", role),
	}
}

// asPgError finds the server's own error in err without losing what wraps it.
func asPgError(err error) *pgconn.PgError {
	pgErr, _ := errors.AsType[*pgconn.PgError](err)
	return pgErr
}
