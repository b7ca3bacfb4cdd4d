package seal

import (
	"errors"
	"strings"
	"testing"
)

var place = Cell{Table: "auth.mfa_factors", Row: "11111111-1111-4111-8111-111111111111", Column: "secret"}

func key() Key {
	k, _ := random()
	return k
}

func TestASealedSecretOpensInItsPlace(t *testing.T) {
	ring := Ring{key()}
	for _, plain := range []string{"", "a", "JBSWY3DPEHPK3PXP", strings.Repeat("long ", 1000), "\x00\xff enc:v1:"} {
		text := ring.Seal(plain, place)
		if !strings.HasPrefix(text, "enc:v1:"+ring[0].ID()+":") {
			t.Errorf("the text is %q", text)
		}
		if len(plain) > 8 && strings.Contains(text, plain) {
			t.Error("the secret can be read")
		}
		if again := ring.Seal(plain, place); again == text {
			t.Error("two sealed texts are the same")
		}
		if got, err := ring.Open(text, place); err != nil || got != plain {
			t.Errorf("opened: %q, %v", got, err)
		}
	}
}

func TestASealedSecretDoesNotOpenInAnotherPlace(t *testing.T) {
	ring := Ring{key()}
	text := ring.Seal("JBSWY3DPEHPK3PXP", place)
	row, column, table, shifted := place, place, place, place
	row.Row = "22222222-2222-4222-8222-222222222222"
	column.Column = "phone"
	table.Table = "auth.users"
	shifted.Table, shifted.Row = place.Table+place.Row, ""
	for name, other := range map[string]Cell{"row": row, "column": column, "table": table, "split": shifted} {
		if plain, err := ring.Open(text, other); !errors.Is(err, ErrBroken) || plain != "" {
			t.Errorf("another %s: %q, %v", name, plain, err)
		}
	}
}

func TestOpeningTellsWhatIsWrong(t *testing.T) {
	ring, other := Ring{key()}, Ring{key()}
	text := ring.Seal("JBSWY3DPEHPK3PXP", place)
	head := "enc:v1:" + ring[0].ID() + ":"
	for name, broken := range map[string]string{
		"a changed end": text[:len(text)-2] + flip(text[len(text)-2:]), "a cut end": text[:len(text)-4], "nothing inside": head,
		"a later version": "enc:v2:" + text[len("enc:v1:"):], "no id": "enc:v1:AAAA", "no base64": head + "!!!!", "a line break": text + "\n",
	} {
		if _, err := ring.Open(broken, place); !errors.Is(err, ErrBroken) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for i := len(head); i < len(text)-1; i++ {
		if _, err := ring.Open(text[:i]+flip(text[i:i+1])+text[i+1:], place); !errors.Is(err, ErrBroken) {
			t.Fatalf("changed at %d: %v", i, err)
		}
	}
	var unknown *UnknownKeyError
	if _, err := other.Open(text, place); !errors.As(err, &unknown) || unknown.ID != ring[0].ID() {
		t.Errorf("another ring: %v", err)
	}
	for _, clear := range []string{"", "JBSWY3DPEHPK3PXP", "encoded"} {
		if _, err := ring.Open(clear, place); !errors.Is(err, ErrClear) {
			t.Errorf("%q: %v", clear, err)
		}
	}
}

// flip changes each character of a base64 text.
func flip(text string) string {
	return strings.Map(func(r rune) rune {
		if r == 'A' {
			return 'B'
		}
		return 'A'
	}, text)
}

func TestOlderKeysStillOpen(t *testing.T) {
	older, current := key(), key()
	text := Ring{older}.Seal("secret", place)
	ring := Ring{current, older}
	if plain, err := ring.Open(text, place); err != nil || plain != "secret" {
		t.Errorf("%q, %v", plain, err)
	}
	if ring.Current(text) || !ring.Current(ring.Seal("secret", place)) || ring.Current("secret") {
		t.Error("what is sealed under the current key is not told apart")
	}
}

func TestAKeyIsDerivedForItsPurpose(t *testing.T) {
	secret := strings.Repeat("s", 40)
	a, again, b := Derive(secret, "a"), Derive(secret, "a"), Derive(secret, "b")
	if a.ID() != again.ID() || a.ID() == b.ID() {
		t.Error("derived keys are wrong")
	}
	if plain, err := (Ring{again}).Open(Ring{a}.Seal("x", place), place); err != nil || plain != "x" {
		t.Errorf("%q, %v", plain, err)
	}
}

func TestSealingAllocatesTheSameForAllSizes(t *testing.T) {
	ring := Ring{key()}
	for _, size := range []int{16, 32, 4096} {
		plain := strings.Repeat("x", size)
		text := ring.Seal(plain, place)
		if n := testing.AllocsPerRun(100, func() { ring.Seal(plain, place) }); n > 5 {
			t.Errorf("sealing %d bytes allocates %v times", size, n)
		}
		if n := testing.AllocsPerRun(100, func() { _, _ = ring.Open(text, place) }); n > 4 {
			t.Errorf("opening %d bytes allocates %v times", size, n)
		}
	}
}

func FuzzOpen(f *testing.F) {
	ring := Ring{Derive("fuzz", "test")}
	f.Add(ring.Seal("secret", place))
	f.Add("enc:v1:" + ring[0].ID() + ":")
	// Nothing opens but what was sealed, and nothing panics.
	f.Fuzz(func(t *testing.T, text string) {
		if plain, err := ring.Open(text, place); err == nil && plain != "secret" {
			t.Errorf("%q opens to %q", text, plain)
		}
	})
}
