package accounts_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"basalt/auth"
)

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
		"a code twice":                  {func(v url.Values) { v["code"] = append(v["code"], "x") }, nil, 400, "invalid_request"},
		"two ways at once":              {func(url.Values) {}, []string{"Authorization", basic(p.id, p.config.ClientSecret)}, 400, "invalid_request"},
		"two clients at once":           {func(v url.Values) { v.Del("client_secret") }, []string{"Authorization", basic(other.id, other.config.ClientSecret)}, 400, "invalid_request"},
		"a parameter that is not UTF-8": {func(v url.Values) { v.Set("redirect_uri", "\xff") }, nil, 400, "invalid_request"},
		"a NUL in a parameter":          {func(v url.Values) { v.Set("redirect_uri", "\x00") }, nil, 400, "invalid_request"},
		"no form":                       {func(url.Values) {}, []string{"Content-Type", "application/json"}, 400, "invalid_request"},
		"a wrong basic secret":          {func(v url.Values) { v.Del("client_secret") }, []string{"Authorization", basic(p.id, "wrong")}, 401, "invalid_client"},
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
	for i := range 100 {
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

// A code that a thief's session had given must not outlive the password or the session either.
func TestACodeOfAClientEndsWithTheSessions(t *testing.T) {
	for name, end := range map[string]func(s *server, user, thief answer){
		"by a new password": func(s *server, user, _ answer) {
			s.want(s.call("PUT", "/user", user.str("access_token"), `{"password":"Another-pass-1"}`), 200, "")
		},
		"by a sign-out": func(s *server, user, _ answer) {
			s.want(s.call("POST", "/logout?scope=others", user.str("access_token"), ""), 204, "")
		},
		"by an administrator": func(s *server, user, thief answer) {
			s.want(s.admin("DELETE", "/users/"+user.str("user.id")+"/sessions/"+fmt.Sprint(claimsOf(s.t, thief.str("access_token"))["session_id"]), ""), 204, "")
		},
		"by the first factor": func(s *server, user, _ answer) {
			u := &factorUser{server: s, access: user.str("access_token")}
			u.prove(u.enroll("app"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := startOAuth(t, "ES256", nil)
			p := s.party(t, "", "email")
			email, verifier := address(), oauth2.GenerateVerifier()
			user := s.signUp(email)
			thief := s.want(s.signIn(email, goodPassword), 200, "")
			code := codeOf(t, p.grant(t, thief.str("access_token"), p.ask(t, "s", verifier)), "s")
			end(s, user, thief)
			if _, err := p.config.Exchange(p.ctx, code, oauth2.VerifierOption(verifier)); err == nil {
				t.Error("the code gives a session")
			}
		})
	}
}

// Clients have no factors. What a session with one has authorized lasts, whenever its user proves one again.
func TestAClientOutlastsTheProofsOfFactorsThatCameBeforeIt(t *testing.T) {
	s := startOAuth(t, "ES256", func(o *auth.Options) { o.Sessions.LowAAL = time.Minute })
	p := s.party(t, "", "email")
	u := s.newFactorUser()
	early := p.held(t, u.access)
	f := u.enroll("app")
	u.prove(f)
	s.want(s.call("GET", "/user", early.AccessToken, ""), 403, "session_not_found")
	held := p.held(t, u.access)
	u.prove(f)
	s.db.Exec(t, `update auth.sessions set created_at = created_at - interval '1 minute'`)
	s.want(s.call("GET", "/user", held.AccessToken, ""), 200, "")
	v := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {held.RefreshToken}, "client_id": {p.id}, "client_secret": {p.config.ClientSecret}}
	if a := s.form(v); a.status != 200 {
		t.Errorf("%d %s", a.status, a.text)
	}
}
