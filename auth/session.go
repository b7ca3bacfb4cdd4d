package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"basalt/auth/password"
	"basalt/auth/token"
)

// Methods of signing in, as they stand in a token's `amr` (RFC 8176 and Supabase's own).
const (
	MethodPassword  = "password"
	MethodAnonymous = "anonymous"
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

func (s *Service) issue(u *User, refresh Secret, st standing, at time.Time) (*Session, error) {
	expires := at.Add(s.options.TokenLife)
	claims := accessClaims{
		Issuer: s.options.Issuer, Subject: u.ID, Audience: u.Audience,
		ExpiresAt: expires.Unix(), IssuedAt: at.Unix(),
		Email: u.Email, Phone: u.Phone,
		AppMetadata: u.AppMetadata, UserMetadata: u.UserMetadata,
		Role: u.Role, Level: st.level, Methods: st.methods, SessionID: st.sessionID, Anonymous: u.Anonymous,
	}
	if st.client != uuid.Nil {
		claims.ClientID, claims.Scope = st.client.String(), st.scopes
	}
	signed, err := s.sign(claims)
	if err == nil && len(signed) > token.MaxLength {
		// Headers have an end. Users write user_metadata themselves, so it is what may be
		// left out; the answer beside the token still has it.
		s.log.Warn().Stringer("user_id", u.ID).Int("bytes", len(signed)).
			Msg("user_metadata is too large for an access token and is left out of it")
		claims.UserMetadata = json.RawMessage(`{}`)
		signed, err = s.sign(claims)
	}
	if err == nil && len(signed) > token.MaxLength {
		err = errors.New("app_metadata is too large for an access token")
	}
	if err != nil {
		return nil, unexpected("The access token could not be signed", err)
	}
	return &Session{
		ID:           st.sessionID,
		AccessToken:  Secret(signed),
		RefreshToken: refresh,
		ExpiresIn:    s.options.TokenLife,
		ExpiresAt:    expires,
		User:         u,
	}, nil
}

func (s *Service) sign(claims accessClaims) (string, error) {
	text, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	return s.signer.Load().Sign(text)
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
