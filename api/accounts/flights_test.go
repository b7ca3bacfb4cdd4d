package accounts_test

import (
	"strings"
	"testing"

	"basalt/auth"
)

// A way to the database and back costs more than what is done there: what apps ask for all day takes few of them.
func TestHotFlowsTakeFewFlights(t *testing.T) {
	s, _, f := traced(t, auth.Options{Autoconfirm: true})
	session := s.confirmed("hot@example.com")
	access, refresh := session.str("access_token"), session.str("refresh_token")
	for _, tc := range []struct {
		name string
		most int
		ask  func() answer
	}{
		{"a sign-in", 2, func() answer { return s.want(s.signIn("hot@example.com", goodPassword), 200, "") }},
		{"a sign-in with a wrong password", 1, func() answer { return s.want(s.signIn("hot@example.com", "wrong-pass-1"), 400, "invalid_credentials") }},
		{"a sign-in to no account", 1, func() answer { return s.want(s.signIn("nobody@example.com", goodPassword), 400, "invalid_credentials") }},
		{"the user", 1, func() answer { return s.want(s.call("GET", "/user", access, ""), 200, "") }},
		{"a refresh", 2, func() answer { return s.want(s.refresh(refresh), 200, "") }},
	} {
		f.take()
		tc.ask()
		var flown []string
		for _, what := range f.take() {
			if !strings.HasPrefix(what, "in it: ") {
				flown = append(flown, what)
			}
		}
		if len(flown) > tc.most {
			t.Errorf("%s takes %d flights, not %d: %q", tc.name, len(flown), tc.most, flown)
		}
	}
}
