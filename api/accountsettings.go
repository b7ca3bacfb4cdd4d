package api

import (
	"github.com/rs/zerolog"

	"basalt/auth"
)

// AccountSettings are the settings of accounts and sessions.
type AccountSettings struct {
	SiteURL      string   `flag:"site-url" default:"http://localhost:3000" help:"where mails lead back to"`
	RedirectURLs []string `flag:"redirect-urls" help:"where mails and sign-ins may lead back to beside --site-url, comma-separated; * any characters but dots and slashes, ** any, ? one, such as https://*.example.com/**, http://localhost:3000/** or myapp://callback"`
	PKCEPlain    bool     `flag:"pkce-plain" default:"false" help:"allow the code challenge method plain, which some clients without WebCrypto fall back to and which protects less"`
	AutoConfirm  string   `flag:"autoconfirm" default:"auto" help:"sign-ups need no e-mail confirmation: true, false, or auto (true on the managed database)"`
	Limits       string   `flag:"limits" default:"on" help:"rate limits of sign-ups, sign-ins and mails: on or off (for tests)"`

	EncryptionKey auth.Secret `flag:"encryption-key" help:"keys that secrets at rest are encrypted under, 32 bytes or more each, comma-separated, the current one first; @FILE reads them from a file; empty: a file in --data for the managed database, else derived from the JWT secret by HKDF"`

	LinkSettings
}

// checkAccounts refuses settings of accounts that cannot work.
func (s *Settings) checkAccounts() error {
	if err := checkWebURL("site-url", s.SiteURL); err != nil {
		return err
	}
	if _, err := s.givenEncryptionKeys(); err != nil {
		return &SettingError{"encryption-key", err.Error()}
	}
	if _, err := s.redirectURLs(); err != nil {
		return err
	}
	if err := s.checkLinks(); err != nil {
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

// redirectURLs reads the list of --redirect-urls.
func (s *Settings) redirectURLs() ([]auth.RedirectPattern, error) {
	var patterns []auth.RedirectPattern
	for _, text := range s.RedirectURLs {
		p, err := auth.ParseRedirectPattern(text)
		if err != nil {
			return nil, &SettingError{"redirect-urls", err.Error()}
		}
		patterns = append(patterns, p)
	}
	return patterns, nil
}

// autoconfirm tells whether a sign-up needs no confirmation.
func (s *Settings) autoconfirm() bool {
	return s.AutoConfirm == "true" || s.AutoConfirm == "auto" && s.DatabaseURL == ""
}

// accountsOf makes the rules of accounts as the settings ask.
func accountsOf(p *Project, s *Settings, apiURL string, log zerolog.Logger) *auth.Service {
	redirects, _ := s.redirectURLs() // checked when the settings were
	return auth.New(p.DB.Pool(), p.Keys, auth.Options{
		Issuer: apiURL + "/auth/v1", SiteURL: s.SiteURL, RedirectURLs: redirects, PlainChallenges: s.PKCEPlain,
		Autoconfirm:    s.autoconfirm(),
		EncryptionKeys: s.EncryptionKeys(p.Keys.Secret),
		Links:          s.links(),
		LimitsOff:      s.Limits == "off", Log: log,
	})
}
