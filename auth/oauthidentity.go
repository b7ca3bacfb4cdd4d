package auth

import (
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"basalt/auth/token"
)

// UserInfo is what a client is told of its user, by the scopes that it was granted (OpenID Connect Core §5.1, §5.4).
type UserInfo struct {
	Subject           string          `json:"sub"`
	Email             string          `json:"email,omitempty"`
	EmailVerified     *bool           `json:"email_verified,omitempty"`
	Phone             string          `json:"phone_number,omitempty"`
	PhoneVerified     *bool           `json:"phone_number_verified,omitempty"`
	Name              string          `json:"name,omitempty"`
	Picture           string          `json:"picture,omitempty"`
	PreferredUsername string          `json:"preferred_username,omitempty"`
	UpdatedAt         int64           `json:"updated_at,omitempty"`
	UserMetadata      json.RawMessage `json:"user_metadata,omitempty"`
}

// UserInfo tells who the user behind a token is. A token that is no client's grants no scope: the account itself can be
// read with it elsewhere.
func (s *Service) UserInfo(ctx context.Context, p *Principal) (*UserInfo, error) {
	u, err := s.User(ctx, p)
	if err != nil {
		return nil, err
	}
	var claims struct {
		Scope string `json:"scope"`
	}
	if err := json.Unmarshal([]byte(p.Claims), &claims); err != nil {
		return nil, unexpected("The claims could not be read", err)
	}
	info := infoOf(u, claims.Scope)
	if slices.Contains(strings.Fields(claims.Scope), ScopeProfile) {
		info.UserMetadata = u.UserMetadata
	}
	return &info, nil
}

func infoOf(u *User, scope string) UserInfo {
	info := UserInfo{Subject: u.ID.String()}
	scopes := strings.Fields(scope)
	if slices.Contains(scopes, ScopeEmail) && u.Email != "" {
		verified := u.EmailConfirmedAt != nil
		info.Email, info.EmailVerified = u.Email, &verified
	}
	if slices.Contains(scopes, ScopePhone) && u.Phone != "" {
		verified := u.PhoneConfirmedAt != nil
		info.Phone, info.PhoneVerified = u.Phone, &verified
	}
	if slices.Contains(scopes, ScopeProfile) {
		info.Name = firstText(u.UserMetadata, "name", "full_name")
		info.Picture = firstText(u.UserMetadata, "picture", "avatar_url")
		info.PreferredUsername = firstText(u.UserMetadata, "preferred_username", "username", "user_name")
		if u.UpdatedAt != nil {
			info.UpdatedAt = u.UpdatedAt.Unix()
		}
	}
	return info
}

// firstText gives the first of some members that is a text and not empty.
func firstText(object json.RawMessage, names ...string) string {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil {
		return ""
	}
	for _, name := range names {
		var text string
		if json.Unmarshal(members[name], &text) == nil && text != "" {
			return text
		}
	}
	return ""
}

type idClaims struct {
	Issuer          string `json:"iss"`
	Audience        string `json:"aud"`
	AuthorizedParty string `json:"azp"`
	ExpiresAt       int64  `json:"exp"`
	IssuedAt        int64  `json:"iat"`
	AuthTime        int64  `json:"auth_time,omitempty"`
	Nonce           string `json:"nonce,omitempty"`
	TokenHash       string `json:"at_hash"`
	SessionID       string `json:"sid"`
	Use             string `json:"token_use"`
	UserInfo
}

// idToken tells a client who its user is. It cannot be used for access: its use is said in it.
func (s *Service) idToken(client *OAuthClient, session *Session, scope, nonce string, at time.Time) (Secret, error) {
	signer := s.signer.Load()
	if !signer.Asymmetric() {
		// The key was taken away since the scope was granted.
		return "", oauthRefusal(OAuthInvalidScope, "the scope openid needs a signing key that clients can verify with")
	}
	claims := idClaims{
		Issuer: s.options.Issuer, Audience: client.ID.String(), AuthorizedParty: client.ID.String(),
		ExpiresAt: at.Add(s.options.TokenLife).Unix(), IssuedAt: at.Unix(), Nonce: nonce,
		TokenHash: accessTokenHash(session.AccessToken, signer.Algorithm()), SessionID: session.ID.String(), Use: token.UseID,
		UserInfo: infoOf(session.User, scope),
	}
	if session.User.LastSignInAt != nil {
		claims.AuthTime = session.User.LastSignInAt.Unix()
	}
	text, err := json.Marshal(claims)
	if err != nil {
		return "", unexpected("The ID token could not be written", err)
	}
	signed, err := signer.Sign(text)
	if err != nil {
		return "", unexpected("The ID token could not be signed", err)
	}
	return Secret(signed), nil
}

// accessTokenHash binds an access token to an ID token: half of the hash that the algorithm goes with (OpenID Connect
// Core §3.1.3.6).
func accessTokenHash(access Secret, algorithm string) string {
	if algorithm == "EdDSA" {
		digest := sha512.Sum512([]byte(access))
		return base64.RawURLEncoding.EncodeToString(digest[:len(digest)/2])
	}
	digest := sha256.Sum256([]byte(access))
	return base64.RawURLEncoding.EncodeToString(digest[:len(digest)/2])
}
