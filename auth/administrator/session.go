package administrator

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/netip"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"basalt/auth"
)

const (
	// SessionIdle is how long a session lasts that is not used.
	SessionIdle = 12 * time.Hour
	// SessionLife is how long a session lasts at most.
	SessionLife = 7 * 24 * time.Hour
	// Elevation is how long who has proved who they are may see secrets and change factors.
	Elevation = 5 * time.Minute

	// tokenBytes is the length of tokens and links: so many that a plain hash hides them.
	tokenBytes = 32
	// mostSessions is how many one administrator may have; a further one ends the one that was used least lately.
	mostSessions = 50
)

// Session is a browser in which an administrator is signed in.
type Session struct {
	ID            uuid.UUID
	Administrator Administrator
	CreatedAt     time.Time
	LastSeenAt    time.Time
	ExpiresAt     time.Time
	// ElevatedUntil is until when secrets may be shown and factors changed.
	ElevatedUntil time.Time
	// Elevated tells whether that is still so, by the database's clock.
	Elevated  bool
	IP        *netip.Addr
	UserAgent string
}

// Opened is a session with the token that stands for it.
type Opened struct {
	Session *Session
	Token   auth.Secret
}

const (
	sessionColumns = `
    s.id,
    s.created_at,
    s.last_seen_at,
    s.expires_at,
    s.elevated_until,
    s.elevated_until > now(),
    s.ip,
    s.user_agent`

	// alive is true of sessions that have neither expired nor been left.
	alive = `
s.expires_at > now()
and s.last_seen_at > now() - interval '12 hours'`

	// findSession notes that a session is in use, at most once a minute.
	findSession = `
with found as (
    select` + sessionColumns + `,` + administratorColumns + `
    from basalt.administrator_sessions s
    join basalt.administrators a on a.id = s.administrator_id
    where s.token_hash = $1
    and ` + alive + `
),
seen as (
    update basalt.administrator_sessions
    set last_seen_at = now()
    where token_hash = $1
    and last_seen_at between now() - interval '12 hours' and now() - interval '1 minute'
)
table found`

	noteSignIn = `
update basalt.administrators
set last_sign_in_at = now()
where id = $1`

	insertSession = `
insert into basalt.administrator_sessions (id, administrator_id, token_hash, expires_at, elevated_until, ip, user_agent)
values ($1, $2, $3, now() + $4, now() + $5, $6, $7)`

	// trimSessions removes those that have ended, and what is too many.
	trimSessions = `
delete from basalt.administrator_sessions s
where s.administrator_id = $1
and (
    not (` + alive + `)
    or s.id in (
        select id
        from basalt.administrator_sessions
        where administrator_id = $1
        order by last_seen_at desc, id
        offset $2
    )
)`

	// rotateSession gives a session another token; the old one is good no more.
	rotateSession = `
update basalt.administrator_sessions s
set token_hash = $3,
    elevated_until = greatest(elevated_until, now() + $4)
where s.id = $1
and s.token_hash = $2
and ` + alive

	sessionsOf = `
select` + sessionColumns + `
from basalt.administrator_sessions s
where s.administrator_id = $1
and ` + alive + `
order by s.last_seen_at desc, s.id`

	endByToken = `
delete from basalt.administrator_sessions
where token_hash = $1
returning id, administrator_id`

	endSession = `
delete from basalt.administrator_sessions
where id = $1
and administrator_id = $2`

	// endSessions ends all sessions of an administrator but one, which may be that of nobody.
	endSessions = `
delete from basalt.administrator_sessions
where administrator_id = $1
and id <> $2`
)

func (x *Session) fields() []any {
	return []any{&x.ID, &x.CreatedAt, &x.LastSeenAt, &x.ExpiresAt, &x.ElevatedUntil, &x.Elevated, &x.IP, &x.UserAgent}
}

func hashOf(token auth.Secret) []byte {
	digest := sha256.Sum256([]byte(token))
	return digest[:]
}

// Session finds the session that a token stands for. The role is that of now.
func (s *Service) Session(ctx context.Context, token auth.Secret) (*Session, error) {
	x := &Session{}
	err := s.db.QueryRow(ctx, findSession, hashOf(token)).Scan(append(x.fields(), x.Administrator.fields()...)...)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, signedOut()
	}
	if err != nil {
		return nil, err
	}
	return x, nil
}

// open makes a session in a transaction that holds the administrator's row. The session that the browser had before, if
// any, ends: its token may have been planted there.
func open(ctx context.Context, tx pgx.Tx, caller auth.Caller, id uuid.UUID, before auth.Secret) (auth.Secret, error) {
	token := auth.DrawSecret(tokenBytes)
	if before != "" {
		if _, err := tx.Exec(ctx, endByToken, hashOf(before)); err != nil {
			return "", err
		}
	}
	if _, err := tx.Exec(ctx, noteSignIn, id); err != nil {
		return "", err
	}
	if _, err := tx.Exec(ctx, insertSession, uuid.New(), id, hashOf(token), SessionLife, Elevation, caller.Addr(), caller.Agent()); err != nil {
		return "", err
	}
	_, err := tx.Exec(ctx, trimSessions, id, mostSessions)
	return token, err
}

// opened reads a session that was just made.
func (s *Service) opened(ctx context.Context, token auth.Secret) (*Opened, error) {
	session, err := s.Session(ctx, token)
	if err != nil {
		return nil, err
	}
	return &Opened{Session: session, Token: token}, nil
}

// actor is an administrator who calls from somewhere.
func actor(caller auth.Caller, id uuid.UUID, email string) Actor {
	return Actor{ID: id, Email: email, IP: caller.Addr(), RequestID: caller.RequestID}
}

// SignOut ends the session of a token.
func (s *Service) SignOut(ctx context.Context, token auth.Secret) error {
	_, err := s.db.Exec(ctx, endByToken, hashOf(token))
	return err
}

// Sessions lists where an administrator is signed in, the latest used first.
func (s *Service) Sessions(ctx context.Context, administrator uuid.UUID) ([]Session, error) {
	rows, err := s.db.Query(ctx, sessionsOf, administrator)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (Session, error) {
		var x Session
		err := row.Scan(x.fields()...)
		return x, err
	})
}

// EndSession ends one of the caller's own sessions.
func (s *Service) EndSession(ctx context.Context, by Actor, id uuid.UUID) error {
	return pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, endSession, id, by.ID)
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return notFound("session")
		}
		return Record(ctx, tx, by, Change{Action: "session.end", Target: id.String()})
	})
}

// EndOtherSessions ends all sessions of the caller but the one at hand, and tells how many there were.
func (s *Service) EndOtherSessions(ctx context.Context, by Actor, current uuid.UUID) (ended int64, err error) {
	err = pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, endSessions, by.ID, current)
		if err != nil {
			return err
		}
		ended = tag.RowsAffected()
		return Record(ctx, tx, by, Change{Action: "session.end_others", Target: by.ID.String(), After: map[string]int64{"ended": ended}})
	})
	return ended, err
}
