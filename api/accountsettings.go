package api

import (
	"fmt"

	"github.com/rs/zerolog"

	"basalt/auth"
	"basalt/auth/password"
)

// AccountSettings are the settings of accounts and sessions.
type AccountSettings struct {
	SiteURL     string `flag:"site-url" default:"http://localhost:3000" help:"where mails lead back to"`
	AutoConfirm string `flag:"autoconfirm" default:"auto" help:"sign-ups need no e-mail confirmation: true, false, or auto (true on the managed database)"`
	Limits      string `flag:"limits" default:"on" help:"rate limits of sign-ups, sign-ins and mails: on or off (for tests)"`

	PasswordMinLength  int    `flag:"password-min-length" default:"8" help:"fewest characters of a new password"`
	PasswordCharacters string `flag:"password-characters" help:"sets of characters, divided by colons, of each of which a new password needs one, such as abc:ABC:0123456789; \\: is a colon"`
}

// checkAccounts refuses settings of accounts that cannot work.
func (s *Settings) checkAccounts() error {
	if err := checkWebURL("site-url", s.SiteURL); err != nil {
		return err
	}
	if s.PasswordMinLength < 1 || s.PasswordMinLength > mostPasswordLength {
		return &SettingError{"password-min-length", fmt.Sprintf("%d is not a length from 1 to %d", s.PasswordMinLength, mostPasswordLength)}
	}
	if _, err := password.ParseRequired(s.PasswordCharacters); err != nil {
		return &SettingError{"password-characters", err.Error()}
	}
	for _, choice := range []choice{
		{"limits", s.Limits, []string{"on", "off"}},
		{"autoconfirm", s.AutoConfirm, []string{"auto", "true", "false"}},
	} {
		if err := choice.check(); err != nil {
			return err
		}
	}
	return nil
}

// autoconfirm tells whether a sign-up needs no confirmation.
func (s *Settings) autoconfirm() bool {
	return s.AutoConfirm == "true" || s.AutoConfirm == "auto" && s.DatabaseURL == ""
}

// mostPasswordLength is the longest least length: longer ones nobody types.
const mostPasswordLength = 128

// passwordPolicy is what is asked of passwords.
func (s *Settings) passwordPolicy() password.Policy {
	sets, err := password.ParseRequired(s.PasswordCharacters)
	if err != nil {
		panic(err) // Check has refused such
	}
	return password.Policy{MinLength: s.PasswordMinLength, Required: sets}
}

// accountsOf makes the rules of accounts as the settings ask.
func accountsOf(p *Project, s *Settings, apiURL string, log zerolog.Logger) *auth.Service {
	return auth.New(p.DB.Pool(), p.Keys, auth.Options{
		Issuer: apiURL + "/auth/v1", SiteURL: s.SiteURL,
		Autoconfirm: s.autoconfirm(),
		LimitsOff:   s.Limits == "off", Log: log,
		PasswordPolicy: s.passwordPolicy(), Gate: password.GateOptions{Slots: s.processors},
	})
}
