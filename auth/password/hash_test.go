package password

import (
	"errors"
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"
)

// light keeps tests fast; what they show does not depend on the costs.
func light() Parameters { return Parameters{MemoryKiB: 64, Passes: 1, Lanes: 1} }

func verify(t *testing.T, stored, password string) bool {
	t.Helper()
	ok, err := Verify(stored, password)
	if err != nil {
		t.Fatalf("verify %q: %v", stored, err)
	}
	return ok
}

func hash(t *testing.T, password string) string {
	t.Helper()
	stored, err := light().Hash(password)
	if err != nil {
		t.Fatal(err)
	}
	return stored
}

func TestRecommendedCostsAreOWASPs(t *testing.T) {
	stored, err := Recommended().Hash("Secret-pass-1")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(stored, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Errorf("the hash is %s", stored)
	}
	if len(stored) > 255 {
		t.Errorf("the hash has %d characters, more than the column takes", len(stored))
	}
	if !verify(t, stored, "Secret-pass-1") {
		t.Error("the password does not fit its hash")
	}
}

func TestPasswordsCountToTheirLastByte(t *testing.T) {
	long := strings.Repeat("x", 3000)
	stored := hash(t, long+"A")
	if !verify(t, stored, long+"A") || verify(t, stored, long+"B") || verify(t, stored, long) || verify(t, stored, "") {
		t.Error("the end of a long password does not count")
	}
	if first, second := hash(t, "same"), hash(t, "same"); first == second {
		t.Error("two hashes of one password are equal")
	}
}

func TestOnePasswordTypedInTwoWaysIsOne(t *testing.T) {
	stored := hash(t, "Caf\u00e9 au lait")
	for name, typed := range map[string]string{
		"with a combining accent":   "Cafe\u0301 au lait",
		"with a no-break space":     "Caf\u00e9\u00a0au lait",
		"with an ideographic space": "Caf\u00e9\u3000au lait",
	} {
		if !verify(t, stored, typed) {
			t.Errorf("%s it is refused", name)
		}
	}
	for name, typed := range map[string]string{
		"in another case":         "caf\u00e9 au lait",
		"without the accent":      "Cafe au lait",
		"in full-width letters":   "Ｃaf\u00e9 au lait",
		"with a blank at the end": "Caf\u00e9 au lait ",
	} {
		if verify(t, stored, typed) {
			t.Errorf("%s it passes", name)
		}
	}
}

func TestHashesOfOtherSystemsAreChecked(t *testing.T) {
	old, err := bcrypt.GenerateFromPassword([]byte("Secret-pass-1"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	php := "$2y$" + string(old[4:])
	// From the reference implementation: argon2 with the salt "somesalt".
	reference := "$argon2i$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$wWKIMhR9lyDFvRz9YTZweHKfbftvj+qf+YFY4NeBbtA"
	for _, c := range []struct {
		stored, password string
		fits, readable   bool
	}{
		{string(old), "Secret-pass-1", true, true},
		{string(old), "Secret-pass-2", false, true},
		{php, "Secret-pass-1", true, true},
		{reference, "password", true, true},
		{reference, "Password", false, true},
	} {
		if got := verify(t, c.stored, c.password); got != c.fits {
			t.Errorf("%q against %s: %v", c.password, c.stored, got)
		}
		if Readable(c.stored) != c.readable {
			t.Errorf("%s is readable: %v", c.stored, Readable(c.stored))
		}
		if !light().Outdated(c.stored) {
			t.Errorf("%s is not replaced", c.stored)
		}
	}
	long := strings.Repeat("x", 72)
	cut, err := bcrypt.GenerateFromPassword([]byte(long), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	if !verify(t, string(cut), long) || verify(t, string(cut), long+"B") {
		t.Error("bcrypt compares the beginning of a password only")
	}
}

func TestHashesThatCannotBeTrustedAreRefused(t *testing.T) {
	good := hash(t, "Secret-pass-1")
	for name, stored := range map[string]string{
		"plain text":              "Secret-pass-1",
		"nothing":                 "",
		"an unknown kind":         "$scrypt$ln=16,r=8,p=1$aM15713r3Xsvxbi31lqr1Q$nFNh2CVHVjNldFVKDHDlm4CbdRSCdEBsjjJxD+iCs5E",
		"bcrypt cut short":        "$2a$10$abc",
		"more memory than we own": strings.Replace(good, "m=64", "m=4294967295", 1),
		"endless passes":          strings.Replace(good, "t=1", "t=4294967295", 1),
		"too many lanes":          strings.Replace(good, "p=1", "p=255", 1),
		"no memory":               strings.Replace(good, "m=64", "m=0", 1),
		"no lanes":                strings.Replace(good, "p=1", "p=0", 1),
		"another version":         strings.Replace(good, "v=19", "v=16", 1),
		"argon2d":                 strings.Replace(good, "argon2id", "argon2d", 1),
		"no key":                  good[:strings.LastIndex(good, "$")+1],
		"one part too many":       good + "$x",
	} {
		ok, err := Verify(stored, "Secret-pass-1")
		if ok || !errors.Is(err, ErrUnknownHash) {
			t.Errorf("%s: %v, %v", name, ok, err)
		}
		if Readable(stored) {
			t.Errorf("%s is said to be readable", name)
		}
	}
}

func TestOutdatedHashesAreThoseWithOtherCosts(t *testing.T) {
	if light().Outdated(hash(t, "x")) {
		t.Error("a fresh hash is outdated")
	}
	if !Recommended().Outdated(hash(t, "x")) {
		t.Error("a hash with lighter costs is not outdated")
	}
}

func TestNoPasswordFitsTheDummy(t *testing.T) {
	for _, password := range []string{"", "x", "Secret-pass-1", strings.Repeat("\x00", 32)} {
		if verify(t, light().Dummy(), password) {
			t.Errorf("%q fits", password)
		}
	}
	if light().Outdated(light().Dummy()) {
		t.Error("the dummy costs something else than a real hash")
	}
}
