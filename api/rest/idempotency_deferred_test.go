package rest_test

import (
	"net/http"
	"strings"
	"testing"

	"basalt/api"
	"basalt/api/apitest"
)

const deferredSchema = `
create table orders (id bigint generated always as identity primary key, customer text not null);
create table trail (who text, tenant text, path text, own text);
create function tenant() returns void language sql as $$ select set_config('app.tenant', current_setting('request.headers')::json ->> 'x-tenant', true) $$;
create function own(name text) returns void language sql as $$ insert into orders (customer) values (name); select set_config('app.own', name, true) $$;
create function note() returns trigger language plpgsql as $$ begin
  if new.customer = 'nobody' then
    raise exception 'nobody ordered' using errcode = 'BKEY1';
  end if;
  insert into trail values (current_user, current_setting('app.tenant', true), current_setting('request.path', true), current_setting('app.own', true));
  return null;
end $$;
create constraint trigger note after insert on orders deferrable initially deferred for each row execute function note();
`

// What is deferred to the commit sees what the last operation has seen, with a key as without.
func TestDeferredTriggersSeeTheLastOperationWithAKeyToo(t *testing.T) {
	s := apitest.Start(t, deferredSchema, func(s *api.Settings) { s.RestPreRequest = "public.tenant"; s.RestIdempotency = true })
	const operations = `[{"method":"POST","path":"/orders","body":{"customer":"ada"}},{"method":"GET","path":"/orders"},{"method":"POST","path":"/rpc/own","body":{"name":"bob"}}]`
	tests := []struct{ name, path, body, kind, want string }{
		{"an insert", "/orders", `{"customer":"ada"}`, "application/json", "service_role acme /orders "},
		{"a call", "/rpc/own", `{"name":"cy"}`, "application/json", "service_role acme /rpc/own cy"},
		{"a batch", "/", operations, batchType, "service_role acme /rpc/own bob, service_role acme /rpc/own bob"},
		{"a batch that ends with a read", "/", `[{"method":"POST","path":"/orders","body":{"customer":"ada"}},{"method":"GET","path":"/trail"}]`, batchType, "service_role acme /trail "},
	}
	for _, test := range tests {
		for _, name := range []string{"X-Key: none", key(test.name)} {
			t.Run(test.name, func(t *testing.T) {
				s.Database.Exec(t, `truncate trail, orders`)
				answer := s.Do(t, "POST", "/rest/v1"+test.path, test.body, "Content-Type: "+test.kind, "X-Tenant: acme", name, s.Service())
				var got string
				if err := s.Database.Pool.QueryRow(t.Context(), `select coalesce(string_agg(concat_ws(' ', who, tenant, path, coalesce(own, '')), ', '), '') from trail`).Scan(&got); err != nil {
					t.Fatal(err)
				}
				if answer.Status > 299 || got != test.want {
					t.Errorf("%s: %d %s\n%q, want %q", name, answer.Status, answer.Body, got, test.want)
				}
			})
		}
	}
	for _, name := range []string{"X-Key: none", key("refused")} {
		answer, _ := batch(t, s, `[{"method":"POST","path":"/orders","body":{"customer":"nobody"}},{"method":"GET","path":"/trail"}]`, name, "X-Tenant: acme", s.Service())
		if answer.Status != http.StatusBadRequest || !strings.Contains(answer.Body, "nobody ordered") || strings.Contains(answer.Body, "index") {
			t.Errorf("%s: %d %s", name, answer.Status, answer.Body)
		}
	}
	if n := count(t, s, "basalt.idempotency_keys where key = 'refused'"); n != 0 {
		t.Errorf("%d keys are left of what was refused", n)
	}
}
