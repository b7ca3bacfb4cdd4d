package outbox

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

const (
	findMessage = `
select id, channel, kind, user_id, body, state, created_at, due_at, expires_at, attempts, coalesce(failure, '')
from basalt.outbox
where id = $1`

	// retryMessage leaves what is queued alone: it is tried anyway, and may be on its way.
	retryMessage = `
update basalt.outbox
set state = 'queued',
    due_at = now(),
    attempts = 0
where id = $1
and state <> 'queued'
and expires_at > now()
and channel = any($2)`
)

// Ways tells for which kinds of messages there is a way to send them.
func (o *Outbox) Ways() (mails, texts bool) {
	return o.mails.deliverer() != nil, o.texts.deliverer() != nil
}

// Find gives one message, with what is secret about it; nil when it is not there.
func (o *Outbox) Find(ctx context.Context, id uuid.UUID) (*Entry, error) {
	found, err := o.read(ctx, findMessage, id)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// Retry has a message delivered that was kept or given up, and tells whether it will be: it has to be there, not to have
// expired, and to have a way. Awaken has it sent at once, when the transaction has ended.
func (o *Outbox) Retry(ctx context.Context, tx pgx.Tx, id uuid.UUID) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, databasePatience)
	defer cancel()
	var channels []Channel
	for _, l := range []*lane{o.mails, o.texts} {
		if l.deliverer() != nil {
			channels = append(channels, l.channels...)
		}
	}
	queued, err := tx.Exec(ctx, retryMessage, id, channels)
	if err != nil {
		return false, fmt.Errorf("retry a message: %w", err)
	}
	return queued.RowsAffected() > 0, nil
}

// Awaken has messages looked for now.
func (o *Outbox) Awaken() {
	o.mails.awaken()
	o.texts.awaken()
}
