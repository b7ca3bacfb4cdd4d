package api

import (
	"fmt"

	"basalt/auth/password"
)

// PasswordSettings are the settings of passwords.
type PasswordSettings struct {
	PasswordMinLength  int    `flag:"password-min-length" default:"8" help:"fewest characters of a new password"`
	PasswordCharacters string `flag:"password-characters" help:"sets of characters, divided by colons, of each of which a new password needs one, such as abc:ABC:0123456789; \\: is a colon"`
}

// mostPasswordLength is the longest least length: longer ones nobody types.
const mostPasswordLength = 128

func (s *PasswordSettings) checkPasswords() error {
	if s.PasswordMinLength < 1 || s.PasswordMinLength > mostPasswordLength {
		return &SettingError{"password-min-length", fmt.Sprintf("%d is not a length from 1 to %d", s.PasswordMinLength, mostPasswordLength)}
	}
	if _, err := password.ParseRequired(s.PasswordCharacters); err != nil {
		return &SettingError{"password-characters", err.Error()}
	}
	return nil
}

// passwordPolicy is what is asked of passwords.
func (s *PasswordSettings) passwordPolicy() password.Policy {
	sets, _ := password.ParseRequired(s.PasswordCharacters) // checked when the settings were
	return password.Policy{MinLength: s.PasswordMinLength, Required: sets}
}
