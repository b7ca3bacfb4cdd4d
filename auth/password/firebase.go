package password

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/crypto/scrypt"
)

const (
	firebasePrefix = "$fbscrypt$"
	// maxBlockSize bounds scrypt's r and p.
	maxBlockSize = 64
)

// Firebase are what the hashes of one Firebase project have in common: its "password hash parameters".
type Firebase struct {
	SignerKey     []byte
	SaltSeparator []byte
	// Rounds is scrypt's block size r.
	Rounds int
	// MemoryCost is the base-2 logarithm of scrypt's N.
	MemoryCost int
}

// Stored gives a hash of the project in the form that is stored, which is Supabase's:
// `$fbscrypt$v=1,n=14,r=8,p=1,ss=…,sk=…$salt$hash`. Hash and salt are base64 as in an export.
func (f Firebase) Stored(hash, salt string) (string, error) {
	key, err := decode(hash)
	if err != nil {
		return "", fmt.Errorf("%w: the hash is not base64", ErrUnknownHash)
	}
	grain, err := decode(salt)
	if err != nil {
		return "", fmt.Errorf("%w: the salt is not base64", ErrUnknownHash)
	}
	encode := base64.StdEncoding.EncodeToString
	stored := fmt.Sprintf("%sv=1,n=%d,r=%d,p=1,ss=%s,sk=%s$%s$%s", firebasePrefix, f.MemoryCost, f.Rounds,
		encode(f.SaltSeparator), encode(f.SignerKey), encode(grain), encode(key))
	return stored, Check(stored)
}

// firebaseHash is Firebase's variant of scrypt: the key that scrypt derives encrypts the project's signer key by AES-256
// in counter mode, and the outcome is the hash.
type firebaseHash struct {
	n, r, p           int
	separator, signer []byte
	salt, key         []byte
}

func (h firebaseHash) fits(password string) bool {
	derived, err := scrypt.Key([]byte(password), append(h.salt[:len(h.salt):len(h.salt)], h.separator...), h.n, h.r, h.p, 32)
	if err != nil {
		return false
	}
	block, err := aes.NewCipher(derived)
	if err != nil {
		return false
	}
	encrypted := make([]byte, len(h.signer))
	cipher.NewCTR(block, make([]byte, aes.BlockSize)).XORKeyStream(encrypted, h.signer)
	return subtle.ConstantTimeCompare(encrypted, h.key) == 1
}

func readFirebase(stored string) (firebaseHash, error) {
	h, err := parseFirebase(strings.TrimPrefix(stored, firebasePrefix))
	if err != nil {
		return firebaseHash{}, fmt.Errorf("%w: Firebase scrypt: %w", ErrUnknownHash, err)
	}
	return h, nil
}

func parseFirebase(text string) (h firebaseHash, err error) {
	parts := strings.Split(text, "$")
	if len(parts) != 3 {
		return h, errors.New("shape")
	}
	values := map[string]string{}
	for setting := range strings.SplitSeq(parts[0], ",") {
		name, value, _ := strings.Cut(setting, "=")
		values[name] = value
	}
	if values["v"] != "1" {
		return h, errors.New("version")
	}
	cost := func(name string, most int) (n int) {
		n, costErr := strconv.Atoi(values[name])
		if costErr != nil || n < 1 || n > most {
			err = fmt.Errorf("the cost %s=%s", name, values[name])
			return 0
		}
		return n
	}
	exponent, r, p := cost("n", 24), cost("r", maxBlockSize), cost("p", maxBlockSize)
	if err != nil {
		return h, err
	}
	h.n, h.r, h.p = 1<<exponent, r, p
	if memory := h.n * 128 * r / 1024; memory > maxMemoryKiB || memory*p > maxWorkKiB/4 {
		return h, fmt.Errorf("the costs n=%d, r=%d, p=%d are too high", exponent, r, p)
	}
	for _, field := range []struct {
		name, text string
		into       *[]byte
		most       int
	}{
		{"ss", values["ss"], &h.separator, 64},
		{"sk", values["sk"], &h.signer, 128},
		{"salt", parts[1], &h.salt, 64},
		{"hash", parts[2], &h.key, 128},
	} {
		if *field.into, err = decode(field.text); err != nil || len(*field.into) > field.most {
			return h, errors.New(field.name)
		}
	}
	if len(h.signer) < 16 || len(h.key) < 16 {
		return h, errors.New("hash or signer key too short")
	}
	return h, nil
}
