package password

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Reason is why a password is weak, in the words of the accounts API.
type Reason string

const (
	// TooShort is a password below the least length.
	TooShort Reason = "length"
	// LacksCharacters is a password without a character of a set that is asked for.
	LacksCharacters Reason = "characters"
	// WellKnown is a password that everybody tries first.
	WellKnown Reason = "pwned"
)

const (
	// DefaultMinLength follows NIST SP 800-63B §5.1.1.2; Supabase's own default of 6 is below it.
	DefaultMinLength = 8
	// MaxBytes bounds what is hashed. It is far above any passphrase; longer is refused, never cut.
	MaxBytes = 4096
)

// Policy is what is asked of a new password: length, and not to be among those that guessing begins with. Rules of
// composition are there for those who must have them: they make passwords worse.
type Policy struct {
	// MinLength in characters; 0 is DefaultMinLength.
	MinLength int
	// Required are sets of characters, of each of which one must be there.
	Required []string
}

// Weakness is the refusal of a password.
type Weakness struct {
	Message string
	Reasons []Reason
}

func (w *Weakness) Error() string { return w.Message }

// ParseRequired reads sets of characters divided by colons, `abc:0123456789`, as the original's setting is written; a
// backslash before a colon makes it one of the set.
func ParseRequired(text string) ([]string, error) {
	var sets []string
	var set strings.Builder
	end := func() {
		if set.Len() > 0 {
			sets = append(sets, set.String())
		}
		set.Reset()
	}
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text) && text[i+1] == ':':
			i++
			set.WriteByte(':')
		case text[i] == ':':
			end()
		default:
			set.WriteByte(text[i])
		}
	}
	end()
	if !utf8.ValidString(text) {
		return nil, fmt.Errorf("%q is not UTF-8", text)
	}
	if text != "" && len(sets) == 0 {
		return nil, fmt.Errorf("%q has no set of characters: write them like abc:0123456789", text)
	}
	return sets, nil
}

// Check judges a password; nil is a good one. All that is wrong with it is told at once.
func (p Policy) Check(password string) *Weakness {
	least := p.MinLength
	if least <= 0 {
		least = DefaultMinLength
	}
	normal := Normalize(password)
	var reasons []Reason
	var messages []string
	if utf8.RuneCountInString(normal) < least {
		reasons = append(reasons, TooShort)
		messages = append(messages, fmt.Sprintf("Password should be at least %d characters.", least))
	}
	if slices.ContainsFunc(p.Required, func(set string) bool { return !strings.ContainsAny(password, set) }) {
		reasons = append(reasons, LacksCharacters)
		messages = append(messages, fmt.Sprintf("Password should contain at least one character of each: %s.", strings.Join(p.Required, ", ")))
	}
	if known(strings.ToLower(normal)) || monotonous(normal) {
		reasons = append(reasons, WellKnown)
		messages = append(messages, "Password is known to be weak and easy to guess, please choose a different one.")
	}
	if len(reasons) == 0 {
		return nil
	}
	return &Weakness{Message: strings.Join(messages, " "), Reasons: reasons}
}

// monotonous is one character over and over, or a run such as 12345678 or abcdefgh.
func monotonous(password string) bool {
	runes := []rune(password)
	if len(runes) < 2 {
		return len(runes) == 1
	}
	delta := runes[1] - runes[0]
	if delta < -1 || delta > 1 {
		return false
	}
	for i := 2; i < len(runes); i++ {
		if runes[i]-runes[i-1] != delta {
			return false
		}
	}
	return true
}
