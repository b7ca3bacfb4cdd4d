package auth

import (
	"context"
	"crypto/rand"
	"encoding/base64"
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

	// The first user who looks at an authorization is whose it is: the same answer stands for one that is not there and
	// one of somebody else.
	takeAuthorization = `
update auth.oauth_authorizations a
set user_id = $2
from auth.oauth_clients c
where a.authorization_id = $1
and (a.user_id is null or a.user_id = $2)
and a.expires_at > clock_timestamp()
and c.id = a.client_id
and c.deleted_at is null
returning
    a.status = 'pending',
    a.redirect_uri,
    a.scope,
    a.state,
    exists (
        select
        from auth.oauth_consents given
        where given.user_id = $2
        and given.client_id = a.client_id
        and given.revoked_at is null
        and string_to_array(a.scope, ' ') <@ string_to_array(given.scopes, ' ')
    ),` + clientColumns

	decideAuthorization = `
update auth.oauth_authorizations a
set status = $3::auth.oauth_authorization_status,
    approved_at = case when $4::text is not null then clock_timestamp() end,
    authorization_code = $4,
    expires_at = clock_timestamp() + $5::interval
from auth.oauth_clients c
where a.authorization_id = $1
and a.user_id = $2
and a.status = 'pending'
and a.expires_at > clock_timestamp()
and c.id = a.client_id
and c.deleted_at is null
returning a.client_id, a.redirect_uri, a.scope, a.state`

	authorizationThere = `
select exists (
    select
    from auth.oauth_authorizations
    where authorization_id = $1
    and user_id = $2
    and expires_at > clock_timestamp()
)`

	keepConsent = `
insert into auth.oauth_consents as given (id, user_id, client_id, scopes, granted_at)
values (gen_random_uuid(), $1, $2, $3, clock_timestamp())
on conflict (user_id, client_id) do update
set scopes = case
        when given.revoked_at is not null then excluded.scopes
        else concat_ws(' ', given.scopes, nullif(array_to_string(array(
            select scope
            from unnest(string_to_array(excluded.scopes, ' ')) as scope
            where scope <> all(string_to_array(given.scopes, ' '))
        ), ' '), ''))
    end,
    granted_at = excluded.granted_at,
    revoked_at = null`
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
	refusal, err := s.admit(ctx, caller, limit.Hit{Rule: authorizationRule(), Of: caller.network()})
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
	id, err := randomName()
	if err != nil {
		return "", err
	}
	at := now()
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
		return nil, oauthRefusal(OAuthInvalidClient, "client_id is none of a client")
	}
	client, err := s.OAuthClient(ctx, id)
	var refusal *Error
	if errors.As(err, &refusal) {
		return nil, oauthRefusal(OAuthInvalidClient, "client_id is none of a client")
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
	case strings.ContainsRune(in.State+in.Nonce+in.Resource, 0):
		return "", oauthRefusal(OAuthInvalidRequest, "state, nonce or resource has a NUL")
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

// Question is what a client asks a user for.
type Question struct {
	ID          string
	Client      *OAuthClient
	User        *User
	RedirectURI string
	Scope       string
	// Answer is where to lead the user's browser when they have consented before; else empty.
	Answer string
}

// ReadAuthorization shows a user what a client asks for. What they have consented to before is granted at once.
func (s *Service) ReadAuthorization(ctx context.Context, caller Caller, p *Principal, id string) (*Question, error) {
	u, err := s.User(ctx, p)
	if err != nil {
		return nil, err
	}
	a := &Question{ID: id, User: u}
	var pending, granted bool
	err = s.pool.QueryRow(ctx, takeAuthorization, id, p.UserID).Scan(reader(func(r *row) {
		pending, a.RedirectURI, a.Scope = r.flag(), r.text(), r.text()
		_ = r.text() // the state is the client's
		granted, a.Client = r.flag(), r.client()
	}))
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, authorizationNotFound()
	case err != nil:
		return nil, err
	case !pending:
		return nil, refuse(CodeValidationFailed, "authorization request cannot be processed")
	case granted:
		a.Answer, err = s.decide(ctx, caller, p, id, consentDecision{approve: true, known: true})
	}
	return a, err
}

func authorizationNotFound() *Error {
	return refuse(CodeOAuthAuthorizationNotFound, "authorization not found")
}

// DecideAuthorization takes a user's consent, or its refusal, and gives where to lead their browser with the answer.
func (s *Service) DecideAuthorization(ctx context.Context, caller Caller, p *Principal, id string, approve bool) (string, error) {
	if _, err := s.User(ctx, p); err != nil {
		return "", err
	}
	return s.decide(ctx, caller, p, id, consentDecision{approve: approve})
}

// consentDecision is what a user has decided, now or before.
type consentDecision struct {
	approve, known bool
}

func (s *Service) decide(ctx context.Context, caller Caller, p *Principal, id string, d consentDecision) (string, error) {
	to, err := s.writeDecision(ctx, p, id, d)
	what := "oauth_deny"
	if d.approve {
		what = "oauth_approve"
	}
	s.event(caller, what, p.UserID, err)
	return to, err
}

func (s *Service) writeDecision(ctx context.Context, p *Principal, id string, d consentDecision) (string, error) {
	status, answer := "denied", url.Values{"error": {string(OAuthAccessDenied)}, "error_description": {"The user denied the request"}}
	var stored *string
	if d.approve {
		code, err := randomName()
		if err != nil {
			return "", err
		}
		hash := storedToken(Secret(code))
		status, stored, answer = "approved", &hash, url.Values{"code": {code}}
	}
	var client uuid.UUID
	var redirect, scope string
	var state *string
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, decideAuthorization, id, p.UserID, status, stored, codeLife).Scan(&client, &redirect, &scope, &state)
		if err != nil || !d.approve || d.known {
			return err
		}
		_, err = tx.Exec(ctx, keepConsent, p.UserID, client, scope)
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return "", s.notDecided(ctx, p, id)
	}
	if err != nil {
		return "", err
	}
	if state == nil {
		state = new(string)
	}
	return s.answerAt(redirect, *state, answer)
}

// notDecided is why there was nothing to decide.
func (s *Service) notDecided(ctx context.Context, p *Principal, id string) error {
	var there bool
	err := s.pool.QueryRow(ctx, authorizationThere, id, p.UserID).Scan(&there)
	switch {
	case err != nil:
		return err
	case there:
		return refuse(CodeValidationFailed, "authorization request is no longer pending")
	}
	return authorizationNotFound()
}

// randomName draws 256 bits as text.
func randomName() (string, error) {
	random := make([]byte, 32)
	if _, err := rand.Read(random); err != nil {
		return "", fmt.Errorf("draw a name: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(random), nil
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
