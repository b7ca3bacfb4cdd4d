package rest_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"basalt/api"
	"basalt/api/apitest"
)

const onceSchema = shopSchema + `
create table slow (id int);
create function wait_for_it(n int) returns int language plpgsql as $$ begin
  insert into slow values (n);
  perform pg_advisory_xact_lock(4711);
  return n;
end $$;
create function strictly(name text) returns bigint language sql set default_transaction_isolation = 'serializable'
as 'insert into orders (customer) values ($1) returning id';
create function fails_once() returns int language plpgsql as $$ begin
  if not exists (select from orders) then
    raise exception 'not yet';
  end if;
  insert into orders (customer) values ('again');
  return 1;
end $$;
`

func startOnce(t *testing.T, change func(*api.Settings)) *apitest.Server {
	return apitest.Start(t, onceSchema, func(s *api.Settings) {
		s.Schemas = []string{"public", "other"}
		s.PoolSize = 4
		s.RestIdempotency = true
		if change != nil {
			change(s)
		}
	})
}

func key(name string) string { return "Idempotency-Key: " + name }

func count(t testing.TB, s *apitest.Server, what string) (n int) {
	t.Helper()
	if err := s.Database.Pool.QueryRow(t.Context(), `select count(*) from `+what).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

const (
	represented = "Prefer: return=representation"
	replayed    = "Idempotency-Replayed"
)

func TestARequestThatIsSentAgainIsDoneOnce(t *testing.T) {
	s := startOnce(t, nil)
	tests := []struct {
		name, method, path, body string
		headers                  []string
		status                   int
	}{
		{"an insert", "POST", "/orders?select=id,customer", `{"customer":"ada"}`, []string{represented}, 201},
		{"an insert with a location", "POST", "/orders", `{"customer":"bob"}`, []string{"Prefer: return=headers-only"}, 201},
		{"an insert of many as CSV", "POST", "/orders?select=id", `[{"customer":"a"},{"customer":"b"}]`, []string{represented, "Accept: text/csv"}, 201},
		{"an insert of nothing", "POST", "/orders", `[]`, []string{represented}, 201},
		{"an update", "PATCH", "/orders?customer=eq.ada&select=id", `{"note":{"x":1}}`, []string{represented}, 200},
		{"a put", "PUT", "/late?id=eq.1", `{"id":1}`, nil, 204},
		{"a call", "POST", "/rpc/place", `{"customer":"cy"}`, nil, 200},
		{"a call of another isolation", "POST", "/rpc/strictly", `{"name":"dan"}`, nil, 200},
		{"a call that decides about its answer", "POST", "/rpc/teapot", `{}`, nil, 418},
		{"a call that only reads", "POST", "/rpc/ordered", `{"customer":"ada"}`, nil, 200},
		{"a delete", "DELETE", "/orders?customer=eq.bob", "", []string{"Prefer: count=exact"}, 204},
		{"a batch", "POST", "/", `[{"method":"POST","path":"/orders?select=id","prefer":"return=representation","body":{"customer":"x"}},
			{"method":"POST","path":"/items","body":{"sku":"s","n":1},"refs":{"/order_id":"$/0/body/0/id"}}]`, []string{"Content-Type: " + batchType}, 200},
		{"an empty batch", "POST", "/", `[]`, []string{"Content-Type: " + batchType}, 200},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			headers := append([]string{key(test.name), s.Service()}, test.headers...)
			first := s.Do(t, test.method, "/rest/v1"+test.path, test.body, headers...)
			if first.Status != test.status || first.Header.Get(replayed) != "" {
				t.Fatalf("first %d %v %s", first.Status, first.Header, first.Body)
			}
			orders, items := count(t, s, "orders"), count(t, s, "items")
			for range 2 {
				again := s.Do(t, test.method, "/rest/v1"+test.path, test.body, headers...)
				if again.Status != first.Status || again.Body != first.Body || again.Header.Get(replayed) != "true" {
					t.Errorf("again %d %v %s\nfirst %d %s", again.Status, again.Header, again.Body, first.Status, first.Body)
				}
				for name, values := range first.Header {
					if name != "Date" && name != "X-Request-Id" && fmt.Sprint(again.Header[name]) != fmt.Sprint(values) {
						t.Errorf("%s is %q again, %q at first", name, again.Header[name], values)
					}
				}
			}
			if o, i := count(t, s, "orders"), count(t, s, "items"); o != orders || i != items {
				t.Errorf("%d orders and %d items instead of %d and %d", o, i, orders, items)
			}
		})
	}
}

func TestAKeyIsForOneRequestOfOneCaller(t *testing.T) {
	s := startOnce(t, nil)
	ada, _ := s.SignUp(t, "ada@example.com")
	bob, _ := s.SignUp(t, "bob@example.com")
	const path, body = "/rest/v1/orders?select=customer", `{"customer":"ada"}`
	do := func(method, path, body string, headers ...string) *apitest.Answer {
		return s.Do(t, method, path, body, append([]string{key("k"), represented}, headers...)...)
	}
	if first := do("POST", path, body, ada); first.Status != 201 || first.Header.Get(replayed) != "" {
		t.Fatalf("%d %s", first.Status, first.Body)
	}
	refused := []struct {
		name               string
		method, path, body string
		headers            []string
	}{
		{"another body", "POST", path, `{"customer":"eve"}`, nil},
		{"another query", "POST", "/rest/v1/orders?select=id", body, nil},
		{"another table", "POST", "/rest/v1/late?select=customer", body, nil},
		{"another method", "PATCH", path, body, nil},
		{"another preference", "POST", path, body, []string{"Prefer: return=minimal"}},
		{"another schema", "POST", path, body, []string{"Content-Profile: other"}},
		{"another media type", "POST", path, body, []string{"Accept: text/csv"}},
		{"a batch", "POST", "/rest/v1/", `[]`, []string{"Content-Type: " + batchType}},
	}
	for _, test := range refused {
		t.Run(test.name, func(t *testing.T) {
			answer := do(test.method, test.path, test.body, append(test.headers, ada)...)
			// What is refused for itself may be refused before the key is looked at.
			own := test.name == "another table" && answer.Status == 400
			if !own && (answer.Status != 422 || !strings.Contains(answer.Body, `"BSLT201"`)) {
				t.Errorf("%d %s", answer.Status, answer.Body)
			}
		})
	}
	t.Run("the same user with another token", func(t *testing.T) {
		signedIn := s.Do(t, "POST", "/auth/v1/token?grant_type=password", `{"email":"ada@example.com","password":"correct horse battery"}`)
		var session struct {
			Token string `json:"access_token"`
		}
		signedIn.JSON(t, &session)
		if answer := do("POST", path, body, "Authorization: Bearer "+session.Token); answer.Header.Get(replayed) != "true" {
			t.Errorf("%d %s", answer.Status, answer.Body)
		}
	})
	for name, header := range map[string]string{
		"another user": bob, "nobody": "X-None: x", "the service": s.Service(),
		"a token without a subject": s.As(t, "authenticated", `"tenant":1`), "one of another tenant": s.As(t, "authenticated", `"tenant":2`),
	} {
		t.Run(name, func(t *testing.T) {
			for _, want := range []string{"", "true"} {
				answer := do("POST", path, body, header)
				if answer.Status != 201 || answer.Header.Get(replayed) != want {
					t.Errorf("%d %q %s", answer.Status, answer.Header.Get(replayed), answer.Body)
				}
			}
		})
	}
	for name, bad := range map[string]string{"empty": "Idempotency-Key:  ", "too long": key(strings.Repeat("x", 256)), "not printable": key("a\tb"), "not ASCII": key("é")} {
		t.Run("a key that is "+name, func(t *testing.T) {
			if name == "empty" {
				return // the client sends none
			}
			if answer := s.Do(t, "POST", path, body, bad, ada); answer.Status != 400 || !strings.Contains(answer.Body, "BSLT200") {
				t.Errorf("%d %s", answer.Status, answer.Body)
			}
		})
	}
	t.Run("a read has no need of it", func(t *testing.T) {
		if answer := s.Do(t, "GET", "/rest/v1/orders", "", key("a\tb"), ada); answer.Status != 200 {
			t.Errorf("%d %s", answer.Status, answer.Body)
		}
	})
}

func TestARequestThatFailedMayBeSentAgain(t *testing.T) {
	s := startOnce(t, func(s *api.Settings) { s.AnswerMemory = 4 << 20; s.MaxRows = 0 })
	for _, kind := range []string{"alone", "in a batch"} {
		do := func() *apitest.Answer {
			if kind == "alone" {
				return s.Do(t, "POST", "/rest/v1/rpc/fails_once", `{}`, key(kind), s.Service())
			}
			return s.Do(t, "POST", "/rest/v1/", `[{"method":"POST","path":"/orders","body":{"customer":"x"}},{"method":"GET","path":"/orders","headers":{"accept":"application/vnd.pgrst.object+json"}},{"method":"POST","path":"/rpc/fails_once"}]`,
				key(kind), s.Service(), "Content-Type: "+batchType)
		}
		t.Run(kind, func(t *testing.T) {
			s.Database.Exec(t, `truncate orders cascade`)
			if kind == "in a batch" {
				s.Database.Exec(t, `insert into orders (customer) values ('a')`)
			}
			for range 2 {
				if answer := do(); answer.Status < 400 || answer.Header.Get(replayed) != "" {
					t.Errorf("%d %s", answer.Status, answer.Body)
				}
			}
			if n := count(t, s, "basalt.idempotency_keys where key = '"+kind+"'"); n != 0 {
				t.Errorf("%d keys are kept", n)
			}
			s.Database.Exec(t, `truncate orders cascade`)
			if kind == "alone" {
				s.Database.Exec(t, `insert into orders (customer) values ('a')`)
			}
			for _, want := range []string{"", "true"} {
				if answer := do(); answer.Status != 200 || answer.Header.Get(replayed) != want {
					t.Errorf("%d %s", answer.Status, answer.Body)
				}
			}
			if n := count(t, s, "orders"); n != 2 {
				t.Errorf("%d orders", n)
			}
		})
	}
	t.Run("with an answer that is too large to be kept", func(t *testing.T) {
		answer := s.Do(t, "POST", "/rest/v1/rpc/large", `{"n":2000}`, key("large"), s.Service())
		if answer.Status != http.StatusRequestEntityTooLarge || !strings.Contains(answer.Body, "BSLT203") {
			t.Errorf("%d %.200s", answer.Status, answer.Body)
		}
	})
}

func TestRepetitionsThatComeEarlyWaitForTheFirst(t *testing.T) {
	s := startOnce(t, nil)
	conn, err := s.Database.Pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	exec := func(sql string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	exec(`select pg_advisory_lock(4711)`)
	var mu sync.Mutex
	replays := 0
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			answer := s.Do(t, "POST", "/rest/v1/rpc/wait_for_it", `{"n":7}`, key("early"), s.Service())
			mu.Lock()
			defer mu.Unlock()
			if answer.Status != 200 || answer.Body != "7" {
				t.Errorf("%d %s", answer.Status, answer.Body)
			}
			if answer.Header.Get(replayed) == "true" {
				replays++
			}
		})
	}
	apitest.Until(t, "all wait", func() bool {
		return count(t, s, "pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'") >= 4
	})
	exec(`select pg_advisory_unlock(4711)`)
	group.Wait()
	if n := count(t, s, "slow"); replays != 3 || n != 1 {
		t.Errorf("%d answers were replayed, and it was done %d times", replays, n)
	}
}

func TestNoRepetitionWaitsForEver(t *testing.T) {
	s := startOnce(t, func(s *api.Settings) { s.StatementTimeout = 500 * time.Millisecond })
	do := func(name string) *apitest.Answer {
		return s.Do(t, "POST", "/rest/v1/orders", `{"customer":"ada"}`, key(name), s.Service())
	}
	if answer := do("first"); answer.Status != 201 {
		t.Fatalf("%d %s", answer.Status, answer.Body)
	}
	tx, err := s.Database.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(context.WithoutCancel(t.Context()))
	if _, err := tx.Exec(t.Context(), `insert into basalt.idempotency_keys select caller, 'held', request, status, headers, body, expires_at from basalt.idempotency_keys`); err != nil {
		t.Fatal(err)
	}
	if answer := do("held"); answer.Status != http.StatusConflict || !strings.Contains(answer.Body, "BSLT202") || answer.Header.Get("Retry-After") == "" {
		t.Errorf("%d %v %s", answer.Status, answer.Header, answer.Body)
	}
	if answer := do("other"); answer.Status != 201 {
		t.Errorf("%d %s", answer.Status, answer.Body)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if answer := do("held"); answer.Status != 201 || answer.Header.Get(replayed) != "" {
		t.Errorf("%d %s", answer.Status, answer.Body)
	}
}

func TestKeptAnswersExpire(t *testing.T) {
	s := startOnce(t, func(s *api.Settings) { s.IdempotencyRetention = time.Hour })
	do := func(name string) string {
		answer := s.Do(t, "POST", "/rest/v1/orders", `{"customer":"ada"}`, key(name), s.Service())
		if answer.Status != 201 {
			t.Fatalf("%d %s", answer.Status, answer.Body)
		}
		return answer.Header.Get(replayed)
	}
	do("old")
	s.Database.Exec(t, `update basalt.idempotency_keys set expires_at = expires_at - interval '61 minutes'`)
	s.Database.Exec(t, `insert into basalt.idempotency_keys (caller, key, request, expires_at) select 'x', n::text, 'x', now() - interval '1 day' from generate_series(1, 250) n`)
	if do("old") != "" || do("old") != "true" {
		t.Error("an answer was given that had expired, or a new one was not kept")
	}
	if n := count(t, s, "basalt.idempotency_keys"); n != 151 {
		t.Errorf("%d keys are left", n)
	}
	do("1")
	do("2")
	if n := count(t, s, "basalt.idempotency_keys"); n != 3 {
		t.Errorf("%d keys are left", n)
	}
}

func TestNoRoleOfTheAPIReachesTheKeptAnswers(t *testing.T) {
	s := startOnce(t, nil)
	for _, role := range []string{"anon", "authenticated", "service_role"} {
		for _, command := range []string{
			`select * from basalt.idempotency_keys`,
			`select * from basalt.idempotent_answer('x', 'x')`,
			`select basalt.claim_idempotency_key('x', 'x', 'x', '1 hour')`,
			`select basalt.keep_idempotent_answer('x', 'x', 1, 'x', 'x')`,
		} {
			conn, err := s.Database.Pool.Acquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := conn.Exec(t.Context(), `begin; set local role `+role+`; `+command); err == nil || !strings.Contains(err.Error(), "42501") {
				t.Errorf("%s as %s: %v", command, role, err)
			}
			conn.Exec(t.Context(), `rollback`)
			conn.Release()
		}
	}
}

func TestKeysAreIgnoredUnlessTheyAreSwitchedOn(t *testing.T) {
	s := startShop(t, nil)
	for range 2 {
		answer := s.Do(t, "POST", "/rest/v1/orders", `{"customer":"ada"}`, key("k"), s.Service())
		if answer.Status != 201 || answer.Header.Get(replayed) != "" {
			t.Errorf("%d %s", answer.Status, answer.Body)
		}
	}
	if n := count(t, s, "orders"); n != 2 {
		t.Errorf("%d orders", n)
	}
}
