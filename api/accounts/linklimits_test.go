package accounts_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"basalt/auth"
)

// wrong is a code of six digits other than the right one.
func wrong(code auth.Secret) auth.Secret {
	if code == "000000" {
		return "000001"
	}
	return "000000"
}

func TestAnAddressIsMailedOnceAMinute(t *testing.T) {
	o := linkOptions()
	o.LimitsOff = false
	s, p := mailing(t, o)
	s.want(s.admin("POST", "/users", `{"email":"known@example.com","email_confirm":true}`), 200, "")
	said := regexp.MustCompile(`^For security purposes, you can only request this after (59|60) seconds\.$`)
	for _, tc := range []struct{ name, path, body, code string }{
		{"a known address", "/recover", `{"email":"known@example.com"}`, "over_email_send_rate_limit"},
		{"an unknown address", "/recover", `{"email":"unknown@example.com"}`, "over_email_send_rate_limit"},
		{"a new account", "/otp", `{"email":"new@example.com"}`, "over_email_send_rate_limit"},
		{"a resent confirmation", "/resend", `{"type":"signup","email":"new@example.com"}`, "over_email_send_rate_limit"},
		{"a number", "/otp", `{"phone":"4915123456789"}`, "over_sms_send_rate_limit"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s.want(s.say(tc.path, "%s", tc.body), 200, "")
			a := s.want(s.say(tc.path, "%s", tc.body), 429, tc.code)
			if !said.MatchString(a.str("msg")) || a.header.Get("Retry-After") == "" {
				t.Errorf("the refusal is %s", a.text)
			}
		})
	}
	if n := len(p.mails); n != 3 {
		t.Errorf("%d mails are sent", n)
	}
	s.want(s.say("/signup", `{"email":"signed@example.com","password":%q}`, goodPassword), 200, "")
	s.want(s.say("/resend", `{"type":"signup","email":"signed@example.com"}`), 429, "over_email_send_rate_limit")
	s.want(s.call("POST", "/recover", s.keys.ServiceKey.Reveal(), `{"email":"known@example.com"}`), 200, "")
}

func TestAProjectSendsNoMoreThanItsQuota(t *testing.T) {
	o := linkOptions()
	o.LimitsOff, o.Links.MailQuota, o.Links.SMSQuota = false, 3, 1
	s, p := mailing(t, o)
	s.want(s.say("/otp", `{"email":"a@example.com"}`), 200, "")
	s.want(s.say("/otp", `{"email":"a@example.com"}`), 429, "over_email_send_rate_limit")
	s.want(s.say("/recover", `{"email":"unknown@example.com"}`), 200, "")
	s.want(s.say("/signup", `{"email":"b@example.com","password":%q}`, goodPassword), 200, "")
	for _, ask := range []struct{ path, body string }{
		{"/otp", `{"email":"c@example.com"}`}, {"/recover", `{"email":"d@example.com"}`}, {"/resend", `{"type":"signup","email":"e@example.com"}`},
		{"/signup", `{"email":"f@example.com","password":"Secret-pass-1"}`},
	} {
		a := s.want(s.say(ask.path, "%s", ask.body), 429, "over_email_send_rate_limit")
		if a.str("msg") != "email rate limit exceeded" || a.header.Get("Retry-After") == "" {
			t.Errorf("%s is refused by %s", ask.path, a.text)
		}
	}
	s.want(s.say("/otp", `{"phone":"4915123456789"}`), 200, "")
	s.want(s.say("/otp", `{"phone":"4915123456780"}`), 429, "over_sms_send_rate_limit")
	if p.sent() != 3 {
		t.Errorf("%d messages are sent", p.sent())
	}
	if n := s.count(`select count(*) from auth.users`); n != 3 {
		t.Errorf("%d accounts are made", n)
	}
}

// Guessing at one account, from as many networks as one likes, gets five tries in a quarter of an hour; so does each
// network in which the account has a session. The link goes on working.
func TestCodesAreGuessedAtAFewTimesOnly(t *testing.T) {
	o := linkOptions()
	o.LimitsOff = false
	s, p := mailing(t, o)
	second := startOver(t, s.db, o)
	s.want(s.say("/otp", `{"email":"a@example.com"}`), 200, "")
	first := p.last(t, auth.MailConfirmation, "a@example.com")
	session := s.want(s.verifyFrom("192.0.2.1", "a@example.com", first.Token), 200, "")
	s.db.Exec(t, `delete from basalt.rate_limits`)
	s.want(s.say("/otp", `{"email":"a@example.com"}`), 200, "")
	m := p.last(t, auth.MailMagicLink, "a@example.com")
	guesses := 0
	for i := range 12 {
		on := []*server{s, second}[i%2]
		if a := on.verifyFrom(fmt.Sprintf("198.51.100.%d", i), "a@example.com", wrong(m.Token)); a.status == 403 {
			guesses++
		} else {
			s.want(a, 429, "over_request_rate_limit")
		}
	}
	if guesses != 5 {
		t.Errorf("%d guesses are made", guesses)
	}
	s.want(s.verifyFrom("198.51.100.99", "a@example.com", m.Token), 429, "over_request_rate_limit")
	if unknown := s.verifyFrom("198.51.100.99", "unknown@example.com", m.Token); unknown.status != 403 {
		t.Errorf("guesses at one address bind another: %s", unknown.text)
	}
	// The owner's network is not bound by others' guesses, but by its own.
	for range 4 {
		s.want(s.verifyFrom("192.0.2.1", "a@example.com", wrong(m.Token)), 403, "otp_expired")
	}
	s.want(s.verifyFrom("192.0.2.1", "a@example.com", m.Token), 200, "")
	s.want(s.call("GET", "/user", session.str("access_token"), ""), 200, "")
	s.db.Exec(t, `delete from basalt.rate_limits where key not like 'code%'`)
	s.want(s.say("/otp", `{"email":"a@example.com"}`), 200, "")
	m = p.last(t, auth.MailMagicLink, "a@example.com")
	for i := range 8 {
		s.verifyFrom(fmt.Sprintf("198.51.100.%d", i), "a@example.com", wrong(m.Token))
	}
	s.want(s.verifyHash("magiclink", m.TokenHash), 200, "")
}

func (s *server) verifyFrom(ip, email string, code auth.Secret) answer {
	s.t.Helper()
	return s.call("POST", "/verify", s.keys.AnonKey, fmt.Sprintf(`{"type":"email","email":%q,"token":%q}`, email, code.Reveal()), "X-Forwarded-For", ip)
}

func TestANetworkAsksAndVerifiesAFewTimesOnly(t *testing.T) {
	o := linkOptions()
	o.LimitsOff = false
	s, _ := mailing(t, o)
	for i := range 31 {
		status, code := 200, ""
		if i == 30 {
			status, code = 429, "over_request_rate_limit"
		}
		s.want(s.say("/recover", `{"email":"a%d@example.com"}`, i), status, code)
		if i == 30 {
			s.want(s.verifyHash("email", auth.Secret(strings.Repeat("a", 64))), status, code)
		} else {
			s.want(s.verifyHash("email", auth.Secret(strings.Repeat("a", 64))), 403, "otp_expired")
		}
	}
}

// The time that an answer takes is one of its own, not that of what was done.
func TestAnswersLeaveAtTheirTime(t *testing.T) {
	o := linkOptions()
	o.Links.AnswerTime = 300 * time.Millisecond
	s, _ := mailing(t, o)
	s.want(s.admin("POST", "/users", `{"email":"known@example.com","email_confirm":true}`), 200, "")
	for _, email := range []string{"known@example.com", "unknown@example.com"} {
		for _, path := range []string{"/recover", "/otp"} {
			began := time.Now()
			s.want(s.say(path, `{"email":%q}`, email), 200, "")
			if took := time.Since(began); took < o.Links.AnswerTime {
				t.Errorf("%s is answered within %v", path, took)
			}
		}
	}
}
