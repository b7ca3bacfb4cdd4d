package auth

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"basalt/auth/limit"
	"basalt/auth/password"
	"basalt/auth/token"
)

// Methods of signing in, as they stand in a token's `amr` (RFC 8176 and Supabase's own).
const (
	MethodPassword  = "password"
	MethodAnonymous = "anonymous"

	// methodRefresh is what hooks are told of a session that goes on; it stands in no token.
	methodRefresh = "token_refresh"
)

// Session is what a client holds after signing in.
type Session struct {
	ID           uuid.UUID
	AccessToken  Secret
	RefreshToken Secret
	ExpiresIn    time.Duration
	ExpiresAt    time.Time
	User         *User
	// Weak tells that the password which opened the session would be refused today; nil when it would not.
	Weak *password.Weakness
	// ProviderToken and ProviderRefreshToken are those of the server that the user has signed in at, if one did.
	ProviderToken, ProviderRefreshToken Secret

	scopes string // of an OAuth client's
	// unsigned is what the access token is to be made from when the transaction that writes the session has committed.
	unsigned *grant
}

// grant is a session whose tokens are to be given out.
type grant struct {
	user    *User
	refresh Secret
	standing
	// method is how the user has proved who they are this time.
	method string
	at     time.Time
}

// standing is what a session says about how its user proved who they are.
type standing struct {
	sessionID uuid.UUID
	level     string
	methods   []methodClaim
	// client and scopes are of sessions that an OAuth client holds; zero for all others.
	client uuid.UUID
	scopes string
}

type methodClaim struct {
	Method    string `json:"method"`
	Timestamp int64  `json:"timestamp"`
	// Provider is the identity provider that vouched for the user, for sso/saml.
	Provider string `json:"provider,omitempty"`
}

// sessionMethods are the methods of a session whose row is called s, the newest first, as row.methods reads them.
const sessionMethods = `array(
        select row(a.authentication_method, a.updated_at)
        from auth.mfa_amr_claims a
        where a.session_id = s.id
        order by a.updated_at desc
    )`

// methods reads sessionMethods.
func (r *row) methods() []methodClaim {
	var all []methodClaim
	r.records(func(r *row) {
		method := methodClaim{Method: r.text()}
		if at := r.time(); at != nil {
			method.Timestamp = at.Unix()
		}
		all = append(all, method)
	})
	return all
}

type accessClaims struct {
	Issuer       string          `json:"iss"`
	Subject      uuid.UUID       `json:"sub"`
	Audience     string          `json:"aud"`
	ExpiresAt    int64           `json:"exp"`
	IssuedAt     int64           `json:"iat"`
	Email        string          `json:"email"`
	Phone        string          `json:"phone"`
	AppMetadata  json.RawMessage `json:"app_metadata"`
	UserMetadata json.RawMessage `json:"user_metadata"`
	Role         string          `json:"role"`
	Level        string          `json:"aal"`
	Methods      []methodClaim   `json:"amr"`
	SessionID    uuid.UUID       `json:"session_id"`
	Anonymous    bool            `json:"is_anonymous"`
	ClientID     string          `json:"client_id,omitempty"`
	Scope        string          `json:"scope,omitempty"`
}

// issue signs the access token of a session. A hook that is a function runs in the transaction db, if it is one; one
// that is a server has to wait for the transaction's end, when complete calls it.
func (s *Service) issue(ctx context.Context, db limit.Sender, caller Caller, g grant) (*Session, error) {
	u, st, at := g.user, g.standing, g.at
	if st.client != uuid.Nil && u.administers() {
		return nil, notForAdministrators() // the account was given its role since
	}
	session := &Session{ID: st.sessionID, RefreshToken: g.refresh, User: u, scopes: st.scopes}
	if h := s.hooks.CustomAccessToken; h != nil && h.Outside() {
		if _, within := db.(pgx.Tx); within {
			session.unsigned = &g
			return session, nil
		}
	}
	expires := at.Add(s.options.TokenLife)
	claims := accessClaims{
		Issuer: s.options.Issuer, Subject: u.ID, Audience: u.Audience,
		ExpiresAt: expires.Unix(), IssuedAt: at.Unix(),
		Email: u.Email, Phone: u.Phone,
		AppMetadata: u.AppMetadata, UserMetadata: u.UserMetadata,
		Role: u.Role, Level: st.level, Methods: vouchedFor(st.methods, u), SessionID: st.sessionID, Anonymous: u.Anonymous,
	}
	if st.client != uuid.Nil {
		claims.ClientID, claims.Scope = st.client.String(), st.scopes
	}
	signed, expires, err := s.sign(ctx, db, caller, g, claims, expires)
	if err == nil && len(signed) > token.MaxLength {
		// Headers have an end. Users write user_metadata themselves, so it is what may be
		// left out; the answer beside the token still has it.
		s.log.Warn().Stringer("user_id", u.ID).Int("bytes", len(signed)).
			Msg("user_metadata is too large for an access token and is left out of it")
		claims.UserMetadata = json.RawMessage(`{}`)
		signed, expires, err = s.sign(ctx, db, caller, g, claims, expires)
	}
	if err == nil && len(signed) > token.MaxLength {
		err = errors.New("app_metadata is too large for an access token")
	}
	var refusal *Error
	switch {
	case errors.As(err, &refusal):
		return nil, err
	case err != nil:
		return nil, unexpected("The access token could not be signed", err)
	}
	session.AccessToken, session.ExpiresAt = Secret(signed), expires
	session.ExpiresIn = expires.Sub(at.Truncate(time.Second))
	return session, nil
}

// complete gives a session, whose transaction has committed, what could not be made in it. A session that the hook does
// not want ends.
func (s *Service) complete(ctx context.Context, caller Caller, session *Session) error {
	if session == nil || session.unsigned == nil {
		return nil
	}
	g := session.unsigned
	signed, err := s.issue(ctx, s.pool, caller, *g)
	if err != nil {
		return s.abandon(ctx, g.sessionID, err)
	}
	session.AccessToken, session.ExpiresIn, session.ExpiresAt = signed.AccessToken, signed.ExpiresIn, signed.ExpiresAt
	session.unsigned = nil
	return nil
}

// abandon ends a session that will never be given to anybody, and gives the reason back.
func (s *Service) abandon(ctx context.Context, id uuid.UUID, reason error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookupPatience)
	defer cancel()
	if _, err := s.pool.Exec(ctx, deleteSession, id); err != nil {
		s.log.Warn().Err(err).Stringer("session_id", id).Msg("a session that nobody holds could not be ended")
	}
	return reason
}

const deleteSession = `
delete from auth.sessions
where id = $1`

// sign gives an access token with the time at which it ends.
func (s *Service) sign(ctx context.Context, db limit.Sender, caller Caller, g grant, claims accessClaims, expires time.Time) (string, time.Time, error) {
	text, err := json.Marshal(claims)
	if err == nil && s.hooks.CustomAccessToken != nil {
		text, expires, err = s.customize(ctx, db, caller, g, text)
	}
	if err != nil {
		return "", expires, err
	}
	signed, err := s.signer.Load().Sign(text)
	return signed, expires, err
}

const storedPrefix = "sha256:"

// storedToken is what the database knows of a refresh token: whoever reads the table
// cannot use what stands there.
func storedToken(refresh Secret) string {
	digest := sha256.Sum256([]byte(refresh))
	return storedPrefix + hex.EncodeToString(digest[:])
}

// candidates are the forms in which a refresh token may stand in the database: its hash,
// or the text itself in rows that came with a dump. A text that looks like our hash is
// never tried as itself, since it has a colon in it.
func candidates(refresh Secret) []string {
	text := refresh.Reveal()
	if strings.ContainsFunc(text, outsideTokens) {
		return []string{storedToken(refresh)}
	}
	return []string{storedToken(refresh), text}
}

func outsideTokens(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
}

// successor is the refresh token that follows another. It is computed, not drawn, so that
// a client which lost the answer, or a second tab, is given the same one again although
// the database holds only its hash. Without the project's secret nobody can compute it.
func (s *Service) successor(refresh Secret) Secret {
	chain := hmac.New(sha256.New, s.chainKey)
	chain.Write([]byte(refresh.Reveal()))
	return Secret(base64.RawURLEncoding.EncodeToString(chain.Sum(nil)))
}
