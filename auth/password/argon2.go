package password

import (
	"crypto/subtle"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/crypto/argon2"
)

// argon2Hash is an Argon2 hash in PHC form, `$argon2id$v=19$m=19456,t=2,p=1$salt$key`, our own or somebody else's
// (RFC 9106).
type argon2Hash struct {
	Parameters
	variant   string
	salt, key []byte
}

func (h argon2Hash) fits(password string) bool {
	derive := argon2.IDKey
	if h.variant == "argon2i" {
		derive = argon2.Key
	}
	key := derive([]byte(password), h.salt, h.Passes, h.MemoryKiB, h.Lanes, uint32(len(h.key)))
	return subtle.ConstantTimeCompare(key, h.key) == 1
}

func readArgon2(stored string) (argon2Hash, error) {
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
	found, err := costs(parts[3], map[string]uint64{"m": maxMemoryKiB, "t": 1 << 10, "p": 16})
	if err != nil {
		return argon2Hash{}, err
	}
	if found["m"]*found["t"] > maxWorkKiB {
		return refuse("cost")
	}
	h.Parameters = Parameters{MemoryKiB: uint32(found["m"]), Passes: uint32(found["t"]), Lanes: uint8(found["p"])}
	if h.salt, err = decode(parts[4]); err != nil || len(h.salt) < 8 || len(h.salt) > 64 {
		return refuse("salt")
	}
	if h.key, err = decode(parts[5]); err != nil || len(h.key) < 16 || len(h.key) > 128 {
		return refuse("key")
	}
	return h, nil
}
