package admin_test

import (
	"net/http"
	"strings"
	"testing"

	"basalt/api/apitest"
)

func TestOnlyTheServiceKeyGetsTheTypes(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, `create table notes (id int primary key, body text)`, nil)
	user, _ := s.SignUp(t, "ada@example.com")
	for _, test := range []struct {
		name    string
		headers []string
		status  int
	}{
		{"the service key as a bearer token", []string{s.Service()}, http.StatusOK},
		{"the service key as an API key", []string{"Apikey: " + s.Keys.ServiceKey.Reveal()}, http.StatusOK},
		{"a token of the service role", []string{s.As(t, "service_role", "")}, http.StatusOK},
		{"an OAuth client of somebody with the service role", []string{s.As(t, "service_role", `"client_id":"5b1f8f0e-3c1a-4d6b-9a57-0d9f6a1c0009"`)}, http.StatusForbidden},
		{"nobody", []string{"Apikey:"}, http.StatusUnauthorized},
		{"the anonymous key", nil, http.StatusForbidden},
		{"a user", []string{user}, http.StatusForbidden},
		{"a token that is none", []string{"Authorization: Bearer x.y.z"}, http.StatusUnauthorized},
	} {
		t.Run(test.name, func(t *testing.T) {
			answer := s.Do(t, "GET", "/admin/api/types.ts", "", test.headers...)
			shown := strings.Contains(answer.Body, "notes: {")
			if answer.Status != test.status || shown != (test.status == http.StatusOK) {
				t.Errorf("%d, want %d: %.200s", answer.Status, test.status, answer.Body)
			}
			if test.status == http.StatusOK && answer.Header.Get("Content-Type") != "application/typescript; charset=utf-8" {
				t.Errorf("the types are sent as %s", answer.Header.Get("Content-Type"))
			}
		})
	}
	if answer := s.Do(t, "GET", "/admin/api/nothing", "", s.Service()); answer.Status != http.StatusNotFound {
		t.Errorf("an unknown path is answered %d", answer.Status)
	}
	if answer := s.Do(t, "GET", "/admin/api/nothing", ""); answer.Status != http.StatusForbidden {
		t.Errorf("an unknown path tells the anonymous key %d", answer.Status)
	}
}
