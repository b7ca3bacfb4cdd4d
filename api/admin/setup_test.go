package admin_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"basalt/api/apitest"
	"basalt/auth/administrator"
)

func setup(token, email string) string {
	return fmt.Sprintf(`{"token":%q,"email":%q,"password":%q}`, token, email, secret)
}

func TestASetUpLinkMakesOneOwner(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, "", nil)
	b := &browser{s: s}
	b.want(t, http.StatusOK, `{"needed":true}`, "GET", "/setup", "")
	token, other := link(t, s).Reveal(), link(t, s).Reveal()
	b.want(t, http.StatusForbidden, `"link_invalid"`, "POST", "/setup", setup("guess", "ada@example.com"))
	b.want(t, http.StatusUnprocessableEntity, `"email_invalid"`, "POST", "/setup", setup(token, "ada"))
	b.want(t, http.StatusUnprocessableEntity, `"weak_password"`, "POST", "/setup", fmt.Sprintf(`{"token":%q,"email":"ada@example.com","password":"password"}`, token))
	b.want(t, http.StatusOK, `"role":"owner"`, "POST", "/setup", setup(token, "ada@example.com")) // what was refused has not used it up
	b.want(t, http.StatusOK, `"ada@example.com"`, "GET", "/session", "")
	if list, err := rules(s).List(t.Context()); err != nil || len(list) != 1 || list[0].LastSignInAt == nil {
		t.Errorf("%+v, %v", list, err)
	}
	b.want(t, http.StatusOK, `{"needed":false}`, "GET", "/setup", "")
	for name, again := range map[string]string{"the same link": token, "another link": other, "a guess": "guess"} {
		late := &browser{s: s}
		if answer := late.want(t, http.StatusConflict, `"already_set_up"`, "POST", "/setup", setup(again, "eve@example.com")); late.cookie != "" {
			t.Errorf("%s opens a session: %s", name, answer.Body)
		}
	}
	if token, err := rules(s).NewSetupLink(t.Context()); token != "" || err != nil {
		t.Errorf("there is a set-up link although there is an administrator (%v)", err)
	}
	if log := s.Log.String(); strings.Contains(log, token) || strings.Contains(log, other) {
		t.Error("a link is in the log")
	}
	var kept int
	if err := s.Database.Pool.QueryRow(t.Context(), `select count(*) from basalt.administrator_links`).Scan(&kept); err != nil || kept != 0 {
		t.Errorf("%d links are left, %v", kept, err)
	}
}

func TestASetUpLinkExpires(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, "", nil)
	token := link(t, s).Reveal()
	var hashed bool
	if err := s.Database.Pool.QueryRow(t.Context(),
		`select token_hash = sha256(convert_to($1, 'UTF8')) and expires_at between now() + interval '59 minutes' and now() + interval '1 hour' from basalt.administrator_links`, token).
		Scan(&hashed); err != nil || !hashed {
		t.Errorf("the link is not kept as a hash for an hour (%v)", err)
	}
	if _, err := s.Database.Pool.Exec(t.Context(), `update basalt.administrator_links set expires_at = now()`); err != nil {
		t.Fatal(err)
	}
	b := &browser{s: s}
	b.want(t, http.StatusForbidden, `"link_invalid"`, "POST", "/setup", setup(token, "ada@example.com"))
	// The next start makes a new one.
	b.want(t, http.StatusOK, "", "POST", "/setup", setup(link(t, s).Reveal(), "ada@example.com"))
}

func TestOfManyWhoSetUpAtOnceOneDoes(t *testing.T) {
	t.Parallel()
	first := apitest.Start(t, "", nil)
	second := apitest.Over(t, first.Database, apitest.Settings(t, first.Database.URL))
	tokens := []string{link(t, first).Reveal(), link(t, second).Reveal()}
	answers := make([]*apitest.Answer, 20)
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() {
			s := []*apitest.Server{first, second}[i%2]
			b := &browser{s: s}
			answers[i] = b.do(t, "POST", "/setup", setup(tokens[i/2%2], fmt.Sprintf("ada-%d@example.com", i)))
		})
	}
	all.Wait()
	done := 0
	for _, answer := range answers {
		switch answer.Status {
		case http.StatusOK:
			done++
		case http.StatusConflict, http.StatusTooManyRequests: // the queue of hashes is bounded in time, too
		default:
			t.Errorf("%d %s", answer.Status, answer.Body)
		}
	}
	list, err := rules(first).List(t.Context())
	if done != 1 || err != nil || len(list) != 1 || list[0].Role != administrator.Owner {
		t.Errorf("%d have set up, there are %d administrators, %v", done, len(list), err)
	}
}

func TestGuessesOfLinksAreLimited(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, "", limited)
	b := &browser{s: s}
	refused := 0
	for range 40 {
		if b.do(t, "POST", "/setup", setup("guess", "eve@example.com")).Status == http.StatusTooManyRequests {
			refused++
		}
	}
	if refused == 0 {
		t.Error("none of 40 guesses is refused")
	}
	b.want(t, http.StatusTooManyRequests, `"rate_limited"`, "POST", "/join", `{"token":"guess","password":"x"}`)
	b.want(t, http.StatusTooManyRequests, `"rate_limited"`, "POST", "/join/link", `{"token":"guess"}`)
}
