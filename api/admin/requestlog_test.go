package admin_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"basalt/api"
	"basalt/api/admin"
	"basalt/api/apitest"
	"basalt/auth/administrator"
)

func TestRequestsAreRememberedWithoutTheirSecrets(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, `create table public.thing (id int primary key); grant select on public.thing to anon;`, nil)
	hire(t, s, "v@example.com", administrator.Viewer)
	b := enter(t, s, "v@example.com")
	const canary = "canary-of-a-secret"
	s.Do(t, "GET", "/rest/v1/thing?id=eq.1&apikey="+s.Keys.AnonKey, "", "Apikey:")
	s.Do(t, "GET", "/rest/v1/thing?id=eq."+canary, "", "X-Request-Id: mine-1")
	s.Do(t, "GET", "/rest/v1/thing?token="+canary+"&access_token="+canary, "")
	s.Do(t, "POST", "/auth/v1/token?grant_type=password", `{"email":"a@example.com","password":"`+canary+`"}`)
	s.Do(t, "GET", "/%3Cimg%20src=x%20onerror=alert(1)%3E%FF%00?token="+canary, "")
	s.Do(t, "GET", "/health/ready", "")

	var log admin.RequestLogBody
	answer := b.want(t, http.StatusOK, `"source":"memory"`, "GET", "/logs", "")
	answer.JSON(t, &log)
	if strings.Contains(answer.Body, canary) || strings.Contains(answer.Body, s.Keys.AnonKey) || strings.Contains(answer.Body, "apikey") {
		t.Errorf("the log shows a secret: %s", answer.Body)
	}
	if len(log.Requests) != 5 || log.Matched != 5 || log.Next != nil {
		t.Fatalf("%+v", log)
	}
	if r := log.Requests[4]; r.Path != "/rest/v1/thing" || r.Route != "/rest/v1/thing" || r.Role != "anon" || r.Status != 200 || r.IP != "127.0.0.1" || r.Method != "GET" {
		t.Errorf("%+v", r)
	}
	if r := log.Requests[3]; r.RequestID != "mine-1" || r.Status != 400 || r.Code != "22P02" {
		t.Errorf("%+v", r)
	}
	if r := log.Requests[1]; r.Code != "invalid_credentials" || r.Route != "/auth/v1/token" {
		t.Errorf("%+v", r)
	}
	if r := log.Requests[0]; r.Path != "/<img src=x onerror=alert(1)>\uFFFD\uFFFD" || r.Route != "unknown" {
		t.Errorf("%+v", r)
	}
	for query, want := range map[string]int{
		"status=4xx": 4, "status=200": 1, "status=errors": 4, "status=5xx": 0, "method=POST": 1, "route=/rest/v1/thing": 2, "text=TOKEN": 1,
		"text=22p02": 1, "ip=127.0.0.1": 5, "ip=10.0.0.1": 0, "min_ms=100000": 0, "request_id=mine-1": 1, "role=anon": 3,
		"since=2100-01-01T00:00:00Z": 0, "until=2100-01-01T00:00:00Z": 5, "text=%3Cimg": 1,
	} {
		b.want(t, http.StatusOK, "", "GET", "/logs?"+query, "").JSON(t, &log)
		if len(log.Requests) != want || int(log.Matched) != want {
			t.Errorf("%s: %d of %d, not %d", query, len(log.Requests), log.Matched, want)
		}
	}
	b.want(t, http.StatusOK, "", "GET", "/logs?limit=2", "").JSON(t, &log)
	if len(log.Requests) != 2 || log.Next == nil || log.Matched != 5 {
		t.Fatalf("%+v", log)
	}
	b.want(t, http.StatusOK, "", "GET", "/logs?limit=3&before="+*log.Next, "").JSON(t, &log)
	if len(log.Requests) != 3 || log.Next != nil || len(log.Bars) != 0 || log.Requests[0].RequestID == "" {
		t.Errorf("%+v", log)
	}
	for _, query := range []string{"status=teapot", "status=99", "min_ms=NaN", "min_ms=-1", "since=yesterday", "before=0", "before=x", "limit=501", "text=%00", "ip=" + strings.Repeat("1", 300)} {
		b.want(t, http.StatusBadRequest, "bad_parameter", "GET", "/logs?"+query, "")
	}

	var traffic admin.TrafficBody
	b.want(t, http.StatusOK, "", "GET", "/traffic?seconds=300", "").JSON(t, &traffic)
	if traffic.Total.Requests < 5 || traffic.Total.Refused < 4 || len(traffic.Seconds) != 300 || len(traffic.Routes) < 4 {
		t.Errorf("%+v", traffic.Routes)
	}
	b.want(t, http.StatusBadRequest, "seconds", "GET", "/traffic?seconds=301", "")
}

func TestTheLogIsFollowed(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, `create table public.thing (id int primary key); grant select on public.thing to anon;`, nil)
	hire(t, s, "v@example.com", administrator.Viewer)
	b := enter(t, s, "v@example.com")
	request, err := http.NewRequestWithContext(t.Context(), "GET", s.URL+"/admin/api/logs/live?status=4xx", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Cookie", b.cookie)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	lines.Scan() // it follows now
	s.Do(t, "GET", "/rest/v1/thing", "")
	s.Do(t, "GET", "/rest/v1/nothing", "")
	for lines.Scan() {
		var line admin.TailLine
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		if len(line.Requests) == 0 {
			continue
		}
		if len(line.Requests) != 1 || line.Requests[0].Path != "/rest/v1/nothing" || line.Requests[0].Code != "PGRST205" {
			t.Errorf("%+v", line)
		}
		return
	}
	t.Error("the stream has ended: ", lines.Err())
}

func TestRequestsAreKeptInATable(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, `create table public.thing (id int primary key); grant select on public.thing to anon;`, func(settings *api.Settings) { settings.LogRequests = time.Hour })
	hire(t, s, "v@example.com", administrator.Viewer)
	b := enter(t, s, "v@example.com")
	for i := range 5 {
		s.Do(t, "GET", fmt.Sprintf("/rest/v1/thing?id=eq.%d", i), "")
	}
	s.Do(t, "GET", "/no%00where%FF", "")
	var log admin.RequestLogBody
	for until := time.Now().Add(20 * time.Second); time.Now().Before(until) && (log.Matched < 6 || len(log.Requests) < 4); {
		b.want(t, http.StatusOK, `"source":"table"`, "GET", "/logs?kept=true&limit=4", "").JSON(t, &log)
	}
	if log.Matched != 6 || len(log.Requests) != 4 || log.Next == nil || log.KeptSeconds != 3600 || len(log.Bars) == 0 {
		t.Fatalf("%+v", log)
	}
	b.want(t, http.StatusOK, "", "GET", "/logs?kept=true&before="+*log.Next, "").JSON(t, &log)
	if len(log.Requests) != 2 || log.Next != nil {
		t.Errorf("%+v", log)
	}
	for query, want := range map[string]int64{"status=4xx": 1, "method=GET": 6, "text=THING": 5, "role=anon": 5, "route=/rest/v1/thing": 5, "min_ms=1e6": 0, "since=2100-01-01T00:00:00Z": 0} {
		b.want(t, http.StatusOK, "", "GET", "/logs?kept=true&"+query, "").JSON(t, &log)
		if log.Matched != want {
			t.Errorf("%s: %d, not %d", query, log.Matched, want)
		}
	}
}

func TestTheServiceKeyIsShownToOwnersWhoHaveProvedThemselves(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, "", nil)
	hire(t, s, "o@example.com", administrator.Owner)
	hire(t, s, "e@example.com", administrator.Editor)
	owner, editor := enter(t, s, "o@example.com"), enter(t, s, "e@example.com")
	answer := editor.want(t, http.StatusOK, s.Keys.AnonKey, "GET", "/keys", "")
	if strings.Contains(answer.Body, s.Keys.ServiceKey.Reveal()) {
		t.Error("the service key is shown unasked")
	}
	editor.want(t, http.StatusForbidden, "role_too_low", "POST", "/keys/service", `{}`)
	s.Database.Exec(t, `update basalt.administrator_sessions set elevated_until = now() - interval '1 second'`)
	owner.want(t, http.StatusForbidden, "elevation_needed", "POST", "/keys/service", `{}`)
	owner.want(t, http.StatusOK, "", "POST", "/session/elevate", fmt.Sprintf(`{"password":%q}`, secret))
	owner.want(t, http.StatusOK, s.Keys.ServiceKey.Reveal(), "POST", "/keys/service", `{}`)
	audit := owner.want(t, http.StatusOK, "key.reveal", "GET", "/audit", "")
	if strings.Contains(audit.Body, s.Keys.ServiceKey.Reveal()) {
		t.Error("the audit log holds the key")
	}
}

func TestTheFirstScreenSaysWhatIsThere(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, "", nil)
	hire(t, s, "v@example.com", administrator.Viewer)
	b := enter(t, s, "v@example.com")
	var body admin.OverviewBody
	steps := func() string {
		b.want(t, http.StatusOK, "", "GET", "/overview", "").JSON(t, &body)
		var done []string
		for _, step := range body.Steps {
			if step.Done {
				done = append(done, step.Key)
			}
		}
		return strings.Join(done, " ")
	}
	if got := steps(); got != "" || len(body.Steps) != 4 || body.Database == nil || body.Database.Bytes == 0 || len(body.Parts) != 2 || !body.Parts[0].OK || body.Pool.Max == 0 {
		t.Errorf("%q done: %+v", got, body)
	}
	s.Database.Exec(t, `
insert into basalt.outbox (id, channel, kind, body, state, created_at, expires_at, failure) values
  (gen_random_uuid(), 'email', 'invite', '', 'failed', now(), now(), 'refused'),
  (gen_random_uuid(), 'email', 'invite', '', 'failed', now() - interval '2 hours', now(), 'refused'),
  (gen_random_uuid(), 'email', 'invite', '', 'held', now(), now(), null)`)
	if steps(); len(body.Parts) != 3 || body.Parts[2].OK || !strings.HasPrefix(body.Parts[2].Reason, "1 could not be delivered") {
		t.Errorf("with mails that are not delivered: %+v", body.Parts)
	}
	s.Database.Exec(t, `create table public.thing (id int);`)
	s.SignUp(t, "a@example.com")
	s.Do(t, "GET", "/rest/v1/nothing", "")
	if got := steps(); got != "table user" || len(body.Errors) != 1 || body.Errors[0].Code != "PGRST205" {
		t.Errorf("%q done: %+v", got, body)
	}
	s.Database.Exec(t, `alter table public.thing enable row level security`)
	if got := steps(); got != "table user policies" {
		t.Errorf("%q done", got)
	}
	var events admin.AuthEventsBody
	for until := time.Now().Add(20 * time.Second); time.Now().Before(until) && len(events.Events) == 0; {
		b.want(t, http.StatusOK, "", "GET", "/auth-events?action=user_signedup&text=A@example", "").JSON(t, &events)
	}
	if len(events.Events) != 1 || events.Events[0].Actor != "a@example.com" || events.Next != nil {
		t.Errorf("%+v", events)
	}
	for until := time.Now().Add(20 * time.Second); time.Now().Before(until) && events.Next == nil; {
		b.want(t, http.StatusOK, "", "GET", "/auth-events?limit=1", "").JSON(t, &events)
	}
	b.want(t, http.StatusOK, "", "GET", "/auth-events?limit=1&before="+strings.ReplaceAll(*events.Next, "+", "%2B"), "").JSON(t, &events)
	b.want(t, http.StatusBadRequest, "bad_parameter", "GET", "/auth-events?before=x", "")
}
