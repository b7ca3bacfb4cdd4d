package auth

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"basalt/auth/limit"
	"basalt/auth/sso"
)

// SSOSignIn asks to sign in with the identity provider of an organisation, named by its id or by a domain.
type SSOSignIn struct {
	ProviderID uuid.UUID
	Domain     string
	RedirectTo string
	// CodeChallenge and CodeChallengeMethod are of flows that end with a code (RFC 7636); both empty for others.
	CodeChallenge       string
	CodeChallengeMethod string
}

// relayLife is how long a user may take at the identity provider.
const relayLife = 10 * time.Minute

const (
	insertRelayState = `
insert into auth.saml_relay_states (id, sso_provider_id, request_id, redirect_to, flow_state_id, created_at, updated_at)
values ($1, $2, $3, $4, $5, clock_timestamp(), clock_timestamp())`

	// sweepRelayStates removes those of users who have not come back. They stay for an hour, so that who comes late is
	// told that they do.
	sweepRelayStates = `
delete from auth.saml_relay_states
where id in (
    select id
    from auth.saml_relay_states
    where created_at < now() - interval '1 hour'
    order by created_at
    limit 100
    for update skip locked
)`
)

// BeginSSO gives the URL of the identity provider to which the user's browser has to go.
func (s *Service) BeginSSO(ctx context.Context, caller Caller, in SSOSignIn) (string, error) {
	if refusal := s.ssoAllowed(); refusal != nil {
		return "", refusal
	}
	domain := strings.ToLower(strings.TrimSpace(in.Domain))
	switch {
	case in.ProviderID != uuid.Nil && domain != "":
		return "", refuse(CodeValidationFailed, "Only one of provider_id or domain supported")
	case in.ProviderID == uuid.Nil && domain == "":
		return "", refuse(CodeValidationFailed, "A provider_id or domain needs to be provided")
	case len(domain) > maxDomain:
		return "", refuse(CodeValidationFailed, "domain is too long to be one")
	}
	challenge, refusal := s.readChallenge(in.CodeChallenge, in.CodeChallengeMethod)
	if refusal != nil {
		return "", refusal
	}
	c, err := s.connectionFor(ctx, caller, in.ProviderID, domain)
	if err != nil {
		return "", err
	}
	idp, err := s.metadata(ctx, c)
	if err != nil {
		return "", err
	}
	request, err := s.options.SSO.SAML.Ask(idp, c.nameIDFormat)
	if errors.Is(err, sso.ErrNoRedirect) {
		return "", refuse(CodeValidationFailed, "The identity provider of this SSO provider takes no requests by redirect")
	}
	if err != nil {
		return "", unexpected("Error creating SAML Authentication Request", err)
	}
	relay, flowID := uuid.New(), uuid.Nil
	redirect := s.redirectTarget(in.RedirectTo)
	batch := &pgx.Batch{}
	if challenge.asked() {
		flowID = uuid.New()
		queueFlow(batch, flow{id: flowID, challenge: challenge, provider: MethodSAML, method: MethodSAML, redirect: redirect})
	}
	batch.Queue(insertRelayState, relay, c.id, request.ID, redirect, optionalID(flowID))
	batch.Queue(sweepRelayStates)
	if err := s.send(ctx, batch); err != nil {
		return "", saveFailed("Error creating SAML relay state from sign up", err)
	}
	u, err := request.URL(relay.String())
	if err != nil {
		return "", unexpected("Error creating SAML authentication request redirect URL", err)
	}
	return u, nil
}

// connectionFor counts the attempt and finds the identity provider in one flight.
func (s *Service) connectionFor(ctx context.Context, caller Caller, id uuid.UUID, domain string) (*connection, error) {
	var c *connection
	batch := &pgx.Batch{}
	verdict := s.count(batch, caller, limit.Hit{Rule: ssoRule(), Of: caller.Network()})
	found := func(row pgx.Row) error {
		var err error
		if c, err = scanConnection(row); errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	}
	if domain != "" {
		batch.Queue(connectionByDomain, domain).QueryRow(found)
	} else {
		batch.Queue(connectionByID, id).QueryRow(found)
	}
	if err := s.send(ctx, batch); err != nil {
		return nil, err
	}
	refusal := verdict.Refused()
	switch {
	case refusal != nil:
		return nil, tooOften(refusal)
	case c == nil && domain != "":
		return nil, absent(CodeSSOProviderNotFound, "No SSO provider assigned for this domain")
	case c == nil:
		return nil, absent(CodeSSOProviderNotFound, "No such SSO provider")
	}
	if refusal := c.usable(); refusal != nil {
		return nil, refusal
	}
	return c, nil
}
