package api_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"basalt/api"
	"basalt/api/apitest"
	"basalt/auth/administrator"
)

const things = `
create table thing (id int primary key, name text);
insert into thing values (1, 'one');
create function who() returns text language sql stable as 'select current_user::text';
create function wide(n int) returns text language sql stable as $$ select repeat('x', n) $$;
create function wait(seconds float) returns void language sql as 'select pg_sleep(seconds)';
`

func TestWhoIsCalling(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, things, nil)
	signed, _ := s.SignUp(t, "a@example.com")
	user := strings.TrimPrefix(signed, "Authorization: Bearer ")
	service := s.Keys.ServiceKey.Reveal()
	expired := strings.TrimPrefix(s.Token(t, `{"role":"authenticated","exp":1000}`), "Authorization: Bearer ")
	endless := s.Token(t, `{"role":"authenticated"}`)
	forged := service[:len(service)-4] + "AAAA"
	for _, test := range []struct {
		name    string
		headers []string
		query   string
		status  int
		body    string
	}{
		{"nobody", []string{"Apikey:"}, "", 200, `"anon"`},
		{"the anonymous key", nil, "", 200, `"anon"`},
		{"the service key as the key", []string{"Apikey: " + service}, "", 200, `"service_role"`},
		{"a key as a parameter", []string{"Apikey:"}, "?apikey=" + service, 200, `"service_role"`},
		{"a key as a header wins", nil, "?apikey=" + service, 200, `"anon"`},
		{"a bearer alone", []string{"Apikey:", "Authorization: Bearer " + user}, "", 200, `"authenticated"`},
		{"a bearer in lower case", []string{"Authorization: bearer " + user}, "", 200, `"authenticated"`},
		{"a bearer in upper case with blanks", []string{"Authorization: BEARER   " + user + " "}, "", 200, `"authenticated"`},
		{"a bearer wins over the key", []string{"Apikey: " + service, "Authorization: Bearer " + user}, "", 200, `"authenticated"`},
		{"an empty bearer", []string{"Authorization: Bearer  ."}, "", 401, "PGRST301"},
		{"another scheme leaves the key", []string{"Authorization: Basic eDp5"}, "", 200, `"anon"`},
		{"another scheme leaves nobody", []string{"Apikey:", "Authorization: Basic eDp5"}, "", 200, `"anon"`},
		{"an expired bearer", []string{"Authorization: Bearer " + expired}, "", 401, "JWT expired"},
		{"a bearer without an end", []string{endless}, "", 401, `"code":"PGRST303","details":"The claim exp, the end of the token in seconds since 1970, is missing"`},
		{"a forged bearer", []string{"Authorization: Bearer " + forged}, "", 401, "PGRST301"},
		{"a forged key", []string{"Apikey: " + forged}, "", 401, "PGRST301"},
		{"two parts", []string{"Authorization: Bearer a.b"}, "", 401, "Expected 3 parts in JWT; got 2"},
		{"a million dots", []string{"Authorization: Bearer " + strings.Repeat(".", 20000)}, "", 401, "PGRST301"},
	} {
		t.Run(test.name, func(t *testing.T) {
			answer := s.Do(t, "GET", "/rest/v1/rpc/who"+test.query, "", test.headers...)
			if answer.Status != test.status || !strings.Contains(answer.Body, test.body) {
				t.Errorf("%d %s", answer.Status, answer.Body)
			}
			if challenge := answer.Header.Get("WWW-Authenticate"); (test.status == 401) != strings.HasPrefix(challenge, "Bearer") {
				t.Errorf("challenge %q", challenge)
			}
		})
	}
	t.Run("an empty bearer as it is", func(t *testing.T) {
		answer := raw(t, s, "GET /rest/v1/rpc/who HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \r\nConnection: close\r\n\r\n")
		if !strings.HasPrefix(answer, "HTTP/1.1 401") || !strings.Contains(answer, "Empty JWT is sent in Authorization header") {
			t.Error(answer)
		}
	})
	for _, test := range []struct {
		name, header string
		status       int
	}{
		{"accounts want a key", "Apikey:", 401},
		{"accounts take the anonymous key", "Apikey: " + s.Keys.AnonKey, 200},
		{"accounts take the service key", "Apikey: " + service, 200},
		{"a user's token is no key", "Apikey: " + user, 401},
		{"a forged key is none", "Apikey: " + forged, 401},
	} {
		t.Run(test.name, func(t *testing.T) {
			if answer := s.Do(t, "GET", "/auth/v1/settings", "", test.header); answer.Status != test.status {
				t.Errorf("%d %s", answer.Status, answer.Body)
			}
		})
	}
	if answer := s.Do(t, "GET", "/auth/v1/health", "", "Apikey:"); answer.Status != 200 {
		t.Errorf("health of accounts without a key: %d", answer.Status)
	}
}

// raw sends bytes and gives all that comes back until the server closes the connection.
func raw(t *testing.T, s *apitest.Server, text string) string {
	t.Helper()
	conn := dial(t, s)
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil && len(answer) == 0 {
		t.Fatal(err)
	}
	return string(answer)
}

// dial opens a connection that is closed at the end of the test, and that waits for nothing longer than a minute.
func dial(t *testing.T, s *apitest.Server) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	return conn
}

func TestOddButLegalHTTP(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, things, nil)
	head := "Host: x\r\nApikey: " + s.Keys.AnonKey + "\r\nContent-Type: application/json\r\n"
	for _, test := range []struct{ name, text, begins, has string }{
		{"a body in chunks", "POST /rest/v1/thing HTTP/1.1\r\n" + head + "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"id\"\r\n4\r\n: 2}\r\n0\r\n\r\n", "HTTP/1.1 201", ""},
		{"a length that is none", "POST /rest/v1/thing HTTP/1.1\r\n" + head + "Content-Length: abc\r\n\r\n{}", "HTTP/1.1 400", ""},
		{"two lengths", "POST /rest/v1/thing HTTP/1.1\r\n" + head + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", "HTTP/1.1 400", ""},
		{"a length beside chunks", "GET /rest/v1/thing HTTP/1.1\r\n" + head + "Connection: close\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n", "HTTP/1.1 ", ""},
		{"chunks that are none", "POST /rest/v1/thing HTTP/1.1\r\n" + head + "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "HTTP/1.1 400", "PGRST102"},
		{"two requests in one packet", "GET /rest/v1/rpc/who HTTP/1.1\r\n" + head + "\r\nGET /rest/v1/thing?select=id&id=eq.1 HTTP/1.1\r\n" + head + "Connection: close\r\n\r\n", "HTTP/1.1 200", `[{"id":1}]`},
		{"HTTP/1.0", "GET /rest/v1/rpc/who HTTP/1.0\r\n" + head + "\r\n", "HTTP/1.0 200", `"anon"`},
		{"a blank in the path", "GET /rest/v1/a b HTTP/1.1\r\n" + head + "\r\n", "HTTP/1.1 400", ""},
		{"a method in lower case", "get /rest/v1/thing HTTP/1.1\r\n" + head + "Connection: close\r\n\r\n", "HTTP/1.1 405", ""},
		{"a method that is none", "FLY /rest/v1/thing HTTP/1.1\r\n" + head + "Connection: close\r\n\r\n", "HTTP/1.1 405", ""},
		{"an address of another form", "GET http://evil.example/rest/v1/rpc/who HTTP/1.1\r\n" + head + "Connection: close\r\n\r\n", "HTTP/1.1 200", `"anon"`},
		{"an address of no form", "OPTIONS * HTTP/1.1\r\n" + head + "Connection: close\r\n\r\n", "HTTP/1.1 ", ""},
		{"no host", "GET /rest/v1/thing HTTP/1.1\r\n\r\n", "HTTP/1.1 400", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if answer := raw(t, s, test.text); !strings.HasPrefix(answer, test.begins) || !strings.Contains(answer, test.has) {
				t.Error(answer)
			}
		})
	}
	t.Run("a request behind a body with two ends", func(t *testing.T) {
		smuggled := "GET /rest/v1/rpc/who HTTP/1.1\r\n" + head + "\r\n"
		answer := raw(t, s, "GET /rest/v1/thing HTTP/1.1\r\n"+head+"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n"+smuggled)
		if !strings.HasPrefix(answer, "HTTP/1.1 200") || strings.Contains(answer, `"anon"`) {
			t.Error(answer)
		}
	})
	t.Run("a client that waits to be told to go on", func(t *testing.T) {
		conn := dial(t, s)
		fmt.Fprintf(conn, "POST /rest/v1/thing HTTP/1.1\r\n%sExpect: 100-continue\r\nContent-Length: 8\r\nConnection: close\r\n\r\n", head)
		reader := bufio.NewReader(conn)
		if line, err := reader.ReadString('\n'); err != nil || !strings.HasPrefix(line, "HTTP/1.1 100") {
			t.Fatalf("%q %v", line, err)
		}
		fmt.Fprint(conn, `{"id": 7}`[:8])
		_, _ = reader.ReadString('\n')
		rest, _ := io.ReadAll(reader)
		if !strings.HasPrefix(string(rest), "HTTP/1.1 400") { // the object is cut at its announced length
			t.Errorf("%s", rest)
		}
	})
	t.Run("a client that leaves in the middle of its body", func(t *testing.T) {
		conn := dial(t, s)
		fmt.Fprintf(conn, "POST /rest/v1/thing HTTP/1.1\r\n%sContent-Length: 100\r\n\r\n{\"id\"", head)
		if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		answer, _ := io.ReadAll(conn)
		if !strings.HasPrefix(string(answer), "HTTP/1.1 400") {
			t.Errorf("%s", answer)
		}
	})
}

func TestPathsHaveOneReading(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, things, nil)
	for _, path := range []string{
		"/rest%2Fv1/thing", "/rest/v1%2Fthing", "/rest/v1//thing", "/rest/v1/../v1/thing", "/rest/v1/%2e%2e/admin", "/rest/v1/..%5cadmin",
		"/rest/v1/thing/", "/rest/v1/thing%2F", "/rest/v1/thing;x", "//rest/v1/thing", "/REST/v1/thing", "/auth/v1%2f../rest/v1/thing",
		"/admin%2f..%2frest/v1/thing", "/admin/../rest/v1/thing", "/admin/..%2f..%2fembed.go", "/admin/%2e%2e/embed.go", "/admin/assets/", "/admin/nothing.js",
		"/rest/v2/thing", "/favicon.ico", "/rest", "/health", "/metrics/x",
	} {
		answer := raw(t, s, "GET "+path+" HTTP/1.1\r\nHost: x\r\nApikey: "+s.Keys.AnonKey+"\r\nConnection: close\r\n\r\n")
		if strings.Contains(answer, `"one"`) || strings.Contains(answer, "package web") || strings.HasPrefix(answer, "HTTP/1.1 200") || strings.HasPrefix(answer, "HTTP/1.1 5") {
			t.Errorf("%s: %s", path, answer)
		}
	}
	for path, want := range map[string]string{"/rest/v1/%74hing?select=id": `[{"id":1}]`, "/admin/": "<!doctype html>", "/rest/v1/rpc%2Fwho": `"anon"`} {
		answer := s.Do(t, "GET", path, "")
		if answer.Status != 200 || !strings.HasPrefix(strings.ToLower(answer.Body), want) {
			t.Errorf("%s: %d %s", path, answer.Status, answer.Body)
		}
	}
	if answer := s.Do(t, "GET", "/admin", ""); answer.Status != 308 || answer.Header.Get("Location") != "/admin/" {
		t.Errorf("/admin: %d %s", answer.Status, answer.Header)
	}
	page := s.Do(t, "GET", "/admin/", "")
	for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin"} {
		if got := page.Header.Get(name); got != want {
			t.Errorf("%s %q", name, got)
		}
	}
	if policy := page.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") {
		t.Errorf("policy %q", policy)
	}
}

func TestRequestIdentifiers(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, things, nil)
	own := regexp.MustCompile(`^[0-9a-f]{16}-[0-9a-z]+$`)
	seen := map[string]bool{}
	for range 50 {
		id := s.Do(t, "GET", "/rest/v1/thing", "").Header.Get("X-Request-Id")
		if !own.MatchString(id) || seen[id] {
			t.Fatalf("identifier %q", id)
		}
		seen[id] = true
	}
	for _, given := range []string{"abc-123", "trace/1:2=3+4_5.6", strings.Repeat("a", 128)} {
		if id := s.Do(t, "GET", "/rest/v1/thing", "", "X-Request-Id: "+given).Header.Get("X-Request-Id"); id != given {
			t.Errorf("%q becomes %q", given, id)
		}
	}
	for _, given := range []string{strings.Repeat("a", 129), "a b", `"quoted"`, "<script>", "a,b", "ü", "{}", "a\tb", "%0a"} {
		if id := s.Do(t, "GET", "/rest/v1/thing", "", "X-Request-Id: "+given).Header.Get("X-Request-Id"); !own.MatchString(id) {
			t.Errorf("%q is believed: %q", given, id)
		}
	}
	if id := s.Do(t, "GET", "/nowhere", "", "X-Request-Id: mine").Header.Get("X-Request-Id"); id != "mine" {
		t.Errorf("a refusal has the identifier %q", id)
	}
	apitest.Until(t, "the identifier is in the log", func() bool { return strings.Contains(s.Log.String(), `"request_id":"mine"`) })
}

func TestMetricsHaveNoLabelsOfClients(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, things, nil)
	for _, path := range []string{"/rest/v1/thing", "/rest/v1/canary1", "/canary2", "/rest/v1/rpc/canary3", "/auth/v1/canary4", "/admin/canary5", "/canary6/rest/v1", "/auth/v1/admin/users/canary7", "/health/canary8"} {
		for _, method := range []string{"GET", "POST", "CANARY9", "OPTIONS", "HEAD"} {
			s.Do(t, method, path, "")
		}
	}
	s.Do(t, "GET", "/rest/v1/thing", "", "X-Retry-Count: 2")
	answer := s.Do(t, "GET", "/metrics", "")
	if answer.Status != 200 || strings.Contains(strings.ToLower(answer.Body), "canary") {
		t.Errorf("metrics %d:\n%s", answer.Status, answer.Body)
	}
	routes := map[string]bool{}
	for _, match := range regexp.MustCompile(`route="([^"]*)"`).FindAllStringSubmatch(answer.Body, -1) {
		routes[match[1]] = true
	}
	if !routes["/rest/v1/*"] || len(routes) > 20 {
		t.Errorf("routes %v", routes)
	}
	for _, want := range []string{
		"basalt_client_retries_total 1", `basalt_request_duration_seconds_count{method="other"`, "basalt_plan_cache_hits_total", "basalt_plan_cache_misses_total", "basalt_pool_connections",
		"basalt_pool_connections_in_use", "basalt_pool_waiting 0", "basalt_flights_total", "basalt_pool_refused_total 0", "basalt_catalog_version", "basalt_catalog_load_seconds", "basalt_argon2_running 0",
		"go_goroutines", "process_resident_memory_bytes",
	} {
		if !strings.Contains(answer.Body, want) {
			t.Errorf("metrics lack %s", want)
		}
	}
}

func TestBadRequestsTakeNoConnectionOfThePool(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, things, nil)
	before := metric(t, s, "basalt_flights_total")
	for _, request := range []struct {
		method, path, body string
		headers            []string
	}{
		{"GET", "thing?id=foo.1", "", nil}, {"GET", "thing?select=(", "", nil}, {"GET", "thing?order=id.up", "", nil}, {"GET", "nothing", "", nil}, {"GET", "thing/1", "", nil},
		{"GET", "thing?select=nothing(id)", "", nil}, {"GET", "thing?limit=-1", "", nil}, {"GET", "thing", "", []string{"Range: 5-1"}}, {"GET", "thing", "", []string{"Accept: image/png"}},
		{"GET", "thing", "", []string{"Accept-Profile: other"}}, {"GET", "thing", "", []string{"Prefer: handling=strict, x=y"}}, {"GET", "thing", "", []string{"Authorization: Bearer x.y.z"}},
		{"GET", "thing", "", []string{s.Token(t, `{"role":"postgres","exp":9999999999}`)}}, {"GET", "thing?select=id.sum()", "", nil}, {"GET", "thing?nothing.id=eq.1&select=id", "", nil},
		{"OPTIONS", "thing", "", nil}, {"OPTIONS", "rpc/who", "", nil}, {"TRACE", "thing", "", nil}, {"PUT", "rpc/who", "", nil}, {"POST", "thing", "{", nil}, {"POST", "thing", `{"x":1}`, nil},
		{"POST", "thing", "x", []string{"Content-Type: image/png"}}, {"POST", "thing", "[]", nil}, {"PATCH", "thing?id=eq.1", "{}", nil}, {"PATCH", "thing", `{"name":"x"}`, nil}, {"DELETE", "thing", "", nil},
		{"PUT", "thing?id=gt.1", `{"id":1}`, nil}, {"POST", "rpc/nothing", "{}", nil}, {"POST", "rpc/wide", `{"m":1}`, nil}, {"POST", "thing?columns=x", `{"id":1}`, nil}, {"POST", "thing?on_conflict=x", `{"id":9}`, []string{"Prefer: resolution=merge-duplicates"}},
		{"POST", "rpc/wide", `{"n":1}`, []string{"Prefer: handling=strict, max-affected=1"}}, {"GET", "", "", []string{"Accept: image/png"}}, {"GET", "?openapi=4", "", nil}, {"DELETE", "", "", nil}, {"GET", "%ff", "", nil}, {"GET", "thing?id=eq.%ff", "", nil},
	} {
		answer := s.Do(t, request.method, "/rest/v1/"+request.path, request.body, request.headers...)
		if answer.Status >= 500 {
			t.Errorf("%s %s: %d %s", request.method, request.path, answer.Status, answer.Body)
		}
		if after := metric(t, s, "basalt_flights_total"); after != before {
			t.Errorf("%s %s %v took a connection: %d %s", request.method, request.path, request.headers, answer.Status, answer.Body)
			before = after
		}
	}
}

// metric reads one value of /metrics.
func metric(t *testing.T, s *apitest.Server, name string) string {
	t.Helper()
	for line := range strings.Lines(s.Do(t, "GET", "/metrics", "").Body) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			return strings.TrimSpace(value)
		}
	}
	t.Fatalf("no metric %s", name)
	return ""
}

func TestHealth(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, things, nil)
	if answer := s.Do(t, "GET", "/health/live", ""); answer.Status != 200 || !strings.Contains(answer.Body, `"status":"ok"`) {
		t.Errorf("live: %d %s", answer.Status, answer.Body)
	}
	answer := s.Do(t, "GET", "/health/ready", "")
	var ready struct {
		Ready bool
		Parts map[string]struct {
			OK     bool
			Reason string
		}
	}
	answer.JSON(t, &ready)
	if answer.Status != 200 || !ready.Ready || !ready.Parts["database"].OK || !ready.Parts["catalog"].OK {
		t.Errorf("ready: %d %s", answer.Status, answer.Body)
	}
	flights := metric(t, s, "basalt_flights_total")
	for range 20 {
		s.Do(t, "GET", "/health/ready", "")
	}
	if metric(t, s, "basalt_flights_total") != flights {
		t.Error("health asks the database")
	}
}

func TestTheDatabaseGoesAway(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, things, func(s *api.Settings) { s.PoolTimeout = 3 * time.Second })
	if answer := s.Do(t, "GET", "/rest/v1/thing", ""); answer.Status != 200 {
		t.Fatalf("before: %d %s", answer.Status, answer.Body)
	}
	name := s.Database.Pool.Config().ConnConfig.Database
	owner := s.Administrator(t, administrator.Owner)
	admin := s.Admin(t)
	admin(`alter database ` + name + ` with allow_connections false`)
	admin(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '` + name + `'`)
	apitest.Until(t, "the server notices", func() bool { return s.Do(t, "GET", "/health/ready", "").Status == 503 })
	answer := s.Do(t, "GET", "/health/ready", "")
	if answer.Header.Get("Retry-After") == "" || !strings.Contains(answer.Body, `"database":{"ok":false`) || strings.Contains(answer.Body, name) {
		t.Errorf("not ready: %s %v", answer.Body, answer.Header)
	}
	if answer = s.Do(t, "GET", "/health/live", ""); answer.Status != 200 {
		t.Errorf("live: %d", answer.Status)
	}
	answer = s.Do(t, "GET", "/rest/v1/thing", "")
	if answer.Status != 503 || answer.Header.Get("Retry-After") == "" || strings.Contains(answer.Body, name) {
		t.Errorf("a read: %d %s", answer.Status, answer.Body)
	}
	if answer = s.Do(t, "POST", "/auth/v1/token?grant_type=password", `{"email":"a@example.com","password":"x"}`); answer.Status != 503 {
		t.Errorf("a sign-in: %d %s", answer.Status, answer.Body)
	}
	for _, request := range [][2]string{{"GET", ""}, {"DELETE", ""}, {"DELETE", "/00000000-0000-0000-0000-000000000000"}} {
		answer = s.Do(t, request[0], "/admin/api/outbox"+request[1], "", owner...)
		if answer.Status != 503 || answer.Header.Get("Retry-After") == "" || strings.Contains(answer.Body, name) {
			t.Errorf("%s of the outbox: %d %s", request[0], answer.Status, answer.Body)
		}
	}
	apitest.Until(t, "nobody knows what waits", func() bool { return metric(t, s, "basalt_outbox_waiting") == "NaN" })
	admin(`alter database ` + name + ` with allow_connections true`)
	apitest.Until(t, "it serves again", func() bool {
		return s.Do(t, "GET", "/rest/v1/thing", "").Status == 200 && s.Do(t, "GET", "/health/ready", "").Status == 200
	})
}

func TestEndingLetsRequestsFinish(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, things, nil)
	done := make(chan *http.Response, 1)
	go func() {
		request, _ := http.NewRequest("POST", s.URL+"/rest/v1/rpc/wait", strings.NewReader(`{"seconds":1}`))
		request.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			response = nil
		}
		done <- response
	}()
	apitest.Until(t, "the request is under way", func() bool { return metric(t, s, "basalt_pool_connections_in_use") == "1" })
	s.Stop(t)
	response := <-done
	if response == nil || response.StatusCode != 204 {
		t.Fatalf("the request was cut: %v", response)
	}
	response.Body.Close()
	if _, err := net.DialTimeout("tcp", strings.TrimPrefix(s.URL, "http://"), time.Second); err == nil {
		t.Error("the server still takes connections")
	}
}
