package auth

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/rs/zerolog"

	"basalt/auth/limit"
	"basalt/auth/seal"
	"basalt/auth/token"
)

const (
	// keyringAge is how long a change of the keys by another process may go unnoticed.
	keyringAge = 5 * time.Second
	// keyringSpacing is the least time between two looks that unknown keys bring about: anybody can write a `kid`.
	keyringSpacing = time.Second
	// keyringPatience bounds a look.
	keyringPatience = 5 * time.Second
)

const readSigningKeys = `
select id, state, public_key::text, private_key
from basalt.signing_keys
order by state, created_at desc`

// SigningSet is the asymmetric keys of a project at one moment. It is never changed.
type SigningSet struct {
	pairs []*token.Pair
}

// Signer signs with the current key; nil when none is current and the shared secret signs.
func (s *SigningSet) Signer() *token.Signer {
	if s == nil {
		return nil
	}
	for _, p := range s.pairs {
		if p.State == token.StateCurrent {
			return p.Signer()
		}
	}
	return nil
}

// Public gives what everybody may know of the keys, for `/.well-known/jwks.json`.
func (s *SigningSet) Public() []token.PublicJWK {
	public := []token.PublicJWK{}
	if s != nil {
		for _, p := range s.pairs {
			public = append(public, p.JWK())
		}
	}
	return public
}

// ring gives the keys that verify.
func (s *SigningSet) ring() token.Ring {
	var ring token.Ring
	if s != nil {
		for _, p := range s.pairs {
			ring = append(ring, p.Key())
		}
	}
	return ring
}

// equal tells whether two sets have the same keys in the same states.
func (s *SigningSet) equal(other *SigningSet) bool {
	return slices.EqualFunc(s.pairs, other.pairs, func(a, b *token.Pair) bool { return a.ID == b.ID && a.State == b.State })
}

// KeyringOptions say where a project's asymmetric keys come from.
type KeyringOptions struct {
	DB limit.Sender
	// Vault opens the keys that the database keeps.
	Vault *seal.Vault
	// Given are the operator's own. They sign; the database's go on to verify.
	Given []*token.Pair
	Log   zerolog.Logger
}

// Keyring keeps a project's keys as they are in the database, while other processes add, promote and revoke them.
type Keyring struct {
	options KeyringOptions
	base    Keys
	current atomic.Pointer[SigningSet]

	mu      sync.Mutex // held by who looks
	opened  map[string]*token.Pair
	looked  time.Time
	changed []func(Keys)
}

// NewKeyring reads the keys for the first time. The base are the project's other keys.
func NewKeyring(ctx context.Context, base Keys, o KeyringOptions) (*Keyring, error) {
	k := &Keyring{options: o, base: base, opened: map[string]*token.Pair{}}
	if err := k.Look(ctx); err != nil {
		return nil, fmt.Errorf("read the signing keys: %w", err)
	}
	return k, nil
}

// Keys gives the project's keys as they were at the last look.
func (k *Keyring) Keys() Keys {
	keys := k.base
	keys.Signing = k.current.Load()
	return keys
}

// OnChange has a function called with the new keys after each change, one call after the other.
func (k *Keyring) OnChange(changed func(Keys)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.changed = append(k.changed, changed)
}

// Run looks again and again until ctx ends.
func (k *Keyring) Run(ctx context.Context) error {
	ticker := time.NewTicker(keyringAge)
	defer ticker.Stop()
	told := false // an outage is said once
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		look, cancel := context.WithTimeout(ctx, keyringPatience)
		err := k.Look(look)
		cancel()
		if err != nil && !told && ctx.Err() == nil {
			k.options.Log.Warn().Err(err).Msg("the signing keys could not be read; those known serve on")
		}
		told = err != nil
	}
}

// Missed looks because a token names a key that is not known, and tells whether keys have come. It does so once a second at
// most, and only for one caller at a time: the others are refused as if there were no such key.
func (k *Keyring) Missed() bool {
	if !k.mu.TryLock() {
		return false
	}
	defer k.mu.Unlock()
	if time.Since(k.looked) < keyringSpacing {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), keyringPatience)
	defer cancel()
	before := k.current.Load()
	if err := k.look(ctx); err != nil {
		k.options.Log.Debug().Err(err).Msg("the signing keys could not be read; those known serve on")
	}
	return k.current.Load() != before
}

// Look reads the keys once.
func (k *Keyring) Look(ctx context.Context) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.look(ctx)
}

func (k *Keyring) look(ctx context.Context) error {
	k.looked = time.Now()
	kept, err := k.kept(ctx)
	if err != nil {
		return err
	}
	next := &SigningSet{pairs: slices.Clone(k.options.Given)}
	for _, p := range kept {
		if slices.ContainsFunc(k.options.Given, func(given *token.Pair) bool { return given.ID == p.ID }) {
			continue
		}
		if len(k.options.Given) > 0 && p.State == token.StateCurrent {
			beside := *p
			beside.State = token.StatePrevious
			p = &beside
		}
		next.pairs = append(next.pairs, p)
	}
	if before := k.current.Load(); before != nil && before.equal(next) {
		return nil
	}
	k.current.Store(next)
	keys := k.Keys()
	for _, changed := range k.changed {
		changed(keys)
	}
	return nil
}

// kept reads the database's keys. A private half is opened once, and only where it signs: what a process does not need it
// does not hold.
func (k *Keyring) kept(ctx context.Context) ([]*token.Pair, error) {
	var rows []signingRow
	batch := &pgx.Batch{}
	batch.Queue(readSigningKeys).Query(func(found pgx.Rows) error {
		var err error
		rows, err = pgx.CollectRows(found, pgx.RowToStructByPos[signingRow])
		return err
	})
	if err := k.options.DB.SendBatch(ctx, batch).Close(); err != nil {
		return nil, err
	}
	opened := map[string]*token.Pair{}
	var pairs []*token.Pair
	for _, row := range rows {
		name := row.ID + " " + string(row.State)
		p := k.opened[name]
		if p == nil {
			var err error
			if p, err = row.pair(ctx, k.options.Vault); err != nil {
				return nil, fmt.Errorf("signing key %s: %w", row.ID, err)
			}
		}
		opened[name] = p
		pairs = append(pairs, p)
	}
	k.opened = opened
	return pairs, nil
}

type signingRow struct {
	ID      string
	State   token.State
	Public  string
	Private string
}

func (r signingRow) pair(ctx context.Context, vault *seal.Vault) (*token.Pair, error) {
	text := r.Public
	if r.State == token.StateCurrent {
		var err error
		if text, _, err = vault.Open(ctx, r.Private, signingCell(r.ID)); err != nil {
			return nil, err
		}
	}
	p, err := token.ParsePair([]byte(text))
	if err != nil {
		return nil, err
	}
	p.State = r.State
	return p, nil
}

// signingCell is where a key is bound to.
func signingCell(id string) seal.Cell {
	return seal.Cell{Table: "basalt.signing_keys", Row: id, Column: "private_key"}
}
