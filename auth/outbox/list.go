package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// State is where a message stands.
type State string

// The states.
const (
	Queued State = "queued" // it is to be delivered
	Held   State = "held"   // there was no way to deliver it
	Failed State = "failed" // it was given up
)

// Entry is a message as it stands in the outbox.
type Entry struct {
	Message
	State State
	// DueAt is when delivery is tried next, of a message that is queued.
	DueAt time.Time
	// Failure is why it was not delivered when that was tried last.
	Failure string
	// Unreadable is set when the body cannot be opened: there is nothing in Mail and SMS.
	Unreadable bool
}

const (
	// MostListed is how many messages are listed at most.
	MostListed = 1000

	listMessages = `
select id, channel, kind, user_id, body, state, created_at, due_at, expires_at, attempts, coalesce(failure, '')
from basalt.outbox
order by created_at desc, id
limit $1`

	removeMessage = `
delete from basalt.outbox
where id = $1`

	removeKept = `
delete from basalt.outbox
where state <> 'queued'`
)

// List gives the newest messages, with what is secret about them: whoever reads it can be any of their readers.
func (o *Outbox) List(ctx context.Context, most int) ([]Entry, error) {
	return o.read(ctx, listMessages, min(most, MostListed))
}

// read opens the messages that a statement finds.
func (o *Outbox) read(ctx context.Context, sql string, args ...any) ([]Entry, error) {
	keys, err := o.options.Keys()
	if err != nil {
		return nil, fmt.Errorf("list the outbox: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, databasePatience)
	defer cancel()
	rows, err := o.pool.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("list the outbox: %w", err)
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (Entry, error) {
		var e Entry
		var owner *uuid.UUID
		var sealed string
		err := row.Scan(&e.ID, &e.Channel, &e.Kind, &owner, &sealed, &e.State, &e.CreatedAt, &e.DueAt, &e.ExpiresAt, &e.Attempts, &e.Failure)
		if owner != nil {
			e.UserID = *owner
		}
		if err == nil {
			e.Unreadable = e.open(keys, sealed) != nil
		}
		return e, err
	})
}

// Remove takes a message out of the outbox, and tells whether it was there. One that is being delivered at this moment
// may still arrive.
func (o *Outbox) Remove(ctx context.Context, tx pgx.Tx, id uuid.UUID) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, databasePatience)
	defer cancel()
	removed, err := tx.Exec(ctx, removeMessage, id)
	if err != nil {
		return false, fmt.Errorf("remove a message: %w", err)
	}
	return removed.RowsAffected() > 0, nil
}

// RemoveKept takes all messages out of the outbox that are not to be delivered any more, and counts them.
func (o *Outbox) RemoveKept(ctx context.Context, tx pgx.Tx) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, databasePatience)
	defer cancel()
	removed, err := tx.Exec(ctx, removeKept)
	if err != nil {
		return 0, fmt.Errorf("remove messages: %w", err)
	}
	return removed.RowsAffected(), nil
}
