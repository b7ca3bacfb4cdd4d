package auth

import (
	"context"
	"errors"
	"net/url"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

const (
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

// mayConsent tells whether a session is good enough to let its user in somewhere else: who knows the password alone must
// not get there past the second factor.
func mayConsent(u *User, level string) *Error {
	if u.administers() {
		return notForAdministrators()
	}
	if level == lowestLevel && u.hasVerifiedFactor() {
		return deny(CodeInsufficientAAL, "AAL2 session is required to authorize clients when MFA is enabled")
	}
	return nil
}

// administers tells whether tokens of the account may do everything.
func (u *User) administers() bool { return (&Principal{Role: u.Role}).Administers() }

// notForAdministrators keeps clients from what no scope grants: their tokens have the role of their user.
func notForAdministrators() *Error {
	return deny(CodeNotAdmin, "OAuth clients cannot be let in by accounts that administer the project")
}

// ReadAuthorization shows a user what a client asks for. What they have consented to before is granted at once, to a
// session that may consent.
func (s *Service) ReadAuthorization(ctx context.Context, caller Caller, p *Principal, id string) (*Question, error) {
	u, level, err := s.userOf(ctx, p)
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
	case granted && mayConsent(u, level) == nil:
		a.Answer, err = s.decide(ctx, caller, p, id, consentDecision{approve: true, known: true})
	}
	return a, err
}

func authorizationNotFound() *Error {
	return refuse(CodeOAuthAuthorizationNotFound, "authorization not found")
}

// DecideAuthorization takes a user's consent, or its refusal, and gives where to lead their browser with the answer.
func (s *Service) DecideAuthorization(ctx context.Context, caller Caller, p *Principal, id string, approve bool) (string, error) {
	u, level, err := s.userOf(ctx, p)
	if err != nil {
		return "", err
	}
	if refusal := mayConsent(u, level); refusal != nil && approve {
		return "", refusal
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
		code := DrawSecret(secretLength)
		hash := storedToken(code)
		status, stored, answer = "approved", &hash, url.Values{"code": {code.Reveal()}}
	}
	var client uuid.UUID
	var redirect, scope string
	var state *string
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if err := hold(ctx, tx, p.UserID, p.SessionID); err != nil {
			return err
		}
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
