package provider

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

// plainServer answers as a server of OAuth 2.0 whose users are asked for at an address of its own. It checks what a
// client has to bring: the code, the verifier of the challenge that it saw, its secret, the token.
type plainServer struct {
	*httptest.Server
	challenge string
	answers   map[string]string
	asked     []*http.Request
}

func newPlainServer(t *testing.T, answers map[string]string) *plainServer {
	t.Helper()
	s := &plainServer{answers: answers}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *plainServer) serve(w http.ResponseWriter, r *http.Request) {
	s.asked = append(s.asked, r)
	w.Header().Set("Content-Type", "application/json")
	if r.Method == http.MethodPost {
		_ = r.ParseForm()
		digest := sha256.Sum256([]byte(r.PostForm.Get("code_verifier")))
		id, secret, _ := r.BasicAuth()
		known := r.PostForm.Get("client_id") == "id" && r.PostForm.Get("client_secret") == "secret" || id == "id" && secret == "secret"
		if !known || r.PostForm.Get("code") != "good" || base64.RawURLEncoding.EncodeToString(digest[:]) != s.challenge {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"error":"invalid_grant","error_description":"canary"}`)
			return
		}
		fmt.Fprint(w, `{"access_token":"at","token_type":"bearer","refresh_token":"rt","expires_in":3600}`)
		return
	}
	body, found := s.answers[r.URL.Path]
	if !found || r.Header.Get("Authorization") != "Bearer at" {
		w.WriteHeader(http.StatusUnauthorized)
	}
	fmt.Fprint(w, body)
}

func (s *plainServer) provider(t *testing.T, name string, change func(*Config)) *Provider {
	t.Helper()
	config := Config{Name: name, ClientID: "id", ClientSecret: "secret", URL: s.URL, RedirectURI: "https://api.example/auth/v1/callback"}
	if change != nil {
		change(&config)
	}
	p, err := New(config, s.Client())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const testVerifier = "a-verifier-of-forty-three-characters-or-more"

// depart gives the query that a user is led to the server with.
func (s *plainServer) depart(t *testing.T, p *Provider, r Request) url.Values {
	t.Helper()
	r.State, r.Verifier, r.Nonce = "state", testVerifier, "nonce"
	address, err := p.AuthorizationURL(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(address)
	if err != nil || !strings.HasPrefix(address, s.URL) {
		t.Fatalf("it leads to %q: %v", address, err)
	}
	s.challenge = u.Query().Get("code_challenge")
	return u.Query()
}

func TestServersWithAnInterfaceOfTheirOwnSayWhoTheirUserIs(t *testing.T) {
	for _, tc := range []struct {
		name    string
		answers map[string]string
		want    Profile
	}{
		{
			"github",
			map[string]string{
				"/api/v3/user":        `{"id":583231,"login":"octocat","name":"The Octocat","avatar_url":"https://a.example/1.png","email":"shown@example.com"}`,
				"/api/v3/user/emails": `[{"email":"old@example.com","primary":false,"verified":true},{"email":"cat@example.com","primary":true,"verified":true}]`,
			},
			Profile{Subject: "583231", Email: "cat@example.com", EmailVerified: true, Data: map[string]any{
				"name": "The Octocat", "user_name": "octocat", "preferred_username": "octocat", "avatar_url": "https://a.example/1.png",
			}},
		},
		{
			"gitlab",
			map[string]string{"/api/v4/user": `{"id":7,"username":"ada","name":"Ada","email":"ada@example.com","confirmed_at":"2020-01-01T00:00:00Z","avatar_url":null}`},
			Profile{Subject: "7", Email: "ada@example.com", EmailVerified: true, Data: map[string]any{"full_name": "Ada"}},
		},
		{
			"gitlab",
			map[string]string{"/api/v4/user": `{"id":7,"username":"ada","email":"ada@example.com","confirmed_at":null}`},
			Profile{Subject: "7", Email: "ada@example.com", EmailVerified: false},
		},
		{
			"discord",
			map[string]string{"/api/users/@me": `{"id":"80351110224678912","username":"nelly","global_name":"Nelly","avatar":"a1","email":"n@example.com","verified":false}`},
			Profile{Subject: "80351110224678912", Email: "n@example.com", Data: map[string]any{
				"name": "Nelly", "full_name": "nelly", "picture": "https://cdn.discordapp.com/avatars/80351110224678912/a1.png",
			}},
		},
		{
			"twitter",
			map[string]string{"/2/users/me": `{"data":{"id":"12","name":"X","username":"xx","confirmed_email":"x@example.com","profile_image_url":"https://p.example/x"}}`},
			Profile{Subject: "12", Email: "x@example.com", EmailVerified: true, Data: map[string]any{"user_name": "xx"}},
		},
		{
			"x",
			map[string]string{"/2/users/me": `{"data":{"id":"12","name":"X","username":"xx"}}`},
			Profile{Subject: "12"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newPlainServer(t, tc.answers)
			p := s.provider(t, tc.name, nil)
			s.depart(t, p, Request{})
			g, err := p.Redeem(t.Context(), Answer{Code: "good", Verifier: testVerifier})
			if err != nil {
				t.Fatal(err)
			}
			if g.AccessToken != "at" || g.RefreshToken != "rt" {
				t.Errorf("the tokens are %q and %q", g.AccessToken, g.RefreshToken)
			}
			if got := g.Profile; got.Subject != tc.want.Subject || got.Email != tc.want.Email || got.EmailVerified != tc.want.EmailVerified {
				t.Errorf("the user is %+v", got)
			}
			for name, want := range tc.want.Data {
				if got := g.Profile.Data[name]; got != want {
					t.Errorf("%s is %v, not %v", name, got, want)
				}
			}
			if g.Profile.Data["sub"] != tc.want.Subject || g.Profile.Data["email_verified"] != tc.want.EmailVerified || g.Profile.Data["iss"] != s.URL {
				t.Errorf("what is kept is %v", g.Profile.Data)
			}
		})
	}
}

// Facebook's interface is asked with a proof of the app's secret: a token that another app was given is of no use.
func TestFacebookIsAskedWithAProofOfTheSecret(t *testing.T) {
	answers := map[string]string{"/me": `{"id":"4","name":"M","email":"m@example.com","picture":{"data":{"url":"https://p.example/m"}}}`}
	s := newPlainServer(t, answers)
	discovery, _ := json.Marshal(map[string]string{"issuer": s.URL, "jwks_uri": s.URL + "/keys", "authorization_endpoint": s.URL, "token_endpoint": s.URL})
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/.well-known/openid-configuration" {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(discovery)
			return
		}
		s.serve(w, r)
	})
	p := s.provider(t, "facebook", nil)
	s.depart(t, p, Request{})
	g, err := p.Redeem(t.Context(), Answer{Code: "good", Verifier: testVerifier})
	if err != nil {
		t.Fatal(err)
	}
	proof := hmac.New(sha256.New, []byte("secret"))
	proof.Write([]byte("at"))
	asked := s.asked[len(s.asked)-1].URL.Query()
	if asked.Get("appsecret_proof") != hex.EncodeToString(proof.Sum(nil)) || g.Profile.Data["picture"] != "https://p.example/m" {
		t.Errorf("it was asked with %v and says %v", asked, g.Profile.Data)
	}
}

func TestAServerWithoutDiscoveryIsMapped(t *testing.T) {
	s := newPlainServer(t, map[string]string{"/me": `{"uid":42,"contact":{"mail":"a@example.com","checked":"true"},"label":"A"}`})
	p := s.provider(t, "custom:acme", func(c *Config) {
		c.URL = ""
		c.Endpoints = Endpoints{Authorization: s.URL + "/a?tenant=t", Token: s.URL + "/t", Userinfo: s.URL + "/me"}
		c.Mapping = map[string]string{"sub": "uid", "email": "contact.mail", "email_verified": "contact.checked", "name": "label"}
		c.Params, c.Scopes = map[string]string{"audience": "us"}, []string{"read"}
	})
	query := s.depart(t, p, Request{Scopes: []string{"more", "read"}, Params: url.Values{
		"prompt": {"login"}, "state": {"mine"}, "redirect_uri": {"https://evil.example"}, "client_id": {"mine"}, "audience": {"others"},
		"response_mode": {"fragment"}, "long": {strings.Repeat("x", maxParam)}, "twice": {"a", "b"}, "request_uri": {"https://evil.example"},
	}})
	for name, want := range map[string]string{
		"tenant": "t", "audience": "us", "scope": "read more", "prompt": "login", "state": "state", "client_id": "id", "response_type": "code",
		"redirect_uri": "https://api.example/auth/v1/callback", "response_mode": "", "long": "", "twice": "", "request_uri": "", "nonce": "",
	} {
		if got := query.Get(name); got != want {
			t.Errorf("%s is %q, not %q", name, got, want)
		}
	}
	g, err := p.Redeem(t.Context(), Answer{Code: "good", Verifier: testVerifier})
	if err != nil || g.Profile.Subject != "42" || g.Profile.Email != "a@example.com" || !g.Profile.EmailVerified || g.Profile.Data["full_name"] != "A" {
		t.Errorf("the user is %+v: %v", g, err)
	}
}

func TestWhatAServerDoesNotSayWellIsNoUser(t *testing.T) {
	for _, tc := range []struct{ name, user, code, verifier string }{
		{"a code that it does not know", `{"id":1}`, "bad", testVerifier},
		{"another verifier", `{"id":1}`, "good", testVerifier + "x"},
		{"no name", `{"email":"a@example.com"}`, "good", testVerifier},
		{"a name that is too long", `{"id":"` + strings.Repeat("x", 256) + `"}`, "good", testVerifier},
		{"a name that is an object", `{"id":{}}`, "good", testVerifier},
		{"no JSON", `<html>`, "good", testVerifier},
		{"a list", `[]`, "good", testVerifier},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newPlainServer(t, map[string]string{"/api/v4/user": tc.user})
			p := s.provider(t, "gitlab", nil)
			s.depart(t, p, Request{})
			g, err := p.Redeem(t.Context(), Answer{Code: tc.code, Verifier: tc.verifier})
			var fault *Error
			if !errors.As(err, &fault) || strings.Contains(err.Error(), "canary") || strings.Contains(err.Error(), "secret") {
				t.Errorf("the outcome is %+v, %v", g, err)
			}
		})
	}
}

func TestARefusalThatRepeatsWhatWasAskedIsNotTold(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, secret, _ := r.BasicAuth()
		fmt.Fprintf(w, `{"error":%q}`, "bad:"+secret+r.PostForm.Get("client_secret")+r.PostForm.Get("code"))
	}))
	t.Cleanup(server.Close)
	p, err := New(Config{Name: "gitlab", ClientID: "id", ClientSecret: "canary-1", URL: server.URL, RedirectURI: "https://api.example/auth/v1/callback"}, server.Client())
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Redeem(t.Context(), Answer{Code: "canary-2", Verifier: testVerifier})
	var fault *Error
	if !errors.As(err, &fault) || fault.Kind != Refused || strings.Contains(err.Error(), "canary") {
		t.Errorf("the outcome is %v", err)
	}
}

func TestAServerThatHangsIsNotWaitedForByOthers(t *testing.T) {
	release, entered := make(chan struct{}), make(chan struct{}, 1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		entered <- struct{}{}
		<-release
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer s.Close()
	defer close(release)
	p, err := New(Config{Name: "keycloak", ClientID: "id", URL: s.URL}, s.Client())
	if err != nil {
		t.Fatal(err)
	}
	first, endFirst := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := p.AuthorizationURL(first, Request{})
		done <- err
	}()
	<-entered
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := p.AuthorizationURL(ctx, Request{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the outcome is %v", err)
	}
	endFirst()
	if err := <-done; err == nil {
		t.Error("the server has answered")
	}
}

func TestAConfigurationShowsNoSecret(t *testing.T) {
	c := Config{Name: "google", ClientSecret: "canary"}
	text, err := json.Marshal(c)
	if all := fmt.Sprintf("%v %+v %#v %s %x", c, c, c, text, c); err != nil || strings.Contains(all, "canary") || strings.Contains(all, hex.EncodeToString([]byte("canary"))) {
		t.Errorf("it is shown as %s", all)
	}
}
