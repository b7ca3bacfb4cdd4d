package factor

import (
	"regexp"
	"strings"
	"testing"
)

func TestRecoveryCodesAreManyAndReadable(t *testing.T) {
	seen := map[string]bool{}
	form := regexp.MustCompile(`^[a-z2-7]{16}$`)
	for range 20 {
		codes := NewRecoveryCodes()
		if len(codes) != 10 {
			t.Fatalf("%d codes", len(codes))
		}
		for _, code := range codes {
			if !form.MatchString(code) || seen[code] {
				t.Errorf("the code %q", code)
			}
			seen[code] = true
		}
	}
}

func TestTypedCodesAreReadAsTheyWereMeant(t *testing.T) {
	for typed, want := range map[string]string{
		"abcd2345": "abcd2345", "ABCD-2345": "abcd2345", " ab cd\t23-45\n": "abcd2345", "": "", " - ": "",
	} {
		if got := NormalizeRecoveryCode(typed); got != want {
			t.Errorf("%q is %q", typed, got)
		}
	}
}

func TestTheHashOfACodeBelongsToItsSet(t *testing.T) {
	a, b := RecoveryHash("set a", "abcd"), RecoveryHash("set b", "abcd")
	if a == b || a != RecoveryHash("set a", "abcd") || !strings.HasPrefix(a, "sha256:") || strings.Contains(a, "abcd\x00") {
		t.Errorf("%s, %s", a, b)
	}
}
