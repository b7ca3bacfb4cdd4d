package rest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"basalt/api"
	"basalt/api/apitest"
)

const hygieneSchema = `
create table orders (id bigint generated always as identity primary key, customer text not null);
create sequence lives;
grant usage on sequence lives to service_role;
create function dies(times int) returns int security definer language plpgsql as $$ begin
  if nextval('lives') <= times then
    perform pg_terminate_backend(pg_backend_pid());
  end if;
  return 1;
end $$;
create function leave(what text) returns text language plpgsql as $$ begin
  case what
    when 'a table' then create temp table orders (id int, customer text); insert into pg_temp.orders values (666, 'temporary');
    when 'locks' then perform pg_advisory_lock(1), pg_advisory_lock_shared(2);
    when 'a channel' then listen somewhere;
    when 'a cursor' then execute 'declare held cursor with hold for select 1';
    when 'a statement' then execute 'prepare mine as select 1';
    when 'no role' then perform set_config('role', 'none', false);
    when 'another role' then set role anon;
    when 'another user' then reset role; perform set_config('session_authorization', 'anon', false);
    when 'claims' then perform set_config('request.jwt.claims', '{"sub":"eve"}', false), set_config('app.mine', 'x', false);
    when 'settings' then perform set_config('search_path', 'pg_catalog', false), set_config('timezone', 'Asia/Tokyo', false), set_config('statement_timeout', '1', false);
  end case;
  return 'left';
end $$;
create function state() returns jsonb language sql as $$ select jsonb_build_object(
  'role', current_user, 'user', session_user, 'path', current_setting('search_path'), 'zone', current_setting('timezone'),
  'claims', current_setting('request.jwt.claims')::json ->> 'sub', 'mine', nullif(current_setting('app.mine', true), ''), 'timeout', current_setting('statement_timeout'),
  'locks', (select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()),
  'channels', (select count(*) from pg_listening_channels()), 'cursors', (select count(*) from pg_cursors where is_holdable),
  'statements', (select count(*) from pg_prepared_statements where from_sql),
  'tables', (select count(*) from pg_class where relnamespace = pg_my_temp_schema())) $$;
`

// Whatever an operation leaves in its session, and however its batch ends, the next request finds a fresh one. The next
// operation finds its own identity.
func TestABatchLeavesNothingInItsSession(t *testing.T) {
	s := apitest.Start(t, hygieneSchema, func(s *api.Settings) {
		s.PoolSize = 1
		s.RestIdempotency = true
		s.RestTxEnd = "commit-allow-override"
	})
	state := func() (text string) {
		answer := s.Do(t, "POST", "/rest/v1/rpc/state", `{}`, s.Service())
		if answer.Status != http.StatusOK {
			t.Errorf("%d %s", answer.Status, answer.Body)
		}
		return answer.Body
	}
	fresh := state()
	type identity struct{ Role, User, Path, Zone, Claims, Mine, Timeout string }
	var own identity
	if err := json.Unmarshal([]byte(fresh), &own); err != nil {
		t.Fatal(err)
	}
	ends := map[string][]string{
		"committed": {`{"method":"POST","path":"/rpc/state"}`}, "with a key": {`{"method":"POST","path":"/rpc/state"}`},
		"rolled back": {`{"method":"POST","path":"/rpc/state"}`},
		"failed":      {`{"method":"POST","path":"/orders","body":{"customer":null}}`},
		"refused":     {`{"method":"GET","path":"/orders?id=eq.0","headers":{"accept":"application/vnd.pgrst.object+json"}}`},
		"dead":        {`{"method":"POST","path":"/rpc/dies","body":{"times":1000000}}`},
	}
	for _, what := range []string{"a table", "locks", "a channel", "a cursor", "a statement", "no role", "another role", "another user", "claims", "settings"} {
		for end, last := range ends {
			t.Run(what+", "+end, func(t *testing.T) {
				headers := []string{s.Service()}
				switch end {
				case "with a key":
					headers = append(headers, key(what))
				case "rolled back":
					headers = append(headers, "Prefer: tx=rollback")
				}
				operations := append([]string{fmt.Sprintf(`{"method":"POST","path":"/rpc/leave","body":{"what":%q}}`, what)}, last...)
				answer, answers := batch(t, s, "["+strings.Join(operations, ",")+"]", headers...)
				done := end == "committed" || end == "with a key" || end == "rolled back"
				if what == "another user" {
					done = false // who may not take the role of the next operation
				}
				if done != (answers != nil) {
					t.Fatalf("%d %s", answer.Status, answer.Body)
				}
				if answers != nil {
					var then identity
					if err := json.Unmarshal(answers[1].Body, &then); err != nil {
						t.Fatal(err)
					}
					if then != own {
						t.Errorf("the next operation ran as %+v, want %+v", then, own)
					}
				}
				if got := state(); got != fresh {
					t.Errorf("the next request found %s, want %s", got, fresh)
				}
			})
		}
	}
}

// A batch whose connection is lost wherever that may be is done once when it is repeated with its key.
func TestABatchThatLosesItsConnectionMayBeSentAgain(t *testing.T) {
	s := apitest.Start(t, hygieneSchema, func(s *api.Settings) {
		s.PoolSize = 1
		s.RestIdempotency = true
	})
	const (
		insert = `{"method":"POST","path":"/orders?select=id","prefer":"return=representation","body":{"customer":"ada"}}`
		update = `{"method":"PATCH","path":"/orders?id=eq.{$/%d/body/0/id}","body":{"customer":"bob"}}`
		dies   = `{"method":"POST","path":"/rpc/dies","body":{"times":2}}`
	)
	tests := map[string]string{
		"at first":              dies + "," + insert + "," + fmt.Sprintf(update, 1),
		"in the first exchange": insert + "," + dies + "," + fmt.Sprintf(update, 0),
		"in the last exchange":  insert + "," + fmt.Sprintf(update, 0) + "," + dies,
	}
	for name, operations := range tests {
		t.Run(name, func(t *testing.T) {
			s.Database.Exec(t, `truncate orders; select setval('lives', 1, false)`)
			var statuses []int
			for range 4 {
				answer, answers := batch(t, s, "["+operations+"]", s.Service(), key(name))
				statuses = append(statuses, answer.Status)
				if answers == nil && (answer.Header.Get("Retry-After") == "" || count(t, s, "orders") != 0) {
					t.Errorf("%d %v %s, %d orders", answer.Status, answer.Header, answer.Body, count(t, s, "orders"))
				}
			}
			if got := fmt.Sprint(statuses); got != "[503 503 200 200]" || count(t, s, "orders where customer = 'bob'") != 1 || count(t, s, "orders") != 1 {
				t.Errorf("%s, %d orders", got, count(t, s, "orders"))
			}
		})
	}
}
