package accounts_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"basalt/auth"
)

// auditing runs accounts with the writer of the audit log.
func auditing(t *testing.T, o auth.Options) *server {
	t.Helper()
	s := start(t, o)
	s.writeAudit()
	return s
}

// writeAudit writes the entries of the service until the test ends. It gives what ends it at once.
func (s *server) writeAudit() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.service.RunAudit(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			s.t.Error(err)
		}
	})
	s.t.Cleanup(stop)
	return stop
}

// audit asks for entries of the audit log.
func (s *server) audit(query string) []answer {
	s.t.Helper()
	a := s.want(s.admin("GET", "/audit?per_page=1000&query="+url.QueryEscape(query), ""), 200, "")
	var raw []json.RawMessage
	if err := json.Unmarshal([]byte(a.text), &raw); err != nil {
		s.t.Fatal(err)
	}
	entries := make([]answer, len(raw))
	for i, text := range raw {
		entries[i] = answer{text: string(text)}
	}
	return entries
}

// actions gives what the audit log tells of, oldest first.
func (s *server) actions() []string {
	s.t.Helper()
	var actions []string
	for _, e := range s.audit("") {
		actions = append(actions, e.str("payload.action"))
	}
	slices.Reverse(actions)
	return actions
}

func TestTheAuditLogTellsWhatHappened(t *testing.T) {
	s := auditing(t, options())
	email := address()
	a := s.signUp(email)
	id, access := a.str("user.id"), a.str("access_token")
	in := s.want(s.call("POST", "/token?grant_type=password", s.keys.AnonKey, fmt.Sprintf(`{"email":%q,"password":%q}`, email, goodPassword),
		"X-Forwarded-For", "192.0.2.9"), 200, "")
	s.want(s.signIn(email, "not the password"), 400, "invalid_credentials")
	s.want(s.refresh(in.str("refresh_token")), 200, "")
	s.want(s.call("PUT", "/user", access, `{"data":{"full_name":"Ann \u0007 \u001b[31m\r\nfake entry"}}`), 200, "")
	s.want(s.call("PUT", "/user", access, `{"password":"Another-pass-2"}`), 200, "")
	s.want(s.call("POST", "/logout", access, ""), 204, "")
	s.want(s.admin("PUT", "/users/"+id, `{"user_metadata":{"a":1}}`), 200, "")
	made := s.want(s.admin("POST", "/users", fmt.Sprintf(`{"email":%q}`, address())), 200, "")
	s.want(s.admin("DELETE", "/users/"+made.str("id"), ""), 200, "")
	s.want(s.admin("DELETE", "/users/"+made.str("id"), ""), 404, "user_not_found")
	want := []string{
		"user_signedup", "login", "login", "token_refreshed", "user_modified", "user_updated_password", "user_modified",
		"logout", "user_modified", "user_signedup", "user_deleted",
	}
	// Those of one transaction have one time, and no order.
	if got := s.actions(); !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))) {
		t.Errorf("the log tells of %v", got)
	}
	var login answer
	for _, e := range s.audit("action:login") {
		if e.str("ip_address") == "192.0.2.9" {
			login = e
		}
	}
	if login.str("payload.actor_id") != id || login.str("payload.actor_username") != email || login.str("payload.log_type") != "account" ||
		login.str("payload.traits.provider") != "email" || login.get("payload.actor_via_sso") != false || login.str("id") == "" ||
		!strings.HasSuffix(login.str("created_at"), "Z") {
		t.Errorf("the sign-in is %s", login.text)
	}
	deleted := s.audit("action:user_deleted")
	if len(deleted) != 1 || deleted[0].str("payload.actor_username") != "service_role" || deleted[0].str("payload.traits.user_id") != made.str("id") ||
		deleted[0].str("payload.traits.user_email") != made.str("email") {
		t.Errorf("the deletion is %v", deleted)
	}
	for _, e := range s.audit("") {
		for _, c := range []string{"\r", "\n", "\x1b", "\a"} {
			if strings.Contains(e.text, c) {
				t.Errorf("an entry holds %q: %s", c, e.text)
			}
		}
		for _, secret := range []string{goodPassword, "Another-pass-2", access, a.str("refresh_token"), in.str("refresh_token")} {
			if strings.Contains(e.text, secret) {
				t.Errorf("an entry holds a secret: %s", e.text)
			}
		}
	}
}

func TestTheAuditLogIsSearched(t *testing.T) {
	s := auditing(t, options())
	ann, bob := "ann-"+address(), "bob_"+address()
	s.signUp(ann)
	s.signUp(bob)
	for _, test := range []struct {
		query string
		found int
	}{
		{"", 4},
		{"author:" + ann, 2},
		{"author:ANN-", 2},
		{"author:b_b", 0},
		{"author:bob_", 2},
		{"author:%", 0},
		{"author:nobody", 0},
		{"author:", 4},
		{"action:login", 2},
		{"action:user_signedup", 2},
		{"type:account", 2},
		{"type:team", 2},
		{`type:\`, 0},
		{"action:' or true --", 0},
	} {
		if found := s.audit(test.query); len(found) != test.found {
			t.Errorf("%q finds %d", test.query, len(found))
		}
	}
	for _, query := range []string{"login", "payload:x", ":", "author", "author:\x00", "author:\xff"} {
		s.want(s.admin("GET", "/audit?query="+url.QueryEscape(query), ""), 400, "validation_failed")
	}
	s.want(s.admin("GET", "/audit?page=0", ""), 400, "validation_failed")
	s.want(s.call("GET", "/admin/audit", s.keys.AnonKey, ""), 403, "not_admin")
	page := s.want(s.admin("GET", "/audit?per_page=3&page=2", ""), 200, "")
	if page.header.Get("X-Total-Count") != "4" || page.get("0.id") == nil || page.get("1") != nil {
		t.Errorf("the second page is %s %s", page.header.Get("X-Total-Count"), page.text)
	}
	if newest := s.audit(""); newest[0].str("payload.actor_username") != bob {
		t.Errorf("the newest is %s", newest[0].text)
	}
	s.db.Exec(t, "insert into auth.audit_log_entries (id) values (gen_random_uuid())")
	if odd := s.audit(""); len(odd) != 5 || odd[4].get("payload") != nil {
		t.Errorf("an empty entry is %v", odd)
	}
}

func TestEntriesThatHaveNoTransactionFollow(t *testing.T) {
	s := auditing(t, options())
	u := s.newFactorUser()
	f := u.enroll("phone app")
	u.prove(f)
	s.until("they are there", func() bool { return len(s.audit("type:factor")) == 3 })
	var actions []string
	for _, e := range s.audit("type:factor") {
		actions = append(actions, e.str("payload.action"))
		if e.str("payload.actor_username") != u.email || strings.Contains(e.text, f.secret) {
			t.Errorf("an entry is %s", e.text)
		}
	}
	slices.Sort(actions)
	if want := []string{"challenge_created", "factor_in_progress", "verification_attempted"}; !slices.Equal(actions, want) {
		t.Errorf("the log tells of %v", actions)
	}
}

func TestEntriesThatWaitAreWrittenAtTheEnd(t *testing.T) {
	s := start(t, options())
	u := s.newFactorUser()
	u.enroll("phone app")
	if n := len(s.audit("type:factor")); n != 0 {
		t.Errorf("%d entries are there already", n)
	}
	stop := s.writeAudit()
	stop()
	if n := len(s.audit("type:factor")); n != 1 {
		t.Errorf("%d entries are written", n)
	}
}

func TestEntriesAreWrittenWhenTheirTableComesBack(t *testing.T) {
	s := start(t, options())
	u := s.newFactorUser()
	u.enroll("phone app")
	s.db.Exec(t, "alter table auth.audit_log_entries rename to away")
	s.writeAudit()
	s.db.Exec(t, "alter table auth.away rename to audit_log_entries")
	s.until("the entry is there", func() bool { return len(s.audit("type:factor")) == 1 })
}

func TestAnAuditLogThatIsOff(t *testing.T) {
	o := options()
	o.Audit.Off = true
	s := auditing(t, o)
	u := s.newFactorUser()
	u.enroll("phone app")
	s.want(s.signIn(u.email, goodPassword), 200, "")
	s.want(s.refresh(u.refresh), 200, "")
	s.want(s.call("POST", "/logout", u.access, ""), 204, "")
	if n := s.count("select count(*) from auth.audit_log_entries"); n != 0 {
		t.Errorf("%d entries", n)
	}
}

func TestOldEntriesGo(t *testing.T) {
	o := options()
	o.Audit.Retention = time.Hour
	s := start(t, o)
	s.signUp(address())
	s.db.Exec(t, `
insert into auth.audit_log_entries (id, payload, created_at)
select gen_random_uuid(), '{}', now() - interval '1 hour' - n * interval '1 second'
from generate_series(1, 2500) n`)
	s.writeAudit()
	s.until("they are gone", func() bool { return s.count("select count(*) from auth.audit_log_entries") == 2 })
}

func TestARefusedSignInLeavesNoEntry(t *testing.T) {
	s := auditing(t, options())
	a := s.signUp(address())
	email := a.str("user.email")
	before := len(s.audit("action:login"))
	s.want(s.admin("PUT", "/users/"+a.str("user.id"), `{"ban_duration":"1h"}`), 200, "")
	s.want(s.signIn(email, goodPassword), 400, "user_banned")
	s.want(s.refresh(a.str("refresh_token")), 400, "user_banned")
	s.want(s.signIn(address(), goodPassword), 400, "invalid_credentials")
	if n := len(s.audit("action:login")); n != before || len(s.audit("action:token_refreshed")) != 0 {
		t.Errorf("%d sign-ins, not %d", n, before)
	}
}

func TestManyRefreshesOfOneTokenAreOneEntry(t *testing.T) {
	s := auditing(t, options())
	a := s.signUp(address())
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() { s.refresh(a.str("refresh_token")) })
	}
	all.Wait()
	if n := len(s.audit("action:token_refreshed")); n != 1 {
		t.Errorf("%d entries", n)
	}
}
