package accounts_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"basalt/auth"
	"basalt/auth/provider/providertest"
)

func startWithCustom(t *testing.T) *visitors {
	t.Helper()
	return startWithOpenID(t, func(o *auth.Options) {
		o.Providers.Providers = nil
		o.Providers.Client, o.Providers.Callback = loopbackClient(), ownCallback
	})
}

func (v *visitors) custom(identifier, more string) answer {
	v.t.Helper()
	return v.admin("POST", "/custom-providers", fmt.Sprintf(
		`{"provider_type":"oidc","identifier":%q,"name":"Acme","client_id":"basalt","client_secret":%q,"issuer":%q%s}`, identifier, providertest.ClientSecret, v.openID.Issuer, more))
}

func TestAnAdministratorAddsAProvider(t *testing.T) {
	v := startWithCustom(t)
	created := v.want(v.custom("custom:acme", `,"scopes":["phone"],"acceptable_client_ids":["phone-app"]`), http.StatusCreated, "")
	if created.get("enabled") != true || created.get("pkce_enabled") != true || strings.Contains(created.text, "secret\":") {
		t.Errorf("it is %s", created.text)
	}
	if n := v.count(`select count(*) from auth.custom_oauth_providers where client_secret like 'enc:v1:%'`); n != 1 {
		t.Error("the secret is not sealed")
	}
	v.openID.Is(openIDUser, "visitor@example.com", true)
	signIn := func() string {
		return fragment(v.browser().signInAt("custom:acme", openIDUser)).Get("access_token")
	}
	u := v.want(v.call("GET", "/user", signIn(), ""), http.StatusOK, "")
	if u.str("identities.0.provider") != "custom:acme" {
		t.Errorf("the account is %s", u.text)
	}
	v.want(v.grant("custom:acme", v.openID.Sign(v.openID.Claims(nil)), ""), http.StatusOK, "")

	changed := v.want(v.admin("PUT", "/custom-providers/custom%3Aacme", `{"name":"Acme & Co","enabled":false}`), http.StatusOK, "")
	if changed.str("name") != "Acme & Co" || changed.get("scopes.0") != "phone" || changed.get("client_id") != "basalt" {
		t.Errorf("it is %s", changed.text)
	}
	v.want(v.call("GET", "/authorize?provider=custom:acme", "", ""), http.StatusBadRequest, "validation_failed")
	v.want(v.admin("PUT", "/custom-providers/custom:acme", `{"enabled":true,"client_secret":"wrong"}`), http.StatusOK, "")
	v.refusal(v.browser().signInAt("custom:acme", openIDUser), auth.CodeBadOAuthCallback)
	v.want(v.admin("PUT", "/custom-providers/custom:acme", `{"client_secret":"`+providertest.ClientSecret+`"}`), http.StatusOK, "")
	// Nobody who does not know the secret has it sent elsewhere.
	for _, change := range []string{`{"issuer":"https://elsewhere.example"}`, `{"token_url":"https://elsewhere.example/token"}`} {
		refused := v.want(v.admin("PUT", "/custom-providers/custom:acme", change), http.StatusBadRequest, "validation_failed")
		if !strings.Contains(refused.text, "client_secret is required") {
			t.Errorf("%s: %s", change, refused.text)
		}
	}
	if signIn() == "" {
		t.Error("the right secret is not used")
	}
	v.custom("custom:other", "")
	if list := v.want(v.admin("GET", "/custom-providers?type=oidc", ""), http.StatusOK, ""); list.get("providers.1.identifier") != "custom:other" {
		t.Errorf("the list is %s", list.text)
	}
	if list := v.want(v.admin("GET", "/custom-providers?type=oauth2", ""), http.StatusOK, ""); list.text != `{"providers":[]}`+"\n" {
		t.Errorf("the list is %s", list.text)
	}
	v.want(v.admin("GET", "/custom-providers/custom:acme", ""), http.StatusOK, "")
	if a := v.admin("DELETE", "/custom-providers/custom:acme", ""); a.status != http.StatusNoContent || a.text != "" {
		t.Errorf("the removal is answered %d %s", a.status, a.text)
	}
	for _, method := range []string{"GET", "DELETE"} {
		v.want(v.admin(method, "/custom-providers/custom:acme", ""), http.StatusNotFound, "custom_provider_not_found")
	}
	v.want(v.admin("PUT", "/custom-providers/custom:acme", `{}`), http.StatusNotFound, "custom_provider_not_found")
	v.want(v.call("GET", "/authorize?provider=custom:acme", "", ""), http.StatusBadRequest, "validation_failed")
	if strings.Contains(v.log.String(), `secret"`) {
		t.Error("a secret is in the log")
	}
}

func TestACustomProviderThatCannotWorkIsRefused(t *testing.T) {
	v := startWithCustom(t)
	v.want(v.custom("custom:taken", ""), http.StatusCreated, "")
	v.want(v.custom("custom:taken", ""), http.StatusConflict, "conflict")
	for name, body := range map[string]string{
		"without a type":              `{"identifier":"custom:a","name":"A","client_id":"x","client_secret":"y","issuer":"https://a.example"}`,
		"with a name of another kind": `{"provider_type":"oidc","identifier":"google","name":"A","client_id":"x","client_secret":"y","issuer":"https://a.example"}`,
		"with a name that is a path":  `{"provider_type":"oidc","identifier":"custom:../x","name":"A","client_id":"x","client_secret":"y","issuer":"https://a.example"}`,
		"without a client":            `{"provider_type":"oidc","identifier":"custom:a","name":"A","client_secret":"y","issuer":"https://a.example"}`,
		"without a secret":            `{"provider_type":"oidc","identifier":"custom:a","name":"A","client_id":"x","issuer":"https://a.example"}`,
		"without an issuer":           `{"provider_type":"oidc","identifier":"custom:a","name":"A","client_id":"x","client_secret":"y"}`,
		"without addresses":           `{"provider_type":"oauth2","identifier":"custom:a","name":"A","client_id":"x","client_secret":"y"}`,
		"with half of the addresses":  `{"provider_type":"oauth2","identifier":"custom:a","name":"A","client_id":"x","client_secret":"y","authorization_url":"https://a.example"}`,
		"with a file for an address":  `{"provider_type":"oidc","identifier":"custom:a","name":"A","client_id":"x","client_secret":"y","issuer":"file:///etc/passwd"}`,
		"with a reserved parameter":   `{"provider_type":"oidc","identifier":"custom:a","name":"A","client_id":"x","client_secret":"y","issuer":"https://a.example","authorization_params":{"redirect_uri":"https://evil.example"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			v.want(v.admin("POST", "/custom-providers", body), http.StatusBadRequest, "validation_failed")
		})
	}
	v.want(v.admin("POST", "/custom-providers", `{"scopes":"x"}`), http.StatusBadRequest, "bad_json")
	v.want(v.admin("PUT", "/custom-providers/custom:taken", `{"issuer":""}`), http.StatusBadRequest, "validation_failed")
	v.want(v.admin("GET", "/custom-providers?type=x", ""), http.StatusBadRequest, "validation_failed")
	v.want(v.call("GET", "/admin/custom-providers", v.keys.AnonKey, ""), http.StatusForbidden, "not_admin")
	v.want(v.call("GET", "/admin/custom-providers", "", ""), http.StatusUnauthorized, "no_authorization")
}

// A server of an administrator's choice may be one that only this machine reaches.
func TestACustomProviderIsReachedAtPublicAddressesAlone(t *testing.T) {
	v := startWithOpenID(t, nil)
	v.want(v.custom("custom:inside", ""), http.StatusCreated, "")
	a := v.call("GET", "/authorize?provider=custom:inside", "", "")
	if a.status != http.StatusBadGateway || strings.Contains(a.text, "127.0.0.1") {
		t.Errorf("it is answered %d %s", a.status, a.text)
	}
}

func TestAnIdentifierThatIsNoTextNamesNoProvider(t *testing.T) {
	s := start(t, options())
	for _, name := range []string{"%00", "%2500", "custom:a%00", "%ff", "%ED%A0%80"} {
		for method, body := range map[string]string{"GET": "", "PUT": `{}`, "DELETE": ""} {
			s.want(s.admin(method, "/custom-providers/"+name, body), 404, "custom_provider_not_found")
		}
	}
	s.want(s.say("/token?grant_type=id_token", `{"provider":"custom:\\u0000","id_token":"a.b.c"}`), 400, "validation_failed")
	s.want(s.call("GET", "/authorize?provider=custom:%00", "", ""), 400, "validation_failed")
}

func TestNoSettingOfAProviderHasANUL(t *testing.T) {
	s := start(t, options())
	const settings = `"provider_type":"oauth2","client_id":"x","client_secret":"y","authorization_url":"https://p.example/a","token_url":"https://p.example/t","userinfo_url":"https://p.example/u"`
	s.want(s.admin("POST", "/custom-providers", `{"identifier":"custom:a","name":"A",`+settings+`}`), 201, "")
	for _, change := range []string{
		`"name":"\u0000"`, `"client_id":"\u0000"`, `"acceptable_client_ids":["\u0000"]`, `"scopes":["\u0000"]`, `"attribute_mapping":{"sub":"\u0000"}`,
		`"attribute_mapping":{"\u0000":"sub"}`, `"authorization_params":{"a":"\u0000"}`, `"jwks_uri":"\u0000"`, `"issuer":"\u0000"`, `"discovery_url":"\u0000"`,
	} {
		s.want(s.admin("PUT", "/custom-providers/custom:a", `{`+change+`}`), 400, "validation_failed")
		s.want(s.admin("POST", "/custom-providers", `{"identifier":"custom:b","name":"B",`+settings+`,`+change+`}`), 400, "validation_failed")
	}
}
