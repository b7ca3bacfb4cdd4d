package token

import (
	"crypto/sha256"
	"encoding/base64"
	"slices"

	"github.com/golang-jwt/jwt/v5"
)

// Key verifies tokens of exactly one algorithm: a key that could be read as another
// algorithm's is how HS256 tokens signed with a public key come to pass (RFC 8725 §2.1).
type Key struct {
	// ID is compared with the header's `kid`.
	ID string
	// Algorithm is the only `alg` for which the key is tried.
	Algorithm string
	// Verification is the key as golang-jwt takes it: bytes for HS256, a public key otherwise.
	Verification jwt.VerificationKey
	// Foreign says that another issuer signs with the key: its tokens belong to no session of ours.
	Foreign bool
}

// SharedKey is a key for HS256.
func SharedKey(secret string) Key {
	return Key{ID: SharedKeyID(secret), Algorithm: jwt.SigningMethodHS256.Alg(), Verification: []byte(secret)}
}

// SharedKeyID names a secret without telling anything about it. It depends on the
// secret alone, so that all processes that share one give it the same name.
func SharedKeyID(secret string) string {
	digest := sha256.Sum256([]byte("basalt key id\x00" + secret))
	return base64.RawURLEncoding.EncodeToString(digest[:12])
}

// Ring is the set of keys whose tokens are believed.
type Ring []Key

// choose gives the keys to try for a token, or why there is none.
func (r Ring) choose(algorithm, kid string) (Ring, *Error) {
	var keys Ring
	known := false
	for _, key := range r {
		if key.Algorithm != algorithm {
			continue
		}
		known = true
		if kid == "" || kid == key.ID {
			keys = append(keys, key)
		}
	}
	if len(keys) > 0 {
		return keys, nil
	}
	refusal := undecodable("No suitable key or wrong key type")
	if !known {
		refusal = undecodable("Wrong or unsupported encoding algorithm")
	}
	refusal.UnknownKey = kid != "" && slices.Contains(PairAlgorithms(), algorithm)
	return nil, refusal
}
