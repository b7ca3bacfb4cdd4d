// Package provider signs users in at servers that know them already, as their client by OAuth 2.0 and OpenID Connect.
package provider

import (
	"fmt"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Config is how a server is asked for its users. Printing it shows its name alone: it holds a secret.
type Config struct {
	// Name is how clients ask for the server, and what stands in its identities: google, custom:acme.
	Name string
	// ClientID and ClientSecret are what the server knows us by. A public client has no secret.
	ClientID     string
	ClientSecret string
	// Audiences are further client ids whose ID tokens are good, those of the apps for phones say.
	Audiences []string
	// URL is the base of servers that there are many of: the host of GitHub Enterprise or GitLab, Keycloak's realm,
	// Microsoft's authority with the tenant. For names without a preset it is the issuer.
	URL string
	// DiscoveryURL is where the issuer describes itself; empty is where OIDC Discovery §4 has it.
	DiscoveryURL string
	// Scopes are asked for beside those that are needed.
	Scopes []string
	// RedirectURI is where the server leads back to.
	RedirectURI string
	// SkipNonce takes ID tokens that clients bring without asking for their nonce: some phones' libraries make one of
	// their own.
	SkipNonce bool
	// EmailOptional takes users of whom no address is known.
	EmailOptional bool
	// NoPKCE leaves out the code challenge (RFC 7636), which a few servers stumble over.
	NoPKCE bool
	// Endpoints are those of a server without discovery.
	Endpoints Endpoints
	// Mapping names for a member of the identity the claim that it is taken from.
	Mapping map[string]string
	// Params are added to the URL that users are led to.
	Params map[string]string
}

// Endpoints are the addresses of a server.
type Endpoints struct {
	Authorization, Token, Userinfo, JWKS string
}

// Format hides all but the name.
func (c Config) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "provider "+c.Name) }

// MarshalJSON hides all but the name.
func (c Config) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, "%q", c.Name), nil }

// A ConfigError says which member of a Config is wrong, and how.
type ConfigError struct {
	Member string
	Reason string
}

func (e *ConfigError) Error() string { return e.Member + ": " + e.Reason }

var goodName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,62}(:[a-z0-9][a-z0-9_-]{0,62})?$`)

// reserved are identities of another kind.
var reserved = []string{"email", "phone", "anonymous", "anonymous_users", "web3", "saml", "sso"}

// check gives the preset of a configuration that can work.
func (c *Config) check() (preset, error) {
	p, known := presets()[c.Name]
	_, _, custom := strings.Cut(c.Name, ":")
	switch {
	case !goodName.MatchString(c.Name) || slices.Contains(reserved, c.Name) || strings.HasPrefix(c.Name, "sso:"):
		return p, &ConfigError{"name", fmt.Sprintf("%q is no name for a provider", c.Name)}
	case c.ClientID == "":
		return p, &ConfigError{"client_id", "it is missing"}
	case !known && c.Endpoints.Authorization != "":
		p = plainPreset()
		if c.Endpoints.Token == "" || c.Endpoints.Userinfo == "" {
			return p, &ConfigError{"token_url", "a server without discovery needs authorization_url, token_url and userinfo_url"}
		}
	case !known && c.URL == "":
		if custom {
			return p, &ConfigError{"issuer", "it is missing"}
		}
		return p, &ConfigError{"url", fmt.Sprintf("%q is none of %s, so the URL of its issuer is needed", c.Name, strings.Join(Names(), ", "))}
	case !known:
		p = genericPreset()
	case p.base == "" && c.URL == "":
		return p, &ConfigError{"url", c.needsURL()}
	}
	for name := range c.Params {
		if slices.Contains(protocolParams, name) {
			return p, &ConfigError{"authorization_params", fmt.Sprintf("%s is not theirs to set", name)}
		}
	}
	for member, address := range map[string]string{
		"url": c.URL, "discovery_url": c.DiscoveryURL, "authorization_url": c.Endpoints.Authorization, "token_url": c.Endpoints.Token, "userinfo_url": c.Endpoints.Userinfo,
		"jwks_uri": c.Endpoints.JWKS, "redirect_uri": c.RedirectURI,
	} {
		if address != "" && !isAddress(address) {
			return p, &ConfigError{member, fmt.Sprintf("%q is not an https URL", address)}
		}
	}
	return p, nil
}

func isAddress(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Host != "" && u.User == nil && u.Fragment == "" && (u.Scheme == "https" || u.Scheme == "http")
}

func (c *Config) needsURL() string {
	if c.Name == "keycloak" {
		return "the URL of the realm is needed, such as https://id.example.com/realms/main"
	}
	return "it is missing"
}
