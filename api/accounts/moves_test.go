package accounts_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"basalt/auth"
)

// confirmed makes an account with a confirmed address and gives its session.
func (s *server) confirmed(email string) answer {
	s.t.Helper()
	s.want(s.admin("POST", "/users", fmt.Sprintf(`{"email":%q,"password":%q,"email_confirm":true}`, email, goodPassword)), 200, "")
	return s.want(s.signIn(email, goodPassword), 200, "")
}

func TestBothAddressesConfirmAChange(t *testing.T) {
	for name, first := range map[string]string{"the old one first": "old", "the new one first": "new"} {
		t.Run(name, func(t *testing.T) {
			o := linkOptions()
			o.Notify = auth.Notifications()
			s, p := mailing(t, o)
			session := s.confirmed("old@example.com")
			a := s.want(s.call("PUT", "/user", session.str("access_token"), `{"email":"New@example.com","data":{"a":1}}`), 200, "")
			if a.str("email") != "old@example.com" || a.str("new_email") != "new@example.com" || a.str("email_change_sent_at") == "" || a.get("user_metadata.a") != 1.0 {
				t.Errorf("the user is %s", a.text)
			}
			m := p.last(t, auth.MailEmailChange, "old@example.com")
			if m.NewEmail != "new@example.com" || m.LinkNew == "" || m.LinkNew == m.Link || m.TokenHashNew == m.TokenHash {
				t.Fatalf("the mail does not ask both addresses")
			}
			halves := map[string]func() answer{
				"old": func() answer { return s.verifyCode("email_change", "old@example.com", m.Token) },
				"new": func() answer { return s.verifyHash("email_change", m.TokenHashNew) },
			}
			half := s.want(halves[first](), 200, "")
			if half.str("msg") != auth.SingleConfirmation || half.str("code") != "200" || half.get("access_token") != nil {
				t.Errorf("the first confirmation is answered %s", half.text)
			}
			s.want(halves[first](), 403, "otp_expired")
			s.want(s.signIn("new@example.com", goodPassword), 400, "invalid_credentials")
			delete(halves, first)
			for _, other := range halves {
				whole := s.want(other(), 200, "")
				if whole.str("user.email") != "new@example.com" || whole.get("user.new_email") != nil || whole.str("user.identities.0.email") != "new@example.com" ||
					whole.str("user.user_metadata.email") != "new@example.com" {
					t.Errorf("the user is %s", whole.text)
				}
				s.want(other(), 403, "otp_expired")
			}
			s.want(s.signIn("new@example.com", goodPassword), 200, "")
			s.want(s.signIn("old@example.com", goodPassword), 400, "invalid_credentials")
			if told := p.last(t, auth.MailEmailChanged, "old@example.com"); told.Email != "new@example.com" || told.OldEmail != "old@example.com" {
				t.Error("the old address is told of another change")
			}
		})
	}
}

func TestAChangeEndsInACodeForTheAppThatAskedForIt(t *testing.T) {
	const verifier = "a-verifier-of-forty-three-characters-or-more"
	digest := sha256.Sum256([]byte(verifier))
	s, p := mailing(t, linkOptions())
	session := s.confirmed("old@example.com")
	s.want(s.call("PUT", "/user", session.str("access_token"), fmt.Sprintf(`{"email":"new@example.com","code_challenge":%q,"code_challenge_method":"s256"}`,
		base64.RawURLEncoding.EncodeToString(digest[:]))), 200, "")
	m := p.last(t, auth.MailEmailChange, "old@example.com")
	if _, query, fragment := s.led(s.follow(m.LinkNew)); query.Get("message") != auth.SingleConfirmation || fragment.Get("message") != auth.SingleConfirmation {
		t.Errorf("the first link gives %v and %v", query, fragment)
	}
	_, query, fragment := s.led(s.follow(m.Link))
	if query.Get("code") == "" || len(fragment) > 0 {
		t.Fatalf("the second link gives %v and %v", query, fragment)
	}
	a := s.want(s.say("/token?grant_type=pkce", `{"auth_code":%q,"code_verifier":%q}`, query.Get("code"), verifier), 200, "")
	if methods, _ := claimsOf(t, a.str("access_token"))["amr"].([]any); len(methods) != 1 || methods[0].(map[string]any)["method"] != "email_change" || a.str("user.email") != "new@example.com" {
		t.Errorf("the session is %s", a.text)
	}
}

// Whoever can still read what was sent before must not get in by it after the way in was changed.
func TestAChangeMakesWhatWasSentBeforeItVoid(t *testing.T) {
	o := linkOptions()
	o.Links.OneSidedEmailChange = true
	for name, change := range map[string]func(*server, *post, answer){
		"a password": func(s *server, _ *post, session answer) {
			s.want(s.call("PUT", "/user", session.str("access_token"), `{"password":"Another-pass-1"}`), 200, "")
		},
		"an address": func(s *server, p *post, session answer) {
			s.want(s.call("PUT", "/user", session.str("access_token"), `{"email":"new@example.com"}`), 200, "")
			s.want(s.verifyHash("email_change", p.last(t, auth.MailEmailChange, "new@example.com").TokenHash), 200, "")
		},
		"a number": func(s *server, p *post, session answer) {
			s.want(s.call("PUT", "/user", session.str("access_token"), `{"phone":"4915111111111"}`), 200, "")
			s.want(s.verifyText("phone_change", "4915111111111", p.text(t, "4915111111111").Code), 200, "")
		},
		"a password by an administrator": func(s *server, _ *post, session answer) {
			s.want(s.admin("PUT", "/users/"+session.str("user.id"), `{"password":"Another-pass-1"}`), 200, "")
		},
		"an address by an administrator": func(s *server, _ *post, session answer) {
			s.want(s.admin("PUT", "/users/"+session.str("user.id"), `{"email":"new@example.com"}`), 200, "")
		},
		"a number by an administrator": func(s *server, _ *post, session answer) {
			s.want(s.admin("PUT", "/users/"+session.str("user.id"), `{"phone":"4915111111111"}`), 200, "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, p := mailing(t, o)
			session := s.confirmed("old@example.com")
			s.want(s.say("/recover", `{"email":"old@example.com"}`), 200, "")
			s.want(s.call("GET", "/reauthenticate", session.str("access_token"), ""), 200, "")
			sent := p.last(t, auth.MailRecovery, "old@example.com")
			change(s, p, session)
			s.want(s.verifyHash("recovery", sent.TokenHash), 403, "otp_expired")
			s.want(s.verifyCode("recovery", "old@example.com", sent.Token), 403, "otp_expired")
			if n := s.count(`
				select (select count(*) from auth.one_time_tokens) + (
					select count(*)
					from auth.users
					where recovery_token <> '' or reauthentication_token <> '' or email_change_token_new <> '' or phone_change_token <> ''
				)`); n != 0 {
				t.Errorf("%d tokens are left", n)
			}
		})
	}
}

// Whoever had a session for a while may have asked for another address. Anybody can have its messages sent again.
func TestANewPasswordGivesUpAddressesThatWait(t *testing.T) {
	o := linkOptions()
	o.Links.OneSidedEmailChange = true
	for name, change := range map[string]func(*server, answer){
		"by the user": func(s *server, session answer) {
			s.want(s.call("PUT", "/user", session.str("access_token"), `{"password":"Another-pass-1"}`), 200, "")
		},
		"by an administrator": func(s *server, session answer) {
			s.want(s.admin("PUT", "/users/"+session.str("user.id"), `{"password":"Another-pass-1"}`), 200, "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, p := mailing(t, o)
			s.want(s.admin("POST", "/users", fmt.Sprintf(`{"email":"old@example.com","phone":"4915111111111","password":%q,"email_confirm":true,"phone_confirm":true}`, goodPassword)), 200, "")
			session := s.want(s.signIn("old@example.com", goodPassword), 200, "")
			s.want(s.call("PUT", "/user", session.str("access_token"), `{"email":"thief@example.com","phone":"4915122222222"}`), 200, "")
			change(s, session)
			sent := p.sent()
			for _, address := range []string{"old@example.com", "thief@example.com"} {
				s.want(s.say("/resend", `{"type":"email_change","email":%q}`, address), 200, "")
			}
			for _, number := range []string{"4915111111111", "4915122222222"} {
				s.want(s.say("/resend", `{"type":"phone_change","phone":%q}`, number), 200, "")
			}
			u := s.want(s.admin("GET", "/users/"+session.str("user.id"), ""), 200, "")
			if u.get("new_email") != nil || u.get("new_phone") != nil || s.count(`select count(*) from auth.one_time_tokens`) != 0 {
				t.Errorf("after %d messages the user is %s", p.sent()-sent, u.text)
			}
		})
	}
}

// With a factor a session without it changes no address: nor does it finish what it began before there was one.
func TestTheFirstFactorGivesUpAddressesThatWait(t *testing.T) {
	o := linkOptions()
	o.Links.OneSidedEmailChange = true
	s, p := mailing(t, o)
	own := s.confirmed("own@example.com")
	thief := s.want(s.signIn("own@example.com", goodPassword), 200, "").str("access_token")
	s.want(s.call("PUT", "/user", thief, `{"email":"thief@example.com","phone":"4915122222222"}`), 200, "")
	u := &factorUser{server: s, access: own.str("access_token")}
	first := u.enroll("app")
	u.prove(first)
	for _, a := range []answer{
		s.verifyHash("email_change", p.last(t, auth.MailEmailChange, "thief@example.com").TokenHash),
		s.verifyText("phone_change", "4915122222222", p.text(t, "4915122222222").Code),
	} {
		s.want(a, 403, "otp_expired")
	}
	s.want(s.say("/resend", `{"type":"phone_change","phone":"4915122222222"}`), 200, "")
	a := s.want(u.do("GET", "/user", ""), 200, "")
	if a.get("new_email") != nil || a.get("new_phone") != nil || s.count(`select count(*) from auth.one_time_tokens`) != 0 {
		t.Errorf("the user is %s", a.text)
	}

	s.want(u.do("PUT", "/user", `{"phone":"4915133333333"}`), 200, "")
	u.prove(first)
	u.prove(u.enroll("another app"))
	s.want(s.verifyText("phone_change", "4915133333333", p.text(t, "4915133333333").Code), 200, "")
}

func TestUsersAreToldOfWhatChangesTheirWayIn(t *testing.T) {
	o := linkOptions()
	o.Autoconfirm, o.Links.PhoneAutoconfirm, o.Notify = true, true, auth.Notifications()
	s, p := mailing(t, o)
	session := s.confirmed("a@example.com")
	bearer := session.str("access_token")
	s.want(s.call("PUT", "/user", bearer, `{"data":{"a":1}}`), 200, "")
	if p.sent() != 0 {
		t.Error("a change of metadata is told of")
	}
	s.want(s.call("PUT", "/user", bearer, `{"password":"Another-pass-1","phone":"4915123456789","email":"b@example.com"}`), 200, "")
	p.last(t, auth.MailPasswordChanged, "a@example.com")
	if m := p.last(t, auth.MailPhoneChanged, "a@example.com"); m.Phone != "4915123456789" || m.OldPhone != "" {
		t.Errorf("the mail tells of %q and %q", m.OldPhone, m.Phone)
	}
	if m := p.last(t, auth.MailEmailChanged, "a@example.com"); m.OldEmail != "a@example.com" || m.Email != "b@example.com" {
		t.Errorf("the mail tells of %q and %q", m.OldEmail, m.Email)
	}
}

func TestTheLinksOfAChangeLeadBack(t *testing.T) {
	s, p := mailing(t, linkOptions())
	session := s.confirmed("old@example.com")
	s.want(s.call("PUT", "/user", session.str("access_token"), `{"email":"new@example.com"}`), 200, "")
	m := p.last(t, auth.MailEmailChange, "old@example.com")
	target, query, fragment := s.led(s.follow(m.Link))
	if target != "http://site.example" || fragment.Get("message") != auth.SingleConfirmation || len(query) > 0 {
		t.Errorf("the first link leads to %s with %v and %v", target, query, fragment)
	}
	if _, _, fragment = s.led(s.follow(m.LinkNew)); fragment.Get("access_token") == "" || fragment.Get("type") != "email_change" {
		t.Errorf("the second link gives %v", fragment)
	}
}

func TestOneAddressConfirmsAChangeWhereThatIsEnough(t *testing.T) {
	o := linkOptions()
	o.Links.OneSidedEmailChange = true
	s, p := mailing(t, o)
	session := s.confirmed("old@example.com")
	s.confirmed("taken@example.com")
	bearer := session.str("access_token")
	s.want(s.call("PUT", "/user", bearer, `{"email":"taken@example.com"}`), 422, "email_exists")
	s.want(s.call("PUT", "/user", bearer, `{"email":"first@example.com"}`), 200, "")
	first := p.last(t, auth.MailEmailChange, "first@example.com")
	s.want(s.call("PUT", "/user", bearer, `{"email":"second@example.com"}`), 200, "")
	second := p.last(t, auth.MailEmailChange, "second@example.com")
	s.want(s.verifyHash("email_change", first.TokenHash), 403, "otp_expired")
	a := s.want(s.verifyCode("email_change", "second@example.com", second.Token), 200, "")
	if a.str("user.email") != "second@example.com" {
		t.Errorf("the user is %s", a.text)
	}
	s.want(s.call("PUT", "/user", bearer, `{"email":"third@example.com"}`), 200, "")
	third := p.last(t, auth.MailEmailChange, "third@example.com")
	s.confirmed("third@example.com")
	s.want(s.verifyHash("email_change", third.TokenHash), 422, "email_exists")
}

func TestAnAnonymousAccountBecomesALastingOneByItsConfirmation(t *testing.T) {
	o := linkOptions()
	o.Anonymous = true
	s, p := mailing(t, o)
	session := s.want(s.say("/signup", `{"data":{"cart":1}}`), 200, "")
	bearer := session.str("access_token")
	s.want(s.call("PUT", "/user", bearer, `{"password":"Secret-pass-1"}`), 400, "validation_failed")
	a := s.want(s.call("PUT", "/user", bearer, `{"email":"a@example.com"}`), 200, "")
	if a.get("is_anonymous") != true || a.str("new_email") != "a@example.com" {
		t.Errorf("the user is %s", a.text)
	}
	if n := s.count(`select count(*) from auth.users where email is not null`); n != 0 {
		t.Error("the address is taken before it is confirmed")
	}
	m := p.last(t, auth.MailEmailChange, "a@example.com")
	if m.LinkNew != "" {
		t.Error("somebody else is asked too")
	}
	whole := s.want(s.verifyCode("email_change", "a@example.com", m.Token), 200, "")
	if whole.str("user.id") != session.str("user.id") || whole.get("user.is_anonymous") != false || whole.str("user.app_metadata.provider") != "email" ||
		whole.str("user.app_metadata.providers.0") != "email" || whole.get("user.app_metadata.providers.1") != nil ||
		whole.str("user.identities.0.provider") != "email" || whole.get("user.user_metadata.cart") != 1.0 {
		t.Errorf("the user is %s", whole.text)
	}
	s.want(s.call("PUT", "/user", whole.str("access_token"), `{"password":"Secret-pass-1"}`), 200, "")
	s.want(s.signIn("a@example.com", goodPassword), 200, "")
}

func TestAnAccountByTelephone(t *testing.T) {
	s, p := mailing(t, linkOptions())
	a := s.want(s.say("/signup", `{"phone":"+49 151-23456789","password":%q,"channel":"whatsapp","data":{"name":"Ann"}}`, goodPassword), 200, "")
	if a.str("phone") != "4915123456789" || a.str("email") != "" || a.get("phone_confirmed_at") != nil || a.str("identities.0.provider") != "phone" ||
		a.str("app_metadata.provider") != "phone" || a.get("access_token") != nil {
		t.Errorf("the user is %s", a.text)
	}
	m := p.text(t, "4915123456789")
	if len(m.Code) != 6 || m.Channel != "whatsapp" {
		t.Errorf("the code of %d digits is sent by %s", len(m.Code), m.Channel)
	}
	s.want(s.verifyText("sms", "4915123456780", m.Code), 403, "otp_expired")
	s.want(s.verifyText("phone_change", "4915123456789", m.Code), 403, "otp_expired")
	session := s.want(s.verifyText("sms", "+4915123456789", m.Code), 200, "")
	if session.str("user.phone_confirmed_at") == "" || session.get("user.user_metadata.phone_verified") != true {
		t.Errorf("the user is %s", session.text)
	}
	s.want(s.verifyText("sms", "4915123456789", m.Code), 403, "otp_expired")
	s.want(s.signInByPhone("+49 15123456789", goodPassword), 200, "")
	s.want(s.signInByPhone("4915123456789", "Wrong-pass-1"), 400, "invalid_credentials")
	s.want(s.signInByPhone("nonsense", goodPassword), 400, "invalid_credentials")
	s.want(s.signInByPhone("", goodPassword), 400, "validation_failed")
	s.want(s.say("/signup", `{"phone":"4915122222222","password":%q}`, goodPassword), 200, "")
	s.want(s.signInByPhone("4915122222222", goodPassword), 400, "phone_not_confirmed")

	s.want(s.say("/otp", `{"phone":"4915123456789"}`), 200, "")
	again := s.want(s.verifyText("sms", "4915123456789", p.text(t, "4915123456789").Code), 200, "")
	if again.str("user.id") != a.str("id") {
		t.Error("it is another account")
	}
	hidden := s.want(s.say("/signup", `{"phone":"4915123456789","password":%q}`, goodPassword), 200, "")
	if hidden.str("id") == a.str("id") || hidden.get("identities.0") != nil {
		t.Errorf("a confirmed account shows: %s", hidden.text)
	}
	s.want(s.say("/otp", `{"phone":"4915100000000"}`), 200, "")
	s.want(s.verifyText("sms", "4915100000000", p.text(t, "4915100000000").Code), 200, "")

	bearer := session.str("access_token")
	s.want(s.call("PUT", "/user", bearer, `{"phone":"4915100000000"}`), 422, "phone_exists")
	moving := s.want(s.call("PUT", "/user", bearer, `{"phone":"4915111111111"}`), 200, "")
	if moving.str("phone") != "4915123456789" || moving.str("new_phone") != "4915111111111" {
		t.Errorf("the user is %s", moving.text)
	}
	before := p.sent()
	s.want(s.say("/resend", `{"type":"phone_change","phone":"4915111111111"}`), 200, "")
	if p.sent() != before+1 {
		t.Error("the code is not sent once more")
	}
	moved := s.want(s.verifyText("phone_change", "4915111111111", p.text(t, "4915111111111").Code), 200, "")
	if moved.str("user.phone") != "4915111111111" || moved.get("user.new_phone") != nil || moved.str("user.identities.0.identity_data.phone") != "4915111111111" {
		t.Errorf("the user is %s", moved.text)
	}
	for _, tc := range []struct{ name, body, code string }{
		{"no number", `{"phone":"abc"}`, "validation_failed"},
		{"a number without its country", `{"phone":"0151234567"}`, "validation_failed"},
		{"a number that is too long", `{"phone":"1234567890123456"}`, "validation_failed"},
		{"an unknown channel", `{"phone":"4915123456789","channel":"fax"}`, "validation_failed"},
		{"a channel for a mail", `{"email":"a@example.com","channel":"sms"}`, "validation_failed"},
		{"both", `{"email":"a@example.com","phone":"4915123456789"}`, "validation_failed"},
		{"neither", `{}`, "validation_failed"},
	} {
		t.Run(tc.name, func(t *testing.T) { s.want(s.say("/otp", "%s", tc.body), 400, tc.code) })
	}
}

func (s *server) signInByPhone(phone, secret string) answer {
	s.t.Helper()
	return s.say("/token?grant_type=password", `{"phone":%q,"password":%q}`, phone, secret)
}

func TestATelephoneNumberThatNeedsNoConfirmation(t *testing.T) {
	o := linkOptions()
	o.Links.PhoneAutoconfirm = true
	s, p := mailing(t, o)
	session := s.want(s.say("/signup", `{"phone":"4915123456789","password":%q}`, goodPassword), 200, "")
	if session.str("user.phone_confirmed_at") == "" || session.get("user.user_metadata.phone_verified") != true || session.get("user.email_confirmed_at") != nil {
		t.Errorf("the user is %s", session.text)
	}
	s.want(s.say("/signup", `{"phone":"4915123456789","password":%q}`, goodPassword), 422, "user_already_exists")
	moved := s.want(s.call("PUT", "/user", session.str("access_token"), `{"phone":"4915111111111"}`), 200, "")
	if moved.str("phone") != "4915111111111" || moved.str("identities.0.identity_data.phone") != "4915111111111" || moved.get("identities.1") != nil {
		t.Errorf("the user is %s", moved.text)
	}
	s.want(s.signInByPhone("4915111111111", goodPassword), 200, "")
	if p.sent() != 0 {
		t.Errorf("%d messages are sent", p.sent())
	}
}

func TestTelephoneNumbersAreOffUnlessWanted(t *testing.T) {
	o := linkOptions()
	o.Links.Phone = false
	s, _ := mailing(t, o)
	s.want(s.say("/otp", `{"phone":"4915123456789"}`), 400, "phone_provider_disabled")
	s.want(s.say("/signup", `{"phone":"4915123456789","password":%q}`, goodPassword), 400, "phone_provider_disabled")
}

func TestANonceLetsAnOldSessionChangeItsPassword(t *testing.T) {
	o := linkOptions()
	o.Links.Reauthentication = true
	s, p := mailing(t, o)
	session, other := s.confirmed("a@example.com"), s.confirmed("b@example.com")
	bearer := session.str("access_token")
	s.want(s.call("PUT", "/user", bearer, `{"password":"Another-pass-1"}`), 200, "")
	s.db.Exec(t, `update auth.sessions set created_at = created_at - interval '25 hours'`)
	s.want(s.call("PUT", "/user", bearer, `{"password":"Third-pass-1"}`), 400, "reauthentication_needed")
	s.want(s.call("PUT", "/user", bearer, `{"data":{"a":1}}`), 200, "")
	s.want(s.call("PUT", "/user", bearer, `{"password":"Third-pass-1","nonce":"000000"}`), 422, "reauthentication_not_valid")
	s.want(s.call("GET", "/reauthenticate", bearer, ""), 200, "")
	s.want(s.call("GET", "/reauthenticate", other.str("access_token"), ""), 200, "")
	nonce := p.last(t, auth.MailReauthentication, "a@example.com").Token.Reveal()
	if foreign := p.last(t, auth.MailReauthentication, "b@example.com").Token.Reveal(); foreign != nonce {
		s.want(s.call("PUT", "/user", bearer, fmt.Sprintf(`{"password":"Third-pass-1","nonce":%q}`, foreign)), 422, "reauthentication_not_valid")
	}
	s.want(s.verifyCode("email", "a@example.com", auth.Secret(nonce)), 403, "otp_expired")
	s.want(s.call("PUT", "/user", bearer, fmt.Sprintf(`{"password":"Third-pass-1","nonce":%q}`, nonce)), 200, "")
	s.want(s.call("PUT", "/user", bearer, fmt.Sprintf(`{"password":"Fourth-pass-1","nonce":%q}`, nonce)), 422, "reauthentication_not_valid")
	s.want(s.call("GET", "/reauthenticate", s.keys.AnonKey, ""), 403, "bad_jwt")
	s.want(s.call("GET", "/reauthenticate", "", ""), 401, "no_authorization")
}

func TestInvitation(t *testing.T) {
	s, p := mailing(t, linkOptions())
	invite := func(body string) answer { return s.call("POST", "/invite", s.keys.ServiceKey.Reveal(), body) }
	a := s.want(invite(`{"email":"Guest@example.com","data":{"team":"red"}}`), 200, "")
	if a.str("invited_at") == "" || a.str("confirmation_sent_at") == "" || a.str("user_metadata.team") != "red" || a.get("email_confirmed_at") != nil || a.str("identities.0.provider") != "email" {
		t.Errorf("the user is %s", a.text)
	}
	first := p.last(t, auth.MailInvite, "guest@example.com")
	again := s.want(invite(`{"email":"guest@example.com"}`), 200, "")
	if again.str("id") != a.str("id") {
		t.Error("a second invitation makes a second account")
	}
	s.want(s.verifyHash("invite", first.TokenHash), 403, "otp_expired")
	session := s.want(s.verifyHash("invite", p.last(t, auth.MailInvite, "guest@example.com").TokenHash), 200, "")
	s.want(s.call("PUT", "/user", session.str("access_token"), `{"password":"Secret-pass-1"}`), 200, "")
	s.want(s.signIn("guest@example.com", goodPassword), 200, "")
	s.want(invite(`{"email":"guest@example.com"}`), 422, "email_exists")
	s.want(invite(`{"email":"x"}`), 400, "validation_failed")
	s.want(s.call("POST", "/invite", s.keys.AnonKey, `{"email":"x@example.com"}`), 403, "not_admin")
	s.want(s.call("POST", "/invite", session.str("access_token"), `{"email":"x@example.com"}`), 403, "not_admin")
}

func TestGeneratedLinks(t *testing.T) {
	s, p := mailing(t, linkOptions())
	generate := func(body string, args ...any) answer {
		return s.admin("POST", "/generate_link", fmt.Sprintf(body, args...))
	}
	a := s.want(generate(`{"type":"signup","email":"a@example.com","password":"Secret-pass-1","data":{"n":1},"redirect_to":"http://site.example/in"}`), 200, "")
	link, err := url.Parse(a.str("action_link"))
	if err != nil || link.Query().Get("token") != a.str("hashed_token") || link.Query().Get("type") != "signup" || link.Query().Get("redirect_to") != "http://site.example/in" ||
		!strings.HasPrefix(a.str("action_link"), "http://api.example/auth/v1/verify?") || len(a.str("email_otp")) != 6 || a.str("verification_type") != "signup" ||
		a.str("redirect_to") != "http://site.example/in" || a.str("email") != "a@example.com" || a.get("user_metadata.n") != 1.0 {
		t.Errorf("the link is %s, %v", a.text, err)
	}
	s.want(s.verifyCode("signup", "a@example.com", auth.Secret(a.str("email_otp"))), 200, "")
	s.want(s.signIn("a@example.com", goodPassword), 200, "")
	s.want(generate(`{"type":"signup","email":"a@example.com","password":"Secret-pass-1"}`), 422, "email_exists")
	s.want(generate(`{"type":"invite","email":"a@example.com"}`), 422, "email_exists")
	for _, kind := range []string{"magiclink", "recovery"} {
		a := s.want(generate(`{"type":%q,"email":"a@example.com"}`, kind), 200, "")
		if _, _, fragment := s.led(s.follow(auth.Secret(a.str("action_link")))); fragment.Get("access_token") == "" || fragment.Get("type") != kind {
			t.Errorf("the link %s gives %v", kind, fragment)
		}
	}
	if a := s.want(generate(`{"type":"magiclink","email":"b@example.com"}`), 200, ""); a.str("verification_type") != "signup" {
		t.Errorf("the first link of an address is %s", a.text)
	} else {
		s.want(s.verifyHash("signup", auth.Secret(a.str("hashed_token"))), 200, "")
	}
	if a := s.want(generate(`{"type":"invite","email":"c@example.com"}`), 200, ""); a.str("invited_at") == "" {
		t.Errorf("the invitation is %s", a.text)
	} else {
		s.want(s.verifyHash("invite", auth.Secret(a.str("hashed_token"))), 200, "")
	}
	current := s.want(generate(`{"type":"email_change_current","email":"a@example.com","new_email":"d@example.com"}`), 200, "")
	next := s.want(generate(`{"type":"email_change_new","email":"a@example.com","new_email":"d@example.com"}`), 200, "")
	if next.str("new_email") != "d@example.com" || next.str("verification_type") != "email_change_new" {
		t.Errorf("the link is %s", next.text)
	}
	s.want(s.verifyHash("email_change", auth.Secret(current.str("hashed_token"))), 200, "")
	moved := s.want(s.verifyCode("email_change", "d@example.com", auth.Secret(next.str("email_otp"))), 200, "")
	if moved.str("user.email") != "d@example.com" {
		t.Errorf("the user is %s", moved.text)
	}
	for _, tc := range []struct {
		name, body, code string
		status           int
	}{
		{"an unknown type", `{"type":"x","email":"a@example.com"}`, "validation_failed", 400},
		{"no type", `{"email":"a@example.com"}`, "validation_failed", 400},
		{"no address", `{"type":"magiclink"}`, "validation_failed", 400},
		{"a recovery of nobody", `{"type":"recovery","email":"nobody@example.com"}`, "user_not_found", 404},
		{"a change of nobody", `{"type":"email_change_new","email":"nobody@example.com","new_email":"e@example.com"}`, "user_not_found", 404},
		{"a change to nothing", `{"type":"email_change_new","email":"d@example.com"}`, "validation_failed", 400},
		{"a change to a taken address", `{"type":"email_change_new","email":"d@example.com","new_email":"b@example.com"}`, "email_exists", 422},
		{"a sign-up without a password", `{"type":"signup","email":"e@example.com"}`, "validation_failed", 400},
		{"a sign-up with a weak password", `{"type":"signup","email":"e@example.com","password":"short"}`, "weak_password", 422},
	} {
		t.Run(tc.name, func(t *testing.T) { s.want(generate("%s", tc.body), tc.status, tc.code) })
	}
	s.want(s.call("POST", "/admin/generate_link", s.keys.AnonKey, `{"type":"magiclink","email":"a@example.com"}`), 403, "not_admin")
	if p.sent() != 0 {
		t.Error("a generated link is mailed")
	}
}

func TestResend(t *testing.T) {
	s, p := mailing(t, linkOptions())
	s.want(s.say("/signup", `{"email":"a@example.com","password":%q}`, goodPassword), 200, "")
	s.want(s.say("/resend", `{"type":"signup","email":"a@example.com"}`), 200, "")
	s.want(s.verifyHash("signup", p.mails[0].TokenHash), 403, "otp_expired")
	session := s.want(s.verifyHash("signup", p.mails[1].TokenHash), 200, "")
	s.want(s.signIn("a@example.com", goodPassword), 200, "")
	before := p.sent()
	for _, body := range []string{`{"type":"signup","email":"a@example.com"}`, `{"type":"email_change","email":"a@example.com"}`, `{"type":"sms","phone":"4915123456789"}`} {
		s.want(s.say("/resend", "%s", body), 200, "")
	}
	if p.sent() != before {
		t.Error("a message goes to who waits for none")
	}
	s.want(s.call("PUT", "/user", session.str("access_token"), `{"email":"b@example.com"}`), 200, "")
	for _, address := range []string{"a@example.com", "b@example.com"} {
		s.want(s.say("/resend", `{"type":"email_change","email":%q}`, address), 200, "")
	}
	if p.sent() != before+3 {
		t.Errorf("%d mails are sent for a change", p.sent()-before)
	}
	m := p.last(t, auth.MailEmailChange, "a@example.com")
	s.want(s.verifyHash("email_change", m.TokenHashNew), 200, "")
	s.want(s.verifyHash("email_change", m.TokenHash), 200, "")
	for _, body := range []string{`{}`, `{"type":"recovery","email":"a@example.com"}`, `{"type":"signup"}`, `{"type":"signup","phone":"4915123456789"}`, `{"type":"sms","email":"a@example.com"}`, `{"type":"signup","email":"a@example.com","phone":"4915123456789"}`} {
		s.want(s.say("/resend", "%s", body), 400, "validation_failed")
	}
}
