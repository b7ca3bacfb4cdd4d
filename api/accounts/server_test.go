package accounts_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
	"github.com/rs/zerolog"

	"basalt/api/accounts"
	"basalt/auth"
	"basalt/auth/password"
	"basalt/auth/token"
	"basalt/store/storetest"
)

const goodPassword = "Secret-pass-1"

// server is a running accounts API over a database of its own.
type server struct {
	t       *testing.T
	db      *storetest.Database
	keys    *auth.Keys
	service *auth.Service
	url     string
	log     *logBuffer
}

// logBuffer keeps what is logged at every level.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// options are cheap hashes, no limits, and sign-ups that are good at once.
func options() auth.Options {
	return auth.Options{
		Issuer:      "http://api.example/auth/v1",
		SiteURL:     "http://site.example",
		Autoconfirm: true,
		LimitsOff:   true,
		Passwords:   password.Parameters{MemoryKiB: 64, Passes: 1, Lanes: 1},
		Gate:        password.GateOptions{Queue: 1000, Wait: time.Minute},
	}
}

func start(t *testing.T, o auth.Options) *server {
	t.Helper()
	t.Parallel()
	return startOver(t, storetest.New(t), o)
}

func startOver(t *testing.T, db *storetest.Database, o auth.Options) *server {
	t.Helper()
	log := &logBuffer{}
	o.Log = zerolog.New(log)
	keys, err := auth.LoadKeys(t.Context(), db.Pool, "")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, db: db, keys: keys, service: auth.New(db.Pool, keys, o), log: log}
	return s.face(accounts.Options{Version: "test", Log: o.Log})
}

// face serves the same accounts under another address.
func (s *server) face(o accounts.Options) *server {
	e := echo.New()
	e.Use(func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			c.Response().Header().Set(echo.HeaderXRequestID, uuid.NewString())
			return next(c)
		}
	})
	e.IPExtractor = echo.ExtractIPFromXFFHeader(echo.TrustLoopback(true))
	accounts.Register(e.Group("/auth/v1"), s.service, auth.NewVerifier(*s.keys, auth.VerifierOptions{}), o)
	listener := httptest.NewServer(e)
	s.t.Cleanup(listener.Close)
	other := *s
	other.url = listener.URL
	return &other
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	text   string
}

// get digs a value out of the body: names and positions divided by dots.
func (a answer) get(path string) any {
	var value any
	if json.Unmarshal([]byte(a.text), &value) != nil {
		return nil
	}
	for _, name := range strings.Split(path, ".") {
		switch inner := value.(type) {
		case map[string]any:
			value = inner[name]
		case []any:
			var i int
			if _, err := fmt.Sscan(name, &i); err != nil || i >= len(inner) {
				return nil
			}
			value = inner[i]
		default:
			return nil
		}
	}
	return value
}

func (a answer) str(path string) string {
	text, _ := a.get(path).(string)
	return text
}

func (a answer) code() string { return a.str("error_code") }

// call sends a request; headers stand in pairs.
func (s *server) call(method, path, bearer, body string, headers ...string) answer {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url+"/auth/v1"+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if bearer != "" {
		r.Header.Set("Authorization", "Bearer "+bearer)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Error(err)
		return answer{}
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Error(err)
	}
	return answer{status: response.StatusCode, header: response.Header, text: string(text)}
}

// want fails the test unless an answer has a status and, when given, an error code.
func (s *server) want(a answer, status int, code string) answer {
	s.t.Helper()
	if a.status != status || a.code() != code {
		s.t.Errorf("the answer is %d %s, not %d %s", a.status, a.text, status, code)
	}
	return a
}

func (s *server) signUp(email string) answer {
	s.t.Helper()
	a := s.call("POST", "/signup", s.keys.AnonKey, fmt.Sprintf(`{"email":%q,"password":%q}`, email, goodPassword))
	if a.status != http.StatusOK {
		s.t.Fatalf("sign-up: %d %s", a.status, a.text)
	}
	return a
}

func (s *server) signIn(email, secret string, headers ...string) answer {
	s.t.Helper()
	return s.call("POST", "/token?grant_type=password", s.keys.AnonKey, fmt.Sprintf(`{"email":%q,"password":%q}`, email, secret), headers...)
}

func (s *server) refresh(refreshToken string) answer {
	s.t.Helper()
	return s.call("POST", "/token?grant_type=refresh_token", s.keys.AnonKey, fmt.Sprintf(`{"refresh_token":%q}`, refreshToken))
}

func (s *server) admin(method, path, body string) answer {
	s.t.Helper()
	return s.call(method, "/admin"+path, s.keys.ServiceKey.Reveal(), body)
}

// count runs a query that gives one number.
func (s *server) count(sql string, args ...any) int {
	s.t.Helper()
	var n int
	if err := s.db.Pool.QueryRow(s.t.Context(), sql, args...).Scan(&n); err != nil {
		s.t.Fatal(err)
	}
	return n
}

// sign makes a token of any claims under the project's own secret.
func (s *server) sign(claims string, args ...any) string {
	s.t.Helper()
	raw, err := token.Sign(fmt.Appendf(nil, claims, args...), s.keys.Secret.Reveal(), s.keys.KeyID)
	if err != nil {
		s.t.Fatal(err)
	}
	return raw
}

// until waits for a condition, at most twenty seconds.
func (s *server) until(what string, condition func() bool) {
	s.t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !condition() {
		if time.Now().After(deadline) {
			s.t.Fatalf("not within 20 s: %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

// address gives an e-mail address that no other test uses.
func address() string { return "user-" + uuid.NewString()[:8] + "@example.com" }
