package api_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"basalt/api"
	"basalt/api/apitest"
	"basalt/auth"
	"basalt/auth/token"
)

func TestThirdPartiesNeedNoKeyOfTheProject(t *testing.T) {
	t.Parallel()
	pair, err := token.NewPair("EdDSA")
	if err != nil {
		t.Fatal(err)
	}
	text, err := pair.PrivateJWK()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "signing.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	s := apitest.Start(t, things, func(settings *api.Settings) {
		settings.OAuthServer, settings.OAuthRegistration = true, true
		settings.JWTSigningKeys = auth.Secret("@" + file)
	})
	for _, path := range []string{
		"/.well-known/oauth-authorization-server/auth/v1", "/.well-known/openid-configuration/auth/v1",
		"/auth/v1/.well-known/oauth-authorization-server", "/auth/v1/.well-known/openid-configuration",
	} {
		var found struct {
			Issuer       string   `json:"issuer"`
			Registration string   `json:"registration_endpoint"`
			Algorithms   []string `json:"id_token_signing_alg_values_supported"`
		}
		s.Do(t, "GET", path, "", "Apikey:").JSON(t, &found)
		if found.Issuer != s.URL+"/auth/v1" || found.Registration != s.URL+"/auth/v1/oauth/clients/register" || len(found.Algorithms) != 1 || found.Algorithms[0] != "EdDSA" {
			t.Errorf("%s: %+v", path, found)
		}
	}
	var set struct{ Keys []token.PublicJWK }
	s.Do(t, "GET", "/auth/v1/.well-known/jwks.json", "", "Apikey:").JSON(t, &set)
	if len(set.Keys) != 1 || set.Keys[0].ID != pair.ID || set.Keys[0].X != pair.JWK().X {
		t.Errorf("published %+v", set)
	}
	own, _ := s.SignUp(t, "a@example.com")
	if head := headerOf(t, own); head["kid"] != pair.ID || head["alg"] != "EdDSA" {
		t.Errorf("signed with %v", head)
	}
	if a := s.Do(t, "GET", "/rest/v1/thing", "", own); a.Status != http.StatusOK {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	for _, c := range []struct {
		method, path, body string
		status             int
	}{
		{"GET", "/auth/v1/oauth/authorize", "", 400}, {"POST", "/auth/v1/oauth/token", `{"grant_type":"refresh_token"}`, 401},
		{"GET", "/auth/v1/oauth/userinfo", "", 401}, {"POST", "/auth/v1/oauth/clients/register", `{"redirect_uris":["https://a.example/cb"]}`, 201},
	} {
		a := s.Do(t, c.method, c.path, c.body, "Apikey:")
		var refusal struct{ Error string }
		if a.Status == c.status && c.status != 201 {
			a.JSON(t, &refusal)
		}
		if a.Status != c.status || (c.status != 201) != (refusal.Error != "") {
			t.Errorf("%s: %d %s", c.path, a.Status, a.Body)
		}
	}
	// What the site's own page calls is called with the project's key, as the client library does.
	if a := s.Do(t, "GET", "/auth/v1/oauth/authorizations/x", "", "Apikey:", own); a.Status != http.StatusUnauthorized {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}
