package accounts_test

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"basalt/auth"
)

func TestRoutesThatAreNone(t *testing.T) {
	s := start(t, options())
	for _, path := range []string{"", "/", "/no-such-thing", "/user/", "/user/x", "/admin", "/signup%2f", "/..%2frest"} {
		a := s.call("GET", path, "", "")
		if a.status != 404 || a.str("msg") == "" || !strings.HasPrefix(a.header.Get("Content-Type"), "application/json") {
			t.Errorf("%q: %d %s", path, a.status, a.text)
		}
	}
	a := s.want(s.call("DELETE", "/user", "", ""), 405, "method_not_allowed")
	if allowed := a.header.Get("Allow"); !strings.Contains(allowed, "GET") || !strings.Contains(allowed, "PUT") {
		t.Errorf("allowed is %q", allowed)
	}
}

func TestMethodsThatAnEndpointDoesNotTake(t *testing.T) {
	s := start(t, options())
	for _, method := range []string{"HEAD", "POST", "PATCH", "DELETE"} {
		a := s.call(method, "/user", s.keys.AnonKey, "")
		if a.status != 405 || a.header.Get("Allow") != "GET, PUT" {
			t.Errorf("%s: %d, allowed is %q", method, a.status, a.header.Get("Allow"))
		}
	}
}

func TestBodiesAreReadWhateverTheirTypeIsSaidToBe(t *testing.T) {
	s := start(t, options())
	for _, kind := range []string{"", "text/plain; charset=latin1", "application/json;charset=UTF-8", "application/x-www-form-urlencoded", "\x7f"} {
		body := fmt.Sprintf(`{"email":%q,"password":%q}`, address(), goodPassword)
		if kind == "\x7f" {
			s.want(s.call("POST", "/signup", s.keys.AnonKey, body), 200, "")
			continue
		}
		s.want(s.call("POST", "/signup", s.keys.AnonKey, body, "Content-Type", kind), 200, "")
	}
	s.want(s.call("POST", "/signup", s.keys.AnonKey, `email=a%40b.nl&password=Secret-pass-1`, "Content-Type", "application/x-www-form-urlencoded"), 400, "bad_json")
}

func TestWhatEverybodyMayKnow(t *testing.T) {
	s := start(t, options())
	if a := s.call("GET", "/health", "", ""); a.status != 200 || a.str("name") == "" || a.str("version") != "test" || a.str("description") == "" {
		t.Errorf("health is %d %s", a.status, a.text)
	}
	a := s.want(s.call("GET", "/settings", "", ""), 200, "")
	for path, want := range map[string]any{
		"external.email": true, "external.phone": false, "external.anonymous_users": false, "external.google": false,
		"disable_signup": false, "mailer_autoconfirm": true, "phone_autoconfirm": false, "saml_enabled": false, "passkeys_enabled": false,
	} {
		if a.get(path) != want {
			t.Errorf("%s is %v", path, a.get(path))
		}
	}
	if keys := s.call("GET", "/.well-known/jwks.json", "", ""); keys.status != 200 || strings.TrimSpace(keys.text) != `{"keys":[]}` {
		t.Errorf("the public keys are %s", keys.text)
	}
}

func TestAnExpiredTokenDoesNotHinderSigningIn(t *testing.T) {
	s := start(t, options())
	email := address()
	a := s.signUp(email)
	expired := s.sign(`{"sub":%q,"role":"authenticated","exp":%d}`, a.str("user.id"), time.Now().Add(-time.Hour).Unix())
	s.want(s.call("POST", "/token?grant_type=password", expired, fmt.Sprintf(`{"email":%q,"password":%q}`, email, goodPassword)), 200, "")
	s.want(s.call("POST", "/token?grant_type=refresh_token", expired, fmt.Sprintf(`{"refresh_token":%q}`, a.str("refresh_token"))), 200, "")
	s.want(s.call("POST", "/signup", expired, fmt.Sprintf(`{"email":%q,"password":%q}`, address(), goodPassword)), 200, "")
}

// limited are options with the limits on.
func limited() auth.Options {
	o := options()
	o.LimitsOff = false
	return o
}

func TestSignUpsOfOneNetworkAreLimited(t *testing.T) {
	s := start(t, limited())
	second := startOver(t, s.db, limited())
	sign := func(on *server, key, network string) answer {
		return on.call("POST", "/signup", key, fmt.Sprintf(`{"email":%q,"password":%q}`, address(), goodPassword), "X-Forwarded-For", network)
	}
	for i := range 10 {
		on := []*server{s, second}[i%2]
		s.want(sign(on, s.keys.AnonKey, "192.0.2.1"), 200, "")
	}
	for _, on := range []*server{s, second} {
		a := s.want(sign(on, s.keys.AnonKey, "192.0.2.1"), 429, "over_request_rate_limit")
		var seconds int
		if _, err := fmt.Sscan(a.header.Get("Retry-After"), &seconds); err != nil || seconds < 1 || seconds > 3600 {
			t.Errorf("Retry-After is %q", a.header.Get("Retry-After"))
		}
	}
	s.want(sign(s, s.keys.AnonKey, "192.0.2.2"), 200, "")
	s.want(sign(s, s.keys.ServiceKey.Reveal(), "192.0.2.1"), 200, "")
	// A customer has all of a /64.
	for i := range 10 {
		s.want(sign(s, s.keys.AnonKey, fmt.Sprintf("2001:db8::%x", i+1)), 200, "")
	}
	s.want(sign(s, s.keys.AnonKey, "2001:db8::ffff:1"), 429, "over_request_rate_limit")
	s.want(sign(s, s.keys.AnonKey, "2001:db8:0:1::1"), 200, "")
}

func TestGuessesAreLimitedAndTheOwnerIsNotLockedOut(t *testing.T) {
	s := start(t, limited())
	email := address()
	s.call("POST", "/signup", s.keys.AnonKey, fmt.Sprintf(`{"email":%q,"password":%q}`, email, goodPassword), "X-Forwarded-For", "198.51.100.1")
	for range 2 {
		for range 9 {
			s.want(s.signIn(email, "Wrong-pass-1", "X-Forwarded-For", "198.51.100.1"), 400, "invalid_credentials")
		}
		s.want(s.signIn(email, goodPassword, "X-Forwarded-For", "198.51.100.1"), 200, "")
	}
	guesses := 0
	for network := range 20 {
		for range 11 {
			from := fmt.Sprintf("203.0.113.%d", network+1)
			a := s.signIn(email, "Wrong-pass-1", "X-Forwarded-For", from)
			if a.status == 400 {
				guesses++
			} else {
				s.want(a, 429, "over_request_rate_limit")
			}
		}
	}
	if guesses > 50 {
		t.Errorf("%d guesses were looked at", guesses)
	}
	s.want(s.signIn(email, goodPassword, "X-Forwarded-For", "203.0.113.99"), 429, "over_request_rate_limit")
	s.want(s.signIn(email, goodPassword, "X-Forwarded-For", "198.51.100.1"), 200, "")
	// Accounts that do not exist are limited alike.
	for range 10 {
		s.want(s.signIn("nobody@example.com", "Wrong-pass-1", "X-Forwarded-For", "198.51.100.7"), 400, "invalid_credentials")
	}
	s.want(s.signIn("nobody@example.com", "Wrong-pass-1", "X-Forwarded-For", "198.51.100.7"), 429, "over_request_rate_limit")
}

func TestRefreshesOfOneNetworkAreLimited(t *testing.T) {
	s := start(t, limited())
	for range 150 {
		s.want(s.refresh("nothing"), 400, "refresh_token_not_found")
	}
	s.want(s.refresh("nothing"), 429, "over_request_rate_limit")
}

func TestNoSecretIsLoggedOrAnsweredOrStored(t *testing.T) {
	s := start(t, limited())
	const first, second, wrong = "Canary-first-71", "Canary-second-72", "Canary-wrong-73"
	a := s.want(s.call("POST", "/signup", s.keys.AnonKey, `{"email":"c@example.com","password":"`+first+`"}`), 200, "")
	answers := []answer{
		s.call("POST", "/signup", s.keys.AnonKey, `{"email":"c@example.com","password":"`+wrong+`"}`),
		s.call("POST", "/signup", s.keys.AnonKey, `{"email":"c","password":"`+wrong+`"}`),
		s.call("POST", "/signup", s.keys.AnonKey, `{"email":{},"password":"`+wrong+`"}`),
		s.call("POST", "/signup", s.keys.AnonKey, `{"password":"`+wrong+`"`),
		s.signIn("c@example.com", wrong),
		s.refresh("Canary-token-74"),
		s.call("GET", "/user", "Canary.token.75", ""),
		s.call("PUT", "/user", a.str("access_token"), `{"password":"`+second+`","current_password":"`+wrong+`"}`),
		s.call("PUT", "/user", a.str("access_token"), `{"password":"`+second+`","data":{"x":"\u0000"}}`),
		s.call("PUT", "/user", a.str("access_token"), `{"password":"`+second+`","current_password":"`+first+`"}`),
		s.admin("POST", "/users", `{"email":"d@example.com","password":"`+first+`","password_hash":"`+wrong+`"}`),
	}
	b := s.want(s.signIn("c@example.com", second), 200, "")
	c := s.want(s.refresh(b.str("refresh_token")), 200, "")
	s.want(s.call("POST", "/logout", c.str("access_token"), ""), 204, "")
	s.db.Exec(t, `alter table auth.users add constraint broken check (email <> 'e@example.com')`)
	answers = append(answers, s.want(s.call("POST", "/signup", s.keys.AnonKey, `{"email":"e@example.com","password":"`+first+`"}`), 500, "unexpected_failure"))

	secrets := []string{"Canary-", "Canary.", s.keys.Secret.Reveal(), s.keys.ServiceKey.Reveal(), s.keys.AnonKey, "$argon2id$"}
	for _, session := range []answer{a, b, c} {
		secrets = append(secrets, session.str("access_token"), session.str("refresh_token"))
	}
	log := s.log.String()
	for _, secret := range secrets {
		if strings.Contains(log, secret) || strings.Contains(log, hex.EncodeToString([]byte(secret))) {
			t.Errorf("%.12s… is in the log", secret)
		}
		for _, answered := range answers {
			if strings.Contains(answered.text, secret) {
				t.Errorf("%.12s… is in the answer %s", secret, answered.text)
			}
		}
	}
	for _, event := range []string{`"event":"signup","result":"ok"`, `"event":"signin","result":"invalid_credentials"`, `"event":"refresh","result":"ok"`, `"event":"signout","result":"ok"`, `"event":"user_update","result":"ok"`, a.str("user.id"), `"ip":"127.0.0.1"`, `"request_id":"`} {
		if !strings.Contains(log, event) {
			t.Errorf("the log does not say %s", event)
		}
	}
	for _, table := range []string{"auth.users", "auth.identities", "auth.sessions", "auth.refresh_tokens", "auth.one_time_tokens", "basalt.rate_limits"} {
		for _, secret := range append([]string{"Canary-"}, secrets[len(secrets)-6:]...) {
			if n := s.count(`select count(*) from `+table+` t where t::text like '%' || $1 || '%'`, secret); n != 0 {
				t.Errorf("%.12s… is in %s", secret, table)
			}
		}
	}
}

func TestForgedLogLinesStayInsideTheirs(t *testing.T) {
	s := start(t, options())
	s.call("POST", "/token?grant_type=password", s.keys.AnonKey, `{"email":"a@b.nl\r\n{\"level\":\"info\"}","password":"x\r\n\u001b[31m"}`)
	for _, line := range strings.Split(strings.TrimSpace(s.log.String()), "\n") {
		if !strings.HasPrefix(line, `{"level":"`) || strings.ContainsAny(line, "\r\u001b") {
			t.Errorf("the log has the line %q", line)
		}
	}
}
