package auth

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"basalt/auth/limit"
)

// MethodOAuthCode is how a session of an OAuth client came about.
const MethodOAuthCode = "oauth_provider/authorization_code"

const (
	// takeAuthorizationCode ends an authorization whose code is brought by its client with the verifier. The texts are
	// compared by their hashes: the time that it takes tells nothing about them.
	takeAuthorizationCode = `
delete from auth.oauth_authorizations
where authorization_code = $1
and client_id = $2
and status = 'approved'
and user_id is not null
and expires_at > clock_timestamp()
and code_challenge_method = 's256'
and sha256(convert_to(code_challenge, 'UTF8')) = sha256(convert_to($3, 'UTF8'))
and ($4 = '' or redirect_uri = $4)
and ($5 = '' or resource = $5)
returning user_id, scope, nonce`

	// openForClient opens a session for the account $7 that an OAuth client holds. The user has not signed in by it.
	openForClient = `
with signed as (
    select *
    from auth.users
    where id = $7
    and deleted_at is null
    and (banned_until is null or banned_until <= now())
),` + openSession + `
select` + userColumns + `
from signed u`

	giveToClient = `
update auth.sessions
set oauth_client_id = $2,
    scopes = $3
where id = $1`

	exchangedFor = `
select session_id
from basalt.exchanged_codes
where code_hash = $1`
)

// ClientProof is how a client says and proves who it is at the token endpoint.
type ClientProof struct {
	ID     string
	Secret Secret
}

// ClientSession is what an OAuth client holds.
type ClientSession struct {
	*Session
	Scope string
	// IDToken tells who the user is, where the scope openid was granted (OpenID Connect Core §2).
	IDToken Secret
	// Refreshable tells whether the client may use the refresh token.
	Refreshable bool
}

// AuthenticateClient gives the client that a request comes from. All refusals of a client read alike.
func (s *Service) AuthenticateClient(ctx context.Context, proof ClientProof) (*OAuthClient, error) {
	client, err := s.clientOf(ctx, proof.ID)
	var refusal *OAuthError
	switch {
	case errors.As(err, &refusal):
		return nil, oauthRefusal(OAuthInvalidClient, "The client is not known, or its secret is wrong")
	case err != nil:
		return nil, err
	case client.Public() && proof.Secret == "", !client.Public() && client.proves(proof.Secret):
		return client, nil
	}
	return nil, oauthRefusal(OAuthInvalidClient, "The client is not known, or its secret is wrong")
}

// CodeGrant is what a client brings for its first token (RFC 6749 §4.1.3).
type CodeGrant struct {
	Code        Secret
	Verifier    Secret
	RedirectURI string
	Resource    string
}

// ExchangeAuthorization gives the session of a code, once, to the client that it was given to. Its second use ends that
// session (RFC 6749 §4.1.2).
func (s *Service) ExchangeAuthorization(ctx context.Context, caller Caller, client *OAuthClient, in CodeGrant) (*ClientSession, error) {
	session, user, err := s.exchangeAuthorization(ctx, caller, client, in)
	s.event(caller, "oauth_code_exchange", user, err)
	return session, asOAuth(err)
}

func (s *Service) exchangeAuthorization(ctx context.Context, caller Caller, client *OAuthClient, in CodeGrant) (*ClientSession, uuid.UUID, error) {
	if in.Code == "" || in.Verifier == "" {
		return nil, uuid.Nil, oauthRefusal(OAuthInvalidRequest, "code and code_verifier are required")
	}
	if !isText(in.RedirectURI + in.Resource) {
		return nil, uuid.Nil, oauthRefusal(OAuthInvalidRequest, "a parameter has a NUL, or is not UTF-8")
	}
	refusal, err := s.admit(ctx, caller, limit.Hit{Rule: exchangeRule(), Of: caller.Network()})
	switch {
	case err != nil:
		return nil, uuid.Nil, err
	case refusal != nil:
		return nil, uuid.Nil, tooOften(refusal)
	}
	hash := storedToken(in.Code)
	if !isVerifier(in.Verifier) {
		return nil, uuid.Nil, s.codeRefused(ctx, caller, hash)
	}
	var user uuid.UUID
	var scope string
	var nonce *string
	var session *Session
	err = s.again(ctx, func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, takeAuthorizationCode, hash, client.ID, challengeOf(in.Verifier), in.RedirectURI, in.Resource).
			Scan(&user, &scope, &nonce)
		if err != nil {
			return err
		}
		if session, err = s.openFor(ctx, tx, caller, user, client, scope); err != nil {
			return err
		}
		return rememberExchange(ctx, tx, hash, session.ID)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		err = s.codeRefused(ctx, caller, hash)
	}
	if err == nil {
		err = s.complete(ctx, caller, session)
	}
	if err != nil {
		return nil, user, err
	}
	if nonce == nil {
		nonce = new(string)
	}
	held, err := s.clientSession(client, session, scope, *nonce)
	return held, user, err
}

// openFor writes a session that a client holds.
func (s *Service) openFor(ctx context.Context, db limit.Sender, caller Caller, user uuid.UUID, client *OAuthClient, scope string) (*Session, error) {
	o := newOpening(MethodOAuthCode, now())
	var u *User
	batch := &pgx.Batch{}
	batch.Queue(openForClient, append(o.parameters(caller), user)...).QueryRow(func(found pgx.Row) error {
		var err error
		u, err = scanUser(found)
		return err
	})
	batch.Queue(giveToClient, o.id, client.ID, scope)
	err := db.SendBatch(ctx, batch).Close()
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, banned()
	case err != nil:
		return nil, err
	}
	return s.issue(ctx, db, caller, grant{
		user: u, refresh: o.refresh, method: o.method, at: o.at,
		standing: standing{
			sessionID: o.id, level: "aal1", methods: []methodClaim{{Method: o.method, Timestamp: o.at.Unix()}},
			client: client.ID, scopes: scope,
		},
	})
}

// codeRefused is why a code gave no session. Whatever it is, the client reads the same.
func (s *Service) codeRefused(ctx context.Context, caller Caller, hash string) error {
	var used uuid.UUID
	err := s.pool.QueryRow(ctx, exchangedFor, hash).Scan(&used)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	if err == nil {
		if err := s.endExchanged(ctx, caller, used); err != nil {
			return err
		}
	}
	return oauthRefusal(OAuthInvalidGrant, "The code is not valid, has been used or has ended, or its verifier or redirect_uri do not match")
}

// RefreshClient gives new tokens for a refresh token of a client. A scope must not go beyond what was granted; a smaller
// one changes nothing, which the answer says (RFC 6749 §5.1).
func (s *Service) RefreshClient(ctx context.Context, caller Caller, client *OAuthClient, refresh Secret, scope string) (*ClientSession, error) {
	session, user, err := s.refreshClient(ctx, caller, client, refresh, scope)
	s.event(caller, "oauth_refresh", user, err)
	return session, asOAuth(err)
}

func (s *Service) refreshClient(ctx context.Context, caller Caller, client *OAuthClient, refresh Secret, scope string) (*ClientSession, uuid.UUID, error) {
	if refresh == "" {
		return nil, uuid.Nil, oauthRefusal(OAuthInvalidRequest, "refresh_token is required")
	}
	if scope != "" {
		granted, err := s.present(ctx, caller, refresh)
		if err != nil {
			return nil, uuid.Nil, err
		}
		for _, asked := range strings.Fields(scope) {
			if granted.client != client.ID || !slices.Contains(strings.Fields(granted.scopes), asked) {
				return nil, granted.user.ID, oauthRefusal(OAuthInvalidScope, "the scope goes beyond what the user has granted")
			}
		}
	}
	session, user, err := s.refresh(ctx, caller, refresh, client.ID)
	if err != nil {
		return nil, user, err
	}
	held, err := s.clientSession(client, session, session.scopes, "")
	return held, user, err
}

// clientSession adds to a session what a client gets beside it.
func (s *Service) clientSession(client *OAuthClient, session *Session, scope, nonce string) (*ClientSession, error) {
	held := &ClientSession{Session: session, Scope: scope, Refreshable: slices.Contains(client.Grants, GrantRefresh)}
	if !slices.Contains(strings.Fields(scope), ScopeOpenID) {
		return held, nil
	}
	var err error
	held.IDToken, err = s.idToken(client, session, scope, nonce, time.Now())
	return held, err
}
