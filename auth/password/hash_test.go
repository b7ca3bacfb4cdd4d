package password

import (
	"bytes"
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
		"in full-width letters":     "\uff23af\u00e9 au lait",
	} {
		if !verify(t, stored, typed) {
			t.Errorf("%s it is refused", name)
		}
	}
	for name, typed := range map[string]string{
		"in another case":         "caf\u00e9 au lait",
		"without the accent":      "Cafe au lait",
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
	const (
		// From the reference implementation: argon2 with the salt "somesalt".
		reference = "$argon2i$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$wWKIMhR9lyDFvRz9YTZweHKfbftvj+qf+YFY4NeBbtA"
		// From the README of github.com/firebase/scrypt.
		firebase = "$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==$42xEC+ixf3L2lw==$lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ=="
		// From RFC 6070 §2: the salt "salt", 4096 iterations.
		rfc6070 = "$pbkdf2-sha1$i=4096$c2FsdA$SwB5AbdlSJq+rUnZJvch0GWkKcE="
		// From the documentation of passlib.
		passlib = "$pbkdf2-sha256$6400$.6UI/S.nXIk8jcbdHx3Fhg$98jZicV16ODfEsEZeYPGHU3kbrUrvUEXOPimVSQDD44"
	)
	for _, c := range []struct {
		stored, password string
		fits             bool
	}{
		{string(old), "Secret-pass-1", true},
		{string(old), "Secret-pass-2", false},
		{php, "Secret-pass-1", true},
		{reference, "password", true},
		{reference, "Password", false},
		{firebase, "user1password", true},
		{firebase, "user1passwore", false},
		{rfc6070, "password", true},
		{rfc6070, "passwords", false},
		{passlib, "password", true},
		{strings.Replace(passlib, "$6400$", "$i=6400$", 1), "password", true},
		{passlib, "passwore", false},
	} {
		if got := verify(t, c.stored, c.password); got != c.fits {
			t.Errorf("%q against %s: %v", c.password, c.stored, got)
		}
		if err := Check(c.stored); err != nil {
			t.Errorf("%s: %v", c.stored, err)
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
	const (
		bcrypt   = "$2a$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy"
		pbkdf2   = "$pbkdf2-sha256$i=1000$c29tZXNhbHQ$98jZicV16ODfEsEZeYPGHU3kbrUrvUEXOPimVSQDD44"
		firebase = "$fbscrypt$v=1,n=4,r=8,p=1,ss=Bw==,sk=jxspr8Ki0RYycVU8zykbdA==$42xEC+ixf3L2lw==$lSrfV15cpx95/sZS2W9c9A=="
	)
	for _, stored := range []string{bcrypt, pbkdf2, firebase} {
		if err := Check(stored); err != nil {
			t.Fatal(err)
		}
	}
	for name, stored := range map[string]string{
		"plain text":                       "Secret-pass-1",
		"nothing":                          "",
		"a dollar sign":                    "$",
		"a beginning":                      "$2",
		"an unknown kind":                  "$scrypt$ln=16,r=8,p=1$aM15713r3Xsvxbi31lqr1Q$nFNh2CVHVjNldFVKDHDlm4CbdRSCdEBsjjJxD+iCs5E",
		"more than the column takes":       good + strings.Repeat("A", 200),
		"bcrypt cut short":                 "$2a$10$abc",
		"bcrypt with a costly year":        strings.Replace(bcrypt, "$10$", "$31$", 1),
		"bcrypt just too costly":           strings.Replace(bcrypt, "$10$", "$16$", 1),
		"a bcrypt that nobody makes":       strings.Replace(bcrypt, "$2a$", "$2x$", 1),
		"bcrypt in another alphabet":       strings.Replace(bcrypt, "N9qo8uLO", "N9qo+uLO", 1),
		"4 GiB of Argon2":                  strings.Replace(good, "m=64", "m=4194304", 1),
		"more memory than we own":          strings.Replace(good, "m=64", "m=4294967295", 1),
		"memory beyond any number":         strings.Replace(good, "m=64", "m=99999999999999999999999", 1),
		"endless passes":                   strings.Replace(good, "t=1", "t=4294967295", 1),
		"passes over much memory":          strings.Replace(strings.Replace(good, "t=1", "t=32", 1), "m=64", "m=262144", 1),
		"too many lanes":                   strings.Replace(good, "p=1", "p=255", 1),
		"no memory":                        strings.Replace(good, "m=64", "m=0", 1),
		"no lanes":                         strings.Replace(good, "p=1", "p=0", 1),
		"a cost that is missing":           strings.Replace(good, ",p=1", "", 1),
		"a cost twice":                     strings.Replace(good, "p=1", "p=1,p=1", 1),
		"a cost that nobody knows":         strings.Replace(good, "p=1", "p=1,q=1", 1),
		"another version":                  strings.Replace(good, "v=19", "v=16", 1),
		"argon2d":                          strings.Replace(good, "argon2id", "argon2d", 1),
		"no key":                           good[:strings.LastIndex(good, "$")+1],
		"one part too many":                good + "$x",
		"PBKDF2 without iterations":        strings.Replace(pbkdf2, "i=1000", "i=0", 1),
		"PBKDF2 for a week":                strings.Replace(pbkdf2, "i=1000", "i=5000001", 1),
		"PBKDF2 with iterations below one": strings.Replace(pbkdf2, "i=1000", "-5", 1),
		"PBKDF2 by MD5":                    strings.Replace(pbkdf2, "sha256", "md5", 1),
		"PBKDF2 without a key":             pbkdf2[:strings.LastIndex(pbkdf2, "$")+1],
		"Firebase's with 4 GiB":            strings.Replace(firebase, "n=4", "n=22", 1),
		"Firebase's with no cost":          strings.Replace(firebase, "n=4", "n=0", 1),
		"Firebase's with a wide block":     strings.Replace(firebase, "r=8", "r=4096", 1),
		"Firebase's over and over":         strings.Replace(strings.Replace(firebase, "p=1", "p=64", 1), "n=4", "n=15", 1),
		"Firebase's of a later version":    strings.Replace(firebase, "v=1", "v=2", 1),
		"Firebase's without a key":         strings.Replace(firebase, "sk=jxspr8Ki0RYycVU8zykbdA==", "sk=", 1),
		"Firebase's with a broken salt":    strings.Replace(firebase, "42xEC", "*****", 1),
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

func TestAHashOverAnotherFormOfThePasswordFits(t *testing.T) {
	typed := "Cafe\u0301 au lait" // as some keyboards write it, and systems that do not normalise hash it
	elsewhere, err := bcrypt.GenerateFromPassword([]byte(typed), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	if !verify(t, string(elsewhere), typed) {
		t.Error("the password as it was typed does not fit")
	}
	composed, err := bcrypt.GenerateFromPassword([]byte(Normalize(typed)), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	if !verify(t, string(composed), typed) {
		t.Error("the normal form does not fit")
	}
	if verify(t, string(elsewhere), "Cafe au lait") {
		t.Error("another password fits")
	}
}

func TestFirebaseHashesAreStoredAsSupabaseStoresThem(t *testing.T) {
	project := Firebase{
		SignerKey:     bytes.Repeat([]byte{1}, 64),
		SaltSeparator: []byte{7}, Rounds: 8, MemoryCost: 4,
	}
	stored, err := project.Stored("lSrfV15cpx95_sZS2W9c9Kp6i_LVgQNDNC_qzrCnh1SAyZvqmZqAjTdn3aoItz-VHjoZilo78198JAdRuid5lQ==", "42xEC-ixf3L2lw==")
	if err != nil || !strings.HasPrefix(stored, "$fbscrypt$v=1,n=4,r=8,p=1,ss=Bw==,sk=AQEB") || !strings.HasSuffix(stored, "$42xEC+ixf3L2lw==$lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==") {
		t.Error(stored, err)
	}
	for name, wrong := range map[string]func() (string, error){
		"no base64":      func() (string, error) { return project.Stored("*", "AAAA") },
		"an empty hash":  func() (string, error) { return project.Stored("", "AAAA") },
		"a broken salt":  func() (string, error) { return project.Stored("AAAA", "*") },
		"no parameters":  func() (string, error) { return Firebase{}.Stored("AAAA", "AAAA") },
		"too much a row": func() (string, error) { return project.Stored(strings.Repeat("A", 400), "AAAA") },
	} {
		if _, err := wrong(); !errors.Is(err, ErrUnknownHash) {
			t.Errorf("%s: %v", name, err)
		}
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
