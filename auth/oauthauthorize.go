package auth

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"basalt/auth/limit"
)

const (
	// askLife is how long a user may take to decide.
	askLife = 10 * time.Minute

	// The bounds of what a client sends, as the database's constraints have them.
	maxState    = 4096
	maxNonce    = 255
	maxScope    = 2048
	maxResource = 2048

	defaultScope = ScopeEmail
)

// The scopes that a client may ask for: what of its user it is told (OpenID Connect Core §5.4).
const (
	ScopeOpenID  = "openid"
	ScopeEmail   = "email"
	ScopeProfile = "profile"
	ScopePhone   = "phone"
)

const (
	insertAuthorization = `
insert into auth.oauth_authorizations (
    id, authorization_id, client_id, redirect_uri, scope, state, resource, code_challenge, code_challenge_method,
    nonce, created_at, expires_at
)
values ($1, $2, $3, $4, $5, $6, $7, $8, 's256', $9, $10, $11)`

	// Authorizations that nobody ends go a few at a time with those that begin.
	sweepAuthorizations = `
delete from auth.oauth_authorizations
where id in (
    select id
    from auth.oauth_authorizations
    where expires_at < now() - interval '1 hour'
    order by expires_at
    limit 10
    for update skip locked
)`
)

// AuthorizationRequest is what a client asks for (RFC 6749 §4.1.1, RFC 7636 §4.3, OpenID Connect Core §3.1.2.1).
type AuthorizationRequest struct {
	ClientID        string
	RedirectURI     string
	ResponseType    string
	ResponseMode    string
	Scope           string
	State           string
	Nonce           string
	Prompt          string
	Resource        string
	Challenge       string
	ChallengeMethod string
	// Request and RequestURI are of requests in tokens, which are refused by name (RFC 9101).
	Request, RequestURI string
}

// BeginAuthorization notes what a client asks for and gives the URL to lead the user's browser to: the site's page of
// consent, or back to the client with an error. An error of its own is for the user's eyes: where the client or its
// redirect URI are not known nobody is led anywhere (RFC 6749 §4.1.2.1).
func (s *Service) BeginAuthorization(ctx context.Context, caller Caller, in AuthorizationRequest) (string, error) {
	to, err := s.beginAuthorization(ctx, caller, in)
	s.event(caller, "oauth_authorize", uuid.Nil, err)
	return to, err
}

func (s *Service) beginAuthorization(ctx context.Context, caller Caller, in AuthorizationRequest) (string, error) {
	refusal, err := s.admit(ctx, caller, limit.Hit{Rule: authorizationRule(), Of: caller.Network()})
	switch {
	case err != nil:
		return "", err
	case refusal != nil:
		return "", tooOften(refusal)
	}
	client, err := s.clientOf(ctx, in.ClientID)
	switch {
	case err != nil:
		return "", err
	case in.RedirectURI == "":
		return "", oauthRefusal(OAuthInvalidRequest, "redirect_uri is required")
	case !slices.Contains(client.Redirects, in.RedirectURI):
		return "", oauthRefusal(OAuthInvalidRequest, "redirect_uri is none of the client's")
	}
	scope, fault := s.checkAuthorization(client, in)
	if fault != nil {
		if len(in.State) > maxState {
			in.State = ""
		}
		return s.answerAt(in.RedirectURI, in.State, url.Values{"error": {string(fault.Code)}, "error_description": {fault.Description}})
	}
	id, at := DrawSecret(secretLength).Reveal(), now()
	batch := &pgx.Batch{}
	batch.Queue(sweepAuthorizations)
	batch.Queue(insertAuthorization, uuid.New(), id, client.ID, in.RedirectURI, scope, optionalText(in.State),
		optionalText(in.Resource), in.Challenge, optionalText(in.Nonce), at, at.Add(askLife))
	if err := s.send(ctx, batch); err != nil {
		return "", err
	}
	return s.consentPage(id), nil
}

// clientOf gives the client of an id that a request names.
func (s *Service) clientOf(ctx context.Context, text string) (*OAuthClient, error) {
	id, err := uuid.Parse(text)
	if err != nil || len(text) != 36 {
		return nil, oauthRefusal(OAuthInvalidRequest, "client_id is none of a client")
	}
	client, err := s.OAuthClient(ctx, id)
	var refusal *Error
	if errors.As(err, &refusal) {
		return nil, oauthRefusal(OAuthInvalidRequest, "client_id is none of a client")
	}
	return client, err
}

// checkAuthorization gives the scope that is asked for, or what is wrong with the request.
func (s *Service) checkAuthorization(client *OAuthClient, in AuthorizationRequest) (string, *OAuthError) {
	challenge, refusal := s.readChallenge(in.Challenge, in.ChallengeMethod)
	switch {
	case in.Request != "":
		return "", oauthRefusal(OAuthRequestNotSupported, "the parameter request is not supported")
	case in.RequestURI != "":
		return "", oauthRefusal(OAuthRequestURINotSupported, "the parameter request_uri is not supported")
	case in.ResponseType != "code":
		return "", oauthRefusal(OAuthUnsupportedResponseType, "only response_type=code is supported")
	case in.ResponseMode != "" && in.ResponseMode != "query":
		return "", oauthRefusal(OAuthInvalidRequest, "only response_mode=query is supported")
	case !slices.Contains(client.Grants, GrantCode):
		return "", oauthRefusal(OAuthUnauthorizedClient, "the client may not ask for codes")
	case refusal != nil:
		return "", oauthRefusal(OAuthInvalidRequest, refusal.Message)
	case !challenge.asked():
		return "", oauthRefusal(OAuthInvalidRequest, "code_challenge and code_challenge_method are required")
	case challenge.method != challengeS256:
		return "", oauthRefusal(OAuthInvalidRequest, "code_challenge_method has to be S256")
	case len(in.State) > maxState || len(in.Nonce) > maxNonce || len(in.Scope) > maxScope || len(in.Resource) > maxResource:
		return "", oauthRefusal(OAuthInvalidRequest, "state, nonce, scope or resource is too long")
	case !isText(in.State + in.Nonce + in.Resource):
		return "", oauthRefusal(OAuthInvalidRequest, "state, nonce or resource has a NUL, or is not UTF-8")
	case slices.Contains(strings.Fields(in.Prompt), "none"):
		return "", oauthRefusal(OAuthLoginRequired, "whether the user is signed in is known to the consent page alone")
	}
	if in.Resource != "" {
		if u, err := url.Parse(in.Resource); err != nil || !u.IsAbs() || u.Fragment != "" || strings.Contains(in.Resource, "#") {
			return "", oauthRefusal(OAuthInvalidTarget, "resource must be an absolute URI without a fragment")
		}
	}
	return s.readScope(in.Scope)
}

// readScope gives the scopes of a text, each once.
func (s *Service) readScope(text string) (string, *OAuthError) {
	var scopes []string
	for _, scope := range strings.Fields(text) {
		switch {
		case !slices.Contains(OAuthScopes(), scope):
			return "", oauthRefusal(OAuthInvalidScope, "the scopes are "+strings.Join(OAuthScopes(), ", "))
		case scope == ScopeOpenID && !s.signer.Load().Asymmetric():
			return "", oauthRefusal(OAuthInvalidScope, "the scope openid needs a signing key that clients can verify with, which this server has not: see basalt keys signing")
		case !slices.Contains(scopes, scope):
			scopes = append(scopes, scope)
		}
	}
	if len(scopes) == 0 {
		return defaultScope, nil
	}
	return strings.Join(scopes, " "), nil
}

// OAuthScopes are all that there are.
func OAuthScopes() []string { return []string{ScopeOpenID, ScopeProfile, ScopeEmail, ScopePhone} }

// consentPage is where a user decides about an authorization.
func (s *Service) consentPage(id string) string {
	return strings.TrimRight(s.options.SiteURL, "/") + "/" + strings.TrimLeft(s.options.OAuthServer.ConsentPath, "/") +
		"?authorization_id=" + url.QueryEscape(id)
}

// answerAt is a client's redirect URI with an answer. It names who answers, so that a client of several servers is not
// led to take one's code to another (RFC 9207).
func (s *Service) answerAt(redirect, state string, answer url.Values) (string, error) {
	u, err := url.Parse(redirect)
	if err != nil {
		return "", fmt.Errorf("read a registered redirect URI: %w", err)
	}
	query := u.Query()
	for name, values := range answer {
		query[name] = values
	}
	if state != "" {
		query.Set("state", state)
	}
	query.Set("iss", s.options.Issuer)
	u.RawQuery = query.Encode()
	return u.String(), nil
}

// OriginAllowed tells whether scripts of an origin may decide for their user: the site's, or one of the list.
func (s *Service) OriginAllowed(origin string) bool {
	t, ok := parseTarget(origin)
	return ok && s.redirectTarget(origin) == t.text
}

// authorizationRule is for OAuth clients' questions to users, which anybody can ask.
func authorizationRule() limit.Rule {
	return limit.Rule{Name: "authorization", Max: 150, Window: 5 * time.Minute}
}
