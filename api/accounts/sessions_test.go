package accounts_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"basalt/api/accounts"
	"basalt/auth"
)

func TestUsersSeeAndEndTheirSessions(t *testing.T) {
	s := start(t, options())
	email := address()
	a := s.signUp(email)
	b := s.want(s.signIn(email, goodPassword, "User-Agent", "a phone", "X-Forwarded-For", "203.0.113.7"), 200, "")
	stranger := s.signUp(address())
	listed := s.want(s.call("GET", "/user/sessions", a.str("access_token"), ""), 200, "")
	if n := len(listed.get("sessions").([]any)); n != 2 {
		t.Fatalf("%d sessions: %s", n, listed.text)
	}
	newer := claimsOf(t, b.str("access_token"))["session_id"]
	if listed.get("sessions.0.id") != newer || listed.get("sessions.0.current") != false || listed.get("sessions.1.current") != true ||
		listed.str("sessions.0.user_agent") != "a phone" || listed.str("sessions.0.ip") != "203.0.113.7" ||
		listed.str("sessions.0.aal") != "aal1" || listed.str("sessions.0.amr.0.method") != "password" {
		t.Errorf("listed %s", listed.text)
	}
	foreign := fmt.Sprint(claimsOf(t, stranger.str("access_token"))["session_id"])
	for _, id := range []string{foreign, uuid.NewString()} {
		s.want(s.call("DELETE", "/user/sessions/"+id, a.str("access_token"), ""), 404, "session_not_found")
	}
	s.want(s.call("DELETE", "/user/sessions/x", a.str("access_token"), ""), 404, "validation_failed")
	s.want(s.call("GET", "/user", stranger.str("access_token"), ""), 200, "")
	s.want(s.call("DELETE", fmt.Sprint("/user/sessions/", newer), a.str("access_token"), ""), 204, "")
	s.want(s.refresh(b.str("refresh_token")), 400, "refresh_token_not_found")
	s.want(s.call("GET", "/user/sessions", b.str("access_token"), ""), 403, "session_not_found")
	s.want(s.call("DELETE", fmt.Sprint("/user/sessions/", claimsOf(t, a.str("access_token"))["session_id"]), b.str("access_token"), ""), 403, "session_not_found")
	s.want(s.call("GET", "/user/sessions", a.str("access_token"), ""), 200, "")
	s.want(s.call("GET", "/user/sessions", s.keys.AnonKey, ""), 403, "bad_jwt")
	s.want(s.call("GET", "/user/sessions", "", ""), 401, "no_authorization")
}

func TestAdministratorsSeeAndEndSessions(t *testing.T) {
	s := start(t, options())
	email := address()
	a := s.signUp(email)
	b := s.want(s.signIn(email, goodPassword), 200, "")
	path := "/users/" + a.str("user.id") + "/sessions"
	listed := s.want(s.admin("GET", path, ""), 200, "")
	if n := len(listed.get("sessions").([]any)); n != 2 {
		t.Fatalf("%d sessions: %s", n, listed.text)
	}
	s.want(s.admin("DELETE", path+"/"+listed.str("sessions.0.id"), ""), 204, "")
	s.want(s.admin("DELETE", path+"/"+listed.str("sessions.0.id"), ""), 404, "session_not_found")
	s.want(s.refresh(b.str("refresh_token")), 400, "refresh_token_not_found")
	s.want(s.call("GET", "/user", a.str("access_token"), ""), 200, "")
	s.want(s.admin("DELETE", path, ""), 204, "")
	s.want(s.call("GET", "/user", a.str("access_token"), ""), 403, "session_not_found")
	s.want(s.admin("GET", "/users/"+uuid.NewString()+"/sessions", ""), 404, "user_not_found")
	s.want(s.admin("DELETE", "/users/"+uuid.NewString()+"/sessions", ""), 404, "user_not_found")
	s.want(s.call("GET", "/admin"+path, a.str("access_token"), ""), 403, "not_admin")
}

func TestSessionsEndByTheLimitsThatAreSet(t *testing.T) {
	const factor = `insert into auth.mfa_factors (id, user_id, factor_type, status, created_at, updated_at) select gen_random_uuid(), id, 'totp', '%s', now(), now() from auth.users`
	for name, c := range map[string]struct {
		limits auth.SessionLimits
		change string // what makes the session one that is over
		before string // what does not
		says   string
	}{
		"a time-box": {
			auth.SessionLimits{Timebox: time.Hour}, `update auth.sessions set created_at = created_at - interval '1 hour'`,
			`update auth.sessions set created_at = created_at - interval '59 minutes', refreshed_at = now() - interval '1 day'`, "Session Expired",
		},
		"idleness": {
			auth.SessionLimits{Inactivity: time.Hour}, `update auth.sessions set refreshed_at = (now() - interval '1 hour') at time zone 'utc'`,
			`update auth.sessions set refreshed_at = (now() - interval '59 minutes') at time zone 'utc', created_at = now() - interval '1 day'`, "Session Expired (Inactivity)",
		},
		"idleness without any refresh": {
			auth.SessionLimits{Inactivity: time.Hour}, `update auth.sessions set refreshed_at = null, created_at = created_at - interval '1 hour'`, `select`, "Session Expired (Inactivity)",
		},
		"a second factor that was never asked for": {
			auth.SessionLimits{LowAAL: time.Minute}, fmt.Sprintf(factor, "verified"),
			fmt.Sprintf(factor, "unverified") + `; update auth.sessions set created_at = created_at - interval '1 minute'`, "Session Expired (Low AAL: User Needs MFA Verification)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := options()
			o.Sessions = c.limits
			s := start(t, o)
			a := s.signUp(address())
			s.db.Exec(t, c.before)
			s.want(s.call("GET", "/user", a.str("access_token"), ""), 200, "")
			s.db.Exec(t, c.change)
			s.want(s.call("GET", "/user", a.str("access_token"), ""), 403, "session_not_found")
			refused := s.want(s.refresh(a.str("refresh_token")), 400, "session_expired")
			if refused.str("msg") != "Invalid Refresh Token: "+c.says {
				t.Errorf("the answer says %q", refused.str("msg"))
			}
			if n := s.count(`select count(*) from auth.refresh_tokens where revoked`); n != 0 {
				t.Error("the refused refresh has used the token")
			}
			if listed := s.admin("GET", "/users/"+a.str("user.id")+"/sessions", ""); listed.text != "{\"sessions\":[]}" {
				t.Errorf("listed %s", listed.text)
			}
		})
	}
}

func TestASessionThatIsOverByItsLimitsChangesNothing(t *testing.T) {
	o := passkeyOptions()
	o.Sessions.Timebox = time.Hour
	s := start(t, o)
	a := s.signUp(address())
	s.db.Exec(t, `update auth.sessions set created_at = created_at - interval '1 hour'`)
	id := uuid.NewString()
	for _, asked := range []struct{ method, path, body string }{
		{"GET", "/user", ""},
		{"PUT", "/user", `{"password":"Another-pass-1"}`},
		{"PUT", "/user", `{"data":{"a":1}}`},
		{"GET", "/user/sessions", ""},
		{"DELETE", "/user/sessions/" + id, ""},
		{"GET", "/reauthenticate", ""},
		{"DELETE", "/user/identities/" + a.str("user.identities.0.identity_id"), ""},
		{"POST", "/factors", `{"factor_type":"totp"}`},
		{"POST", "/factors/" + id + "/challenge", ""},
		{"POST", "/factors/" + id + "/verify", `{"challenge_id":"` + id + `","code":"000000"}`},
		{"DELETE", "/factors/" + id, ""},
		{"GET", "/factors/recovery-codes", ""},
		{"POST", "/factors/recovery-codes", `{}`},
		{"POST", "/factors/recovery-codes/regenerate", ""},
		{"POST", "/factors/recovery-codes/verify", `{"code":"abcdabcdabcdabcd"}`},
		{"DELETE", "/factors/recovery-codes", ""},
		{"POST", "/passkeys/registration/options", ""},
		{"GET", "/passkeys", ""},
		{"PATCH", "/passkeys/" + id, `{"friendly_name":"a"}`},
		{"DELETE", "/passkeys/" + id, ""},
	} {
		t.Run(asked.method+" "+asked.path, func(t *testing.T) {
			s.t = t
			s.want(s.call(asked.method, asked.path, a.str("access_token"), asked.body), 403, "session_not_found")
		})
	}
}

func TestTheNewestSessionIsTheOnlyOneWhereOneIsAllowed(t *testing.T) {
	o := options()
	o.Sessions.Single = true
	s := start(t, o)
	email := address()
	a := s.signUp(email)
	stranger := s.signUp(address())
	s.want(s.refresh(a.str("refresh_token")), 200, "")
	b := s.want(s.signIn(email, goodPassword), 200, "")
	s.want(s.call("GET", "/user", a.str("access_token"), ""), 403, "session_not_found")
	s.age()
	s.want(s.call("GET", "/user", b.str("access_token"), ""), 200, "")
	b = s.want(s.refresh(b.str("refresh_token")), 200, "")
	s.want(s.call("GET", "/user", stranger.str("access_token"), ""), 200, "")
	// When the newest ends, the one before it is the newest.
	s.want(s.call("POST", "/logout?scope=local", b.str("access_token"), ""), 204, "")
	s.want(s.call("GET", "/user", a.str("access_token"), ""), 200, "")
}

func TestTwoProcessesRefreshOneSessionAtOnce(t *testing.T) {
	s := start(t, options())
	pool, err := pgxpool.New(t.Context(), s.db.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	second := *s
	second.service = auth.New(pool, s.keys, options())
	other := second.face(accounts.Options{})
	r := s.signUp(address()).str("refresh_token")
	for range 5 {
		var mu sync.Mutex
		next, used := map[string]int{}, r
		var group sync.WaitGroup
		for i := range 40 {
			group.Go(func() {
				a := []*server{s, other}[i%2].refresh(used)
				mu.Lock()
				defer mu.Unlock()
				r = a.str("refresh_token")
				next[fmt.Sprint(a.status, r)]++
			})
		}
		group.Wait()
		if len(next) != 1 || s.count(`select count(*) from auth.refresh_tokens where not revoked`) != 1 {
			t.Fatalf("the refreshes gave %v", next)
		}
	}
	s.want(s.refresh(r), 200, "")
}
