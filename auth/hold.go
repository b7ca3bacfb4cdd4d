package auth

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

const (
	// holdSession lets a session end only after what is done by it has been written, and gives nothing when it has ended
	// before. The account comes first, as it does for those who end sessions.
	holdSession = `
select
from auth.users u
join auth.sessions s on s.user_id = u.id
where u.id = $1
and s.id = $2
and (s.not_after is null or s.not_after > clock_timestamp())
for key share of u
for share of s`

	bindLinking = `
insert into basalt.linking_sessions (flow_id, session_id)
values ($1, $2)`

	takeLinking = `
delete from basalt.linking_sessions
where flow_id = $1
returning session_id`

	sweepLinkings = `
delete from basalt.linking_sessions
where flow_id in (
    select flow_id
    from basalt.linking_sessions
    where created_at < now() - interval '1 day'
    order by created_at
    limit 10
    for update skip locked
)`
)

// hold keeps the session that a transaction acts for alive to its end: whoever was thrown out meanwhile must not leave a
// way in behind. A token without a session is good by itself.
func hold(ctx context.Context, tx pgx.Tx, user, session uuid.UUID) error {
	if session == uuid.Nil {
		return nil
	}
	tag, err := tx.Exec(ctx, holdSession, user, session)
	if err == nil && tag.RowsAffected() == 0 {
		return sessionGone()
	}
	return err
}

// queueLinking adds to a batch which session begins the linking of a flow.
func queueLinking(batch *pgx.Batch, flow, session uuid.UUID) {
	batch.Queue(sweepLinkings)
	batch.Queue(bindLinking, flow, session)
}

// holdLinking locks the account that is to gain an identity, and holds the session that has begun the linking.
func holdLinking(ctx context.Context, tx pgx.Tx, flow, user uuid.UUID) error {
	if _, err := tx.Exec(ctx, lockUser, user); err != nil {
		return err
	}
	var session uuid.UUID
	err := tx.QueryRow(ctx, takeLinking, flow).Scan(&session)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return flowNotFound()
	case err != nil:
		return err
	}
	return hold(ctx, tx, user, session)
}
