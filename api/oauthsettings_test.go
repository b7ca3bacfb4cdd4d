package api

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"basalt/auth"
)

func TestProvidersAreDescribedBySettingAndVariables(t *testing.T) {
	s := &Settings{}
	s.OAuthProviders = auth.Secret(`{"github": {"client_id": "a", "client_secret": "b"}}`)
	described, err := s.describedProviders([]string{
		"BASALT_OAUTH_GOOGLE_CLIENT_ID=web, ios", "BASALT_OAUTH_GOOGLE_SECRET=hidden", "BASALT_OAUTH_LINKEDIN_OIDC_CLIENT_ID=x",
		"BASALT_OAUTH_KEYCLOAK_URL=https://id.example.com/realms/main", "BASALT_OAUTH_KEYCLOAK_PKCE=false", "BASALT_OAUTH_GITHUB_CLIENT_SECRET=c",
		"BASALT_OAUTH_PROVIDERS=ignored", "BASALT_OAUTH_APPLE_CLIENT_ID=", "PATH=x",
	})
	if err != nil {
		t.Fatal(err)
	}
	google := described["google"]
	if google == nil || google.ClientID != "web" || !slices.Equal(google.Audiences, []string{"ios"}) || google.ClientSecret != "hidden" {
		t.Errorf("google is %+v", google)
	}
	if described["linkedin_oidc"] == nil || described["apple"] != nil || len(described) != 4 {
		t.Errorf("there are %v", described)
	}
	if github := described["github"]; github == nil || github.ClientID != "a" || github.ClientSecret != "c" {
		t.Errorf("github is %+v: a variable wins", github)
	}
	if keycloak := described["keycloak"]; keycloak == nil || keycloak.PKCE == nil || *keycloak.PKCE {
		t.Errorf("keycloak is %+v", keycloak)
	}
}

func TestAProviderThatCannotWorkIsRefusedByName(t *testing.T) {
	for _, tc := range []struct{ name, text, says string }{
		{"no JSON", `google`, "not JSON"},
		{"a list", `[]`, "wrong type"},
		{"two objects", `{} {}`, "something follows"},
		{"an unknown member", `{"google": {"client": "canary"}}`, "unknown field"},
		{"an unknown name", `{"gogle": {"client_id": "x"}}`, "gogle: url: "},
		{"no client", `{"google": {}}`, "client_id"},
		{"a name of another kind", `{"email": {"client_id": "x", "url": "https://a.example"}}`, "name"},
		{"a realm that is missing", `{"keycloak": {"client_id": "x"}}`, "realm"},
		{"a URL that is none", `{"keycloak": {"client_id": "x", "url": "id.example.com", "client_secret": "canary"}}`, "url"},
		{"a file that is missing", `@/nowhere/at/all`, "nowhere"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := &Settings{}
			s.OAuthProviders = auth.Secret(tc.text)
			_, err := s.oauthProviders("https://api.example/auth/v1/callback", nil)
			var refused *SettingError
			if !errors.As(err, &refused) || refused.Flag != "oauth-providers" || !strings.Contains(err.Error(), tc.says) || strings.Contains(err.Error(), "canary") {
				t.Errorf("it is refused with %v", err)
			}
		})
	}
}

func TestProvidersOfAllKindsCanBeSetUp(t *testing.T) {
	s := &Settings{}
	s.OAuthProviders = `{
		"apple": {"client_id": "x", "client_secret": "y"}, "azure": {"client_id": "x", "url": "https://login.microsoftonline.com/organizations"},
		"discord": {"client_id": "x"}, "facebook": {"client_id": "x"}, "github": {"client_id": "x"}, "gitlab": {"client_id": "x"},
		"google": {"client_id": "x", "audiences": ["a", "b"], "scopes": "a b"}, "keycloak": {"client_id": "x", "url": "https://id.example.com/realms/main"},
		"linkedin_oidc": {"client_id": "x"}, "slack_oidc": {"client_id": "x"}, "twitter": {"client_id": "x"}, "x": {"client_id": "x"},
		"acme": {"client_id": "x", "url": "https://id.acme.example", "pkce": false}, "off": {"enabled": false}}`
	providers, err := s.oauthProviders("https://api.example/auth/v1/callback", nil)
	if err != nil || len(providers) != 13 {
		t.Errorf("there are %d providers: %v", len(providers), err)
	}
}

func TestSettingsWithProvidersPassTheCheck(t *testing.T) {
	s := Defaults()
	s.OAuthProviders = `{"github": {"client_id": "a", "client_secret": "b"}}`
	if err := s.Check(); err != nil {
		t.Errorf("they are refused: %v", err)
	}
}

func TestAVariableOfAProviderIsNotUnknown(t *testing.T) {
	if notes := UnknownVariables([]string{"BASALT_OAUTH_GOOGLE_CLIENT_ID=x", "BASALT_OAUTH_PROVIDERS=@x"}); len(notes) != 0 {
		t.Errorf("it is said: %v", notes)
	}
	if notes := UnknownVariables([]string{"BASALT_OAUTH_GOOGLE_CLIENTID=x"}); len(notes) != 1 {
		t.Errorf("it is said: %v", notes)
	}
}
