package sso

import (
	"encoding/json"
	"slices"
)

// Mapping says which attributes of an assertion become which claims of a user.
type Mapping struct {
	Keys map[string]Attribute `json:"keys,omitempty"`
}

// Attribute is where a claim comes from: the first of its names that there is, else the default.
type Attribute struct {
	Name    string          `json:"name,omitempty"`
	Names   []string        `json:"names,omitempty"`
	Default json.RawMessage `json:"default,omitempty"`
	// Array takes all values rather than the first.
	Array bool `json:"array,omitempty"`
}

// Claims are what a mapping finds in an assertion.
func (m Mapping) Claims(a *Assertion) map[string]any {
	claims := map[string]any{}
	for key, from := range m.Keys {
		if value := from.value(a); value != nil {
			claims[key] = value
		}
	}
	return claims
}

func (from Attribute) value(a *Assertion) any {
	for _, name := range append([]string{from.Name}, from.Names...) {
		if name == "" {
			continue
		}
		values := a.attribute(name)
		switch {
		case len(values) == 0:
		case from.Array:
			return values
		default:
			return values[0]
		}
	}
	if len(from.Default) > 0 && string(from.Default) != "null" {
		return from.Default
	}
	return nil
}

// ownClaims are those that are the server's to set, whatever a mapping says.
func ownClaims() []string {
	return []string{"iss", "sub", "aud", "iat", "exp", "email_verified", "phone_verified", "provider_id", "custom_claims"}
}

// profileClaims are those of OpenID Connect and of the accounts API, which stand by themselves; others are custom ones.
func profileClaims() []string {
	return []string{
		"name", "family_name", "given_name", "middle_name", "nickname", "preferred_username", "profile", "picture",
		"website", "gender", "birthdate", "zoneinfo", "locale", "updated_at", "email", "phone", "full_name", "avatar_url",
		"slug", "user_name",
	}
}

// Identity is what is kept of an assertion with a user: profile claims by themselves, all others below custom_claims.
func Identity(issuer, subject, email string, claims map[string]any) map[string]any {
	identity, custom := map[string]any{}, map[string]any{}
	for key, value := range claims {
		switch {
		case slices.Contains(ownClaims(), key):
		case slices.Contains(profileClaims(), key):
			identity[key] = value
		default:
			custom[key] = value
		}
	}
	if len(custom) > 0 {
		identity["custom_claims"] = custom
	}
	identity["iss"], identity["sub"], identity["email"] = issuer, subject, email
	identity["email_verified"], identity["phone_verified"] = true, false
	return identity
}
