package auth

import (
	"context"
	"net/netip"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"basalt/auth/limit"
)

// challengeLife is how long a challenge may be answered.
const challengeLife = 5 * time.Minute

// challengeFactor takes the factor's older challenges away, so that they do not pile up. Codes to a telephone are not
// sent more often than $8 tells, however many ask at once.
const challengeFactor = `
with challenged as (
    update auth.mfa_factors
    set last_challenged_at = $4
    where id = $1
    and user_id = $2
    and ($8::timestamptz is null or last_challenged_at is null or last_challenged_at <= $8)
    returning id
),
over as (
    delete from auth.mfa_challenges c
    using challenged
    where c.factor_id = challenged.id
    and c.created_at <= $5
)
insert into auth.mfa_challenges (id, factor_id, created_at, ip_address, otp_code, web_authn_session_data)
select $3, id, $4, $6, $7, $9
from challenged`

// Challenge is an invitation to prove a factor.
type Challenge struct {
	ID        uuid.UUID
	Type      string
	ExpiresAt time.Time
	// Key is what an authenticator is asked, for factors of type webauthn.
	Key *KeyChallenge
}

// ChallengeFactor invites to prove a factor, within five minutes and from the same address. A telephone is sent a code,
// by sms or whatsapp.
func (s *Service) ChallengeFactor(ctx context.Context, caller Caller, p *Principal, id uuid.UUID, channel string) (*Challenge, error) {
	c, err := s.challengeFactor(ctx, caller, p, id, channel)
	s.event(caller, "factor_challenge", p.UserID, err)
	return c, err
}

func (s *Service) challengeFactor(ctx context.Context, caller Caller, p *Principal, id uuid.UUID, channel string) (*Challenge, error) {
	if refusal := namesSession(p); refusal != nil {
		return nil, refusal
	}
	l := &lookup{principal: p}
	batch := &pgx.Batch{}
	verdict := s.count(batch, caller, limit.Hit{Rule: factorRule(), Of: caller.Network()})
	s.lookups.ask(batch, p).QueryRow(l.scan)
	if err := l.refusal(s.send(ctx, batch)); err != nil {
		return nil, err
	}
	if refusal := verdict.Refused(); refusal != nil {
		return nil, tooOften(refusal)
	}
	f, refusal := l.user.factor(id)
	switch {
	case refusal != nil:
		return nil, refusal
	case f.Type == FactorRecoveryCode:
		return nil, usesNoChallenge()
	}
	if refusal := s.factorAllowed(f.Type, "verify"); refusal != nil {
		return nil, refusal
	}
	c := &Challenge{ID: uuid.New(), Type: f.Type, ExpiresAt: now().Add(challengeLife)}
	if f.Type == FactorPhone {
		if err := s.sendChallenge(ctx, caller, l.user, f, c, channel); err != nil {
			return nil, saveFailed("Database error creating challenge", err)
		}
		return c, nil
	}
	var session []byte
	if f.Type == FactorWebAuthn {
		var err error
		if c.Key, session, err = s.askKey(ctx, l.user, f); err != nil {
			return nil, err
		}
	}
	written, err := writeChallenge(ctx, s.pool, caller, p.UserID, c, f, nil, nil, session)
	switch {
	case err != nil:
		return nil, saveFailed("Database error creating challenge", err)
	case !written:
		return nil, factorNotFound()
	}
	return c, nil
}

// executor is a pool or a transaction.
type executor interface {
	Exec(ctx context.Context, sql string, arguments ...any) (pgconn.CommandTag, error)
}

// writeChallenge tells whether there was a factor to be challenged, not before a time if one is given.
func writeChallenge(ctx context.Context, db executor, caller Caller, user uuid.UUID, c *Challenge, f Factor, code *string, notBefore *time.Time, session []byte) (bool, error) {
	at := c.ExpiresAt.Add(-challengeLife)
	tag, err := db.Exec(ctx, challengeFactor, f.ID, user, c.ID, at, at.Add(-challengeLife), caller.factorAddress(), code, notBefore, session)
	return tag.RowsAffected() == 1, err
}

// factorAddress is where a challenge must be answered from. Callers whose address is not known are all at the same one.
func (c Caller) factorAddress() netip.Addr {
	if addr := c.Addr(); addr != nil {
		return *addr
	}
	return netip.IPv4Unspecified()
}

func usesNoChallenge() *Error {
	return refuse(CodeValidationFailed, "Recovery codes take no challenge, use POST /factors/recovery-codes/verify")
}
