package auth

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"basalt/auth/seal"
	"basalt/auth/token"
	"basalt/store/storetest"
)

// process is one of several over a database: what it signs, and what it believes.
type process struct {
	*Keyring
	verifier *Verifier
	service  *Service
}

func vaultOf(db *storetest.Database) *seal.Vault {
	ring := seal.Ring{seal.Derive(strings.Repeat("m", 32), "test")}
	return seal.NewVault(db.Pool, func() (seal.Ring, error) { return ring, nil })
}

func newProcess(t *testing.T, db *storetest.Database, given ...*token.Pair) *process {
	t.Helper()
	keyring, err := NewKeyring(t.Context(), testKeys(t), KeyringOptions{DB: db.Pool, Vault: vaultOf(db), Given: given})
	if err != nil {
		t.Fatal(err)
	}
	keys := keyring.Keys()
	p := &process{Keyring: keyring, verifier: NewVerifier(keys, VerifierOptions{KeysCame: keyring.Missed}), service: New(db.Pool, &keys, Options{})}
	keyring.OnChange(func(keys Keys) {
		p.verifier.Rotate(keys)
		p.service.UseKeys(keys)
	})
	return p
}

func (p *process) sign(t *testing.T) (raw, algorithm string) {
	t.Helper()
	signer := p.service.signer.Load()
	raw, err := signer.Sign(json.RawMessage(`{"sub":"` + uuid.NewString() + `","role":"authenticated","exp":9999999999}`))
	if err != nil {
		t.Fatal(err)
	}
	return raw, signer.Algorithm()
}

// look makes a process look again, as it does by itself every few seconds.
func (p *process) look(t *testing.T) {
	t.Helper()
	if err := p.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestASigningKeyIsPublishedThenSignsThenVerifiesThenIsRefused(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	a, b := newProcess(t, db), newProcess(t, db)
	shared, algorithm := a.sign(t)
	if algorithm != "HS256" || len(a.Keys().Signing.Public()) != 0 {
		t.Fatalf("without keys of one's own %s signs", algorithm)
	}
	all := map[string]string{}
	for _, algorithm := range token.PairAlgorithms() {
		id, err := AddSigningKey(t.Context(), db.Pool, vaultOf(db), algorithm)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := AddSigningKey(t.Context(), db.Pool, vaultOf(db), algorithm); !errors.Is(err, ErrStandbyThere) {
			t.Errorf("a second standby key: %v", err)
		}
		a.look(t)
		_, before := a.sign(t)
		if public := a.Keys().Signing.Public(); before == algorithm || len(public) != len(all)+1 {
			t.Errorf("a standby key signs, or is not published: %s, %v", before, public)
		}
		if promoted, err := PromoteSigningKey(t.Context(), db.Pool, 0); err != nil || promoted != id {
			t.Fatalf("promoted %q, %v", promoted, err)
		}
		a.look(t)
		raw, now := a.sign(t)
		if now != algorithm {
			t.Errorf("%s signs, not %s", now, algorithm)
		}
		all[id] = raw
	}
	if _, err := PromoteSigningKey(t.Context(), db.Pool, 0); !errors.Is(err, ErrNoStandby) {
		t.Errorf("promoting nothing: %v", err)
	}
	// The other process has not looked since its start: tokens of new keys make it look, once a second.
	for id, raw := range all {
		deadline := time.Now().Add(20 * time.Second)
		for _, err := b.verifier.Verify(raw); err != nil; _, err = b.verifier.Verify(raw) {
			if time.Now().After(deadline) {
				t.Fatalf("%s: %v", id, err)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	if _, err := b.verifier.Verify(shared); err != nil {
		t.Errorf("a token of the shared secret: %v", err)
	}
	listed, err := ListSigningKeys(t.Context(), db.Pool)
	if err != nil || len(listed) != 3 || listed[0].State != token.StateCurrent || listed[0].Algorithm != "EdDSA" {
		t.Fatalf("%+v, %v", listed, err)
	}
	if err := RevokeSigningKey(t.Context(), db.Pool, listed[0].ID); !errors.Is(err, ErrKeyInUse) {
		t.Errorf("revoking the current key: %v", err)
	}
	if err := RevokeSigningKey(t.Context(), db.Pool, "none"); !errors.Is(err, ErrNoSuchKey) {
		t.Errorf("revoking none: %v", err)
	}
	for _, key := range listed[1:] {
		if err := RevokeSigningKey(t.Context(), db.Pool, key.ID); err != nil {
			t.Fatal(err)
		}
		a.look(t)
		b.look(t)
		for _, p := range []*process{a, b} {
			if _, err := p.verifier.Verify(all[key.ID]); err == nil {
				t.Error("a token of a revoked key is believed")
			}
			if _, err := p.verifier.Verify(all[listed[0].ID]); err != nil {
				t.Errorf("the current key's: %v", err)
			}
			if _, err := p.verifier.Verify(testKeys(t).AnonKey); err != nil {
				t.Errorf("the anon key: %v", err)
			}
		}
	}
}

func TestKeysOfTheOperatorSignAndThoseOfTheDatabaseGoOnToVerify(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	if _, err := AddSigningKey(t.Context(), db.Pool, vaultOf(db), "ES256"); err != nil {
		t.Fatal(err)
	}
	if _, err := PromoteSigningKey(t.Context(), db.Pool, 0); err != nil {
		t.Fatal(err)
	}
	older, _ := newProcess(t, db).sign(t)
	own, err := token.NewPair("EdDSA")
	if err != nil {
		t.Fatal(err)
	}
	own.State = token.StateCurrent
	p := newProcess(t, db, own)
	if _, algorithm := p.sign(t); algorithm != "EdDSA" {
		t.Errorf("%s signs", algorithm)
	}
	if _, err := p.verifier.Verify(older); err != nil {
		t.Errorf("a token of the database's key: %v", err)
	}
	if len(p.Keys().Signing.Public()) != 2 {
		t.Error("not both are published")
	}
}

func TestManyWhoPromoteOrAddAtOnceLeaveOneCurrentKey(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	var group sync.WaitGroup
	for range 12 {
		group.Go(func() {
			if _, err := AddSigningKey(t.Context(), db.Pool, vaultOf(db), "EdDSA"); err != nil && !errors.Is(err, ErrStandbyThere) {
				t.Error(err)
			}
			if _, err := PromoteSigningKey(t.Context(), db.Pool, 0); err != nil && !errors.Is(err, ErrNoStandby) {
				t.Error(err)
			}
		})
	}
	group.Wait()
	listed, err := ListSigningKeys(t.Context(), db.Pool)
	if err != nil {
		t.Fatal(err)
	}
	current := 0
	for _, key := range listed {
		if key.State == token.StateCurrent {
			current++
		}
	}
	if current != 1 {
		t.Errorf("%d keys are current of %+v", current, listed)
	}
}

func TestUnknownKeysMakeAProcessLookSeldom(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	p := newProcess(t, db)
	stranger, err := token.NewPair("EdDSA")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := stranger.Signer().Sign(json.RawMessage(`{"exp":9999999999}`))
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	before := db.Pool.Stat().AcquireCount()
	for range 10_000 {
		if _, err := p.verifier.Verify(raw); err == nil {
			t.Fatal("a stranger's token is believed")
		}
	}
	if looks, most := db.Pool.Stat().AcquireCount()-before, int64(time.Since(began)/keyringSpacing)+1; looks > most {
		t.Errorf("%d looks, %d are the most", looks, most)
	}
}

func TestAProcessServesOnWhileTheKeysCannotBeRead(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	if _, err := AddSigningKey(t.Context(), db.Pool, vaultOf(db), "ES256"); err != nil {
		t.Fatal(err)
	}
	if _, err := PromoteSigningKey(t.Context(), db.Pool, 0); err != nil {
		t.Fatal(err)
	}
	p := newProcess(t, db)
	raw, _ := p.sign(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Look(ctx); err == nil {
		t.Fatal("the look succeeds")
	}
	if _, err := p.verifier.Verify(raw); err != nil {
		t.Error(err)
	}
}

func TestNoPrivateHalfIsReadableInTheDatabase(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	id, err := AddSigningKey(t.Context(), db.Pool, vaultOf(db), "ES256")
	if err != nil {
		t.Fatal(err)
	}
	var public, private string
	if err := db.Pool.QueryRow(t.Context(), `select public_key::text, private_key from basalt.signing_keys where id = $1`, id).Scan(&public, &private); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(public, `"d"`) || seal.IsClear(private) {
		t.Errorf("%s, %s", public, private)
	}
}

func TestAHookCannotMakeAUsersTokenOfAClients(t *testing.T) {
	held := grant{standing: standing{client: uuid.New()}}
	own := `{"client_id":"` + held.client.String() + `"}`
	for claims, kept := range map[string]bool{own: true, `{}`: false, `{"client_id":null}`: false, `{"client_id":""}`: false, `{"client_id":"` + uuid.NewString() + `"}`: false, `{"client_id":7}`: false} {
		if err := held.keepsClient(json.RawMessage(claims)); (err == nil) != kept {
			t.Errorf("%s: %v", claims, err)
		}
	}
	if err := (grant{}).keepsClient(json.RawMessage(`{}`)); err != nil {
		t.Errorf("a user's own: %v", err)
	}
}
