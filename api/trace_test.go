package api_test

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"basalt/api"
	"basalt/api/apitest"
)

func TestTheTraceHeaderIsEchoedOnEveryAnswer(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, things, func(settings *api.Settings) { settings.TraceHeader = "x-trace-id" })
	for _, test := range []struct {
		name, method, path, body string
		headers                  []string
		status                   int
	}{
		{"a read", "GET", "/rest/v1/thing", "", nil, 200},
		{"a refused read", "GET", "/rest/v1/none", "", nil, 404},
		{"a refused token", "GET", "/rest/v1/thing", "", []string{"Authorization: Bearer a.b"}, 401},
		{"a refused body", "POST", "/rest/v1/thing", "{", nil, 400},
		{"an unknown path", "GET", "/none", "", nil, 404},
		{"accounts", "GET", "/auth/v1/settings", "", nil, 200},
		{"accounts without a key", "GET", "/auth/v1/settings", "", []string{"Apikey:"}, 401},
		{"health", "GET", "/health/live", "", nil, 200},
		{"a preflight", "OPTIONS", "/rest/v1/thing", "", []string{"Origin: http://a", "Access-Control-Request-Method: GET"}, 204},
	} {
		t.Run(test.name, func(t *testing.T) {
			answer := s.Do(t, test.method, test.path, test.body, append(test.headers, `X-Trace-Id: 1/a "b"; c`)...)
			if got := answer.Header.Values("X-Trace-Id"); answer.Status != test.status || len(got) != 1 || got[0] != `1/a "b"; c` {
				t.Errorf("%d %q", answer.Status, got)
			}
		})
	}
	if got := s.Do(t, "GET", "/rest/v1/thing", "").Header.Values("X-Trace-Id"); got != nil {
		t.Errorf("nothing to echo: %q", got)
	}
	// A folded line is one value, and a line's end alone is no header.
	folded := raw(t, s, "GET /health/live HTTP/1.1\r\nHost: x\r\nX-Trace-Id: a\r\n X-Injected: 1\r\nConnection: close\r\n\r\n")
	if strings.Contains(folded, "\nX-Injected") {
		t.Error(folded)
	}
	bare := raw(t, s, "GET /health/live HTTP/1.1\r\nHost: x\r\nX-Trace-Id: a\rX-Injected: 1\r\nConnection: close\r\n\r\n")
	if strings.Contains(bare, "\nX-Injected") || strings.Contains(bare, "\rX-Injected") {
		t.Error(bare)
	}
}

func TestRequestIDsAreKeptHarmlessThoughTheyAreTraced(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, "", func(settings *api.Settings) { settings.TraceHeader = "X-Request-ID" })
	if got := s.Do(t, "GET", "/health/live", "", "X-Request-Id: abc-1").Header.Values("X-Request-Id"); len(got) != 1 || got[0] != "abc-1" {
		t.Errorf("%q", got)
	}
	if got := s.Do(t, "GET", "/health/live", "", `X-Request-Id: a "b"`).Header.Get("X-Request-Id"); got == "" || strings.Contains(got, `"`) {
		t.Errorf("%q", got)
	}
}

func TestSignalsMakeTheServerLookAtTheSchema(t *testing.T) {
	s := apitest.Start(t, things, nil)
	for _, signal := range []syscall.Signal{syscall.SIGUSR1, syscall.SIGUSR2} {
		if err := syscall.Kill(os.Getpid(), signal); err != nil {
			t.Fatal(err)
		}
		apitest.Until(t, "a look at the schema by "+signal.String(), func() bool {
			return strings.Contains(s.Log.String(), `"signal":"`+signal.String()+`"`)
		})
	}
}
