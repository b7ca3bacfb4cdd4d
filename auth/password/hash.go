package password

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/crypto/argon2"
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

// LeastMemoryKiB is the least memory with which so many passes are as strong as OWASP's password storage cheat sheet
// asks for.
func LeastMemoryKiB(passes uint32) uint32 {
	switch passes {
	case 0, 1:
		return 47104
	case 2:
		return 19456
	case 3:
		return 12288
	case 4:
		return 9216
	}
	return 7168
}

const (
	saltLength = 16
	keyLength  = 32

	// maxStored is the length of the column for hashes.
	maxStored = 255
	// What a hash from elsewhere may cost at most: a row in a dump must not be able to take the machine's memory, or a
	// processor for more than a second or two.
	maxMemoryKiB = 256 << 10
	maxWorkKiB   = 2 << 20 // memory gone through, all passes together
)

// ErrUnknownHash is a stored hash of a kind or a cost that cannot be checked.
var ErrUnknownHash = errors.New("password hash that cannot be checked")

// Normalize gives the form of a password that is hashed: Unicode's NFKC. Keyboards differ in whether é is one code point
// or two, in the kind of a space and in the width of letters and digits; people do not. Case is kept, nothing is cut off.
func Normalize(password string) string { return norm.NFKC.String(password) }

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

// readHash is a stored hash that has been read.
type readHash interface {
	// fits compares a password as it is written.
	fits(password string) bool
}

// Verify compares a password with a stored hash, at the costs that are written in it.
//
// The makers of other systems' hashes have not normalised: a password is tried as it was typed first, then in the form
// that Hash uses. One that is typed in that form, as nearly all are, is hashed once.
func Verify(stored, password string) (bool, error) {
	h, err := read(stored)
	if err != nil {
		return false, err
	}
	normal := Normalize(password)
	return h.fits(password) || normal != password && h.fits(normal), nil
}

// Outdated tells whether a stored hash should be replaced at the next sign-in.
func (p Parameters) Outdated(stored string) bool {
	parsed, err := readArgon2(stored)
	return err != nil || parsed.variant != "argon2id" || parsed.Parameters != p || len(parsed.key) != keyLength
}

// Check tells why Verify cannot check a stored hash: an ErrUnknownHash, nil when it can.
func Check(stored string) error {
	_, err := read(stored)
	return err
}

// Readable tells whether Verify can check a stored hash at all.
func Readable(stored string) bool { return Check(stored) == nil }

func read(stored string) (readHash, error) {
	switch {
	case len(stored) > maxStored:
		return nil, fmt.Errorf("%w: it has more than %d characters", ErrUnknownHash, maxStored)
	case strings.HasPrefix(stored, "$argon2"):
		return readArgon2(stored)
	case strings.HasPrefix(stored, "$2"):
		return readBcrypt(stored)
	case strings.HasPrefix(stored, firebasePrefix):
		return readFirebase(stored)
	case strings.HasPrefix(stored, "$pbkdf2-"):
		return readPBKDF2(stored)
	}
	return nil, ErrUnknownHash
}

// costs reads numbers such as `m=19456,t=2,p=1`, each of which must be there once, and none that is not asked for. A
// number of 0 or above what is allowed is refused.
func costs(text string, allowed map[string]uint64) (map[string]uint64, error) {
	found := map[string]uint64{}
	for setting := range strings.SplitSeq(text, ",") {
		name, digits, _ := strings.Cut(setting, "=")
		most, known := allowed[name]
		value, err := strconv.ParseUint(digits, 10, 64)
		if _, twice := found[name]; !known || twice || err != nil || value == 0 {
			return nil, fmt.Errorf("%w: the cost %q", ErrUnknownHash, setting)
		}
		if value > most {
			return nil, fmt.Errorf("%w: the cost %s is above %d", ErrUnknownHash, setting, most)
		}
		found[name] = value
	}
	if len(found) < len(allowed) {
		return nil, fmt.Errorf("%w: a cost is missing", ErrUnknownHash)
	}
	return found, nil
}

// decode reads base64 in any of its forms: with or without padding, in the alphabet of URLs, or in passlib's, which has
// a dot for the plus sign.
func decode(text string) ([]byte, error) {
	text = strings.NewReplacer("-", "+", "_", "/", ".", "+").Replace(strings.TrimRight(text, "="))
	return base64.RawStdEncoding.DecodeString(text)
}
