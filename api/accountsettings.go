package api

import (
	"github.com/rs/zerolog"

	"basalt/auth"
)

// AccountSettings are the settings of accounts and sessions.
type AccountSettings struct {
	SiteURL     string `flag:"site-url" default:"http://localhost:3000" help:"where mails lead back to"`
	AutoConfirm string `flag:"autoconfirm" default:"auto" help:"sign-ups need no e-mail confirmation: true, false, or auto (true on the managed database)"`
	Limits      string `flag:"limits" default:"on" help:"rate limits of sign-ups, sign-ins and mails: on or off (for tests)"`
}

// checkAccounts refuses settings of accounts that cannot work.
func (s *Settings) checkAccounts() error {
	if err := checkWebURL("site-url", s.SiteURL); err != nil {
		return err
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

// accountsOf makes the rules of accounts as the settings ask.
func accountsOf(p *Project, s *Settings, apiURL string, log zerolog.Logger) *auth.Service {
	return auth.New(p.DB.Pool(), p.Keys, auth.Options{
		Issuer: apiURL + "/auth/v1", SiteURL: s.SiteURL,
		Autoconfirm: s.autoconfirm(),
		LimitsOff:   s.Limits == "off", Log: log,
	})
}
