package accounts_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
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
	s.want(s.call("POST", "/logout?scope=local", held.AccessToken, ""), 204, "")
	s.want(s.call("GET", "/user", held.AccessToken, ""), 403, "session_not_found")
	s.want(s.call("GET", "/user", user.str("access_token"), ""), 200, "")
}

func (s *server) form(values url.Values, header ...string) answer {
	s.t.Helper()
	h := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return s.raw("POST", "/oauth/token", values.Encode(), h)
}

func TestEachConditionOfAnExchangeRefusesAlone(t *testing.T) {
	s := startOAuth(t, "EdDSA", nil)
	p := s.party(t, "", "email")
	other := s.party(t, "", "email")
	public := s.party(t, `{"redirect_uris":["`+callback+`"],"token_endpoint_auth_method":"none"}`, "email")
	posting := s.party(t, `{"redirect_uris":["`+callback+`"],"token_endpoint_auth_method":"client_secret_post","grant_types":["authorization_code"]}`, "email")
	user := s.signUp(address()).str("access_token")
	good := func(p *party) url.Values {
		verifier := oauth2.GenerateVerifier()
		id := p.ask(t, "s", verifier, oauth2.SetAuthURLParam("resource", "https://api.example/things"))
		return url.Values{
			"grant_type": {"authorization_code"}, "code": {codeOf(t, p.grant(t, user, id), "s")}, "code_verifier": {verifier}, "redirect_uri": {callback},
			"client_id": {p.id}, "client_secret": {p.config.ClientSecret}, "resource": {"https://api.example/things"},
		}
	}
	basic := func(id, secret string) string {
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(url.QueryEscape(id)+":"+url.QueryEscape(secret)))
	}
	for name, c := range map[string]struct {
		change func(url.Values)
		header []string
		status int
		code   string
	}{
		"no grant type": {func(v url.Values) { v.Del("grant_type") }, nil, 400, "invalid_request"},
		"another grant": {func(v url.Values) { v.Set("grant_type", "password") }, nil, 400, "unsupported_grant_type"},
		"no code":       {func(v url.Values) { v.Del("code") }, nil, 400, "invalid_request"},
		"another code":  {func(v url.Values) { v.Set("code", strings.Repeat("x", 43)) }, nil, 400, "invalid_grant"},
		"what the database has of it": {func(v url.Values) {
			digest := sha256.Sum256([]byte(v.Get("code")))
			v.Set("code", fmt.Sprintf("sha256:%x", digest))
		}, nil, 400, "invalid_grant"},
		"no verifier":          {func(v url.Values) { v.Del("code_verifier") }, nil, 400, "invalid_request"},
		"another verifier":     {func(v url.Values) { v.Set("code_verifier", oauth2.GenerateVerifier()) }, nil, 400, "invalid_grant"},
		"the challenge itself": {func(v url.Values) { v.Set("code_verifier", oauth2.S256ChallengeFromVerifier(v.Get("code_verifier"))) }, nil, 400, "invalid_grant"},
		"a short verifier":     {func(v url.Values) { v.Set("code_verifier", "short") }, nil, 400, "invalid_grant"},
		"another redirect URI": {func(v url.Values) { v.Set("redirect_uri", "https://client.example/other") }, nil, 400, "invalid_grant"},
		"another resource":     {func(v url.Values) { v.Set("resource", "https://api.example/others") }, nil, 400, "invalid_grant"},
		"another client": {func(v url.Values) {
			v.Set("client_id", other.id)
			v.Set("client_secret", other.config.ClientSecret)
		}, nil, 400, "invalid_grant"},
		"a public client in its place": {func(v url.Values) {
			v.Set("client_id", public.id)
			v.Del("client_secret")
		}, nil, 400, "invalid_grant"},
		"no client":             {func(v url.Values) { v.Del("client_id") }, nil, 401, "invalid_client"},
		"a client that is none": {func(v url.Values) { v.Set("client_id", "5b1f8f0e-3c1a-4d6b-9a57-0d9f6a1c0009") }, nil, 401, "invalid_client"},
		"no secret":             {func(v url.Values) { v.Del("client_secret") }, nil, 401, "invalid_client"},
		"another secret":        {func(v url.Values) { v.Set("client_secret", other.config.ClientSecret) }, nil, 401, "invalid_client"},
		"what the database has of the secret": {func(v url.Values) {
			digest := sha256.Sum256([]byte(v.Get("client_secret")))
			v.Set("client_secret", base64.RawURLEncoding.EncodeToString(digest[:]))
		}, nil, 401, "invalid_client"},
		"a code twice":         {func(v url.Values) { v["code"] = append(v["code"], "x") }, nil, 400, "invalid_request"},
		"two ways at once":     {func(url.Values) {}, []string{"Authorization", basic(p.id, p.config.ClientSecret)}, 400, "invalid_request"},
		"two clients at once":  {func(v url.Values) { v.Del("client_secret") }, []string{"Authorization", basic(other.id, other.config.ClientSecret)}, 400, "invalid_request"},
		"a NUL in a parameter": {func(v url.Values) { v.Set("redirect_uri", "\x00") }, nil, 400, "invalid_request"},
		"no form":              {func(url.Values) {}, []string{"Content-Type", "application/json"}, 400, "invalid_request"},
		"a wrong basic secret": {func(v url.Values) { v.Del("client_secret") }, []string{"Authorization", basic(p.id, "wrong")}, 401, "invalid_client"},
	} {
		values := good(p)
		c.change(values)
		if a := s.form(values, c.header...); a.status != c.status || a.str("error") != c.code || a.str("error_description") == "" || a.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %s", name, a.status, a.text)
		} else if (a.status == 401) != (a.header.Get("WWW-Authenticate") != "") {
			t.Errorf("%s: %v", name, a.header)
		}
		if n := s.count(`select count(*) from auth.sessions where oauth_client_id is not null`); n != 0 {
			t.Fatalf("%s: there is a session", name)
		}
	}
	// The time of a code.
	values := good(p)
	s.db.Exec(t, `update auth.oauth_authorizations set created_at = created_at - interval '6 minutes', expires_at = expires_at - interval '5 minutes'`)
	if a := s.form(values); a.str("error") != "invalid_grant" {
		t.Errorf("a late code: %s", a.text)
	}
	// And what is right.
	for name, c := range map[string]struct {
		party  *party
		change func(url.Values)
		header []string
	}{
		"by post":                  {p, func(url.Values) {}, nil},
		"by basic":                 {p, func(v url.Values) { v.Del("client_id"); v.Del("client_secret") }, []string{"Authorization", basic(p.id, p.config.ClientSecret)}},
		"without a redirect URI":   {p, func(v url.Values) { v.Del("redirect_uri"); v.Del("resource") }, nil},
		"a public client":          {public, func(v url.Values) { v.Del("client_secret") }, nil},
		"a client without refresh": {posting, func(url.Values) {}, nil},
	} {
		values := good(c.party)
		c.change(values)
		a := s.form(values, c.header...)
		if a.status != 200 || a.str("token_type") != "bearer" || a.str("access_token") == "" || a.str("scope") != "email" || (a.str("refresh_token") == "") != (c.party == posting) || a.str("id_token") != "" {
			t.Errorf("%s: %d %s", name, a.status, a.text)
		}
	}
	object, err := json.Marshal(func() map[string]string {
		one := map[string]string{}
		for name, value := range good(p) {
			one[name] = value[0]
		}
		return one
	}())
	if err != nil {
		t.Fatal(err)
	}
	if a := s.raw("POST", "/oauth/token", string(object), http.Header{"Content-Type": {"application/json"}}); a.status != 200 {
		t.Errorf("as JSON: %d %s", a.status, a.text)
	}
	refused := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {"x"}, "client_id": {posting.id}, "client_secret": {posting.config.ClientSecret}}
	if a := s.form(refused); a.str("error") != "unauthorized_client" {
		t.Errorf("a grant that the client has not: %s", a.text)
	}
}

func TestACodeIsGoodOnceAndItsSecondUseEndsWhatItGave(t *testing.T) {
	s := startOAuth(t, "ES256", nil)
	second := startOver(t, s.db, func() auth.Options {
		o := options()
		o.OAuthServer.On = true
		return o
	}())
	p := s.party(t, "", "email")
	user := s.signUp(address()).str("access_token")
	verifier := oauth2.GenerateVerifier()
	values := url.Values{
		"grant_type": {"authorization_code"}, "code": {codeOf(t, p.grant(t, user, p.ask(t, "s", verifier)), "s")}, "code_verifier": {verifier},
		"client_id": {p.id}, "client_secret": {p.config.ClientSecret},
	}
	var mu sync.Mutex
	var won []answer
	var group sync.WaitGroup
	for i := range 60 {
		group.Go(func() {
			a := []*server{s, second}[i%2].form(values)
			mu.Lock()
			defer mu.Unlock()
			if a.status == 200 {
				won = append(won, a)
			} else if a.str("error") != "invalid_grant" {
				t.Errorf("%d %s", a.status, a.text)
			}
		})
	}
	group.Wait()
	if len(won) != 1 {
		t.Fatalf("%d exchanges succeed", len(won))
	}
	if a := s.form(values); a.str("error") != "invalid_grant" {
		t.Errorf("%s", a.text)
	}
	s.want(s.call("GET", "/user", won[0].str("access_token"), ""), 403, "session_not_found")
	refresh := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {won[0].str("refresh_token")}, "client_id": {p.id}, "client_secret": {p.config.ClientSecret}}
	if a := s.form(refresh); a.str("error") != "invalid_grant" {
		t.Errorf("%s", a.text)
	}
	if !strings.Contains(s.log.String()+second.log.String(), "a used authorization code came back") {
		t.Error("the log does not tell")
	}
}

func TestRefreshesOfAClient(t *testing.T) {
	s := startOAuth(t, "ES256", nil)
	p := s.party(t, "", "email", "profile")
	user := s.signUp(address())
	held := p.held(t, user.str("access_token"))
	refresh := func(scope, with string) answer {
		v := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {with}, "client_id": {p.id}, "client_secret": {p.config.ClientSecret}}
		if scope != "" {
			v.Set("scope", scope)
		}
		return s.form(v)
	}
	if a := refresh("email phone", held.RefreshToken); a.str("error") != "invalid_scope" {
		t.Errorf("%s", a.text)
	}
	a := refresh("email", held.RefreshToken)
	if a.status != 200 || a.str("scope") != "email profile" {
		t.Errorf("%d %s", a.status, a.text)
	}
	for _, with := range []string{"", "x"} {
		if a := refresh("", with); a.status != 400 {
			t.Errorf("%d %s", a.status, a.text)
		}
	}
	s.age()
	s.age()
	if stolen := refresh("", held.RefreshToken); stolen.str("error") != "invalid_grant" {
		t.Errorf("%s", stolen.text)
	}
	if a := refresh("", a.str("refresh_token")); a.str("error") != "invalid_grant" {
		t.Errorf("the family lives: %s", a.text)
	}
	held = p.held(t, user.str("access_token"))
	s.want(s.admin("PUT", "/users/"+user.str("user.id"), `{"ban_duration":"1h"}`), 200, "")
	if a := refresh("", held.RefreshToken); a.str("error") != "invalid_grant" {
		t.Errorf("a banned user's: %s", a.text)
	}
	s.want(s.admin("PUT", "/users/"+user.str("user.id"), `{"ban_duration":"none"}`), 200, "")
	if a := refresh("", held.RefreshToken); a.status != 200 {
		t.Errorf("%s", a.text)
	}
	s.want(s.admin("DELETE", "/oauth/clients/"+p.id, ""), 204, "")
	if a := refresh("", held.RefreshToken); a.str("error") != "invalid_client" {
		t.Errorf("a deleted client's: %s", a.text)
	}
	s.want(s.call("GET", "/user", held.AccessToken, ""), 403, "session_not_found")
}

func TestNobodyIsLedWhereTheClientHasNotRegistered(t *testing.T) {
	s := startOAuth(t, "ES256", nil)
	p := s.party(t, "", "email")
	challenge := oauth2.S256ChallengeFromVerifier(oauth2.GenerateVerifier())
	ask := func(change url.Values) answer {
		v := url.Values{"client_id": {p.id}, "redirect_uri": {callback}, "response_type": {"code"}, "code_challenge": {challenge}, "code_challenge_method": {"S256"}, "state": {"st&a=te"}}
		for name, values := range change {
			if v[name] = values; values == nil {
				v.Del(name)
			}
		}
		return s.raw("GET", "/oauth/authorize?"+v.Encode(), "", nil)
	}
	for _, redirect := range []string{
		"", "https://evil.example/", "https://client.example/callback", "https://client.example/callback?from=basalt&x=y", "https://client.example/callback?from=basalt#x",
		"https://client.example/callback?from=basalt/", "HTTPS://client.example/callback?from=basalt", "https://CLIENT.example/callback?from=basalt", "https://client.example:443/callback?from=basalt",
		"https://client.example@evil.example/callback?from=basalt", "https://evil.example\\@client.example/callback?from=basalt", "//client.example/callback?from=basalt", "/callback",
		"https://client.example./callback?from=basalt", "https://client.example/%63allback?from=basalt", "https://client.example/x/../callback?from=basalt", "http://client.example/callback?from=basalt",
		"https://client.example/callback?from=basalt%0d%0aSet-Cookie:%20x=y", "\thttps://client.example/callback?from=basalt", "javascript:alert(1)", "data:text/html,x", "http://site.example/oauth/consent",
	} {
		if a := ask(url.Values{"redirect_uri": {redirect}}); a.status != 400 || a.str("error") != "invalid_request" || a.header.Get("Location") != "" {
			t.Errorf("%q: %d %s %v", redirect, a.status, a.text, a.header)
		}
	}
	for _, id := range []string{"", "x", "5b1f8f0e-3c1a-4d6b-9a57-0d9f6a1c0009", "{" + p.id + "}"} {
		if a := ask(url.Values{"client_id": {id}}); a.status != 401 || a.str("error") != "invalid_client" || a.header.Get("Location") != "" {
			t.Errorf("%q: %d %s", id, a.status, a.text)
		}
	}
	if a := ask(url.Values{"redirect_uri": {callback, "https://evil.example/"}}); a.status != 400 || a.header.Get("Location") != "" {
		t.Errorf("%d %v", a.status, a.header)
	}
	for code, changes := range map[string][]url.Values{
		"unsupported_response_type": {{"response_type": {"token"}}, {"response_type": nil}, {"response_type": {"code token"}}},
		"invalid_request": {
			{"code_challenge": nil}, {"code_challenge_method": nil}, {"code_challenge_method": {"plain"}}, {"code_challenge_method": {"S512"}}, {"code_challenge": {"short"}},
			{"code_challenge": {strings.Repeat("x", 129)}}, {"code_challenge": {strings.Repeat("?", 43)}}, {"code_challenge": nil, "code_challenge_method": nil},
			{"nonce": {strings.Repeat("x", 256)}}, {"response_mode": {"fragment"}}, {"response_mode": {"form_post"}}, {"resource": {"https://a.example/" + strings.Repeat("x", 2048)}}, {"nonce": {"\x00"}},
		},
		"invalid_scope":             {{"scope": {"email everything"}}, {"scope": {"admin"}}},
		"invalid_target":            {{"resource": {"things"}}, {"resource": {"https://a.example/#x"}}},
		"login_required":            {{"prompt": {"none"}}},
		"request_not_supported":     {{"request": {"eyJ"}}},
		"request_uri_not_supported": {{"request_uri": {"https://evil.example/r"}}},
	} {
		for _, change := range changes {
			a := ask(change)
			to, err := url.Parse(a.header.Get("Location"))
			if err != nil || a.status != 302 || to.Host != "client.example" || to.Query().Get("error") != code || to.Query().Get("state") != "st&a=te" ||
				to.Query().Get("iss") != "http://api.example/auth/v1" || to.Query().Get("from") != "basalt" || to.Query().Get("code") != "" {
				t.Errorf("%v: %d %s %s", change, a.status, to, a.text)
			}
		}
	}
	if n := s.count(`select count(*) from auth.oauth_authorizations`); n != 0 {
		t.Errorf("%d authorizations began", n)
	}
	posted := url.Values{"client_id": {p.id}, "redirect_uri": {callback}, "response_type": {"code"}, "code_challenge": {challenge}, "code_challenge_method": {"S256"}}
	if a := s.raw("POST", "/oauth/authorize", posted.Encode(), http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}); a.status != 302 || !strings.HasPrefix(a.header.Get("Location"), "http://site.example/oauth/consent?") {
		t.Errorf("%d %v", a.status, a.header)
	}
}

func TestAUserDecidesOnce(t *testing.T) {
	s := startOAuth(t, "ES256", nil)
	p := s.party(t, "", "email")
	user, stranger := s.signUp(address()).str("access_token"), s.signUp(address()).str("access_token")
	ask := func() string { return "/oauth/authorizations/" + p.ask(t, "s", oauth2.GenerateVerifier()) }
	id := ask()
	s.want(s.call("GET", id, "", ""), 401, "no_authorization")
	s.want(s.call("GET", id, s.keys.AnonKey, ""), 403, "bad_jwt")
	// Consent needs a look before: whoever looks first is asked.
	s.want(s.call("POST", id+"/consent", user, `{"action":"approve"}`), 404, "oauth_authorization_not_found")
	s.want(s.call("GET", id, user, "", "Origin", "https://evil.example"), 400, "validation_failed")
	s.want(s.call("GET", id, user, ""), 200, "")
	s.want(s.call("GET", id, stranger, ""), 404, "oauth_authorization_not_found")
	s.want(s.call("POST", id+"/consent", stranger, `{"action":"approve"}`), 404, "oauth_authorization_not_found")
	s.want(s.call("POST", id+"/consent", user, `{"action":"maybe"}`), 400, "validation_failed")
	s.want(s.call("POST", id+"/consent", user, ``), 400, "bad_json")
	s.want(s.call("POST", id+"/consent", user, `{"action":"approve"}`, "Origin", "https://evil.example"), 400, "validation_failed")
	denied := s.want(s.call("POST", id+"/consent", user, `{"action":"deny"}`, "Origin", "http://site.example"), 200, "").str("redirect_url")
	if u, _ := url.Parse(denied); u.Query().Get("error") != "access_denied" || u.Query().Get("state") != "s" || u.Query().Get("iss") == "" || u.Query().Get("code") != "" {
		t.Errorf("led to %s", denied)
	}
	s.want(s.call("POST", id+"/consent", user, `{"action":"approve"}`), 400, "validation_failed")
	s.want(s.call("GET", id, user, ""), 400, "validation_failed")
	for _, path := range []string{"/oauth/authorizations/none", "/oauth/authorizations/%00", "/oauth/authorizations/%FF"} {
		s.want(s.call("GET", path, user, ""), 404, "oauth_authorization_not_found")
	}
	id = ask()
	s.want(s.call("GET", id, user, ""), 200, "")
	s.db.Exec(t, `update auth.oauth_authorizations set created_at = now() - interval '2 hours', expires_at = now() - interval '1 second'`)
	s.want(s.call("POST", id+"/consent", user, `{"action":"approve"}`), 404, "oauth_authorization_not_found")
	s.want(s.call("GET", id, user, ""), 404, "oauth_authorization_not_found")
	// Many decisions at once are one.
	id = ask()
	s.want(s.call("GET", id, user, ""), 200, "")
	var mu sync.Mutex
	codes := map[string]bool{}
	var group sync.WaitGroup
	for range 30 {
		group.Go(func() {
			if a := s.call("POST", id+"/consent", user, `{"action":"approve"}`); a.status == 200 {
				mu.Lock()
				defer mu.Unlock()
				codes[a.str("redirect_url")] = true
			}
		})
	}
	group.Wait()
	if len(codes) != 1 {
		t.Errorf("%d codes", len(codes))
	}
	if n := s.count(`select count(*) from auth.oauth_authorizations where authorization_code like 'sha256:%'`); n != 1 {
		t.Error("the code is not kept as its hash")
	}
}

func TestAdministratorsKeepClients(t *testing.T) {
	s := startOAuth(t, "ES256", nil)
	made := s.admin("POST", "/oauth/clients", `{"client_name":"A","redirect_uris":["https://a.example/cb","http://localhost:3000/cb","com.example.app:/cb"],"client_uri":"https://a.example","logo_uri":"https://a.example/logo.png"}`)
	id, secret := made.str("client_id"), made.str("client_secret")
	if made.status != 201 || secret == "" || made.str("client_type") != "confidential" || made.str("registration_type") != "manual" || made.str("token_endpoint_auth_method") != "client_secret_basic" ||
		fmt.Sprint(made.get("grant_types")) != "[authorization_code refresh_token]" || fmt.Sprint(made.get("response_types")) != "[code]" {
		t.Fatalf("%d %s", made.status, made.text)
	}
	public := s.admin("POST", "/oauth/clients", `{"redirect_uris":["https://b.example/cb"],"client_type":"public"}`)
	if public.status != 201 || public.str("client_secret") != "" || public.str("token_endpoint_auth_method") != "none" {
		t.Errorf("%d %s", public.status, public.text)
	}
	listed := s.want(s.admin("GET", "/oauth/clients?page=1&per_page=1", ""), 200, "")
	if len(listed.get("clients").([]any)) != 1 || listed.str("clients.0.client_id") != public.str("client_id") || listed.header.Get("X-Total-Count") != "2" || !strings.Contains(listed.header.Get("Link"), `page=2&per_page=1>; rel="next"`) {
		t.Errorf("%s %v", listed.text, listed.header)
	}
	shown := s.want(s.admin("GET", "/oauth/clients/"+id, ""), 200, "")
	if shown.str("client_name") != "A" || shown.str("client_secret") != "" || strings.Contains(shown.text, "hash") {
		t.Errorf("%s", shown.text)
	}
	changed := s.want(s.admin("PUT", "/oauth/clients/"+id, `{"client_name":"B","redirect_uris":["https://a.example/new"]}`), 200, "")
	if changed.str("client_name") != "B" || fmt.Sprint(changed.get("redirect_uris")) != "[https://a.example/new]" || changed.str("client_uri") != "https://a.example" {
		t.Errorf("%s", changed.text)
	}
	renewed := s.want(s.admin("POST", "/oauth/clients/"+id+"/regenerate_secret", ""), 200, "").str("client_secret")
	if renewed == "" || renewed == secret {
		t.Error("the secret is the old one")
	}
	for with, want := range map[string]string{secret: "invalid_client", renewed: "invalid_grant"} {
		if a := s.form(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {"x"}, "client_id": {id}, "client_secret": {with}}); a.str("error") != want {
			t.Errorf("%s", a.text)
		}
	}
	s.want(s.admin("POST", "/oauth/clients/"+public.str("client_id")+"/regenerate_secret", ""), 400, "validation_failed")
	s.want(s.admin("PUT", "/oauth/clients/"+id, `{}`), 400, "validation_failed")
	s.want(s.admin("PUT", "/oauth/clients/"+id, `{"token_endpoint_auth_method":"none"}`), 400, "validation_failed")
	s.want(s.admin("PUT", "/oauth/clients/"+id, `{"token_endpoint_auth_method":"client_secret_post"}`), 200, "")
	s.want(s.admin("GET", "/oauth/clients/x", ""), 400, "validation_failed")
	s.want(s.admin("DELETE", "/oauth/clients/"+id, ""), 204, "")
	for _, c := range [][2]string{{"GET", ""}, {"DELETE", ""}, {"PUT", `{"client_name":"C"}`}} {
		s.want(s.admin(c[0], "/oauth/clients/"+id, c[1]), 404, "oauth_client_not_found")
	}
	user := s.signUp(address()).str("access_token")
	s.want(s.call("GET", "/admin/oauth/clients", user, ""), 403, "not_admin")
	if stored := s.count(`select count(*) from auth.oauth_clients where client_secret_hash in ($1, $2)`, secret, renewed); stored != 0 {
		t.Error("a secret can be read in the database")
	}
	for _, metadata := range []string{
		`{}`, `{"redirect_uris":[]}`, `{"redirect_uris":["https://a.example/cb"],"grant_types":["password"]}`, `{"redirect_uris":["https://a.example/cb"],"grant_types":["refresh_token"]}`,
		`{"redirect_uris":["https://a.example/cb"],"token_endpoint_auth_method":"private_key_jwt"}`, `{"redirect_uris":["https://a.example/cb"],"client_type":"secret"}`,
		`{"redirect_uris":["https://a.example/cb"],"client_type":"public","token_endpoint_auth_method":"client_secret_basic"}`, `{"redirect_uris":["https://a.example/cb"],"client_name":"` + strings.Repeat("x", 1025) + `"}`,
		`{"redirect_uris":["https://a.example/cb"],"logo_uri":"javascript:alert(1)"}`, `{"redirect_uris":["https://a.example/cb"],"client_uri":"ftp://a.example"}`,
		`{"redirect_uris":["https://a.example/cb"],"client_name":"\u0000"}`,
	} {
		a := s.admin("POST", "/oauth/clients", metadata)
		if a.status != 400 || !slices.Contains([]string{"validation_failed", "invalid_redirect_uri"}, a.code()) {
			t.Errorf("%s: %d %s", metadata, a.status, a.text)
		}
	}
	for _, redirect := range []string{
		"", "/cb", "//a.example/cb", "http://a.example/cb", "https://a.example/cb#x", "https://u@a.example/cb", "https://u:p@a.example/cb", "javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "mailto:a@a.example",
		"https://a.example/a,b", "https://a.example\\@b.example/", "https://a.example/../cb", "https://a .example/", "http://127.0.0.1.evil.example/", "http://localhost.evil.example/", "https://", "https://0x7f.1/", "about:blank", "blob:https://a.example/x", "vbscript:x",
	} {
		text, _ := json.Marshal(redirect)
		s.want(s.admin("POST", "/oauth/clients", `{"redirect_uris":[`+string(text)+`]}`), 400, "invalid_redirect_uri")
	}
}

func TestClientsRegisterThemselvesWhereThatIsAllowed(t *testing.T) {
	const metadata = `{"client_name":"Self","redirect_uris":["http://127.0.0.1:33418/callback"],"token_endpoint_auth_method":"none","grant_types":["authorization_code","refresh_token"],"response_types":["code"]}`
	closed := startOAuth(t, "ES256", nil)
	if a := closed.raw("POST", "/oauth/clients/register", metadata, nil); a.status != 403 || a.str("error") != "oauth_dynamic_client_registration_disabled" {
		t.Errorf("%d %s", a.status, a.text)
	}
	if found := closed.call("GET", "/.well-known/oauth-authorization-server", "", ""); found.str("registration_endpoint") != "" {
		t.Errorf("%s", found.text)
	}
	o := options()
	o.OAuthServer = auth.OAuthServer{On: true, Registration: true, ConsentPath: "/c"}
	o.LimitsOff = false
	s := startOver(t, closed.db, o)
	made := s.raw("POST", "/oauth/clients/register", metadata, nil)
	if made.status != 201 || made.str("registration_type") != "dynamic" || made.str("client_type") != "public" || made.str("client_secret") != "" {
		t.Errorf("%d %s", made.status, made.text)
	}
	if a := s.raw("POST", "/oauth/clients/register", `{"redirect_uris":["http://a.example/"]}`, nil); a.status != 400 || a.str("error") != "invalid_redirect_uri" {
		t.Errorf("%d %s", a.status, a.text)
	}
	if a := s.raw("POST", "/oauth/clients/register", `{"redirect_uris":["https://a.example/"],"grant_types":["implicit"]}`, nil); a.status != 400 || a.str("error") != "invalid_client_metadata" {
		t.Errorf("%d %s", a.status, a.text)
	}
	limited := false
	for range 30 {
		if a := s.raw("POST", "/oauth/clients/register", metadata, nil); a.status == 429 {
			limited = a.str("error") == "temporarily_unavailable" && a.header.Get("Retry-After") != ""
		}
	}
	if !limited {
		t.Error("registrations are not limited")
	}
}

func TestWhatIsDiscovered(t *testing.T) {
	s := startOAuth(t, "EdDSA", nil)
	for _, path := range []string{"/.well-known/openid-configuration", "/.well-known/oauth-authorization-server"} {
		d := s.want(s.call("GET", path, "", ""), 200, "")
		for name, want := range map[string]string{
			"issuer": "http://api.example/auth/v1", "authorization_endpoint": "http://api.example/auth/v1/oauth/authorize", "token_endpoint": "http://api.example/auth/v1/oauth/token",
			"userinfo_endpoint": "http://api.example/auth/v1/oauth/userinfo", "jwks_uri": "http://api.example/auth/v1/.well-known/jwks.json", "scopes_supported": "[openid profile email phone]",
			"code_challenge_methods_supported": "[S256]", "id_token_signing_alg_values_supported": "[EdDSA]", "authorization_response_iss_parameter_supported": "true", "response_types_supported": "[code]",
			"token_endpoint_auth_methods_supported": "[client_secret_basic client_secret_post none]", "grant_types_supported": "[authorization_code refresh_token]",
		} {
			if got := fmt.Sprint(d.get(name)); got != want {
				t.Errorf("%s: %s is %s", path, name, got)
			}
		}
	}
	// Without a key that others can verify with there are no ID tokens, which is said.
	o := options()
	o.OAuthServer = auth.OAuthServer{On: true, ConsentPath: "/c"}
	shared := startOver(t, s.db, o)
	if d := shared.call("GET", "/.well-known/openid-configuration", "", ""); fmt.Sprint(d.get("scopes_supported")) != "[profile email phone]" || fmt.Sprint(d.get("id_token_signing_alg_values_supported")) != "[]" {
		t.Errorf("%s", d.text)
	}
	p := shared.party(t, "", "openid")
	to, err := url.Parse(p.open(t, p.config.AuthCodeURL("s", oauth2.S256ChallengeOption(oauth2.GenerateVerifier()))))
	if err != nil || to.Query().Get("error") != "invalid_scope" || !strings.Contains(to.Query().Get("error_description"), "signing key") {
		t.Errorf("led to %s", to)
	}
	// Where Basalt is no OAuth server there is nothing but the keys.
	none := startOver(t, s.db, options())
	if d := none.want(none.call("GET", "/.well-known/openid-configuration", "", ""), 200, ""); d.str("authorization_endpoint") != "" || d.str("jwks_uri") == "" {
		t.Errorf("%s", d.text)
	}
	for _, c := range [][2]string{{"GET", "/.well-known/oauth-authorization-server"}, {"GET", "/oauth/authorize"}, {"POST", "/oauth/token"}, {"GET", "/oauth/userinfo"}, {"POST", "/oauth/clients/register"}, {"GET", "/user/oauth/grants"}, {"GET", "/admin/oauth/clients"}} {
		none.want(none.call(c[0], c[1], s.keys.ServiceKey.Reveal(), ""), 404, "feature_disabled")
	}
}
