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
