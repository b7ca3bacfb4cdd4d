package accounts_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestSignUpGivesASession(t *testing.T) {
	s := start(t, options())
	a := s.call("POST", "/signup", s.keys.AnonKey, `{"email":" Ann@Example.COM ","password":"Secret-pass-1","data":{"name":"Ann","n":12345678901234567890,"email_verified":"mine"},"gotrue_meta_security":{},"code_challenge":null}`)
	s.want(a, 200, "")
	if a.header.Get("Cache-Control") != "no-store" {
		t.Error("tokens may be cached")
	}
	for path, want := range map[string]any{
		"token_type": "bearer", "expires_in": 3600.0, "user.email": "ann@example.com", "user.phone": "", "user.aud": "authenticated", "user.role": "authenticated",
		"user.is_anonymous": false, "user.app_metadata.provider": "email", "user.app_metadata.providers.0": "email",
		"user.user_metadata.name": "Ann", "user.user_metadata.email": "ann@example.com", "user.user_metadata.email_verified": true,
		"user.user_metadata.phone_verified": false, "user.user_metadata.sub": a.str("user.id"),
		"user.identities.0.provider": "email", "user.identities.0.id": a.str("user.id"), "user.identities.0.user_id": a.str("user.id"),
		"user.identities.0.email": "ann@example.com", "user.identities.0.identity_data.sub": a.str("user.id"),
		"user.identities.1": nil, "user.factors": nil, "user.banned_until": nil,
	} {
		if got := a.get(path); got != want {
			t.Errorf("%s is %v, not %v", path, got, want)
		}
	}
	if !strings.Contains(a.text, `"n": 12345678901234567890`) {
		t.Error("a number in the metadata has lost digits")
	}
	for _, path := range []string{"user.created_at", "user.updated_at", "user.email_confirmed_at", "user.confirmed_at", "user.last_sign_in_at", "user.identities.0.created_at"} {
		if _, err := time.Parse("2006-01-02T15:04:05.000000Z", a.str(path)); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	claims := claimsOf(t, a.str("access_token"))
	for name, want := range map[string]any{
		"iss": "http://api.example/auth/v1", "sub": a.str("user.id"), "aud": "authenticated", "email": "ann@example.com", "phone": "",
		"role": "authenticated", "aal": "aal1", "is_anonymous": false, "exp": a.get("expires_at"),
	} {
		if claims[name] != want {
			t.Errorf("the claim %s is %v, not %v", name, claims[name], want)
		}
	}
	methods, _ := claims["amr"].([]any)
	if len(methods) != 1 || methods[0].(map[string]any)["method"] != "password" {
		t.Errorf("amr is %v", claims["amr"])
	}
	if n := s.count(`select count(*) from auth.sessions where id = $1 and user_id = $2 and aal = 'aal1'`, claims["session_id"], a.str("user.id")); n != 1 {
		t.Error("the session is not in the database")
	}
	if n := s.count(`select count(*) from auth.refresh_tokens where token like '%' || $1 || '%'`, a.str("refresh_token")); n != 0 {
		t.Error("the refresh token stands in the database")
	}
	s.want(s.call("GET", "/user", a.str("access_token"), ""), 200, "")
	s.want(s.signIn("ANN@example.com", goodPassword), 200, "")
}

func claimsOf(t *testing.T, raw string) map[string]any {
	t.Helper()
	parts := strings.Split(raw, ".")
	if len(parts) != 3 {
		t.Fatalf("%q is no token", raw)
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		t.Fatal(err)
	}
	var claims map[string]any
	if err := json.Unmarshal(text, &claims); err != nil {
		t.Fatal(err)
	}
	return claims
}

func TestSignUpRefusesBadInput(t *testing.T) {
	s := start(t, options())
	taken := address()
	s.signUp(taken)
	for _, c := range []struct {
		name, body string
		status     int
		code       string
	}{
		{"no body", ``, 400, "bad_json"},
		{"broken JSON", `{"email":`, 400, "bad_json"},
		{"text after the JSON", `{"email":"a@b.nl","password":"Secret-pass-1"} x`, 400, "bad_json"},
		{"a list", `[]`, 400, "bad_json"},
		{"an address of the wrong type", `{"email":7,"password":"Secret-pass-1"}`, 400, "bad_json"},
		{"no password", `{"email":"a@b.nl"}`, 400, "validation_failed"},
		{"a null password", `{"email":"a@b.nl","password":null}`, 400, "validation_failed"},
		{"no address", `{"password":"Secret-pass-1"}`, 400, "validation_failed"},
		{"no at sign", `{"email":"a.nl","password":"Secret-pass-1"}`, 400, "validation_failed"},
		{"two at signs", `{"email":"a@b@c.nl","password":"Secret-pass-1"}`, 400, "validation_failed"},
		{"a line break in the address", `{"email":"a@b.nl\r\nBcc: x@y.nl","password":"Secret-pass-1"}`, 400, "validation_failed"},
		{"a NUL in the address", `{"email":"a\u0000@b.nl","password":"Secret-pass-1"}`, 400, "validation_failed"},
		{"half a surrogate in the address", `{"email":"a\ud800@b.nl","password":"Secret-pass-1"}`, 400, "validation_failed"},
		{"an invisible character in the address", `{"email":"a\u200b@b.nl","password":"Secret-pass-1"}`, 400, "validation_failed"},
		{"a change of direction in the address", `{"email":"a\u202e@b.nl","password":"Secret-pass-1"}`, 400, "validation_failed"},
		{"an address and a phone number", `{"email":"a@b.nl","phone":"+3161234567","password":"Secret-pass-1"}`, 400, "validation_failed"},
		{"bytes that are no UTF-8", "{\"email\":\"a@b.nl\",\"password\":\"Secret-\xff\xfepass\"}", 400, "bad_json"},
		{"half a surrogate in the password", `{"email":"a@b.nl","password":"Secret-\ud800pass"}`, 400, "validation_failed"},
		{"nesting without end", `{"email":"a@b.nl","password":"Secret-pass-1","data":` + strings.Repeat(`[`, 20_000) + `}`, 400, "bad_json"},
		{"an endless address", `{"email":"` + strings.Repeat("a", 251) + `@b.nl","password":"Secret-pass-1"}`, 400, "validation_failed"},
		{"a short password", `{"email":"a@b.nl","password":"aB3$xY7"}`, 422, "weak_password"},
		{"a well-known password", `{"email":"a@b.nl","password":"Password123"}`, 422, "weak_password"},
		{"an endless password", `{"email":"a@b.nl","password":"` + strings.Repeat("xy", 2049) + `"}`, 400, "validation_failed"},
		{"data that is no object", `{"email":"a@b.nl","password":"Secret-pass-1","data":[1]}`, 400, "validation_failed"},
		{"data with a NUL", `{"email":"a@b.nl","password":"Secret-pass-1","data":{"x":"\u0000"}}`, 400, "validation_failed"},
		{"data with half a surrogate", `{"email":"a@b.nl","password":"Secret-pass-1","data":{"x":"\ud800"}}`, 400, "validation_failed"},
		{"a taken address", `{"email":"` + strings.ToUpper(taken) + `","password":"Secret-pass-1"}`, 422, "user_already_exists"},
		{"a phone number", `{"phone":"+3161234567","password":"Secret-pass-1"}`, 400, "phone_provider_disabled"},
		{"nothing at all", `{}`, 422, "anonymous_provider_disabled"},
		{"more than a mebibyte", `{"x":"` + strings.Repeat("x", 1<<20) + `"}`, 413, "request_entity_too_large"},
	} {
		a := s.call("POST", "/signup", s.keys.AnonKey, c.body)
		if a.status != c.status || a.code() != c.code || a.header.Get("x-sb-error-code") != c.code {
			t.Errorf("%s: %d %s", c.name, a.status, a.text)
		}
	}
	if n := s.count(`select count(*) from auth.users`); n != 1 {
		t.Errorf("there are %d accounts", n)
	}
	weak := s.call("POST", "/signup", s.keys.AnonKey, `{"email":"a@b.nl","password":"short"}`)
	if weak.str("weak_password.reasons.0") != "length" {
		t.Errorf("the reasons are missing: %s", weak.text)
	}
}

func TestRacingSignUpsMakeOneAccount(t *testing.T) {
	s := start(t, options())
	spellings := []string{"Zo\u00eb@example.com", "ZOE\u0308@Example.com", " zo\u00eb@EXAMPLE.com", "\uff5ao\u00eb@example.com"}
	var mu sync.Mutex
	seen := map[string]int{}
	var group sync.WaitGroup
	for i := range 40 {
		group.Go(func() {
			a := s.call("POST", "/signup", s.keys.AnonKey, fmt.Sprintf(`{"email":%q,"password":%q}`, spellings[i%len(spellings)], goodPassword))
			mu.Lock()
			defer mu.Unlock()
			seen[fmt.Sprint(a.status, a.code())]++
		})
	}
	group.Wait()
	if want := map[string]int{"200": 1, "422user_already_exists": 39}; !maps.Equal(seen, want) {
		t.Errorf("the answers are %v", seen)
	}
	for _, table := range []string{"users", "identities", "sessions", "refresh_tokens"} {
		if n := s.count(`select count(*) from auth.` + table); n != 1 {
			t.Errorf("auth.%s has %d rows", table, n)
		}
	}
}

func TestSignUpWhereItIsSwitchedOff(t *testing.T) {
	o := options()
	o.DisableSignup = true
	s := start(t, o)
	s.want(s.call("POST", "/signup", s.keys.AnonKey, `{"email":"a@b.nl","password":"Secret-pass-1"}`), 422, "signup_disabled")
	s.want(s.call("POST", "/signup", s.keys.AnonKey, `{}`), 422, "signup_disabled")
	if s.call("GET", "/settings", "", "").get("disable_signup") != true {
		t.Error("the settings do not say so")
	}
}

func TestTriggersOfTheProjectTakePart(t *testing.T) {
	s := start(t, options())
	s.db.Exec(t, `
		create table public.profiles (id uuid primary key references auth.users (id) on delete cascade, name text);
		create table public.touched (id uuid);
		create function public.on_user() returns trigger language plpgsql security definer set search_path = '' as $$
		begin
			if new.raw_user_meta_data ->> 'name' = 'stop' then
				raise 'not today';
			end if;
			insert into public.profiles values (new.id, new.raw_user_meta_data ->> 'name');
			update auth.users set raw_app_meta_data = raw_app_meta_data || '{"plan":"free"}' where id = new.id;
			return new;
		end $$;
		create function public.on_touch() returns trigger language plpgsql security definer set search_path = '' as $$
		begin
			insert into public.touched values (new.id);
			return new;
		end $$;
		create trigger on_user after insert on auth.users for each row execute function public.on_user();`)
	a := s.call("POST", "/signup", s.keys.AnonKey, `{"email":"a@example.com","password":"Secret-pass-1","data":{"name":"Ann"}}`)
	s.want(a, 200, "")
	if a.str("user.app_metadata.plan") != "free" {
		t.Error("the answer does not have what the trigger wrote")
	}
	if app, _ := claimsOf(t, a.str("access_token"))["app_metadata"].(map[string]any); app["plan"] != "free" {
		t.Error("the token does not have what the trigger wrote")
	}
	refused := s.want(s.call("POST", "/signup", s.keys.AnonKey, `{"email":"b@example.com","password":"Secret-pass-1","data":{"name":"stop"}}`), 500, "unexpected_failure")
	if refused.str("msg") != "Database error saving new user" || refused.str("error_id") == "" {
		t.Errorf("the refusal is %s", refused.text)
	}
	if !strings.Contains(s.log.String(), "not today") {
		t.Error("the log does not say why")
	}
	if n := s.count(`select count(*) from auth.users u full join auth.identities i on i.user_id = u.id full join public.profiles p on p.id = u.id`); n != 1 {
		t.Errorf("%d accounts are left", n)
	}
	s.db.Exec(t, `create trigger on_touch after update on auth.users for each row execute function public.on_touch()`)
	s.want(s.signIn("a@example.com", goodPassword), 200, "")
	if n := s.count(`select count(*) from public.touched`); n != 1 {
		t.Errorf("a sign-in updates the account %d times", n)
	}
	s.db.Exec(t, `
		create function public.skip() returns trigger language plpgsql as $$ begin return null; end $$;
		create trigger skip before insert on auth.users for each row execute function public.skip();`)
	s.want(s.call("POST", "/signup", s.keys.AnonKey, `{"email":"c@example.com","password":"Secret-pass-1"}`), 500, "unexpected_failure")
}

func TestSignUpThatNeedsConfirmation(t *testing.T) {
	o := options()
	o.Autoconfirm = false
	mails := &post{}
	o.Outbound = mails
	s := start(t, o)
	body := `{"email":"a@example.com","password":"Secret-pass-1","data":{"name":"Ann"}}`
	first := s.want(s.call("POST", "/signup", s.keys.AnonKey, body, "X-Forwarded-Host", "evil.example", "Referer", "https://evil.example/"), 200, "")
	if first.get("access_token") != nil || first.str("id") == "" || first.get("confirmed_at") != nil || first.str("confirmation_sent_at") == "" || first.get("identities.0") == nil {
		t.Errorf("the answer is not the bare user: %s", first.text)
	}
	if len(mails.mails) != 1 || mails.mails[0].To != "a@example.com" {
		t.Fatalf("the mails are %v", mails.mails)
	}
	link, err := url.Parse(mails.mails[0].Link.Reveal())
	if err != nil || link.Host != "api.example" || link.Query().Get("redirect_to") != "http://site.example" {
		t.Errorf("the link is %v, %v", link, err)
	}
	if n := s.count(`
		select count(*)
		from auth.one_time_tokens o
		join auth.users u on u.id = o.user_id and u.confirmation_token = o.token_hash
		where o.token_type = 'confirmation_token'
		and o.token_hash = encode(sha256(convert_to($1, 'utf8')), 'hex')`, link.Query().Get("token")); n != 1 {
		t.Error("the link's token is not what the database waits for")
	}
	s.want(s.signIn("a@example.com", goodPassword), 400, "email_not_confirmed")
	s.want(s.signIn("a@example.com", "Wrong-pass-1"), 400, "invalid_credentials")

	again := s.want(s.call("POST", "/signup", s.keys.AnonKey, fmt.Sprintf(`{"email":"A@example.com","password":%q}`, goodPassword)), 200, "")
	if again.str("id") != first.str("id") || len(mails.mails) != 2 {
		t.Errorf("a second sign-up while unconfirmed gives %s and %d mails", again.text, len(mails.mails))
	}
	if mails.mails[0].Link == mails.mails[1].Link {
		t.Error("two mails have the same link")
	}

	s.db.Exec(t, `update auth.users set email_confirmed_at = now()`)
	s.want(s.signIn("a@example.com", goodPassword), 200, "")
	hidden := s.want(s.call("POST", "/signup", s.keys.AnonKey, body), 200, "")
	if hidden.str("id") == first.str("id") || hidden.get("identities.0") != nil || len(mails.mails) != 2 {
		t.Errorf("a confirmed account shows: %s", hidden.text)
	}
	if !slices.Equal(keysOf(t, hidden), keysOf(t, first)) {
		t.Errorf("an invented user has the fields %v, a real one %v", keysOf(t, hidden), keysOf(t, first))
	}
	if n := s.count(`select count(*) from auth.users`); n != 1 {
		t.Errorf("there are %d accounts", n)
	}
}

func keysOf(t *testing.T, a answer) []string {
	t.Helper()
	var members map[string]any
	if err := json.Unmarshal([]byte(a.text), &members); err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(maps.Keys(members))
}

// Anybody can sign up for an address that waits to be confirmed: they are told what they have said, and nothing else.
func TestASignUpIsNotToldWhatOthersHaveSaidOfTheAddress(t *testing.T) {
	const secret = "told-by-others"
	for name, before := range map[string]func(*server){
		"an invitation": func(s *server) {
			s.want(s.call("POST", "/invite", s.keys.ServiceKey.Reveal(), `{"email":"a@example.com","data":{"salary":"`+secret+`"}}`), 200, "")
		},
		"a sign-up": func(s *server) {
			s.want(s.say("/signup", `{"email":"a@example.com","password":"Another-pass-1","data":{"name":"`+secret+`"}}`), 200, "")
		},
		"a code": func(s *server) {
			s.want(s.say("/otp", `{"email":"a@example.com","data":{"name":"`+secret+`"}}`), 200, "")
		},
		"an administrator": func(s *server) {
			s.want(s.admin("POST", "/users", `{"email":"a@example.com","password":"Another-pass-1","app_metadata":{"team":"`+secret+`"}}`), 200, "")
		},
	} {
		for limits, off := range map[string]bool{"": true, " a moment before": false} {
			t.Run(name+limits, func(t *testing.T) {
				o := linkOptions()
				o.LimitsOff = off
				s, _ := mailing(t, o)
				before(s)
				a := s.want(s.say("/signup", `{"email":"a@example.com","password":%q,"data":{"name":"Ann"}}`, goodPassword), 200, "")
				fresh := s.want(s.say("/signup", `{"email":"b@example.com","password":%q,"data":{"name":"Ann"}}`, goodPassword), 200, "")
				if strings.Contains(a.text, secret) || a.str("user_metadata.name") != "Ann" || a.str("user_metadata.sub") != a.str("id") || a.str("email") != "a@example.com" {
					t.Errorf("the answer is %s", a.text)
				}
				if fmt.Sprint(keysOf(t, a)) != fmt.Sprint(keysOf(t, fresh)) || a.str("identities.0.user_id") != a.str("id") || a.str("identities.0.provider") != "email" {
					t.Errorf("the answer is %s, for a new address %s", a.text, fresh.text)
				}
			})
		}
	}
}

func TestAnonymousAccountsBecomeLastingOnes(t *testing.T) {
	o := options()
	o.Anonymous = true
	s := start(t, o)
	a := s.want(s.call("POST", "/signup", s.keys.AnonKey, `{"data":{"theme":"dark"}}`), 200, "")
	if a.get("user.is_anonymous") != true || a.get("user.identities.0") != nil || a.str("user.role") != "authenticated" || a.str("user.email") != "" {
		t.Errorf("the account is %s", a.text)
	}
	if claimsOf(t, a.str("access_token"))["is_anonymous"] != true {
		t.Error("the token does not say that it is anonymous")
	}
	s.want(s.call("POST", "/signup", s.keys.AnonKey, `{}`), 200, "")
	email := address()
	b := s.want(s.call("PUT", "/user", a.str("access_token"), fmt.Sprintf(`{"email":%q,"password":"Secret-pass-1"}`, email)), 200, "")
	if b.str("id") != a.str("user.id") || b.get("is_anonymous") != false || b.str("identities.0.provider") != "email" ||
		b.str("user_metadata.theme") != "dark" || b.str("app_metadata.provider") != "email" {
		t.Errorf("the account has become %s", b.text)
	}
	s.want(s.signIn(email, goodPassword), http.StatusOK, "")
}
