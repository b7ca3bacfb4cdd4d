package accounts_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

func TestMetadataIsBounded(t *testing.T) {
	s := start(t, options())
	signUp := func(data string) answer {
		return s.call("POST", "/signup", s.keys.AnonKey, fmt.Sprintf(`{"email":%q,"password":%q,"data":%s}`, address(), goodPassword, data))
	}
	for name, data := range map[string]string{
		"a number that the database cannot keep":   `{"n":1e999999}`,
		"a fraction that the database cannot keep": `{"n":-1.5E-20000}`,
		"an exponent beyond all numbers":           `{"n":1e99999999999999999999}`,
		"short numbers that are long when printed": `{"n":[` + strings.Repeat(`1e300,`, 1000) + `1]}`,
		"more than a quarter of a mebibyte":        `{"x":"` + strings.Repeat("x", 256<<10) + `"}`,
		"a NUL deep inside":                        `{"a":[{"b\u0000":1}]}`,
		"half a surrogate for a name":              `{"\udfff":1}`,
	} {
		if a := signUp(data); a.status != 400 || a.code() != "validation_failed" {
			t.Errorf("%s: %d %.200s", name, a.status, a.text)
		}
	}
	a := s.want(signUp(`{"pi":3.14159265358979323846,"big":1e300,"deep":`+strings.Repeat("[", 1000)+strings.Repeat("]", 1000)+`}`), 200, "")
	if !strings.Contains(a.text, "3.14159265358979323846") {
		t.Error("a number has lost digits")
	}
	bearer := a.str("access_token")
	half := strings.Repeat("x", 150<<10)
	s.want(s.call("PUT", "/user", bearer, `{"data":{"a":"`+half+`"}}`), 200, "")
	s.want(s.call("PUT", "/user", bearer, `{"data":{"b":"`+half+`"}}`), 400, "validation_failed")
	s.want(s.call("PUT", "/user", bearer, `{"data":{"a":"`+half+`"}}`), 200, "")
	s.want(s.call("PUT", "/user", bearer, `{"data":{"a":null,"b":"`+half+`"}}`), 200, "")
	s.want(s.admin("PUT", "/users/"+a.str("user.id"), `{"user_metadata":{"a":"`+half+`"}}`), 400, "validation_failed")
	s.want(s.admin("POST", "/users", `{"email":"x@example.com","user_metadata":{"a":1e999999}}`), 400, "validation_failed")
}

func TestMetadataDoesNotGrowPastItsBoundByManyAtOnce(t *testing.T) {
	s := start(t, options())
	a := s.signUp(address())
	part := strings.Repeat("x", 60<<10)
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			got := s.call("PUT", "/user", a.str("access_token"), fmt.Sprintf(`{"data":{"part%d":%q}}`, i, part))
			if got.status != 200 && got.code() != "validation_failed" {
				t.Errorf("the answer is %d %.200s", got.status, got.text)
			}
		})
	}
	group.Wait()
	if n := s.count(`select octet_length(raw_user_meta_data::text) from auth.users`); n > 256<<10 || n < 200<<10 {
		t.Errorf("the metadata has %d bytes", n)
	}
}

func TestAppMetadataFitsIntoATokenOrIsRefused(t *testing.T) {
	s := start(t, options())
	email := address()
	id := s.signUp(email).str("user.id")
	s.want(s.admin("PUT", "/users/"+id, `{"app_metadata":{"a":"`+strings.Repeat("x", 3000)+`"}}`), 200, "")
	s.want(s.call("GET", "/user", s.want(s.signIn(email, goodPassword), 200, "").str("access_token"), ""), 200, "")
	s.want(s.admin("PUT", "/users/"+id, `{"app_metadata":{"b":"`+strings.Repeat("x", 3000)+`"}}`), 400, "validation_failed")
	s.want(s.admin("POST", "/users", `{"email":"x@example.com","app_metadata":{"a":"`+strings.Repeat("x", 5000)+`"}}`), 400, "validation_failed")
	// What came with a dump may be longer: no token is better than one that is refused everywhere.
	s.db.Exec(t, `update auth.users set raw_app_meta_data = jsonb_build_object('a', repeat('x', 9000))`)
	s.want(s.signIn(email, goodPassword), 500, "unexpected_failure")
}

func TestWhatATriggerCannotReadIsNotTheCallersFault(t *testing.T) {
	s := start(t, options())
	s.db.Exec(t, `
		create function public.age() returns trigger language plpgsql as $$
		begin
			perform (new.raw_user_meta_data ->> 'age')::int;
			return new;
		end $$;
		create trigger age before insert on auth.users for each row execute function public.age();`)
	a := s.want(s.call("POST", "/signup", s.keys.AnonKey, `{"email":"a@example.com","password":"Secret-pass-1","data":{"age":"old"}}`), 500, "unexpected_failure")
	if a.str("msg") != "Database error saving new user" {
		t.Errorf("the answer is %s", a.text)
	}
}
