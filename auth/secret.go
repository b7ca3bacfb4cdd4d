// Package auth holds the rules of accounts: who may sign in, what a session is, which tokens are believed.
package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"io"
)

const redacted = "[redacted]"

// Secret is text that must not be seen: it prints as [redacted] by every verb, in logs
// and in JSON. Reveal gives the text itself.
type Secret string

// DrawSecret draws a number of random bytes and writes them in the unpadded URL alphabet (RFC 4648 §5).
func DrawSecret(bytes int) Secret {
	random := make([]byte, bytes)
	rand.Read(random) // never fails
	return Secret(base64.RawURLEncoding.EncodeToString(random))
}

// secretLength is how many bytes are drawn for what nobody may guess: 256 bits, so many that a plain hash hides them.
const secretLength = 32

// String hides the secret.
func (Secret) String() string { return redacted }

// GoString hides the secret from %#v.
func (Secret) GoString() string { return redacted }

// Format hides the secret from all verbs, %x and %q too.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// MarshalJSON hides the secret.
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }

// Reveal gives the text. Its callers are the places where a secret leaves its type.
func (s Secret) Reveal() string { return string(s) }

// Equal compares without telling by its time where the texts, or their lengths, differ.
func (s Secret) Equal(other Secret) bool {
	a, b := sha256.Sum256([]byte(s)), sha256.Sum256([]byte(other))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}
