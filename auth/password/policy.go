package password

import (
	_ "embed"
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
	// WellKnown is a password that everybody tries first.
	WellKnown Reason = "pwned"
)

const (
	// DefaultMinLength follows NIST SP 800-63B §5.1.1.2; Supabase's own default of 6 is below it.
	DefaultMinLength = 8
	// MaxBytes bounds what is hashed. It is far above any passphrase; longer is refused, never cut.
	MaxBytes = 4096
)

// Policy is what is asked of a new password: length, and not to be among those that
// guessing begins with. There are no composition rules: they make passwords worse.
type Policy struct {
	// MinLength in characters; 0 is DefaultMinLength.
	MinLength int
	common    []string
}

// Weakness is the refusal of a new password.
type Weakness struct {
	Message string
	Reasons []Reason
}

func (w *Weakness) Error() string { return w.Message }

// commonList is sorted by bytes, lower case, one password a line.
//
//go:embed common.txt
var commonList string

// NewPolicy reads the list of well-known passwords.
func NewPolicy(minLength int) *Policy {
	if minLength <= 0 {
		minLength = DefaultMinLength
	}
	return &Policy{MinLength: minLength, common: strings.Fields(commonList)}
}

// Check judges a new password.
func (p *Policy) Check(password string) *Weakness {
	normal := Normalize(password)
	if utf8.RuneCountInString(normal) < p.MinLength {
		return &Weakness{
			Message: fmt.Sprintf("Password should be at least %d characters.", p.MinLength),
			Reasons: []Reason{TooShort},
		}
	}
	if _, known := slices.BinarySearch(p.common, strings.ToLower(normal)); known || monotonous(normal) {
		return &Weakness{
			Message: "Password is known to be weak and easy to guess, please choose a different one.",
			Reasons: []Reason{WellKnown},
		}
	}
	return nil
}

// monotonous is one character over and over, or a run such as 12345678 or abcdefgh.
func monotonous(password string) bool {
	runes := []rune(password)
	if len(runes) < 2 {
		return true
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
