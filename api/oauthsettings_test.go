package api

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"basalt/api/admin"
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
			_, _, err := s.oauthProviders("https://api.example/auth/v1/callback", nil)
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
	providers, _, err := s.oauthProviders("https://api.example/auth/v1/callback", nil)
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

func TestNoProvidersAreDescribedByNull(t *testing.T) {
	s := &Settings{}
	s.OAuthProviders = `null`
	if _, err := s.describeProviders([]string{"BASALT_OAUTH_GITLAB_CLIENT_ID=g"}); err != nil {
		t.Error(err)
	}
}

func TestAStoredSettingSaysNothingOfProvidersThatVariablesName(t *testing.T) {
	defaults := Defaults()
	s, err := defaults.withStored(admin.Stored{Secrets: map[string]auth.Secret{"oauth-providers": `{"gitlab": {"client_id": "x", "url": "https://elsewhere.example"}}`}})
	if err != nil {
		t.Fatal(err)
	}
	environment := []string{"BASALT_OAUTH_GITLAB_CLIENT_ID=g", "BASALT_OAUTH_GITLAB_SECRET=canary"}
	described, err := s.describedProviders(environment)
	if err != nil || described["gitlab"].URL != "" || described["gitlab"].ClientSecret != "canary" {
		t.Errorf("the secret of a variable goes to %+v, %v", described["gitlab"], err)
	}
	bodies, err := s.describeProviders(environment)
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range bodies {
		if body.Name == "gitlab" && (fmt.Sprint(body.Sources) != "[environment]" || body.URL != "") {
			t.Errorf("%+v", body)
		}
	}
}

func TestProvidersAreToldWithTheirSourcesAndWithoutTheirSecrets(t *testing.T) {
	s := Defaults()
	s.given = map[string]source{"oauth-providers": fromFlag}
	s.OAuthProviders = `{"github": {"client_id": "a", "client_secret": "canary", "scopes": "read:org,repo"}, "discord": {"client_id": "d", "enabled": false}, "acme": {"client_id": "c", "url": "https://id.acme.example"}}`
	bodies, err := s.describeProviders([]string{"BASALT_OAUTH_GOOGLE_CLIENT_ID=g,phone", "BASALT_OAUTH_GOOGLE_SECRET=canary", "BASALT_OAUTH_GITHUB_ENABLED=true", "BASALT_OAUTH_APPLE_SECRET="})
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]string{}
	for _, body := range bodies {
		text := fmt.Sprintf("%+v", body)
		if strings.Contains(text, "canary") {
			t.Errorf("%s", text)
		}
		told[body.Name] = fmt.Sprint(body.State, body.Sources, body.ClientID, body.Scopes, body.Variables)
	}
	for name, want := range map[string]string{
		"github":   "on [flag environment] a [read:org repo] [BASALT_OAUTH_GITHUB_CLIENT_ID BASALT_OAUTH_GITHUB_SECRET]",
		"google":   "on [environment] g [] [BASALT_OAUTH_GOOGLE_CLIENT_ID BASALT_OAUTH_GOOGLE_SECRET]",
		"discord":  "off [flag] d [] [BASALT_OAUTH_DISCORD_CLIENT_ID BASALT_OAUTH_DISCORD_SECRET]",
		"acme":     "on [flag] c [] [BASALT_OAUTH_ACME_CLIENT_ID BASALT_OAUTH_ACME_SECRET]",
		"keycloak": "unset []  [] [BASALT_OAUTH_KEYCLOAK_CLIENT_ID BASALT_OAUTH_KEYCLOAK_SECRET BASALT_OAUTH_KEYCLOAK_URL]",
		"apple":    "unset []  [] [BASALT_OAUTH_APPLE_CLIENT_ID BASALT_OAUTH_APPLE_SECRET]",
	} {
		if strings.ReplaceAll(told[name], " ", "") != strings.ReplaceAll(want, " ", "") {
			t.Errorf("%s is told as %q", name, told[name])
		}
	}
	if len(bodies) != 12 {
		t.Errorf("there are %d: %v", len(bodies), told)
	}
}
