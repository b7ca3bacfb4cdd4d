package auth

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"
)

// The roles of the database that the API's keys and users stand for.
const (
	RoleAnon          = "anon"
	RoleAuthenticated = "authenticated"
	RoleService       = "service_role"
	roleSupabaseAdmin = "supabase_admin"
)

// Principal is who is calling, as SQL will see it. Principals are shared between requests
// and never changed.
type Principal struct {
	// Role is the database role: anon, authenticated, service_role or a custom one.
	Role string
	// Claims is the JSON text for request.jwt.claims, `role` included. Numbers keep the digits of the token.
	Claims string
	// UserID is the token's subject; zero for keys and for subjects that are no UUID.
	UserID uuid.UUID
	// SessionID is the session that the token belongs to; zero when it names none.
	SessionID uuid.UUID
	// ClientID is the OAuth client that the token was given to; zero for a user's own tokens.
	ClientID uuid.UUID
	// ExpiresAt is when the token ends; zero without a token.
	ExpiresAt time.Time
	// APIKeyOnly is set when the token is one of the project's own API keys and so names no user.
	APIKeyOnly bool
	// Subject is the token's `sub` as it stands there.
	Subject string
	// Foreign is set when another issuer has signed the token: whom it names is no account of the project.
	Foreign bool
}

// Nobody is the principal of a request without a token, with a role of the operator's choice.
func Nobody(role string) *Principal {
	claims, _ := json.Marshal(map[string]string{"role": role}) // strings always marshal
	return &Principal{Role: role, Claims: string(claims)}
}

// Administers tells whether the principal may use the admin part of the accounts API. Only
// the role counts: what users can write, their metadata, does not.
func (p *Principal) Administers() bool {
	return p.Role == RoleService || p.Role == roleSupabaseAdmin
}
