package accounts

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"basalt/auth"
)

// discoveryRoutes tell other programs where everything is.
func (f *face) discoveryRoutes() routes {
	return routes{
		"/.well-known/openid-configuration":       {http.MethodGet: f.discovery},
		"/.well-known/oauth-authorization-server": {http.MethodGet: f.providing(f.discovery)},
	}
}

// discoveryBody is OpenID Connect Discovery's (§3) and RFC 8414's (§2) in one. Where Basalt is no OAuth server it says
// only how tokens are verified.
type discoveryBody struct {
	Issuer              string   `json:"issuer"`
	Authorization       string   `json:"authorization_endpoint,omitempty"`
	Token               string   `json:"token_endpoint,omitempty"`
	UserInfo            string   `json:"userinfo_endpoint,omitempty"`
	Keys                string   `json:"jwks_uri"`
	Registration        string   `json:"registration_endpoint,omitempty"`
	Scopes              []string `json:"scopes_supported,omitempty"`
	ResponseTypes       []string `json:"response_types_supported"`
	ResponseModes       []string `json:"response_modes_supported,omitempty"`
	Grants              []string `json:"grant_types_supported,omitempty"`
	Subjects            []string `json:"subject_types_supported"`
	Algorithms          []string `json:"id_token_signing_alg_values_supported"`
	ClientMethods       []string `json:"token_endpoint_auth_methods_supported,omitempty"`
	ChallengeMethods    []string `json:"code_challenge_methods_supported,omitempty"`
	Claims              []string `json:"claims_supported,omitempty"`
	NamesIssuer         bool     `json:"authorization_response_iss_parameter_supported,omitempty"` // RFC 9207 §3
	RequestParameter    bool     `json:"request_parameter_supported"`
	RequestURIParameter bool     `json:"request_uri_parameter_supported"`
	ClaimsParameter     bool     `json:"claims_parameter_supported"`
}

// discovery answers GET /.well-known/openid-configuration and /.well-known/oauth-authorization-server.
func (f *face) discovery(c echo.Context) error {
	issuer, server := f.service.Issuer(), f.service.OAuthServer()
	d := discoveryBody{
		Issuer: issuer, Keys: issuer + "/.well-known/jwks.json", ResponseTypes: []string{"code"}, Subjects: []string{"public"},
		Algorithms: f.service.SigningAlgorithms(),
	}
	if server.On {
		d.Authorization, d.Token, d.UserInfo = issuer+"/oauth/authorize", issuer+"/oauth/token", issuer+"/oauth/userinfo"
		d.ResponseModes, d.Grants = []string{"query"}, []string{auth.GrantCode, auth.GrantRefresh}
		d.ClientMethods = []string{auth.ClientSecretBasic, auth.ClientSecretPost, auth.ClientPublic}
		d.ChallengeMethods, d.NamesIssuer = []string{"S256"}, true
		d.Claims = []string{
			"iss", "sub", "aud", "exp", "iat", "auth_time", "nonce", "at_hash", "email", "email_verified", "phone_number",
			"phone_number_verified", "name", "picture", "preferred_username", "updated_at",
		}
		for _, scope := range auth.OAuthScopes() {
			if scope != auth.ScopeOpenID || len(d.Algorithms) > 0 {
				d.Scopes = append(d.Scopes, scope)
			}
		}
		if server.Registration {
			d.Registration = issuer + "/oauth/clients/register"
		}
	}
	c.Response().Header().Set("Cache-Control", "public, max-age=600")
	return c.JSON(http.StatusOK, d)
}

// Discovery answers at the server's root, where RFC 8414 §3.1 has the metadata of an issuer with a path.
func Discovery(s *auth.Service, o Options) echo.HandlerFunc {
	f := &face{service: s, options: o.filled()}
	return f.answer(f.providing(f.discovery))
}
