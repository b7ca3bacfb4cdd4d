package accounts_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"
	"golang.org/x/text/language"

	"basalt/auth"
	"basalt/auth/outgoing"
	"basalt/auth/provider"
)

const (
	ownCallback = "http://api.example/auth/v1/callback"
	openIDUser  = "somebody"
)

// openID is a whole server of OpenID Connect with users of the test's choice.
type openID struct {
	t      testing.TB
	issuer string
	store  *storage.Storage
	mu     sync.Mutex
	users  map[string]*storage.User
}

// GetUserByID implements storage.UserStore.
func (o *openID) GetUserByID(id string) *storage.User {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.users[id]
}

// GetUserByUsername implements storage.UserStore.
func (o *openID) GetUserByUsername(name string) *storage.User { return o.GetUserByID(name) }

// ExampleClientID implements storage.UserStore.
func (o *openID) ExampleClientID() string { return storage.ServiceUserID }

// is says who signs in next.
func (o *openID) is(subject, email string, verified bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.users[subject] = &storage.User{
		ID: subject, Username: subject, Password: "verysecure", FirstName: "Some", LastName: "Body", Email: email, EmailVerified: verified,
		PreferredLanguage: language.English,
	}
}

// openIDServer runs a server that knows one client.
func openIDServer(t testing.TB) *openID {
	t.Helper()
	o := &openID{t: t, users: map[string]*storage.User{}}
	var handler http.Handler
	listener := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Microsoft's authorities for several tenants say of themselves that their issuer is a template.
		if authority, found := strings.CutSuffix(r.URL.Path, "/v2.0/.well-known/openid-configuration"); found {
			_ = json.NewEncoder(w).Encode(map[string]any{
				"issuer": o.issuer + "/{tenantid}/v2.0", "jwks_uri": o.issuer + "/keys", "token_endpoint": o.issuer + "/oauth/token",
				"authorization_endpoint": o.issuer + authority, "id_token_signing_alg_values_supported": []string{"RS256"},
			})
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(listener.Close)
	o.issuer = listener.URL
	clients := map[string]*storage.Client{"basalt": storage.WebClient("basalt", "secret", ownCallback)}
	o.store = storage.NewStorageWithClients(o, clients)
	handler = exampleop.SetupServer(o.issuer, o.store, slog.New(slog.NewTextHandler(io.Discard, nil)), false)
	return o
}

// sign makes an ID token with the server's own key.
func (o *openID) sign(claims jwt.MapClaims) string {
	o.t.Helper()
	key, err := o.store.SigningKey(o.t.Context())
	if err != nil {
		o.t.Fatal(err)
	}
	return signWith(o.t, jwt.SigningMethodRS256, key.Key(), key.ID(), claims)
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

// claims are those of a good ID token, changed.
func (o *openID) claims(changes jwt.MapClaims) jwt.MapClaims {
	claims := jwt.MapClaims{
		"iss": o.issuer, "aud": "basalt", "sub": openIDUser, "email": "visitor@example.com", "email_verified": true,
		"iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix(),
	}
	for name, value := range changes {
		if claims[name] = value; value == nil {
			delete(claims, name)
		}
	}
	return claims
}

// loopbackClient reaches the servers of tests.
func loopbackClient() *http.Client {
	return outgoing.New(outgoing.Options{Guard: outgoing.Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}})
}

// provider is the server as a provider under a name.
func (o *openID) provider(name string, change func(*provider.Config)) *provider.Provider {
	o.t.Helper()
	config := provider.Config{Name: name, ClientID: "basalt", ClientSecret: "secret", URL: o.issuer, RedirectURI: ownCallback}
	if change != nil {
		change(&config)
	}
	p, err := provider.New(config, loopbackClient())
	if err != nil {
		o.t.Fatal(err)
	}
	return p
}

// visitors is a server whose users come from another one.
type visitors struct {
	*server
	openID *openID
}

func startWithOpenID(t *testing.T, change func(*auth.Options)) *visitors {
	t.Helper()
	o := options()
	o.Autoconfirm = false
	other := openIDServer(t)
	o.Providers = auth.ProviderOptions{Providers: []*provider.Provider{other.provider("keycloak", nil)}, ManualLinking: true}
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
	_, login := b.get(address)
	at, err := url.Parse(login)
	id := ""
	if err == nil {
		id = at.Query().Get("authRequestID")
	}
	if id == "" {
		b.t.Fatalf("the provider leads to %q", login)
	}
	_, done := b.do(http.MethodPost, b.openID.issuer+"/login/username", url.Values{"username": {subject}, "password": {"verysecure"}, "id": {id}})
	_, back := b.get(b.at(done))
	if !strings.HasPrefix(back, ownCallback) {
		b.t.Fatalf("the provider leads back to %q", back)
	}
	return back
}

func (b *browser) at(location string) string {
	if strings.HasPrefix(location, "/") {
		return b.openID.issuer + location
	}
	return location
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
