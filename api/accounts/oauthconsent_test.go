package accounts_test

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"golang.org/x/oauth2"
)

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
		if a := ask(url.Values{"client_id": {id}}); a.status != 400 || a.str("error") != "invalid_request" || a.header.Get("Location") != "" || a.header.Get("WWW-Authenticate") != "" {
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
			{"nonce": {strings.Repeat("x", 256)}}, {"response_mode": {"fragment"}}, {"response_mode": {"form_post"}}, {"resource": {"https://a.example/" + strings.Repeat("x", 2048)}}, {"nonce": {"\x00"}}, {"nonce": {"\xff"}}, {"resource": {"https://a.example/\xff"}},
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

// Who knows the password alone gets in nowhere else by this server either.
func TestASessionWithoutTheSecondFactorLetsNobodyInElsewhere(t *testing.T) {
	s := startOAuth(t, "ES256", nil)
	p := s.party(t, "", "email")
	u, f := s.protected()
	id := p.ask(t, "first", oauth2.GenerateVerifier())
	s.want(u.do("GET", "/oauth/authorizations/"+id, ""), http.StatusOK, "")
	p.approve(t, u.access, id, "first")

	weak := u.again(s)
	id = p.ask(t, "second", oauth2.GenerateVerifier())
	a := s.want(weak.do("GET", "/oauth/authorizations/"+id, ""), http.StatusOK, "")
	if a.get("redirect_url") != nil || a.str("authorization_id") != id {
		t.Errorf("what was granted before is granted again: %s", a.text)
	}
	s.want(weak.do("POST", "/oauth/authorizations/"+id+"/consent", `{"action":"approve"}`), http.StatusForbidden, "insufficient_aal")
	weak.prove(f)
	a = s.want(weak.do("GET", "/oauth/authorizations/"+id, ""), http.StatusOK, "")
	codeOf(t, a.str("redirect_url"), "second")

	weak = u.again(s)
	id = p.ask(t, "third", oauth2.GenerateVerifier())
	s.want(weak.do("GET", "/oauth/authorizations/"+id, ""), http.StatusOK, "")
	s.want(weak.do("POST", "/oauth/authorizations/"+id+"/consent", `{"action":"deny"}`), http.StatusOK, "")
}

// A decision and the end of the session that makes it come one after the other, whichever is first: no code is left for
// whoever was thrown out.
func TestADecisionThatMeetsTheEndOfItsSessionLeavesNoCode(t *testing.T) {
	for name, end := range map[string]func(s *server, user, owner string) answer{
		"by an administrator": func(s *server, user, _ string) answer { return s.admin("DELETE", "/users/"+user+"/sessions", "") },
		"by an administrator's new password": func(s *server, user, _ string) answer {
			return s.admin("PUT", "/users/"+user, `{"password":"Another-pass-1"}`)
		},
		"by a new password": func(s *server, _, owner string) answer {
			return s.call("PUT", "/user", owner, `{"password":"Another-pass-1"}`)
		},
		"by a sign-out": func(s *server, _, owner string) answer { return s.call("POST", "/logout?scope=others", owner, "") },
	} {
		t.Run(name, func(t *testing.T) {
			s := startOAuth(t, "ES256", nil)
			p := s.party(t, "", "email")
			email := address()
			user := s.signUp(email).str("user.id")
			owner, stolen := s.signIn(email, goodPassword).str("access_token"), s.signIn(email, goodPassword).str("access_token")
			id := p.ask(t, "s", oauth2.GenerateVerifier())
			s.want(s.call("GET", "/oauth/authorizations/"+id, stolen, ""), 200, "")

			tx, err := s.db.Pool.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = tx.Rollback(t.Context()) }()
			if _, err := tx.Exec(t.Context(), `select from auth.oauth_authorizations for update`); err != nil {
				t.Fatal(err)
			}
			waiting := func(n int) bool {
				return s.count(`select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`) == n
			}
			var group sync.WaitGroup
			group.Go(func() { s.call("POST", "/oauth/authorizations/"+id+"/consent", stolen, `{"action":"approve"}`) })
			s.until("the decision waits", func() bool { return waiting(1) })
			ended := make(chan answer, 1)
			group.Go(func() { ended <- end(s, user, owner) })
			s.until("the end waits or is done", func() bool { return waiting(2) || len(ended) == 1 })
			if err := tx.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
			group.Wait()
			if a := <-ended; a.status/100 != 2 {
				t.Errorf("the end is answered with %d %s", a.status, a.text)
			}
			if n := s.count(`select count(*) from auth.oauth_authorizations where status = 'approved'`); n != 0 {
				t.Errorf("%d codes are left", n)
			}
			s.want(s.call("GET", "/user", stolen, ""), 403, "session_not_found")
		})
	}
}
