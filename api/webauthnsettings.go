package api

import (
	"fmt"
	"net/url"
	"strings"

	"basalt/auth"
)

// WebAuthnSettings are the settings of passkeys and of authenticators as second factors.
type WebAuthnSettings struct {
	Passkeys        bool     `flag:"passkeys" default:"false" title:"Passkey sign-in" help:"let users sign in with passkeys"`
	MaxPasskeys     int      `flag:"max-passkeys" default:"10" title:"Most passkeys per user" help:"most passkeys of one user"`
	WebAuthnRPID    string   `flag:"webauthn-rp-id" title:"Relying party domain" help:"domain that passkeys and authenticators are bound to; another one makes all that there are useless; empty: the host of --site-url"`
	WebAuthnRPName  string   `flag:"webauthn-rp-name" title:"Relying party name" help:"name that authenticators show; empty: the domain"`
	WebAuthnOrigins []string `flag:"webauthn-origins" title:"Passkey origins" help:"origins whose pages may ask for passkeys, comma-separated, such as https://app.example.com; empty: that of --site-url"`
}

func (s *Settings) relyingParty() auth.RelyingParty {
	return auth.RelyingParty{ID: s.WebAuthnRPID, Name: s.WebAuthnRPName, Origins: s.WebAuthnOrigins}
}

// checkWebAuthn refuses what browsers would refuse later, each time somebody signs in.
func (s *Settings) checkWebAuthn() error {
	if s.MaxPasskeys < 1 {
		return &SettingError{"max-passkeys", "at least one is needed; --passkeys=false allows none"}
	}
	for _, origin := range s.WebAuthnOrigins {
		// Apps for Android have origins of their own kind.
		if u, err := url.Parse(origin); !isOrigin(origin) && (err != nil || u.Scheme != "android") {
			return &SettingError{"webauthn-origins", fmt.Sprintf("%q is no origin such as https://app.example.com", origin)}
		}
	}
	if s.Passkeys || s.WebAuthnRPID != "" {
		if err := s.relyingParty().Check(s.SiteURL); err != nil {
			return &SettingError{"webauthn-rp-id", "a domain is needed, such as example.com, here or as the host of --site-url: " + err.Error()}
		}
		if strangers, all := s.relyingParty().Strangers(s.SiteURL); all {
			return &SettingError{"webauthn-rp-id", fmt.Sprintf("no browser lets the pages of %s use passkeys of %s: it has to be their host or a domain above it; see --site-url and --webauthn-origins",
				strings.Join(strangers, ", "), s.WebAuthnRPID)}
		}
	}
	return nil
}
