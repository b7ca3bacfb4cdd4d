package auth

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"basalt/auth/limit"
)

// openForUser opens a session for the account $7.
const openForUser = `
with signed as (
    update auth.users
    set last_sign_in_at = $2,
        updated_at = $2
    where id = $7
    and deleted_at is null
    and (banned_until is null or banned_until <= now())
    returning *
),` + openSession + `
select` + userColumns + `
from signed u`

// open writes a session for an account whose user has proved by a method who they are. It can be part of a
// transaction, which then has to commit before the session is made complete and given away.
func (s *Service) open(ctx context.Context, db limit.Sender, caller Caller, id uuid.UUID, method string) (*Session, error) {
	o := newOpening(method, now())
	var u *User
	batch := &pgx.Batch{}
	batch.Queue(openForUser, append(o.parameters(caller), id)...).QueryRow(func(found pgx.Row) error {
		var err error
		u, err = scanUser(found)
		return err
	})
	s.audit(batch, auditEntry{action: actionLogin, user: id, session: o.id, provider: method, caller: caller, at: o.at})
	err := db.SendBatch(ctx, batch).Close()
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, notOpened(ctx, db, id)
	case err != nil:
		return nil, saveFailed("Database error granting user", err)
	}
	return s.session(ctx, db, caller, o, u)
}

// notOpened is why an account gets no session.
func notOpened(ctx context.Context, db limit.Sender, id uuid.UUID) error {
	u, err := writeAndRead(ctx, db, &pgx.Batch{}, id, refuse(CodeUserNotFound, "User not found"))
	switch {
	case err != nil:
		return err
	case u.banned:
		return banned()
	}
	return refuse(CodeConflict, "The account is being changed by another request, try again")
}

// opening is a session that is about to be written.
type opening struct {
	id      uuid.UUID
	refresh Secret
	method  string
	at      time.Time
}

func newOpening(method string, at time.Time) opening {
	return opening{id: uuid.New(), refresh: DrawSecret(secretLength), method: method, at: at}
}

// openSession continues a WITH whose step `signed` gives the account that signs in: it
// writes the session, its first refresh token and how it came about. A flow's own
// parameters begin at $7.
const openSession = `
opened as (
    insert into auth.sessions (id, user_id, created_at, updated_at, aal, user_agent, ip)
    select $1, id, $2, $2, 'aal1', $3, $4
    from signed
    returning id, user_id
),
refreshable as (
    insert into auth.refresh_tokens (instance_id, token, user_id, revoked, created_at, updated_at, session_id)
    select '00000000-0000-0000-0000-000000000000', $5, user_id::text, false, $2, $2, id
    from opened
),
authenticated as (
    insert into auth.mfa_amr_claims (id, session_id, created_at, updated_at, authentication_method)
    select gen_random_uuid(), id, $2, $2, $6
    from opened
)`

// parameters are those of openSession.
func (o opening) parameters(caller Caller) []any {
	return []any{o.id, o.at, caller.Agent(), caller.Addr(), storedToken(o.refresh), o.method}
}

// session signs the tokens of a session that has been written.
func (s *Service) session(ctx context.Context, db limit.Sender, caller Caller, o opening, u *User) (*Session, error) {
	session, err := s.issue(ctx, db, caller, grant{
		user: u, refresh: o.refresh, method: o.method, at: o.at,
		standing: standing{
			sessionID: o.id,
			level:     "aal1",
			methods:   []methodClaim{{Method: o.method, Timestamp: o.at.Unix()}},
		},
	})
	if _, within := db.(pgx.Tx); err != nil && !within {
		return nil, s.abandon(ctx, o.id, err)
	}
	return session, err
}
