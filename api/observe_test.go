package api_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"basalt/api/admin"
	"basalt/api/apitest"
	"basalt/auth/administrator"
)

func TestRequestsOfAppsAreRememberedAndOfWhoWatchesOnlyFailures(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, `
create table public.thing (id int primary key);
create table public.hidden (id int primary key);
create function public.twice(n int) returns int language sql as 'select 2 * n';
grant select on public.thing to anon;`, nil)
	s.Database.Exec(t, `
revoke all on public.hidden from anon;
create function public.no_room() returns trigger language plpgsql as $$ begin raise exception 'no room' using errcode = '53100'; end $$;
create trigger no_room before insert on basalt.signing_keys for each row execute function public.no_room()`)
	owner := s.Administrator(t, administrator.Owner)
	for _, test := range []struct {
		name, method, path, body string
		headers                  []string
		status                   int
		route, code              string // route "" is not remembered
	}{
		{"a relation", "GET", "/rest/v1/thing?select=id", "", nil, 200, "/rest/v1/thing", ""},
		{"a path behind a relation", "GET", "/rest/v1/thing/more", "", nil, 404, "/rest/v1", "PGRST125"},
		{"a function", "GET", "/rest/v1/rpc/twice?n=2", "", nil, 200, "/rest/v1/rpc/twice", ""},
		{"the root of the API", "GET", "/rest/v1/", "", []string{s.Service()}, 200, "/rest/v1", ""},
		{"a name that a client has made up", "GET", "/rest/v1/made-up", "", nil, 404, "/rest/v1", "PGRST205"},
		{"a relation that PostgreSQL refuses", "GET", "/rest/v1/hidden", "", nil, 401, "/rest/v1/hidden", "42501"},
		{"accounts", "POST", "/auth/v1/token?grant_type=password", `{"email":"a@example.com","password":"wrong"}`, nil, 400, "/auth/v1/token", "invalid_credentials"},
		{"what is nowhere", "GET", "/nowhere", "", nil, 404, "unknown", ""},
		{"the dashboard's page", "GET", "/admin/", "", nil, 200, "", ""},
		{"a read of the dashboard", "GET", "/admin/api/session", "", owner, 200, "", ""},
		{"a refusal of the dashboard", "GET", "/admin/api/session", "", nil, 401, "", ""},
		{"the metrics", "GET", "/metrics", "", nil, 200, "", ""},
		{"the health", "GET", "/health/live", "", nil, 200, "", ""},
		{"a failure of the dashboard", "POST", "/admin/api/signing-keys", `{"algorithm":"ES256"}`, owner, 503, "admin", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			id := uuid.NewString()
			answer := s.Do(t, test.method, test.path, test.body, append([]string{"X-Request-Id: " + id}, test.headers...)...)
			if answer.Status != test.status {
				t.Fatalf("%d %s", answer.Status, answer.Body)
			}
			var log admin.RequestLogBody
			s.Do(t, "GET", "/admin/api/logs?request_id="+id, "", owner...).JSON(t, &log)
			switch {
			case test.route == "" && len(log.Requests) == 0:
			case test.route == "" || len(log.Requests) != 1:
				t.Errorf("remembered are %+v", log.Requests)
			default:
				path, _, _ := strings.Cut(test.path, "?")
				if r := log.Requests[0]; r.Route != test.route || r.Code != test.code || r.Status != test.status || r.Method != test.method || r.Path != path {
					t.Errorf("remembered is %+v", r)
				}
			}
		})
	}
}
