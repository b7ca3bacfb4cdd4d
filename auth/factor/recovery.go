package factor

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"strings"
	"unicode"
)

const (
	// RecoveryCodes is how many there are in a set.
	RecoveryCodes = 10
	// recoveryBytes are 80 random bits: 16 characters, too many to be guessed, also from their hash.
	recoveryBytes = 10
	// RecoveryLength is how many characters a code has, once it is normalized.
	RecoveryLength = recoveryBytes * 8 / 5

	recoveryPrefix = "sha256:"
)

// NewRecoveryCodes makes a set of codes that stand in for another factor, each once. They are in lower-case base32, which has
// no characters that look alike.
func NewRecoveryCodes() []string {
	codes := make([]string, RecoveryCodes)
	for i := range codes {
		var random [recoveryBytes]byte
		rand.Read(random[:]) // never fails
		codes[i] = strings.ToLower(base32.StdEncoding.EncodeToString(random[:]))
	}
	return codes
}

// NormalizeRecoveryCode gives the code that a person has typed: without blanks and hyphens, in lower case.
func NormalizeRecoveryCode(typed string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if r == '-' || unicode.IsSpace(r) {
			return -1
		}
		return r
	}, typed))
}

// RecoveryHash is what is kept of a code in a set. A fast hash does: unlike a password's, the bits of a code are random.
// The set is hashed with it, so that no table serves for more than one.
func RecoveryHash(set, code string) string {
	digest := sha256.Sum256([]byte("basalt recovery code\x00" + set + "\x00" + code))
	return recoveryPrefix + hex.EncodeToString(digest[:])
}
