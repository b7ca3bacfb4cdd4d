package auth

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"basalt/auth/limit"
)

const (
	// readRefresh finds a refresh token with its session, its account and the token that
	// stands at the head of the session now.
	readRefresh = `
select` + userColumns + `,
    r.token,
    r.revoked,
    r.updated_at + $2 <= clock_timestamp(),
    s.id,
    coalesce(s.aal, 'aal1'),
    s.oauth_client_id,
    s.scopes,
    ` + sessionEnd + `,
    (
        select h.token
        from auth.refresh_tokens h
        where h.session_id = s.id
        and h.revoked is not true
        order by h.id desc
        limit 1
    ),
    ` + sessionMethods + `
from auth.refresh_tokens r
join auth.sessions s on s.id = r.session_id
join auth.users u on u.id = s.user_id
where r.token = any($1)
and u.deleted_at is null
order by r.token = ($1::text[])[1] desc
limit 1`

	// rotate puts the successor in the place of a token, if that token is still the head
	// and its session is still alive. Refreshes of one session wait for each other at the
	// session's row; the second finds its token used, changes nothing, and reads again.
	rotate = `
with alive as (
    select id, user_id
    from auth.sessions
    where id = $1
    and (not_after is null or not_after > clock_timestamp())
    for update
),
used as (
    update auth.refresh_tokens r
    set revoked = true,
        updated_at = clock_timestamp()
    from alive
    where r.token = $2
    and r.session_id = alive.id
    and r.revoked is not true
    returning alive.id, alive.user_id
),
next as (
    insert into auth.refresh_tokens (instance_id, token, user_id, revoked, created_at, updated_at, parent, session_id)
    select '00000000-0000-0000-0000-000000000000', $3, user_id::text, false, $4, $4, $2, id
    from used
),
audited as (
    insert into auth.audit_log_entries (instance_id, id, payload, created_at, ip_address)
    select
        '00000000-0000-0000-0000-000000000000',
        gen_random_uuid(),
        json_strip_nulls(json_build_object(` + auditActor + `
            'action', 'token_refreshed',
            'log_type', 'token'
        )),
        $4,
        coalesce(host($6), '')
    from used
    join auth.users u on u.id = used.user_id
    where $7
)
update auth.sessions s
set refreshed_at = $4 at time zone 'utc',
    updated_at = $4,
    user_agent = $5,
    ip = $6
from used
where s.id = used.id`

	// A session that ends stays, with all its tokens used, as the record of its end. The row
	// of the session is what decides: a refresh that is under way waits for it, and the
	// second statement sees what that refresh wrote. The linkings and codes that it may have begun end with it, as in endLinkings.
	endSession = `
with linkings as (
    delete from auth.flow_state f
    using auth.sessions s
    where s.id = $1
    and f.user_id = s.user_id
    and f.linking_target_id is not null
),
codes as (
    delete from auth.oauth_authorizations a
    using auth.sessions s
    where s.id = $1
    and a.user_id = s.user_id
    and a.status = 'approved'
)
update auth.sessions
set not_after = least(not_after, clock_timestamp()),
    updated_at = clock_timestamp()
where id = $1`

	revokeFamily = `
update auth.refresh_tokens
set revoked = true,
    updated_at = clock_timestamp()
where session_id = $1
and revoked is not true`
)

const (
	// rotateAttempts bounds how often a refresh reads again because others were first.
	rotateAttempts = 5
	// chainLength bounds how far the successor of a used token is followed: so many
	// refreshes would have to be made within the reuse interval.
	chainLength = 1000
)

// presented is a refresh token as the database knows it.
type presented struct {
	user    *User
	stored  string
	revoked bool
	late    bool   // whether it was used longer ago than the reuse interval
	over    string // why its session is over; empty while it is not
	head    string
	standing
}

// Refresh gives new tokens for a refresh token. A token is good once; within the reuse
// interval it gives its session's current successor again, after that its use shows that
// it was stolen and ends the session.
func (s *Service) Refresh(ctx context.Context, caller Caller, refresh Secret) (*Session, error) {
	session, user, err := s.refresh(ctx, caller, refresh, uuid.Nil)
	s.event(caller, "refresh", user, err)
	return session, err
}

// refresh is for a session of the given OAuth client, or of none: what was given to one is nobody else's.
func (s *Service) refresh(ctx context.Context, caller Caller, refresh Secret, client uuid.UUID) (*Session, uuid.UUID, error) {
	if refresh == "" {
		return nil, uuid.Nil, refuse(CodeValidationFailed, "refresh_token required")
	}
	hits := []limit.Hit{{Rule: refreshRule(), Of: caller.Network()}}
	for range rotateAttempts {
		p, err := s.present(ctx, caller, refresh, hits...)
		if err != nil {
			return nil, uuid.Nil, err
		}
		hits = nil // however often it has to be read, it is one refresh
		id := p.user.ID
		switch {
		case p.user.banned:
			return nil, id, banned()
		case p.client != client:
			return nil, id, refreshTokenNotFound()
		case p.revoked && (p.over != "" || p.head == "" || p.late):
			return nil, id, s.reused(ctx, caller, p)
		case p.over != "":
			return nil, id, refuse(CodeSessionExpired, "Invalid Refresh Token: "+p.over)
		case p.revoked:
			next, refusal := s.follow(refresh, p.head)
			if refusal != nil {
				return nil, id, refusal
			}
			session, err := s.issue(ctx, s.pool, caller, p.grant(next, now()))
			return session, id, err
		}
		at := now()
		next := s.successor(refresh)
		// What a hook says to the new access token must be known before the old refresh token is used up.
		session, err := s.issue(ctx, s.pool, caller, p.grant(next, at))
		if err != nil {
			return nil, id, err
		}
		tag, err := s.pool.Exec(ctx, rotate, p.sessionID, p.stored, storedToken(next), at, caller.Agent(), caller.Addr(), !s.options.Audit.Off)
		if err != nil {
			return nil, id, saveFailed("Database error granting user", err)
		}
		if tag.RowsAffected() == 1 {
			return session, id, nil
		}
	}
	return nil, uuid.Nil, refuse(CodeConflict, "Too many refreshes of one session at once, try again")
}

// grant is what a refresh gives: how the user proved who they are stays as it was.
func (p *presented) grant(next Secret, at time.Time) grant {
	return grant{user: p.user, refresh: next, standing: p.standing, method: methodRefresh, at: at}
}

// present counts hits and finds a refresh token in one flight. Tokens that are not there count as well.
func (s *Service) present(ctx context.Context, caller Caller, refresh Secret, hits ...limit.Hit) (*presented, error) {
	p, found := &presented{}, false
	batch := &pgx.Batch{}
	verdict := s.count(batch, caller, hits...)
	parameters := append([]any{candidates(refresh), s.options.ReuseInterval}, s.options.Sessions.parameters()...)
	batch.Queue(readRefresh, parameters...).QueryRow(func(row pgx.Row) error {
		err := row.Scan(reader(p.read))
		found = err == nil
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
	if err := s.send(ctx, batch); err != nil {
		return nil, err
	}
	if refusal := verdict.Refused(); refusal != nil {
		return nil, tooOften(refusal)
	}
	if !found {
		return nil, refreshTokenNotFound()
	}
	return p, nil
}

// read reads a row of readRefresh.
func (p *presented) read(r *row) {
	p.user, p.stored, p.revoked = r.user(), r.text(), r.flag()
	p.late = r.flag()
	p.sessionID, p.level, p.client, p.scopes = r.id(), r.text(), r.id(), r.text()
	p.over, p.head = r.text(), r.text()
	p.methods = r.methods()
}

func refreshTokenNotFound() *Error {
	return refuse(CodeRefreshTokenNotFound, "Invalid Refresh Token: Refresh Token Not Found")
}

// follow computes the successors of a used token up to the head of its session.
func (s *Service) follow(refresh Secret, head string) (Secret, *Error) {
	for range chainLength {
		refresh = s.successor(refresh)
		if storedToken(refresh) == head {
			return refresh, nil
		}
	}
	return "", refuse(CodeConflict, "Too many refreshes of one session at once, try again")
}

// reused ends the session of a token that comes back too late: one of two holders is a thief.
func (s *Service) reused(ctx context.Context, caller Caller, p *presented) error {
	if p.over == "" {
		batch := &pgx.Batch{}
		batch.Queue(endSession, p.sessionID)
		batch.Queue(revokeFamily, p.sessionID)
		if err := s.send(ctx, batch); err != nil {
			return saveFailed("Database error revoking session", err)
		}
		s.log.Warn().Stringer("user_id", p.user.ID).Stringer("session_id", p.sessionID).
			Str("request_id", caller.RequestID).Msg("a used refresh token came back: its session is ended")
	}
	return refuse(CodeRefreshTokenAlreadyUsed, "Invalid Refresh Token: Already Used")
}
