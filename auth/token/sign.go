package token

import (
	"crypto"
	"encoding/json"
	"fmt"

	"github.com/golang-jwt/jwt/v5"
)

// Signer signs tokens with one key by one algorithm. It is never changed and safe for use by many at once.
type Signer struct {
	// ID is the `kid` that stands in the header of the tokens.
	ID string

	method jwt.SigningMethod
	key    any
}

// SharedSigner signs with HS256.
func SharedSigner(secret, kid string) *Signer {
	return &Signer{ID: kid, method: jwt.SigningMethodHS256, key: []byte(secret)}
}

// Algorithm is the `alg` of the tokens.
func (s *Signer) Algorithm() string { return s.method.Alg() }

// Asymmetric tells whether those who verify the tokens need no secret.
func (s *Signer) Asymmetric() bool {
	_, asymmetric := s.key.(crypto.Signer)
	return asymmetric
}

// Sign makes a token of claims that are already JSON: what stands in it is what the caller
// wrote, digit for digit.
func (s *Signer) Sign(claims json.RawMessage) (string, error) {
	unsigned := jwt.NewWithClaims(s.method, written{text: claims})
	unsigned.Header["kid"] = s.ID
	signed, err := unsigned.SignedString(s.key)
	if err != nil {
		return "", fmt.Errorf("sign token: %w", err)
	}
	return signed, nil
}

// Sign makes an HS256 token of claims that are already JSON.
func Sign(claims json.RawMessage, secret, kid string) (string, error) {
	return SharedSigner(secret, kid).Sign(claims)
}

type written struct {
	jwt.MapClaims
	text json.RawMessage
}

func (w written) MarshalJSON() ([]byte, error) { return w.text, nil }
