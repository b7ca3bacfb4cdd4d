package provider

import (
	"context"
	"maps"
	"slices"
	"strings"

	"golang.org/x/oauth2"
)

// preset is what is known of a server beforehand.
type preset struct {
	// base is the URL of the one server there is; empty when the operator has to say it.
	base string
	// issuer gives, for servers of OpenID Connect, the issuer of a base.
	issuer func(base string) string
	// endpoints are those of a server that is not asked by discovery.
	endpoints func(base string) Endpoints
	scopes    []string
	// pkce is unset where servers are known to refuse or ignore a challenge, or to say by discovery that they know it.
	pkce bool
	// noNonce is set where the server leaves the nonce out of its ID tokens.
	noNonce bool
	// style is how the client shows its secret; unset it follows from discovery.
	style oauth2.AuthStyle
	// params are added to the URL that users are led to.
	params map[string]string
	// tenants is set where one server issues for many tenants.
	tenants bool
	// read makes a profile of the claims of an ID token, or of the answer of the userinfo endpoint.
	read func(claims) Profile
	// fetch asks a server that has an interface of its own for a profile.
	fetch func(context.Context, *Provider, *oauth2.Token) (Profile, error)
}

// Names are those of the servers that need nothing but a client.
func Names() []string { return slices.Sorted(maps.Keys(presets())) }

// NeedsURL tells of one of the Names whether the server's URL has to be said too.
func NeedsURL(name string) bool { return presets()[name].base == "" }

// presets are the servers by name.
func presets() map[string]preset {
	x := preset{
		base: "https://x.com", scopes: []string{"users.email", "tweet.read", "users.read", "offline.access"},
		pkce: true, style: oauth2.AuthStyleInHeader, fetch: fetchX,
		endpoints: func(base string) Endpoints {
			api := apiOf(base, "https://x.com", "https://api.x.com")
			return Endpoints{Authorization: base + "/i/oauth2/authorize", Token: api + "/2/oauth2/token", Userinfo: api + "/2/users/me"}
		},
	}
	return map[string]preset{
		"google": {
			base: "https://accounts.google.com", issuer: itself, scopes: []string{"openid", "email", "profile"},
			pkce: true, style: oauth2.AuthStyleInParams, read: readGoogle,
		},
		"apple": {
			base: "https://appleid.apple.com", issuer: itself, scopes: []string{"email", "name"},
			style: oauth2.AuthStyleInParams, params: map[string]string{"response_mode": "form_post"}, read: readApple,
		},
		"azure": {
			base: "https://login.microsoftonline.com/common", tenants: true, scopes: []string{"openid", "email", "profile"},
			issuer: func(base string) string { return strings.TrimSuffix(base, "/v2.0") + "/v2.0" },
			pkce:   true, style: oauth2.AuthStyleInParams, read: readStandard,
		},
		"facebook": {
			base: "https://www.facebook.com", issuer: itself, scopes: []string{"email"},
			pkce: true, style: oauth2.AuthStyleInParams, read: readFacebookToken, fetch: fetchFacebook,
			endpoints: func(base string) Endpoints {
				graph := apiOf(base, "https://www.facebook.com", "https://graph.facebook.com")
				return Endpoints{Authorization: base + "/dialog/oauth", Token: graph + "/oauth/access_token", Userinfo: graph + "/me"}
			},
		},
		"github": {
			base: "https://github.com", scopes: []string{"user:email"}, pkce: true, style: oauth2.AuthStyleInParams, fetch: fetchGitHub,
			endpoints: func(base string) Endpoints {
				return Endpoints{
					Authorization: base + "/login/oauth/authorize", Token: base + "/login/oauth/access_token",
					Userinfo: apiOf(base, "https://github.com", "https://api.github.com") + githubVersion(base) + "/user",
				}
			},
		},
		"gitlab": {
			base: "https://gitlab.com", scopes: []string{"read_user"}, pkce: true, style: oauth2.AuthStyleInParams, fetch: fetchGitLab,
			endpoints: func(base string) Endpoints {
				return Endpoints{Authorization: base + "/oauth/authorize", Token: base + "/oauth/token", Userinfo: base + "/api/v4/user"}
			},
		},
		"discord": {
			base: "https://discord.com", scopes: []string{"identify", "email"}, pkce: true, style: oauth2.AuthStyleInParams, fetch: fetchDiscord,
			endpoints: func(base string) Endpoints {
				return Endpoints{Authorization: base + "/api/oauth2/authorize", Token: base + "/api/oauth2/token", Userinfo: base + "/api/users/@me"}
			},
		},
		"slack_oidc": {
			base: "https://slack.com", issuer: itself, scopes: []string{"openid", "email", "profile"}, style: oauth2.AuthStyleInParams, read: readSlack,
		},
		"linkedin_oidc": {
			base: "https://www.linkedin.com/oauth", issuer: itself, scopes: []string{"openid", "email", "profile"},
			noNonce: true, style: oauth2.AuthStyleInParams, read: readStandard,
		},
		"keycloak": {issuer: itself, scopes: []string{"openid", "email", "profile"}, pkce: true, read: readStandard},
		"twitter":  x,
		"x":        x,
	}
}

// genericPreset is of servers that say by discovery what there is to know.
func genericPreset() preset {
	return preset{issuer: itself, scopes: []string{"openid", "email", "profile"}, pkce: true, read: readStandard}
}

// plainPreset is of servers of OAuth 2.0 that say nothing.
func plainPreset() preset {
	return preset{pkce: true, read: readStandard, style: oauth2.AuthStyleInParams}
}

func itself(base string) string { return base }

// apiOf gives where the interface of a server is: at a host of its own for the public one, else at the same.
func apiOf(base, public, api string) string {
	if base == public {
		return api
	}
	return base
}

func githubVersion(base string) string {
	if base == "https://github.com" {
		return ""
	}
	return "/api/v3"
}
