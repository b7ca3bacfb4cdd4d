package accounts_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"basalt/auth"
	"basalt/auth/provider/providertest"
)

const verifier = "a-verifier-of-forty-three-characters-or-more-x"

func challenge() string {
	digest := sha256.Sum256([]byte(verifier))
	return "code_challenge=" + base64.RawURLEncoding.EncodeToString(digest[:]) + "&code_challenge_method=s256"
}

func TestAUserOfAProviderIsLedBackWithASession(t *testing.T) {
	v := startWithOpenID(t, nil)
	v.openID.Is(openIDUser, "Visitor@Example.com", true)
	at := v.browser().signIn(openIDUser, "redirect_to="+url.QueryEscape("http://site.example/welcome?a=b#/place"))
	if at.Host != "site.example" || at.Path != "/welcome" || at.RawQuery != "a=b" || !strings.HasPrefix(at.Fragment, "/place&") {
		t.Errorf("it leads to %s", at)
	}
	values := fragment(at)
	for _, name := range []string{"access_token", "refresh_token", "expires_in", "expires_at", "provider_token"} {
		if values.Get(name) == "" {
			t.Errorf("%s is missing in %v", name, values)
		}
	}
	if values.Get("token_type") != "bearer" {
		t.Errorf("the token's type is %q", values.Get("token_type"))
	}
	u := v.want(v.call("GET", "/user", values.Get("access_token"), ""), http.StatusOK, "")
	for path, want := range map[string]any{
		"email": "visitor@example.com", "app_metadata.provider": "keycloak", "app_metadata.providers.0": "keycloak",
		"user_metadata.full_name": "Some Body", "user_metadata.email_verified": true, "identities.0.provider": "keycloak",
		"identities.0.id": openIDUser, "identities.0.identity_data.email": "visitor@example.com", "is_anonymous": false, "role": "authenticated",
	} {
		if got := u.get(path); got != want {
			t.Errorf("%s is %v, not %v", path, got, want)
		}
	}
	if u.str("email_confirmed_at") == "" {
		t.Error("the address that the provider has verified is not confirmed")
	}
	if again := v.browser().session(openIDUser); again == values.Get("access_token") || v.count(`select count(*) from auth.users`) != 1 {
		t.Error("the second sign-in makes another account")
	}
	if n := v.count(`select count(*) from auth.mfa_amr_claims where authentication_method = 'oauth'`); n != 2 {
		t.Errorf("%d sessions came by OAuth", n)
	}
}

func TestAUserOfAProviderIsLedBackWithACodeForTheApp(t *testing.T) {
	v := startWithOpenID(t, nil)
	v.openID.Is(openIDUser, "visitor@example.com", true)
	at := v.browser().signIn(openIDUser, challenge())
	code := at.Query().Get("code")
	if code == "" || at.Fragment != "" {
		t.Fatalf("it leads to %s", at)
	}
	if n := v.count(`select count(*) from auth.flow_state where provider_access_token like 'enc:v1:%'`); n != 1 {
		t.Error("the provider's token does not wait sealed")
	}
	body := fmt.Sprintf(`{"auth_code":%q,"code_verifier":%q}`, code, verifier)
	session := v.want(v.call("POST", "/token?grant_type=pkce", "", body), http.StatusOK, "")
	if session.str("provider_token") == "" || session.str("user.email") != "visitor@example.com" {
		t.Errorf("the session is %s", session.text)
	}
	v.want(v.call("GET", "/user", session.str("access_token"), ""), http.StatusOK, "")
	v.want(v.call("POST", "/token?grant_type=pkce", "", body), http.StatusForbidden, "flow_state_already_used")
	v.want(v.call("GET", "/user", session.str("access_token"), ""), http.StatusForbidden, "session_not_found")
}

func TestTheProvidersAddressIsToldWithoutALeadThere(t *testing.T) {
	v := startWithOpenID(t, nil)
	v.openID.Is(openIDUser, "visitor@example.com", true)
	a := v.want(v.call("GET", "/authorize?provider=keycloak&skip_http_redirect=true&prompt=login&state=mine&"+challenge(), "", ""), http.StatusOK, "")
	at, err := url.Parse(a.str("url"))
	if err != nil {
		t.Fatal(err)
	}
	query := at.Query()
	if query.Get("prompt") != "login" || query.Get("state") == "mine" || query.Get("code_challenge_method") != "S256" || query.Get("nonce") == "" ||
		query.Get("redirect_uri") != ownCallback || query.Get("provider") != "" {
		t.Errorf("it is %s", at)
	}
	b := v.browser()
	if back := b.arrive(b.consent(a.str("url"), openIDUser)); back.Query().Get("code") == "" {
		t.Errorf("it leads to %s", back)
	}
	v.want(v.call("GET", "/authorize?provider=keycloak&skip_http_redirect=true", "", ""), http.StatusBadRequest, "validation_failed")
}

func TestASignInThatCannotBeginIsRefused(t *testing.T) {
	v := startWithOpenID(t, nil)
	for _, tc := range []struct{ name, query string }{
		{"without a provider", ""},
		{"at an unknown provider", "provider=unknown"},
		{"at a provider that is not set up", "provider=google"},
		{"with half a challenge", "provider=keycloak&code_challenge=x"},
		{"with a plain challenge", "provider=keycloak&code_challenge=" + verifier + "&code_challenge_method=plain"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v.want(v.call("GET", "/authorize?"+tc.query, "", ""), http.StatusBadRequest, "validation_failed")
		})
	}
}

func TestAStateIsGoodOnceAndInItsBrowser(t *testing.T) {
	v := startWithOpenID(t, nil)
	v.openID.Is(openIDUser, "visitor@example.com", true)
	b := v.browser()
	back := b.consent(b.depart(""), openIDUser)
	at, err := url.Parse(back)
	if err != nil {
		t.Fatal(err)
	}
	state, code := at.Query().Get("state"), at.Query().Get("code")
	id, proof, _ := strings.Cut(state, ".")
	for name, other := range map[string]string{
		"none": "", "no state": "x", "an id alone": id, "an id with an empty proof": id + ".", "a proof cut short": state[:len(state)-1],
		"another id": "00000000-0000-0000-0000-000000000000." + proof, "another proof": id + "." + strings.Repeat("A", len(proof)),
	} {
		t.Run(name, func(t *testing.T) {
			v.refusal(b.arrive(ownCallback+"?code="+code+"&state="+url.QueryEscape(other)), auth.CodeBadOAuthState)
		})
	}
	v.refusal(v.browser().arrive(back), auth.CodeBadOAuthState)
	if got := fragment(b.arrive(back)).Get("access_token"); got == "" {
		t.Error("the browser that began it is refused")
	}
	v.refusal(b.arrive(back), auth.CodeBadOAuthState)
	if n := v.count(`select count(*) from auth.sessions`); n != 1 {
		t.Errorf("there are %d sessions", n)
	}
}

func TestAStateThatWaitedTooLongIsRefusedWhereTheAppSeesIt(t *testing.T) {
	v := startWithOpenID(t, nil)
	v.openID.Is(openIDUser, "visitor@example.com", true)
	b := v.browser()
	back := b.consent(b.depart(challenge()+"&redirect_to=http://site.example/app"), openIDUser)
	v.db.Exec(t, `update auth.flow_state set created_at = now() - interval '6 minutes'`)
	at := b.arrive(back)
	v.refusal(at, auth.CodeBadOAuthState)
	if at.Path != "/app" || at.Query().Get("error_code") != "bad_oauth_state" {
		t.Errorf("it leads to %s", at)
	}
}

func TestARefusalOfTheProviderReachesTheApp(t *testing.T) {
	v := startWithOpenID(t, nil)
	b := v.browser()
	state := func(query string) string {
		at, err := url.Parse(b.depart(query))
		if err != nil {
			t.Fatal(err)
		}
		return url.QueryEscape(at.Query().Get("state"))
	}
	at := b.arrive(ownCallback + "?error=access_denied&error_description=No+thanks%0d%0aX:+y&state=" + state(challenge()))
	if values := fragment(at); values.Get("error") != "access_denied" || !strings.HasPrefix(values.Get("error_description"), "No thanks") || at.Query().Get("error") != "access_denied" {
		t.Errorf("it leads to %s", at)
	}
	v.refusal(b.arrive(ownCallback+"?state="+state("")), auth.CodeBadOAuthCallback)
	v.refusal(b.arrive(ownCallback+"?code=forged&state="+state("")), auth.CodeBadOAuthCallback)
	// A code of another issuer is not taken to this one (RFC 9207).
	v.refusal(b.arrive(ownCallback+"?code=forged&iss=https://evil.example&state="+state("")), auth.CodeBadOAuthCallback)
}

func TestASignInLeadsNowhereElse(t *testing.T) {
	v := startWithOpenID(t, nil)
	v.openID.Is(openIDUser, "visitor@example.com", true)
	for _, target := range []string{"https://evil.example", "//evil.example", "http://site.example@evil.example", "javascript:alert(1)"} {
		b := v.browser()
		if at := b.signIn(openIDUser, "redirect_to="+url.QueryEscape(target)); at.Scheme != "http" || at.Host != "site.example" {
			t.Errorf("%s leads to %s", target, at)
		}
	}
	// The list may be another when the user comes back.
	b := v.browser()
	back := b.consent(b.depart(""), openIDUser)
	v.db.Exec(t, `update auth.flow_state set referrer = 'https://evil.example'`)
	if at := b.arrive(back); at.Host != "site.example" {
		t.Errorf("it leads to %s", at)
	}
	v.db.Exec(t, `delete from auth.flow_state`)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, v.url+"/auth/v1/authorize?provider=keycloak", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Referer", "https://evil.example/page")
	r.Header.Set("X-Forwarded-Host", "evil.example")
	answer, err := b.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if n := v.count(`select count(*) from auth.flow_state where referrer = 'http://site.example'`); n != 1 || strings.Contains(answer.Header.Get("Location"), "evil") {
		t.Errorf("foreign headers form a link: %s", answer.Header.Get("Location"))
	}
}

// What passes between the servers is in no line of the log, whether it went well or not.
func TestWhatPassesBetweenTheServersIsNotLogged(t *testing.T) {
	v := startWithOpenID(t, nil)
	v.openID.Is(openIDUser, "visitor@example.com", true)
	secrets := []string{verifier}
	keep := func(values url.Values, names ...string) {
		for _, name := range names {
			if secret := values.Get(name); secret != "" {
				secrets = append(secrets, secret)
			}
		}
	}
	for _, query := range []string{"", challenge()} {
		b := v.browser()
		back := b.consent(b.depart(query), openIDUser)
		from, err := url.Parse(back)
		if err != nil {
			t.Fatal(err)
		}
		keep(from.Query(), "code", "state")
		at := b.arrive(back)
		keep(at.Query(), "code")
		keep(fragment(at), "access_token", "refresh_token", "provider_token", "provider_refresh_token")
		if code := at.Query().Get("code"); code != "" {
			a := v.call("POST", "/token?grant_type=pkce", "", fmt.Sprintf(`{"auth_code":%q,"code_verifier":%q}`, code, verifier))
			secrets = append(secrets, a.str("access_token"), a.str("refresh_token"), a.str("provider_token"))
		}
		b.arrive(back)
		bad := b.depart("")
		departed, err := url.Parse(bad)
		if err != nil {
			t.Fatal(err)
		}
		keep(departed.Query(), "state", "nonce", "code_challenge")
		b.arrive(ownCallback + "?code=canary-code&state=" + url.QueryEscape(departed.Query().Get("state")))
	}
	token := v.openID.Sign(v.openID.Claims(nil))
	v.call("POST", "/token?grant_type=id_token", "", fmt.Sprintf(`{"provider":"keycloak","id_token":%q,"access_token":"canary-access","nonce":"canary-nonce"}`, token))
	secrets = append(secrets, token, "canary-code", "canary-access", "canary-nonce", providertest.ClientSecret)
	if len(secrets) < 17 {
		t.Errorf("there are only %d secrets", len(secrets))
	}
	text := v.log.String()
	for _, secret := range secrets {
		if strings.Contains(text, secret) || strings.Contains(text, url.QueryEscape(secret)) {
			t.Errorf("%q is in the log", secret)
		}
	}
	if !strings.Contains(text, `"event":"oauth"`) {
		t.Error("the sign-ins are not in the log")
	}
}
