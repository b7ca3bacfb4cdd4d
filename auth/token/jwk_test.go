package token

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"
)

func b64bytes(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// issuer signs with keys of every kind.
type issuer struct {
	rsa     *rsa.PrivateKey
	ecdsa   *ecdsa.PrivateKey
	edwards ed25519.PrivateKey
	shared  []byte
}

func newIssuer(t testing.TB) *issuer {
	t.Helper()
	var i issuer
	var err error
	if i.rsa, err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
		t.Fatal(err)
	}
	if i.ecdsa, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	if _, i.edwards, err = ed25519.GenerateKey(rand.Reader); err != nil {
		t.Fatal(err)
	}
	i.shared = []byte(otherSecret)
	return &i
}

func (i *issuer) rsaJWK(more string) string {
	return fmt.Sprintf(`{"kty":"RSA","n":%q,"e":%q%s}`, b64bytes(i.rsa.N.Bytes()), b64bytes(big.NewInt(int64(i.rsa.E)).Bytes()), more)
}

func (i *issuer) ecdsaJWK(more string) string {
	point, err := i.ecdsa.PublicKey.Bytes()
	if err != nil {
		panic(err) // the curve is one that has them
	}
	return fmt.Sprintf(`{"kty":"EC","crv":"P-256","x":%q,"y":%q%s}`, b64bytes(point[1:33]), b64bytes(point[33:]), more)
}

func (i *issuer) edwardsJWK(more string) string {
	return fmt.Sprintf(`{"kty":"OKP","crv":"Ed25519","x":%q%s}`, b64bytes(i.edwards.Public().(ed25519.PublicKey)), more)
}

func (i *issuer) sharedJWK(more string) string {
	return fmt.Sprintf(`{"kty":"oct","k":%q%s}`, b64bytes(i.shared), more)
}

// sign makes a token with a key of the issuer under whatever header is wanted.
func (i *issuer) sign(t testing.TB, algorithm, kid string) string {
	t.Helper()
	head := `{"alg":"` + algorithm + `"`
	if kid != "" {
		head += `,"kid":"` + kid + `"`
	}
	text := b64(head+"}") + "." + b64(goodClaims())
	method := jwt.GetSigningMethod(algorithm)
	var key crypto.PrivateKey
	switch algorithm[:2] {
	case "RS", "PS":
		key = i.rsa
	case "ES":
		key = i.ecdsa
	case "Ed":
		key = i.edwards
	default:
		key = i.shared
	}
	signature, err := method.Sign(text, key)
	if err != nil {
		t.Fatal(err)
	}
	return text + "." + b64bytes(signature)
}

func TestKeysOfAnotherIssuerVerifyItsTokens(t *testing.T) {
	i := newIssuer(t)
	set := `{"keys":[` + strings.Join([]string{
		i.rsaJWK(`,"kid":"r","use":"sig","alg":"RS256"`), i.ecdsaJWK(`,"kid":"e","key_ops":["verify"]`), i.edwardsJWK(`,"kid":"d","alg":"EdDSA"`),
		i.sharedJWK(`,"kid":"s"`), `{"kty":"future","kid":"f"}`, i.rsaJWK(`,"use":"enc"`), i.rsaJWK(`,"alg":"RSA-OAEP"`), i.ecdsaJWK(`,"crv":"P-999"`),
	}, ",") + `]}`
	for _, test := range []struct{ name, keys, algorithm, kid string }{
		{"RSA by its name in a set", set, "RS256", "r"},
		{"RSA without a name in a set", set, "RS256", ""},
		{"EC by its name in a set", set, "ES256", "e"},
		{"Ed25519 by its name in a set", set, "EdDSA", "d"},
		{"a shared key by its name in a set", set, "HS256", "s"},
		{"one RSA key", i.rsaJWK(""), "RS256", ""},
		{"one RSA key of another algorithm", i.rsaJWK(`,"alg":"PS256"`), "PS256", ""},
		{"one RSA key of a longer hash", i.rsaJWK(`,"alg":"RS512"`), "RS512", ""},
		{"one EC key", i.ecdsaJWK(""), "ES256", ""},
		{"one Ed25519 key", i.edwardsJWK(""), "EdDSA", ""},
		{"one shared key", i.sharedJWK(`,"alg":"HS256"`), "HS256", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			ring, err := ParseKeys([]byte(test.keys))
			if err != nil {
				t.Fatal(err)
			}
			own := SharedKey(testSecret)
			ring = append(Ring{own}, ring...)
			c, refusal := Parse(i.sign(t, test.algorithm, test.kid), ring, Rules{}, testNow)
			if refusal != nil {
				t.Fatal(refusal)
			}
			if c.Role != "authenticated" || !c.Foreign {
				t.Errorf("role %q, foreign %v", c.Role, c.Foreign)
			}
			if c, refusal = Parse(sign(goodHeader, goodClaims()), ring, Rules{}, testNow); refusal != nil || c.Foreign {
				t.Errorf("our own token: %v", refusal)
			}
		})
	}
}

func TestNoKeyVerifiesAnotherAlgorithm(t *testing.T) {
	i, stranger := newIssuer(t), newIssuer(t)
	parse := func(keys string) Ring {
		ring, err := ParseKeys([]byte(keys))
		if err != nil {
			t.Fatal(err)
		}
		return ring
	}
	// The classical attack: an HS256 token whose secret is the public key, in each form that a server might take it in.
	public := i.rsa.N.Bytes()
	confused := func(secret []byte) string {
		text := b64(goodHeader) + "." + b64(goodClaims())
		signature, err := jwt.SigningMethodHS256.Sign(text, secret)
		if err != nil {
			t.Fatal(err)
		}
		return text + "." + b64bytes(signature)
	}
	for _, test := range []struct {
		name, keys, raw, message string
	}{
		{"HS256 with an RSA key's modulus", i.rsaJWK(""), confused(public), "Wrong or unsupported encoding algorithm"},
		{"HS256 with an RSA key's text", i.rsaJWK(""), confused([]byte(i.rsaJWK(""))), "Wrong or unsupported encoding algorithm"},
		{"HS256 with an Ed25519 key", i.edwardsJWK(""), confused(i.edwards.Public().(ed25519.PublicKey)), "Wrong or unsupported encoding algorithm"},
		{"RS512 where the key says RS256", i.rsaJWK(`,"alg":"RS256"`), i.sign(t, "RS512", ""), "Wrong or unsupported encoding algorithm"},
		{"PS256 where the key says nothing", i.rsaJWK(""), i.sign(t, "PS256", ""), "Wrong or unsupported encoding algorithm"},
		{"RS256 by somebody else", i.rsaJWK(""), stranger.sign(t, "RS256", ""), "JWT cryptographic operation failed"},
		{"ES256 by somebody else", i.ecdsaJWK(""), stranger.sign(t, "ES256", ""), "JWT cryptographic operation failed"},
		{"EdDSA by somebody else", i.edwardsJWK(""), stranger.sign(t, "EdDSA", ""), "JWT cryptographic operation failed"},
		{"a key's name that is none", i.rsaJWK(`,"kid":"a"`), i.sign(t, "RS256", "b"), "No suitable key or wrong key type"},
		{"no signature at all", i.rsaJWK(""), b64(`{"alg":"none"}`) + "." + b64(goodClaims()) + ".", "Wrong or unsupported encoding algorithm"},
		{"a key inside of the token", i.rsaJWK(""), b64(`{"alg":"RS256","jwk":`+stranger.rsaJWK("")+`}`) + "." + b64(goodClaims()) + ".AA", "No suitable key or wrong key type"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, refusal := Parse(test.raw, parse(test.keys), Rules{}, testNow)
			if refusal == nil || refusal.Code != CodeUndecodable || refusal.Message != test.message {
				t.Errorf("%v, want %s", refusal, test.message)
			}
		})
	}
}

func TestKeysThatCannotBeTrustedAreRefused(t *testing.T) {
	i := newIssuer(t)
	secret := b64bytes([]byte("canary-7d1f-canary"))
	for name, text := range map[string]string{
		"a secret of 31 bytes":                `{"kty":"oct","k":"` + b64bytes([]byte(strings.Repeat("x", 31))) + `"}`,
		"a secret of 32 bytes for HS512":      `{"kty":"oct","alg":"HS512","k":"` + b64bytes([]byte(strings.Repeat("x", 32))) + `"}`,
		"a short secret in a set":             `{"keys":[` + i.rsaJWK("") + `,{"kty":"oct","k":"` + secret + `"}]}`,
		"RSA of 1024 bits":                    fmt.Sprintf(`{"kty":"RSA","n":%q,"e":"AQAB"}`, b64bytes(i.rsa.N.Bytes()[:128])),
		"RSA with the exponent 1":             fmt.Sprintf(`{"kty":"RSA","n":%q,"e":"AQ"}`, b64bytes(i.rsa.N.Bytes())),
		"RSA that claims HS256":               i.rsaJWK(`,"alg":"HS256"`),
		"RSA that claims none":                i.rsaJWK(`,"alg":"none"`),
		"a secret that claims RS256":          i.sharedJWK(`,"alg":"RS256"`),
		"EC that claims another curve's":      i.ecdsaJWK(`,"alg":"ES512"`),
		"EC beside its curve":                 `{"kty":"EC","crv":"P-256","x":"AQ","y":"AQ"}`,
		"Ed25519 of another length":           `{"kty":"OKP","crv":"Ed25519","x":"AQ"}`,
		"a set of nothing":                    `{"keys":[]}`,
		"a set of keys for encryption":        `{"keys":[` + i.rsaJWK(`,"use":"enc"`) + `]}`,
		"a set that is too large":             `{"keys":[` + strings.TrimSuffix(strings.Repeat(i.edwardsJWK("")+",", maxKeys+1), ",") + `]}`,
		"a key that only signs":               i.rsaJWK(`,"key_ops":["sign"]`),
		"a kind that nobody knows":            `{"kty":"xyz"}`,
		"a certificate":                       "-----BEGIN CERTIFICATE-----" + secret,
		"JSON that is no object":              `"` + secret + `"`,
		"an object that is no key":            `{"` + secret + `":1}`,
		"base64 that is none":                 `{"kty":"oct","k":"` + secret + `!!!"}`,
		"a modulus that is too large for use": fmt.Sprintf(`{"kty":"RSA","n":%q,"e":"AQAB"}`, b64bytes(append([]byte{1}, make([]byte, 4096)...))),
	} {
		_, err := ParseKeys([]byte(text))
		if err == nil {
			t.Errorf("%s passes", name)
		} else if strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v shows the secret", name, err)
		}
	}
}

// FuzzParseKeys: nothing makes the reader panic, and each key that it gives is of one known algorithm.
func FuzzParseKeys(f *testing.F) {
	i := newIssuer(f)
	f.Add([]byte(i.rsaJWK("")))
	f.Add([]byte(`{"keys":[` + i.ecdsaJWK(`,"kid":"a"`) + `,` + i.edwardsJWK("") + `]}`))
	f.Add([]byte(i.sharedJWK(`,"alg":"HS256"`)))
	f.Fuzz(func(t *testing.T, text []byte) {
		ring, err := ParseKeys(text)
		if err != nil {
			return
		}
		for _, key := range ring {
			if jwt.GetSigningMethod(key.Algorithm) == nil || key.Algorithm == "none" || !key.Foreign || key.Verification == nil {
				t.Fatalf("%s gives the key %+v", text, key)
			}
		}
	})
}
