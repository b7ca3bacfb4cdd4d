package accounts_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"basalt/auth"
)

// tally counts the answers to many requests that are made at once; a refusal for their number must say when to come again.
func (s *server) tally(n int, ask func(i int) answer) map[int]int {
	s.t.Helper()
	counts := map[int]int{}
	var mu sync.Mutex
	var group sync.WaitGroup
	for worker := range 20 {
		group.Go(func() {
			for i := worker; i < n; i += 20 {
				a := ask(i)
				mu.Lock()
				counts[a.status]++
				mu.Unlock()
				if (a.status == http.StatusTooManyRequests) != (a.header.Get("Retry-After") != "") {
					s.t.Errorf("%d has the Retry-After %q", a.status, a.header.Get("Retry-After"))
				}
			}
		})
	}
	group.Wait()
	return counts
}

// besieged is two servers over one database, with limits, and an account with a session from 192.0.2.1.
func besieged(t *testing.T) (on func(i int) *server, email string) {
	t.Helper()
	o := options()
	s := start(t, o)
	o.LimitsOff = false
	first, second := startOver(t, s.db, o), startOver(t, s.db, o)
	email = address()
	s.signUp(email)
	s.db.Exec(t, `update auth.sessions set ip = '192.0.2.1'`)
	return func(i int) *server { return []*server{first, second}[i%2] }, email
}

func TestGuessesAtOneAccountFromEverywhereComeToAnEnd(t *testing.T) {
	on, email := besieged(t)
	counts := on(0).tally(1000, func(i int) answer {
		return on(i).signIn(email, "Wrong-pass-1", "X-Forwarded-For", fmt.Sprintf("203.0.%d.%d", 112+i/250, i%250+1))
	})
	if counts[400] != 50 || counts[429] != 950 {
		t.Errorf("the answers are %v", counts)
	}
	on(0).want(on(0).signIn(email, goodPassword, "X-Forwarded-For", "203.0.112.1"), 429, "over_request_rate_limit")
	// The owner comes in from where they were before.
	for i := range 2 {
		on(i).want(on(i).signIn(email, goodPassword, "X-Forwarded-For", "192.0.2.1"), 200, "")
	}
}

// Devices change their addresses within a network of IPv6: who is at home there is at home in all of it.
func TestASiegeDoesNotBindTheNetworkThatAnAccountIsKnownIn(t *testing.T) {
	on, email := besieged(t)
	s := on(0)
	s.db.Exec(t, `update auth.sessions set ip = '2001:db8:0:7::1'`)
	counts := s.tally(60, func(i int) answer {
		return s.signIn(email, "Wrong-pass-1", "X-Forwarded-For", fmt.Sprintf("203.0.113.%d", i+1))
	})
	if counts[400] != 50 || counts[429] != 10 {
		t.Fatalf("the answers are %v", counts)
	}
	s.want(s.signIn(email, goodPassword, "X-Forwarded-For", "2001:db8:0:8::1"), 429, "over_request_rate_limit")
	s.want(s.signIn(email, goodPassword, "X-Forwarded-For", "2001:db8:0:7:8:9:a:b"), 200, "")

	s.tally(10, func(i int) answer { return s.verifyFrom(fmt.Sprintf("203.0.113.%d", i+1), email, "000000") })
	s.want(s.verifyFrom("2001:db8:0:8::1", email, "000000"), 429, "over_request_rate_limit")
	s.want(s.verifyFrom("2001:db8:0:7:c::d", email, "000000"), 403, "otp_expired")
}

func TestGuessesAtManyAccountsFromOneNetworkComeToAnEnd(t *testing.T) {
	on, email := besieged(t)
	for name, from := range map[string]func(i int) string{
		"one address":                  func(int) string { return "198.51.100.1" },
		"the addresses of one network": func(i int) string { return fmt.Sprintf("2001:db8:0:7:%x::%x", i, i+1) },
	} {
		counts := on(0).tally(1000, func(i int) answer {
			return on(i).signIn(fmt.Sprintf("user-%d@example.com", i), "Wrong-pass-1", "X-Forwarded-For", from(i))
		})
		if counts[400] != 150 || counts[429] != 850 {
			t.Errorf("%s: the answers are %v", name, counts)
		}
		on(0).want(on(0).signIn(email, goodPassword, "X-Forwarded-For", from(3)), 429, "over_request_rate_limit")
	}
	on(0).want(on(0).signIn(email, goodPassword, "X-Forwarded-For", "2001:db8:0:8::1"), 200, "")
}

func TestGuessesAtOneCodeComeToAnEnd(t *testing.T) {
	o := linkOptions()
	o.LimitsOff = false
	s, p := mailing(t, o)
	second := startOver(t, s.db, o)
	s.want(s.say("/otp", `{"email":"a@example.com"}`), 200, "")
	m := p.last(t, auth.MailConfirmation, "a@example.com")
	counts := s.tally(1000, func(i int) answer {
		on := []*server{s, second}[i%2]
		return on.verifyFrom(fmt.Sprintf("203.0.%d.%d", 112+i/250, i%250+1), "a@example.com", wrong(m.Token))
	})
	if counts[403] != 5 || counts[429] != 995 {
		t.Errorf("the answers are %v", counts)
	}
	s.want(s.verifyHash("signup", m.TokenHash), 200, "")
}
