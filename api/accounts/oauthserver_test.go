package accounts_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"basalt/api/accounts"
	"basalt/auth"
	"basalt/auth/seal"
	"basalt/auth/token"
)

const callback = "https://client.example/callback?from=basalt"

// startOAuth serves accounts that are an OAuth server, with an asymmetric key.
func startOAuth(t *testing.T, algorithm string, change func(*auth.Options)) *server {
	t.Helper()
	o := options()
	o.OAuthServer = auth.OAuthServer{On: true, ConsentPath: "/oauth/consent"}
	if change != nil {
		change(&o)
	}
	s := start(t, o)
	pair, err := token.NewPair(algorithm)
	if err != nil {
		t.Fatal(err)
	}
	pair.State = token.StateCurrent
	vault := seal.NewVault(s.db.Pool, func() (seal.Ring, error) { return seal.Ring{seal.Derive("unused", "test")}, nil })
	keyring, err := auth.NewKeyring(t.Context(), *s.keys, auth.KeyringOptions{DB: s.db.Pool, Vault: vault, Given: []*token.Pair{pair}})
	if err != nil {
		t.Fatal(err)
	}
	*s.keys = keyring.Keys()
	s.service.UseKeys(*s.keys)
	return s.face(accounts.Options{})
}

// party is a third party: an app of somebody else, with a library of somebody else.
type party struct {
	*server
	id     string
	config oauth2.Config
	ctx    context.Context
	oidc   *oidc.Provider
}

// there leads requests for the server's public name to where it listens.
type there struct{ url *url.URL }

func (r there) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.URL.Host == "api.example" {
		request = request.Clone(request.Context())
		request.URL.Host = r.url.Host
	}
	return http.DefaultTransport.RoundTrip(request)
}

func (s *server) party(t *testing.T, metadata string, scopes ...string) *party {
	t.Helper()
	if metadata == "" {
		metadata = `{"client_name":"An app","redirect_uris":["` + callback + `","https://client.example/other"]}`
	}
	made := s.admin("POST", "/oauth/clients", metadata)
	if made.status != 201 {
		t.Fatalf("%d %s", made.status, made.text)
	}
	address, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	ctx := oidc.ClientContext(t.Context(), &http.Client{Transport: there{address}})
	provider, err := oidc.NewProvider(ctx, "http://api.example/auth/v1")
	if err != nil {
		t.Fatal(err)
	}
	return &party{
		server: s, id: made.str("client_id"), ctx: ctx, oidc: provider,
		config: oauth2.Config{
			ClientID: made.str("client_id"), ClientSecret: made.str("client_secret"), Endpoint: provider.Endpoint(), RedirectURL: callback, Scopes: scopes,
		},
	}
}

// ask sends a browser to the authorization endpoint and gives the id that the page of consent gets.
func (p *party) ask(t *testing.T, state, verifier string, more ...oauth2.AuthCodeOption) string {
	t.Helper()
	to := p.open(t, p.config.AuthCodeURL(state, append(more, oauth2.S256ChallengeOption(verifier))...))
	u, err := url.Parse(to)
	if err != nil || !strings.HasPrefix(to, "http://site.example/oauth/consent?authorization_id=") {
		t.Fatalf("led to %q", to)
	}
	return u.Query().Get("authorization_id")
}

// open gives where a browser is led by an address.
func (p *party) open(t *testing.T, address string) string {
	t.Helper()
	_, query, _ := strings.Cut(address, "?")
	a := p.raw("GET", "/oauth/authorize?"+query, "", nil)
	if a.status != http.StatusFound {
		t.Fatalf("%d %s", a.status, a.text)
	}
	return a.header.Get("Location")
}

// raw sends a request without following where it leads.
func (s *server) raw(method, path, body string, header http.Header) answer {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url+"/auth/v1"+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if header != nil {
		r.Header = header
	}
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	var text strings.Builder
	buffer := make([]byte, 64<<10)
	for {
		n, err := response.Body.Read(buffer)
		text.Write(buffer[:n])
		if err != nil {
			break
		}
	}
	return answer{status: response.StatusCode, header: response.Header, text: text.String()}
}

// approve gives the code that a user's consent gives.
func (p *party) approve(t *testing.T, bearer, id, state string) string {
	t.Helper()
	a := p.want(p.call("POST", "/oauth/authorizations/"+id+"/consent", bearer, `{"action":"approve"}`), 200, "")
	return codeOf(t, a.str("redirect_url"), state)
}

func codeOf(t *testing.T, to, state string) string {
	t.Helper()
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	if u.Host != "client.example" || u.Path != "/callback" || q.Get("from") != "basalt" || q.Get("state") != state || q.Get("iss") != "http://api.example/auth/v1" || q.Get("code") == "" {
		t.Errorf("led to %s", to)
	}
	return q.Get("code")
}

func TestAThirdPartySignsUsersIn(t *testing.T) {
	for _, algorithm := range token.PairAlgorithms() {
		t.Run(algorithm, func(t *testing.T) {
			s := startOAuth(t, algorithm, nil)
			p := s.party(t, "", oidc.ScopeOpenID, "email", "profile")
			email := address()
			user := s.signUp(email).str("access_token")
			s.want(s.call("PUT", "/user", user, `{"data":{"full_name":"Ada","avatar_url":"https://a.example/a.png"}}`), 200, "")
			verifier := oauth2.GenerateVerifier()
			id := p.ask(t, "the state", verifier, oidc.Nonce("the nonce"))
			shown := s.want(s.call("GET", "/oauth/authorizations/"+id, user, "", "Origin", "http://site.example"), 200, "")
			if shown.str("authorization_id") != id || shown.str("client.id") != p.id || shown.str("client.name") != "An app" || shown.str("user.email") != email ||
				shown.str("scope") != "openid email profile" || shown.str("redirect_uri") != callback {
				t.Errorf("shown %s", shown.text)
			}
			code := p.approve(t, user, id, "the state")
			held, err := p.config.Exchange(p.ctx, code, oauth2.VerifierOption(verifier))
			if err != nil {
				t.Fatal(err)
			}
			raw, _ := held.Extra("id_token").(string)
			checked, err := p.oidc.Verifier(&oidc.Config{ClientID: p.id}).Verify(p.ctx, raw)
			if err != nil {
				t.Fatal(err)
			}
			if checked.Nonce != "the nonce" || checked.VerifyAccessToken(held.AccessToken) != nil {
				t.Errorf("%+v, %v", checked, checked.VerifyAccessToken(held.AccessToken))
			}
			var claims struct {
				Email    string `json:"email"`
				Verified bool   `json:"email_verified"`
				Name     string `json:"name"`
				Picture  string `json:"picture"`
				Phone    string `json:"phone_number"`
				AuthTime int64  `json:"auth_time"`
				Party    string `json:"azp"`
			}
			if err := checked.Claims(&claims); err != nil || claims.Email != email || !claims.Verified || claims.Name != "Ada" || claims.Picture != "https://a.example/a.png" ||
				claims.AuthTime == 0 || claims.Party != p.id {
				t.Errorf("%+v, %v", claims, err)
			}
			info, err := p.oidc.UserInfo(p.ctx, oauth2.StaticTokenSource(held))
			if err != nil || info.Subject != checked.Subject || info.Email != email || !info.EmailVerified {
				t.Errorf("%+v, %v", info, err)
			}
			access := claimsOf(t, held.AccessToken)
			if access["client_id"] != p.id || access["scope"] != "openid email profile" || access["role"] != "authenticated" || access["sub"] != checked.Subject {
				t.Errorf("%v", access)
			}
			// The user is told of the session, and has not signed in by it.
			if listed := s.call("GET", "/user/sessions", user, ""); listed.str("sessions.0.client_id") != p.id || listed.str("sessions.0.client_name") != "An app" {
				t.Errorf("listed %s", listed.text)
			}
			// An ID token opens nothing.
			s.want(s.call("GET", "/user", raw, ""), 403, "bad_jwt")
			s.want(s.call("GET", "/user", held.AccessToken, ""), 200, "")
			expired := *held
			expired.Expiry = time.Now().Add(-time.Hour)
			next, err := p.config.TokenSource(p.ctx, &expired).Token()
			if err != nil || next.RefreshToken == held.RefreshToken {
				t.Fatalf("%v", err)
			}
			if again, _ := next.Extra("id_token").(string); again == "" {
				t.Error("a refresh gives no ID token")
			}
			// What was granted before is granted at once, and not more.
			verifier = oauth2.GenerateVerifier()
			known := s.want(s.call("GET", "/oauth/authorizations/"+p.ask(t, "again", verifier), user, ""), 200, "")
			if _, err := p.config.Exchange(p.ctx, codeOf(t, known.str("redirect_url"), "again"), oauth2.VerifierOption(verifier)); err != nil {
				t.Error(err)
			}
			p.config.Scopes = append(p.config.Scopes, "phone")
			if more := s.call("GET", "/oauth/authorizations/"+p.ask(t, "more", verifier), user, ""); more.str("redirect_url") != "" || more.str("scope") != "openid email profile phone" {
				t.Errorf("more than was granted: %s", more.text)
			}
			// The user takes it back.
			grants := s.want(s.call("GET", "/user/oauth/grants", user, ""), 200, "")
			if grants.str("0.client.id") != p.id || fmt.Sprint(grants.get("0.scopes")) != "[openid email profile]" || grants.str("0.granted_at") == "" {
				t.Errorf("grants %s", grants.text)
			}
			s.want(s.call("DELETE", "/user/oauth/grants?client_id="+p.id, user, ""), 204, "")
			s.want(s.call("DELETE", "/user/oauth/grants?client_id="+p.id, user, ""), 404, "oauth_consent_not_found")
			s.want(s.call("DELETE", "/user/oauth/grants", user, ""), 400, "validation_failed")
			s.want(s.call("GET", "/user", next.AccessToken, ""), 403, "session_not_found")
			next.Expiry = time.Now().Add(-time.Hour)
			if _, err := p.config.TokenSource(p.ctx, next).Token(); err == nil {
				t.Error("a client whose grant was revoked refreshes")
			}
			if a := s.raw("GET", "/oauth/userinfo", "", http.Header{"Authorization": {"Bearer " + next.AccessToken}}); a.status != 401 || a.str("error") != "invalid_token" || !strings.Contains(a.header.Get("WWW-Authenticate"), `error="invalid_token"`) {
				t.Errorf("%d %s %v", a.status, a.text, a.header)
			}
			s.want(s.call("GET", "/user", user, ""), 200, "")
			// Of all that nothing secret is logged, or stands in the database.
			for what, secret := range map[string]string{
				"the code": code, "the verifier": verifier, "the client's secret": p.config.ClientSecret, "the access token": held.AccessToken,
				"the refresh token": held.RefreshToken, "the ID token": raw, "the next refresh token": next.RefreshToken, "the user's token": user,
			} {
				if strings.Contains(s.log.String(), secret) {
					t.Errorf("%s is logged", what)
				}
				if n := s.count(`
select (select count(*) from auth.refresh_tokens where token = $1)
    + (select count(*) from auth.oauth_authorizations where authorization_code = $1)
    + (select count(*) from basalt.exchanged_codes where code_hash = $1)
    + (select count(*) from auth.oauth_clients where client_secret_hash = $1)`, secret); n != 0 {
					t.Errorf("%s can be read in the database", what)
				}
			}
			for _, event := range []string{"oauth_authorize", "oauth_approve", "oauth_code_exchange", "oauth_refresh", "oauth_revoke", "oauth_client_register"} {
				if !strings.Contains(s.log.String(), `"event":"`+event+`"`) {
					t.Errorf("the log does not tell of %s", event)
				}
			}
			// With the account goes all that it has granted.
			s.want(s.admin("DELETE", "/users/"+checked.Subject, ""), 200, "")
			if n := s.count(`select (select count(*) from auth.oauth_consents) + (select count(*) from auth.oauth_authorizations where user_id is not null) + (select count(*) from auth.sessions)`); n != 0 {
				t.Errorf("%d rows are left", n)
			}
		})
	}
}

// held gives what a client has after a user's consent.
func (p *party) held(t *testing.T, user string) *oauth2.Token {
	t.Helper()
	verifier := oauth2.GenerateVerifier()
	id := p.ask(t, "s", verifier)
	code := codeOf(t, p.grant(t, user, id), "s")
	held, err := p.config.Exchange(p.ctx, code, oauth2.VerifierOption(verifier))
	if err != nil {
		t.Fatal(err)
	}
	return held
}

// grant consents unless that was done before.
func (p *party) grant(t *testing.T, user, id string) string {
	t.Helper()
	if shown := p.want(p.call("GET", "/oauth/authorizations/"+id, user, ""), 200, ""); shown.str("redirect_url") != "" {
		return shown.str("redirect_url")
	}
	return p.want(p.call("POST", "/oauth/authorizations/"+id+"/consent", user, `{"action":"approve"}`), 200, "").str("redirect_url")
}

func TestATokenOfAClientDoesNotStandForItsUser(t *testing.T) {
	s := startOAuth(t, "ES256", nil)
	p := s.party(t, "", "email")
	user := s.signUp(address())
	held := p.held(t, user.str("access_token"))
	for _, c := range [][3]string{
		{"PUT", "/user", `{"password":"Another-pass-1"}`}, {"GET", "/user/sessions", ""}, {"DELETE", "/user/sessions/" + p.id, ""},
		{"GET", "/user/oauth/grants", ""}, {"DELETE", "/user/oauth/grants?client_id=" + p.id, ""},
		{"GET", "/oauth/authorizations/x", ""}, {"POST", "/oauth/authorizations/x/consent", `{"action":"approve"}`},
	} {
		s.want(s.call(c[0], c[1], held.AccessToken, c[2]), 403, "insufficient_scope")
	}
	s.want(s.call("GET", "/admin/users", held.AccessToken, ""), 403, "insufficient_scope")
	// Its refresh token is good at the OAuth server alone, and the user's own is not good there.
	s.want(s.refresh(held.RefreshToken), 400, "refresh_token_not_found")
	body := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {user.str("refresh_token")}, "client_id": {p.id}, "client_secret": {p.config.ClientSecret}}
	if a := s.form(body); a.status != 400 || a.str("error") != "invalid_grant" {
		t.Errorf("%d %s", a.status, a.text)
	}
	// Nor at another client.
	other := s.party(t, "", "email")
	body = url.Values{"grant_type": {"refresh_token"}, "refresh_token": {held.RefreshToken}, "client_id": {other.id}, "client_secret": {other.config.ClientSecret}}
	if a := s.form(body); a.status != 400 || a.str("error") != "invalid_grant" {
		t.Errorf("%d %s", a.status, a.text)
	}
	s.want(s.call("POST", "/logout?scope=others", held.AccessToken, ""), 403, "insufficient_scope")
	for _, scope := range []string{"?scope=local", "?scope=global", ""} {
		s.want(s.call("POST", "/logout"+scope, held.AccessToken, ""), 204, "")
		s.want(s.call("GET", "/user", held.AccessToken, ""), 403, "session_not_found")
		s.want(s.call("GET", "/user", user.str("access_token"), ""), 200, "")
		held = p.held(t, user.str("access_token"))
	}
}

// Tokens of clients have the role of their user: one that may do everything is not for clients to have.
func TestNoClientGetsARoleThatMayDoEverything(t *testing.T) {
	s := startOAuth(t, "ES256", nil)
	p := s.party(t, "", "email")
	user := s.signUp(address())
	held := p.held(t, user.str("access_token"))
	verifier := oauth2.GenerateVerifier()
	waiting := codeOf(t, p.grant(t, user.str("access_token"), p.ask(t, "s", verifier)), "s")
	asked := p.ask(t, "s", oauth2.GenerateVerifier())
	for _, role := range []string{"service_role", "supabase_admin"} {
		s.want(s.admin("PUT", "/users/"+user.str("user.id"), `{"role":"`+role+`"}`), 200, "")
		if shown := s.want(s.call("GET", "/oauth/authorizations/"+asked, user.str("access_token"), ""), 200, ""); shown.str("redirect_url") != "" {
			t.Errorf("the client is let in: %s", shown.text)
		}
		s.want(s.call("POST", "/oauth/authorizations/"+asked+"/consent", user.str("access_token"), `{"action":"approve"}`), 403, "not_admin")
		body := url.Values{"grant_type": {"authorization_code"}, "code": {waiting}, "code_verifier": {verifier}, "client_id": {p.id}, "client_secret": {p.config.ClientSecret}}
		if a := s.form(body); a.status != 400 || a.str("error") != "invalid_grant" {
			t.Errorf("a code: %d %s", a.status, a.text)
		}
		body = url.Values{"grant_type": {"refresh_token"}, "refresh_token": {held.RefreshToken}, "client_id": {p.id}, "client_secret": {p.config.ClientSecret}}
		if a := s.form(body); a.status != 400 || a.str("error") != "invalid_grant" {
			t.Errorf("a refresh: %d %s", a.status, a.text)
		}
	}
	s.want(s.call("POST", "/oauth/authorizations/"+asked+"/consent", user.str("access_token"), `{"action":"deny"}`), 200, "")
}
