package accounts_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"basalt/auth/password"
)

// TestAStormOnOneAccountBreaksNothing lets everything happen to one address at once.
func TestAStormOnOneAccountBreaksNothing(t *testing.T) {
	s := start(t, options())
	second := startOver(t, s.db, options())
	email := address()
	var mu sync.Mutex
	session := s.signUp(email)
	current := func() answer {
		mu.Lock()
		defer mu.Unlock()
		return session
	}
	keep := func(a answer) answer {
		mu.Lock()
		defer mu.Unlock()
		if a.status == 200 && a.str("access_token") != "" {
			session = a
		}
		return a
	}
	acts := map[string]func(on *server) answer{
		"sign-up": func(on *server) answer {
			return keep(on.call("POST", "/signup", s.keys.AnonKey, fmt.Sprintf(`{"email":%q,"password":%q}`, email, goodPassword)))
		},
		"sign-in": func(on *server) answer { return keep(on.signIn(email, goodPassword)) },
		"refresh": func(on *server) answer { return keep(on.refresh(current().str("refresh_token"))) },
		"user":    func(on *server) answer { return on.call("GET", "/user", current().str("access_token"), "") },
		"logout":  func(on *server) answer { return on.call("POST", "/logout", current().str("access_token"), "") },
		"metadata": func(on *server) answer {
			return on.call("PUT", "/user", current().str("access_token"), `{"data":{"a":1}}`)
		},
		"password": func(on *server) answer {
			return on.call("PUT", "/user", current().str("access_token"), `{"password":"Secret-pass-1"}`)
		},
		"ban": func(on *server) answer {
			return on.admin("PUT", "/users/"+current().str("user.id"), `{"ban_duration":"1ms"}`)
		},
		"delete": func(on *server) answer { return on.admin("DELETE", "/users/"+current().str("user.id"), "") },
		"soft": func(on *server) answer {
			return on.admin("DELETE", "/users/"+current().str("user.id"), `{"should_soft_delete":true}`)
		},
	}
	var group sync.WaitGroup
	for name, act := range acts {
		for _, on := range []*server{s, second} {
			group.Go(func() {
				for range 25 {
					if a := act(on); a.status >= 500 || a.status == 0 {
						t.Errorf("%s is answered %d %s", name, a.status, a.text)
					}
				}
			})
		}
	}
	group.Wait()
	if n := s.count(`select count(*) from auth.users where email = $1`, email); n > 1 {
		t.Errorf("there are %d accounts", n)
	}
	for what, sql := range map[string]string{
		"sessions of nobody":        `select count(*) from auth.sessions s left join auth.users u on u.id = s.user_id where u.id is null or u.deleted_at is not null`,
		"sessions with two heads":   `select count(*) from (select from auth.refresh_tokens where not revoked group by session_id having count(*) > 1) x`,
		"accounts without identity": `select count(*) from auth.users u where deleted_at is null and not exists (select from auth.identities i where i.user_id = u.id)`,
	} {
		if n := s.count(sql); n != 0 {
			t.Errorf("there are %d %s", n, what)
		}
	}
}

// TestASessionThatEndsTakesItsUnfinishedChangesAlong: who is being thrown out must not get a new password in while
// it is being hashed.
func TestASessionThatEndsTakesItsUnfinishedChangesAlong(t *testing.T) {
	for name, end := range map[string]struct {
		sql, code string
	}{
		"signed out":     {`delete from auth.sessions where id = $1`, "session_not_found"},
		"over":           {`update auth.sessions set not_after = now() where id = $1`, "session_not_found"},
		"banned":         {`update auth.users set banned_until = 'infinity' from auth.sessions s where s.id = $1`, "user_banned"},
		"softly deleted": {`update auth.users set deleted_at = now() from auth.sessions s where s.id = $1`, "user_not_found"},
		"deleted":        {`delete from auth.users where id = (select user_id from auth.sessions where id = $1)`, "user_not_found"},
	} {
		t.Run(name, func(t *testing.T) {
			o := options()
			o.Gate = password.GateOptions{Slots: 1, Queue: 10, Wait: time.Minute}
			s := start(t, o)
			email := address()
			thief := s.signUp(email)
			release := make(chan struct{})
			var group sync.WaitGroup
			group.Go(func() { _ = s.service.Gate().Do(t.Context(), func() { <-release }) })
			s.until("the gate is taken", func() bool { return s.service.Gate().Stats().Running == 1 })
			group.Go(func() {
				s.want(s.call("PUT", "/user", thief.str("access_token"), `{"password":"Thief-pass-1","data":{"by":"thief"}}`), 403, end.code)
			})
			s.until("the change waits for its hash", func() bool { return s.service.Gate().Stats().Queued == 1 })
			if _, err := s.db.Pool.Exec(t.Context(), end.sql, claimsOf(t, thief.str("access_token"))["session_id"]); err != nil {
				t.Fatal(err)
			}
			close(release)
			group.Wait()
			if n := s.count(`select count(*) from auth.users where raw_user_meta_data ? 'by'`); n != 0 {
				t.Error("the change was made")
			}
		})
	}
}
