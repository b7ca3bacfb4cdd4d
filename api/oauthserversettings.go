package api

import (
	"fmt"
	"strings"

	"basalt/auth"
)

// OAuthServerSettings are those of the OAuth server.
type OAuthServerSettings struct {
	OAuthServer       bool   `flag:"oauth-server" default:"false" title:"OAuth server" help:"be an OAuth 2.1 and OpenID Connect provider at which third parties have users sign in; the scope openid needs a key of basalt keys signing"`
	OAuthRegistration bool   `flag:"oauth-registration" default:"false" title:"Open client registration" help:"let anybody register an OAuth client (RFC 7591)"`
	OAuthConsentPath  string `flag:"oauth-consent-path" default:"/oauth/consent" title:"Consent page path" help:"path below --site-url of the page where users decide what an OAuth client may know; it gets ?authorization_id="`
}

// checkOAuthServer refuses settings of the OAuth server that cannot work.
func (s *Settings) checkOAuthServer() error {
	if s.OAuthRegistration && !s.OAuthServer {
		return &SettingError{"oauth-registration", "it needs --oauth-server"}
	}
	if path := s.OAuthConsentPath; s.OAuthServer && (!strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || strings.ContainsAny(path, `?#\ `)) {
		return &SettingError{"oauth-consent-path", fmt.Sprintf("%q is no path such as /oauth/consent", path)}
	}
	return nil
}

func (s *Settings) oauthServer() auth.OAuthServer {
	return auth.OAuthServer{On: s.OAuthServer, Registration: s.OAuthRegistration, ConsentPath: s.OAuthConsentPath}
}
