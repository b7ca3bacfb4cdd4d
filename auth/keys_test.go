package auth

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"basalt/store/storetest"
)

func TestProcessesOverOneDatabaseServeTheSameKeys(t *testing.T) {
	db := storetest.New(t)
	found := make([]*Keys, 10)
	var group sync.WaitGroup
	for i := range found {
		group.Go(func() {
			keys, err := LoadKeys(t.Context(), db.Pool, "")
			if err != nil {
				t.Error(err)
				return
			}
			found[i] = keys
		})
	}
	group.Wait()
	if t.Failed() {
		return
	}
	for _, keys := range found {
		if *keys != *found[0] {
			t.Fatal("two processes have different keys")
		}
	}
	if len(found[0].Secret) < MinSecretLength {
		t.Error("the secret is short")
	}
	later, err := LoadKeys(t.Context(), db.Pool, "")
	if err != nil {
		t.Fatal(err)
	}
	if *later != *found[0] {
		t.Error("a later start has other keys")
	}
}

func TestAGivenSecretWins(t *testing.T) {
	db := storetest.New(t)
	own, err := LoadKeys(t.Context(), db.Pool, "")
	if err != nil {
		t.Fatal(err)
	}
	given, err := LoadKeys(t.Context(), db.Pool, testSecret)
	if err != nil {
		t.Fatal(err)
	}
	if given.Secret != testSecret || given.AnonKey == own.AnonKey {
		t.Error("the given secret is not used")
	}
	again, err := LoadKeys(t.Context(), db.Pool, testSecret)
	if err != nil {
		t.Fatal(err)
	}
	if *again != *given {
		t.Error("the API keys of one secret change")
	}
	var kept int
	if err := db.Pool.QueryRow(t.Context(), `select count(*) from basalt.secrets where value like '%' || $1 || '%'`, testSecret).Scan(&kept); err != nil {
		t.Fatal(err)
	}
	if kept != 0 {
		t.Error("a given secret is written to the database")
	}
	p, err := NewVerifier(*given, VerifierOptions{}).Verify(given.ServiceKey.Reveal())
	if err != nil {
		t.Fatal(err)
	}
	if !p.APIKeyOnly || p.Role != RoleService || time.Until(p.ExpiresAt) < 9*365*24*time.Hour {
		t.Errorf("the service key stands for %+v", p)
	}
}

func TestAShortSecretIsRefused(t *testing.T) {
	db := storetest.New(t)
	if _, err := LoadKeys(t.Context(), db.Pool, Secret(strings.Repeat("x", 31))); !errors.Is(err, ErrShortSecret) {
		t.Errorf("31 bytes: %v", err)
	}
	if _, err := LoadKeys(t.Context(), db.Pool, Secret(strings.Repeat("x", 32))); err != nil {
		t.Errorf("32 bytes: %v", err)
	}
}

func TestNoRoleOfTheAPIReadsSecrets(t *testing.T) {
	db := storetest.New(t)
	if _, err := LoadKeys(t.Context(), db.Pool, ""); err != nil {
		t.Fatal(err)
	}
	for _, role := range []string{"anon", "authenticated", "service_role", "authenticator"} {
		for _, table := range []string{"basalt.secrets", "basalt.rate_limits", "basalt.signing_keys"} {
			conn, err := db.Pool.Acquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := conn.Exec(t.Context(), `set role `+role); err != nil {
				t.Fatal(err)
			}
			if _, err := conn.Exec(t.Context(), `select * from `+table); err == nil {
				t.Errorf("%s reads %s", role, table)
			}
			if _, err := conn.Exec(t.Context(), `reset role`); err != nil {
				t.Fatal(err)
			}
			conn.Release()
		}
	}
}
