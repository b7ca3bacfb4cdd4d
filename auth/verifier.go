package auth

import (
	"crypto/sha256"
	"crypto/subtle"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/google/uuid"

	"basalt/auth/token"
)

// TokenError is the refusal of a token: PGRST301 for what is no token of ours, PGRST302 for the
// lack of one, PGRST303 for claims that forbid its use, 22023 for a role that nobody may become.
type TokenError = token.Error

// VerifierOptions say what is demanded of tokens.
type VerifierOptions struct {
	// RoleClaim is where the role stands (see token.ParsePath); the zero value is `$.role`.
	RoleClaim token.Path
	// DefaultRole is the role of tokens that name none, "" for anon; RoleRequired refuses them.
	DefaultRole  string
	RoleRequired bool
	// ForeignKeys verify tokens of other issuers, beside the project's own.
	ForeignKeys token.Ring
	// Audience, when set, must be among a token's audiences if it names any.
	Audience string
	// RoleAllowed tells whether the connection may become a role; nil allows all. It is asked
	// each time, for a role may be dropped while its tokens live.
	RoleAllowed func(role string) bool
	// KeysCame is asked about a token whose key is not known, and tells whether keys have come since the verifier was
	// given any. It bounds how often it looks. Nil is no.
	KeysCame func() bool
	// Remember is how many verified tokens are kept at most; 0 is 8192.
	Remember int
}

const (
	defaultRemember = 8192
	shardCount      = 16
)

// Verifier verifies each token once and remembers the outcome by the token's SHA-256 until
// the token ends. Refusals are not remembered: they must not push out those that pass.
type Verifier struct {
	options VerifierOptions
	rules   token.Rules
	perGen  int
	state   atomic.Pointer[verifierState]
}

// verifierState is what one set of keys has verified; new keys begin with nothing.
type verifierState struct {
	ring    token.Ring
	apiKeys [2]string
	shards  [shardCount]shard
}

// shard keeps two generations: when the young one is full it becomes the old one, and what
// nobody asked for since is gone. That bounds the memory without a list to keep in order.
type shard struct {
	mu         sync.RWMutex
	young, old map[[sha256.Size]byte]*Principal
}

// NewVerifier makes a verifier that believes tokens of the given keys.
func NewVerifier(keys Keys, o VerifierOptions) *Verifier {
	if o.Remember <= 0 {
		o.Remember = defaultRemember
	}
	if o.RoleAllowed == nil {
		o.RoleAllowed = func(string) bool { return true }
	}
	if o.DefaultRole == "" {
		o.DefaultRole = RoleAnon
	}
	v := &Verifier{
		options: o,
		rules:   token.Rules{Role: o.RoleClaim, Audience: o.Audience},
		perGen:  max(1, o.Remember/(2*shardCount)),
	}
	v.Rotate(keys)
	return v
}

// Rotate puts new keys in place of the old and forgets all that the old ones have verified.
func (v *Verifier) Rotate(keys Keys) {
	v.state.Store(&verifierState{
		ring:    slices.Concat(token.Ring{token.SharedKey(keys.Secret.Reveal())}, keys.Signing.ring(), v.options.ForeignKeys),
		apiKeys: [2]string{keys.AnonKey, keys.ServiceKey.Reveal()},
	})
}

// VerifyOwn is Verify for tokens that the project itself has issued.
func (v *Verifier) VerifyOwn(raw string) (*Principal, error) {
	p, err := v.Verify(raw)
	if err == nil && p.Foreign {
		return nil, token.Foreign()
	}
	return p, err
}

// Verify tells who is calling. The error is always a *TokenError.
func (v *Verifier) Verify(raw string) (*Principal, error) {
	state := v.state.Load()
	now := time.Now()
	// The bytes are read only, and only until Sum256 returns: a copy would be the one
	// allocation of a remembered token.
	key := sha256.Sum256(unsafe.Slice(unsafe.StringData(raw), len(raw)))
	s := &state.shards[key[0]%shardCount]
	p := s.get(key)
	if p == nil {
		var refusal *token.Error
		p, refusal = v.read(state, raw, now)
		if refusal != nil && refusal.UnknownKey && v.options.KeysCame != nil && v.options.KeysCame() {
			state = v.state.Load()
			s = &state.shards[key[0]%shardCount]
			p, refusal = v.read(state, raw, now)
		}
		if refusal != nil {
			return nil, refusal
		}
		s.put(key, p, v.perGen)
	}
	if now.After(p.ExpiresAt.Add(token.Leeway)) {
		return nil, token.Expired()
	}
	if !v.options.RoleAllowed(p.Role) {
		return nil, token.UnknownRole(p.Role)
	}
	return p, nil
}

func (v *Verifier) read(state *verifierState, raw string, now time.Time) (*Principal, *token.Error) {
	rules, isKey := v.rules, false
	for _, apiKey := range state.apiKeys {
		if subtle.ConstantTimeCompare([]byte(apiKey), []byte(raw)) == 1 {
			// Our keys have their role where we have put it, wherever that of other tokens stands.
			rules.Role, isKey = token.Path{}, true
		}
	}
	claims, refusal := token.Parse(raw, state.ring, rules, now)
	if refusal != nil {
		return nil, refusal
	}
	p := &Principal{
		Role: claims.Role, Subject: claims.Subject, ExpiresAt: claims.ExpiresAt, APIKeyOnly: isKey, Foreign: claims.Foreign,
	}
	if p.Role == "" {
		if v.options.RoleRequired {
			return nil, token.Required()
		}
		p.Role = v.options.DefaultRole
	}
	p.Claims = claims.Text(p.Role)
	if id, err := uuid.Parse(claims.Subject); err == nil && len(claims.Subject) == 36 {
		p.UserID = id
	}
	if id, err := uuid.Parse(claims.ClientID); err == nil && !p.Foreign {
		p.ClientID = id
	}
	if id, err := uuid.Parse(claims.SessionID); err == nil {
		p.SessionID = id
	}
	return p, nil
}

func (s *shard) get(key [sha256.Size]byte) *Principal {
	s.mu.RLock()
	p, young := s.young[key]
	if !young {
		p = s.old[key]
	}
	s.mu.RUnlock()
	return p
}

func (s *shard) put(key [sha256.Size]byte, p *Principal, perGen int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.young == nil || len(s.young) >= perGen {
		s.young, s.old = make(map[[sha256.Size]byte]*Principal, 8), s.young
	}
	s.young[key] = p
}
