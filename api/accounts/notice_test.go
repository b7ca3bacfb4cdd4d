package accounts_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/rs/zerolog"

	"basalt/auth"
	"basalt/auth/outbox"
	"basalt/auth/seal"
	"basalt/store/storetest"
)

// told gives what an address was told of, oldest first, and forgets it.
func (p *post) told(to string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []string
	for _, m := range p.mails {
		if m.To == to && slices.Contains(auth.Notifications(), m.Kind) {
			all = append(all, fmt.Sprintf("%s %s%s", m.Kind, m.FactorType, m.Provider))
		}
	}
	p.mails = nil
	return all
}

func wantTold(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("told of %q, not of %q", got, want)
	}
}

func TestUsersAreToldOfTheirFactors(t *testing.T) {
	p := &post{}
	o := options()
	o.Outbound, o.Notify = p, auth.Notifications()
	s := start(t, o)
	u := s.newFactorUser()
	f := u.enroll("phone app")
	wantTold(t, p.told(u.email)) // it is not proved
	u.prove(f)
	wantTold(t, p.told(u.email), "mfa_factor_enrolled_notification totp")
	u.prove(f)
	wantTold(t, p.told(u.email))
	u.want(u.do("POST", "/factors/recovery-codes", ""), 200, "")
	wantTold(t, p.told(u.email), "mfa_factor_enrolled_notification recovery_code")
	u.want(u.do("DELETE", "/factors/recovery-codes", ""), 200, "")
	wantTold(t, p.told(u.email), "mfa_factor_unenrolled_notification recovery_code")
	other := u.enroll("never proved")
	u.want(u.do("DELETE", "/factors/"+other.id, ""), 200, "")
	wantTold(t, p.told(u.email))
	u.want(u.do("DELETE", "/factors/"+f.id, ""), 200, "")
	wantTold(t, p.told(u.email), "mfa_factor_unenrolled_notification totp")
}

func TestUsersAreToldOfTheirIdentities(t *testing.T) {
	p := &post{}
	v := startWithOpenID(t, func(o *auth.Options) { o.Outbound, o.Notify = p, auth.Notifications() })
	v.want(v.admin("POST", "/users", fmt.Sprintf(`{"email":"own@example.com","password":%q,"email_confirm":true}`, goodPassword)), http.StatusOK, "")
	token := v.signIn("own@example.com", goodPassword).str("access_token")
	v.openID.Is(openIDUser, "other@example.com", true)
	a := v.want(v.call("GET", "/user/identities/authorize?provider=keycloak&skip_http_redirect=true", token, ""), http.StatusOK, "")
	b := v.browser()
	b.arrive(b.consent(a.str("url"), openIDUser))
	wantTold(t, p.told("own@example.com"), "identity_linked_notification keycloak")
	u := v.call("GET", "/user", token, "")
	for i := range 2 {
		if identity := fmt.Sprintf("identities.%d.", i); u.str(identity+"provider") == "keycloak" {
			v.want(v.call("DELETE", "/user/identities/"+u.str(identity+"identity_id"), token, ""), http.StatusOK, "")
		}
	}
	wantTold(t, p.told("own@example.com"), "identity_unlinked_notification keycloak")
}

func TestNobodyIsToldWhereThatIsOff(t *testing.T) {
	p := &post{}
	o := options()
	o.Outbound, o.Notify = p, []auth.MailKind{auth.MailPasswordChanged}
	s := start(t, o)
	u, _ := s.protected()
	wantTold(t, p.told(u.email))
	u.want(u.do("PUT", "/user", `{"password":"Another-pass-2"}`), 200, "")
	wantTold(t, p.told(u.email), "password_changed_notification ")
}

type never struct{}

func (never) Deliver(context.Context, *outbox.Message) error { return errors.New("not now") }

func TestAFullOutboxRefusesWhatWouldSend(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	o := linkOptions()
	o.Outbound = outbox.New(db.Pool, outbox.Options{
		Mail: never{}, SMS: never{}, Most: 1, Log: zerolog.Nop(),
		Keys: func() (seal.Ring, error) { return seal.Ring{seal.Derive("a secret of the tests", "outbox")}, nil },
	})
	s := startOver(t, db, o)
	s.signUp("first@example.com")
	s.want(s.admin("POST", "/users", `{"email":"known@example.com","email_confirm":true}`), 200, "")
	for name, c := range map[string]struct{ path, body string }{
		"a sign-up":                          {"/signup", fmt.Sprintf(`{"email":"second@example.com","password":%q}`, goodPassword)},
		"a recovery of a known address":      {"/recover", `{"email":"known@example.com"}`},
		"a recovery of an unknown address":   {"/recover", `{"email":"unknown@example.com"}`},
		"a magic link":                       {"/otp", `{"email":"known@example.com"}`},
		"a magic link that makes an account": {"/otp", `{"email":"third@example.com"}`},
	} {
		a := s.want(s.call("POST", c.path, s.keys.AnonKey, c.body), 429, "over_email_send_rate_limit")
		if a.header.Get("Retry-After") == "" {
			t.Errorf("%s is not told when to come again", name)
		}
	}
	if n := s.count(`select count(*) from auth.users`); n != 2 {
		t.Errorf("%d accounts are there, not 2: what was refused has left something", n)
	}
	if n := s.count(`select count(*) from auth.one_time_tokens`); n != 1 {
		t.Errorf("%d tokens are there, not 1", n)
	}
}
