package auth

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"basalt/auth/limit"
)

const (
	// lockSession lets refreshes end before the session is raised: what they have written must be there to be revoked.
	lockSession = `
select
from auth.sessions
where id = $1
for update`

	// raiseSession ends a WITH whose step `proved` gives the id of the factor that was proved: it raises the session
	// to aal2 and gives it a new refresh token, since those from before must not lead to more than they did. The account's
	// sessions without a factor end, but for those of OAuth clients, which a session that has proved one has authorized
	// since there is any; and its factors of the same kind that were never proved go. Once an account has a proved
	// factor, a new one is proved at aal2 only: whoever knew the password before may have enrolled one and waited. With
	// the first factor nothing goes on that was begun without one and changes how the account is entered: linkings,
	// codes that stand for sessions yet to be opened, addresses that wait. A flow's own parameters begin at $7.
	raiseSession = `
raised as (
    update auth.sessions s
    set aal = 'aal2',
        factor_id = proved.id,
        updated_at = $3
    from proved
    join auth.mfa_factors f on f.id = proved.id
    join auth.users u on u.id = $2
    where s.id = $1
    and s.user_id = u.id
    and (s.not_after is null or s.not_after > $3)
    and u.deleted_at is null
    and (u.banned_until is null or u.banned_until <= $3)
    and (
        f.status = 'verified'
        or s.aal > 'aal1'
        or not exists (
            select
            from auth.mfa_factors other
            where other.user_id = u.id
            and other.status = 'verified'
        )
    )
    returning s.id, s.factor_id
),
verified as (
    update auth.mfa_factors f
    set status = 'verified',
        updated_at = $3
    from raised
    where f.id = raised.factor_id
    and f.status <> 'verified'
),
authenticated as (
    insert into auth.mfa_amr_claims (id, session_id, created_at, updated_at, authentication_method)
    select gen_random_uuid(), id, $3, $3, $5
    from raised
    on conflict (session_id, authentication_method) do update
    set updated_at = excluded.updated_at
),
revoked as (
    update auth.refresh_tokens r
    set revoked = true,
        updated_at = $3
    from raised
    where r.session_id = raised.id
    and r.revoked is not true
    returning r.token
),
refreshable as (
    insert into auth.refresh_tokens (instance_id, token, user_id, revoked, created_at, updated_at, parent, session_id)
    select '00000000-0000-0000-0000-000000000000', $4, $2::uuid::text, false, $3, $3, (select max(token) from revoked), id
    from raised
),
first as (
    select raised.id
    from raised
    where not exists (
        select
        from auth.mfa_factors f
        where f.user_id = $2
        and f.status = 'verified'
    )
),
others as (
    delete from auth.sessions s
    using raised
    where s.user_id = $2
    and s.id <> raised.id
    and coalesce(s.aal, 'aal1') = 'aal1'
    and (s.oauth_client_id is null or exists (select from first))
),
flows as (
    delete from auth.flow_state f
    using first
    where f.user_id = $2
),
codes as (
    delete from auth.oauth_authorizations a
    using first
    where a.user_id = $2
    and a.status = 'approved'
),
moves as (
    delete from auth.one_time_tokens t
    using first
    where t.user_id = $2
    and t.token_type in ('email_change_token_current', 'email_change_token_new', 'phone_change_token')
),
unmoved as (
    update auth.users u
    set email_change = '',
        email_change_token_new = '',
        email_change_token_current = '',
        email_change_confirm_status = 0,
        phone_change = '',
        phone_change_token = '',
        updated_at = $3
    from first
    where u.id = $2
    and coalesce(u.email_change, '') || coalesce(u.phone_change, '') <> ''
),
leftovers as (
    delete from auth.mfa_factors f
    using raised
    where f.user_id = $2
    and f.id <> raised.factor_id
    and f.status = 'unverified'
    and f.factor_type = $6::text::auth.factor_type
)
select
from raised`

	readStanding = `
select
    coalesce(s.aal, 'aal1'),
    s.oauth_client_id,
    s.scopes,
    ` + sessionMethods + `
from auth.sessions s
where s.id = $1`
)

// acceptance is how the proof of a factor is written: a statement that ends with raiseSession, and its parameters
// from $7 on.
type acceptance struct {
	statement  string
	parameters []any
	// refusal is the answer when the statement finds that another was first.
	refusal *Error
	// before and after are statements to be sent along.
	before, after func(*pgx.Batch)
	// forget are tries that do not count any more.
	forget []limit.Hit
}

// raise writes that a factor was proved and signs the session's new tokens, in one flight.
func (s *Service) raise(ctx context.Context, caller Caller, p *Principal, f Factor, accept *acceptance) (*Session, error) {
	o := newOpening(factorMethod(f.Type), now())
	o.id = p.SessionID
	accepted := false
	st := standing{sessionID: p.SessionID}
	batch := &pgx.Batch{}
	batch.Queue(lockUser, p.UserID)
	batch.Queue(lockSession, p.SessionID)
	if accept.before != nil {
		accept.before(batch)
	}
	parameters := append([]any{o.id, p.UserID, o.at, storedToken(o.refresh), o.method, f.Type}, accept.parameters...)
	batch.Queue(accept.statement, parameters...).Query(func(rows pgx.Rows) error {
		accepted = rows.Next()
		rows.Close()
		return rows.Err()
	})
	if accept.after != nil {
		accept.after(batch)
	}
	batch.Queue(readStanding, p.SessionID).QueryRow(st.scan)
	u, err := writeAndRead(ctx, s.pool, batch, p.UserID, userOfTokenGone())
	switch {
	case errors.Is(err, errNoStanding):
		return nil, deny(CodeSessionNotFound, "Session from session_id claim in JWT does not exist")
	case err != nil:
		return nil, saveFailed("Database error verifying factor", err)
	case !accepted:
		return nil, accept.refusal
	}
	s.afterProof(ctx, u, f, accept)
	session, err := s.issue(ctx, s.pool, caller, grant{user: u, refresh: o.refresh, standing: st, method: o.method, at: o.at})
	if err != nil {
		return nil, s.abandon(ctx, p.SessionID, err)
	}
	return session, nil
}

// afterProof forgets the tries that led to a proof, and tells the account's owner of a factor that was proved for the first
// time. A code that was right and used up gets here once: were it to forget tries each time it comes, it would open the
// way to as many guesses. The proof stands whatever becomes of this.
func (s *Service) afterProof(ctx context.Context, u *User, f Factor, accept *acceptance) {
	batch := &pgx.Batch{}
	s.limits.Forget(batch, accept.forget...)
	var err error
	if f.Status != statusVerified {
		err = s.notifyOfFactor(batch, MailFactorEnrolled, u, f.Type)
	}
	if err == nil && batch.Len() > 0 {
		err = s.send(ctx, batch)
	}
	if err != nil {
		s.log.Warn().Err(err).Stringer("user_id", u.ID).Msg("what follows the proof of a factor was not written")
	}
}

// errNoStanding means that the session is gone.
var errNoStanding = errors.New("the session is gone")

// scan reads a row of readStanding.
func (st *standing) scan(found pgx.Row) error {
	err := found.Scan(reader(func(r *row) { st.level, st.client, st.scopes, st.methods = r.text(), r.id(), r.text(), r.methods() }))
	if errors.Is(err, pgx.ErrNoRows) {
		return errNoStanding
	}
	return err
}
