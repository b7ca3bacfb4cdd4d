package admin_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"basalt/api"
	"basalt/api/admin"
	"basalt/api/apitest"
	"basalt/auth"
	"basalt/auth/administrator"
	"basalt/auth/provider/providertest"
	"basalt/auth/sso/ssotest"
)

// providersOf reads the answer of a route of providers.
func providersOf(t *testing.T, answer *apitest.Answer) (body admin.ProvidersBody) {
	t.Helper()
	if answer.Status != http.StatusOK {
		t.Fatalf("%d %s", answer.Status, answer.Body)
	}
	answer.JSON(t, &body)
	return body
}

func changing[T any](value T) *T { return &value }

// neighbours lets a server call those of this machine.
func neighbours(s *api.Settings) { s.OutgoingAllow = []string{"127.0.0.0/8"} }

func TestACustomProviderIsAddedChangedAndRemoved(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, "", neighbours)
	d := &dashboard{s, s.Administrator(t, administrator.Owner)}
	openID := providertest.Start(t, s.URL+"/auth/v1/callback")
	list := providersOf(t, d.call(t, "GET", "/providers", nil))
	if list.CallbackURL != s.URL+"/auth/v1/callback" || len(list.Custom) != 0 || len(list.BuiltIn) < 11 {
		t.Errorf("%+v", list)
	}

	var found admin.DiscoveredBody
	d.call(t, "POST", "/providers/discover", admin.ProviderDiscovery{Issuer: openID.Issuer}).JSON(t, &found)
	if found.Issuer != openID.Issuer || !strings.HasPrefix(found.TokenURL, openID.Issuer) || found.JWKSURI == "" || len(found.Algorithms) == 0 {
		t.Errorf("%+v", found)
	}
	const secret = "canary-of-a-client"
	text := []string{}
	call := func(method, path string, body any) admin.ProvidersBody {
		t.Helper()
		answer := d.call(t, method, path, body)
		text = append(text, answer.Body)
		return providersOf(t, answer)
	}
	made := call("POST", "/providers/custom", admin.CustomProviderChange{
		Identifier: "custom:acme", Type: "oidc", Name: changing(`<img src=x onerror=alert(1)> "Acme"`), ClientID: changing("basalt"),
		ClientSecret: changing(auth.Secret(secret)), Issuer: changing(openID.Issuer), Scopes: changing([]string{"phone"}),
	})
	if len(made.Custom) != 1 || made.Custom[0].Identifier != "custom:acme" || !made.Custom[0].Enabled || !made.Custom[0].PKCE || made.Custom[0].Scopes[0] != "phone" {
		t.Fatalf("%+v", made.Custom)
	}
	authorize := func() *apitest.Answer { return s.Do(t, "GET", "/auth/v1/authorize?provider=custom:acme", "") }
	if answer := authorize(); answer.Status != http.StatusFound || !strings.HasPrefix(answer.Header.Get("Location"), openID.Issuer) {
		t.Errorf("users are not led there: %d %s", answer.Status, answer.Body)
	}
	off := call("PATCH", "/providers/custom/custom%3Aacme", admin.CustomProviderChange{Enabled: changing(false), Name: changing("Acme")})
	if one := off.Custom[0]; one.Enabled || one.Name != "Acme" || one.ClientID != "basalt" {
		t.Errorf("%+v", one)
	}
	if answer := authorize(); answer.Status != http.StatusBadRequest {
		t.Errorf("%d %s", answer.Status, answer.Body)
	}
	call("PATCH", "/providers/custom/custom:acme", admin.CustomProviderChange{Enabled: changing(true), ClientSecret: changing(auth.Secret(secret + "-2")), AuthorizationParams: map[string]string{"prompt": "login"}})
	if answer := authorize(); answer.Status != http.StatusFound || !strings.Contains(answer.Header.Get("Location"), "prompt=login") {
		t.Errorf("%d %s", answer.Status, answer.Body)
	}
	if gone := call("DELETE", "/providers/custom/custom%3Aacme", nil); len(gone.Custom) != 0 {
		t.Errorf("%+v", gone.Custom)
	}
	for _, method := range []string{"PATCH", "DELETE"} {
		if answer := d.call(t, method, "/providers/custom/custom:acme", "{}"); answer.Status != http.StatusNotFound || !strings.Contains(answer.Body, "custom_provider_not_found") {
			t.Errorf("%s: %d %s", method, answer.Status, answer.Body)
		}
	}
	audit := d.call(t, "GET", "/audit?target=custom:acme", nil).Body
	for _, part := range []string{"provider.create", "provider.change", "provider.delete", `"client_secret":"changed"`, `"prompt":"login"`} {
		if !strings.Contains(strings.ReplaceAll(audit, `": `, `":`), part) {
			t.Errorf("%s is not in the audit log: %s", part, audit)
		}
	}
	if all := strings.Join(append(text, audit, s.Log.String()), "\n"); strings.Contains(all, secret) {
		t.Error("the secret is told")
	}
}

func TestABuiltInProviderIsSetHere(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, "", func(set *api.Settings) {
		neighbours(set)
		set.OAuthProviders = `{"github":{"client_id":"given","client_secret":"given"},"gitlab":{"client_id":"given","client_secret":"given","enabled":false}}`
	})
	d := &dashboard{s, s.Administrator(t, administrator.Owner)}
	openID := providertest.Start(t, s.URL+"/auth/v1/callback")
	const secret = "canary-of-a-client"
	named := func(list admin.ProvidersBody, name string) admin.ProviderBody {
		t.Helper()
		for _, b := range list.BuiltIn {
			if b.Name == name {
				return b
			}
		}
		t.Fatalf("no %s", name)
		return admin.ProviderBody{}
	}
	offered := func() bool {
		return strings.Contains(s.Do(t, "GET", "/auth/v1/settings", "").Body, `"keycloak":true`)
	}
	led := func(provider string) string {
		return s.Do(t, "GET", "/auth/v1/authorize?provider="+provider, "").Header.Get("Location")
	}

	for what, change := range map[string]admin.CustomProviderChange{
		"a name that is none":     {Identifier: "gogle", ClientID: changing("id"), ClientSecret: changing(auth.Secret(secret))},
		"one of its own":          {Identifier: "custom:acme", ClientID: changing("id"), ClientSecret: changing(auth.Secret(secret))},
		"no secret":               {Identifier: "google", ClientID: changing("id")},
		"no client id":            {Identifier: "google", ClientSecret: changing(auth.Secret(secret))},
		"no realm":                {Identifier: "keycloak", ClientID: changing("id"), ClientSecret: changing(auth.Secret(secret))},
		"an address that is none": {Identifier: "keycloak", ClientID: changing("id"), ClientSecret: changing(auth.Secret(secret)), Issuer: changing("ftp://x")},
	} {
		change.Type = auth.CustomPreset
		if answer := d.call(t, "POST", "/providers/custom", change); answer.Status/100 != 4 || strings.Contains(answer.Body, secret) {
			t.Errorf("%s: %d %s", what, answer.Status, answer.Body)
		}
	}
	if offered() {
		t.Error("offered before it is set")
	}
	list := providersOf(t, d.call(t, "POST", "/providers/custom", admin.CustomProviderChange{
		Type: auth.CustomPreset, Identifier: "keycloak", ClientID: changing(providertest.ClientID), ClientSecret: changing(auth.Secret(providertest.ClientSecret)), Issuer: changing(openID.Issuer),
	}))
	if got := named(list, "keycloak"); got.State != "on" || got.Stored == nil || got.ClientID != providertest.ClientID || got.Sources[0] != "stored" || len(list.Custom) != 0 {
		t.Errorf("%+v", got)
	}
	if !offered() || !strings.HasPrefix(led("keycloak"), openID.Issuer) {
		t.Errorf("it does not count at once: %t, %s", offered(), led("keycloak"))
	}
	// The app's service key neither sees nor changes it.
	service := "Authorization: Bearer " + s.Keys.ServiceKey.Reveal()
	if answer := s.Do(t, "GET", "/auth/v1/admin/custom-providers", "", service); strings.Contains(answer.Body, "keycloak") {
		t.Errorf("listed: %s", answer.Body)
	}
	for _, method := range []string{"GET", "DELETE"} {
		if answer := s.Do(t, method, "/auth/v1/admin/custom-providers/keycloak", "", service); answer.Status != http.StatusNotFound {
			t.Errorf("%s by the service key: %d", method, answer.Status)
		}
	}
	if answer := s.Do(t, "POST", "/auth/v1/admin/custom-providers", `{"provider_type":"preset","identifier":"google","name":"g","client_id":"i","client_secret":"s"}`, service); answer.Status != http.StatusBadRequest {
		t.Errorf("made by the service key: %d %s", answer.Status, answer.Body)
	}
	// Another address of its server demands the secret anew.
	if answer := d.call(t, "PATCH", "/providers/custom/keycloak", admin.CustomProviderChange{Issuer: changing("https://elsewhere.example")}); answer.Status != http.StatusBadRequest {
		t.Errorf("redirected: %d %s", answer.Status, answer.Body)
	}
	providersOf(t, d.call(t, "PATCH", "/providers/custom/keycloak", admin.CustomProviderChange{Enabled: changing(false)}))
	if offered() || led("keycloak") != "" {
		t.Error("it counts though it is off")
	}
	if got := named(providersOf(t, d.call(t, "DELETE", "/providers/custom/keycloak", nil)), "keycloak"); got.State != "unset" || got.Stored != nil {
		t.Errorf("removed: %+v", got)
	}
	// What the operator gives comes first.
	list = providersOf(t, d.call(t, "POST", "/providers/custom", admin.CustomProviderChange{Type: auth.CustomPreset, Identifier: "github", ClientID: changing("stored"), ClientSecret: changing(auth.Secret(secret))}))
	if got := named(list, "github"); got.ClientID != "given" || got.Stored == nil || got.Stored.ClientID != "stored" {
		t.Errorf("%+v", got)
	}
	if to := led("github"); !strings.Contains(to, "client_id=given") {
		t.Errorf("led to %s", to)
	}
	list = providersOf(t, d.call(t, "POST", "/providers/custom", admin.CustomProviderChange{Type: auth.CustomPreset, Identifier: "gitlab", ClientID: changing("stored"), ClientSecret: changing(auth.Secret(secret))}))
	if got := named(list, "gitlab"); got.State != "off" || got.Stored == nil || led("gitlab") != "" || !strings.Contains(s.Do(t, "GET", "/auth/v1/settings", "").Body, `"gitlab":false`) {
		t.Errorf("it counts though the operator has switched it off: %+v, led to %s", got, led("gitlab"))
	}
}

func TestAProviderThatCannotWorkIsRefused(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, "", neighbours)
	d := &dashboard{s, s.Administrator(t, administrator.Owner)}
	openID := providertest.Start(t, s.URL+"/auth/v1/callback")
	whole := func(change func(*admin.CustomProviderChange)) admin.CustomProviderChange {
		in := admin.CustomProviderChange{
			Identifier: "custom:one", Type: "oidc", Name: changing("One"), ClientID: changing("a"), ClientSecret: changing(auth.Secret("b")), Issuer: changing("https://id.example"),
		}
		change(&in)
		return in
	}
	for name, in := range map[string]struct {
		path string
		body any
		want string
	}{
		"a name without its prefix":       {"custom", whole(func(in *admin.CustomProviderChange) { in.Identifier = "one" }), "custom:"},
		"a type that is none":             {"custom", whole(func(in *admin.CustomProviderChange) { in.Type = "saml" }), "provider_type"},
		"no secret":                       {"custom", whole(func(in *admin.CustomProviderChange) { in.ClientSecret = nil }), "client_secret"},
		"no name":                         {"custom", whole(func(in *admin.CustomProviderChange) { in.Name = nil }), "name"},
		"no issuer":                       {"custom", whole(func(in *admin.CustomProviderChange) { in.Issuer = nil }), "issuer"},
		"an issuer that is no URL":        {"custom", whole(func(in *admin.CustomProviderChange) { in.Issuer = changing("javascript:alert(1)") }), "URL"},
		"no addresses of OAuth 2.0":       {"custom", whole(func(in *admin.CustomProviderChange) { in.Type = "oauth2" }), "authorization_url"},
		"a parameter of the protocol":     {"custom", whole(func(in *admin.CustomProviderChange) { in.AuthorizationParams = map[string]string{"state": "x"} }), "state"},
		"discovery of nothing":            {"discover", admin.ProviderDiscovery{}, "issuer"},
		"discovery of another's":          {"discover", admin.ProviderDiscovery{Issuer: openID.Issuer + "/other", DiscoveryURL: openID.Issuer + "/.well-known/openid-configuration"}, "the issuer says that it is"},
		"discovery where nobody is":       {"discover", admin.ProviderDiscovery{Issuer: "http://" + freeAddress(t)}, "discovery_failed"},
		"discovery of an address of here": {"discover", admin.ProviderDiscovery{Issuer: "http://10.0.0.1"}, "discovery_failed"},
	} {
		if answer := d.call(t, "POST", "/providers/"+in.path, in.body); answer.Status/100 != 4 || !strings.Contains(answer.Body, in.want) {
			t.Errorf("%s: %d %s, want %q", name, answer.Status, answer.Body, in.want)
		}
	}
	if answer := d.call(t, "POST", "/providers/custom", whole(func(*admin.CustomProviderChange) {})); answer.Status != http.StatusOK {
		t.Errorf("%d %s", answer.Status, answer.Body)
	}
	if answer := d.call(t, "POST", "/providers/custom", whole(func(*admin.CustomProviderChange) {})); answer.Status != http.StatusConflict {
		t.Errorf("one of the same name: %d %s", answer.Status, answer.Body)
	}
}

func TestNoProviderLeadsTheServerToAddressesOfItsOwnNetwork(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	inside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		_, _ = io.WriteString(w, `{"canary":"of-the-inside"}`)
	}))
	t.Cleanup(inside.Close)
	_, port, _ := net.SplitHostPort(inside.Listener.Addr().String())
	s := apitest.Start(t, "", nil)
	d := &dashboard{s, s.Administrator(t, administrator.Owner)}
	for i, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "[::1]", "0.0.0.0", "2130706433", "0x7f000001", "127.1", "169.254.169.254", "10.0.0.1", "[fe80::1]"} {
		for j, issuer := range []string{"http://" + host + ":" + port, "https://" + host + ":" + port} {
			for _, in := range []admin.ProviderDiscovery{{Issuer: issuer}, {Issuer: "https://id.example", DiscoveryURL: issuer + "/.well-known/openid-configuration"}} {
				if answer := d.call(t, "POST", "/providers/discover", in); answer.Status/100 != 4 {
					t.Errorf("%+v: %d %s", in, answer.Status, answer.Body)
				}
			}
			name := fmt.Sprintf("custom:one%d-%d", i, j)
			made := d.call(t, "POST", "/providers/custom", admin.CustomProviderChange{
				Identifier: name, Type: "oidc", Name: changing("One"), ClientID: changing("a"), ClientSecret: changing(auth.Secret("b")), Issuer: changing(issuer),
			})
			if made.Status != http.StatusOK {
				continue
			}
			if answer := s.Do(t, "GET", "/auth/v1/authorize?provider="+name, ""); answer.Status < 400 {
				t.Errorf("%s leads to %s", issuer, answer.Header.Get("Location"))
			}
		}
	}
	if asked.Load() != 0 {
		t.Errorf("what is inside was asked %d times", asked.Load())
	}
	saml := d.call(t, "POST", "/providers/saml", admin.SAMLProviderChange{MetadataURL: "https://127.0.0.1:" + port, Domains: []string{"acme.example"}})
	if saml.Status/100 != 4 || !strings.Contains(saml.Body, "saml_metadata_fetch_failed") || asked.Load() != 0 {
		t.Errorf("metadata from inside: %d %s", saml.Status, saml.Body)
	}
}

func TestADiscoveryTellsNothingOfAnotherAnswer(t *testing.T) {
	t.Parallel()
	inside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"canary":"of-the-inside"}`)
	}))
	t.Cleanup(inside.Close)
	for name, answer := range map[string]http.HandlerFunc{
		"a page":      func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<p>canary") },
		"another one": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"canary":"x"}`) },
		"a refusal":   func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "canary", http.StatusForbidden) },
		"a redirect":  func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, inside.URL, http.StatusFound) },
		"too much": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, strings.Repeat("canary", 1<<20))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			issuer := httptest.NewServer(answer)
			t.Cleanup(issuer.Close)
			s := apitest.Start(t, "", neighbours)
			d := &dashboard{s, s.Administrator(t, administrator.Owner)}
			got := d.call(t, "POST", "/providers/discover", admin.ProviderDiscovery{Issuer: issuer.URL})
			if got.Status != http.StatusUnprocessableEntity || strings.Contains(got.Body+s.Log.String(), "canary") {
				t.Errorf("%d %.500s", got.Status, got.Body)
			}
		})
	}
}

func TestAnIdentityProviderIsAddedChangedAndRemoved(t *testing.T) {
	t.Parallel()
	key := ssotest.NewKey()
	s := apitest.Start(t, "", func(settings *api.Settings) { settings.SAMLPrivateKey = auth.Secret(key) })
	d := &dashboard{s, s.Administrator(t, administrator.Owner)}
	idp := ssotest.New(t, func() string { return s.Do(t, "GET", "/auth/v1/sso/saml/metadata", "", "Apikey:").Body })
	if list := providersOf(t, d.call(t, "GET", "/providers", nil)); !list.SAML.On || list.SAML.ACSURL != s.URL+"/auth/v1/sso/saml/acs" || len(list.SAML.Providers) != 0 {
		t.Errorf("%+v", list.SAML)
	}
	made := providersOf(t, d.call(t, "POST", "/providers/saml", admin.SAMLProviderChange{MetadataXML: idp.Description(), Domains: []string{"Acme.example"}, ResourceID: changing("acme"), NameIDFormat: changing("urn:oasis:names:tc:SAML:2.0:nameid-format:persistent")}))
	if len(made.SAML.Providers) != 1 {
		t.Fatalf("%+v", made.SAML)
	}
	one := made.SAML.Providers[0]
	if one.EntityID == "" || one.Domains[0] != "acme.example" || one.ResourceID != "acme" || one.Disabled {
		t.Errorf("%+v", one)
	}
	path := "/providers/saml/" + one.ID.String()
	changed := providersOf(t, d.call(t, "PATCH", path, admin.SAMLProviderChange{Disabled: changing(true), Domains: []string{"acme.example", "acme.test"}})).SAML.Providers[0]
	if !changed.Disabled || len(changed.Domains) != 2 || changed.NameIDFormat != one.NameIDFormat || changed.ResourceID != "acme" {
		t.Errorf("%+v", changed)
	}
	if kept := providersOf(t, d.call(t, "PATCH", path, `{"disabled":false}`)).SAML.Providers[0]; kept.Disabled || len(kept.Domains) != 2 {
		t.Errorf("%+v", kept)
	}
	for name, body := range map[string]string{
		"neither": `{}`, "no XML": `{"metadata_xml":"<a"}`, "a URL without TLS": `{"metadata_url":"http://id.example/metadata"}`, "a mapping that is none": `{"metadata_xml":"<a/>","attribute_mapping":[]}`,
	} {
		if answer := d.call(t, "POST", "/providers/saml", body); answer.Status/100 != 4 {
			t.Errorf("%s: %d %s", name, answer.Status, answer.Body)
		}
	}
	if gone := providersOf(t, d.call(t, "DELETE", path, nil)); len(gone.SAML.Providers) != 0 {
		t.Errorf("%+v", gone.SAML)
	}
	if answer := d.call(t, "DELETE", path, nil); answer.Status != http.StatusNotFound {
		t.Errorf("%d %s", answer.Status, answer.Body)
	}
	audit := d.call(t, "GET", "/audit?target="+one.ID.String(), nil).Body
	for _, part := range []string{"saml_provider.create", "saml_provider.change", "saml_provider.delete", "acme.test"} {
		if !strings.Contains(audit, part) {
			t.Errorf("%s is not in the audit log: %s", part, audit)
		}
	}
	if strings.Contains(audit, "X509Certificate") {
		t.Error("metadata are in the audit log")
	}
}

func TestProvidersAreChangedByWhoHasProvedThemselves(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, "", administrator.Owner)
	d.Database.Exec(t, `update basalt.administrator_sessions set elevated_until = now()`)
	for _, route := range [][2]string{
		{"POST", "/providers/custom"}, {"PATCH", "/providers/custom/custom:acme"}, {"DELETE", "/providers/custom/custom:acme"}, {"POST", "/providers/discover"},
		{"POST", "/providers/saml"}, {"PATCH", "/providers/saml/x"}, {"DELETE", "/providers/saml/x"},
	} {
		if answer := d.call(t, route[0], route[1], "{}"); answer.Status != http.StatusForbidden || !strings.Contains(answer.Body, "elevation_needed") {
			t.Errorf("%v: %d %s", route, answer.Status, answer.Body)
		}
	}
}

func TestABuiltInProviderThatIsSwitchedOffOutsideStaysOff(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, "", func(set *api.Settings) { set.OAuthProviders = `{"gitlab":{"enabled":false}}` })
	d := &dashboard{s, s.Administrator(t, administrator.Owner)}
	list := providersOf(t, d.call(t, "POST", "/providers/custom", admin.CustomProviderChange{
		Type: auth.CustomPreset, Identifier: "gitlab", ClientID: changing("id"), ClientSecret: changing(auth.Secret("a secret")),
	}))
	for _, b := range list.BuiltIn {
		if b.Name == "gitlab" && b.State != "off" {
			t.Errorf("it is told as %s", b.State)
		}
	}
	if answer := s.Do(t, "GET", "/auth/v1/authorize?provider=gitlab", ""); answer.Status != http.StatusBadRequest {
		t.Errorf("it signs users in: %d %s", answer.Status, answer.Header.Get("Location"))
	}
	if answer := s.Do(t, "GET", "/auth/v1/settings", ""); !strings.Contains(answer.Body, `"gitlab":false`) {
		t.Errorf("it is offered: %s", answer.Body)
	}
}

func TestAProvidersSecretThatNoKeyOpensIsSetAnew(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, "", nil)
	d := &dashboard{s, s.Administrator(t, administrator.Owner)}
	set := admin.CustomProviderChange{Type: auth.CustomPreset, Identifier: "gitlab", ClientID: changing("id"), ClientSecret: changing(auth.Secret("a secret"))}
	providersOf(t, d.call(t, "POST", "/providers/custom", set))
	s.Database.Exec(t, `update auth.custom_oauth_providers set client_secret = 'enc:v1:gone:AAAA'`)
	providersOf(t, d.call(t, "PATCH", "/providers/custom/gitlab", admin.CustomProviderChange{ClientSecret: set.ClientSecret}))
	if answer := s.Do(t, "GET", "/auth/v1/authorize?provider=gitlab", ""); answer.Status != http.StatusFound {
		t.Errorf("%d %s", answer.Status, answer.Body)
	}
}
