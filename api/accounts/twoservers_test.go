package accounts_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"testing"

	"basalt/auth"
)

// twins are two servers over one database, as several processes are.
func twins(t *testing.T, o auth.Options) (on func(i int) *server, p *post) {
	t.Helper()
	s, p := mailing(t, o)
	o.Outbound = p
	second := startOver(t, s.db, o)
	return func(i int) *server { return []*server{s, second}[i%2] }, p
}

func TestOneAddressInManyFormsIsOneAccountOfTwoServers(t *testing.T) {
	spellings := []string{"Zo\u00eb@example.com", "ZOE\u0308@Example.com", " zo\u00eb@EXAMPLE.com", "\uff5ao\u00eb@example.com"}
	for name, autoconfirm := range map[string]bool{"good at once": true, "to be confirmed": false} {
		t.Run(name, func(t *testing.T) {
			o := linkOptions()
			o.Autoconfirm = autoconfirm
			on, _ := twins(t, o)
			counts := atOnce(48, func(i int) answer {
				return on(i).say("/signup", `{"email":%q,"password":%q}`, spellings[i/2%len(spellings)], goodPassword)
			})
			want := map[int]int{http.StatusOK: 48}
			if autoconfirm {
				want = map[int]int{http.StatusOK: 1, http.StatusUnprocessableEntity: 47}
			}
			if fmt.Sprint(counts) != fmt.Sprint(want) {
				t.Errorf("the answers are %v", counts)
			}
			for _, table := range []string{"users", "identities"} {
				if n := on(0).count(`select count(*) from auth.` + table); n != 1 {
					t.Errorf("auth.%s has %d rows", table, n)
				}
			}
		})
	}
}

func TestWhatIsGoodOnceIsGoodOnceForTwoServers(t *testing.T) {
	on, p := twins(t, linkOptions())
	s := on(0)
	once := func(t *testing.T, n int, act func(i int) answer) {
		t.Helper()
		if counts := atOnce(n, act); counts[200] != 1 || counts[200]+counts[400]+counts[403]+counts[404]+counts[422] != n {
			t.Errorf("the answers are %v", counts)
		}
	}
	t.Run("a code of an app", func(t *testing.T) {
		const verifier = "a-verifier-of-forty-three-characters-or-more"
		digest := sha256.Sum256([]byte(verifier))
		email := address()
		s.confirmed(email)
		s.want(s.say("/otp", `{"email":%q,"code_challenge":%q,"code_challenge_method":"s256"}`, email, base64.RawURLEncoding.EncodeToString(digest[:])), 200, "")
		_, query, _ := s.led(s.follow(p.last(t, auth.MailMagicLink, email).Link))
		once(t, 40, func(i int) answer {
			return on(i).call("POST", "/token?grant_type=pkce", s.keys.AnonKey, fmt.Sprintf(`{"auth_code":%q,"code_verifier":%q}`, query.Get("code"), verifier))
		})
	})
	t.Run("an invitation", func(t *testing.T) {
		email := address()
		s.want(s.call("POST", "/invite", s.keys.ServiceKey.Reveal(), fmt.Sprintf(`{"email":%q}`, email)), 200, "")
		hash := p.last(t, auth.MailInvite, email).TokenHash
		once(t, 40, func(i int) answer { return on(i).verifyHash("invite", hash) })
	})
	t.Run("a recovery code", func(t *testing.T) {
		email := address()
		a := s.confirmed(email)
		u := &factorUser{server: s, email: email, access: a.str("access_token"), refresh: a.str("refresh_token")}
		u.prove(u.enroll("app"))
		code := s.want(u.do("POST", "/factors/recovery-codes", ""), 200, "").str("codes.0")
		plain := u.again(s).access
		once(t, 20, func(i int) answer {
			return on(i).call("POST", "/factors/recovery-codes/verify", plain, fmt.Sprintf(`{"code":%q}`, code))
		})
	})
	t.Run("the removal of the last factor", func(t *testing.T) {
		email := address()
		a := s.confirmed(email)
		u := &factorUser{server: s, email: email, access: a.str("access_token"), refresh: a.str("refresh_token")}
		f := u.enroll("app")
		u.prove(f)
		once(t, 40, func(i int) answer { return on(i).call("DELETE", "/factors/"+f.id, u.access, "") })
		if n := s.count(`select count(*) from auth.mfa_factors f join auth.users u on u.id = f.user_id where u.email = $1`, email); n != 0 {
			t.Errorf("%d factors are left", n)
		}
	})
}
