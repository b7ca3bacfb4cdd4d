// Package password keeps, checks and judges passwords.
package password

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/bcrypt"
	"golang.org/x/text/unicode/norm"
)

// Parameters are Argon2id's costs.
type Parameters struct {
	// MemoryKiB is the memory of one hash.
	MemoryKiB uint32
	// Passes over the memory.
	Passes uint32
	// Lanes that may run in parallel.
	Lanes uint8
}

// Recommended are the costs of OWASP's password storage cheat sheet: 19 MiB, two passes, one lane.
func Recommended() Parameters { return Parameters{MemoryKiB: 19456, Passes: 2, Lanes: 1} }

const (
	saltLength = 16
	keyLength  = 32

	// What a hash from elsewhere may cost at most: a row in a dump must not be able
	// to take the machine's memory or its time.
	maxMemoryKiB  = 256 << 10
	maxPasses     = 32
	maxLanes      = 16
	maxBcryptCost = 15

	// bcrypt does not read past this byte.
	bcryptLimit = 72
)

// ErrUnknownHash is a stored hash of a kind that cannot be checked.
var ErrUnknownHash = errors.New("password hash of an unknown kind")

// Normalize gives the form of a password that is hashed: RFC 8265's OpaqueString, that is
// NFC with every kind of space turned into the plain one. Case and width are kept, nothing
// is cut off. Keyboards differ in whether é is one code point or two; people do not.
func Normalize(password string) string {
	spaced := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Zs, r) {
			return ' '
		}
		return r
	}, password)
	return norm.NFC.String(spaced)
}

// Hash gives the PHC string of a password under a fresh salt.
func (p Parameters) Hash(password string) (string, error) {
	salt := make([]byte, saltLength)
	if _, err := rand.Read(salt); err != nil {
		return "", fmt.Errorf("salt: %w", err)
	}
	key := argon2.IDKey([]byte(Normalize(password)), salt, p.Passes, p.MemoryKiB, p.Lanes, keyLength)
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, p.MemoryKiB, p.Passes, p.Lanes,
		base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(key)), nil
}

// Dummy is a hash that no password fits and that costs as much as a real one. Checking it
// for addresses that have no account makes them take as long as those that have one.
func (p Parameters) Dummy() string {
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, p.MemoryKiB, p.Passes, p.Lanes,
		base64.RawStdEncoding.EncodeToString(make([]byte, saltLength)),
		base64.RawStdEncoding.EncodeToString(make([]byte, keyLength)))
}

// Verify compares a password with a stored hash: our own Argon2id, or Argon2i, Argon2id
// and bcrypt as they come in dumps. The costs written in the hash are the ones used.
func Verify(stored, password string) (bool, error) {
	switch {
	case strings.HasPrefix(stored, "$argon2"):
		return verifyArgon2(stored, password)
	case isBcrypt(stored):
		// Whoever made the hash did not normalise, and must not have cut: a password that
		// bcrypt cannot see to its end is refused rather than compared by its beginning. It is
		// compared all the same, for a quick refusal would tell that there is such a hash.
		visible := password[:min(len(password), bcryptLimit)]
		err := bcrypt.CompareHashAndPassword([]byte(stored), []byte(visible))
		if err != nil && !errors.Is(err, bcrypt.ErrMismatchedHashAndPassword) {
			return false, fmt.Errorf("%w: bcrypt", ErrUnknownHash)
		}
		return err == nil && len(password) <= bcryptLimit, nil
	}
	return false, ErrUnknownHash
}

// Outdated tells whether a stored hash should be replaced at the next sign-in.
func (p Parameters) Outdated(stored string) bool {
	parsed, err := parseArgon2(stored)
	return err != nil || parsed.variant != "argon2id" || parsed.Parameters != p || len(parsed.key) != keyLength
}

// Readable tells whether Verify can check a stored hash at all.
func Readable(stored string) bool {
	if isBcrypt(stored) {
		cost, err := bcrypt.Cost([]byte(stored))
		return err == nil && cost <= maxBcryptCost
	}
	_, err := parseArgon2(stored)
	return err == nil
}

func isBcrypt(stored string) bool {
	return strings.HasPrefix(stored, "$2a$") || strings.HasPrefix(stored, "$2b$") || strings.HasPrefix(stored, "$2y$")
}

type argon2Hash struct {
	Parameters
	variant   string
	salt, key []byte
}

func verifyArgon2(stored, password string) (bool, error) {
	h, err := parseArgon2(stored)
	if err != nil {
		return false, err
	}
	derive := argon2.IDKey
	if h.variant == "argon2i" {
		derive = argon2.Key
	}
	key := derive([]byte(Normalize(password)), h.salt, h.Passes, h.MemoryKiB, h.Lanes, uint32(len(h.key)))
	return subtle.ConstantTimeCompare(key, h.key) == 1, nil
}

// parseArgon2 reads `$argon2id$v=19$m=19456,t=2,p=1$salt$key`.
func parseArgon2(stored string) (argon2Hash, error) {
	refuse := func(what string) (argon2Hash, error) {
		return argon2Hash{}, fmt.Errorf("%w: argon2 %s", ErrUnknownHash, what)
	}
	parts := strings.Split(stored, "$")
	if len(parts) != 6 || parts[0] != "" {
		return refuse("shape")
	}
	h := argon2Hash{variant: parts[1]}
	if h.variant != "argon2id" && h.variant != "argon2i" {
		return refuse("variant")
	}
	if parts[2] != "v="+strconv.Itoa(argon2.Version) {
		return refuse("version")
	}
	for _, setting := range strings.Split(parts[3], ",") {
		name, digits, _ := strings.Cut(setting, "=")
		value, err := strconv.ParseUint(digits, 10, 32)
		if err != nil {
			return refuse("cost")
		}
		switch {
		case name == "m" && value <= maxMemoryKiB:
			h.MemoryKiB = uint32(value)
		case name == "t" && value <= maxPasses:
			h.Passes = uint32(value)
		case name == "p" && value <= maxLanes:
			h.Lanes = uint8(value)
		default:
			return refuse("cost")
		}
	}
	if h.MemoryKiB == 0 || h.Passes == 0 || h.Lanes == 0 {
		return refuse("cost")
	}
	var err error
	if h.salt, err = decodeLoose(parts[4]); err != nil || len(h.salt) < 8 || len(h.salt) > 64 {
		return refuse("salt")
	}
	if h.key, err = decodeLoose(parts[5]); err != nil || len(h.key) < 16 || len(h.key) > 128 {
		return refuse("key")
	}
	return h, nil
}

// decodeLoose reads base64 with or without padding: writers of PHC strings differ.
func decodeLoose(text string) ([]byte, error) {
	return base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
}
