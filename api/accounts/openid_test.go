package accounts_test

import (
	"net/http"
	"net/http/cookiejar"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"basalt/auth"
	"basalt/auth/outgoing"
	"basalt/auth/provider"
	"basalt/auth/provider/providertest"
)

const (
	ownCallback = "http://api.example/auth/v1/callback"
	openIDUser  = providertest.User
)

// openIDServer runs a server that knows one client.
func openIDServer(t testing.TB) *providertest.OpenID {
	t.Helper()
	return providertest.Start(t, ownCallback)
}

func signWith(t testing.TB, method jwt.SigningMethod, key any, id string, claims jwt.MapClaims) string {
	t.Helper()
	token := jwt.NewWithClaims(method, claims)
	token.Header["kid"] = id
	text, err := token.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// loopbackClient reaches the servers of tests.
func loopbackClient() *http.Client {
	return outgoing.New(outgoing.Options{Guard: outgoing.Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}})
}

// visitors is a server whose users come from another one.
type visitors struct {
	*server
	openID *providertest.OpenID
}

func startWithOpenID(t *testing.T, change func(*auth.Options)) *visitors {
	t.Helper()
	o := options()
	o.Autoconfirm = false
	other := openIDServer(t)
	o.Providers = auth.ProviderOptions{Providers: []*provider.Provider{other.Provider("keycloak", loopbackClient(), nil)}, ManualLinking: true}
	if change != nil {
		change(&o)
	}
	return &visitors{server: start(t, o), openID: other}
}

// browser keeps cookies and follows nothing by itself.
type browser struct {
	*visitors
	client *http.Client
}

func (v *visitors) browser() *browser {
	v.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		v.t.Fatal(err)
	}
	return &browser{visitors: v, client: &http.Client{
		Jar:           jar,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// get follows one link and gives where it leads.
func (b *browser) get(address string) (status int, location string) {
	b.t.Helper()
	return b.do(http.MethodGet, address, nil)
}

func (b *browser) do(method, address string, form url.Values) (status int, location string) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), method, address, strings.NewReader(form.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	answer, err := b.client.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer answer.Body.Close()
	return answer.StatusCode, answer.Header.Get("Location")
}

// depart begins a sign-in and gives the provider's address.
func (b *browser) depart(query string) string {
	b.t.Helper()
	status, location := b.get(b.url + "/auth/v1/authorize?provider=keycloak&" + query)
	if status != http.StatusFound {
		b.t.Fatalf("the sign-in begins with %d", status)
	}
	return location
}

// consent signs a user in at the provider and gives the address that it leads back to.
func (b *browser) consent(address, subject string) string {
	b.t.Helper()
	return b.openID.Consent(b.client, address, subject)
}

// arrive comes back from the provider and gives where that leads.
func (b *browser) arrive(back string) *url.URL {
	b.t.Helper()
	status, location := b.get(strings.Replace(back, "http://api.example", b.url, 1))
	u, err := url.Parse(location)
	if err != nil || status != http.StatusSeeOther {
		b.t.Fatalf("the sign-in ends with %d %q", status, location)
	}
	return u
}

// signIn goes the whole way.
func (b *browser) signIn(subject, query string) *url.URL {
	b.t.Helper()
	return b.arrive(b.consent(b.depart(query), subject))
}

// fragment gives the values that a session or a refusal is led back with.
func fragment(u *url.URL) url.Values {
	values, _ := url.ParseQuery(u.Fragment)
	return values
}

// session gives the access token of a sign-in that has to succeed.
func (b *browser) session(subject string) string {
	b.t.Helper()
	values := fragment(b.signIn(subject, ""))
	if values.Get("access_token") == "" {
		b.t.Fatalf("the sign-in of %s ends with %v", subject, values)
	}
	return values.Get("access_token")
}

// refusal fails the test unless a sign-in was refused by a code.
func (v *visitors) refusal(u *url.URL, code auth.Code) {
	v.t.Helper()
	if got := fragment(u).Get("error_code"); got != string(code) {
		v.t.Errorf("the sign-in ends with %s, not %s", u, code)
	}
}
