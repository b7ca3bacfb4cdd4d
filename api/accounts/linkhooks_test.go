package accounts_test

import (
	"fmt"
	"testing"

	"basalt/auth"
	"basalt/auth/hook"
	"basalt/auth/outbox"
	"basalt/auth/seal"
	"basalt/store/storetest"
)

func TestTheHookBeforeAnAccountIsMadeByALink(t *testing.T) {
	p := &post{}
	s := startWithHooks(t, `
create function public.before(event jsonb) returns jsonb language sql as $$
  select case
    when event#>>'{user,email}' like '%@example.com' then '{}'::jsonb
    else '{"error":{"http_code":403,"message":"by invitation only"}}'
  end
$$;`, func(h *auth.Hooks) { h.BeforeUserCreated = functionHook(t, hook.BeforeUserCreated, "before") }, func(o *auth.Options) {
		o.Autoconfirm, o.Links, o.Outbound = false, linkOptions().Links, p
	})
	s.want(s.say("/otp", `{"email":"a@elsewhere.example"}`), 403, "unknown")
	s.want(s.say("/otp", `{"phone":"4915123456789"}`), 403, "unknown")
	s.want(s.call("POST", "/invite", s.keys.ServiceKey.Reveal(), `{"email":"a@elsewhere.example"}`), 403, "unknown")
	s.want(s.admin("POST", "/generate_link", `{"type":"magiclink","email":"a@elsewhere.example"}`), 403, "unknown")
	if n := s.count(`select count(*) from auth.users`); n != 0 || p.sent() != 0 {
		t.Errorf("there are %d accounts and %d messages", n, p.sent())
	}
	s.want(s.say("/otp", `{"email":"a@example.com"}`), 200, "")
	s.db.Exec(t, `update auth.users set email = 'old@elsewhere.example', email_confirmed_at = now()`)
	s.want(s.say("/otp", `{"email":"old@elsewhere.example"}`), 200, "")
	s.want(s.verifyCode("email", "old@elsewhere.example", p.last(t, auth.MailMagicLink, "old@elsewhere.example").Token), 200, "")
}

func TestTheHookAfterAnAccountIsMadeByALinkIsToldOnce(t *testing.T) {
	server := newHookServer(t)
	p := &post{}
	s := startWithHooks(t, "", func(h *auth.Hooks) { h.AfterUserCreated = server.hook(hook.AfterUserCreated) }, func(o *auth.Options) {
		o.Autoconfirm, o.Links, o.Outbound = false, linkOptions().Links, p
	})
	told := func(want int) {
		t.Helper()
		if _, n := server.last(); n != want {
			t.Errorf("the hook is told %d times, not %d", n, want)
		}
	}
	for range 2 {
		s.want(s.say("/otp", `{"email":"a@example.com"}`), 200, "")
		told(1)
	}
	for range 2 {
		s.want(s.say("/signup", `{"email":"b@example.com","password":%q}`, goodPassword), 200, "")
		told(2)
	}
	for range 2 {
		s.want(s.call("POST", "/invite", s.keys.ServiceKey.Reveal(), `{"email":"c@example.com"}`), 200, "")
		told(3)
	}
	s.want(s.verifyHash("invite", p.last(t, auth.MailInvite, "c@example.com").TokenHash), 200, "")
	told(3)
}

func TestTheHookOfTokensHasItsSayAboutLinks(t *testing.T) {
	server := newHookServer(t)
	server.answer(func(payload string) string {
		said := answer{text: payload}
		if said.str("authentication_method") != "otp" {
			t.Errorf("the method is %s", said.str("authentication_method"))
		}
		if said.str("claims.email") == "blocked@example.com" {
			return `{"error":{"http_code":403,"message":"you are blocked"}}`
		}
		return fmt.Sprintf(`{"claims":%s}`, object(t, payload, "claims"))
	})
	p := &post{}
	s := startWithHooks(t, "", func(h *auth.Hooks) { h.CustomAccessToken = server.hook(hook.CustomAccessToken) }, func(o *auth.Options) {
		o.Autoconfirm, o.Links, o.Outbound = false, linkOptions().Links, p
	})
	for email, status := range map[string]int{"a@example.com": 200, "blocked@example.com": 403} {
		s.want(s.say("/otp", `{"email":%q}`, email), 200, "")
		if a := s.verifyCode("email", email, p.last(t, auth.MailConfirmation, email).Token); a.status != status || (status == 200) != (a.str("access_token") != "") {
			t.Errorf("%s is answered %d %s", email, a.status, a.text)
		}
	}
	if n := s.count(`select count(*) from auth.sessions`); n != 1 {
		t.Errorf("there are %d sessions", n)
	}
}

// What the database refuses is not mailed either, and what it takes is.
func TestAMessageIsQueuedWithWhatItIsAbout(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	o := linkOptions()
	o.Outbound = outbox.New(db.Pool, outbox.Options{Keys: func() (seal.Ring, error) { return seal.Ring{seal.Derive("a secret of the tests", "outbox")}, nil }})
	s := startOver(t, db, o)
	db.Exec(t, `
		create function public.refuse() returns trigger language plpgsql as $$
		begin
			if new.email like 'refused%' then
				raise exception 'not here';
			end if;
			return new;
		end $$;
		create trigger refuse before insert or update on auth.users for each row execute function public.refuse();`)
	s.want(s.say("/otp", `{"email":"refused@example.com"}`), 500, "unexpected_failure")
	s.want(s.say("/signup", `{"email":"refused2@example.com","password":%q}`, goodPassword), 500, "unexpected_failure")
	s.want(s.call("POST", "/invite", s.keys.ServiceKey.Reveal(), `{"email":"refused3@example.com"}`), 500, "unexpected_failure")
	if n := s.count(`select (select count(*) from basalt.outbox) + (select count(*) from auth.users) + (select count(*) from auth.one_time_tokens)`); n != 0 {
		t.Errorf("%d rows are left", n)
	}
	s.want(s.say("/otp", `{"email":"a@example.com"}`), 200, "")
	s.want(s.say("/signup", `{"email":"b@example.com","password":%q}`, goodPassword), 200, "")
	s.want(s.say("/recover", `{"email":"nobody@example.com"}`), 200, "")
	if n := s.count(`select count(*) from basalt.outbox o join auth.users u on u.id = o.user_id`); n != 2 {
		t.Errorf("%d messages are queued", n)
	}
}
