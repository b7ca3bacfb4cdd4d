package accounts_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/crewjam/saml"
	"github.com/google/uuid"

	"basalt/auth"
	"basalt/auth/hook"
	"basalt/auth/outgoing"
	"basalt/auth/sso"
	"basalt/auth/sso/ssotest"
)

const mapped = `,"attribute_mapping":{"keys":{
	"full_name":{"names":["cn","urn:oid:2.5.4.3"]},
	"teams":{"name":"eduPersonAffiliation","array":true},
	"plan":{"name":"none","default":"enterprise"},
	"sub":{"name":"cn"}}}`

func TestAnOrganisationSignsItsUsersIn(t *testing.T) {
	s := start(t, ssoOptions(t))
	idp := newIdentityProvider(s)
	domain := "corp-" + uuid.NewString()[:8] + ".example"
	provider := idp.register(domain, mapped).str("id")
	email := "ada@" + domain

	to := s.askSSO(fmt.Sprintf(`{"domain":%q,"redirect_to":"http://site.example/in?x=1","skip_http_redirect":true}`, strings.ToUpper(domain)))
	if !strings.HasPrefix(to, idp.SSOURL.String()+"?") || !strings.Contains(to, "Signature=") {
		t.Errorf("the browser is sent to %s", to)
	}
	l := s.consume(idp.Answer(to, ssotest.Employee("u-1", email)))
	user := s.entered(l)
	if l.url.Host != "site.example" || l.url.Path != "/in" || l.query.Get("x") != "1" || l.fragment.Get("token_type") != "bearer" ||
		l.fragment.Get("refresh_token") == "" || l.fragment.Get("expires_in") != "3600" {
		t.Errorf("the browser is sent to %s", l.url)
	}
	for path, want := range map[string]any{
		"email": email, "app_metadata.provider": "sso:" + provider, "app_metadata.providers.0": "sso:" + provider,
		"identities.0.provider": "sso:" + provider, "identities.0.id": "u-1", "identities.0.identity_data.sub": "u-1",
		"identities.0.identity_data.iss": idp.MetadataURL.String(),
		"user_metadata.full_name":        "Ada Lovelace", "user_metadata.email_verified": true,
		"user_metadata.custom_claims.plan": "enterprise", "user_metadata.custom_claims.teams.1": "board",
	} {
		if got := user.get(path); got != want {
			t.Errorf("%s is %v, not %v", path, got, want)
		}
	}
	claims := claimsOf(t, l.fragment.Get("access_token"))
	if amr := fmt.Sprint(claims["amr"]); !strings.Contains(amr, "method:sso/saml") || !strings.Contains(amr, "provider:"+provider) {
		t.Errorf("amr is %s", amr)
	}
	refreshed := s.want(s.refresh(l.fragment.Get("refresh_token")), 200, "")
	if amr := fmt.Sprint(claimsOf(t, refreshed.str("access_token"))["amr"]); !strings.Contains(amr, "provider:"+provider) {
		t.Errorf("amr after a refresh is %s", amr)
	}
	if n := s.count(`select count(*) from auth.users where id = $1 and is_sso_user and email_confirmed_at is not null`, user.str("id")); n != 1 {
		t.Error("the account is not one of single sign-on")
	}

	t.Run("and decides alone about their address", func(t *testing.T) {
		token := refreshed.str("access_token")
		for _, change := range []string{`{"password":"Secret-pass-1"}`, `{"email":"other@example.com"}`} {
			s.want(s.call("PUT", "/user", token, change), 422, "user_sso_managed")
		}
		s.want(s.call("PUT", "/user", token, fmt.Sprintf(`{"email":%q,"data":{"theme":"dark"}}`, email)), 200, "")
	})
	t.Run("and about who they are elsewhere", func(t *testing.T) {
		s.want(s.call("GET", "/user/identities/authorize?provider=google&skip_http_redirect=true", refreshed.str("access_token"), ""), 422, "user_sso_managed")
	})
	t.Run("again, to the same account", func(t *testing.T) {
		to := s.askSSO(fmt.Sprintf(`{"provider_id":%q,"skip_http_redirect":true}`, provider))
		l := s.consume(idp.Answer(to, ssotest.Employee("u-1", "ada.lovelace@"+domain)))
		if again := s.entered(l); again.str("id") != user.str("id") {
			t.Errorf("the user is %s", again.text)
		}
		if l.url.Host != "site.example" || l.url.Path != "" {
			t.Errorf("the browser is sent to %s", l.url)
		}
	})
	t.Run("under another name with the same address", func(t *testing.T) {
		to := s.askSSO(fmt.Sprintf(`{"provider_id":%q,"skip_http_redirect":true}`, provider))
		other := s.entered(s.consume(idp.Answer(to, ssotest.Employee("u-1-new", "ada.lovelace@"+domain))))
		if other.str("id") != user.str("id") || other.get("identities.1") == nil {
			t.Errorf("the user is %s", other.text)
		}
	})
	t.Run("to another account than that of a password", func(t *testing.T) {
		own := s.signUp("bob@" + domain)
		to := s.askSSO(fmt.Sprintf(`{"provider_id":%q,"skip_http_redirect":true}`, provider))
		bob := s.entered(s.consume(idp.Answer(to, ssotest.Employee("u-2", "bob@"+domain))))
		if bob.str("id") == own.str("user.id") || bob.str("email") != "bob@"+domain {
			t.Errorf("the user is %s", bob.text)
		}
	})
	t.Run("without a script, by a redirect", func(t *testing.T) {
		r, _ := http.NewRequest("POST", s.url+"/auth/v1/sso", strings.NewReader(fmt.Sprintf(`{"domain":%q}`, domain)))
		response, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		if response.StatusCode != 303 || !strings.HasPrefix(response.Header.Get("Location"), idp.SSOURL.String()) {
			t.Errorf("the answer is %d to %s", response.StatusCode, response.Header.Get("Location"))
		}
	})
	t.Run("by a code, to who began", func(t *testing.T) {
		verifier := strings.Repeat("v", 50)
		digest := sha256.Sum256([]byte(verifier))
		to := s.askSSO(fmt.Sprintf(`{"domain":%q,"skip_http_redirect":true,"code_challenge":%q,"code_challenge_method":"s256"}`,
			domain, base64.RawURLEncoding.EncodeToString(digest[:])))
		l := s.consume(idp.Answer(to, ssotest.Employee("u-1", email)))
		if l.status != 303 || l.query.Get("code") == "" || l.url.Fragment != "" {
			t.Fatalf("the browser is sent to %s", l.url)
		}
		exchange := fmt.Sprintf(`{"auth_code":%q,"code_verifier":%q}`, l.query.Get("code"), verifier)
		session := s.want(s.call("POST", "/token?grant_type=pkce", s.keys.AnonKey, exchange), 200, "")
		if amr := fmt.Sprint(claimsOf(t, session.str("access_token"))["amr"]); session.str("user.id") != user.str("id") || !strings.Contains(amr, "sso/saml") {
			t.Errorf("the session is %s", session.text)
		}
	})
	t.Run("until the end that it gives", func(t *testing.T) {
		to := s.askSSO(fmt.Sprintf(`{"domain":%q,"skip_http_redirect":true}`, domain))
		end := time.Now().Add(-time.Second)
		l := s.consume(idp.Answer(to, ssotest.Employee("u-1", email), func(a *saml.Assertion) { a.AuthnStatements[0].SessionNotOnOrAfter = &end }))
		s.want(s.refresh(l.fragment.Get("refresh_token")), 400, "session_expired")
	})
	for what, secret := range map[string]string{
		"an access token": l.fragment.Get("access_token"), "a refresh token": l.fragment.Get("refresh_token"), "the key": samlKey()[:40],
	} {
		if strings.Contains(s.log.String(), secret) {
			t.Errorf("%s stands in the log", what)
		}
	}
	t.Run("but not whom the project has banned", func(t *testing.T) {
		s.want(s.admin("PUT", "/users/"+user.str("id"), `{"ban_duration":"1h"}`), 200, "")
		to := s.askSSO(fmt.Sprintf(`{"domain":%q,"skip_http_redirect":true}`, domain))
		s.turnedAway(s.consume(idp.Answer(to, ssotest.Employee("u-1", email))), "user_banned")
	})
}

func TestAnAnswerOfAnIdentityProviderIsChecked(t *testing.T) {
	s := start(t, ssoOptions(t))
	idp, other := newIdentityProvider(s), newIdentityProvider(s)
	provider := idp.register("corp.example").str("id")
	who := ssotest.Employee("u-1", "ada@corp.example")
	ask := func() string {
		t.Helper()
		return s.askSSO(fmt.Sprintf(`{"provider_id":%q,"skip_http_redirect":true}`, provider))
	}
	xmlOf := func(form url.Values, change func(string) string) url.Values {
		text, err := base64.StdEncoding.DecodeString(form.Get("SAMLResponse"))
		if err != nil {
			t.Fatal(err)
		}
		form.Set("SAMLResponse", base64.StdEncoding.EncodeToString([]byte(change(string(text)))))
		return form
	}
	replace := func(from, to string) func(string) string {
		return func(text string) string {
			if !strings.Contains(text, from) {
				t.Fatalf("there is no %s in %s", from, text)
			}
			return strings.ReplaceAll(text, from, to)
		}
	}
	changed := func(change func(*saml.Assertion)) url.Values { return idp.Answer(ask(), who, change) }
	past := time.Now().Add(-time.Hour)
	for name, form := range map[string]func() url.Values{
		"with another address than was signed": func() url.Values {
			return xmlOf(idp.Answer(ask(), who), replace("ada@corp.example", "eve@corp.example"))
		},
		"without a signature": func() url.Values {
			return xmlOf(idp.Answer(ask(), who), func(text string) string {
				for {
					from, to := strings.Index(text, "<ds:Signature"), strings.Index(text, "</ds:Signature>")
					if from < 0 {
						return text
					}
					text = text[:from] + text[to+len("</ds:Signature>"):]
				}
			})
		},
		"of another identity provider": func() url.Values {
			form := other.Begin("", who)
			form.Set("RelayState", relayOf(ask()))
			return form
		},
		"of another that uses its name": func() url.Values {
			liar := other.Posing(func(p *saml.IdentityProvider) { p.MetadataURL, p.SSOURL = idp.MetadataURL, idp.SSOURL })
			return liar.Answer(ask(), who)
		},
		"to another request": func() url.Values {
			form := idp.Answer(ask(), who)
			form.Set("RelayState", relayOf(ask()))
			return form
		},
		"to no request": func() url.Values {
			form := idp.Begin("", who)
			form.Set("RelayState", relayOf(ask()))
			return form
		},
		"for another audience": func() url.Values {
			return changed(func(a *saml.Assertion) {
				a.Conditions.AudienceRestrictions[0].Audience.Value = "https://other.example"
			})
		},
		"for no audience": func() url.Values {
			return changed(func(a *saml.Assertion) { a.Conditions.AudienceRestrictions = nil })
		},
		"for another recipient": func() url.Values {
			return changed(func(a *saml.Assertion) {
				a.Subject.SubjectConfirmations[0].SubjectConfirmationData.Recipient = "https://other.example/acs"
			})
		},
		"too late": func() url.Values {
			return changed(func(a *saml.Assertion) {
				a.IssueInstant, a.Conditions.NotBefore, a.Conditions.NotOnOrAfter = past, past, past
			})
		},
		"too early": func() url.Values {
			return changed(func(a *saml.Assertion) { a.Conditions.NotBefore = time.Now().Add(time.Hour) })
		},
		"with an entity that grows": func() url.Values {
			return xmlOf(idp.Answer(ask(), who), func(text string) string {
				return `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>` +
					strings.Replace(text, "ada@corp.example", "&b;", 1)
			})
		},
		"with a nest that is too deep": func() url.Values {
			return xmlOf(idp.Answer(ask(), who), func(string) string { return strings.Repeat("<a>", 10_000) + strings.Repeat("</a>", 10_000) })
		},
		"that is too large": func() url.Values {
			return xmlOf(idp.Answer(ask(), who), func(text string) string { return text + strings.Repeat(" ", 300<<10) })
		},
		"that is no XML":            func() url.Values { return url.Values{"RelayState": {relayOf(ask())}, "SAMLResponse": {"aGFsbG8="}} },
		"that is no base64":         func() url.Values { return url.Values{"RelayState": {relayOf(ask())}, "SAMLResponse": {"%%%"}} },
		"that is nothing":           func() url.Values { return url.Values{"RelayState": {relayOf(ask())}} },
		"without a request of ours": func() url.Values { return idp.Begin("http://site.example", who) },
	} {
		t.Run(name, func(t *testing.T) { s.turnedAway(s.consume(form()), "validation_failed") })
	}
	t.Run("and names a user", func(t *testing.T) {
		s.turnedAway(s.consume(changed(func(a *saml.Assertion) {
			a.Subject.NameID.Format = string(saml.TransientNameIDFormat)
		})), "saml_assertion_no_user_id")
	})
	t.Run("and names an address", func(t *testing.T) {
		s.turnedAway(s.consume(idp.Answer(ask(), ssotest.Employee("u-1", ""))), "saml_assertion_no_email")
	})
	t.Run("and a request is used up by a wrong answer", func(t *testing.T) {
		to := ask()
		good := idp.Answer(to, who)
		bad := url.Values{"RelayState": {good.Get("RelayState")}, "SAMLResponse": {"aGFsbG8="}}
		s.turnedAway(s.consume(bad), "validation_failed")
		s.turnedAway(s.consume(good), "saml_relay_state_not_found")
	})
	t.Run("and comes in time", func(t *testing.T) {
		form := idp.Answer(ask(), who)
		if _, err := s.db.Pool.Exec(t.Context(), `update auth.saml_relay_states set created_at = now() - interval '11 minutes' where id = $1`, form.Get("RelayState")); err != nil {
			t.Fatal(err)
		}
		s.turnedAway(s.consume(form), "saml_relay_state_expired")
	})
	t.Run("and comes while its identity provider is trusted", func(t *testing.T) {
		form := idp.Answer(ask(), who)
		s.want(s.admin("PUT", "/sso/providers/"+provider, `{"disabled":true}`), 200, "")
		s.turnedAway(s.consume(form), "sso_provider_disabled")
		s.want(s.call("POST", "/sso", "", fmt.Sprintf(`{"provider_id":%q}`, provider)), 404, "sso_provider_disabled")
		s.want(s.admin("PUT", "/sso/providers/"+provider, `{"disabled":false}`), 200, "")
	})
	if n := s.count(`select count(*) from auth.users`); n != 0 {
		t.Errorf("%d accounts were made", n)
	}
	s.entered(s.consume(idp.Answer(ask(), who)))
}

func relayOf(to string) string {
	u, _ := url.Parse(to)
	return u.Query().Get("RelayState")
}

func TestAnAssertionIsGoodOnce(t *testing.T) {
	o := ssoOptions(t)
	o.SSO.IdPInitiated = true
	s := start(t, o)
	second := startOver(t, s.db, o)
	idp := newIdentityProvider(s)
	provider := idp.register("corp.example").str("id")
	together := func(forms ...url.Values) (entered int) {
		var mu sync.Mutex
		var group sync.WaitGroup
		for i := range 20 {
			group.Go(func() {
				on := s
				if i%2 == 1 {
					on = second
				}
				l := on.consume(forms[i%len(forms)])
				mu.Lock()
				defer mu.Unlock()
				switch {
				case l.fragment.Get("access_token") != "":
					entered++
				case l.status != 303 || l.query.Get("error") == "server_error":
					t.Errorf("the browser is sent to %s", l.url)
				}
			})
		}
		group.Wait()
		return entered
	}
	t.Run("when it answers a request", func(t *testing.T) {
		to := s.askSSO(fmt.Sprintf(`{"provider_id":%q,"skip_http_redirect":true}`, provider))
		if n := together(idp.Answer(to, ssotest.Employee("u-1", "ada@corp.example"))); n != 1 {
			t.Errorf("%d came in", n)
		}
	})
	t.Run("when the identity provider began", func(t *testing.T) {
		if n := together(idp.Begin("", ssotest.Employee("u-2", "bob@corp.example"))); n != 1 {
			t.Errorf("%d came in", n)
		}
	})
	t.Run("and different ones of one person make one account", func(t *testing.T) {
		var forms []url.Values
		for range 20 {
			forms = append(forms, idp.Begin("", ssotest.Employee("u-3", "eve@corp.example")))
		}
		if n := together(forms...); n != 20 {
			t.Errorf("%d came in", n)
		}
	})
	t.Run("and those of one address under several names make one account", func(t *testing.T) {
		var forms []url.Values
		for i := range 20 {
			forms = append(forms, idp.Begin("", ssotest.Employee(fmt.Sprint("n-", i), "mallory@corp.example")))
		}
		if n := together(forms...); n != 20 {
			t.Errorf("%d came in", n)
		}
	})
	if n := s.count(`select count(*) from auth.users`); n != 4 {
		t.Errorf("there are %d accounts", n)
	}
}

func TestAnIdentityProviderBegins(t *testing.T) {
	o := ssoOptions(t)
	o.SSO.IdPInitiated = true
	s := start(t, o)
	idp, stranger := newIdentityProvider(s), newIdentityProvider(s)
	provider := idp.register("corp.example").str("id")
	who := ssotest.Employee("u-1", "ada@corp.example")
	for relay, want := range map[string]string{
		"":                                 "http://site.example",
		"http://site.example/deep?a=b":     "http://site.example/deep?a=b",
		"https://evil.example/":            "http://site.example",
		"javascript:alert(1)":              "http://site.example",
		"//evil.example":                   "http://site.example",
		"http://site.example@evil.example": "http://site.example",
	} {
		l := s.consume(idp.Begin(relay, who))
		s.entered(l)
		l.url.Fragment, l.url.RawFragment = "", ""
		if l.url.String() != want {
			t.Errorf("%q leads to %s", relay, l.url)
		}
	}
	s.turnedAway(s.consume(stranger.Begin("", who)), "saml_idp_not_found")
	s.turnedAway(s.consume(idp.Begin(uuid.NewString(), who)), "saml_relay_state_not_found")
	t.Run("but not with the answer to somebody's request", func(t *testing.T) {
		form := idp.Answer(s.askSSO(fmt.Sprintf(`{"provider_id":%q,"skip_http_redirect":true}`, provider)), who)
		form.Set("RelayState", "")
		s.turnedAway(s.consume(form), "validation_failed")
	})
}

func TestSingleSignOnIsOffWithoutAKey(t *testing.T) {
	s := start(t, options())
	s.want(s.call("POST", "/sso", "", `{"domain":"corp.example"}`), 404, "saml_provider_disabled")
	s.want(s.call("GET", "/sso/saml/metadata", "", ""), 404, "saml_provider_disabled")
	s.want(s.call("POST", "/sso/saml/acs", "", "SAMLResponse=x"), 404, "saml_provider_disabled")
	if s.call("GET", "/settings", "", "").get("saml_enabled") != false {
		t.Error("the settings do not tell")
	}
}

func TestTheServiceProviderIsDescribed(t *testing.T) {
	s := start(t, ssoOptions(t))
	a := s.want(s.call("GET", "/sso/saml/metadata", "", ""), 200, "")
	for _, part := range []string{
		`entityID="http://api.example/auth/v1/sso/saml/metadata"`, `Location="http://api.example/auth/v1/sso/saml/acs"`,
		`WantAssertionsSigned="true"`, `use="signing"`,
	} {
		if !strings.Contains(a.text, part) {
			t.Errorf("there is no %s in %s", part, a.text)
		}
	}
	if strings.Contains(a.text, `use="encryption"`) || strings.Contains(a.text, "HTTP-Artifact") {
		t.Errorf("more is offered than can be done: %s", a.text)
	}
	file := s.call("GET", "/sso/saml/metadata?download=true", "", "")
	if !strings.Contains(file.header.Get("Content-Disposition"), "metadata.xml") || file.header.Get("Content-Type") != "application/xml" {
		t.Errorf("the file is %v", file.header)
	}
	if s.call("GET", "/settings", "", "").get("saml_enabled") != true {
		t.Error("the settings do not tell")
	}
}

func TestIdentityProvidersAreAdministered(t *testing.T) {
	s := start(t, ssoOptions(t))
	idp, other := newIdentityProvider(s), newIdentityProvider(s)
	made := idp.register("Corp.Example", `,"resource_id":"acme","name_id_format":"urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress"`, mapped)
	id := made.str("id")
	for path, want := range map[string]any{
		"saml.entity_id": idp.MetadataURL.String(), "domains.0.domain": "corp.example", "resource_id": "acme", "disabled": nil,
		"saml.attribute_mapping.keys.plan.default": "enterprise",
		"saml.name_id_format":                      "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress",
	} {
		if got := made.get(path); got != want {
			t.Errorf("%s is %v, not %v", path, got, want)
		}
	}
	if s.want(s.admin("GET", "/sso/providers/"+id, ""), 200, "").str("saml.metadata_xml") == "" || s.admin("GET", "/sso/providers/resource_acme", "").str("id") != id {
		t.Error("it is not found")
	}
	list := s.want(s.admin("GET", "/sso/providers", ""), 200, "")
	if list.str("items.0.id") != id || list.get("items.0.saml.metadata_xml") != nil {
		t.Errorf("the list is %s", list.text)
	}
	for query, n := range map[string]int{"resource_id=acme": 1, "resource_id=other": 0, "resource_id_prefix=ac": 1, "resource_id_prefix=x": 0, "resource_id=%00": 0, "resource_id_prefix=%ff": 0} {
		items, _ := s.admin("GET", "/sso/providers?"+query, "").get("items").([]any)
		if len(items) != n {
			t.Errorf("%s finds %d", query, len(items))
		}
	}
	changed := s.want(s.admin("PUT", "/sso/providers/"+id, `{"domains":["corp.example","corp.test"]}`), 200, "")
	if changed.str("domains.1.domain") != "corp.test" || changed.get("saml.name_id_format") != nil || changed.str("saml.attribute_mapping.keys.plan.default") != "enterprise" {
		t.Errorf("the provider is %s", changed.text)
	}
	changed = s.want(s.admin("PUT", "/sso/providers/"+id, `{"domains":["corp.test"],"attribute_mapping":{"keys":{}},"resource_id":""}`), 200, "")
	if changed.str("domains.0.domain") != "corp.test" || changed.get("resource_id") != nil || changed.get("saml.attribute_mapping.keys") != nil {
		t.Errorf("the provider is %s", changed.text)
	}
	s.want(s.call("POST", "/sso", "", `{"domain":"corp.example"}`), 404, "sso_provider_not_found")
	s.want(s.call("POST", "/sso", "", `{"domain":"corp.test","skip_http_redirect":true}`), 200, "")

	create := func(more string) string {
		return fmt.Sprintf(`{"type":"saml","metadata_xml":%q%s}`, other.Description(), more)
	}
	for name, c := range map[string]struct {
		method, path, body string
		status             int
		code               string
	}{
		"twice":                              {"POST", "", fmt.Sprintf(`{"type":"saml","metadata_xml":%q}`, idp.Description()), 422, "saml_idp_already_exists"},
		"for a domain that is taken":         {"POST", "", create(`,"domains":["CORP.test"]`), 400, "sso_domain_already_exists"},
		"for what is no domain":              {"POST", "", create(`,"domains":["a b"]`), 400, "validation_failed"},
		"of another type":                    {"POST", "", `{"type":"oidc"}`, 400, "validation_failed"},
		"without metadata":                   {"POST", "", `{"type":"saml"}`, 400, "validation_failed"},
		"with metadata twice":                {"POST", "", create(`,"metadata_url":"https://idp.example"`), 400, "validation_failed"},
		"with metadata without TLS":          {"POST", "", `{"type":"saml","metadata_url":"http://idp.example/"}`, 400, "validation_failed"},
		"with metadata of no provider":       {"POST", "", `{"type":"saml","metadata_xml":"<EntityDescriptor xmlns=\"urn:oasis:names:tc:SAML:2.0:metadata\" entityID=\"x\"/>"}`, 400, "validation_failed"},
		"with metadata that is no XML":       {"POST", "", `{"type":"saml","metadata_xml":"<a"}`, 400, "validation_failed"},
		"with metadata in the inside":        {"POST", "", `{"type":"saml","metadata_url":"https://127.0.0.1:1/"}`, 400, "saml_metadata_fetch_failed"},
		"with a format of no kind":           {"POST", "", create(`,"name_id_format":"x"`), 400, "validation_failed"},
		"with a mapping of no kind":          {"POST", "", create(`,"attribute_mapping":{"keys":3}`), 400, "bad_json"},
		"with a mapping that no table holds": {"POST", "", create(`,"attribute_mapping":{"keys":{"a":{"default":"\u0000"}}}`), 400, "validation_failed"},
		"with a resource of no kind":         {"POST", "", create(`,"resource_id":"a/b"`), 400, "validation_failed"},
		"with another's metadata":            {"PUT", "/" + id, fmt.Sprintf(`{"metadata_xml":%q}`, other.Description()), 400, "saml_entity_id_mismatch"},
		"that is not there":                  {"PUT", "/" + uuid.NewString(), `{}`, 404, "sso_provider_not_found"},
		"that cannot be there":               {"GET", "/none", ``, 404, "sso_provider_not_found"},
	} {
		t.Run(name, func(t *testing.T) { s.want(s.admin(c.method, "/sso/providers"+c.path, c.body), c.status, c.code) })
	}
	s.want(s.call("GET", "/admin/sso/providers", s.keys.AnonKey, ""), 403, "not_admin")
	s.want(s.admin("DELETE", "/sso/providers/"+id, ""), 200, "")
	s.want(s.admin("DELETE", "/sso/providers/"+id, ""), 404, "sso_provider_not_found")
	if n := s.count(`select count(*) from auth.sso_domains`); n != 0 {
		t.Errorf("%d domains stay behind", n)
	}
}

func TestMetadataIsFetchedAndKeptFresh(t *testing.T) {
	var mu sync.Mutex
	published, asked := "", 0
	publisher := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked++
		if published == "" {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		_, _ = w.Write([]byte(published))
	}))
	t.Cleanup(publisher.Close)
	publish := func(text string) {
		mu.Lock()
		defer mu.Unlock()
		published, asked = text, 0
	}
	o := ssoOptions(t)
	roots := publisher.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	o.SSO.Client = outgoing.New(outgoing.Options{RootCAs: roots, Guard: outgoing.Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}})
	s := start(t, o)
	idp := newIdentityProvider(s)
	body := fmt.Sprintf(`{"type":"saml","metadata_url":%q,"domains":["corp.example"]}`, publisher.URL)
	s.want(s.admin("POST", "/sso/providers", body), 400, "saml_metadata_fetch_failed")
	publish(idp.Description())
	s.want(s.admin("POST", "/sso/providers", body), 201, "")
	enter := func() landing {
		t.Helper()
		return s.consume(idp.Answer(s.askSSO(`{"domain":"corp.example","skip_http_redirect":true}`), ssotest.Employee("u-1", "ada@corp.example")))
	}
	age := func() {
		t.Helper()
		if _, err := s.db.Pool.Exec(t.Context(), `update auth.saml_providers set updated_at = now() - interval '2 days'`); err != nil {
			t.Fatal(err)
		}
	}
	publish(idp.Description())
	s.entered(enter())
	if asked != 0 {
		t.Errorf("fresh metadata was fetched %d times", asked)
	}
	// The identity provider changes its key.
	renewed := newIdentityProvider(s)
	renewed.MetadataURL, renewed.SSOURL = idp.MetadataURL, idp.SSOURL
	idp = renewed
	s.turnedAway(enter(), "validation_failed")
	publish(idp.Description())
	age()
	s.entered(enter())
	if asked != 1 {
		t.Errorf("stale metadata was fetched %d times", asked)
	}
	for name, text := range map[string]string{"cannot be fetched": "", "is of another": newIdentityProvider(s).Description(), "is no metadata": "<a/>"} {
		publish(text)
		age()
		s.entered(enter())
		s.entered(enter())
		if asked != 1 {
			t.Errorf("metadata that %s was fetched %d times", name, asked)
		}
	}
}

func TestHooksAreAskedAboutUsersOfOrganisations(t *testing.T) {
	var s *server
	with := ssoOptions(t)
	s = startWithHooks(t, `
create table public.made (id uuid, email text, provider text);
grant all on public.made to supabase_auth_admin;
create function public.before(event jsonb) returns jsonb language plpgsql as $$
begin
  if event#>>'{user,email}' not like '%@corp.example' then
    return '{"error":{"http_code":403,"message":"not one of ours"}}';
  end if;
  return '{}';
end $$;
create function public.after(event jsonb) returns jsonb language plpgsql as $$
begin
  insert into public.made values ((event#>>'{user,id}')::uuid, event#>>'{user,email}', event#>>'{user,app_metadata,provider}');
  return '{}';
end $$;`, func(h *auth.Hooks) {
		h.BeforeUserCreated, h.AfterUserCreated = functionHook(t, hook.BeforeUserCreated, "before"), functionHook(t, hook.AfterUserCreated, "after")
	}, func(o *auth.Options) { o.SSO = with.SSO })
	idp := newIdentityProvider(s)
	provider := idp.register("corp.example").str("id")
	enter := func(who *saml.Session) landing {
		return s.consume(idp.Answer(s.askSSO(fmt.Sprintf(`{"provider_id":%q,"skip_http_redirect":true}`, provider)), who))
	}
	ada := s.entered(enter(ssotest.Employee("u-1", "ada@corp.example")))
	s.entered(enter(ssotest.Employee("u-1", "ada@elsewhere.example")))
	if l := enter(ssotest.Employee("u-2", "eve@elsewhere.example")); l.query.Get("error_description") != "not one of ours" {
		t.Errorf("the browser is sent to %s", l.url)
	}
	if n := s.count(`select count(*) from public.made where id = $1 and provider = $2`, ada.str("id"), "sso:"+provider); n != 1 {
		t.Error("the hook was not told of the account")
	}
	if n := s.count(`select count(*) from public.made`); n != 1 {
		t.Errorf("%d accounts were told of", n)
	}
}

func TestWhatIsSaidOfAUserCanBeEncrypted(t *testing.T) {
	o := ssoOptions(t)
	key, err := sso.ParseKey(samlKey())
	if err != nil {
		t.Fatal(err)
	}
	if o.SSO.SAML, err = sso.New(key, o.Issuer, true); err != nil {
		t.Fatal(err)
	}
	s := start(t, o)
	idp := newIdentityProvider(s)
	idp.register("corp.example")
	form := idp.Answer(s.askSSO(`{"domain":"corp.example","skip_http_redirect":true}`), ssotest.Employee("u-1", "ada@corp.example"))
	text, err := base64.StdEncoding.DecodeString(form.Get("SAMLResponse"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "ada@corp.example") || !strings.Contains(string(text), "EncryptedAssertion") {
		t.Errorf("it is not encrypted: %s", text)
	}
	if user := s.entered(s.consume(form)); user.str("email") != "ada@corp.example" {
		t.Errorf("the user is %s", user.text)
	}
}
