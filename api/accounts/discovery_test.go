package accounts_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/oauth2"

	"basalt/auth"
)

func TestWhatIsDiscovered(t *testing.T) {
	s := startOAuth(t, "EdDSA", nil)
	for _, path := range []string{"/.well-known/openid-configuration", "/.well-known/oauth-authorization-server"} {
		d := s.want(s.call("GET", path, "", ""), 200, "")
		for name, want := range map[string]string{
			"issuer": "http://api.example/auth/v1", "authorization_endpoint": "http://api.example/auth/v1/oauth/authorize", "token_endpoint": "http://api.example/auth/v1/oauth/token",
			"userinfo_endpoint": "http://api.example/auth/v1/oauth/userinfo", "jwks_uri": "http://api.example/auth/v1/.well-known/jwks.json", "scopes_supported": "[openid profile email phone]",
			"code_challenge_methods_supported": "[S256]", "id_token_signing_alg_values_supported": "[EdDSA]", "authorization_response_iss_parameter_supported": "true", "response_types_supported": "[code]",
			"token_endpoint_auth_methods_supported": "[client_secret_basic client_secret_post none]", "grant_types_supported": "[authorization_code refresh_token]",
		} {
			if got := fmt.Sprint(d.get(name)); got != want {
				t.Errorf("%s: %s is %s", path, name, got)
			}
		}
	}
	// Without a key that others can verify with there are no ID tokens, which is said.
	o := options()
	o.OAuthServer = auth.OAuthServer{On: true, ConsentPath: "/c"}
	shared := startOver(t, s.db, o)
	if d := shared.call("GET", "/.well-known/openid-configuration", "", ""); fmt.Sprint(d.get("scopes_supported")) != "[profile email phone]" || fmt.Sprint(d.get("id_token_signing_alg_values_supported")) != "[]" {
		t.Errorf("%s", d.text)
	}
	p := shared.party(t, "", "openid")
	to, err := url.Parse(p.open(t, p.config.AuthCodeURL("s", oauth2.S256ChallengeOption(oauth2.GenerateVerifier()))))
	if err != nil || to.Query().Get("error") != "invalid_scope" || !strings.Contains(to.Query().Get("error_description"), "signing key") {
		t.Errorf("led to %s", to)
	}
	// Where Basalt is no OAuth server there is nothing but the keys.
	none := startOver(t, s.db, options())
	if d := none.want(none.call("GET", "/.well-known/openid-configuration", "", ""), 200, ""); d.str("authorization_endpoint") != "" || d.str("jwks_uri") == "" {
		t.Errorf("%s", d.text)
	}
	for _, c := range [][2]string{{"GET", "/.well-known/oauth-authorization-server"}, {"GET", "/oauth/authorize"}, {"POST", "/oauth/token"}, {"GET", "/oauth/userinfo"}, {"POST", "/oauth/clients/register"}, {"GET", "/user/oauth/grants"}, {"GET", "/admin/oauth/clients"}} {
		none.want(none.call(c[0], c[1], s.keys.ServiceKey.Reveal(), ""), 404, "feature_disabled")
	}
}
