package auth

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"basalt/auth/limit"
	"basalt/auth/sso"
)

// SSOAnswer is what an identity provider sends by the browser of its user (SAML Bindings §3.5).
type SSOAnswer struct {
	// Response is XML in base64.
	Response string
	// RelayState is ours again, or where the user is to be led to when the identity provider began.
	RelayState string
}

// SignedInElsewhere is the end of a sign-in with another server: where the browser goes, with a code or with a session.
type SignedInElsewhere struct {
	Redirect string
	// Code is for flows with a code challenge.
	Code    Secret
	Session *Session
}

const (
	// useRelayState uses up a request that was sent to an identity provider: its answer is good once.
	useRelayState = `
with used as (
    delete from auth.saml_relay_states
    where id = $1
    returning sso_provider_id, request_id, coalesce(redirect_to, '') as redirect_to, flow_state_id,
        created_at <= clock_timestamp() - $2::interval as over
)
select` + connectionColumns + `,
    used.request_id,
    used.redirect_to,
    used.flow_state_id,
    coalesce(used.over, true)
from used
join auth.sso_providers p on p.id = used.sso_provider_id
join auth.saml_providers s on s.sso_provider_id = p.id`

	// useAssertion notes an assertion as used. Who comes with the same one while the first is under way waits for it.
	useAssertion = `
insert into basalt.saml_assertions (digest, good_until)
values ($1, $2)
on conflict do nothing`

	sweepAssertions = `
delete from basalt.saml_assertions
where digest in (
    select digest
    from basalt.saml_assertions
    where good_until < now() - interval '1 hour'
    limit 100
    for update skip locked
)`

	endSessionBy = `
update auth.sessions
set not_after = $2
where id = $1`
)

// exchange is one sign-in with an identity provider, as far as it is known.
type exchange struct {
	*connection
	// request is the id of ours that is answered; empty when the identity provider began.
	request  string
	redirect string
	flow     uuid.UUID
}

// FinishSSO signs in whom an identity provider vouches for.
func (s *Service) FinishSSO(ctx context.Context, caller Caller, in SSOAnswer) (*SignedInElsewhere, error) {
	out, user, err := s.finishSSO(ctx, caller, in)
	s.event(caller, "signin_sso", user, err)
	return out, err
}

func (s *Service) finishSSO(ctx context.Context, caller Caller, in SSOAnswer) (*SignedInElsewhere, uuid.UUID, error) {
	if refusal := s.ssoAllowed(); refusal != nil {
		return nil, uuid.Nil, refusal
	}
	switch refusal, err := s.admit(ctx, caller, limit.Hit{Rule: assertionRule(), Of: caller.Network()}); {
	case err != nil:
		return nil, uuid.Nil, err
	case refusal != nil:
		return nil, uuid.Nil, tooOften(refusal)
	}
	response, refusal := readSSOResponse(in.Response)
	if refusal != nil {
		return nil, uuid.Nil, refusal
	}
	e, err := s.exchangeOf(ctx, in.RelayState, response)
	if err != nil {
		return nil, uuid.Nil, err
	}
	if refusal := e.usable(); refusal != nil {
		return nil, uuid.Nil, refusal
	}
	idp, err := s.metadata(ctx, e.connection)
	if err != nil {
		return nil, uuid.Nil, err
	}
	assertion, err := s.options.SSO.SAML.Accept(idp, response, e.request)
	if err != nil {
		s.log.Info().Err(err).Stringer("sso_provider_id", e.id).Str("request_id", caller.RequestID).
			Msg("the answer of an identity provider is refused")
		return nil, uuid.Nil, refuse(CodeValidationFailed, "SAML Assertion is not valid")
	}
	person, refusal := e.person(assertion)
	if refusal != nil {
		return nil, uuid.Nil, refusal
	}
	if err := s.mayBeMade(ctx, caller, e.connection, person); err != nil {
		return nil, uuid.Nil, err
	}
	return s.enterBySSO(ctx, caller, e, assertion, person)
}

func readSSOResponse(text string) ([]byte, *Error) {
	if text == "" {
		return nil, refuse(CodeValidationFailed, "SAMLResponse is missing")
	}
	if base64.StdEncoding.DecodedLen(len(text)) > sso.MaxResponse+sso.MaxResponse/8 {
		return nil, refuse(CodeValidationFailed, "SAMLResponse is too large")
	}
	// Some wrap their lines (RFC 2045 §6.8).
	response, err := base64.StdEncoding.DecodeString(strings.NewReplacer("\r", "", "\n", "", " ", "").Replace(text))
	switch {
	case err != nil:
		return nil, refuse(CodeValidationFailed, "SAMLResponse is not a valid Base64 string")
	case len(response) > sso.MaxResponse:
		return nil, refuse(CodeValidationFailed, "SAMLResponse is too large")
	}
	return response, nil
}

// exchangeOf finds what a response belongs to: a request of ours by its relay state, or an identity provider that began
// by itself.
func (s *Service) exchangeOf(ctx context.Context, relay string, response []byte) (*exchange, error) {
	if id, err := uuid.Parse(relay); err == nil {
		return s.exchangeOfRequest(ctx, id)
	}
	if !s.options.SSO.IdPInitiated {
		return nil, refuse(CodeValidationFailed, "SAML RelayState is not one of this server, and sign-ins that an identity provider begins are not allowed")
	}
	issuer, err := sso.Issuer(response)
	if err != nil {
		return nil, refuse(CodeValidationFailed, "SAMLResponse is not a valid XML SAML assertion")
	}
	c, err := scanConnection(s.pool.QueryRow(ctx, connectionByEntity, issuer))
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, absent(CodeSAMLIdPNotFound, "A SAML connection has not been established with this Identity Provider")
	case err != nil:
		return nil, err
	}
	return &exchange{connection: c, redirect: s.redirectTarget(relay)}, nil
}

func (s *Service) exchangeOfRequest(ctx context.Context, relay uuid.UUID) (*exchange, error) {
	e := &exchange{connection: &connection{}}
	var flow *uuid.UUID
	var over bool
	destinations, done := e.destinations()
	err := s.pool.QueryRow(ctx, useRelayState, relay, relayLife).Scan(append(destinations, &e.request, &e.redirect, &flow, &over)...)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, absent(CodeSAMLRelayStateNotFound, "SAML RelayState does not exist, try logging in again?")
	case err != nil:
		return nil, err
	case over:
		return nil, unprocessable(CodeSAMLRelayStateExpired, "SAML RelayState has expired. Try logging in again?")
	}
	if flow != nil {
		e.flow = *flow
	}
	// A list of places that has become shorter holds for who is under way, too.
	e.redirect = s.redirectTarget(e.redirect)
	return e, done()
}

// enterBySSO uses the assertion up and finds or makes its account; then it opens a session, or gives a code for one. All
// of that happens or nothing.
func (s *Service) enterBySSO(ctx context.Context, caller Caller, e *exchange, a *sso.Assertion, p *person) (*SignedInElsewhere, uuid.UUID, error) {
	out := &SignedInElsewhere{Redirect: e.redirect}
	var user uuid.UUID
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		fresh := false
		digest := sha256.Sum256([]byte(e.entityID + "\x00" + a.ID))
		batch := &pgx.Batch{}
		batch.Queue(useAssertion, digest[:], a.GoodUntil).Exec(func(tag pgconn.CommandTag) error {
			fresh = tag.RowsAffected() == 1
			return nil
		})
		batch.Queue(sweepAssertions)
		found := queueFindPerson(batch, e.connection, p)
		if err := tx.SendBatch(ctx, batch).Close(); err != nil {
			return err
		}
		if !fresh {
			s.log.Warn().Stringer("sso_provider_id", e.id).Str("request_id", caller.RequestID).
				Msg("an assertion of an identity provider came back")
			return refuse(CodeValidationFailed, "SAML Assertion has already been used")
		}
		var err error
		if user, err = s.keepPerson(ctx, tx, e.connection, p, found); err != nil {
			return err
		}
		if e.flow != uuid.Nil {
			out.Code, _, err = issueCode(ctx, tx, e.flow, user)
			return err
		}
		if out.Session, err = s.open(ctx, tx, caller, user, MethodSAML); err != nil {
			return err
		}
		if end := a.SessionEnd(); !end.IsZero() {
			_, err = tx.Exec(ctx, endSessionBy, out.Session.ID, endWithin(end))
		}
		return err
	})
	if err != nil {
		return nil, user, saveFailed("Database error saving new user", err)
	}
	if user == p.id && s.hooks.AfterUserCreated != nil {
		u, err := s.AdminUser(ctx, user)
		if err == nil {
			err = s.afterUserCreated(ctx, caller, u)
		}
		if err != nil {
			return nil, user, err
		}
	}
	if out.Session != nil {
		err = s.complete(ctx, caller, out.Session)
	}
	return out, user, err
}

// endWithin keeps what an identity provider says within what the database can.
func endWithin(end time.Time) time.Time {
	if last := time.Date(9999, time.January, 1, 0, 0, 0, 0, time.UTC); end.After(last) {
		return last
	}
	return end
}
