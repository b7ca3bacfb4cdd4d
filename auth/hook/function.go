package hook

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// becomeHookCaller gives the function the role and the time that Supabase gives it. Both end with the
	// transaction, or with leaveHookCaller. A database without that role, or whose owner may not take it, runs the
	// function as the owner.
	becomeHookCaller = `
select pg_catalog.num_nulls(
    pg_catalog.set_config('statement_timeout', $1, true),
    (
        select set_config('role', r.rolname, true)
        from pg_catalog.pg_roles r
        where r.rolname = 'supabase_auth_admin'
        and pg_has_role(r.oid, 'member')
    )
)`

	leaveHookCallerRole    = `set local role none`
	leaveHookCallerTimeout = `set local statement_timeout to default`
)

// run calls the function in one flight.
func (h *Hook) run(ctx context.Context, db Sender, payload string) ([]byte, error) {
	var answer *string
	batch := &pgx.Batch{}
	batch.Queue(becomeHookCaller, strconv.FormatInt(StatementTimeout.Milliseconds(), 10))
	batch.Queue(h.call, payload).QueryRow(func(row pgx.Row) error { return row.Scan(&answer) })
	batch.Queue(leaveHookCallerRole)
	batch.Queue(leaveHookCallerTimeout)
	err := db.SendBatch(ctx, batch).Close()
	var refusal *pgconn.PgError
	switch {
	case err == nil && answer == nil:
		return nil, nil
	case err == nil:
		return []byte(*answer), nil
	case ctx.Err() != nil:
		return nil, err
	case errors.As(err, &refusal) && refusal.Code == "57014":
		return nil, h.timedOut(err)
	case errors.As(err, &refusal) && !outage(refusal.Code):
		return nil, h.failed("run the function", err)
	case errors.Is(err, pgx.ErrNoRows):
		return nil, nil // a function that returns a set, of nothing
	}
	return nil, err
}

// outage are the SQLSTATEs of a server that is not there or has no room: no fault of the function.
func outage(code string) bool {
	return strings.HasPrefix(code, "08") || strings.HasPrefix(code, "53") || strings.HasPrefix(code, "57P")
}
