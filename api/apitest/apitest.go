// Package apitest runs a whole server over a database of its own for a test.
package apitest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/rs/zerolog"

	"basalt/api"
	"basalt/auth"
	"basalt/auth/administrator"
	"basalt/auth/password"
	"basalt/auth/token"
	"basalt/store/storetest"
)

// Server is a server under test.
type Server struct {
	URL      string
	Database *storetest.Database
	Keys     *auth.Keys
	Log      *Log

	t    testing.TB
	stop func() error
}

// Log collects what the server logs.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String gives everything logged so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Settings are those of a server over a database for a test.
func Settings(t testing.TB, url string) api.Settings {
	t.Helper()
	settings := api.Defaults()
	settings.Listen = "127.0.0.1:0"
	settings.DatabaseURL = auth.Secret(url)
	settings.AutoConfirm = "true"
	settings.Limits = "off"
	return settings
}

// Start runs a server over a fresh database until the test ends. SQL is run before; change, unless nil, changes the
// settings.
func Start(t testing.TB, sql string, change func(*api.Settings)) *Server {
	t.Helper()
	database := storetest.New(t)
	if sql != "" {
		database.Exec(t, sql)
	}
	settings := Settings(t, database.URL)
	if change != nil {
		change(&settings)
	}
	return Over(t, database, settings)
}

// Over runs a server with these settings over a database that is there.
func Over(t testing.TB, database *storetest.Database, settings api.Settings) *Server {
	t.Helper()
	s := &Server{Database: database, Log: &Log{}, t: t}
	ctx, cancel := context.WithCancel(context.Background())
	server, err := api.Start(ctx, settings, api.Build{Version: "test", Commit: "test"},
		zerolog.New(s.Log).Level(zerolog.DebugLevel), io.Discard)
	if err != nil {
		cancel()
		t.Fatalf("start server: %v", err)
	}
	s.stop = sync.OnceValue(func() error {
		cancel()
		return server.Wait()
	})
	t.Cleanup(func() { s.Stop(t) })
	s.URL = server.URL
	if s.Keys, err = auth.LoadKeys(ctx, database.Pool, settings.JWTSecret); err != nil {
		t.Fatalf("read keys: %v", err)
	}
	return s
}

// Stop ends the server as SIGTERM does and waits for its end.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	if err := s.stop(); err != nil {
		t.Errorf("server ended: %v", err)
	}
}

// Admin gives a way to run commands on the test's PostgreSQL from outside of the test's database.
func (s *Server) Admin(t testing.TB) func(command string) {
	t.Helper()
	config := s.Database.Pool.Config().ConnConfig.Copy()
	config.Database = "template1"
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.WithoutCancel(t.Context())) })
	return func(command string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), command); err != nil {
			t.Fatalf("%s: %v", command, err)
		}
	}
}

// Answer is a response read to its end.
type Answer struct {
	Status int
	Header http.Header
	Body   string
}

// JSON reads the body into a value.
func (a *Answer) JSON(t testing.TB, into any) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(a.Body))
	decoder.UseNumber()
	if err := decoder.Decode(into); err != nil {
		t.Fatalf("answer %d is no JSON: %v: %s", a.Status, err, a.Body)
	}
}

// Do sends a request with the anonymous key, or with what the headers ("Name: value") say instead. A name may be there
// several times.
func (s *Server) Do(t testing.TB, method, path, body string, headers ...string) *Answer {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatalf("make request: %v", err)
	}
	request.Header.Set("Apikey", s.Keys.AnonKey)
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	given := http.Header{}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ":")
		if value = strings.TrimSpace(value); value == "" {
			request.Header.Del(name)
			continue
		}
		given.Add(name, value)
		request.Header[http.CanonicalHeaderKey(name)] = given.Values(name)
	}
	response, err := direct().Do(request)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("%s %s: read answer: %v", method, path, err)
	}
	return &Answer{response.StatusCode, response.Header, string(text)}
}

// direct is a client that follows no redirects: they are answers to look at.
func direct() *http.Client {
	return &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// Service is the header that makes Do act as the service role.
func (s *Server) Service() string { return "Authorization: Bearer " + s.Keys.ServiceKey.Reveal() }

// Token is the header that makes Do act with a token of the given claims, which must be a JSON object.
func (s *Server) Token(t testing.TB, claims string) string {
	t.Helper()
	signed, err := token.Sign(json.RawMessage(claims), s.Keys.Secret.Reveal(), s.Keys.KeyID)
	if err != nil {
		t.Fatal(err)
	}
	return "Authorization: Bearer " + signed
}

// As is the header that makes Do act as a role for ten minutes, with more claims such as `"sub":"x"`, or none.
func (s *Server) As(t testing.TB, role, more string) string {
	t.Helper()
	if more != "" {
		more = "," + more
	}
	return s.Token(t, fmt.Sprintf(`{"role":%q,"exp":%d%s}`, role, time.Now().Add(10*time.Minute).Unix(), more))
}

// SignUp makes an account and gives the header that makes Do act as it, and its id.
func (s *Server) SignUp(t testing.TB, email string) (header, id string) {
	t.Helper()
	answer := s.Do(t, "POST", "/auth/v1/signup", `{"email":"`+email+`","password":"correct horse battery"}`)
	if answer.Status != http.StatusOK {
		t.Fatalf("sign up %s: %d %s", email, answer.Status, answer.Body)
	}
	var session struct {
		AccessToken string `json:"access_token"`
		User        struct{ ID string }
	}
	answer.JSON(t, &session)
	return "Authorization: Bearer " + session.AccessToken, session.User.ID
}

// Administrator makes an administrator of the dashboard and signs them in. It gives the headers that make Do act as
// them: the cookie, and the one that changes need.
func (s *Server) Administrator(t testing.TB, role administrator.Role) (headers []string) {
	t.Helper()
	const secret = "correct horse battery"
	email := fmt.Sprintf("%s-%s@example.com", role, uuid.NewString())
	rules := administrator.New(s.Database.Pool, administrator.Options{Passwords: password.Parameters{MemoryKiB: 64, Passes: 1, Lanes: 1}})
	if _, err := rules.Create(t.Context(), administrator.Shell(), email, role, secret); err != nil {
		t.Fatalf("make an administrator: %v", err)
	}
	answer := s.Do(t, "POST", "/admin/api/session", fmt.Sprintf(`{"email":%q,"password":%q}`, email, secret), Dashboard)
	if answer.Status != http.StatusOK {
		t.Fatalf("sign in as %s: %d %s", role, answer.Status, answer.Body)
	}
	cookie, _, _ := strings.Cut(answer.Header.Get("Set-Cookie"), ";")
	return []string{"Cookie: " + cookie, Dashboard}
}

// Dashboard is the header that changes through the dashboard's API need.
const Dashboard = "X-Basalt-Dashboard: 1"

// Until waits for a condition, at most a minute.
func Until(t testing.TB, what string, condition func() bool) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for !condition() {
		if time.Now().After(deadline) {
			t.Fatalf("within a minute not: %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// Sign makes a token of any claims, as the server itself would.
func (s *Server) Sign(t testing.TB, claims string) string {
	t.Helper()
	signed, err := token.Sign(json.RawMessage(claims), s.Keys.Secret.Reveal(), s.Keys.KeyID)
	if err != nil {
		t.Fatalf("sign token: %v", err)
	}
	return signed
}

// Refused gives the error of a server that does not start with these settings.
func Refused(t testing.TB, settings api.Settings) error {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	server, err := api.Start(ctx, settings, api.Build{Version: "test", Commit: "test"}, zerolog.Nop(), io.Discard)
	if err == nil {
		cancel()
		_ = server.Wait() // what counts is that it began
		t.Fatal("the server starts")
	}
	return err
}
