package accounts_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/labstack/echo/v4"
	"github.com/rs/zerolog"

	"basalt/api/accounts"
	"basalt/auth"
)

func TestWithoutADatabaseCallersAreToldToComeAgain(t *testing.T) {
	s := start(t, options())
	a := s.signUp(address())
	nowhere, err := pgxpool.New(t.Context(), "postgres://nobody@127.0.0.1:1/nothing")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nowhere.Close)
	e := echo.New()
	accounts.Register(e.Group("/auth/v1"), auth.New(nowhere, s.keys, limited()), auth.NewVerifier(*s.keys, auth.VerifierOptions{}), accounts.Options{Log: zerolog.New(s.log)})
	listener := httptest.NewServer(e)
	t.Cleanup(listener.Close)
	down := &server{t: t, db: s.db, keys: s.keys, url: listener.URL, log: s.log}
	for name, got := range map[string]answer{
		"sign-up":  down.call("POST", "/signup", s.keys.AnonKey, `{"email":"a@example.com","password":"Secret-pass-1"}`),
		"sign-in":  down.signIn("a@example.com", goodPassword),
		"refresh":  down.refresh("x"),
		"user":     down.call("GET", "/user", a.str("access_token"), ""),
		"sign-out": down.call("POST", "/logout", a.str("access_token"), ""),
		"list":     down.admin("GET", "/users", ""),
	} {
		if got.status != 503 || got.header.Get("Retry-After") == "" || got.str("error_id") == "" || strings.Contains(got.text, "127.0.0.1") {
			t.Errorf("%s: %d %s", name, got.status, got.text)
		}
	}
	if health := down.call("GET", "/health", "", ""); health.status != 200 {
		t.Errorf("health is %d", health.status)
	}
}

func TestConnectionsThatBreakCostAnAnswerNotTheService(t *testing.T) {
	s := start(t, options())
	email := address()
	s.signUp(email)
	stop := make(chan struct{})
	var group, breaker sync.WaitGroup
	breaker.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			// The one that does this is broken too.
			_, _ = s.db.Pool.Exec(t.Context(), `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()`)
		}
	})
	for worker := range 4 {
		group.Go(func() {
			for i := range 15 {
				var a answer
				switch i % 3 {
				case 0:
					a = s.signIn(email, goodPassword)
				case 1:
					a = s.call("POST", "/signup", s.keys.AnonKey, fmt.Sprintf(`{"email":"w%d-%d@example.com","password":"Secret-pass-1"}`, worker, i))
				case 2:
					a = s.refresh("nothing")
				}
				if a.status != 200 && a.status != 503 && a.code() != "refresh_token_not_found" {
					t.Errorf("the answer is %d %s", a.status, a.text)
				}
			}
		})
	}
	group.Wait()
	close(stop)
	breaker.Wait()
	deadline := time.Now().Add(time.Minute)
	for s.signIn(email, goodPassword).status != 200 {
		if time.Now().After(deadline) {
			t.Fatal("the service does not come back")
		}
	}
}
