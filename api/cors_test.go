package api_test

import (
	"strings"
	"testing"

	"basalt/api"
	"basalt/api/apitest"
)

func TestScriptsOfOtherOrigins(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, things, nil)
	for _, path := range []string{"/rest/v1/thing", "/rest/v1/rpc/who", "/rest/v1/", "/auth/v1/token?grant_type=password", "/auth/v1/user"} {
		answer := s.Do(t, "OPTIONS", path, "", "Apikey:", "Origin: https://app.example", "Access-Control-Request-Method: PATCH",
			"Access-Control-Request-Headers: authorization,x-own,prefer")
		h := answer.Header
		if answer.Status != 204 || answer.Body != "" || h.Get("Access-Control-Allow-Origin") != "*" || h.Get("Access-Control-Allow-Headers") != "authorization,x-own,prefer" ||
			!strings.Contains(h.Get("Access-Control-Allow-Methods"), "PATCH") || h.Get("Access-Control-Max-Age") == "" || h.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("preflight of %s: %d %v", path, answer.Status, h)
		}
	}
	answer := s.Do(t, "OPTIONS", "/rest/v1/thing", "", "Origin: null", "Access-Control-Request-Method: GET")
	for _, header := range []string{"authorization", "apikey", "x-client-info", "content-type", "prefer", "accept-profile", "content-profile"} {
		if !strings.Contains(answer.Header.Get("Access-Control-Allow-Headers"), header) {
			t.Errorf("a preflight without a list does not allow %s", header)
		}
	}
	answer = s.Do(t, "GET", "/rest/v1/thing", "", "Origin: https://app.example")
	if answer.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("a simple request: %v", answer.Header)
	}
	for _, header := range []string{"Content-Range", "Content-Location", "Location", "Preference-Applied", "X-Request-Id", "Retry-After", "Proxy-Status", "X-Sb-Error-Code"} {
		if !strings.Contains(answer.Header.Get("Access-Control-Expose-Headers"), header) {
			t.Errorf("%s is not exposed", header)
		}
	}
	if answer = s.Do(t, "GET", "/rest/v1/nothing", "", "Origin: https://app.example"); answer.Status != 404 || answer.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("a refusal: %d %v", answer.Status, answer.Header)
	}
	if answer = s.Do(t, "OPTIONS", "/rest/v1/thing", "", "Origin: https://app.example"); answer.Status != 200 || answer.Header.Get("Allow") == "" {
		t.Errorf("OPTIONS without a method asked for is no preflight: %d %v", answer.Status, answer.Header)
	}
	for _, path := range []string{"/admin/", "/metrics", "/health/ready"} {
		if answer = s.Do(t, "GET", path, "", "Origin: https://app.example"); answer.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s is open to other origins", path)
		}
	}
}

func TestScriptsOfListedOrigins(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, things, func(settings *api.Settings) { settings.CORSOrigins = []string{"https://app.example"} })
	allowed := func(answer *apitest.Answer) string { return answer.Header.Get("Access-Control-Allow-Origin") }
	own := "Origin: https://app.example"
	preflight := s.Do(t, "OPTIONS", "/rest/v1/thing", "", own, "Access-Control-Request-Method: PATCH")
	if preflight.Status != 204 || allowed(preflight) != "https://app.example" || preflight.Header.Get("Access-Control-Allow-Credentials") != "true" {
		t.Errorf("a preflight: %d %v", preflight.Status, preflight.Header)
	}
	answer := s.Do(t, "GET", "/rest/v1/thing", "", own)
	vary := strings.Join(answer.Header.Values("Vary"), ", ")
	if answer.Status != 200 || allowed(answer) != "https://app.example" || !strings.Contains(vary, "Origin") || !strings.Contains(vary, "Prefer") {
		t.Errorf("a request: %d %v", answer.Status, answer.Header)
	}
	for _, origin := range []string{"https://app.example.evil", "http://app.example", "null", "https://app.example:444"} {
		if answer := s.Do(t, "GET", "/rest/v1/thing", "", "Origin: "+origin); allowed(answer) != "" {
			t.Errorf("%s may read: %v", origin, answer.Header)
		}
		answer := s.Do(t, "OPTIONS", "/rest/v1/thing", "", "Origin: "+origin, "Access-Control-Request-Method: PATCH")
		if allowed(answer) != "" || answer.Header.Get("Access-Control-Allow-Methods") != "" {
			t.Errorf("%s may change: %v", origin, answer.Header)
		}
	}
	if answer := s.Do(t, "GET", "/rest/v1/thing", ""); answer.Status != 200 || allowed(answer) != "" || !strings.Contains(strings.Join(answer.Header.Values("Vary"), ", "), "Origin") {
		t.Errorf("without an origin: %d %v", answer.Status, answer.Header)
	}
}
