package password

import (
	"slices"
	"strings"
	"testing"
)

func TestPolicy(t *testing.T) {
	policy := Policy{}
	for _, c := range []struct {
		name, password string
		reason         Reason
	}{
		{"a plain good one passes", "Secret-pass-1", ""},
		{"a passphrase of words passes", "staple horse of another colour", ""},
		{"no class of characters is asked for", "mnwopqzru", ""},
		{"sixty-four characters pass", strings.Repeat("long pass", 8), ""},
		{"eight characters of any script pass", "пароль№7", ""},
		{"seven characters are too few", "aB3$xY7", TooShort},
		{"bytes are not characters", "пароль7", TooShort},
		{"nothing is too short", "", TooShort},
		{"combining accents do not lengthen", "e\u0301a\u0301o\u0301u\u0301", TooShort},
		{"a well-known one is refused", "password123", WellKnown},
		{"its case does not matter", "PassWord123", WellKnown},
		{"a row of keys is refused", "qwertyuiop", WellKnown},
		{"one character over and over is refused", "zzzzzzzzzzzz", WellKnown},
		{"a run upwards is refused", "23456789", WellKnown},
		{"a run downwards is refused", "hgfedcba", WellKnown},
	} {
		w := policy.Check(c.password)
		switch {
		case w == nil && c.reason != "":
			t.Errorf("%s: it passes", c.name)
		case w != nil && (c.reason == "" || !slices.Equal(w.Reasons, []Reason{c.reason})):
			t.Errorf("%s: %v", c.name, w.Reasons)
		}
	}
}

func TestShorterPasswordsPassWhereTheyAreAllowed(t *testing.T) {
	if w := (Policy{MinLength: 6}).Check("aB3$xY"); w != nil {
		t.Error(w)
	}
	if w := (Policy{MinLength: 1}).Check("x"); w == nil {
		t.Error("a single character passes")
	}
}

func TestAllThatIsWrongIsToldAtOnce(t *testing.T) {
	policy := Policy{Required: []string{"abcdefghijklmnopqrstuvwxyz", "0123456789", ":;"}}
	for _, c := range []struct {
		name, password string
		reasons        []Reason
	}{
		{"one of each set is enough", "velvet;rope7", nil},
		{"a set that is missed", "velvet-rope7", []Reason{LacksCharacters}},
		{"upper case is not lower case", "VELVET;ROPE7", []Reason{LacksCharacters}},
		{"short and without", "aB", []Reason{TooShort, LacksCharacters}},
		{"short, without and first in every list", "1234567", []Reason{TooShort, LacksCharacters, WellKnown}},
		{"nothing", "", []Reason{TooShort, LacksCharacters}},
	} {
		w := policy.Check(c.password)
		if w == nil {
			w = &Weakness{}
		}
		if !slices.Equal(w.Reasons, c.reasons) {
			t.Errorf("%s: %v %s", c.name, w.Reasons, w.Message)
		}
	}
}

func TestSetsOfCharactersAreReadAsTheOriginalReadsThem(t *testing.T) {
	for _, c := range []struct {
		text string
		sets []string
	}{
		{"", nil},
		{"abc", []string{"abc"}},
		{"abc:012", []string{"abc", "012"}},
		{`abc:\::012`, []string{"abc", ":", "012"}},
		{`a\b:é`, []string{`a\b`, "é"}},
		{"abc::012:", []string{"abc", "012"}},
		{`012:!@#$%^&*()_+-=[]{};'\:"|<>?,./` + "`~", []string{"012", `!@#$%^&*()_+-=[]{};':"|<>?,./` + "`~"}},
	} {
		sets, err := ParseRequired(c.text)
		if err != nil || !slices.Equal(sets, c.sets) {
			t.Errorf("%s: %q, %v", c.text, sets, err)
		}
	}
	for _, wrong := range []string{":", "::", "a\xff"} {
		if sets, err := ParseRequired(wrong); err == nil {
			t.Errorf("%q gives %q", wrong, sets)
		}
	}
}

func TestEveryCommonPasswordIsFound(t *testing.T) {
	all := strings.Split(strings.TrimSuffix(commonList, "\n"), "\n")
	if !slices.IsSorted(all) || len(all) < 40_000 {
		t.Fatalf("common.txt has %d lines, sorted: %v", len(all), slices.IsSorted(all))
	}
	long := 0
	for _, password := range all {
		if !known(password) || password != strings.ToLower(Normalize(password)) {
			t.Fatalf("%q is not found", password)
		}
		if len(password) >= DefaultMinLength {
			long++
		}
		for _, other := range []string{password + "\x01", password + "zz~", password[:len(password)-1] + "\x01", "\n" + password, password + "\n"} {
			if known(other) {
				t.Fatalf("%q is found", other)
			}
		}
	}
	if long < 3000 {
		t.Errorf("%d only have eight characters", long)
	}
	for _, other := range []string{"", "\x00", "~~~~~~~~", "\n", strings.Repeat("z", 5000)} {
		if known(other) {
			t.Errorf("%q is found", other)
		}
	}
}
