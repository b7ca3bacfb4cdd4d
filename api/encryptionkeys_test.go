package api

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"basalt/auth"
	"basalt/auth/seal"
)

var somewhere = seal.Cell{Table: "t", Row: "1", Column: "c"}

func TestTheDataFolderGetsOneEncryptionKeyThatOnlyItsOwnerReads(t *testing.T) {
	s := &Settings{Data: t.TempDir()}
	rings := make([]seal.Ring, 8)
	var group sync.WaitGroup
	for i := range rings {
		group.Go(func() {
			ring, err := s.EncryptionKeys("some JWT secret")()
			if err != nil {
				t.Error(err)
			}
			rings[i] = ring
		})
	}
	group.Wait()
	for _, ring := range rings {
		if len(ring) != 2 || ring[0].ID() != rings[0][0].ID() || ring[1].ID() != auth.DerivedEncryptionKey("some JWT secret").ID() {
			t.Fatal("the keys differ")
		}
	}
	found, err := os.ReadDir(s.Data)
	if err != nil || len(found) != 1 {
		t.Fatalf("%v, %v", found, err)
	}
	info, err := found[0].Info()
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestEncryptionKeysComeFromTheSettingThenFromTheJWTSecret(t *testing.T) {
	a, b := strings.Repeat("a", 32), strings.Repeat("b", 32)
	file := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(file, []byte(a+"\n"+b+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for given, want := range map[string]int{"": 1, a: 2, a + ", " + b: 3, "@" + file: 3} {
		s := &Settings{Data: t.TempDir(), DatabaseURL: "postgres://db/app", AccountSettings: AccountSettings{EncryptionKey: auth.Secret(given)}}
		ring, err := s.EncryptionKeys("some JWT secret")()
		if err != nil || len(ring) != want {
			t.Errorf("%q: %d keys, %v", given, len(ring), err)
			continue
		}
		if want > 1 {
			if plain, err := ring.Open((seal.Ring{seal.Derive(a, encryptionPurpose)}).Seal("x", somewhere), somewhere); err != nil || plain != "x" || ring[0].ID() != seal.Derive(a, encryptionPurpose).ID() {
				t.Errorf("%q: the first key is not the current one (%v)", given, err)
			}
		}
	}
	for _, given := range []string{"short", a + ",short", "@/does/not/exist"} {
		s := Defaults()
		s.EncryptionKey = auth.Secret(given)
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), "--encryption-key") {
			t.Errorf("%q: %v", given, err)
		}
	}
}

func TestAMasterKeyOfTheDataFolderIsReplaced(t *testing.T) {
	s := &Settings{Data: t.TempDir()}
	keys := func() seal.Ring {
		t.Helper()
		ring, err := s.EncryptionKeys("some JWT secret")()
		if err != nil {
			t.Fatal(err)
		}
		return ring[:len(ring)-1]
	}
	first := keys()[0].ID()
	for i, want := range []int{2, 2, 2} {
		if err := s.BeginRotation(); err != nil {
			t.Fatal(err)
		}
		if during := keys(); during[0].ID() == first || during[len(during)-1].ID() != first && i == 0 {
			t.Error("the new key is not the current one, or the old one is gone")
		}
		if err := s.EndRotation(); err != nil {
			t.Fatal(err)
		}
		if n := len(keys()); n != want {
			t.Errorf("%d keys are left", n)
		}
	}
	// Two that were cut off before their end lose no key.
	last := keys()[0].ID()
	for range 2 {
		if err := s.BeginRotation(); err != nil {
			t.Fatal(err)
		}
	}
	if ring := keys(); len(ring) != 4 || ring[2].ID() != last {
		t.Errorf("%d keys", len(ring))
	}
	info, err := os.Stat(filepath.Join(s.Data, encryptionKeyFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	s.DatabaseURL = "postgres://db/app"
	if err := s.BeginRotation(); err != nil {
		t.Error(err)
	}
	s.DatabaseURL = ""
	if n := len(keys()); n != 4 {
		t.Errorf("%d keys", n)
	}
}

func TestTheManagedDatabaseHasItsKeysAlsoUnderItsAddress(t *testing.T) {
	s := &Settings{Data: t.TempDir()}
	plain, err := s.EncryptionKeys("some JWT secret")()
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]int{filepath.Join(s.Data, "postgres"): 2, "/elsewhere": 1} {
		s.DatabaseURL = auth.Secret("postgres://postgres@/postgres?host=" + host)
		ring, err := s.EncryptionKeys("some JWT secret")()
		if err != nil || len(ring) != want || want == 2 && ring[0].ID() != plain[0].ID() {
			t.Errorf("%s: %d keys, %v", host, len(ring), err)
		}
	}
}
