package admin_test

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"basalt/api"
	"basalt/api/apitest"
	"basalt/auth"
	"basalt/auth/administrator"
	"basalt/auth/password"
)

const secret = "correct horse battery"

// rules are those of the administrators of a server, with cheap hashes.
func rules(s *apitest.Server) *administrator.Service {
	return administrator.New(s.Database.Pool, administrator.Options{Passwords: password.Parameters{MemoryKiB: 64, Passes: 1, Lanes: 1}})
}

// hire makes an administrator.
func hire(t *testing.T, s *apitest.Server, email string, role administrator.Role) *administrator.Administrator {
	t.Helper()
	a, err := rules(s).Create(t.Context(), administrator.Shell(), email, role, secret)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func limited(settings *api.Settings) { settings.Limits = "on" }

// browser keeps a cookie as a browser does.
type browser struct {
	s       *apitest.Server
	cookie  string
	headers []string
}

// do sends a request of the dashboard.
func (b *browser) do(t *testing.T, method, path, body string) *apitest.Answer {
	t.Helper()
	headers := append([]string{apitest.Dashboard, "Apikey:"}, b.headers...)
	if b.cookie != "" {
		headers = append(headers, "Cookie: "+b.cookie)
	}
	answer := b.s.Do(t, method, "/admin/api"+path, body, headers...)
	for _, set := range answer.Header.Values("Set-Cookie") {
		b.cookie, _, _ = strings.Cut(set, ";")
		if strings.Contains(set, "Max-Age=0") {
			b.cookie = ""
		}
	}
	return answer
}

// want is do with the status and a part of the answer that are expected.
func (b *browser) want(t *testing.T, status int, part, method, path, body string) *apitest.Answer {
	t.Helper()
	answer := b.do(t, method, path, body)
	if answer.Status != status || !strings.Contains(answer.Body, part) {
		t.Errorf("%s %s: %d %s, want %d with %q", method, path, answer.Status, answer.Body, status, part)
	}
	return answer
}

func credentials(email string, more string) string {
	return fmt.Sprintf(`{"email":%q,"password":%q%s}`, email, secret, more)
}

// enter signs somebody in with a browser of their own.
func enter(t *testing.T, s *apitest.Server, email string) *browser {
	t.Helper()
	b := &browser{s: s}
	b.want(t, http.StatusOK, email, "POST", "/session", credentials(email, ""))
	return b
}

// link makes a set-up link as a start of the server does.
func link(t *testing.T, s *apitest.Server) auth.Secret {
	t.Helper()
	token, err := rules(s).NewSetupLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// freeAddress is one that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}
