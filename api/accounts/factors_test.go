package accounts_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"basalt/auth"
)

// factorUser is a user with the session that acts for them.
type factorUser struct {
	*server
	email           string
	access, refresh string
	// from is where the user sits; empty is where the test runs.
	from string
}

func (s *server) newFactorUser() *factorUser {
	s.t.Helper()
	email := address()
	a := s.signUp(email)
	return &factorUser{server: s, email: email, access: a.str("access_token"), refresh: a.str("refresh_token")}
}

// again gives the same user with another session.
func (u *factorUser) again(on *server) *factorUser {
	u.t.Helper()
	a := on.want(on.signIn(u.email, goodPassword), 200, "")
	return &factorUser{server: on, email: u.email, access: a.str("access_token"), refresh: a.str("refresh_token")}
}

func (u *factorUser) do(method, path, body string) answer {
	u.t.Helper()
	if u.from == "" {
		return u.call(method, path, u.access, body)
	}
	return u.call(method, path, u.access, body, "X-Forwarded-For", u.from)
}

// adopt goes on with the session of an answer.
func (u *factorUser) adopt(a answer) answer {
	u.t.Helper()
	u.want(a, 200, "")
	u.access, u.refresh = a.str("access_token"), a.str("refresh_token")
	return a
}

// totpFactor is a factor with the authenticator app that knows it.
type totpFactor struct{ id, secret string }

func (u *factorUser) enroll(name string) totpFactor {
	u.t.Helper()
	a := u.want(u.do("POST", "/factors", fmt.Sprintf(`{"factor_type":"totp","friendly_name":%q}`, name)), 200, "")
	return totpFactor{id: a.str("id"), secret: a.str("totp.secret")}
}

// code is what the app shows, or will show so many steps later.
func (u *factorUser) code(f totpFactor, later int) string {
	u.t.Helper()
	code, err := totp.GenerateCode(f.secret, time.Now().Add(time.Duration(later)*30*time.Second))
	if err != nil {
		u.t.Fatal(err)
	}
	return code
}

func (u *factorUser) challenge(f totpFactor) string {
	u.t.Helper()
	return u.want(u.do("POST", "/factors/"+f.id+"/challenge", ""), 200, "").str("id")
}

func (u *factorUser) verify(f totpFactor, challenge, code string) answer {
	u.t.Helper()
	return u.do("POST", "/factors/"+f.id+"/verify", fmt.Sprintf(`{"challenge_id":%q,"code":%q}`, challenge, code))
}

// prove takes a factor through a challenge. What time-steps were accepted before is forgotten: a test has no time to
// wait for the next.
func (u *factorUser) prove(f totpFactor) answer {
	u.t.Helper()
	if _, err := u.db.Pool.Exec(u.t.Context(), `delete from basalt.totp_steps where factor_id = $1`, f.id); err != nil {
		u.t.Fatal(err)
	}
	return u.adopt(u.verify(f, u.challenge(f), u.code(f, 0)))
}

// protected gives a user whose session has proved a factor.
func (s *server) protected() (*factorUser, totpFactor) {
	s.t.Helper()
	u := s.newFactorUser()
	f := u.enroll("phone app")
	u.prove(f)
	return u, f
}

// claims reads an access token.
func (u *factorUser) claims() answer {
	u.t.Helper()
	parts := strings.Split(u.access, ".")
	if len(parts) != 3 {
		u.t.Fatalf("no token: %q", u.access)
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		u.t.Fatal(err)
	}
	return answer{text: string(text)}
}

// standing is the level of an access token with its methods.
func (u *factorUser) standing() string {
	u.t.Helper()
	var claims struct {
		Level   string `json:"aal"`
		Methods []struct {
			Method string `json:"method"`
		} `json:"amr"`
	}
	if err := json.Unmarshal([]byte(u.claims().text), &claims); err != nil {
		u.t.Fatal(err)
	}
	text := claims.Level
	for _, m := range claims.Methods {
		text += " " + m.Method
	}
	return text
}

func TestATOTPFactorIsEnrolledProvedAndRemoved(t *testing.T) {
	s := start(t, options())
	u := s.newFactorUser()
	a := s.want(u.do("POST", "/factors", `{"factor_type":"totp","friendly_name":"my phone","issuer":"Acme: Shop"}`), 200, "")
	f := totpFactor{id: a.str("id"), secret: a.str("totp.secret")}
	if a.str("type") != "totp" || a.str("friendly_name") != "my phone" || !strings.HasPrefix(a.str("totp.qr_code"), "<svg") {
		t.Errorf("the enrolment is %s", a.text)
	}
	uri, err := url.Parse(a.str("totp.uri"))
	if err != nil || uri.Scheme != "otpauth" || uri.Host != "totp" || uri.Query().Get("secret") != f.secret ||
		uri.Query().Get("issuer") != "Acme  Shop" || uri.Path != "/Acme  Shop:"+u.email {
		t.Errorf("the URI is %s", a.str("totp.uri"))
	}
	if got := s.count(`select count(*) from auth.mfa_factors where id = $1 and secret like 'enc:v1:%' and position($2 in secret) = 0`, f.id, f.secret); got != 1 {
		t.Error("the secret is not sealed")
	}
	user := s.want(u.do("GET", "/user", ""), 200, "")
	if user.str("factors.0.status") != "unverified" || user.str("factors.0.factor_type") != "totp" || strings.Contains(user.text, f.secret) {
		t.Errorf("the user is %s", user.text)
	}
	if u.standing() != "aal1 password" {
		t.Errorf("the session begins at %s", u.standing())
	}
	challenge := s.want(u.do("POST", "/factors/"+f.id+"/challenge", `{}`), 200, "")
	if expires, _ := challenge.get("expires_at").(float64); challenge.str("type") != "totp" || expires < float64(time.Now().Unix()) {
		t.Errorf("the challenge is %s", challenge.text)
	}
	before := u.refresh
	session := u.adopt(u.verify(f, challenge.str("id"), u.code(f, 0)))
	if session.str("user.factors.0.status") != "verified" || session.str("token_type") != "bearer" || u.refresh == before {
		t.Errorf("the session is %s", session.text)
	}
	if u.standing() != "aal2 totp password" {
		t.Errorf("the session stands at %s", u.standing())
	}
	u.adopt(s.refresh(u.refresh))
	if u.standing() != "aal2 totp password" {
		t.Errorf("the refreshed session stands at %s", u.standing())
	}
	if a := s.want(u.do("DELETE", "/factors/"+f.id, ""), 200, ""); a.str("id") != f.id {
		t.Errorf("the removal is answered %s", a.text)
	}
	s.want(u.do("DELETE", "/factors/"+f.id, ""), 404, "mfa_factor_not_found")
	u.adopt(s.refresh(u.refresh))
	if u.standing() != "aal1 password" {
		t.Errorf("without the factor the session stands at %s", u.standing())
	}
}

func TestATokenFromBeforeTheProofLeadsToNoRaisedSession(t *testing.T) {
	s := start(t, options())
	u := s.newFactorUser()
	before := u.refresh
	u.prove(u.enroll("app"))
	if a := s.refresh(before); a.status == 200 {
		t.Errorf("a refresh token from before gives %s", a.text)
	}
	if n := s.count(`select count(*) from auth.refresh_tokens where not revoked`); n != 1 {
		t.Errorf("%d refresh tokens are good", n)
	}
}

func TestACodeIsAcceptedOnce(t *testing.T) {
	s := start(t, options())
	second := startOver(t, s.db, options())
	u := s.newFactorUser()
	f := u.enroll("app")
	code := u.code(f, 0)
	challenges := make([]string, 10)
	for i := range challenges {
		challenges[i] = u.challenge(f)
	}
	processes := []*factorUser{u, {server: second, email: u.email, access: u.access}}
	var accepted, refused atomic.Int64
	var won atomic.Value
	var group sync.WaitGroup
	for i := range 100 {
		group.Go(func() {
			switch a := processes[i%2].verify(f, challenges[i%len(challenges)], code); a.status {
			case 200:
				accepted.Add(1)
				won.Store(a)
			case 422:
				refused.Add(1)
			default:
				t.Errorf("answered %d %s", a.status, a.text)
			}
		})
	}
	group.Wait()
	if accepted.Load() != 1 || refused.Load() != 99 {
		t.Fatalf("%d accepted, %d refused", accepted.Load(), refused.Load())
	}
	u.adopt(won.Load().(answer))
	s.want(u.verify(f, u.challenge(f), code), 422, "mfa_verification_failed")
	next := u.challenge(f)
	s.want(u.verify(f, next, u.code(f, -1)), 422, "mfa_verification_failed")
	u.adopt(u.verify(f, next, u.code(f, 1)))
}

func TestAChallengeHasItsEndAndItsPlace(t *testing.T) {
	s := start(t, options())
	u := s.newFactorUser()
	f := u.enroll("app")
	u.from = "198.51.100.1"
	challenge := u.challenge(f)
	u.from = "198.51.100.2"
	s.want(u.verify(f, challenge, u.code(f, 0)), 422, "mfa_ip_address_mismatch")
	u.from = "198.51.100.1"
	s.want(u.verify(f, challenge, "000000x"), 422, "mfa_verification_failed")
	s.want(u.verify(f, challenge, ""), 400, "validation_failed")
	s.want(u.verify(f, f.id, u.code(f, 0)), 422, "mfa_factor_not_found")
	s.db.Exec(t, `update auth.mfa_challenges set created_at = created_at - interval '301 seconds'`)
	s.want(u.verify(f, challenge, u.code(f, 0)), 422, "mfa_challenge_expired")
	challenge = u.challenge(f)
	if n := s.count(`select count(*) from auth.mfa_challenges`); n != 1 {
		t.Errorf("%d challenges are kept", n)
	}
	u.adopt(u.verify(f, challenge, u.code(f, 0)))
	s.want(u.verify(f, challenge, u.code(f, 1)), 422, "mfa_challenge_expired")

	stranger := s.newFactorUser()
	stranger.from = u.from
	s.want(stranger.do("POST", "/factors/"+f.id+"/challenge", ""), 404, "mfa_factor_not_found")
	s.want(stranger.verify(f, u.challenge(f), u.code(f, 1)), 404, "mfa_factor_not_found")
	s.want(stranger.do("DELETE", "/factors/"+f.id, ""), 404, "mfa_factor_not_found")
}

func TestAFactorGuardsWhatItProtects(t *testing.T) {
	s := start(t, options())
	u, f := s.protected()
	weak := u.again(s)
	s.want(weak.do("POST", "/factors", `{"factor_type":"totp","friendly_name":"another"}`), 403, "insufficient_aal")
	s.want(weak.do("DELETE", "/factors/"+f.id, ""), 422, "insufficient_aal")
	s.want(weak.do("PUT", "/user", `{"password":"Another-pass-1"}`), 401, "insufficient_aal")
	s.want(weak.do("PUT", "/user", `{"email":"other@example.com"}`), 401, "insufficient_aal")
	s.want(weak.do("PUT", "/user", `{"data":{"a":1}}`), 200, "")
	other := u.enroll("another")
	if n := s.count(`select count(*) from auth.mfa_factors where status = 'unverified'`); n != 1 {
		t.Errorf("%d factors are to be proved", n)
	}
	s.want(weak.do("DELETE", "/factors/"+other.id, ""), 200, "")
	weak.prove(f)
	s.want(weak.do("PUT", "/user", `{"password":"Another-pass-1"}`), 200, "")
}

func TestTheResetOfAPasswordDoesNotPassTheFactor(t *testing.T) {
	s := start(t, options())
	u, f := s.protected()
	link := s.want(s.admin("POST", "/generate_link", fmt.Sprintf(`{"type":"recovery","email":%q}`, u.email)), 200, "")
	thief := &factorUser{server: s, email: u.email}
	thief.adopt(s.call("POST", "/verify", s.keys.AnonKey, fmt.Sprintf(`{"type":"recovery","token_hash":%q}`, link.str("hashed_token"))))
	if !strings.HasPrefix(thief.standing(), "aal1 ") {
		t.Errorf("a reset opens a session at %s", thief.standing())
	}
	s.want(thief.do("PUT", "/user", `{"password":"Another-pass-1"}`), 401, "insufficient_aal")
	s.want(thief.do("POST", "/factors", `{"factor_type":"totp","friendly_name":"own"}`), 403, "insufficient_aal")
	s.want(thief.do("DELETE", "/factors/"+f.id, ""), 422, "insufficient_aal")
	s.want(s.signIn(u.email, goodPassword), 200, "")
}

func TestTheProofOfAFactorEndsWeakerSessions(t *testing.T) {
	s := start(t, options())
	u, f := s.protected()
	weak, strong := u.again(s), u.again(s)
	strong.prove(f)
	s.want(weak.do("GET", "/user", ""), 403, "session_not_found")
	s.want(u.do("GET", "/user", ""), 200, "")
	s.want(strong.do("GET", "/user", ""), 200, "")
}

func TestFactorsHaveNamesOfTheirOwnAndAreTenAtMost(t *testing.T) {
	s := start(t, options())
	u := s.newFactorUser()
	u.enroll("one")
	s.want(u.do("POST", "/factors", `{"factor_type":"totp","friendly_name":"one"}`), 422, "mfa_factor_name_conflict")
	for i := range 9 {
		u.enroll(fmt.Sprint("more ", i))
	}
	s.want(u.do("POST", "/factors", `{"factor_type":"totp","friendly_name":"eleven"}`), 422, "too_many_enrolled_mfa_factors")
	s.db.Exec(t, `update auth.mfa_factors set created_at = created_at - interval '301 seconds'`)
	f := u.enroll("one")
	if n := s.count(`select count(*) from auth.mfa_factors`); n != 1 {
		t.Errorf("%d factors are left", n)
	}
	u.challenge(f)
	s.db.Exec(t, `update auth.mfa_factors set created_at = created_at - interval '301 seconds'`)
	s.want(u.do("POST", "/factors", `{"factor_type":"totp","friendly_name":"one"}`), 422, "mfa_factor_name_conflict")
	leftover := u.enroll("two")
	u.prove(f)
	s.want(u.do("DELETE", "/factors/"+leftover.id, ""), 404, "mfa_factor_not_found")
}

func TestManyEnrolmentsAtOnceStayWithinTheRules(t *testing.T) {
	s := start(t, options())
	second := startOver(t, s.db, options())
	u := s.newFactorUser()
	processes := []*factorUser{u, {server: second, access: u.access}}
	var group sync.WaitGroup
	var sameName atomic.Int64
	for i := range 30 {
		group.Go(func() {
			name := fmt.Sprint("app ", i)
			if i < 10 {
				name = "the same"
			}
			a := processes[i%2].do("POST", "/factors", fmt.Sprintf(`{"factor_type":"totp","friendly_name":%q}`, name))
			if a.status != 200 && a.status != 422 {
				t.Errorf("answered %d %s", a.status, a.text)
			}
			if a.status == 200 && i < 10 {
				sameName.Add(1)
			}
		})
	}
	group.Wait()
	if n := s.count(`select count(*) from auth.mfa_factors`); n != 10 || sameName.Load() > 1 {
		t.Errorf("%d factors, %d of one name", n, sameName.Load())
	}
}

func TestTheLastFactorIsRemovedOnce(t *testing.T) {
	s := start(t, options())
	second := startOver(t, s.db, options())
	u, f := s.protected()
	processes := []*factorUser{u, {server: second, access: u.access}}
	var removed, gone atomic.Int64
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			switch a := processes[i%2].do("DELETE", "/factors/"+f.id, ""); a.status {
			case 200:
				removed.Add(1)
			case 404:
				gone.Add(1)
			default:
				t.Errorf("answered %d %s", a.status, a.text)
			}
		})
	}
	group.Wait()
	if removed.Load() != 1 || gone.Load() != 19 {
		t.Errorf("%d removed, %d found nothing", removed.Load(), gone.Load())
	}
	if n := s.count(`select count(*) from auth.sessions where aal = 'aal2' or factor_id is not null`); n != 0 {
		t.Errorf("%d sessions stand above their factor", n)
	}
}

func TestASecretThatCameInClearIsSealedAtItsFirstUse(t *testing.T) {
	s := start(t, options())
	u := s.newFactorUser()
	f := u.enroll("from a dump")
	if _, err := s.db.Pool.Exec(t.Context(), `update auth.mfa_factors set secret = $1, status = 'verified'`, f.secret); err != nil {
		t.Fatal(err)
	}
	u.prove(f)
	if got := s.count(`select count(*) from auth.mfa_factors where secret like 'enc:v1:%' and position($1 in secret) = 0`, f.secret); got != 1 {
		t.Error("the secret is still in clear")
	}
	u.prove(f)
}

func TestASecretOfAnotherFactorIsRefused(t *testing.T) {
	s := start(t, options())
	victim, f := s.protected()
	mallory := s.newFactorUser()
	own := mallory.enroll("own")
	if _, err := s.db.Pool.Exec(t.Context(), `update auth.mfa_factors set secret = (select secret from auth.mfa_factors where id = $1) where id = $2`, own.id, f.id); err != nil {
		t.Fatal(err)
	}
	stolen := victim.again(s)
	challenge := stolen.challenge(f)
	s.want(stolen.verify(f, challenge, mallory.code(own, 0)), 500, "unexpected_failure")
	s.want(stolen.verify(f, challenge, victim.code(f, 1)), 500, "unexpected_failure")
}

func TestGuessesAtAFactorComeToAnEnd(t *testing.T) {
	s := start(t, options())
	o := options()
	o.LimitsOff = false
	limited, second := startOver(t, s.db, o), startOver(t, s.db, o)
	owner, f := s.protected()
	if _, err := s.db.Pool.Exec(t.Context(), `update auth.sessions set ip = '198.51.100.1'`); err != nil {
		t.Fatal(err)
	}
	wrong := func(i int) string { return fmt.Sprintf("%06d", i) }
	thief := owner.again(s)
	thief.server, thief.from = limited, "203.0.113.1"
	twin := &factorUser{server: second, access: thief.access, from: thief.from}
	challenge := thief.challenge(f)
	var looked, limitedCount atomic.Int64
	var group sync.WaitGroup
	for worker := range 20 {
		group.Go(func() {
			for i := range 50 {
				by := thief
				if i%2 == 0 {
					by = twin
				}
				switch a := by.verify(f, challenge, wrong(worker*50+i)); a.status {
				case 422:
					looked.Add(1)
				case 429:
					limitedCount.Add(1)
				default:
					t.Errorf("answered %d %s", a.status, a.text)
				}
			}
		})
	}
	group.Wait()
	if looked.Load() > 10 || looked.Load()+limitedCount.Load() != 1000 {
		t.Errorf("%d guesses of 1,000 were looked at", looked.Load())
	}
	for i := range 250 {
		thief.from = fmt.Sprintf("203.0.%d.%d", 114+i/200, i%200+1)
		if a := thief.verify(f, challenge, wrong(i)); a.code() == "mfa_verification_failed" {
			t.Fatal("a guess from elsewhere was looked at")
		}
	}
	thief.from = "192.0.2.77"
	s.want(thief.verify(f, challenge, wrong(1)), 429, "over_request_rate_limit")

	home := owner.again(s)
	home.server, home.from = limited, "198.51.100.1"
	challenge = home.challenge(f)
	home.adopt(home.verify(f, challenge, home.code(f, 1)))
}

func TestAUsedCodeOpensNoWayToMoreGuesses(t *testing.T) {
	s := start(t, options())
	o := options()
	o.LimitsOff = false
	limited := startOver(t, s.db, o)
	owner := s.newFactorUser()
	f := owner.enroll("app")
	code := owner.code(f, 0)
	owner.adopt(owner.verify(f, owner.challenge(f), code))
	thief := owner.again(limited)
	thief.from = "203.0.113.1"
	challenge := thief.challenge(f)
	looked := 0
	for i := range 14 {
		guess := "000000x"
		if i%2 == 0 {
			guess = code
		}
		if a := thief.verify(f, challenge, guess); a.code() == "mfa_verification_failed" {
			looked++
		}
	}
	if looked != 10 {
		t.Errorf("%d guesses were looked at", looked)
	}
}

func TestRefusalsOfFactors(t *testing.T) {
	s := start(t, options())
	u := s.newFactorUser()
	f := u.enroll("app")
	long := strings.Repeat("x", 256)
	for _, c := range []struct {
		name, method, path, body string
		status                   int
		code                     string
	}{
		{"no type", "POST", "/factors", `{}`, 400, "validation_failed"},
		{"an unknown type", "POST", "/factors", `{"factor_type":"sms"}`, 400, "validation_failed"},
		{"recovery codes", "POST", "/factors", `{"factor_type":"recovery_code"}`, 400, "validation_failed"},
		{"a phone that is off", "POST", "/factors", `{"factor_type":"phone","phone":"+4912345678"}`, 422, "mfa_phone_enroll_not_enabled"},
		{"a long name", "POST", "/factors", `{"factor_type":"totp","friendly_name":"` + long + `"}`, 400, "validation_failed"},
		{"a name with NUL", "POST", "/factors", `{"factor_type":"totp","friendly_name":"a\u0000"}`, 400, "validation_failed"},
		{"an issuer with a line break", "POST", "/factors", `{"factor_type":"totp","issuer":"a\nb"}`, 400, "validation_failed"},
		{"a name that is a number", "POST", "/factors", `{"factor_type":"totp","friendly_name":1}`, 400, "bad_json"},
		{"no body", "POST", "/factors", ``, 400, "bad_json"},
		{"no UUID", "POST", "/factors/1/challenge", ``, 404, "validation_failed"},
		{"no challenge", "POST", "/factors/" + f.id + "/verify", `{"code":"123456"}`, 422, "mfa_factor_not_found"},
		{"a challenge that is no UUID", "POST", "/factors/" + f.id + "/verify", `{"challenge_id":"1","code":"123456"}`, 400, "bad_json"},
		{"an unknown factor", "DELETE", "/factors/" + strings.Repeat("0", 8) + "-0000-4000-8000-000000000000", ``, 404, "mfa_factor_not_found"},
		{"a wrong method", "GET", "/factors", ``, 405, "method_not_allowed"},
	} {
		if a := u.do(c.method, c.path, c.body); a.status != c.status || a.code() != c.code {
			t.Errorf("%s: %d %s", c.name, a.status, a.text)
		}
	}
	s.want(s.call("POST", "/factors", "", `{"factor_type":"totp"}`), 401, "no_authorization")
	s.want(s.call("POST", "/factors", s.keys.AnonKey, `{"factor_type":"totp"}`), 403, "bad_jwt")
	sessionless := s.sign(`{"sub":%q,"role":"authenticated","aud":"authenticated","exp":%d}`, u.claims().str("sub"), time.Now().Add(time.Hour).Unix())
	s.want(s.call("POST", "/factors", sessionless, `{"factor_type":"totp"}`), 403, "bad_jwt")
	s.want(u.do("POST", "/logout", ""), 204, "")
	s.want(u.do("POST", "/factors", `{"factor_type":"totp"}`), 403, "session_not_found")
	s.want(u.do("POST", "/factors/"+f.id+"/challenge", ""), 403, "session_not_found")
	s.want(u.verify(f, f.id, "123456"), 403, "session_not_found")
}

func TestAccountsWithoutCredentialsHaveNoFactors(t *testing.T) {
	o := options()
	o.Anonymous = true
	s := start(t, o)
	a := s.want(s.call("POST", "/signup", s.keys.AnonKey, `{}`), 200, "")
	s.want(s.call("POST", "/factors", a.str("access_token"), `{"factor_type":"totp","friendly_name":"x"}`), 403, "no_authorization")
}

func TestKindsOfFactorsCanBeOff(t *testing.T) {
	o := options()
	o.Factors = []string{auth.FactorPhone}
	s := start(t, o)
	all := startOver(t, s.db, options())
	u := all.newFactorUser()
	f := u.enroll("app")
	u.server = s
	s.want(u.do("POST", "/factors", `{"factor_type":"totp","friendly_name":"x"}`), 422, "mfa_totp_enroll_not_enabled")
	s.want(u.do("POST", "/factors/"+f.id+"/challenge", ""), 422, "mfa_totp_verify_not_enabled")
	s.want(u.verify(f, f.id, "123456"), 422, "mfa_totp_verify_not_enabled")
	s.want(u.do("POST", "/factors/recovery-codes", ""), 422, "mfa_recovery_codes_enroll_not_enabled")
	s.want(u.do("POST", "/factors/recovery-codes/verify", `{"code":"x"}`), 422, "mfa_recovery_codes_verify_not_enabled")
	s.want(u.do("DELETE", "/factors/"+f.id, ""), 200, "")
}

func TestProofsAndRefreshesAtOnceLeaveOneGoodToken(t *testing.T) {
	s := start(t, options())
	second := startOver(t, s.db, options())
	for range 5 {
		u := s.newFactorUser()
		f := u.enroll("app")
		challenge, code := u.challenge(f), u.code(f, 0)
		var group sync.WaitGroup
		for i := range 6 {
			group.Go(func() {
				if a := []*server{s, second}[i%2].refresh(u.refresh); a.status >= 500 {
					t.Errorf("a refresh is answered %d %s", a.status, a.text)
				}
			})
		}
		var session answer
		group.Go(func() { session = u.verify(f, challenge, code) })
		group.Wait()
		u.adopt(session)
		if n := s.count(`select count(*) from auth.refresh_tokens where user_id = $1 and not revoked`, session.str("user.id")); n != 1 {
			t.Errorf("%d refresh tokens are good", n)
		}
		u.adopt(s.refresh(u.refresh))
		if u.standing() != "aal2 totp password" {
			t.Errorf("the session stands at %s", u.standing())
		}
	}
}

func TestSecretsOfFactorsAreNotLogged(t *testing.T) {
	s := start(t, options())
	u, f := s.protected()
	codes := s.want(u.do("POST", "/factors/recovery-codes", ""), 200, "")
	code := codes.str("codes.0")
	challenge := u.challenge(f)
	s.want(u.verify(f, challenge, u.code(f, -1)), 422, "mfa_verification_failed")
	u.adopt(u.do("POST", "/factors/recovery-codes/verify", fmt.Sprintf(`{"code":%q}`, code)))
	for _, secret := range []string{f.secret, code, u.access, u.refresh} {
		if strings.Contains(s.log.String(), secret) {
			t.Errorf("the log holds %q", secret)
		}
	}
	for _, event := range []string{"factor_enroll", "factor_challenge", "factor_verify", "recovery_codes_generate", "recovery_codes_verify"} {
		if !strings.Contains(s.log.String(), event) {
			t.Errorf("%s is not logged", event)
		}
	}
}
