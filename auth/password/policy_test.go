package password

import (
	"slices"
	"strings"
	"testing"
)

func TestPolicy(t *testing.T) {
	policy := NewPolicy(0)
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
		{"bytes are not characters", "пароль№", TooShort},
		{"nothing is too short", "", TooShort},
		{"combining accents do not lengthen", "e\u0301e\u0301e\u0301e\u0301", TooShort},
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
	if w := NewPolicy(6).Check("aB3$xY"); w != nil {
		t.Error(w)
	}
	if w := NewPolicy(1).Check("x"); w == nil {
		t.Error("a single character passes")
	}
}

func TestCommonListIsSortedForSearch(t *testing.T) {
	if !slices.IsSorted(NewPolicy(0).common) {
		t.Error("common.txt is not sorted")
	}
	if n := len(NewPolicy(0).common); n < 3000 {
		t.Errorf("common.txt has %d lines only", n)
	}
}
