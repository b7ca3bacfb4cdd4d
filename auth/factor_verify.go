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
)

const (
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
        and s.ip <<= $5
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

	// resealFactor puts a secret in the place of the text that was read, unless somebody else was first.
	resealFactor = `
update auth.mfa_factors
set secret = $3
where id = $1
and secret = $2`
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
	accept, valid, err := s.compare(ctx, caller, found, in)
	if err != nil {
		return nil, err
	}
	if err := s.factorAttempted(ctx, caller, p.UserID, found.factor, valid); err != nil {
		return nil, err
	}
	if !valid {
		return nil, accept.refusal
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
	batch.Queue(readProof, id, p.UserID, challenge, caller.factorAddress(), caller.place()).QueryRow(func(answer pgx.Row) error {
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
	case f.Status != statusVerified && l.level == lowestLevel && l.user.hasVerifiedFactor():
		return nil, deny(CodeInsufficientAAL, "AAL2 required to verify a new factor")
	}
	out.user, out.factor = l.user, f
	if refusal := s.factorAllowed(f.Type, "verify"); refusal != nil {
		return nil, refusal
	}
	return out, nil
}

// compare tells whether a code is right, and how it is accepted then.
func (s *Service) compare(ctx context.Context, caller Caller, found *expected, in FactorProof) (*acceptance, bool, error) {
	if found.factor.Type == FactorWebAuthn {
		accept, err := s.compareKey(caller, found, in)
		var refusal *Error
		if errors.As(err, &refusal) && refusal.Code == CodeFactorVerificationFailed {
			return &acceptance{refusal: refusal}, false, nil
		}
		return accept, err == nil, err
	}
	id, border := found.factor.ID, now().Add(-challengeLife)
	if found.factor.Type == FactorPhone {
		accept := &acceptance{
			statement: acceptCode, parameters: []any{in.ChallengeID, id, border},
			refusal: unprocessable(CodeFactorVerificationFailed, "Invalid MFA Phone code entered"),
		}
		if found.code == "" {
			return accept, false, nil
		}
		code, _, err := s.unseal(ctx, found.code, codeCell(in.ChallengeID))
		return accept, err == nil && code.Equal(in.Code), err
	}
	accept := &acceptance{refusal: unprocessable(CodeFactorVerificationFailed, "Invalid TOTP code entered")}
	secret, stale, err := s.unseal(ctx, found.secret, secretCell(id))
	if err != nil {
		return nil, false, err
	}
	step, ok, err := factor.MatchTOTP(secret.Reveal(), in.Code.Reveal(), time.Now())
	if err != nil {
		return nil, false, unexpected("Database error verifying MFA TOTP secret", err)
	}
	accept.statement, accept.parameters = acceptStep, []any{in.ChallengeID, id, border, step}
	if ok && stale {
		sealed, err := s.seal(ctx, secret, secretCell(id))
		if err != nil {
			return nil, false, err
		}
		accept.before = func(batch *pgx.Batch) { batch.Queue(resealFactor, id, found.secret, sealed) }
	}
	return accept, ok, nil
}
