package rest_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"basalt/api"
	"basalt/api/apitest"
)

// Two requests take keys that have expired, each one that the other would clean up. A trigger holds both where they
// take theirs, so that they meet.
func TestExpiredKeysThatAreTakenAgainDoNotDeadlock(t *testing.T) {
	s := startOnce(t, nil)
	do := func(name string) *apitest.Answer {
		return s.Do(t, "POST", "/rest/v1/orders", `{"customer":"ada"}`, key(name), s.Service())
	}
	if answer := do("first"); answer.Status != 201 {
		t.Fatalf("%d %s", answer.Status, answer.Body)
	}
	s.Database.Exec(t, `insert into basalt.idempotency_keys
select caller, n::text, request, status, headers, body, now() - interval '1 day' + n * interval '1 minute'
from basalt.idempotency_keys, generate_series(1, 200) as n`)
	s.Database.Exec(t, `create function hold() returns trigger language plpgsql as $$ begin
  perform pg_advisory_xact_lock_shared(4712);
  return new;
end $$;
create trigger hold before insert on basalt.idempotency_keys for each row execute function hold()`)
	conn, err := s.Database.Pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	if _, err := conn.Exec(t.Context(), `select pg_advisory_lock(4712)`); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for i, name := range []string{"150", "50"} { // the first would clean up 1 to 100
		group.Go(func() {
			if answer := do(name); answer.Status != 201 || answer.Header.Get(replayed) != "" {
				t.Errorf("%s: %d %s", name, answer.Status, answer.Body)
			}
		})
		apitest.Until(t, "it waits", func() bool {
			return count(t, s, "pg_stat_activity where datname = current_database() and wait_event = 'advisory'") == i+1
		})
	}
	if _, err := conn.Exec(t.Context(), `select pg_advisory_unlock(4712)`); err != nil {
		t.Fatal(err)
	}
	group.Wait()
	if n := count(t, s, "basalt.idempotency_keys where key in ('50', '150') and status = 201"); n != 2 {
		t.Errorf("%d answers are kept", n)
	}
}

// One of many that come at once with one key is done; those with its body get its answer and the others none.
func TestOneOfManyRequestsWithAKeyIsDone(t *testing.T) {
	for _, pool := range []int{1, 4} {
		s := startOnce(t, func(s *api.Settings) { s.PoolSize = pool })
		var mu sync.Mutex
		statuses, replays, bodies := map[int]int{}, 0, map[string]bool{}
		var group sync.WaitGroup
		for i := range 20 {
			group.Go(func() {
				answer := s.Do(t, "POST", "/rest/v1/orders?select=customer", fmt.Sprintf(`{"customer":"c%d"}`, i%10), key("one"), represented, s.Service())
				mu.Lock()
				defer mu.Unlock()
				statuses[answer.Status]++
				if answer.Status == 201 {
					bodies[answer.Body] = true
				}
				if answer.Header.Get(replayed) != "" {
					replays++
				}
			})
		}
		group.Wait()
		if statuses[201] != 2 || statuses[422] != 18 || replays != 1 || len(bodies) != 1 {
			t.Errorf("with %d connections: %v, %d replayed, %v", pool, statuses, replays, bodies)
		}
		if orders, keys := count(t, s, "orders"), count(t, s, "basalt.idempotency_keys"); orders != 1 || keys != 1 {
			t.Errorf("with %d connections: %d orders, %d keys", pool, orders, keys)
		}
	}
}

// A stricter isolation than usual lets the cleaning of others fail a claim. Nothing was done by then, so it is tried
// again.
func TestAClaimThatCannotBeSerializedIsTriedAgain(t *testing.T) {
	s := startOnce(t, nil)
	do := func() *apitest.Answer {
		return s.Do(t, "POST", "/rest/v1/rpc/strictly", `{"name":"ada"}`, key("k"), s.Service())
	}
	if answer := do(); answer.Status != 200 {
		t.Fatalf("%d %s", answer.Status, answer.Body)
	}
	s.Database.Exec(t, `update basalt.idempotency_keys set expires_at = now() - interval '1 minute'`)
	tx, err := s.Database.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(context.WithoutCancel(t.Context()))
	if _, err := tx.Exec(t.Context(), `delete from basalt.idempotency_keys`); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	group.Go(func() {
		if answer := do(); answer.Status != 200 || answer.Header.Get(replayed) != "" {
			t.Errorf("%d %s", answer.Status, answer.Body)
		}
	})
	apitest.Until(t, "it waits", func() bool {
		return count(t, s, "pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'") == 1
	})
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	group.Wait()
	if n := count(t, s, "orders"); n != 2 {
		t.Errorf("%d orders", n)
	}
}
