package token

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/golang-jwt/jwt/v5"
)

// State is how far a signing key is in its life.
type State string

// A key is published before it signs and goes on to verify after it has: those who keep copies of the published set
// know it in time (RFC 7517 leaves rotation to the application).
const (
	StateStandby  State = "standby"
	StateCurrent  State = "current"
	StatePrevious State = "previous"
)

// PairAlgorithms are the algorithms that tokens can be signed with beside HS256, the usual one first.
func PairAlgorithms() []string { return []string{"ES256", "RS256", "EdDSA"} }

// Pair is a signing key whose public half may be known to all.
type Pair struct {
	ID        string
	Algorithm string
	State     State

	public  crypto.PublicKey
	private crypto.Signer // nil where only the public half is known
}

// NewPair makes a key. Its ID is its thumbprint (RFC 7638), which begins with no dash: shells and commands would take
// it for an option.
func NewPair(algorithm string) (*Pair, error) {
	var private crypto.Signer
	var err error
	switch algorithm {
	case "ES256":
		private, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case "RS256":
		private, err = rsa.GenerateKey(rand.Reader, leastModulus)
	case "EdDSA":
		_, private, err = ed25519.GenerateKey(rand.Reader)
	default:
		return nil, fmt.Errorf("%q is none of %s", algorithm, strings.Join(PairAlgorithms(), ", "))
	}
	if err != nil {
		return nil, fmt.Errorf("make a signing key: %w", err)
	}
	p := &Pair{Algorithm: algorithm, public: private.Public(), private: private}
	if p.ID = p.thumbprint(); p.ID[0] == '-' {
		return NewPair(algorithm)
	}
	return p, nil
}

// Key verifies the tokens of the pair.
func (p *Pair) Key() Key { return Key{ID: p.ID, Algorithm: p.Algorithm, Verification: p.public} }

// Signer signs with the pair; nil when only its public half is known.
func (p *Pair) Signer() *Signer {
	if p.private == nil {
		return nil
	}
	return &Signer{ID: p.ID, method: jwt.GetSigningMethod(p.Algorithm), key: p.private}
}

// PublicJWK is the public half as a JSON Web Key (RFC 7517 §4).
type PublicJWK struct {
	Type       string   `json:"kty"`
	ID         string   `json:"kid"`
	Algorithm  string   `json:"alg"`
	Use        string   `json:"use"`
	Operations []string `json:"key_ops"`
	Curve      string   `json:"crv,omitempty"`
	X          string   `json:"x,omitempty"`
	Y          string   `json:"y,omitempty"`
	N          string   `json:"n,omitempty"`
	E          string   `json:"e,omitempty"`
}

// JWK gives the public half as it is published.
func (p *Pair) JWK() PublicJWK {
	k := PublicJWK{ID: p.ID, Algorithm: p.Algorithm, Use: "sig", Operations: []string{"verify"}}
	switch public := p.public.(type) {
	case *ecdsa.PublicKey:
		point, _ := public.Bytes() // a key that has been read or made lies on its curve
		k.Type, k.Curve = "EC", "P-256"
		k.X, k.Y = encode(point[1:33]), encode(point[33:])
	case *rsa.PublicKey:
		k.Type, k.N, k.E = "RSA", encode(public.N.Bytes()), encode(big.NewInt(int64(public.E)).Bytes())
	case ed25519.PublicKey:
		k.Type, k.Curve, k.X = "OKP", "Ed25519", encode(public)
	}
	return k
}

// thumbprint is RFC 7638's: the members that are required, in the order of their names.
func (p *Pair) thumbprint() string {
	k := p.JWK()
	var text string
	switch k.Type {
	case "EC":
		text = fmt.Sprintf(`{"crv":%q,"kty":"EC","x":%q,"y":%q}`, k.Curve, k.X, k.Y)
	case "RSA":
		text = fmt.Sprintf(`{"e":%q,"kty":"RSA","n":%q}`, k.E, k.N)
	case "OKP":
		text = fmt.Sprintf(`{"crv":%q,"kty":"OKP","x":%q}`, k.Curve, k.X)
	}
	digest := sha256.Sum256([]byte(text))
	return encode(digest[:])
}

// privateJWK has the members that only the holder of a key knows (RFC 7518 §6.2.2, §6.3.2, RFC 8037 §2).
type privateJWK struct {
	PublicJWK
	D string `json:"d,omitempty"`
	P string `json:"p,omitempty"`
	Q string `json:"q,omitempty"`
}

// PrivateJWK writes the whole pair as a JSON Web Key, for safekeeping.
func (p *Pair) PrivateJWK() ([]byte, error) {
	k := privateJWK{PublicJWK: p.JWK()}
	k.Operations = []string{"sign", "verify"}
	switch private := p.private.(type) {
	case *ecdsa.PrivateKey:
		scalar, err := private.Bytes()
		if err != nil {
			return nil, err
		}
		k.D = encode(scalar)
	case *rsa.PrivateKey:
		k.D, k.P, k.Q = encode(private.D.Bytes()), encode(private.Primes[0].Bytes()), encode(private.Primes[1].Bytes())
	case ed25519.PrivateKey:
		k.D = encode(private.Seed())
	default:
		return nil, errors.New("the private half of the key is not known")
	}
	return json.Marshal(k)
}

// ParsePairs reads signing keys: a JSON Web Key, a set, or an array of them. `status` says in which state each is; where
// no key has one, the keys that may `sign` (key_ops) are current, or the only key is. Errors do not repeat the text.
func ParsePairs(text []byte) ([]*Pair, error) {
	texts, err := keysOf(text)
	switch {
	case err != nil:
		return nil, err
	case len(texts) > maxKeys:
		return nil, fmt.Errorf("there are %d keys, %d are the most", len(texts), maxKeys)
	}
	var pairs []*Pair
	for i, text := range texts {
		p, err := ParsePair(text)
		if err != nil {
			return nil, fmt.Errorf("key %d: %w", i+1, err)
		}
		if p.State == "" && len(texts) == 1 {
			p.State = StateCurrent
		}
		if slices.ContainsFunc(pairs, func(other *Pair) bool { return other.ID == p.ID }) {
			return nil, fmt.Errorf("key %d has the kid of another", i+1)
		}
		pairs = append(pairs, p)
	}
	current := 0
	for i, p := range pairs {
		switch {
		case p.State == "":
			p.State = StatePrevious
		case p.State == StateCurrent && p.private == nil:
			return nil, fmt.Errorf("key %d is current and has no private half (d)", i+1)
		case p.State == StateCurrent:
			current++
		}
	}
	if current != 1 {
		return nil, fmt.Errorf(`%d keys are current, exactly one must be: mark it with "status": "current"`, current)
	}
	return pairs, nil
}

func keysOf(text []byte) ([]json.RawMessage, error) {
	var texts []json.RawMessage
	if json.Unmarshal(text, &texts) == nil {
		return texts, nil
	}
	var set struct {
		Keys *[]json.RawMessage `json:"keys"`
	}
	if json.Unmarshal(text, &set) != nil {
		return nil, errors.New("it is no JSON Web Key, set or array of them")
	}
	if set.Keys == nil {
		return []json.RawMessage{text}, nil
	}
	return *set.Keys, nil
}

// ParsePair reads one signing key, with its private half where the text has it.
func ParsePair(text []byte) (*Pair, error) {
	var k struct {
		privateJWK
		Status State `json:"status"`
	}
	if json.Unmarshal(text, &k) != nil {
		return nil, errors.New("it is not a JSON Web Key")
	}
	if k.Type == "oct" {
		return nil, errors.New("it is a shared secret: that belongs into --jwt-secret")
	}
	public, err := parseKey(publicHalf(k.PublicJWK))
	switch {
	case errors.Is(err, errOtherKey):
		return nil, fmt.Errorf("its algorithm is none of %s", strings.Join(PairAlgorithms(), ", "))
	case err != nil:
		return nil, err
	case !slices.Contains(PairAlgorithms(), public.Algorithm):
		return nil, fmt.Errorf("its algorithm %s is none of %s", public.Algorithm, strings.Join(PairAlgorithms(), ", "))
	}
	p := &Pair{ID: k.ID, Algorithm: public.Algorithm, State: k.Status, public: public.Verification}
	switch k.Status {
	case "", StateStandby, StateCurrent, StatePrevious:
	default:
		return nil, fmt.Errorf("its status is none of %s, %s, %s", StateStandby, StateCurrent, StatePrevious)
	}
	if k.D != "" {
		if p.private, err = k.signer(p.public); err != nil {
			return nil, err
		}
		if p.State == "" && slices.Contains(k.Operations, "sign") {
			p.State = StateCurrent
		}
	}
	if p.ID == "" {
		p.ID = p.thumbprint()
	}
	return p, nil
}

// publicHalf is the text of a key that verifies, whatever else the key is for.
func publicHalf(k PublicJWK) []byte {
	k.Operations = []string{"verify"}
	text, _ := json.Marshal(k) // strings always marshal
	return text
}

// signer reads the private half and checks that it belongs to the public one.
func (k *privateJWK) signer(public crypto.PublicKey) (crypto.Signer, error) {
	d, err := decode(k.D)
	if err != nil {
		return nil, errors.New("its d is not base64url")
	}
	var private crypto.Signer
	switch public := public.(type) {
	case *ecdsa.PublicKey:
		private, err = ecdsa.ParseRawPrivateKey(public.Curve, d)
	case ed25519.PublicKey:
		if len(d) != ed25519.SeedSize {
			return nil, errors.New("its d is no Ed25519 key")
		}
		private = ed25519.NewKeyFromSeed(d)
	case *rsa.PublicKey:
		private, err = k.rsaSigner(public, d)
	}
	if err != nil {
		return nil, errors.New("its private half is not valid")
	}
	known, comparable := private.Public().(interface{ Equal(crypto.PublicKey) bool })
	if !comparable || !known.Equal(public) {
		return nil, errors.New("its private half belongs to another key")
	}
	return private, nil
}

func (k *privateJWK) rsaSigner(public *rsa.PublicKey, d []byte) (crypto.Signer, error) {
	p, pErr := number(k.P)
	q, qErr := number(k.Q)
	if pErr != nil || qErr != nil {
		return nil, errors.New("its p and q are needed beside d")
	}
	private := &rsa.PrivateKey{PublicKey: *public, D: new(big.Int).SetBytes(d), Primes: []*big.Int{p, q}}
	if err := private.Validate(); err != nil {
		return nil, err
	}
	private.Precompute()
	return private, nil
}

func encode(value []byte) string { return base64.RawURLEncoding.EncodeToString(value) }

func decode(text string) ([]byte, error) {
	return base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
}
