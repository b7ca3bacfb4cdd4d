// Package providertest runs a server of OpenID Connect in the process of a test.
package providertest

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"
	"golang.org/x/text/language"

	"basalt/auth/provider"
)

// The one client that the server knows, and the one user whom Claims are about.
const (
	ClientID     = "basalt"
	ClientSecret = "a-secret-of-the-client"
	User         = "somebody"
)

// password is that of all users.
const password = "verysecure"

// OpenID is a whole server with users of the test's choice.
type OpenID struct {
	// Issuer is the server's address.
	Issuer string
	// Store is what it keeps.
	Store *storage.Storage

	t           testing.TB
	redirectURI string
	mu          sync.Mutex
	users       map[string]*storage.User
}

// Start runs a server until the test ends. It leads its client's users back to one address.
func Start(t testing.TB, redirectURI string) *OpenID {
	t.Helper()
	o := &OpenID{t: t, redirectURI: redirectURI, users: map[string]*storage.User{}}
	var handler http.Handler
	listener := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Microsoft's authorities for several tenants say of themselves that their issuer is a template.
		if authority, found := strings.CutSuffix(r.URL.Path, "/v2.0/.well-known/openid-configuration"); found {
			_ = json.NewEncoder(w).Encode(map[string]any{
				"issuer": o.Issuer + "/{tenantid}/v2.0", "jwks_uri": o.Issuer + "/keys", "token_endpoint": o.Issuer + "/oauth/token",
				"authorization_endpoint": o.Issuer + authority, "id_token_signing_alg_values_supported": []string{"RS256"},
			})
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(listener.Close)
	o.Issuer = listener.URL
	clients := map[string]*storage.Client{ClientID: storage.WebClient(ClientID, ClientSecret, redirectURI)}
	o.Store = storage.NewStorageWithClients(o, clients)
	handler = exampleop.SetupServer(o.Issuer, o.Store, slog.New(slog.NewTextHandler(io.Discard, nil)), false)
	return o
}

// GetUserByID implements storage.UserStore.
func (o *OpenID) GetUserByID(id string) *storage.User {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.users[id]
}

// GetUserByUsername implements storage.UserStore.
func (o *OpenID) GetUserByUsername(name string) *storage.User { return o.GetUserByID(name) }

// ExampleClientID implements storage.UserStore.
func (o *OpenID) ExampleClientID() string { return storage.ServiceUserID }

// Is says what a user is like from now on.
func (o *OpenID) Is(subject, email string, verified bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.users[subject] = &storage.User{
		ID: subject, Username: subject, Password: password, FirstName: "Some", LastName: "Body", Email: email, EmailVerified: verified,
		PreferredLanguage: language.English,
	}
}

// Sign makes an ID token with the server's own key.
func (o *OpenID) Sign(claims jwt.MapClaims) string {
	o.t.Helper()
	key, err := o.Store.SigningKey(o.t.Context())
	if err != nil {
		o.t.Fatal(err)
	}
	token := jwt.NewWithClaims(jwt.SigningMethodRS256, claims)
	token.Header["kid"] = key.ID()
	text, err := token.SignedString(key.Key())
	if err != nil {
		o.t.Fatal(err)
	}
	return text
}

// Claims are those of a good ID token, changed. A change to nil leaves one out.
func (o *OpenID) Claims(changes jwt.MapClaims) jwt.MapClaims {
	claims := jwt.MapClaims{
		"iss": o.Issuer, "aud": ClientID, "sub": User, "email": "visitor@example.com", "email_verified": true,
		"iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix(),
	}
	for name, value := range changes {
		if claims[name] = value; value == nil {
			delete(claims, name)
		}
	}
	return claims
}

// Provider is the server as a provider under a name. change, unless nil, changes what is said of it.
func (o *OpenID) Provider(name string, client *http.Client, change func(*provider.Config)) *provider.Provider {
	o.t.Helper()
	config := provider.Config{Name: name, ClientID: ClientID, ClientSecret: ClientSecret, URL: o.Issuer, RedirectURI: o.redirectURI}
	if change != nil {
		change(&config)
	}
	p, err := provider.New(config, client)
	if err != nil {
		o.t.Fatal(err)
	}
	return p
}

// Consent signs a user in who was led to an address, and gives the address that they are led back to. The browser must
// not follow what it is led to by itself.
func (o *OpenID) Consent(browser *http.Client, address, subject string) string {
	o.t.Helper()
	login, err := url.Parse(o.visit(browser, http.MethodGet, address, nil))
	id := ""
	if err == nil {
		id = login.Query().Get("authRequestID")
	}
	if id == "" {
		o.t.Fatalf("the provider leads to %q", login)
	}
	done := o.visit(browser, http.MethodPost, o.Issuer+"/login/username", url.Values{"username": {subject}, "password": {password}, "id": {id}})
	if strings.HasPrefix(done, "/") {
		done = o.Issuer + done
	}
	back := o.visit(browser, http.MethodGet, done, nil)
	if !strings.HasPrefix(back, o.redirectURI) {
		o.t.Fatalf("the provider leads back to %q", back)
	}
	return back
}

// visit gives where an address leads.
func (o *OpenID) visit(browser *http.Client, method, address string, form url.Values) string {
	o.t.Helper()
	r, err := http.NewRequestWithContext(o.t.Context(), method, address, strings.NewReader(form.Encode()))
	if err != nil {
		o.t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	answer, err := browser.Do(r)
	if err != nil {
		o.t.Fatal(err)
	}
	defer answer.Body.Close()
	return answer.Header.Get("Location")
}
