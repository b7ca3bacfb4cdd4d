package auth

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"basalt/auth/limit"
)

// codeLife is how long an authorization code is good after it has been given (RFC 9700 asks for as short as can be).
const codeLife = 5 * time.Minute

const (
	beginFlow = `
insert into auth.flow_state (
    id, user_id, code_challenge, code_challenge_method, provider_type, authentication_method,
    referrer, linking_target_id, created_at, updated_at
)
values ($1, $2, $3, $4::auth.code_challenge_method, $5, $6, $7, $8, clock_timestamp(), clock_timestamp())`

	// Flows that nobody ends go a few at a time with those that begin. A day is longer than any link is good.
	sweepFlows = `
delete from auth.flow_state
where id in (
    select id
    from auth.flow_state
    where created_at < now() - interval '1 day'
    order by created_at
    limit 10
    for update skip locked
)`

	sweepExchanged = `
delete from basalt.exchanged_codes
where code_hash in (
    select code_hash
    from basalt.exchanged_codes
    where exchanged_at < now() - interval '1 day'
    order by exchanged_at
    limit 10
    for update skip locked
)`

	// A flow gives one code.
	codeOfFlow = `
update auth.flow_state
set auth_code = $2,
    auth_code_issued_at = clock_timestamp(),
    user_id = $3,
    updated_at = clock_timestamp()
where id = $1
and auth_code_issued_at is null
and (user_id is null or user_id = $3)
returning referrer`

	// The flow that a user has begun last by a method is the one that a link of theirs belongs to.
	flowOfUser = `
select id
from auth.flow_state
where user_id = $1
and authentication_method = $2
and auth_code_issued_at is null
order by created_at desc
limit 1`

	// The texts are compared by their hashes: the time that it takes tells nothing about them.
	takeCode = `
with taken as (
    delete from auth.flow_state
    where auth_code = $1
    and user_id is not null
    and auth_code_issued_at > clock_timestamp() - $4::interval
    and case code_challenge_method
        when 's256' then sha256(convert_to(code_challenge, 'UTF8')) = sha256(convert_to($2, 'UTF8'))
        when 'plain' then sha256(convert_to(code_challenge, 'UTF8')) = sha256(convert_to($3, 'UTF8'))
        end
    returning id, user_id, authentication_method, provider_access_token, provider_refresh_token
),
pending as (
    delete from basalt.pending_identities p
    using taken
    where p.flow_id = taken.id
    returning p.provider, p.subject, p.email, p.verified, p.data
)
select taken.id, taken.user_id, taken.authentication_method, taken.provider_access_token, taken.provider_refresh_token,
    coalesce(pending.provider, ''), coalesce(pending.subject, ''), coalesce(pending.email, ''), coalesce(pending.verified, false), pending.data
from taken
left join pending on true`

	keepExchanged = `
insert into basalt.exchanged_codes (code_hash, session_id)
values ($1, $2)`

	// whyNotTaken finds a code that was not taken: among those that are still there, or those that were used.
	whyNotTaken = `
select auth_code_issued_at <= clock_timestamp() - $2::interval, null::uuid
from auth.flow_state
where auth_code = $1
union all
select false, session_id
from basalt.exchanged_codes
where code_hash = $1`
)

// flow is a sign-in that leaves the client, by a mail or another server, and comes back to it with a code instead of
// tokens. Only who began it has the verifier that makes a session of the code.
type flow struct {
	id        uuid.UUID
	challenge codeChallenge
	// provider is `email` or `phone` for links, else the name of the server that is asked.
	provider string
	// method is what the session will say about how it came about.
	method string
	// user is whom a link is for; zero when the flow has still to find that out.
	user uuid.UUID
	// redirect is where the code is led to: an outcome of redirectTarget.
	redirect string
	// linkTo is the account that gains an identity; zero for sign-ins.
	linkTo uuid.UUID
}

// queueFlow adds the beginning of a flow to a batch.
func queueFlow(batch *pgx.Batch, f flow) {
	batch.Queue(sweepFlows)
	batch.Queue(beginFlow, f.id, optionalID(f.user), optionalText(f.challenge.text), optionalText(f.challenge.method), f.provider, f.method,
		optionalText(f.redirect), optionalID(f.linkTo))
}

func optionalID(id uuid.UUID) *uuid.UUID {
	if id == uuid.Nil {
		return nil
	}
	return &id
}

func optionalText(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// issueCode gives the code of a flow whose user is known now, and where it leads. It can be part of a transaction.
func issueCode(ctx context.Context, db limit.Sender, id, user uuid.UUID) (code Secret, redirect string, err error) {
	code = DrawSecret(secretLength)
	var referrer *string
	batch := &pgx.Batch{}
	batch.Queue(codeOfFlow, id, storedToken(code), user).QueryRow(func(found pgx.Row) error { return found.Scan(&referrer) })
	err = db.SendBatch(ctx, batch).Close()
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return "", "", flowNotFound()
	case err != nil:
		return "", "", err
	}
	if referrer != nil {
		redirect = *referrer
	}
	return code, redirect, nil
}

// issueLinkCode gives the code of the flow that a user has begun last by a method.
func issueLinkCode(ctx context.Context, db limit.Sender, user uuid.UUID, method string) (code Secret, redirect string, err error) {
	var id uuid.UUID
	batch := &pgx.Batch{}
	batch.Queue(flowOfUser, user, method).QueryRow(func(found pgx.Row) error { return found.Scan(&id) })
	err = db.SendBatch(ctx, batch).Close()
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return "", "", flowNotFound()
	case err != nil:
		return "", "", err
	}
	return issueCode(ctx, db, id, user)
}

func flowNotFound() *Error {
	return refuse(CodeFlowStateNotFound, "invalid flow state, no valid flow state found")
}

// ExchangeCode gives the session of a code, once, to who has the verifier. The code's second use ends that session
// (RFC 6749 §4.1.2): one of the two who brought it has stolen it.
func (s *Service) ExchangeCode(ctx context.Context, caller Caller, code, verifier Secret) (*Session, error) {
	session, user, err := s.exchangeCode(ctx, caller, code, verifier)
	s.event(caller, "code_exchange", user, err)
	return session, err
}

func (s *Service) exchangeCode(ctx context.Context, caller Caller, code, verifier Secret) (*Session, uuid.UUID, error) {
	if code == "" || verifier == "" {
		return nil, uuid.Nil, refuse(CodeValidationFailed, "invalid request: both auth code and code verifier should be non-empty")
	}
	refusal, err := s.admit(ctx, caller, limit.Hit{Rule: exchangeRule(), Of: caller.Network()})
	switch {
	case err != nil:
		return nil, uuid.Nil, err
	case refusal != nil:
		return nil, uuid.Nil, tooOften(refusal)
	}
	hash := storedToken(code)
	if !isVerifier(verifier) {
		return nil, uuid.Nil, s.notTaken(ctx, caller, hash)
	}
	var session *Session
	var id, user uuid.UUID
	var access, refresh *string
	err = s.again(ctx, func(tx pgx.Tx) error {
		var method string
		var v visitor
		err := tx.QueryRow(ctx, takeCode, hash, challengeOf(verifier), verifier.Reveal(), codeLife).Scan(
			&id, &user, &method, &access, &refresh, &v.provider, &v.subject, &v.email, &v.verified, &v.data)
		if err != nil {
			return err
		}
		if v.provider != "" {
			if _, err := s.accountOf(ctx, tx, v, &settlement{linkTo: user}); err != nil {
				return err
			}
		}
		if session, err = s.open(ctx, tx, caller, user, method); err != nil {
			return err
		}
		return rememberExchange(ctx, tx, hash, session.ID)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		err = s.notTaken(ctx, caller, hash)
	}
	if err != nil {
		return nil, user, saveFailed("Database error granting user", err)
	}
	if err := s.complete(ctx, caller, session); err != nil {
		return nil, user, err
	}
	if session.ProviderToken, err = s.unsealProviderToken(ctx, access, id, "provider_access_token"); err != nil {
		return nil, user, err
	}
	session.ProviderRefreshToken, err = s.unsealProviderToken(ctx, refresh, id, "provider_refresh_token")
	return session, user, err
}

// rememberExchange keeps which session a code has given, so that who brings it again ends that.
func rememberExchange(ctx context.Context, tx pgx.Tx, hash string, session uuid.UUID) error {
	batch := &pgx.Batch{}
	batch.Queue(keepExchanged, hash, session)
	batch.Queue(sweepExchanged)
	return tx.SendBatch(ctx, batch).Close()
}

// endExchanged ends the session of a code that has been brought again (RFC 6749 §4.1.2).
func (s *Service) endExchanged(ctx context.Context, caller Caller, session uuid.UUID) error {
	batch := &pgx.Batch{}
	batch.Queue(endSession, session)
	batch.Queue(revokeFamily, session)
	if err := s.send(ctx, batch); err != nil {
		return err
	}
	s.log.Warn().Stringer("session_id", session).Str("request_id", caller.RequestID).
		Msg("a used authorization code came back: its session is ended")
	return nil
}

// notTaken is why a code gave no session.
func (s *Service) notTaken(ctx context.Context, caller Caller, hash string) error {
	var expired bool
	var used *uuid.UUID
	err := s.pool.QueryRow(ctx, whyNotTaken, hash, codeLife).Scan(&expired, &used)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return flowNotFound()
	case err != nil:
		return err
	case used != nil:
		if err := s.endExchanged(ctx, caller, *used); err != nil {
			return err
		}
		return deny(CodeFlowStateAlreadyUsed, "invalid flow state, the code has been used already")
	case expired:
		return deny(CodeFlowStateExpired, "invalid flow state, flow state has expired")
	}
	return refuse(CodeBadCodeVerifier, "code challenge does not match previously saved code verifier")
}
