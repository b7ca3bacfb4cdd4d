//go:build linux

package soak_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// stuck is after how long a request counts as forgotten by the server.
const stuck = 20 * time.Second

// keys are what `basalt keys` prints.
type keys struct{ anon, service, secret, databaseURL string }

// readKeys asks the command for the keys of a running server's database.
func readKeys(t *testing.T, s serving) keys {
	t.Helper()
	args := []string{"keys", "--env"}
	if s.databaseURL == "" {
		args = append(args, "--data", s.data)
	}
	out, err := basalt(t, s.databaseURL, args...)
	if err != nil {
		t.Fatalf("basalt keys: %v", err)
	}
	found := map[string]string{}
	for line := range strings.Lines(out) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		found[name] = strings.Trim(value, "'")
	}
	return keys{found["ANON_KEY"], found["SERVICE_ROLE_KEY"], found["JWT_SECRET"], found["DATABASE_URL"]}
}

// caller sends requests to one server under one identity.
type caller struct {
	base   string
	apikey string
	token  string // empty: the key itself
	http   *http.Client
}

func newCaller(base, apikey, token string) *caller {
	return &caller{base: base, apikey: apikey, token: token, http: &http.Client{
		Timeout:   stuck,
		Transport: &http.Transport{MaxIdleConnsPerHost: 1000, DisableCompression: true},
	}}
}

// answer is a response that was read to its end.
type answer struct {
	status int
	header http.Header
	body   string
}

// json reads the body into a value.
func (a *answer) json(t *testing.T, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(a.body), into); err != nil {
		t.Fatalf("answer %d is no JSON: %v: %s", a.status, err, a.body)
	}
}

// call sends a request with headers written as "Name: value".
func (c *caller) call(ctx context.Context, method, path, body string, headers ...string) (*answer, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader([]byte(body)))
	if err != nil {
		return nil, err
	}
	request.Header.Set("apikey", c.apikey)
	request.Header.Set("Authorization", "Bearer "+c.apikey)
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		request.Header.Set(name, value)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	return &answer{response.StatusCode, response.Header, string(text)}, nil
}

// must sends a request that has to be answered with the given status.
func (c *caller) must(t *testing.T, status int, method, path, body string, headers ...string) *answer {
	t.Helper()
	got, err := c.call(t.Context(), method, path, body, headers...)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	if got.status != status {
		t.Fatalf("%s %s: %d instead of %d: %s", method, path, got.status, status, got.body)
	}
	return got
}

// session is what a sign-up or sign-in gives.
type session struct {
	AccessToken  string `json:"access_token"`
	RefreshToken string `json:"refresh_token"`
	User         struct {
		ID string `json:"id"`
	} `json:"user"`
}

// signUp makes an account and gives a caller that acts as it.
func (c *caller) signUp(t *testing.T, email string) (*caller, session) {
	t.Helper()
	var s session
	c.must(t, http.StatusOK, "POST", "/auth/v1/signup", `{"email":"`+email+`","password":"`+passphrase+`"}`).json(t, &s)
	return newCaller(c.base, c.apikey, s.AccessToken), s
}

const passphrase = "correct horse battery"

// connect opens a connection of the test's own.
func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	var conn *pgx.Conn
	eventually(t, "PostgreSQL takes a connection", func() bool {
		var err error
		conn, err = pgx.Connect(t.Context(), url)
		return err == nil
	})
	t.Cleanup(func() {
		ctx, stop := context.WithTimeout(context.Background(), time.Second)
		defer stop()
		_ = conn.Close(ctx) // its server may be dead by design
	})
	return conn
}

// execute runs statements on a connection of their own.
func execute(t *testing.T, url, sql string) {
	t.Helper()
	conn := connect(t, url)
	if _, err := conn.PgConn().Exec(t.Context(), sql).ReadAll(); err != nil {
		t.Fatalf("run %s: %v", sql, err)
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}
