package password

import (
	"crypto/pbkdf2"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"fmt"
	digests "hash"
	"strings"
)

// maxIterations bounds PBKDF2's iterations, those for all blocks of the key together.
const maxIterations = 5_000_000

// pbkdf2Hash is a PBKDF2 hash (RFC 8018 §5.2) in the form `$pbkdf2-sha256$i=600000$salt$key`, salt and key in base64. The
// digest is sha1, sha256 or sha512; `i=` may be missing, as passlib writes them.
type pbkdf2Hash struct {
	digest     func() digests.Hash
	iterations int
	salt, key  []byte
}

func (h pbkdf2Hash) fits(password string) bool {
	key, err := pbkdf2.Key(h.digest, password, h.salt, h.iterations, len(h.key))
	return err == nil && subtle.ConstantTimeCompare(key, h.key) == 1
}

func readPBKDF2(stored string) (pbkdf2Hash, error) {
	refuse := func(what string) (pbkdf2Hash, error) {
		return pbkdf2Hash{}, fmt.Errorf("%w: PBKDF2 %s", ErrUnknownHash, what)
	}
	parts := strings.Split(stored, "$")
	if len(parts) != 5 || parts[0] != "" {
		return refuse("shape")
	}
	var h pbkdf2Hash
	switch parts[1] {
	case "pbkdf2-sha1":
		h.digest = sha1.New
	case "pbkdf2-sha256":
		h.digest = sha256.New
	case "pbkdf2-sha512":
		h.digest = sha512.New
	default:
		return refuse("digest")
	}
	found, err := costs("i="+strings.TrimPrefix(parts[2], "i="), map[string]uint64{"i": maxIterations})
	if err != nil {
		return pbkdf2Hash{}, err
	}
	h.iterations = int(found["i"])
	if h.salt, err = decode(parts[3]); err != nil || len(h.salt) < 4 || len(h.salt) > 64 {
		return refuse("salt")
	}
	if h.key, err = decode(parts[4]); err != nil || len(h.key) < 16 || len(h.key) > 64 {
		return refuse("key")
	}
	size := h.digest().Size()
	if blocks := (len(h.key) + size - 1) / size; blocks*h.iterations > maxIterations {
		return refuse("cost")
	}
	return h, nil
}
