package accounts_test

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"basalt/auth"
	store "basalt/auth/outbox"
	"basalt/auth/seal"
	"basalt/store/storetest"
)

// texted starts a server whose messages stay in the outbox, which is for reading them.
func texted(t *testing.T) (*server, *store.Outbox) {
	t.Helper()
	t.Parallel()
	db := storetest.New(t)
	key := seal.Derive("key of the outbox of a test, long enough", "test")
	box := store.New(db.Pool, store.Options{Keys: func() (seal.Ring, error) { return seal.Ring{key}, nil }})
	o := options()
	o.Outbound = box
	o.Factors = auth.AllFactors()
	o.Notify = auth.Notifications()
	return startOver(t, db, o), box
}

// lastCode is the code of the newest text message to a number.
func lastCode(t *testing.T, box *store.Outbox, to string) string {
	t.Helper()
	entries, err := box.List(t.Context(), 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.SMS.To == to {
			return e.SMS.Code.Reveal()
		}
	}
	t.Fatalf("nothing was sent to %s", to)
	return ""
}

func TestAPhoneIsProvedByTheCodeThatWasSentToIt(t *testing.T) {
	s, box := texted(t)
	u := s.newFactorUser()
	s.want(u.do("POST", "/factors", `{"factor_type":"phone","friendly_name":"p"}`), 400, "validation_failed")
	s.want(u.do("POST", "/factors", `{"factor_type":"phone","friendly_name":"p","phone":"call me"}`), 400, "validation_failed")
	a := s.want(u.do("POST", "/factors", `{"factor_type":"phone","friendly_name":"p","phone":"+49 (151) 234-567"}`), 200, "")
	if a.str("type") != "phone" || a.str("phone") != "49151234567" || a.get("totp") != nil {
		t.Errorf("the enrolment is %s", a.text)
	}
	again := s.want(u.do("POST", "/factors", `{"factor_type":"phone","friendly_name":"p","phone":"49151234567"}`), 200, "")
	s.want(u.do("POST", "/factors/"+a.str("id")+"/challenge", ""), 404, "mfa_factor_not_found")
	f := totpFactor{id: again.str("id")}
	s.want(u.do("POST", "/factors/"+f.id+"/challenge", `{"channel":"pigeon"}`), 400, "validation_failed")
	challenge := u.challenge(f)
	if a := s.want(u.do("POST", "/factors/"+f.id+"/challenge", ""), 429, "over_sms_send_rate_limit"); a.header.Get("Retry-After") == "" {
		t.Error("nothing is said about when to come again")
	}
	code := lastCode(t, box, "49151234567")
	if n := s.count(`select count(*) from auth.mfa_challenges where otp_code like 'enc:v1:%' and position($1 in otp_code) = 0`, code); n != 1 {
		t.Error("the code is not sealed")
	}
	wrong := "000000"
	if code == wrong {
		wrong = "000001"
	}
	s.want(u.verify(f, challenge, wrong), 422, "mfa_verification_failed")

	var accepted, refused atomic.Int64
	var won atomic.Value
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			switch a := u.verify(f, challenge, code); a.status {
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
	if accepted.Load() != 1 || refused.Load() != 19 {
		t.Fatalf("%d accepted, %d refused", accepted.Load(), refused.Load())
	}
	u.adopt(won.Load().(answer))
	if u.standing() != "aal2 mfa/phone password" {
		t.Errorf("the session stands at %s", u.standing())
	}
	s.want(u.verify(f, challenge, code), 422, "mfa_challenge_expired")
	s.want(u.do("POST", "/factors", `{"factor_type":"phone","friendly_name":"q","phone":"+49151234567"}`), 422, "mfa_verified_factor_exists")
	if strings.Contains(s.log.String(), code) {
		t.Error("the code is in the log")
	}
}

func TestANumberThatIsEnrolledAgainIsNotTextedAgain(t *testing.T) {
	o := options()
	o.LimitsOff, o.Factors = false, auth.AllFactors()
	s, p := mailing(t, o)
	u := s.newFactorUser()
	enroll := func() string {
		return u.want(u.do("POST", "/factors", `{"factor_type":"phone","friendly_name":"p","phone":"49151234567"}`), 200, "").str("id")
	}
	s.want(u.do("POST", "/factors/"+enroll()+"/challenge", ""), 200, "")
	for range 2 {
		id := enroll()
		a := s.want(u.do("POST", "/factors/"+id+"/challenge", ""), 429, "over_sms_send_rate_limit")
		if a.header.Get("Retry-After") == "" {
			t.Error("nothing is said about when to come again")
		}
		s.want(u.do("DELETE", "/factors/"+id, ""), 200, "")
	}
	if p.sent() != 1 {
		t.Errorf("%d messages are sent", p.sent())
	}
}

func TestOwnersAreToldOfFactorsThatComeAndGo(t *testing.T) {
	s, box := texted(t)
	u, f := s.protected()
	u.prove(f) // of which nothing is told
	s.want(u.do("DELETE", "/factors/"+u.enroll("never proved").id, ""), 200, "")
	s.want(u.do("POST", "/factors/recovery-codes", ""), 200, "")
	s.want(u.do("DELETE", "/factors/recovery-codes", ""), 200, "")
	s.want(u.do("DELETE", "/factors/"+f.id, ""), 200, "")
	entries, err := box.List(t.Context(), 100)
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]int{}
	for _, e := range entries {
		if e.Mail.To == u.email {
			told[e.Kind+" "+e.Mail.FactorType]++
		}
	}
	for _, want := range []string{
		"mfa_factor_enrolled_notification totp", "mfa_factor_enrolled_notification recovery_code",
		"mfa_factor_unenrolled_notification recovery_code", "mfa_factor_unenrolled_notification totp",
	} {
		if told[want] != 1 {
			t.Errorf("%s was told %d times", want, told[want])
		}
	}
	if len(told) != 4 {
		t.Errorf("told %v", told)
	}
}
