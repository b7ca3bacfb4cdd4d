package auth

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"basalt/auth/password"
)

const (
	bcryptDecoy = "$2a$10$....................................................."
	argonDecoy  = "$argon2id$v=19$m=64,t=1,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	phpDecoy    = "$pbkdf2-sha256$i=1000$AAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
)

// surveyed gives decoys after a survey.
func surveyed(t *testing.T, survey string, args ...any) *decoys {
	t.Helper()
	d := newDecoys("a secret of the project that has many bytes", argonDecoy)
	if err := d.take(fmt.Appendf(nil, survey, args...)); err != nil {
		t.Fatal(err)
	}
	return d
}

// shares counts which decoys many addresses take.
func (d *decoys) shares(addresses int) map[string]float64 {
	shares := map[string]float64{}
	for i := range addresses {
		shares[d.of(fmt.Sprintf("nobody-%d@example.com", i))] += 1 / float64(addresses)
	}
	return shares
}

func TestAddressesOfNobodyTakeEachKindAsOftenAsAccountsHaveIt(t *testing.T) {
	d := surveyed(t, `{%q: 600, %q: 300, %q: 100}`, bcryptDecoy, argonDecoy, phpDecoy)
	shares := d.shares(10_000)
	for decoy, want := range map[string]float64{bcryptDecoy: 0.6, argonDecoy: 0.3, phpDecoy: 0.1} {
		// Six standard deviations; the key is fixed, and so is what is drawn.
		if got := shares[decoy]; math.Abs(got-want) > 6*math.Sqrt(want*(1-want)/10_000) {
			t.Errorf("%s is taken by %.3f of the addresses, not %.3f", decoy, got, want)
		}
	}
	for range 3 {
		if d.of("somebody@example.com") != surveyed(t, `{%q: 600, %q: 300, %q: 100}`, bcryptDecoy, argonDecoy, phpDecoy).of("somebody@example.com") {
			t.Fatal("an address takes one kind now and another then")
		}
	}
}

func TestAddressesOfNobodyMoveOnAsAccountsDo(t *testing.T) {
	before := surveyed(t, `{%q: 900, %q: 100}`, bcryptDecoy, argonDecoy)
	after := surveyed(t, `{%q: 500, %q: 500}`, bcryptDecoy, argonDecoy)
	moved := 0
	for i := range 5000 {
		address := fmt.Sprintf("nobody-%d@example.com", i)
		was, is := before.of(address), after.of(address)
		if was == argonDecoy && is != argonDecoy {
			t.Fatalf("%s has gone back to the old kind, as no account would", address)
		}
		if was != is {
			moved++
		}
	}
	if moved < 1800 || moved > 2200 {
		t.Errorf("%d of 5000 have moved on, not some 2000", moved)
	}
}

func TestWhileNothingIsKnownTheHashOfNewAccountsIsTaken(t *testing.T) {
	for name, d := range map[string]*decoys{
		"before the first survey": newDecoys("a secret of the project that has many bytes", argonDecoy),
		"without accounts":        surveyed(t, `{}`),
		"with what is no hash":    surveyed(t, `{"$2a$31$%s": 7, "secret": 9, %q: 0}`, strings.Repeat(".", 53), bcryptDecoy),
	} {
		if got := d.of("nobody@example.com"); got != argonDecoy {
			t.Errorf("%s: %s", name, got)
		}
	}
	if err := newDecoys("", argonDecoy).take([]byte(`[`)); err == nil {
		t.Error("a broken survey is taken")
	}
}

func TestDecoysFitNoPassword(t *testing.T) {
	for _, decoy := range []string{bcryptDecoy, argonDecoy, phpDecoy} {
		for _, try := range []string{"", "\x00", "correct horse battery"} {
			if ok, err := password.Verify(decoy, try); ok || err != nil {
				t.Errorf("%q against %s: %v, %v", try, decoy, ok, err)
			}
		}
	}
}
