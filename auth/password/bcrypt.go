package password

import (
	"fmt"
	"strings"

	"golang.org/x/crypto/bcrypt"
)

const (
	// maxBcryptCost takes about two seconds.
	maxBcryptCost = 15
	// bcryptLength is that of every bcrypt hash.
	bcryptLength = 60
	// bcrypt does not read past this byte.
	bcryptLimit = 72
)

// bcryptHash is a bcrypt hash, `$2a$10$…`, as Supabase, PocketBase and many others store them.
type bcryptHash string

// fits refuses a password that bcrypt cannot see to its end rather than to compare its beginning: who made the hash must
// not have cut it. It is compared all the same, for a quick refusal would tell that there is such a hash.
func (h bcryptHash) fits(password string) bool {
	visible := password[:min(len(password), bcryptLimit)]
	err := bcrypt.CompareHashAndPassword([]byte(h), []byte(visible))
	return err == nil && len(password) <= bcryptLimit
}

func readBcrypt(stored string) (bcryptHash, error) {
	cost, err := bcrypt.Cost([]byte(stored))
	variant, body := stored[2:min(3, len(stored))], stored[min(7, len(stored)):]
	if err != nil || len(stored) != bcryptLength || !strings.Contains("aby", variant) || strings.ContainsFunc(body, outsideBcrypt) {
		return "", fmt.Errorf("%w: bcrypt", ErrUnknownHash)
	}
	if cost > maxBcryptCost {
		return "", fmt.Errorf("%w: the cost of bcrypt is above %d", ErrUnknownHash, maxBcryptCost)
	}
	return bcryptHash(stored), nil
}

// outsideBcrypt tells what does not stand in bcrypt's own base64.
func outsideBcrypt(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '.' && r != '/'
}
