package accounts_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"basalt/auth"
)

// post collects the messages that are sent to people, but for those to nobody.
type post struct {
	mu    sync.Mutex
	mails []auth.Mail
	texts []auth.SMS
	calls int
}

func (p *post) Ways() (mails, texts bool) { return true, true }

func (p *post) QueueMail(_ *pgx.Batch, m auth.Mail) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls++; m.To != "" {
		p.mails = append(p.mails, m)
	}
	return nil
}

func (p *post) QueueSMS(_ *pgx.Batch, m auth.SMS) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls++; m.To != "" {
		p.texts = append(p.texts, m)
	}
	return nil
}

// last gives the newest mail of a kind to an address.
func (p *post) last(t *testing.T, kind auth.MailKind, to string) auth.Mail {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := len(p.mails) - 1; i >= 0; i-- {
		if m := p.mails[i]; m.To == to && m.Kind == kind {
			return m
		}
	}
	t.Fatalf("no mail %s has gone to %s", kind, to)
	return auth.Mail{}
}

// text gives the newest text message to a number.
func (p *post) text(t *testing.T, to string) auth.SMS {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := len(p.texts) - 1; i >= 0; i-- {
		if p.texts[i].To == to {
			return p.texts[i]
		}
	}
	t.Fatalf("no text message has gone to %s", to)
	return auth.SMS{}
}

func (p *post) sent() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.mails) + len(p.texts)
}

// linkOptions are accounts that need confirmation, with telephone numbers, and answers that leave at once.
func linkOptions() auth.Options {
	o := options()
	o.Autoconfirm = false
	o.Links = auth.LinkOptions{Phone: true, AnswerTime: -1}
	return o
}

// mailing is a server that sends messages to a post.
func mailing(t *testing.T, o auth.Options) (*server, *post) {
	t.Helper()
	p := &post{}
	o.Outbound = p
	return start(t, o), p
}

func (s *server) say(path, body string, args ...any) answer {
	s.t.Helper()
	return s.call("POST", path, s.keys.AnonKey, fmt.Sprintf(body, args...))
}

// verifyCode brings a code back.
func (s *server) verifyCode(kind, email string, code auth.Secret) answer {
	s.t.Helper()
	return s.say("/verify", `{"type":%q,"email":%q,"token":%q}`, kind, email, code.Reveal())
}

func (s *server) verifyText(kind, phone string, code auth.Secret) answer {
	s.t.Helper()
	return s.say("/verify", `{"type":%q,"phone":%q,"token":%q}`, kind, phone, code.Reveal())
}

func (s *server) verifyHash(kind string, hash auth.Secret) answer {
	s.t.Helper()
	return s.say("/verify", `{"type":%q,"token_hash":%q}`, kind, hash.Reveal())
}

// follow opens a link as a browser does, without going where it leads.
func (s *server) follow(link auth.Secret, headers ...string) answer {
	s.t.Helper()
	path := strings.TrimPrefix(link.Reveal(), "http://api.example/auth/v1")
	return s.callOnce("GET", path, "", headers...)
}

func (s *server) callOnce(method, path, body string, headers ...string) answer {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url+"/auth/v1"+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		s.t.Error(err)
		return answer{}
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Error(err)
	}
	return answer{status: response.StatusCode, header: response.Header, text: string(text)}
}

// led gives where an answer leads, and the values behind its ? and #.
func (s *server) led(a answer) (target string, query, fragment url.Values) {
	s.t.Helper()
	if a.status != http.StatusSeeOther {
		s.t.Fatalf("the answer is %d %s, not 303", a.status, a.text)
	}
	location := a.header.Get("Location")
	location, behind, _ := strings.Cut(location, "#")
	target, asked, _ := strings.Cut(location, "?")
	query, errQuery := url.ParseQuery(asked)
	fragment, errFragment := url.ParseQuery(behind)
	if errQuery != nil || errFragment != nil {
		s.t.Fatalf("the answer leads to %s", a.header.Get("Location"))
	}
	return target, query, fragment
}

func TestACodeMakesAnAccountAndLetsItsUserInOnce(t *testing.T) {
	s, p := mailing(t, linkOptions())
	a := s.want(s.say("/otp", `{"email":" Ann@Example.com ","data":{"name":"Ann"}}`), 200, "")
	if a.text != "{}\n" && a.text != "{}" {
		t.Errorf("the answer is %s", a.text)
	}
	m := p.last(t, auth.MailConfirmation, "ann@example.com")
	if len(m.Token) != 6 || strings.Trim(m.Token.Reveal(), "0123456789") != "" {
		t.Errorf("the code has %d characters", len(m.Token))
	}
	if n := s.count(`select count(*) from auth.users where email = 'ann@example.com' and email_confirmed_at is null and confirmation_sent_at is not null and encrypted_password is null`); n != 1 {
		t.Error("the account is not there, or is not one that waits")
	}
	s.want(s.verifyCode("email", "other@example.com", m.Token), 403, "otp_expired")
	s.want(s.verifyCode("magiclink", "ann@example.com", m.Token), 403, "otp_expired")
	session := s.want(s.verifyCode("email", "ANN@example.com", m.Token), 200, "")
	if session.str("user.email_confirmed_at") == "" || session.str("user.user_metadata.name") != "Ann" || session.get("user.user_metadata.email_verified") != true ||
		session.get("user.identities.0.identity_data.email_verified") != true {
		t.Errorf("the user is %s", session.text)
	}
	methods, _ := claimsOf(t, session.str("access_token"))["amr"].([]any)
	if len(methods) != 1 || methods[0].(map[string]any)["method"] != "otp" {
		t.Errorf("amr is %v", methods)
	}
	s.want(s.call("GET", "/user", session.str("access_token"), ""), 200, "")
	s.want(s.verifyCode("email", "ann@example.com", m.Token), 403, "otp_expired")
	s.want(s.verifyHash("email", m.TokenHash), 403, "otp_expired")

	s.want(s.say("/magiclink", `{"email":"ann@example.com"}`), 200, "")
	m = p.last(t, auth.MailMagicLink, "ann@example.com")
	s.want(s.verifyHash("signup", m.TokenHash), 403, "otp_expired")
	again := s.want(s.verifyHash("magiclink", m.TokenHash), 200, "")
	if again.str("user.id") != session.str("user.id") {
		t.Error("it is another account")
	}
	if n := s.count(`select (select count(*) from auth.one_time_tokens) + (select count(*) from auth.users where confirmation_token <> '' or recovery_token <> '')`); n != 0 {
		t.Error("used tokens are left")
	}
	if strings.Contains(s.log.String(), m.Token.Reveal()) || strings.Contains(s.log.String(), m.TokenHash.Reveal()) {
		t.Error("the log has a token in it")
	}
}

func TestSignUpIsConfirmedByItsLink(t *testing.T) {
	o := linkOptions()
	pattern, err := auth.ParseRedirectPattern("https://app.example/**")
	if err != nil {
		t.Fatal(err)
	}
	o.RedirectURLs = []auth.RedirectPattern{pattern}
	s, p := mailing(t, o)
	s.want(s.say("/signup?redirect_to="+url.QueryEscape("https://app.example/welcome?a=b"), `{"email":"a@example.com","password":%q}`, goodPassword), 200, "")
	m := p.last(t, auth.MailConfirmation, "a@example.com")
	s.want(s.signIn("a@example.com", goodPassword), 400, "email_not_confirmed")
	a := s.follow(m.Link)
	target, query, fragment := s.led(a)
	if target != "https://app.example/welcome" || query.Get("a") != "b" || fragment.Get("type") != "signup" || fragment.Get("token_type") != "bearer" ||
		fragment.Get("expires_in") != "3600" || fragment.Get("expires_at") == "" || a.header.Get("Referrer-Policy") != "no-referrer" {
		t.Errorf("the link leads to %s", a.header.Get("Location"))
	}
	s.want(s.call("GET", "/user", fragment.Get("access_token"), ""), 200, "")
	s.want(s.refresh(fragment.Get("refresh_token")), 200, "")
	s.want(s.signIn("a@example.com", goodPassword), 200, "")

	target, query, fragment = s.led(s.follow(m.Link))
	if target != "https://app.example/welcome" || fragment.Get("error") != "access_denied" || fragment.Get("error_code") != "otp_expired" ||
		fragment.Get("error_description") != "Email link is invalid or has expired" || query.Get("error") != "" || fragment.Get("access_token") != "" {
		t.Errorf("the used link leads to %s with %v and %v", target, query, fragment)
	}
	target, _, _ = s.led(s.callOnce("GET", "/verify?token=abc&type=signup&redirect_to=https://evil.example/", ""))
	if target != "http://site.example" {
		t.Errorf("a made-up link leads to %s", target)
	}
	s.want(s.callOnce("GET", "/verify?type=signup", ""), 400, "validation_failed")
	s.want(s.callOnce("GET", "/verify?token=abc", ""), 400, "validation_failed")
}

func TestALinkEndsInACodeForTheAppThatAskedForIt(t *testing.T) {
	const verifier = "a-verifier-of-forty-three-characters-or-more"
	digest := sha256.Sum256([]byte(verifier))
	challenge := fmt.Sprintf(`"code_challenge":%q,"code_challenge_method":"s256"`, base64.RawURLEncoding.EncodeToString(digest[:]))
	for _, tc := range []struct {
		name, method string
		kind         auth.MailKind
		ask          func(*server) answer
	}{
		{"a sign-up", "email/signup", auth.MailConfirmation, func(s *server) answer {
			return s.say("/signup", `{"email":"new@example.com","password":"Secret-pass-1",%s}`, challenge)
		}},
		{"a first magic link", "email/signup", auth.MailConfirmation, func(s *server) answer {
			return s.say("/otp", `{"email":"new@example.com",%s}`, challenge)
		}},
		{"a recovery", "recovery", auth.MailRecovery, func(s *server) answer {
			return s.say("/recover", `{"email":"old@example.com",%s}`, challenge)
		}},
		{"a magic link", "magiclink", auth.MailMagicLink, func(s *server) answer {
			return s.say("/otp", `{"email":"old@example.com",%s}`, challenge)
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, p := mailing(t, linkOptions())
			s.admin("POST", "/users", `{"email":"old@example.com","email_confirm":true}`)
			s.want(tc.ask(s), 200, "")
			m := p.mails[len(p.mails)-1]
			if m.Kind != tc.kind || !strings.HasPrefix(m.TokenHash.Reveal(), "pkce_") {
				t.Fatalf("the mail is a %s", m.Kind)
			}
			// Without its prefix the link would give a session to whoever has it.
			stripped := auth.Secret(strings.Replace(m.Link.Reveal(), "pkce_", "", 1))
			if _, _, fragment := s.led(s.follow(stripped)); fragment.Get("error_code") != "otp_expired" {
				t.Errorf("the link without its prefix gives %v", fragment)
			}
			_, query, fragment := s.led(s.follow(m.Link))
			if query.Get("code") == "" || len(fragment) > 0 {
				t.Fatalf("the link gives %v and %v", query, fragment)
			}
			exchange := fmt.Sprintf(`{"auth_code":%q,"code_verifier":%q}`, query.Get("code"), verifier)
			session := s.want(s.call("POST", "/token?grant_type=pkce", s.keys.AnonKey, exchange), 200, "")
			methods, _ := claimsOf(t, session.str("access_token"))["amr"].([]any)
			if len(methods) != 1 || methods[0].(map[string]any)["method"] != tc.method {
				t.Errorf("amr is %v", methods)
			}
			_, query, fragment = s.led(s.follow(m.Link))
			if query.Get("error_code") != "otp_expired" || fragment.Get("error_code") != "otp_expired" {
				t.Errorf("the used link gives %v and %v", query, fragment)
			}
		})
	}
}

func TestTheCodeBesideALinkForAnAppGivesASession(t *testing.T) {
	s, p := mailing(t, linkOptions())
	s.want(s.say("/otp", `{"email":"a@example.com","code_challenge":%q,"code_challenge_method":"s256"}`, strings.Repeat("a", 43)), 200, "")
	s.want(s.verifyCode("email", "a@example.com", p.mails[0].Token), 200, "")
	s.want(s.say("/otp", `{"email":"a@example.com","code_challenge":%q,"code_challenge_method":"s256"}`, strings.Repeat("a", 43)), 200, "")
	s.want(s.verifyHash("email", p.mails[1].TokenHash), 200, "")
	s.want(s.say("/otp", `{"email":"a@example.com","code_challenge":"short","code_challenge_method":"s256"}`), 400, "validation_failed")
}

func TestARecoveredPasswordMakesAllOtherTokensVoid(t *testing.T) {
	s, p := mailing(t, linkOptions())
	s.want(s.admin("POST", "/users", `{"email":"a@example.com","password":"Secret-pass-1","email_confirm":true}`), 200, "")
	s.want(s.say("/recover", `{"email":"a@example.com"}`), 200, "")
	session := s.want(s.verifyCode("recovery", "a@example.com", p.last(t, auth.MailRecovery, "a@example.com").Token), 200, "")
	s.want(s.say("/otp", `{"email":"a@example.com"}`), 200, "")
	link := p.last(t, auth.MailMagicLink, "a@example.com")
	s.want(s.call("PUT", "/user", session.str("access_token"), `{"password":"Another-pass-1"}`), 200, "")
	s.want(s.verifyHash("magiclink", link.TokenHash), 403, "otp_expired")
	s.want(s.verifyCode("magiclink", "a@example.com", link.Token), 403, "otp_expired")
	s.want(s.signIn("a@example.com", "Another-pass-1"), 200, "")
}

// Who chose the password of an account before its owner came must not keep it.
func TestASignInByMailDropsAPasswordThatNobodyConfirmed(t *testing.T) {
	for _, path := range []string{"/otp", "/recover"} {
		t.Run(path, func(t *testing.T) {
			s, p := mailing(t, linkOptions())
			s.want(s.say("/signup", `{"email":"victim@example.com","password":"Attacker-pass-1"}`), 200, "")
			s.want(s.say(path, `{"email":"victim@example.com"}`), 200, "")
			first, second := p.mails[0], p.mails[1]
			s.want(s.verifyCode("email", "victim@example.com", second.Token), 200, "")
			s.want(s.signIn("victim@example.com", "Attacker-pass-1"), 400, "invalid_credentials")
			s.want(s.verifyHash("signup", first.TokenHash), 403, "otp_expired")
		})
	}
}

func TestWhatIsAskedOfAnUnknownAddressShowsNothing(t *testing.T) {
	s, p := mailing(t, linkOptions())
	s.want(s.admin("POST", "/users", `{"email":"known@example.com","email_confirm":true}`), 200, "")
	for _, ask := range []struct{ path, body string }{
		{"/recover", `{"email":%q}`},
		{"/otp", `{"email":%q}`},
		{"/magiclink", `{"email":%q}`},
		{"/resend", `{"type":"signup","email":%q}`},
		{"/resend", `{"type":"email_change","email":%q}`},
		{"/verify", `{"type":"email","token":"000000","email":%q}`},
		{"/verify", `{"type":"recovery","token":"000000","email":%q}`},
	} {
		known := s.say(ask.path, ask.body, "known@example.com")
		calls := p.calls
		unknown := s.say(ask.path, ask.body, address())
		if known.status != unknown.status || known.text != unknown.text {
			t.Errorf("%s: the known address is answered %d %s, the unknown one %d %s", ask.path, known.status, known.text, unknown.status, unknown.text)
		}
		if ask.path != "/verify" && p.calls == calls {
			t.Errorf("%s: no mail is queued, not even to nobody, for an unknown address", ask.path)
		}
	}
	s.want(s.say("/otp", `{"email":"unknown@example.com","create_user":false}`), 422, "otp_disabled")
	if n := s.count(`select count(*) from auth.users where email = 'unknown@example.com'`); n != 0 {
		t.Error("the account was made")
	}
}

func TestTokensEnd(t *testing.T) {
	s, p := mailing(t, linkOptions())
	age := func(by string) {
		s.db.Exec(t, fmt.Sprintf(`update auth.one_time_tokens set created_at = created_at - interval '%s'`, by))
	}
	fresh := func() auth.Mail {
		s.want(s.say("/otp", `{"email":"a@example.com"}`), 200, "")
		return p.mails[len(p.mails)-1]
	}
	m := fresh()
	age("9 minutes")
	s.want(s.verifyCode("email", "a@example.com", m.Token), 200, "")
	m = fresh()
	age("11 minutes")
	s.want(s.verifyCode("email", "a@example.com", m.Token), 403, "otp_expired")
	s.want(s.verifyHash("email", m.TokenHash), 200, "")
	m = fresh()
	age("61 minutes")
	s.want(s.verifyHash("email", m.TokenHash), 403, "otp_expired")
	m = fresh()
	s.db.Exec(t, `update auth.users set recovery_sent_at = recovery_sent_at - interval '2 hours'`)
	s.want(s.verifyHash("email", m.TokenHash), 403, "otp_expired")
	older, newer := fresh(), fresh()
	s.want(s.verifyHash("email", older.TokenHash), 403, "otp_expired")
	s.db.Exec(t, `update auth.users set banned_until = 'infinity'`)
	s.want(s.verifyHash("email", newer.TokenHash), 403, "user_banned")
	s.db.Exec(t, `update auth.users set banned_until = null`)
	s.want(s.verifyHash("email", newer.TokenHash), 200, "")
}

func TestVerifyRefusesWhatItCannotRead(t *testing.T) {
	s, _ := mailing(t, linkOptions())
	for _, tc := range []struct {
		name, body, code string
		status           int
	}{
		{"no type", `{"token":"123456","email":"a@example.com"}`, "validation_failed", 400},
		{"an unknown type", `{"type":"x","token":"123456","email":"a@example.com"}`, "validation_failed", 400},
		{"no token", `{"type":"email","email":"a@example.com"}`, "validation_failed", 400},
		{"nobody's token", `{"type":"email","token":"123456"}`, "validation_failed", 400},
		{"an address and a number", `{"type":"email","token":"123456","email":"a@example.com","phone":"4912345"}`, "validation_failed", 400},
		{"a hash with an address", `{"type":"email","token_hash":"abc","email":"a@example.com"}`, "validation_failed", 400},
		{"a hash with a token", `{"type":"email","token_hash":"abc","token":"123456"}`, "validation_failed", 400},
		{"a text message's type by mail", `{"type":"sms","token":"123456","email":"a@example.com"}`, "validation_failed", 400},
		{"a text message's type by hash", `{"type":"sms","token_hash":"abc"}`, "validation_failed", 400},
		{"a mail's type by text message", `{"type":"email","token":"123456","phone":"4912345"}`, "validation_failed", 400},
		{"no address", `{"type":"email","token":"123456","email":"a"}`, "validation_failed", 400},
		{"no number", `{"type":"sms","token":"123456","phone":"x"}`, "validation_failed", 400},
		{"an empty body", ``, "bad_json", 400},
		{"a token of the wrong type", `{"type":"email","token":123456,"email":"a@example.com"}`, "bad_json", 400},
		{"a NUL in the token", `{"type":"email","token":"1\u0000","email":"a@example.com"}`, "otp_expired", 403},
		{"a NUL in the hash", `{"type":"email","token_hash":"1\u0000"}`, "otp_expired", 403},
		{"what the database holds", `{"type":"email","token_hash":"` + strings.Repeat("ab", 32) + `"}`, "otp_expired", 403},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s.want(s.say("/verify", "%s", tc.body), tc.status, tc.code)
		})
	}
}

func TestWhatTheDatabaseHoldsIsNoToken(t *testing.T) {
	s, p := mailing(t, linkOptions())
	s.want(s.say("/otp", `{"email":"a@example.com"}`), 200, "")
	var stored string
	if err := s.db.Pool.QueryRow(t.Context(), `select token_hash from auth.one_time_tokens`).Scan(&stored); err != nil {
		t.Fatal(err)
	}
	s.want(s.verifyHash("email", auth.Secret(stored)), 403, "otp_expired")
	s.want(s.verifyHash("email", p.mails[0].TokenHash), 200, "")
}

func TestLookingAtALinkDoesNotUseItUp(t *testing.T) {
	s, p := mailing(t, linkOptions())
	s.want(s.say("/otp", `{"email":"a@example.com"}`), 200, "")
	link := p.mails[0].Link
	path := strings.TrimPrefix(link.Reveal(), "http://api.example/auth/v1")
	if a := s.callOnce("HEAD", path, ""); a.status != 200 {
		t.Errorf("HEAD is answered %d", a.status)
	}
	for _, header := range []string{"Sec-Purpose", "Purpose", "X-Moz", "X-Purpose"} {
		s.want(s.follow(link, header, "prefetch"), 403, "validation_failed")
	}
	s.want(s.follow(link, "Sec-Purpose", "prefetch;prerender"), 403, "validation_failed")
	if _, _, fragment := s.led(s.follow(link)); fragment.Get("access_token") == "" {
		t.Errorf("the link gives %v", fragment)
	}
}

func TestAPageAsksBeforeALinkIsUsedUp(t *testing.T) {
	o := linkOptions()
	o.Links.ConfirmPage = true
	s, p := mailing(t, o)
	s.want(s.say("/otp", `{"email":"a@example.com"}`), 200, "")
	link, err := url.Parse(p.mails[0].Link.Reveal())
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		a := s.follow(p.mails[0].Link)
		if a.status != 200 || !strings.Contains(a.text, `value="`+link.Query().Get("token")+`"`) || a.header.Get("X-Frame-Options") != "DENY" ||
			a.header.Get("Cache-Control") != "no-store" {
			t.Fatalf("the page is %d %v %s", a.status, a.header, a.text)
		}
	}
	if a := s.callOnce("GET", `/verify?token=%22%3E%3Cscript%3E&type=email`, ""); strings.Contains(a.text, "<script>") {
		t.Error("the page runs what stands in its link")
	}
	form := []string{"Content-Type", "application/x-www-form-urlencoded"}
	target, _, fragment := s.led(s.callOnce("POST", "/verify", link.RawQuery, form...))
	if target != "http://site.example" || fragment.Get("access_token") == "" {
		t.Errorf("the button leads to %s with %v", target, fragment)
	}
	if _, _, fragment = s.led(s.callOnce("POST", "/verify", link.RawQuery, form...)); fragment.Get("error_code") != "otp_expired" {
		t.Errorf("the button's second press gives %v", fragment)
	}
	s.want(s.callOnce("POST", "/verify", "a=b", form...), 400, "validation_failed")
}
