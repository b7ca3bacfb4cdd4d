package accounts_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"basalt/auth/password"
)

func TestPasswordGrantRefuses(t *testing.T) {
	s := start(t, options())
	email := address()
	s.signUp(email)
	for _, c := range []struct {
		name, query, body string
		status            int
		code              string
	}{
		{"a wrong password", "password", `{"email":"` + email + `","password":"Wrong-pass-1"}`, 400, "invalid_credentials"},
		{"an empty password", "password", `{"email":"` + email + `","password":""}`, 400, "invalid_credentials"},
		{"no password", "password", `{"email":"` + email + `"}`, 400, "invalid_credentials"},
		{"an unknown address", "password", `{"email":"nobody@example.com","password":"Secret-pass-1"}`, 400, "invalid_credentials"},
		{"no address at all", "password", `{"email":"not an address","password":"Secret-pass-1"}`, 400, "invalid_credentials"},
		{"SQL for an address", "password", `{"email":"' or 1=1 --","password":"Secret-pass-1"}`, 400, "invalid_credentials"},
		{"a password with its end cut off", "password", `{"email":"` + email + `","password":"Secret-pass-"}`, 400, "invalid_credentials"},
		{"an endless password", "password", `{"email":"` + email + `","password":"` + strings.Repeat("x", 100_000) + `"}`, 400, "invalid_credentials"},
		{"nothing to go by", "password", `{}`, 400, "validation_failed"},
		{"a phone number", "password", `{"phone":"+3161234567","password":"Secret-pass-1"}`, 400, "phone_provider_disabled"},
		{"broken JSON", "password", `{`, 400, "bad_json"},
		{"an unknown grant", "client_credentials", `{}`, 400, "invalid_credentials"},
		{"no grant", "", `{}`, 400, "invalid_credentials"},
		{"an unknown refresh token", "refresh_token", `{"refresh_token":"nothing"}`, 400, "refresh_token_not_found"},
		{"no refresh token", "refresh_token", `{}`, 400, "validation_failed"},
		{"the anon key for a refresh token", "refresh_token", `{"refresh_token":"` + s.keys.AnonKey + `"}`, 400, "refresh_token_not_found"},
		{"a NUL for a refresh token", "refresh_token", `{"refresh_token":"\u0000"}`, 400, "refresh_token_not_found"},
	} {
		a := s.call("POST", "/token?grant_type="+c.query, s.keys.AnonKey, c.body)
		if a.status != c.status || a.code() != c.code {
			t.Errorf("%s: %d %s", c.name, a.status, a.text)
		}
	}
}

func TestKnownAndUnknownAddressesAreAnsweredAlike(t *testing.T) {
	s := start(t, options())
	known := address()
	s.signUp(known)
	federated := address()
	s.want(s.admin("POST", "/users", fmt.Sprintf(`{"email":%q,"email_confirm":true}`, federated)), 200, "")
	banned := address()
	id := s.signUp(banned).str("user.id")
	s.want(s.admin("PUT", "/users/"+id, `{"ban_duration":"24h"}`), 200, "")
	for _, version := range []string{"", "2024-01-01"} {
		reference := s.signIn("nobody@example.com", "Wrong-pass-1", "X-Supabase-Api-Version", version)
		for name, email := range map[string]string{"known": known, "without a password": federated, "banned": banned} {
			a := s.signIn(email, "Wrong-pass-1", "X-Supabase-Api-Version", version)
			a.header.Del("Date")
			a.header.Del("X-Request-Id")
			reference.header.Del("Date")
			reference.header.Del("X-Request-Id")
			if a.status != reference.status || a.text != reference.text || fmt.Sprint(a.header) != fmt.Sprint(reference.header) {
				t.Errorf("an account that is %s is answered %d %s, none at all %d %s", name, a.status, a.text, reference.status, reference.text)
			}
		}
	}
}

func TestErrorsHaveTheShapeThatTheVersionAsksFor(t *testing.T) {
	s := start(t, options())
	for version, want := range map[string]string{
		"":           `{"code":400,"error_code":"invalid_credentials","msg":"Invalid login credentials"}`,
		"2023-12-31": `{"code":400,"error_code":"invalid_credentials","msg":"Invalid login credentials"}`,
		"nonsense":   `{"code":400,"error_code":"invalid_credentials","msg":"Invalid login credentials"}`,
		"2024-01-01": `{"code":"invalid_credentials","message":"Invalid login credentials"}`,
		"2030-01-01": `{"code":"invalid_credentials","message":"Invalid login credentials"}`,
	} {
		a := s.signIn("nobody@example.com", "Wrong-pass-1", "X-Supabase-Api-Version", version)
		if strings.TrimSpace(a.text) != want || a.header.Get("x-sb-error-code") != "invalid_credentials" {
			t.Errorf("version %q: %s", version, a.text)
		}
		if echoed := a.header.Get("X-Supabase-Api-Version"); (echoed == "2024-01-01") != strings.Contains(want, `"message"`) {
			t.Errorf("version %q is echoed as %q", version, echoed)
		}
	}
}

func TestOneRefreshTokenUsedByManyHasOneSuccessor(t *testing.T) {
	s := start(t, options())
	second := startOver(t, s.db, options())
	r0 := s.signUp(address()).str("refresh_token")
	var mu sync.Mutex
	next := map[string]int{}
	var group sync.WaitGroup
	for i := range 100 {
		group.Go(func() {
			process := s
			if i%2 == 1 {
				process = second
			}
			a := process.refresh(r0)
			mu.Lock()
			defer mu.Unlock()
			if a.status != 200 {
				t.Errorf("a refresh answers %d %s", a.status, a.text)
				return
			}
			next[a.str("refresh_token")]++
			if claimsOf(t, a.str("access_token"))["aal"] != "aal1" {
				t.Error("the token has no level")
			}
		})
	}
	group.Wait()
	if len(next) != 1 {
		t.Errorf("there are %d successors", len(next))
	}
	if heads := s.count(`select count(*) from auth.refresh_tokens where not revoked`); heads != 1 {
		t.Errorf("there are %d heads", heads)
	}
	if all := s.count(`select count(*) from auth.refresh_tokens`); all != 2 {
		t.Errorf("there are %d tokens", all)
	}
}

// age makes it seem that all used refresh tokens were used a while ago.
func (s *server) age() {
	s.t.Helper()
	s.db.Exec(s.t, `update auth.refresh_tokens set updated_at = updated_at - interval '11 seconds' where revoked`)
}

func TestRefreshKeepsTheSession(t *testing.T) {
	s := start(t, options())
	a := s.signUp(address())
	b := s.want(s.refresh(a.str("refresh_token")), 200, "")
	before, after := claimsOf(t, a.str("access_token")), claimsOf(t, b.str("access_token"))
	for _, name := range []string{"session_id", "sub", "aal", "role"} {
		if before[name] != after[name] {
			t.Errorf("%s was %v and is %v", name, before[name], after[name])
		}
	}
	if fmt.Sprint(before["amr"]) != fmt.Sprint(after["amr"]) {
		t.Errorf("amr was %v and is %v", before["amr"], after["amr"])
	}
	if b.str("refresh_token") == a.str("refresh_token") || b.str("user.email") == "" {
		t.Errorf("the session is %s", b.text)
	}
}

func TestAUsedTokenGivesTheCurrentSuccessorForAWhile(t *testing.T) {
	s := start(t, options())
	r0 := s.signUp(address()).str("refresh_token")
	r1 := s.want(s.refresh(r0), 200, "").str("refresh_token")
	r2 := s.want(s.refresh(r1), 200, "").str("refresh_token")
	if again := s.want(s.refresh(r0), 200, "").str("refresh_token"); again != r2 {
		t.Error("the first token does not lead to the head")
	}
	if n := s.count(`select count(*) from auth.refresh_tokens where not revoked`); n != 1 {
		t.Errorf("there are %d heads", n)
	}
}

func TestAUsedTokenEndsTheSessionLater(t *testing.T) {
	s := start(t, options())
	email := address()
	r0 := s.signUp(email).str("refresh_token")
	other := s.want(s.signIn(email, goodPassword), 200, "")
	a := s.want(s.refresh(r0), 200, "")
	r1 := a.str("refresh_token")
	s.age()
	r2 := s.want(s.refresh(r1), 200, "").str("refresh_token")
	s.age()
	s.want(s.refresh(r0), 400, "refresh_token_already_used")
	s.want(s.refresh(r2), 400, "refresh_token_already_used")
	s.want(s.refresh(r0), 400, "refresh_token_already_used")
	s.want(s.call("GET", "/user", a.str("access_token"), ""), 403, "session_not_found")
	s.want(s.refresh(other.str("refresh_token")), 200, "")
	if !strings.Contains(s.log.String(), "a used refresh token came back") {
		t.Error("the log does not tell")
	}
}

func TestReuseAndRefreshAtTheSameMomentLeaveNothingAlive(t *testing.T) {
	s := start(t, options())
	for range 10 {
		r0 := s.signUp(address()).str("refresh_token")
		r1 := s.want(s.refresh(r0), 200, "").str("refresh_token")
		s.age()
		var group sync.WaitGroup
		var newest string
		group.Go(func() { newest = s.refresh(r1).str("refresh_token") })
		group.Go(func() { s.want(s.refresh(r0), 400, "refresh_token_already_used") })
		group.Wait()
		for _, r := range []string{r1, newest} {
			if r != "" {
				s.want(s.refresh(r), 400, "refresh_token_already_used")
			}
		}
	}
}

func TestSessionsHaveAnEnd(t *testing.T) {
	s := start(t, options())
	a := s.signUp(address())
	s.db.Exec(t, `update auth.sessions set not_after = now() - interval '1 second'`)
	s.want(s.refresh(a.str("refresh_token")), 400, "session_expired")
	s.want(s.call("GET", "/user", a.str("access_token"), ""), 403, "session_not_found")
}

func TestRefreshTokensOfADumpAreGoodOnce(t *testing.T) {
	s := start(t, options())
	a := s.signUp(address())
	stored := ""
	if err := s.db.Pool.QueryRow(t.Context(), `select token from auth.refresh_tokens`).Scan(&stored); err != nil {
		t.Fatal(err)
	}
	s.want(s.refresh(stored), 400, "refresh_token_not_found")
	s.db.Exec(t, `update auth.refresh_tokens set token = 'v7q2mz4k8c1x'`)
	r1 := s.want(s.refresh("v7q2mz4k8c1x"), 200, "").str("refresh_token")
	if again := s.want(s.refresh("v7q2mz4k8c1x"), 200, "").str("refresh_token"); again != r1 {
		t.Error("two uses of a dump's token have two successors")
	}
	s.want(s.refresh(a.str("refresh_token")), 400, "refresh_token_not_found")
	s.age()
	s.want(s.refresh("v7q2mz4k8c1x"), 400, "refresh_token_already_used")
	s.want(s.refresh(r1), 400, "refresh_token_already_used")
}

func TestPasswordsOfADumpAreHashedAnewAtSignIn(t *testing.T) {
	s := start(t, options())
	old, err := bcrypt.GenerateFromPassword([]byte("old one"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	email := address()
	s.want(s.admin("POST", "/users", fmt.Sprintf(`{"email":%q,"email_confirm":true,"password_hash":%q}`, email, old)), 200, "")
	s.want(s.signIn(email, "old two"), 400, "invalid_credentials")
	for range 2 {
		s.want(s.signIn(email, "old one"), 200, "")
		if n := s.count(`select count(*) from auth.users where encrypted_password like '$argon2id$%'`); n != 1 {
			t.Error("the hash was not replaced")
		}
	}
	s.want(s.admin("POST", "/users", `{"email":"x@example.com","password_hash":"$1$abc$def"}`), 400, "validation_failed")
}

func TestAnAddressThatIsNoneIsNobodys(t *testing.T) {
	s := start(t, options())
	s.signUp(address())
	// Accounts of a dump that are known by a phone number alone may have an empty address.
	s.db.Exec(t, `update auth.users set email = ''`)
	for _, email := range []string{"not an address", " ", "@"} {
		s.want(s.signIn(email, goodPassword), 400, "invalid_credentials")
	}
}

func TestWhatBcryptCannotSeeIsNotCompared(t *testing.T) {
	s := start(t, options())
	old, err := bcrypt.GenerateFromPassword([]byte(strings.Repeat("x", 72)), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	email := address()
	s.want(s.admin("POST", "/users", fmt.Sprintf(`{"email":%q,"email_confirm":true,"password_hash":%q}`, email, old)), 200, "")
	s.want(s.signIn(email, strings.Repeat("x", 73)), 400, "invalid_credentials")
	s.want(s.signIn(email, strings.Repeat("x", 72)), 200, "")
}

func TestAFloodOfSignInsIsRefusedNotQueuedForEver(t *testing.T) {
	o := options()
	o.Passwords = password.Recommended()
	o.Gate = password.GateOptions{Slots: 1, Queue: 2, Wait: time.Minute}
	s := start(t, o)
	var mu sync.Mutex
	seen := map[int]int{}
	var group sync.WaitGroup
	for range 30 {
		group.Go(func() {
			a := s.signIn("nobody@example.com", "Wrong-pass-1")
			mu.Lock()
			defer mu.Unlock()
			seen[a.status]++
			if a.status == 429 && (a.code() != "over_request_rate_limit" || a.header.Get("Retry-After") != "60") {
				t.Errorf("the refusal is %s %v", a.text, a.header)
			}
		})
	}
	group.Wait()
	if seen[400]+seen[429] != 30 || seen[429] == 0 || seen[400] < 3 {
		t.Errorf("the answers are %v", seen)
	}
	if got := s.service.Gate().Stats(); got.Refused != int64(seen[429]) || got.Running != 0 || got.Queued != 0 {
		t.Errorf("the gate says %+v", got)
	}
}
