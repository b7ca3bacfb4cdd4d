package seal

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"basalt/store/storetest"
)

func fixed(ring ...Key) Masters {
	return func() (Ring, error) { return ring, nil }
}

func TestProcessesOverOneDatabaseOpenEachOthersTexts(t *testing.T) {
	db := storetest.New(t)
	master := key()
	vaults := make([]*Vault, 8)
	texts := make([]string, len(vaults))
	var group sync.WaitGroup
	for i := range vaults {
		vaults[i] = NewVault(db.Pool, fixed(master))
		group.Go(func() {
			var err error
			if texts[i], err = vaults[i].Seal(t.Context(), "secret", place); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	for _, v := range vaults {
		for _, text := range texts {
			if plain, _, err := v.Open(t.Context(), text, place); err != nil || plain != "secret" {
				t.Fatalf("%q, %v", plain, err)
			}
		}
	}
}

func TestTheDatabaseAloneDoesNotOpenWhatItKeeps(t *testing.T) {
	db := storetest.New(t)
	text, err := NewVault(db.Pool, fixed(key())).Seal(t.Context(), "secret", place)
	if err != nil {
		t.Fatal(err)
	}
	var unknown *UnknownKeyError
	if err := NewVault(db.Pool, fixed(key())).Check(t.Context()); !errors.As(err, &unknown) {
		t.Errorf("the check of another master key: %v", err)
	}
	if _, _, err := NewVault(db.Pool, fixed(key())).Open(t.Context(), text, place); !errors.As(err, &unknown) {
		t.Errorf("another master key: %v", err)
	}
	if _, err := NewVault(db.Pool, fixed(key())).Seal(t.Context(), "secret", place); !errors.As(err, &unknown) {
		t.Errorf("another master key seals: %v", err)
	}
}

func TestSecretsOfADumpAreReadAndAreStale(t *testing.T) {
	db := storetest.New(t)
	v := NewVault(db.Pool, fixed(key()))
	if err := v.Check(t.Context()); err != nil {
		t.Error(err)
	}
	plain, stale, err := v.Open(t.Context(), "JBSWY3DPEHPK3PXP", place)
	if err != nil || plain != "JBSWY3DPEHPK3PXP" || !stale {
		t.Errorf("%q, %v, %v", plain, stale, err)
	}
	text, err := v.Seal(t.Context(), plain, place)
	if err != nil || strings.Contains(text, plain) {
		t.Fatalf("%q, %v", text, err)
	}
	if plain, stale, err = v.Open(t.Context(), text, place); err != nil || plain != "JBSWY3DPEHPK3PXP" || stale {
		t.Errorf("%q, %v, %v", plain, stale, err)
	}
}

func TestRowsWhoseTextsWereSwappedAreRefused(t *testing.T) {
	db := storetest.New(t)
	v := NewVault(db.Pool, fixed(key()))
	db.Exec(t, `create table kept (id text primary key, secret text)`)
	cells := map[string]Cell{}
	for _, id := range []string{"mallory", "alice"} {
		cells[id] = Cell{Table: "kept", Row: id, Column: "secret"}
		text, err := v.Seal(t.Context(), "secret of "+id, cells[id])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Pool.Exec(t.Context(), `insert into kept values ($1, $2)`, id, text); err != nil {
			t.Fatal(err)
		}
	}
	db.Exec(t, `update kept k set secret = o.secret from kept o where o.id <> k.id`)
	for id, cell := range cells {
		var text string
		if err := db.Pool.QueryRow(t.Context(), `select secret from kept where id = $1`, id).Scan(&text); err != nil {
			t.Fatal(err)
		}
		if plain, _, err := v.Open(t.Context(), text, cell); !errors.Is(err, ErrBroken) || plain != "" {
			t.Errorf("%s: %q, %v", id, plain, err)
		}
	}
}
