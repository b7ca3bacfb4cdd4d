package token

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/golang-jwt/jwt/v5"
)

const (
	// maxKeys bounds a set: a token without `kid` is tried with each key of its algorithm.
	maxKeys = 32
	// leastModulus is the least size of RSA keys (RFC 7518 §3.3), mostModulus one whose use does not stall a server.
	leastModulus, mostModulus = 2048, 16384
)

// jwk is a JSON Web Key (RFC 7517, RFC 7518 §6, RFC 8037) with the members that a verifier needs.
type jwk struct {
	Type       string   `json:"kty"`
	ID         string   `json:"kid"`
	Algorithm  string   `json:"alg"`
	Use        string   `json:"use"`
	Operations []string `json:"key_ops"`
	Curve      string   `json:"crv"`
	N          string   `json:"n"`
	E          string   `json:"e"`
	X          string   `json:"x"`
	Y          string   `json:"y"`
	K          string   `json:"k"`
}

// errOtherKey is a key of a set that is for something else; the set is read without it (RFC 7517 §5).
var errOtherKey = errors.New("it is not for verifying signatures by a known algorithm")

// ParseKeys reads a JSON Web Key or a set of them: the keys of another issuer. Each verifies exactly one algorithm: that
// of its `alg`, which must be one of its kind of key, or the usual one of that kind (RFC 8725 §3.1). Errors do not repeat
// the text, which may hold secrets.
func ParseKeys(text []byte) (Ring, error) {
	var set struct {
		Keys *[]json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, errors.New("it is not a JSON object: a JSON Web Key or a set of them is needed")
	}
	if set.Keys == nil {
		key, err := parseKey(text)
		if err != nil {
			return nil, err
		}
		return Ring{key}, nil
	}
	if len(*set.Keys) > maxKeys {
		return nil, fmt.Errorf("the set has %d keys, %d are the most", len(*set.Keys), maxKeys)
	}
	var ring Ring
	for i, text := range *set.Keys {
		key, err := parseKey(text)
		if errors.Is(err, errOtherKey) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("key %d of the set: %w", i+1, err)
		}
		ring = append(ring, key)
	}
	if len(ring) == 0 {
		return nil, errors.New("the set has no key that verifies signatures by a known algorithm")
	}
	return ring, nil
}

func parseKey(text []byte) (Key, error) {
	var k jwk
	if err := json.Unmarshal(text, &k); err != nil {
		return Key{}, errors.New("it is not a JSON Web Key")
	}
	if k.Use != "" && k.Use != "sig" || k.Operations != nil && !slices.Contains(k.Operations, "verify") {
		return Key{}, errOtherKey
	}
	key := Key{ID: k.ID, Foreign: true}
	var err error
	switch k.Type {
	case "oct":
		key.Algorithm, key.Verification, err = k.shared()
	case "RSA":
		key.Algorithm, key.Verification, err = k.rsa()
	case "EC":
		key.Algorithm, key.Verification, err = k.ecdsa()
	case "OKP":
		key.Algorithm, key.Verification, err = k.edwards()
	default:
		return Key{}, errOtherKey
	}
	return key, err
}

// algorithm gives the one algorithm of a key: its own, when it is among those of its kind, else the first of them.
func (k *jwk) algorithm(allowed ...string) (string, error) {
	switch {
	case k.Algorithm == "":
		return allowed[0], nil
	case slices.Contains(allowed, k.Algorithm):
		return k.Algorithm, nil
	case jwt.GetSigningMethod(k.Algorithm) == nil: // of encryption, or a new one
		return "", errOtherKey
	}
	return "", fmt.Errorf("a key of the kind %s does not go with the algorithm %s but with %s", k.Type, k.Algorithm, strings.Join(allowed, ", "))
}

func (k *jwk) shared() (string, jwt.VerificationKey, error) {
	algorithm, err := k.algorithm("HS256", "HS384", "HS512")
	if err != nil {
		return "", nil, err
	}
	secret, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(k.K, "="))
	if err != nil {
		return "", nil, errors.New("its k is not base64url")
	}
	// A key as long as the hash at least (RFC 7518 §3.2).
	if least := map[string]int{"HS256": 32, "HS384": 48, "HS512": 64}[algorithm]; len(secret) < least {
		return "", nil, fmt.Errorf("its k has %d bytes, %d are the least for %s (RFC 7518 §3.2)", len(secret), least, algorithm)
	}
	return algorithm, secret, nil
}

func (k *jwk) rsa() (string, jwt.VerificationKey, error) {
	algorithm, err := k.algorithm("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")
	if err != nil {
		return "", nil, err
	}
	n, nErr := number(k.N)
	e, eErr := number(k.E)
	switch {
	case nErr != nil || eErr != nil:
		return "", nil, errors.New("its n and e are not base64url")
	case n.BitLen() < leastModulus:
		return "", nil, fmt.Errorf("its n has %d bits, %d are the least (RFC 7518 §3.3)", n.BitLen(), leastModulus)
	case n.BitLen() > mostModulus:
		return "", nil, fmt.Errorf("its n has %d bits, %d are the most", n.BitLen(), mostModulus)
	case e.BitLen() > 31 || e.Int64() < 3 || e.Bit(0) == 0:
		return "", nil, errors.New("its e is no public exponent")
	}
	return algorithm, &rsa.PublicKey{N: n, E: int(e.Int64())}, nil
}

func (k *jwk) ecdsa() (string, jwt.VerificationKey, error) {
	var curve elliptic.Curve
	var algorithm string
	switch k.Curve {
	case "P-256":
		curve, algorithm = elliptic.P256(), "ES256"
	case "P-384":
		curve, algorithm = elliptic.P384(), "ES384"
	case "P-521":
		curve, algorithm = elliptic.P521(), "ES512"
	default:
		return "", nil, errOtherKey
	}
	algorithm, err := k.algorithm(algorithm)
	if err != nil {
		return "", nil, err
	}
	x, xErr := number(k.X)
	y, yErr := number(k.Y)
	size := (curve.Params().BitSize + 7) / 8
	if xErr != nil || yErr != nil || x.BitLen() > 8*size || y.BitLen() > 8*size {
		return "", nil, errors.New("its x and y are no coordinates in base64url")
	}
	// SEC 1 §2.3.3: the uncompressed form of a point.
	point := make([]byte, 1+2*size)
	point[0] = 4
	x.FillBytes(point[1 : 1+size])
	y.FillBytes(point[1+size:])
	key, err := ecdsa.ParseUncompressedPublicKey(curve, point)
	if err != nil {
		return "", nil, errors.New("its point does not lie on " + k.Curve)
	}
	return algorithm, key, nil
}

func (k *jwk) edwards() (string, jwt.VerificationKey, error) {
	if k.Curve != "Ed25519" {
		return "", nil, errOtherKey
	}
	algorithm, err := k.algorithm("EdDSA")
	if err != nil {
		return "", nil, err
	}
	x, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(k.X, "="))
	if err != nil || len(x) != ed25519.PublicKeySize {
		return "", nil, errors.New("its x is no Ed25519 key in base64url")
	}
	return algorithm, ed25519.PublicKey(x), nil
}

// number reads a Base64urlUInt (RFC 7518 §2).
func number(text string) (*big.Int, error) {
	bytes, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
	if err != nil || len(bytes) == 0 {
		return nil, errors.New("not base64url")
	}
	return new(big.Int).SetBytes(bytes), nil
}
