package api_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"basalt/api"
	"basalt/api/apitest"
)

// ways are what ends a session, or bars its user, by whatever process and way.
func ways() map[string]func(t *testing.T, s *apitest.Server, own, id string) {
	sql := func(text string) func(*testing.T, *apitest.Server, string, string) {
		return func(t *testing.T, s *apitest.Server, _, id string) { s.Database.Exec(t, fmt.Sprintf(text, id)) }
	}
	admin := func(method, path, body string) func(*testing.T, *apitest.Server, string, string) {
		return func(t *testing.T, s *apitest.Server, _, id string) {
			if a := s.Do(t, method, "/auth/v1/admin/users/"+id+path, body, s.Service()); a.Status/100 != 2 {
				t.Fatalf("%d %s", a.Status, a.Body)
			}
		}
	}
	return map[string]func(*testing.T, *apitest.Server, string, string){
		"a sign-out": func(t *testing.T, s *apitest.Server, own, _ string) {
			if a := s.Do(t, "POST", "/auth/v1/logout", "", own); a.Status != 204 {
				t.Fatalf("%d %s", a.Status, a.Body)
			}
		},
		"a ban":                            admin("PUT", "", `{"ban_duration":"1h"}`),
		"a password that the admin sets":   admin("PUT", "", `{"password":"another long password"}`),
		"a deletion":                       admin("DELETE", "", ""),
		"a soft deletion":                  admin("DELETE", "", `{"should_soft_delete":true}`),
		"the end of all sessions":          admin("DELETE", "/sessions", ""),
		"a deletion of the session by SQL": sql(`delete from auth.sessions where user_id = '%s'`),
		"an end of the session by SQL":     sql(`update auth.sessions set not_after = now() where user_id = '%s'`),
		"a ban by SQL":                     sql(`update auth.users set banned_until = 'infinity' where id = '%s'`),
		"a deletion of hundreds": func(t *testing.T, s *apitest.Server, _, id string) {
			s.Database.Exec(t, fmt.Sprintf(`insert into auth.sessions (id, user_id, created_at) select gen_random_uuid(), '%s', now() from generate_series(1, 300); delete from auth.sessions where user_id = '%[1]s'`, id))
		},
	}
}

func TestTokensOfEndedSessionsAreRefusedWhereThatIsAskedFor(t *testing.T) {
	t.Parallel()
	strict := func(settings *api.Settings) { settings.StrictSessions = true }
	s := apitest.Start(t, things, strict)
	settings := apitest.Settings(t, s.Database.URL)
	strict(&settings)
	second := apitest.Over(t, s.Database, settings)
	// Of the connection that listens one can only know that it does by what comes of it.
	listening := func() int {
		var n int
		if err := s.Database.Pool.QueryRow(t.Context(), `select count(*) from pg_stat_activity where datname = current_database() and ltrim(query, e'\n') like 'insert into basalt.session_watch%' and state = 'idle'`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	apitest.Until(t, "both listen", func() bool { return listening() >= 2 })
	tried := 0
	for name, end := range ways() {
		tried++
		own, id := s.SignUp(t, fmt.Sprintf("user-%d@example.com", tried))
		bystander, _ := s.SignUp(t, fmt.Sprintf("other-%d@example.com", tried))
		for range 3 {
			for _, server := range []*apitest.Server{s, second} {
				if a := server.Do(t, "GET", "/rest/v1/thing", "", own); a.Status != http.StatusOK {
					t.Fatalf("%s: before: %d %s", name, a.Status, a.Body)
				}
			}
		}
		end(t, s, own, id)
		for _, server := range []*apitest.Server{s, second} {
			apitest.Until(t, name+" is known", func() bool {
				a := server.Do(t, "GET", "/rest/v1/thing", "", own)
				return a.Status == http.StatusUnauthorized
			})
			if a := server.Do(t, "GET", "/auth/v1/user", "", own); a.Status != http.StatusForbidden {
				t.Errorf("%s: GET /user: %d %s", name, a.Status, a.Body)
			}
			if a := server.Do(t, "GET", "/rest/v1/thing", "", bystander); a.Status != http.StatusOK {
				t.Errorf("%s: a bystander: %d %s", name, a.Status, a.Body)
			}
			for _, header := range []string{s.Service(), s.As(t, "authenticated", ""), "X-None: x"} {
				if a := server.Do(t, "GET", "/rest/v1/thing", "", header); a.Status != http.StatusOK && a.Status != http.StatusForbidden {
					t.Errorf("%s: a token without a session: %d %s", name, a.Status, a.Body)
				}
			}
		}
		if tried == 3 { // from now on the watches have to connect anew
			s.Database.Exec(t, `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and ltrim(query, e'\n') like 'insert into basalt.session_watch%'`)
		}
	}
}

func TestABanThatIsLiftedLetsTheSessionLiveAgain(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, things, func(settings *api.Settings) { settings.StrictSessions = true })
	own, id := s.SignUp(t, "a@example.com")
	for _, c := range []struct {
		ban    string
		status int
	}{{"1h", 401}, {"none", 200}, {"1h", 401}} {
		if a := s.Do(t, "PUT", "/auth/v1/admin/users/"+id, `{"ban_duration":"`+c.ban+`"}`, s.Service()); a.Status != 200 {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		apitest.Until(t, "the ban "+c.ban+" is known", func() bool { return s.Do(t, "GET", "/rest/v1/thing", "", own).Status == c.status })
	}
}

func TestSessionsThatEndWhileTheyAreLookedUpAreNotRemembered(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, things, func(settings *api.Settings) { settings.StrictSessions = true })
	for i := range 10 {
		own, _ := s.SignUp(t, fmt.Sprintf("u%d@example.com", i))
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				for range 5 {
					s.Do(t, "GET", "/rest/v1/thing", "", own)
				}
			})
		}
		group.Go(func() { s.Do(t, "POST", "/auth/v1/logout", "", own) })
		group.Wait()
		apitest.Until(t, "the end is known", func() bool { return s.Do(t, "GET", "/rest/v1/thing", "", own).Status == 401 })
	}
}

func TestWithoutStrictSessionsNothingIsNotified(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, things, nil)
	own, _ := s.SignUp(t, "a@example.com")
	listener, err := s.Database.Pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Release()
	if _, err := listener.Exec(t.Context(), `listen basalt_sessions`); err != nil {
		t.Fatal(err)
	}
	s.Do(t, "POST", "/auth/v1/logout", "", own)
	if a := s.Do(t, "GET", "/rest/v1/thing", "", own); a.Status != 200 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	// A notice of our own comes after all that were sent before.
	s.Database.Exec(t, `select pg_notify('basalt_sessions', 'last')`)
	if n, err := listener.Conn().WaitForNotification(t.Context()); err != nil || n.Payload != "last" {
		t.Errorf("%+v, %v", n, err)
	}
}
