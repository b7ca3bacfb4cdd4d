package accounts_test

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"basalt/auth"
)

// atOnce runs something many times at the same moment and counts the answers by status.
func atOnce(n int, act func(i int) answer) map[int]int {
	var group sync.WaitGroup
	var mu sync.Mutex
	counts := map[int]int{}
	begin := make(chan struct{})
	for i := range n {
		group.Go(func() {
			<-begin
			a := act(i)
			mu.Lock()
			defer mu.Unlock()
			counts[a.status]++
		})
	}
	close(begin)
	group.Wait()
	return counts
}

func TestATokenIsUsedOnceByManyAtTheSameMoment(t *testing.T) {
	s, p := mailing(t, linkOptions())
	second := startOver(t, s.db, linkOptions())
	on := func(i int) *server { return []*server{s, second}[i%2] }
	for _, tc := range []struct {
		name  string
		use   func(m auth.Mail, i int) answer
		right int
	}{
		{"a code", func(m auth.Mail, i int) answer { return on(i).verifyCode("email", m.To, m.Token) }, http.StatusOK},
		{"a hash", func(m auth.Mail, i int) answer { return on(i).verifyHash("email", m.TokenHash) }, http.StatusOK},
		{"a code and its hash", func(m auth.Mail, i int) answer {
			if i%3 == 0 {
				return on(i).verifyHash("email", m.TokenHash)
			}
			return on(i).verifyCode("email", m.To, m.Token)
		}, http.StatusOK},
		{"a link", func(m auth.Mail, i int) answer {
			a := on(i).follow(m.Link)
			if _, _, fragment := s.led(a); fragment.Get("access_token") == "" {
				a.status = http.StatusForbidden
			}
			return a
		}, http.StatusSeeOther},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for range 3 {
				email := address()
				s.want(s.say("/otp", `{"email":%q}`, email), 200, "")
				m := p.last(t, auth.MailConfirmation, email)
				counts := atOnce(20, func(i int) answer { return tc.use(m, i) })
				if counts[tc.right] != 1 || counts[http.StatusForbidden] != 19 {
					t.Errorf("the answers are %v", counts)
				}
				if n := s.count(`select count(*) from auth.sessions s join auth.users u on u.id = s.user_id where u.email = $1`, email); n != 1 {
					t.Errorf("there are %d sessions", n)
				}
			}
		})
	}
}

func TestATextedCodeAndANonceAreUsedOnce(t *testing.T) {
	o := linkOptions()
	o.Links.Reauthentication = true
	s, p := mailing(t, o)
	s.want(s.say("/otp", `{"phone":"4915123456789"}`), 200, "")
	code := p.text(t, "4915123456789").Code
	if counts := atOnce(20, func(int) answer { return s.verifyText("sms", "4915123456789", code) }); counts[200] != 1 || counts[403] != 19 {
		t.Errorf("the answers to a code are %v", counts)
	}
	session := s.confirmed("a@example.com")
	s.db.Exec(t, `update auth.sessions set created_at = created_at - interval '25 hours'`)
	s.want(s.call("GET", "/reauthenticate", session.str("access_token"), ""), 200, "")
	nonce := p.last(t, auth.MailReauthentication, "a@example.com").Token.Reveal()
	counts := atOnce(10, func(i int) answer {
		return s.call("PUT", "/user", session.str("access_token"), fmt.Sprintf(`{"password":"Another-pass-%d","nonce":%q}`, i, nonce))
	})
	if counts[200] != 1 || counts[422] != 9 {
		t.Errorf("the answers to a nonce are %v", counts)
	}
}

func TestBothHalvesOfAChangeAtTheSameMoment(t *testing.T) {
	s, p := mailing(t, linkOptions())
	for range 5 {
		from, to := address(), address()
		session := s.confirmed(from)
		s.want(s.call("PUT", "/user", session.str("access_token"), fmt.Sprintf(`{"email":%q}`, to)), 200, "")
		m := p.last(t, auth.MailEmailChange, from)
		var sessions atomic.Int32
		counts := atOnce(20, func(i int) answer {
			a := s.verifyHash("email_change", []auth.Secret{m.TokenHash, m.TokenHashNew}[i%2])
			if a.str("access_token") != "" {
				sessions.Add(1)
			}
			return a
		})
		if counts[200] != 2 || counts[403] != 18 || sessions.Load() != 1 {
			t.Errorf("the answers are %v with %d sessions", counts, sessions.Load())
		}
		s.want(s.signIn(to, goodPassword), 200, "")
	}
}

func TestAnAccountIsConfirmedAndDeletedAtTheSameMoment(t *testing.T) {
	s, p := mailing(t, linkOptions())
	for i := range 10 {
		email := address()
		s.want(s.say("/otp", `{"email":%q}`, email), 200, "")
		m := p.last(t, auth.MailConfirmation, email)
		soft := i%2 == 0
		counts := atOnce(8, func(i int) answer {
			if i < 2 {
				return s.admin("DELETE", "/users/"+m.UserID.String(), fmt.Sprintf(`{"should_soft_delete":%t}`, soft))
			}
			return s.verifyHash("email", m.TokenHash)
		})
		for status := range counts {
			if status != 200 && status != 403 && status != 404 && status != 409 {
				t.Errorf("the answers are %v", counts)
			}
		}
		s.want(s.verifyHash("email", m.TokenHash), 403, "otp_expired")
		if n := s.count(`select count(*) from auth.sessions s left join auth.users u on u.id = s.user_id where u.id is null or u.deleted_at is not null`); n != 0 {
			t.Errorf("there are %d sessions of nobody", n)
		}
	}
}

func TestMessagesAreAskedForAtTheSameMoment(t *testing.T) {
	s, p := mailing(t, linkOptions())
	email := address()
	s.want(s.say("/signup", `{"email":%q,"password":%q}`, email, goodPassword), 200, "")
	for _, body := range []string{`/resend {"type":"signup","email":%q}`, `/otp {"email":%q}`, `/recover {"email":%q}`, `/otp {"email":"new-%s"}`} {
		var path, format string
		if _, err := fmt.Sscanf(body, "%s", &path); err != nil {
			t.Fatal(err)
		}
		format = body[len(path)+1:]
		if counts := atOnce(12, func(int) answer { return s.say(path, format, email) }); counts[200] != 12 {
			t.Errorf("%s is answered %v", path, counts)
		}
	}
	if n := s.count(`select count(*) from auth.users`); n != 2 {
		t.Errorf("there are %d accounts", n)
	}
	good := 0
	for _, m := range p.mails {
		if a := s.verifyHash("email", m.TokenHash); a.status == 200 {
			good++
		} else {
			s.want(a, 403, "otp_expired")
		}
	}
	// The first use confirms the account, which makes its other tokens void.
	if good != 2 {
		t.Errorf("%d tokens are good", good)
	}
}

// With the limits on, many who ask at once get one mail.
func TestOneOfManyGetsTheMail(t *testing.T) {
	o := linkOptions()
	o.LimitsOff = false
	s, p := mailing(t, o)
	if counts := atOnce(15, func(int) answer { return s.say("/otp", `{"email":"a@example.com"}`) }); counts[200] != 1 || counts[429] != 14 {
		t.Errorf("the answers are %v", counts)
	}
	if p.sent() != 1 {
		t.Errorf("%d mails are sent", p.sent())
	}
}
