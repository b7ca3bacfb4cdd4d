package accounts_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

func TestOnlyTheServiceRoleAdministers(t *testing.T) {
	s := start(t, options())
	a := s.signUp(address())
	id, exp := a.str("user.id"), time.Now().Add(time.Hour).Unix()
	s.want(s.call("PUT", "/user", a.str("access_token"), `{"data":{"role":"service_role","is_super_admin":true}}`), 200, "")
	claimant := s.want(s.refresh(a.str("refresh_token")), 200, "").str("access_token")
	for _, route := range []string{"GET /users", "POST /users", "GET /users/" + id, "PUT /users/" + id, "DELETE /users/" + id} {
		method, path, _ := strings.Cut(route, " ")
		for name, c := range map[string]struct {
			bearer string
			status int
			code   string
		}{
			"no token":           {"", 401, "no_authorization"},
			"the anon key":       {s.keys.AnonKey, 403, "not_admin"},
			"a user":             {a.str("access_token"), 403, "not_admin"},
			"a user who says so": {claimant, 403, "not_admin"},
			"an invented claim":  {s.sign(`{"sub":%q,"role":"authenticated","is_admin":true,"app_metadata":{"role":"service_role"},"exp":%d}`, id, exp), 403, "not_admin"},
			"nonsense":           {"nonsense", 403, "bad_jwt"},
			"an expired key":     {s.sign(`{"role":"service_role","exp":%d}`, time.Now().Add(-time.Minute).Unix()), 403, "bad_jwt"},
		} {
			if got := s.call(method, "/admin"+path, c.bearer, `{}`); got.status != c.status || got.code() != c.code {
				t.Errorf("%s with %s: %d %s", route, name, got.status, got.text)
			}
		}
	}
	s.want(s.admin("GET", "/users", ""), 200, "")
	s.want(s.call("GET", "/admin/users", s.sign(`{"role":"supabase_admin","exp":%d}`, exp), ""), 200, "")
}

func TestAdminCreatesUsers(t *testing.T) {
	s := start(t, options())
	id := uuid.NewString()
	a := s.want(s.admin("POST", "/users", `{"id":"`+id+`","email":"A@example.com","password":"Secret-pass-1","email_confirm":true,"user_metadata":{"name":"Ann"},"app_metadata":{"plan":"pro","provider":"x"},"ban_duration":"none"}`), 200, "")
	for path, want := range map[string]any{
		"id": id, "email": "a@example.com", "user_metadata.name": "Ann", "app_metadata.plan": "pro", "app_metadata.provider": "email",
		"identities.0.provider": "email", "identities.0.identity_data.email_verified": true, "role": "authenticated", "banned_until": nil,
	} {
		if got := a.get(path); got != want {
			t.Errorf("%s is %v, not %v", path, got, want)
		}
	}
	s.want(s.signIn("a@example.com", goodPassword), 200, "")
	unconfirmed := s.want(s.admin("POST", "/users", `{"email":"b@example.com","password":"Secret-pass-1"}`), 200, "")
	if unconfirmed.get("email_confirmed_at") != nil {
		t.Error("an address is confirmed that nobody confirmed")
	}
	s.want(s.signIn("b@example.com", goodPassword), 400, "email_not_confirmed")
	for _, c := range []struct {
		name, body string
		status     int
		code       string
	}{
		{"a taken address", `{"email":"a@EXAMPLE.com"}`, 422, "email_exists"},
		{"a taken id", `{"email":"c@example.com","id":"` + id + `"}`, 422, "user_already_exists"},
		{"an id that is none", `{"email":"c@example.com","id":"7"}`, 400, "bad_json"},
		{"no address", `{}`, 400, "validation_failed"},
		{"no phone number", `{"phone":"abc"}`, 400, "validation_failed"},
		{"a short password", `{"email":"c@example.com","password":"x"}`, 422, "weak_password"},
		{"a password and a hash", `{"email":"c@example.com","password":"Secret-pass-1","password_hash":"$2a$04$"}`, 400, "validation_failed"},
		{"a ban without a unit", `{"email":"c@example.com","ban_duration":"7"}`, 400, "validation_failed"},
		{"a ban into the past", `{"email":"c@example.com","ban_duration":"-1h"}`, 400, "validation_failed"},
		{"a role longer than its column", `{"email":"c@example.com","role":"` + strings.Repeat("r", 256) + `"}`, 400, "validation_failed"},
		{"a NUL in the role", `{"email":"c@example.com","role":"r\u0000"}`, 400, "validation_failed"},
		{"an audience longer than its column", `{"email":"c@example.com","aud":"` + strings.Repeat("r", 256) + `"}`, 400, "validation_failed"},
		{"the id of nobody", `{"email":"c@example.com","id":"00000000-0000-0000-0000-000000000000"}`, 400, "validation_failed"},
		{"a hash that takes minutes", `{"email":"c@example.com","password_hash":"$2a$20$abcdefghijklmnopqrstuuABCDEFGHIJKLMNOPQRSTUVWXYZ01234"}`, 400, "validation_failed"},
		{"metadata that is a list", `{"email":"c@example.com","app_metadata":[]}`, 400, "validation_failed"},
	} {
		if got := s.admin("POST", "/users", c.body); got.status != c.status || got.code() != c.code {
			t.Errorf("%s: %d %s", c.name, got.status, got.text)
		}
	}
}

func TestAdminListsUsersPageByPage(t *testing.T) {
	s := start(t, options())
	if empty := s.admin("GET", "/users", ""); empty.header.Get("X-Total-Count") != "0" || !strings.Contains(empty.text, `"users":[]`) {
		t.Errorf("no users are %s", empty.text)
	}
	for i := range 5 {
		s.want(s.admin("POST", "/users", fmt.Sprintf(`{"email":"u%d@example.com"}`, i)), 200, "")
	}
	a := s.want(s.admin("GET", "/users?page=1&per_page=2", ""), 200, "")
	if a.header.Get("X-Total-Count") != "5" || a.str("users.0.email") != "u4@example.com" || a.get("users.2") != nil || a.str("aud") != "authenticated" {
		t.Errorf("the first page is %s", a.text)
	}
	if want := `</auth/v1/admin/users?page=2&per_page=2>; rel="next", </auth/v1/admin/users?page=3&per_page=2>; rel="last"`; a.header.Get("Link") != want {
		t.Errorf("the links are %s", a.header.Get("Link"))
	}
	last := s.want(s.admin("GET", "/users?page=3&per_page=2", ""), 200, "")
	if strings.Contains(last.header.Get("Link"), "next") || last.str("users.0.email") != "u0@example.com" {
		t.Errorf("the last page is %s %s", last.text, last.header.Get("Link"))
	}
	for _, query := range []string{"page=0", "page=x", "per_page=-1", "page=99999999999999999999"} {
		s.want(s.admin("GET", "/users?"+query, ""), 400, "validation_failed")
	}
}

func TestAdminChangesUsers(t *testing.T) {
	s := start(t, options())
	email := address()
	a := s.signUp(email)
	id := a.str("user.id")
	b := s.want(s.admin("PUT", "/users/"+id, `{"app_metadata":{"plan":"pro","provider":"evil","providers":[]},"user_metadata":{"name":"Bea"},"role":"reporter"}`), 200, "")
	if b.str("app_metadata.plan") != "pro" || b.str("app_metadata.provider") != "email" || b.str("app_metadata.providers.0") != "email" ||
		b.str("user_metadata.name") != "Bea" || b.str("user_metadata.email") != email || b.str("role") != "reporter" {
		t.Errorf("the account is %s", b.text)
	}
	c := s.want(s.refresh(a.str("refresh_token")), 200, "")
	if claimsOf(t, c.str("access_token"))["role"] != "reporter" {
		t.Error("the next token does not have the role")
	}
	s.want(s.admin("PUT", "/users/"+id, `{"password":"Another-pass-1"}`), 200, "")
	s.want(s.call("GET", "/user", a.str("access_token"), ""), 403, "session_not_found")
	s.want(s.refresh(c.str("refresh_token")), 400, "refresh_token_not_found")
	s.want(s.signIn(email, "Another-pass-1"), 200, "")
	next := address()
	if d := s.want(s.admin("PUT", "/users/"+id, fmt.Sprintf(`{"email":%q}`, next)), 200, ""); d.str("identities.0.email") != next {
		t.Errorf("the account is %s", d.text)
	}
	s.want(s.signIn(next, "Another-pass-1"), 200, "")
	s.want(s.admin("GET", "/users/"+id, ""), 200, "")
	for _, method := range []string{"GET", "PUT", "DELETE"} {
		s.want(s.admin(method, "/users/"+uuid.NewString(), `{}`), 404, "user_not_found")
		s.want(s.admin(method, "/users/7", `{}`), 404, "validation_failed")
		s.want(s.admin(method, "/users/urn:uuid:"+id, `{}`), 404, "validation_failed")
	}
}

func TestAConfirmationByAnAdministratorVoidsTheLink(t *testing.T) {
	o := options()
	o.Autoconfirm = false
	o.Outbound = &post{}
	s := start(t, o)
	email := address()
	id := s.signUp(email).str("id")
	s.want(s.signIn(email, goodPassword), 400, "email_not_confirmed")
	for range 2 {
		a := s.want(s.admin("PUT", "/users/"+id, `{"email_confirm":true}`), 200, "")
		if a.str("email_confirmed_at") == "" || a.get("user_metadata.email_verified") != true || a.get("identities.0.identity_data.email_verified") != true {
			t.Errorf("the account is %s", a.text)
		}
	}
	if n := s.count(`select (select count(*) from auth.one_time_tokens) + (select count(*) from auth.users where confirmation_token <> '')`); n != 0 {
		t.Error("the link is still good")
	}
	s.want(s.signIn(email, goodPassword), 200, "")
}

func TestAnAdministratorChangesAnAccountInOneUpdate(t *testing.T) {
	s := start(t, options())
	id := s.signUp(address()).str("user.id")
	s.db.Exec(t, `
		create table public.touched (id uuid);
		create function public.on_touch() returns trigger language plpgsql security definer set search_path = '' as $$
		begin
			insert into public.touched values (new.id);
			return new;
		end $$;
		create trigger on_touch after update on auth.users for each row execute function public.on_touch();`)
	s.want(s.admin("PUT", "/users/"+id, fmt.Sprintf(`{"email":%q,"password":"Another-pass-1","role":"reporter","user_metadata":{"a":1}}`, address())), 200, "")
	if n := s.count(`select count(*) from public.touched`); n != 1 {
		t.Errorf("the account is updated %d times", n)
	}
}

func TestLinksToPagesDoNotRepeatTheKey(t *testing.T) {
	s := start(t, options())
	for range 2 {
		s.want(s.admin("POST", "/users", fmt.Sprintf(`{"email":%q}`, address())), 200, "")
	}
	link := s.want(s.admin("GET", "/users?per_page=1&apikey=canary-key", ""), 200, "").header.Get("Link")
	if strings.Contains(link, "canary") || !strings.Contains(link, `page=2&per_page=1>; rel="next"`) {
		t.Errorf("the links are %s", link)
	}
}

func TestBansAndDeletionsHoldAtOnce(t *testing.T) {
	s := start(t, options())
	email := address()
	a := s.signUp(email)
	path := "/users/" + a.str("user.id")
	if b := s.want(s.admin("PUT", path, `{"ban_duration":"876000h"}`), 200, ""); b.str("banned_until") == "" {
		t.Error("the ban does not show")
	}
	s.want(s.call("GET", "/user", a.str("access_token"), ""), 403, "user_banned")
	s.want(s.call("PUT", "/user", a.str("access_token"), `{"data":{}}`), 403, "user_banned")
	s.want(s.refresh(a.str("refresh_token")), 400, "user_banned")
	s.want(s.signIn(email, goodPassword), 400, "user_banned")
	s.want(s.admin("PUT", path, `{"ban_duration":"none"}`), 200, "")
	s.want(s.call("GET", "/user", a.str("access_token"), ""), 200, "")
	b := s.want(s.refresh(a.str("refresh_token")), 200, "")
	s.db.Exec(t, `update auth.users set banned_until = 'infinity'`)
	s.want(s.signIn(email, goodPassword), 400, "user_banned")
	s.want(s.admin("PUT", path, `{"ban_duration":"none"}`), 200, "")
	if c := s.admin("DELETE", path, ``); c.status != 200 || strings.TrimSpace(c.text) != "{}" {
		t.Errorf("the deletion answers %d %s", c.status, c.text)
	}
	s.want(s.call("GET", "/user", b.str("access_token"), ""), 403, "user_not_found")
	s.want(s.refresh(b.str("refresh_token")), 400, "refresh_token_not_found")
	s.want(s.signIn(email, goodPassword), 400, "invalid_credentials")
	s.signUp(email)
}

func TestSoftlyDeletedUsersLeaveABareRow(t *testing.T) {
	s := start(t, options())
	email := address()
	a := s.signUp(email)
	path := "/users/" + a.str("user.id")
	s.want(s.admin("DELETE", path, `{"should_soft_delete":true}`), 200, "")
	b := s.want(s.admin("GET", path, ""), 200, "")
	if b.str("deleted_at") == "" || strings.Contains(b.text, email) {
		t.Errorf("the row is %s", b.text)
	}
	if n := s.count(`select (select count(*) from auth.identities) + (select count(*) from auth.sessions) + (select count(*) from auth.refresh_tokens)`); n != 0 {
		t.Errorf("%d rows are left of the account", n)
	}
	s.want(s.call("GET", "/user", a.str("access_token"), ""), 403, "user_not_found")
	s.want(s.admin("PUT", path, `{"role":"x"}`), 404, "user_not_found")
	s.want(s.admin("DELETE", path, `{"should_soft_delete":true}`), 404, "user_not_found")
	s.signUp(email)
}

func TestAdministratorsGiveTelephoneNumbers(t *testing.T) {
	o := options()
	o.Links.Phone = true
	s := start(t, o)
	a := s.want(s.admin("POST", "/users", `{"phone":"+49 151 23456789","password":"Secret-pass-1","phone_confirm":true}`), 200, "")
	if a.str("phone") != "4915123456789" || a.str("phone_confirmed_at") == "" || a.str("email") != "" || a.str("app_metadata.provider") != "phone" ||
		a.str("identities.0.provider") != "phone" || a.get("identities.1") != nil || a.get("identities.0.identity_data.phone_verified") != true {
		t.Errorf("the user is %s", a.text)
	}
	s.want(s.signInByPhone("4915123456789", goodPassword), 200, "")
	both := s.want(s.admin("POST", "/users", `{"phone":"4915100000000","email":"a@example.com","password":"Secret-pass-1"}`), 200, "")
	if both.str("app_metadata.provider") != "email" || both.str("app_metadata.providers.1") != "phone" || both.get("identities.1") == nil ||
		both.get("phone_confirmed_at") != nil || both.get("email_confirmed_at") != nil {
		t.Errorf("the user is %s", both.text)
	}
	s.want(s.signInByPhone("4915100000000", goodPassword), 400, "phone_not_confirmed")
	s.want(s.admin("POST", "/users", `{"phone":"4915123456789"}`), 422, "phone_exists")
	path := "/users/" + both.str("id")
	s.want(s.admin("PUT", path, `{"phone":"4915123456789"}`), 422, "phone_exists")
	if a := s.want(s.admin("PUT", path, `{"phone_confirm":true}`), 200, ""); a.str("phone_confirmed_at") == "" || a.get("user_metadata.phone_verified") != true || !strings.Contains(a.text, `"phone": "4915100000000", "email_verified": false, "phone_verified": true`) {
		t.Errorf("the user is %s", a.text)
	}
	if a := s.want(s.admin("PUT", path, `{"phone":"4915122222222","phone_confirm":false}`), 200, ""); a.str("phone") != "4915122222222" || a.get("phone_confirmed_at") != nil {
		t.Errorf("the user is %s", a.text)
	}
	if a := s.want(s.admin("PUT", "/users/"+a.str("id"), `{"email":"b@example.com"}`), 200, ""); a.str("app_metadata.providers.1") != "email" || a.str("app_metadata.provider") != "phone" {
		t.Errorf("the user is %s", a.text)
	}
}
