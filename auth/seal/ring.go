// Package seal encrypts small secrets at rest, each bound to the place where it is kept.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

const (
	// prefix begins every sealed text; what follows is the key's id, a colon, and nonce and ciphertext in base64.
	prefix = "enc:v1:"
	// family begins the sealed texts of all versions.
	family = "enc:"

	keyLength = 32 // AES-256
	idLength  = 16 // hexadecimal digits
	nonce     = 12
	tag       = 16
)

var encoding = base64.RawStdEncoding.Strict()

// ErrClear is the refusal to open a text that is not sealed: it came from elsewhere, a dump of a Supabase project say.
var ErrClear = errors.New("the text is not sealed")

// ErrBroken is the refusal of a sealed text that was changed, cut, or moved from another place.
var ErrBroken = errors.New("the sealed text is broken, or belongs to another place")

// UnknownKeyError is the refusal of a text that is sealed under a key which is not in the ring.
type UnknownKeyError struct{ ID string }

func (e *UnknownKeyError) Error() string {
	return fmt.Sprintf("the text is sealed under a key that is not known here (%q)", e.ID)
}

// Cell is the place that a secret belongs to. It is authenticated with the secret: a sealed text that is moved to
// another row or column does not open there (NIST SP 800-38D calls it additional authenticated data).
type Cell struct {
	Table, Row, Column string
}

// bound gives the cell as bytes. Names and ids hold no NUL.
func (c Cell) bound() []byte {
	b := make([]byte, 0, 128)
	b = append(b, prefix...)
	b = append(b, c.Table...)
	b = append(b, 0)
	b = append(b, c.Row...)
	b = append(b, 0)
	return append(b, c.Column...)
}

// Key is an AES-256-GCM key with the id that sealed texts name it by. The id tells nothing of the key.
type Key struct {
	id   string
	aead cipher.AEAD
}

// NewKey makes a key of 32 random bytes.
func NewKey(secret [keyLength]byte) Key {
	digest := sha256.Sum256(append([]byte("basalt encryption key id\x00"), secret[:]...))
	block, err := aes.NewCipher(secret[:])
	if err != nil {
		panic(err) // the length is right
	}
	// The nonces are random: one key serves 2³² texts (NIST SP 800-38D §8.3), more than there will be secrets.
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err) // the block size is right
	}
	return Key{id: hex.EncodeToString(digest[:])[:idLength], aead: aead}
}

// Derive makes a key from a long secret for one purpose, by HKDF-SHA-256 (RFC 5869).
func Derive(secret, purpose string) Key {
	derived, err := hkdf.Key(sha256.New, []byte(secret), nil, purpose, keyLength)
	if err != nil {
		panic(err) // the length is right
	}
	return NewKey([keyLength]byte(derived))
}

// random makes a new key, with the bytes that it is kept as.
func random() (Key, string) {
	var secret [keyLength]byte
	rand.Read(secret[:]) // never fails
	return NewKey(secret), string(secret[:])
}

// ID is what sealed texts name the key by.
func (k Key) ID() string { return k.id }

// Ring is a current key, which seals, with older ones, which still open. The zero ring opens nothing and cannot seal.
type Ring []Key

// Seal encrypts a secret for a cell, under the first key of the ring. No two sealed texts are the same.
func (r Ring) Seal(plain string, at Cell) string {
	k := r[0]
	text := make([]byte, 0, len(prefix)+idLength+1+encoding.EncodedLen(nonce+len(plain)+tag))
	text = append(text, prefix...)
	text = append(text, k.id...)
	text = append(text, ':')
	sealed := k.aead.Seal(make([]byte, 0, nonce+len(plain)+tag), nil, []byte(plain), at.bound())
	return string(encoding.AppendEncode(text, sealed))
}

// Open decrypts what Seal has made for the same cell. The error is ErrClear, ErrBroken or an *UnknownKeyError.
func (r Ring) Open(text string, at Cell) (string, error) {
	if IsClear(text) {
		return "", ErrClear
	}
	id, body, found := strings.Cut(strings.TrimPrefix(text, prefix), ":")
	if !found || !strings.HasPrefix(text, prefix) || strings.ContainsAny(body, "\r\n") { // which base64 would pass over
		return "", ErrBroken
	}
	for _, k := range r {
		if k.id != id {
			continue
		}
		sealed, err := encoding.DecodeString(body)
		if err != nil {
			return "", ErrBroken
		}
		plain, err := k.aead.Open(sealed[:0:0], nil, sealed, at.bound())
		if err != nil {
			return "", ErrBroken
		}
		return string(plain), nil
	}
	return "", &UnknownKeyError{ID: id}
}

// Current tells whether a text is sealed under the first key of the ring.
func (r Ring) Current(text string) bool {
	return len(r) > 0 && strings.HasPrefix(text, prefix+r[0].id+":")
}

// IsClear tells whether a text is not sealed. Secrets that are sealed never begin with `enc:` themselves.
func IsClear(text string) bool { return !strings.HasPrefix(text, family) }
