// Package webauthntest makes the key pairs of a test's authenticators.
package webauthntest

import "github.com/descope/virtualwebauthn"

// publicKeyLength is that of a public key on P-256 in COSE: five members, two of them coordinates of 32 bytes (RFC 9053
// §7.1.1).
const publicKeyLength = 1 + 2 + 2 + 2 + 35 + 35

// NewCredential makes a key pair on P-256. The library writes coordinates without the zeros that they begin with, as no
// authenticator does and the standard forbids: such a key pair, one of 128, is not taken.
func NewCredential() virtualwebauthn.Credential {
	for {
		if c := virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeEC2); len(c.Key.AttestationData()) == publicKeyLength {
			return c
		}
	}
}
