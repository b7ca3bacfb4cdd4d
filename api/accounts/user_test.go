package accounts_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

func TestOnlyLivingTokensOfUsersReadTheUser(t *testing.T) {
	s := start(t, options())
	a := s.signUp(address())
	id, exp := a.str("user.id"), time.Now().Add(time.Hour).Unix()
	for _, c := range []struct {
		name, bearer string
		status       int
		code, msg    string
	}{
		{"no token", "", 401, "no_authorization", "requires a valid Bearer token"},
		{"the anon key", s.keys.AnonKey, 403, "bad_jwt", "invalid claim: missing sub claim"},
		{"the service key", s.keys.ServiceKey.Reveal(), 403, "bad_jwt", "invalid claim: missing sub claim"},
		{"nonsense", "nonsense", 403, "bad_jwt", "invalid JWT: unable to parse or verify signature"},
		{"another signature", a.str("access_token")[:len(a.str("access_token"))-4] + "AAAA", 403, "bad_jwt", "invalid JWT"},
		{"an expired token", s.sign(`{"sub":%q,"role":"authenticated","exp":%d}`, id, time.Now().Add(-time.Minute).Unix()), 403, "bad_jwt", "token is expired"},
		{"a subject that is no UUID", s.sign(`{"sub":"7","role":"authenticated","exp":%d}`, exp), 403, "bad_jwt", "must be a UUID"},
		{"a subject that nobody is", s.sign(`{"sub":%q,"role":"authenticated","exp":%d}`, uuid.New(), exp), 403, "user_not_found", "does not exist"},
		{"a session that never was", s.sign(`{"sub":%q,"session_id":%q,"role":"authenticated","exp":%d}`, id, uuid.New(), exp), 403, "session_not_found", "Session from session_id claim in JWT does not exist"},
	} {
		for _, method := range []string{"GET", "PUT"} {
			got := s.call(method, "/user", c.bearer, `{}`)
			if got.status != c.status || got.code() != c.code || !strings.Contains(got.str("msg"), c.msg) {
				t.Errorf("%s with %s: %d %s", method, c.name, got.status, got.text)
			}
		}
	}
	for name, authorization := range map[string]string{
		"in lower case":    "bearer " + a.str("access_token"),
		"in upper case":    "BEARER " + a.str("access_token"),
		"with more blanks": "Bearer   " + a.str("access_token") + " ",
	} {
		if got := s.call("GET", "/user", "", "", "Authorization", authorization); got.status != 200 {
			t.Errorf("the scheme %s: %d %s", name, got.status, got.text)
		}
	}
	s.want(s.call("GET", "/user", "", "", "Authorization", "Basic "+a.str("access_token")), 401, "no_authorization")
	s.want(s.call("GET", "/user", s.sign(`{"sub":%q,"role":"authenticated","exp":%d}`, id, exp), ""), 200, "")
}

func TestUserChangesTheirMetadata(t *testing.T) {
	s := start(t, options())
	a := s.call("POST", "/signup", s.keys.AnonKey, `{"email":"a@example.com","password":"Secret-pass-1","data":{"name":"Ann","age":7}}`)
	bearer := a.str("access_token")
	b := s.want(s.call("PUT", "/user", bearer, `{"data":{"age":null,"town":"Delft","role":"service_role"}}`), 200, "")
	if b.str("user_metadata.name") != "Ann" || b.get("user_metadata.age") != nil || b.str("user_metadata.town") != "Delft" || b.str("role") != "authenticated" {
		t.Errorf("the account is %s", b.text)
	}
	if strings.Contains(b.text, `"age"`) {
		// The identity keeps what was said at sign-up.
		if n := s.count(`select count(*) from auth.users where raw_user_meta_data ? 'age'`); n != 0 {
			t.Error("a name that was set to null is still there")
		}
	}
	s.want(s.call("PUT", "/user", bearer, `{"app_metadata":{"role":"admin"}}`), 403, "not_admin")
	s.want(s.call("PUT", "/user", bearer, `{"data":"x"}`), 400, "validation_failed")
	s.want(s.call("PUT", "/user", bearer, `{"data":{"x":"\u0000"}}`), 400, "validation_failed")
	s.want(s.call("PUT", "/user", bearer, `{"phone":"+3161234567"}`), 400, "phone_provider_disabled")
	s.want(s.call("PUT", "/user", bearer, ``), 400, "bad_json")
	if after := s.call("GET", "/user", bearer, ""); after.str("user_metadata.town") != "Delft" || after.str("app_metadata.provider") != "email" {
		t.Errorf("the account is %s", after.text)
	}
}

func TestMetadataThatDoesNotFitATokenStaysOutOfIt(t *testing.T) {
	s := start(t, options())
	email := address()
	bearer := s.signUp(email).str("access_token")
	s.want(s.call("PUT", "/user", bearer, `{"data":{"picture":"`+strings.Repeat("x", 20_000)+`"}}`), 200, "")
	a := s.want(s.signIn(email, goodPassword), 200, "")
	if len(a.str("access_token")) > 4096 || len(a.str("user.user_metadata.picture")) != 20_000 {
		t.Error("the picture is not where it should be")
	}
	s.want(s.call("GET", "/user", a.str("access_token"), ""), 200, "")
}

func TestUserChangesTheirPassword(t *testing.T) {
	s := start(t, options())
	email := address()
	a := s.signUp(email)
	bearer := a.str("access_token")
	other := s.want(s.signIn(email, goodPassword), 200, "")
	s.db.Exec(t, `
		update auth.users set recovery_token = 'abc';
		insert into auth.one_time_tokens (id, user_id, token_type, token_hash, relates_to)
		select gen_random_uuid(), id, 'recovery_token', 'abc', email from auth.users`)
	s.want(s.call("PUT", "/user", bearer, `{"password":"short"}`), 422, "weak_password")
	s.want(s.call("PUT", "/user", bearer, `{"password":"Secret-pass-1"}`), 422, "same_password")
	s.want(s.call("PUT", "/user", bearer, `{"password":"Another-pass-1","current_password":"Wrong-pass-1"}`), 400, "current_password_invalid")
	s.want(s.call("PUT", "/user", bearer, `{"password":"Another-pass-1","current_password":"Secret-pass-1"}`), 200, "")
	s.want(s.signIn(email, goodPassword), 400, "invalid_credentials")
	s.want(s.signIn(email, "Another-pass-1"), 200, "")
	s.want(s.call("GET", "/user", bearer, ""), 200, "")
	s.want(s.refresh(a.str("refresh_token")), 200, "")
	s.want(s.call("GET", "/user", other.str("access_token"), ""), 403, "session_not_found")
	s.want(s.refresh(other.str("refresh_token")), 400, "refresh_token_not_found")
	if n := s.count(`select (select count(*) from auth.one_time_tokens) + (select count(*) from auth.users where recovery_token <> '')`); n != 0 {
		t.Error("a link that was sent before is still good")
	}
}

func TestASecondFactorGuardsTheFirst(t *testing.T) {
	s := start(t, options())
	a := s.signUp(address())
	s.db.Exec(t, `
		insert into auth.mfa_factors (id, user_id, friendly_name, factor_type, status, created_at, updated_at, secret)
		select gen_random_uuid(), id, 'phone', 'totp', 'verified', now(), now(), 'canary-seed' from auth.users`)
	s.want(s.call("PUT", "/user", a.str("access_token"), `{"password":"Another-pass-1"}`), 401, "insufficient_aal")
	s.want(s.call("PUT", "/user", a.str("access_token"), `{"email":"other@example.com"}`), 401, "insufficient_aal")
	b := s.want(s.call("PUT", "/user", a.str("access_token"), `{"data":{"x":1}}`), 200, "")
	if b.str("factors.0.factor_type") != "totp" || b.str("factors.0.status") != "verified" || strings.Contains(b.text, "canary-seed") {
		t.Errorf("the factors are %v", b.get("factors"))
	}
	s.db.Exec(t, `update auth.sessions set aal = 'aal2'`)
	s.want(s.call("PUT", "/user", a.str("access_token"), `{"password":"Another-pass-1"}`), 200, "")
}

func TestUserChangesTheirAddress(t *testing.T) {
	s := start(t, options())
	taken, email, next := address(), address(), address()
	s.signUp(taken)
	bearer := s.signUp(email).str("access_token")
	s.want(s.call("PUT", "/user", bearer, fmt.Sprintf(`{"email":%q}`, strings.ToUpper(taken))), 422, "email_exists")
	s.want(s.call("PUT", "/user", bearer, `{"email":"nonsense"}`), 400, "validation_failed")
	a := s.want(s.call("PUT", "/user", bearer, fmt.Sprintf(`{"email":" %s "}`, strings.ToUpper(next))), 200, "")
	if a.str("email") != next || a.str("user_metadata.email") != next || a.str("identities.0.email") != next || a.get("identities.1") != nil {
		t.Errorf("the account is %s", a.text)
	}
	s.want(s.signIn(email, goodPassword), 400, "invalid_credentials")
	s.want(s.signIn(next, goodPassword), 200, "")
	s.signUp(email)
}

func TestLogoutEndsWhatItsScopeNames(t *testing.T) {
	for _, c := range []struct {
		query            string
		own, other, user bool
	}{
		{"", false, false, true},
		{"?scope=global", false, false, true},
		{"?scope=local", false, true, true},
		{"?scope=others", true, false, true},
	} {
		t.Run("scope"+c.query, func(t *testing.T) {
			s := start(t, options())
			email := address()
			own, other := s.signUp(email), s.want(s.signIn(email, goodPassword), 200, "")
			stranger := s.signUp(address())
			a := s.call("POST", "/logout"+c.query, own.str("access_token"), "")
			if a.status != 204 || a.text != "" {
				t.Errorf("the answer is %d %q", a.status, a.text)
			}
			for _, session := range []struct {
				a     answer
				alive bool
			}{{own, c.own}, {other, c.other}, {stranger, true}} {
				if session.alive {
					s.want(s.call("GET", "/user", session.a.str("access_token"), ""), 200, "")
					s.want(s.refresh(session.a.str("refresh_token")), 200, "")
					continue
				}
				s.want(s.call("GET", "/user", session.a.str("access_token"), ""), 403, "session_not_found")
				s.want(s.refresh(session.a.str("refresh_token")), 400, "refresh_token_not_found")
			}
		})
	}
}

func TestLogoutSmallPrint(t *testing.T) {
	s := start(t, options())
	email := address()
	a := s.signUp(email)
	s.want(s.call("POST", "/logout?scope=everything", a.str("access_token"), ""), 400, "validation_failed")
	s.want(s.call("POST", "/logout", "", ""), 401, "no_authorization")
	s.want(s.call("POST", "/logout", s.keys.AnonKey, ""), 403, "bad_jwt")
	s.want(s.call("POST", "/logout?scope=local", a.str("access_token"), ""), 204, "")
	s.want(s.call("POST", "/logout?scope=local", a.str("access_token"), ""), 204, "")
	// A token that outlived its session must not end the others.
	b := s.want(s.signIn(email, goodPassword), 200, "")
	s.want(s.call("POST", "/logout?scope=global", a.str("access_token"), ""), 204, "")
	s.want(s.call("GET", "/user", b.str("access_token"), ""), 200, "")
}
