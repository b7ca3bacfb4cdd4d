package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"basalt/auth/factor"
	"basalt/auth/limit"
)

const (
	// lockSession lets refreshes end before the session is raised: what they have written must be there to be revoked.
	lockSession = `
select
from auth.sessions
where id = $1
for update`

	// readProof finds what a code is to be compared with, and whether the account has proved a factor before from
	// where the caller is.
	readProof = `
select
    coalesce(f.secret, ''),
    c.id is not null,
    c.created_at,
    c.verified_at is not null,
    c.ip_address = $4,
    coalesce(c.otp_code, ''),
    exists (
        select
        from auth.sessions s
        where s.user_id = $2
        and s.ip = $4
        and s.aal > 'aal1'
    ),
    f.web_authn_credential,
    c.web_authn_session_data
from auth.mfa_factors f
left join auth.mfa_challenges c on c.factor_id = f.id and c.id = $3
where f.id = $1
and f.user_id = $2`

	// openChallenge begins a WITH: its step gives the factor of a challenge that was not answered yet.
	openChallenge = `
with challenged as (
    select c.id as challenge, c.factor_id as id
    from auth.mfa_challenges c
    join auth.mfa_factors f on f.id = c.factor_id
    where c.id = $7
    and f.id = $8
    and f.user_id = $2
    and c.verified_at is null
    and c.created_at > $9
),`

	// acceptStep lets no code of an accepted time-step, nor of one before it, pass again (RFC 6238 §5.2).
	acceptStep = openChallenge + `
stepped as (
    insert into basalt.totp_steps as t (factor_id, last_step)
    select id, $10
    from challenged
    on conflict (factor_id) do update
    set last_step = excluded.last_step
    where t.last_step < excluded.last_step
    returning factor_id
),
proved as (
    update auth.mfa_challenges c
    set verified_at = $3
    from challenged
    join stepped on stepped.factor_id = challenged.id
    where c.id = challenged.challenge
    returning c.factor_id as id
),` + raiseSession

	acceptCode = openChallenge + `
proved as (
    update auth.mfa_challenges c
    set verified_at = $3,
        otp_code = null
    from challenged
    where c.id = challenged.challenge
    returning c.factor_id as id
),` + raiseSession

	// raiseSession ends a WITH whose step `proved` gives the id of the factor that was proved: it raises the session
	// to aal2 and gives it a new refresh token, since those from before must not lead to more than they did. The account's
	// sessions without a factor end, and its factors of the same kind that were never proved go. A flow's own parameters
	// begin at $7.
	raiseSession = `
raised as (
    update auth.sessions s
    set aal = 'aal2',
        factor_id = proved.id,
        updated_at = $3
    from proved
    join auth.users u on u.id = $2
    where s.id = $1
    and s.user_id = u.id
    and (s.not_after is null or s.not_after > $3)
    and u.deleted_at is null
    and (u.banned_until is null or u.banned_until <= $3)
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
others as (
    delete from auth.sessions s
    using raised
    where s.user_id = $2
    and s.id <> raised.id
    and coalesce(s.aal, 'aal1') = 'aal1'
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

	// resealFactor puts a secret in the place of the text that was read, unless somebody else was first.
	resealFactor = `
update auth.mfa_factors
set secret = $3
where id = $1
and secret = $2`

	readStanding = `
select
    coalesce(s.aal, 'aal1'),
    s.oauth_client_id,
    s.scopes,
    array(
        select row(a.authentication_method, a.updated_at)
        from auth.mfa_amr_claims a
        where a.session_id = s.id
        order by a.updated_at desc
    )
from auth.sessions s
where s.id = $1`
)

// FactorProof is an answer to a challenge.
type FactorProof struct {
	ChallengeID uuid.UUID
	Code        Secret
	// Key is in the place of a code for factors of type webauthn.
	Key *KeyProof
}

// expected is what an answer is compared with.
type expected struct {
	user      *User
	factor    Factor
	secret    string
	found     bool
	createdAt *time.Time
	used      bool
	sameIP    bool
	code      string
	known     bool
	// key and session are for factors of type webauthn: the public key, and what its answer is checked against.
	key, session json.RawMessage
}

// VerifyFactor answers a challenge. A right code raises the session to aal2, proves the factor if it was not yet, and gives
// new tokens. The account's sessions at aal1 end.
func (s *Service) VerifyFactor(ctx context.Context, caller Caller, p *Principal, id uuid.UUID, in FactorProof) (*Session, error) {
	session, err := s.verifyFactor(ctx, caller, p, id, in)
	s.event(caller, "factor_verify", p.UserID, err)
	return session, err
}

func (s *Service) verifyFactor(ctx context.Context, caller Caller, p *Principal, id uuid.UUID, in FactorProof) (*Session, error) {
	if refusal := namesSession(p); refusal != nil {
		return nil, refusal
	}
	found, err := s.readProof(ctx, caller, p, id, in.ChallengeID)
	if err != nil {
		return nil, err
	}
	if found.factor.Type == FactorWebAuthn {
		if refusal := in.Key.check(); refusal != nil {
			return nil, refusal
		}
	}
	switch {
	case in.Code == "" && found.factor.Type != FactorWebAuthn:
		return nil, refuse(CodeValidationFailed, "Code needs to be non-empty")
	case !found.found:
		return nil, unprocessable(CodeFactorNotFound, "MFA factor with the provided challenge ID not found")
	case !found.sameIP:
		return nil, unprocessable(CodeFactorAddressMismatch, "Challenge and verify IP addresses mismatch.")
	case found.used || found.createdAt == nil || !found.createdAt.After(now().Add(-challengeLife)):
		return nil, unprocessable(CodeFactorChallengeExpired,
			fmt.Sprintf("MFA challenge %s has expired, verify against another challenge or create a new challenge.", in.ChallengeID))
	}
	accept, err := s.compare(ctx, caller, found, in)
	var refusal *Error
	if err != nil && (!errors.As(err, &refusal) || refusal.Code != CodeFactorVerificationFailed) {
		return nil, err
	}
	if refused := s.factorAttempted(ctx, caller, p.UserID, found.factor, err == nil); refused != nil {
		return nil, refused
	}
	if err != nil {
		return nil, err
	}
	accept.forget = factorHits(caller, p.UserID, id)
	return s.raise(ctx, caller, p, found.factor, accept)
}

// readProof counts the try and reads what it is compared with, in one flight. Tries are counted before they are looked at:
// those at the same moment cannot slip through together. They are counted under the account that the token names, so
// that nobody can use up another's.
func (s *Service) readProof(ctx context.Context, caller Caller, p *Principal, id, challenge uuid.UUID) (*expected, error) {
	l := &lookup{principal: p}
	out := &expected{}
	gone := false
	batch := &pgx.Batch{}
	verdict := s.countCode(batch, caller, p.UserID, id)
	s.lookups.ask(batch, p).QueryRow(l.scan)
	batch.Queue(readProof, id, p.UserID, challenge, caller.factorAddress()).QueryRow(func(answer pgx.Row) error {
		err := answer.Scan(reader(func(r *row) {
			out.secret, out.found, out.createdAt, out.used, out.sameIP, out.code, out.known =
				r.text(), r.flag(), r.time(), r.flag(), r.flag(), r.text(), r.flag()
			out.key, out.session = r.object(), r.object()
		}))
		if errors.Is(err, pgx.ErrNoRows) {
			gone = true
			return nil
		}
		return err
	})
	if err := l.refusal(s.send(ctx, batch)); err != nil {
		return nil, err
	}
	if refusal := verdict.refused(out.known); refusal != nil {
		return nil, tooOften(refusal)
	}
	f, refusal := l.user.factor(id)
	switch {
	case refusal != nil:
		return nil, refusal
	case gone:
		return nil, factorNotFound()
	case f.Type == FactorRecoveryCode:
		return nil, usesNoChallenge()
	}
	out.user, out.factor = l.user, f
	if refusal := s.factorAllowed(f.Type, "verify"); refusal != nil {
		return nil, refusal
	}
	return out, nil
}

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

// compare tells whether a code is right, and how it is accepted then.
func (s *Service) compare(ctx context.Context, caller Caller, found *expected, in FactorProof) (*acceptance, error) {
	if found.factor.Type == FactorWebAuthn {
		return s.compareKey(caller, found, in)
	}
	id, border := found.factor.ID, now().Add(-challengeLife)
	if found.factor.Type == FactorPhone {
		wrong := unprocessable(CodeFactorVerificationFailed, "Invalid MFA Phone code entered")
		if found.code == "" {
			return nil, wrong
		}
		code, _, err := s.unseal(ctx, found.code, codeCell(in.ChallengeID))
		if err != nil {
			return nil, err
		}
		if !code.Equal(in.Code) {
			return nil, wrong
		}
		return &acceptance{statement: acceptCode, parameters: []any{in.ChallengeID, id, border}, refusal: wrong}, nil
	}
	wrong := unprocessable(CodeFactorVerificationFailed, "Invalid TOTP code entered")
	secret, stale, err := s.unseal(ctx, found.secret, secretCell(id))
	if err != nil {
		return nil, err
	}
	step, ok, err := factor.MatchTOTP(secret.Reveal(), in.Code.Reveal(), time.Now())
	if err != nil {
		return nil, unexpected("Database error verifying MFA TOTP secret", err)
	}
	if !ok {
		return nil, wrong
	}
	accept := &acceptance{statement: acceptStep, parameters: []any{in.ChallengeID, id, border, step}, refusal: wrong}
	if stale {
		sealed, err := s.seal(ctx, secret, secretCell(id))
		if err != nil {
			return nil, err
		}
		accept.before = func(batch *pgx.Batch) { batch.Queue(resealFactor, id, found.secret, sealed) }
	}
	return accept, nil
}

// raise writes that a factor was proved and signs the session's new tokens, in one flight.
func (s *Service) raise(ctx context.Context, caller Caller, p *Principal, f Factor, accept *acceptance) (*Session, error) {
	o, err := newOpening(factorMethod(f.Type), now())
	if err != nil {
		return nil, err
	}
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
	s.limits.Forget(batch, accept.forget...)
	u, err := writeAndRead(ctx, s.pool, batch, p.UserID, userOfTokenGone())
	switch {
	case errors.Is(err, errNoStanding):
		return nil, deny(CodeSessionNotFound, "Session from session_id claim in JWT does not exist")
	case err != nil:
		return nil, saveFailed("Database error verifying factor", err)
	case !accepted:
		return nil, accept.refusal
	}
	if f.Status != statusVerified {
		s.tellLater(ctx, u, MailFactorEnrolled, f.Type)
	}
	session, err := s.issue(ctx, s.pool, caller, grant{user: u, refresh: o.refresh, standing: st, method: o.method, at: o.at})
	if err != nil {
		return nil, s.abandon(ctx, p.SessionID, err)
	}
	return session, nil
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
