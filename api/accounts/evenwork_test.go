package accounts_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"

	"basalt/api/accounts"
	"basalt/auth"
	"basalt/store/storetest"
)

// flights records what is asked of the database: a batch is one flight of several statements.
type flights struct {
	mu    sync.Mutex
	asked []string
}

func (f *flights) add(what string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, what)
}

// take gives what was asked since the last time.
func (f *flights) take() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	asked := f.asked
	f.asked = nil
	return asked
}

func (f *flights) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	f.add("query: " + data.SQL)
	return ctx
}

func (f *flights) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (f *flights) TraceBatchStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	f.add(fmt.Sprintf("batch of %d", data.Batch.Len()))
	return ctx
}

func (f *flights) TraceBatchQuery(_ context.Context, _ *pgx.Conn, data pgx.TraceBatchQueryData) {
	f.add("in it: " + data.SQL)
}

func (f *flights) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// traced serves accounts whose statements are recorded.
func traced(t *testing.T, o auth.Options) (*server, *post, *flights) {
	t.Helper()
	t.Parallel()
	db, p, f, log := storetest.New(t), &post{}, &flights{}, &logBuffer{}
	config := db.Pool.Config().Copy()
	config.ConnConfig.Tracer = f
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	keys, err := auth.LoadKeys(t.Context(), db.Pool, "")
	if err != nil {
		t.Fatal(err)
	}
	o.Outbound, o.Log = p, zerolog.New(log)
	s := &server{t: t, db: db, keys: keys, service: auth.New(pool, keys, o), log: log}
	return s.face(accounts.Options{Version: "test", Log: o.Log}), p, f
}

// seen is everything that somebody who asks can see, or can measure.
type seen struct {
	answer string
	hashes uint64
	asked  []string
	mails  int
}

// Whether an address has an account is told neither by an answer, down to its headers, nor by the work behind it: as
// many flights to the database, statements, hashes and messages.
func TestAnAddressIsAnsweredWithTheSameWorkWhetherOrNotItHasAnAccount(t *testing.T) {
	o := linkOptions()
	s, p, f := traced(t, o)
	s.confirmed("known1@example.com")
	const challenge = `"code_challenge":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","code_challenge_method":"s256"`
	ask := func(path, body, email string) seen {
		s.t.Helper()
		f.take()
		before, calls := s.service.Gate().Stats().Done, p.calls
		r := s.callOnce("POST", path, fmt.Sprintf(body, email), "Apikey", s.keys.AnonKey, "Content-Type", "application/json")
		r.header.Del("Date")
		r.header.Del("X-Request-Id")
		return seen{
			answer: fmt.Sprint(r.status, r.header, r.text), asked: f.take(),
			hashes: uint64(s.service.Gate().Stats().Done - before), mails: p.calls - calls,
		}
	}
	for _, tc := range []struct{ name, path, body string }{
		{"a wrong password", "/token?grant_type=password", `{"email":%q,"password":"Wrong-pass-1"}`},
		{"a recovery", "/recover", `{"email":%q}`},
		{"a recovery for an app", "/recover", `{"email":%q,` + challenge + `}`},
		{"a recovery that leads elsewhere", "/recover?redirect_to=https%3A%2F%2Fevil.example", `{"email":%q}`},
		{"a code for who has an account", "/otp", `{"email":%q,"create_user":false}`},
		{"a confirmation again", "/resend", `{"type":"signup","email":%q}`},
		{"a confirmation again that leads elsewhere", "/resend?redirect_to=https%3A%2F%2Fevil.example", `{"type":"signup","email":%q}`},
		{"a change again", "/resend", `{"type":"email_change","email":%q}`},
		{"a wrong code by mail", "/verify", `{"type":"email","token":"000000","email":%q}`},
		{"a wrong code to recover", "/verify", `{"type":"recovery","token":"000000","email":%q}`},
		{"a wrong code to confirm", "/verify", `{"type":"signup","token":"000000","email":%q}`},
		{"a wrong code to change", "/verify", `{"type":"email_change","token":"000000","email":%q}`},
		{"a wrong code of an invitation", "/verify", `{"type":"invite","token":"000000","email":%q}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s.t = t
			// The first time statements are prepared, and what is known of the database is read.
			for _, email := range []string{"known1@example.com", "unkno2@example.com"} {
				ask(tc.path, tc.body, email)
			}
			known, unknown := ask(tc.path, tc.body, "known1@example.com"), ask(tc.path, tc.body, "unkno3@example.com")
			if tc.name == "a code for who has an account" {
				// Supabase's clients rely on otp_disabled here: the one answer that tells.
				return
			}
			if known.answer != unknown.answer {
				t.Errorf("the known address is answered\n%s\nthe unknown one\n%s", known.answer, unknown.answer)
			}
			if known.hashes != unknown.hashes || known.mails != unknown.mails {
				t.Errorf("%d hashes and %d messages for the known address, %d and %d for the unknown one", known.hashes, known.mails, unknown.hashes, unknown.mails)
			}
			if shape(known.asked) != shape(unknown.asked) {
				t.Errorf("asked for the known address:\n%s\nfor the unknown one:\n%s", shape(known.asked), shape(unknown.asked))
			}
		})
	}
}

// shape is how much was asked: each flight with the number of its statements.
func shape(asked []string) string {
	var flights []string
	for _, what := range asked {
		switch kind, rest, _ := strings.Cut(what, ": "); kind {
		case "query":
			flights = append(flights, "query")
		case "in it":
		default:
			flights = append(flights, kind+rest)
		}
	}
	return strings.Join(flights, " ")
}

// A sign-up, a code or a link makes an account of an unknown address: what was made is more work, which the time of the
// answer hides (TestAnswersLeaveAtTheirTime), and nothing else tells of it.
func TestAnAddressThatIsTakenIsAnsweredAsANewOne(t *testing.T) {
	s, p := mailing(t, linkOptions())
	s.confirmed("known1@example.com")
	for _, tc := range []struct{ name, path, body string }{
		{"a sign-up", "/signup", `{"email":%q,"password":"Secret-pass-1"}`},
		{"a code", "/otp", `{"email":%q}`},
		{"a magic link", "/magiclink", `{"email":%q}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			known := s.say(tc.path, tc.body, "known1@example.com")
			before, calls := s.service.Gate().Stats().Done, p.calls
			s.say(tc.path, tc.body, "known1@example.com")
			hashesKnown, callsKnown := s.service.Gate().Stats().Done-before, p.calls-calls
			before, calls = s.service.Gate().Stats().Done, p.calls
			unknown := s.say(tc.path, tc.body, "n"+address()[5:13]+"@example.com")
			hashes, made := s.service.Gate().Stats().Done-before, p.calls-calls
			if known.status != http.StatusOK || unknown.status != known.status {
				t.Errorf("the known address is answered %d, the unknown one %d", known.status, unknown.status)
			}
			// An address that is confirmed gets no message of a sign-up.
			if hashes != hashesKnown || tc.path != "/signup" && made != callsKnown {
				t.Errorf("%d hashes and %d messages for the known address, %d and %d for the new one", hashesKnown, callsKnown, hashes, made)
			}
			if names := fmt.Sprint(headerNames(known.header)); names != fmt.Sprint(headerNames(unknown.header)) {
				t.Errorf("the headers are %s and %v", names, headerNames(unknown.header))
			}
			if known.text != "{}" && fmt.Sprint(keysOf(t, known)) != fmt.Sprint(keysOf(t, unknown)) {
				t.Errorf("the members are %v and %v", keysOf(t, known), keysOf(t, unknown))
			}
			if k, u := known.get("identities"), unknown.get("identities"); (k == nil) != (u == nil) {
				t.Errorf("the identities are %v and %v", k, u)
			}
		})
	}
}

func headerNames(h http.Header) (names []string) {
	for name := range h {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Who asks too often is told so of unknown addresses too, at the same count and in the same words.
func TestLimitsDoNotTellWhoHasAnAccount(t *testing.T) {
	o := linkOptions()
	o.LimitsOff = false
	s, _ := mailing(t, o)
	s.want(s.admin("POST", "/users", `{"email":"known@example.com","password":"Secret-pass-1","email_confirm":true}`), 200, "")
	for _, tc := range []struct {
		name, path, body string
		asks             int
	}{
		{"passwords", "/token?grant_type=password", `{"email":%q,"password":"Wrong-pass-1"}`, 13},
		{"codes", "/verify", `{"type":"email","token":"000000","email":%q}`, 8},
		{"recoveries", "/recover", `{"email":%q}`, 3},
	} {
		t.Run(tc.name, func(t *testing.T) {
			answers := func(email string) (all []string) {
				for range tc.asks {
					a := s.call("POST", tc.path, s.keys.AnonKey, fmt.Sprintf(tc.body, email), "X-Forwarded-For", "198.51.100.7")
					all = append(all, fmt.Sprint(a.status, a.code(), a.header.Get("Retry-After") != "", headerNames(a.header)))
					if (a.status == http.StatusTooManyRequests) != (a.header.Get("Retry-After") != "") {
						t.Errorf("%d has the Retry-After %q", a.status, a.header.Get("Retry-After"))
					}
				}
				return all
			}
			known, unknown := answers("known@example.com"), answers("nobody@example.com")
			if !slices.Equal(known, unknown) {
				t.Errorf("the known address is answered\n%s\nthe unknown one\n%s", strings.Join(known, "\n"), strings.Join(unknown, "\n"))
			}
			if !strings.HasPrefix(known[tc.asks-1], "429") {
				t.Errorf("the last answer is %s", known[tc.asks-1])
			}
		})
	}
}
