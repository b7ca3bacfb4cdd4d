package accounts_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
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
	s.service = auth.New(nowhere, s.keys, limited())
	down := s.face(accounts.Options{Log: zerolog.New(s.log)})
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

func TestATriggerThatDoesNotEndHoldsNobodyForEver(t *testing.T) {
	s := start(t, options())
	a := s.signUp(address())
	s.db.Exec(t, `
		create function public.slow() returns trigger language plpgsql as $$
		begin
			perform pg_sleep(600);
			return new;
		end $$;
		create trigger slow after insert on auth.users for each row execute function public.slow();`)
	hasty := s.face(accounts.Options{Log: zerolog.New(s.log), Patience: 300 * time.Millisecond})
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			s.want(hasty.call("POST", "/signup", s.keys.AnonKey, fmt.Sprintf(`{"email":%q,"password":%q}`, address(), goodPassword)), 504, "request_timeout")
		})
	}
	group.Wait()
	s.until("the triggers are cancelled", func() bool {
		return s.count(`select count(*) from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`) == 0
	})
	s.want(s.call("GET", "/user", a.str("access_token"), ""), 200, "")
	if n := s.count(`select count(*) from auth.users`); n != 1 {
		t.Errorf("there are %d accounts", n)
	}
}

func TestAClientThatLeavesIsNoFailure(t *testing.T) {
	s := start(t, options())
	s.db.Exec(t, `
		create function public.slow() returns trigger language plpgsql as $$
		begin
			perform pg_sleep(600);
			return new;
		end $$;
		create trigger slow after insert on auth.users for each row execute function public.slow();`)
	ctx, leave := context.WithCancel(t.Context())
	var group sync.WaitGroup
	group.Go(func() {
		r, err := http.NewRequestWithContext(ctx, "POST", s.url+"/auth/v1/signup", strings.NewReader(`{"email":"a@example.com","password":"Secret-pass-1"}`))
		if err != nil {
			t.Error(err)
			return
		}
		if response, err := http.DefaultClient.Do(r); err == nil {
			response.Body.Close()
			t.Error("the client was answered")
		}
	})
	sleeping := func() bool {
		return s.count(`select count(*) from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`) == 1
	}
	s.until("the trigger runs", sleeping)
	leave()
	group.Wait()
	s.until("the trigger is cancelled", func() bool { return !sleeping() })
	s.until("the event is logged", func() bool { return strings.Contains(s.log.String(), `"event":"signup"`) })
	if strings.Contains(s.log.String(), `"level":"error"`) || strings.Contains(s.log.String(), `"level":"warn"`) {
		t.Errorf("the log is\n%s", s.log)
	}
}

func TestAFailureIsLoggedOnce(t *testing.T) {
	s := start(t, options())
	s.db.Exec(t, `alter table auth.users add constraint broken check (email <> 'e@example.com')`)
	a := s.want(s.call("POST", "/signup", s.keys.AnonKey, `{"email":"e@example.com","password":"Secret-pass-1"}`), 500, "unexpected_failure")
	log := s.log.String()
	if strings.Count(log, `"level":"error"`) != 1 || strings.Count(log, "23514") != 1 || !strings.Contains(log, `"request_id":"`+a.str("error_id")+`"`) ||
		!strings.Contains(log, `"event":"signup","result":"unexpected_failure"`) {
		t.Errorf("the log is\n%s", log)
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
