package api_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/emersion/go-smtp"
	"golang.org/x/oauth2"

	"basalt/api"
	"basalt/api/apitest"
	"basalt/auth"
	"basalt/auth/mail/mailtest"
	"basalt/auth/provider/providertest"
	"basalt/auth/sms/smstest"
	"basalt/auth/sso/ssotest"
	"basalt/auth/token"
)

const (
	// elsewhereCallback is where the provider leads back to: the server's own address is not known before it runs.
	elsewhereCallback = "http://api.example/auth/v1/callback"

	solvedCaptcha = "captcha-response-canary-solved"
	wrongCaptcha  = "captcha-response-canary-unsolved"
)

// captchas runs a provider that takes one token.
func captchas(t *testing.T) string {
	t.Helper()
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.PostFormValue("response") == solvedCaptcha {
			_, _ = io.WriteString(w, `{"success":true}`)
			return
		}
		_, _ = fmt.Fprintf(w, `{"success":false,"error-codes":["invalid-input-response",%q]}`, r.PostFormValue("secret")+r.PostFormValue("response"))
	}))
	t.Cleanup(provider.Close)
	return provider.URL
}

// talkative runs a mail server that repeats to one reader's mails what is secret about them, and does not take them.
func talkative(t *testing.T) *mailtest.Server {
	t.Helper()
	return mailtest.Start(t, mailtest.Options{Plain: true, Judge: func(m mailtest.Received) error {
		if m.To[0] != "echo@example.com" {
			return nil
		}
		text := m.Body(t, "text/plain")
		said := codeIn(text) + " " + regexp.MustCompile(`https?://\S+/verify\?\S+`).FindString(text)
		return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 7, 1}, Message: "spam: " + said}
	}})
}

// codeIn finds the code of a message.
func codeIn(text string) string { return regexp.MustCompile(`\b\d{6}\b`).FindString(text) }

// elsewhere is a walk whose flows lead over other servers.
type elsewhere struct {
	*secretWalk
	openID *providertest.OpenID
	mails  *mailtest.Server
	texts  *smstest.Twilio
	took   int // mails that were read
}

// human is a body with the proof that no machine asks.
func human(members string) string {
	return `{` + members + `,"gotrue_meta_security":{"captcha_token":"` + solvedCaptcha + `"}}`
}

// pkce gives a new verifier and the members that ask for a code.
func (w *elsewhere) pkce() (verifier, members, query string) {
	verifier = w.knows("verifier", oauth2.GenerateVerifier())
	challenge := oauth2.S256ChallengeFromVerifier(verifier)
	return verifier, `,"code_challenge":"` + challenge + `","code_challenge_method":"s256"`, "code_challenge=" + challenge + "&code_challenge_method=s256"
}

// arrived remembers the session that an answer leads back with.
func (w *elsewhere) arrived(a *apitest.Answer) url.Values {
	w.t.Helper()
	to, err := url.Parse(a.Header.Get("Location"))
	if err != nil {
		w.t.Fatal(err)
	}
	values, err := url.ParseQuery(to.Fragment)
	if err != nil {
		w.t.Fatal(err)
	}
	w.knows("access token", values.Get("access_token"))
	w.knows("refresh token", values.Get("refresh_token"))
	return values
}

// exchange trades the code that an answer leads back with, after somebody with another verifier has tried.
func (w *elsewhere) exchange(a *apitest.Answer, verifier string) walkSession {
	w.t.Helper()
	to, err := url.Parse(a.Header.Get("Location"))
	if err != nil {
		w.t.Fatal(err)
	}
	code := w.knows("authorization code", to.Query().Get("code"))
	w.do(400, "POST", "/token?grant_type=pkce", `{"auth_code":"`+code+`","code_verifier":"`+w.knows("verifier", oauth2.GenerateVerifier())+`"}`)
	return w.session(w.do(200, "POST", "/token?grant_type=pkce", `{"auth_code":"`+code+`","code_verifier":"`+verifier+`"}`))
}

// mailed reads the next mail.
func (w *elsewhere) mailed(to string) (code string, link *url.URL) {
	w.t.Helper()
	w.took++
	m := w.mails.Wait(w.t, w.took)[w.took-1]
	if m.To[0] != to {
		w.t.Fatalf("the mail is to %v", m.To)
	}
	text := m.Body(w.t, "text/plain")
	link = linkIn(w.t, text)
	w.knows("token of a link", link.Query().Get("token"))
	return w.knows("code of a mail", codeIn(text)), link
}

// messages goes through what arrives by mail and as a text, and what captchas are asked for.
func (w *elsewhere) messages() walkSession {
	w.t.Helper()
	password := w.knows("password", "Password-canary-1!")
	members := `"email":"ann@example.com","password":"` + password + `"`
	w.do(400, "POST", "/signup", `{`+members+`}`)
	w.do(400, "POST", "/signup", strings.Replace(human(members), solvedCaptcha, w.knows("captcha", wrongCaptcha), 1))
	w.do(200, "POST", "/signup", human(members))
	_, link := w.mailed("ann@example.com")
	w.arrived(w.do(303, "GET", "/verify?"+link.RawQuery, ""))
	w.do(303, "GET", "/verify?"+link.RawQuery, "") // used already
	w.do(200, "POST", "/otp", human(`"email":"ann@example.com"`))
	code, _ := w.mailed("ann@example.com")
	w.session(w.do(200, "POST", "/verify", `{"type":"email","email":"ann@example.com","token":"`+code+`"}`))
	w.do(200, "POST", "/otp", human(`"phone":"4915123456789"`))
	code = w.knows("code of a text", codeIn(w.texts.Wait(w.t, 1)[0].Get("Body")))
	w.session(w.do(200, "POST", "/verify", `{"type":"sms","phone":"4915123456789","token":"`+code+`"}`))

	// What a mail server says of a mail is kept and logged, but not what it repeats.
	w.do(200, "POST", "/signup", human(`"email":"echo@example.com","password":"`+password+`"`))
	apitest.Until(w.t, "the mail is given up", func() bool {
		all := outboxOf(w.t, w.s)
		return len(all) == 1 && all[0].State == "failed"
	})
	if m := w.message("echo@example.com"); !strings.Contains(m.Failure, "spam") {
		w.t.Errorf("the mail has failed with %q", m.Failure)
	}
	return w.session(w.do(200, "POST", "/token?grant_type=password", human(members)))
}

// provider goes through sign-ins at a server of OpenID Connect.
func (w *elsewhere) provider() {
	w.t.Helper()
	w.openID.Is(providertest.User, "visitor@example.com", true)
	browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	// begin gives what the browser comes back with.
	begin := func(query string) (back, cookie string) {
		w.t.Helper()
		a := w.do(302, "GET", "/authorize?provider=keycloak&"+query, "")
		cookie, _, _ = strings.Cut(a.Header.Get("Set-Cookie"), ";")
		_, secret, _ := strings.Cut(cookie, "=")
		w.knows("secret of a browser", secret)
		address := w.openID.Consent(browser, a.Header.Get("Location"), providertest.User)
		_, back, _ = strings.Cut(address, "?")
		from, err := url.ParseQuery(back)
		if err != nil {
			w.t.Fatal(err)
		}
		w.knows("code of the provider", from.Get("code"))
		w.knows("state", from.Get("state"))
		return back, "Cookie: " + cookie
	}
	back, cookie := begin("scopes=offline_access")
	values := w.arrived(w.do(303, "GET", "/callback?"+back, "", cookie))
	w.knows("access token of the provider", values.Get("provider_token"))
	w.knows("refresh token of the provider", values.Get("provider_refresh_token"))
	w.do(303, "GET", "/callback?"+back, "", cookie) // used already
	back, _ = begin("")
	w.do(303, "GET", "/callback?"+back, "") // of another browser
	back, cookie = begin("")
	from, err := url.ParseQuery(back)
	if err != nil {
		w.t.Fatal(err)
	}
	from.Set("code", w.knows("code of the provider", "code-canary-that-the-provider-does-not-know"))
	w.do(303, "GET", "/callback?"+from.Encode(), "", cookie)
	verifier, _, query := w.pkce()
	back, cookie = begin(query)
	a := w.do(303, "GET", "/callback?"+back, "", cookie)
	w.exchange(a, verifier)

	nonce := w.knows("nonce", "nonce-canary-of-an-id-token")
	digest := sha256.Sum256([]byte(nonce))
	for status, claims := range map[int]map[string]any{
		200: {"nonce": fmt.Sprintf("%x", digest)}, 400: {"nonce": "of another sign-in"},
	} {
		signed := w.knows("ID token", w.openID.Sign(w.openID.Claims(claims)))
		a := w.do(status, "POST", "/token?grant_type=id_token", `{"provider":"keycloak","id_token":"`+signed+`","nonce":"`+nonce+`"}`)
		if status == 200 {
			w.session(a)
		}
	}
	broken := w.knows("ID token", w.openID.Sign(w.openID.Claims(nil))[1:])
	w.do(400, "POST", "/token?grant_type=id_token", `{"provider":"keycloak","id_token":"`+broken+`","access_token":"`+w.knows("access token of the provider", "access-token-canary-of-the-provider")+`"}`)

	// A provider that an administrator adds, which is not there.
	secret := w.knows("client secret of a provider", "client-secret-canary-of-an-added-provider")
	w.do(201, "POST", "/admin/custom-providers", `{"provider_type":"oidc","identifier":"custom:acme","name":"Acme","client_id":"basalt","client_secret":"`+secret+`","issuer":"https://127.0.0.1:1"}`, w.s.Service())
	w.do(502, "GET", "/authorize?provider=custom:acme", "")
}

// organisation goes through sign-ins at an identity provider of SAML.
func (w *elsewhere) organisation() {
	w.t.Helper()
	idp := ssotest.New(w.t, func() string { return w.s.Do(w.t, "GET", "/auth/v1/sso/saml/metadata", "").Body })
	w.do(201, "POST", "/admin/sso/providers", fmt.Sprintf(`{"type":"saml","metadata_xml":%q,"domains":["corp.example"]}`, idp.Description()), w.s.Service())
	who := ssotest.Employee("u-1", "ada@corp.example")
	consume := func(members string) (a *apitest.Answer, body string) {
		w.t.Helper()
		var asked struct{ URL string }
		w.do(200, "POST", "/sso", human(`"domain":"corp.example","skip_http_redirect":true`+members)).JSON(w.t, &asked)
		form := idp.Answer(asked.URL, who)
		w.knows("answer of an identity provider", form.Get("SAMLResponse"))
		return w.do(303, "POST", "/sso/saml/acs", form.Encode(), "Content-Type: application/x-www-form-urlencoded"), form.Encode()
	}
	a, again := consume("")
	w.arrived(a)
	w.do(303, "POST", "/sso/saml/acs", again, "Content-Type: application/x-www-form-urlencoded")
	w.do(303, "POST", "/sso/saml/acs", "SAMLResponse="+w.knows("answer of an identity provider", base64.StdEncoding.EncodeToString([]byte("<broken-canary>"))),
		"Content-Type: application/x-www-form-urlencoded")
	verifier, members, _ := w.pkce()
	a, _ = consume(members)
	w.exchange(a, verifier)
}

// searchMessages looks for each secret in the messages that have arrived, but for the codes and the tokens of links that
// these are for.
func (w *elsewhere) searchMessages() {
	w.t.Helper()
	var text strings.Builder
	for _, m := range w.mails.Received() {
		fmt.Fprintln(&text, m.Headers(w.t), m.Body(w.t, "text/plain"), m.Body(w.t, "text/html"))
	}
	for _, m := range w.texts.Asked() {
		fmt.Fprintln(&text, m)
	}
	for what, secret := range w.secrets {
		meant := slices.ContainsFunc([]string{"code of a mail", "code of a text", "token of a link"}, func(kind string) bool { return strings.HasPrefix(what, kind) })
		if !meant && shows(text.String(), secret) {
			w.t.Errorf("the messages show %s", what)
		}
	}
}

// TestNoSecretOfFlowsOverOtherServersIsShownOrKept is TestNoSecretOfAccountsIsShownOrKept for flows that other servers,
// browsers and third parties have a part in, and with messages that arrive.
func TestNoSecretOfFlowsOverOtherServersIsShownOrKept(t *testing.T) {
	t.Parallel()
	pair, err := token.NewPair("ES256")
	if err != nil {
		t.Fatal(err)
	}
	signing, err := pair.PrivateJWK()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "signing.json")
	if err := os.WriteFile(file, signing, 0o600); err != nil {
		t.Fatal(err)
	}
	samlKey := ssotest.NewKey()
	given := map[string]string{
		"the client's secret at the provider": providertest.ClientSecret,
		"the texts' token":                    smstest.Token,
		"the captcha's secret":                "captcha-secret-canary",
		"the token of a solved captcha":       solvedCaptcha,
		"the signing key":                     regexp.MustCompile(`"d":"([^"]+)"`).FindStringSubmatch(string(signing))[1],
		"the SAML key":                        samlKey[len(samlKey)/2 : len(samlKey)/2+40],
	}
	w := &elsewhere{
		openID: providertest.Start(t, elsewhereCallback), mails: talkative(t),
		texts: smstest.Start(t, http.StatusCreated, `{"sid":"SM1","status":"queued"}`),
	}
	checked := captchas(t)
	s := apitest.Start(t, "", func(s *api.Settings) {
		s.AutoConfirm, s.LogLevel, s.SiteURL = "false", "debug", "https://site.example"
		s.OutgoingAllow = []string{"127.0.0.0/8"}
		s.OAuthProviders = auth.Secret(fmt.Sprintf(`{"keycloak":{"client_id":%q,"client_secret":%q,"url":%q,"redirect_uri":%q}}`,
			providertest.ClientID, providertest.ClientSecret, w.openID.Issuer, elsewhereCallback))
		s.SAMLPrivateKey = auth.Secret(samlKey)
		s.Passkeys, s.MFAFactors = true, auth.AllFactors()
		s.OAuthServer, s.OAuthRegistration, s.JWTSigningKeys = true, true, auth.Secret("@"+file)
		s.CaptchaProvider, s.CaptchaSecret, s.CaptchaURL = "turnstile", auth.Secret(given["the captcha's secret"]), checked
		s.SMTPURL, s.MailFrom = auth.Secret(w.mails.URL()), "no-reply@mail.example"
		s.TwilioAccount, s.TwilioToken, s.TwilioFrom, s.TwilioURL = smstest.Account, smstest.Token, "+15550199", w.texts.URL
		s.Phone = "true"
	})
	w.secretWalk = newSecretWalk(t, s, given)
	session := w.messages()
	w.provider()
	w.organisation()
	w.passkeys(session)
	w.party(session)
	w.factors(session)
	w.searchMessages()
	places := w.search()
	if len(w.secrets) < 60 {
		t.Errorf("only %d secrets were looked for", len(w.secrets))
	}
	for _, table := range []string{
		"auth.identities", "auth.flow_state", "auth.saml_providers", "auth.webauthn_credentials", "auth.oauth_clients", "auth.oauth_consents",
		"auth.custom_oauth_providers", "auth.audit_log_entries", "auth.refresh_tokens", "auth.mfa_factors", "basalt.outbox",
	} {
		if places[table] == "" {
			t.Errorf("%s is empty: it proves nothing", table)
		}
	}
}
