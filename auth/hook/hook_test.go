package hook_test

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"basalt/auth/hook"
	"basalt/auth/outgoing"
	"basalt/store/storetest"
)

const (
	secret      = "v1,whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
	otherSecret = "v1,whsec_YWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWE="
)

type question struct {
	Metadata hook.Metadata `json:"metadata"`
	Text     string        `json:"text"`
}

type reply struct {
	Text string `json:"text"`
}

func ask(h *hook.Hook, ctx context.Context, db hook.Sender) (string, error) {
	var out reply
	err := h.Call(ctx, db, question{h.Metadata("192.0.2.7"), "<häagen>"}, &out)
	return out.Text, err
}

// serve makes a hook of an HTTPS server.
func serve(t *testing.T, secrets string, handler http.HandlerFunc) *hook.Hook {
	t.Helper()
	server := httptest.NewTLSServer(handler)
	t.Cleanup(server.Close)
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	guard := outgoing.Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	client := outgoing.New(outgoing.Options{Guard: guard, RootCAs: pool, Timeout: hook.Timeout, MaxAnswer: hook.MaxAnswer})
	h, err := hook.New(hook.SendSMS, server.URL+"/hook?key=1", secrets, client)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func answerWith(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func TestServersCanCheckWhoCalls(t *testing.T) {
	t.Parallel()
	var seen sync.Map
	h := serve(t, secret+"|"+otherSecret, func(w http.ResponseWriter, r *http.Request) {
		payload, _ := io.ReadAll(r.Body)
		for _, known := range []string{secret, otherSecret} {
			webhook, err := standardwebhooks.NewWebhook(strings.TrimPrefix(known, "v1,"))
			if err != nil {
				t.Error(err)
			}
			if err := webhook.Verify(payload, r.Header); err != nil {
				t.Errorf("the signature is not that of %s: %v", known, err)
			}
			payload := append([]byte(" "), payload...)
			if webhook.Verify(payload, r.Header) == nil {
				t.Error("another payload has the same signature")
			}
		}
		var in question
		if err := json.Unmarshal(payload, &in); err != nil || in.Text != "<häagen>" {
			t.Errorf("the payload is %s", payload)
		}
		if in.Metadata.Name != hook.SendSMS || in.Metadata.IPAddress != "192.0.2.7" || in.Metadata.Time.IsZero() {
			t.Errorf("the metadata is %s", payload)
		}
		if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" || r.URL.RawQuery != "key=1" {
			t.Errorf("the request is %s %s %v", r.Method, r.URL, r.Header)
		}
		if _, again := seen.LoadOrStore(r.Header.Get("webhook-id"), true); again {
			t.Error("two messages have one id")
		}
		answerWith(http.StatusOK, "application/json; charset=utf-8", `{"text":"hello"}`)(w, r)
	})
	for range 2 {
		if text, err := ask(h, t.Context(), nil); err != nil || text != "hello" {
			t.Errorf("%q %v", text, err)
		}
	}
}

func TestAnswersOfServers(t *testing.T) {
	t.Parallel()
	large := `{"text":"` + strings.Repeat("x", hook.MaxAnswer) + `"}`
	for _, test := range []struct {
		name    string
		answer  http.HandlerFunc
		text    string
		kind    hook.Kind
		status  int
		message string
	}{
		{name: "a good one", answer: answerWith(200, "application/json", `{"text":"x"}`), text: "x"},
		{name: "accepted", answer: answerWith(202, "application/json", `{"text":"x"}`), text: "x"},
		{name: "nothing", answer: answerWith(204, "", "")},
		{name: "an empty body", answer: answerWith(200, "application/json", "")},
		{name: "null", answer: answerWith(200, "application/json", "null")},
		{"a refusal with its status", answerWith(200, "application/json", `{"error":{"http_code":418,"message":"no tea"}}`), "", hook.Refused, 418, "no tea"},
		{"a refusal without one", answerWith(200, "application/json", `{"error":{"message":"no"}}`), "", hook.Refused, 500, "no"},
		{"a refusal with a status of success", answerWith(200, "application/json", `{"error":{"http_code":200,"message":"no"}}`), "", hook.Refused, 500, "no"},
		{name: "a refusal without a message", answer: answerWith(200, "application/json", `{"error":{"http_code":400},"text":"x"}`), text: "x"},
		{"HTML", answerWith(200, "text/html", "<p>"), "", hook.UnreadableContent, 400, "Invalid JSON response. Received content-type: text/html"},
		{"no content type", func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = nil
			_, _ = io.WriteString(w, "{}")
		}, "", hook.UnreadableContent, 400, "Invalid Content-Type: Missing Content-Type header"},
		{"no JSON", answerWith(200, "application/json", "{"), "", hook.Failed, 500, ""},
		{"another type", answerWith(200, "application/json", `{"text":1}`), "", hook.Failed, 500, ""},
		{"a list", answerWith(200, "application/json", `[]`), "", hook.Failed, 500, ""},
		{"too much", answerWith(200, "application/json", large), "", hook.TooLarge, 422, "Payload size exceeded size limit of 204800 bytes"},
		{"a redirect", answerWith(302, "application/json", `{}`), "", hook.Failed, 500, ""},
		{"bad request", answerWith(400, "application/json", `{}`), "", hook.Failed, 500, ""},
		{"not authorized", answerWith(401, "application/json", `{}`), "", hook.Failed, 500, ""},
		{"an error", answerWith(500, "application/json", `{}`), "", hook.Failed, 500, ""},
		{"unavailable without a word when", answerWith(503, "application/json", `{}`), "", hook.Failed, 500, "Service currently unavailable due to hook"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var calls atomic.Int64
			h := serve(t, secret, func(w http.ResponseWriter, r *http.Request) {
				calls.Add(1)
				test.answer(w, r)
			})
			text, err := ask(h, t.Context(), nil)
			check(t, text, err, test.text, test.kind, test.status, test.message)
			if calls.Load() != 1 {
				t.Errorf("%d calls", calls.Load())
			}
		})
	}
}

func check(t *testing.T, text string, err error, wantText string, kind hook.Kind, status int, message string) {
	t.Helper()
	var failure *hook.Error
	switch {
	case kind == "":
		if err != nil || text != wantText {
			t.Errorf("%q %v", text, err)
		}
	case !errors.As(err, &failure):
		t.Errorf("%q %v", text, err)
	case failure.Kind != kind, failure.Status != status, message != "" && failure.Message != message:
		t.Errorf("%s %d %q, because %v", failure.Kind, failure.Status, failure.Message, failure.Cause)
	}
}

func TestBusyServersAreAskedAgain(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
		var calls atomic.Int64
		var id atomic.Value
		h := serve(t, secret, func(w http.ResponseWriter, r *http.Request) {
			if before := id.Swap(r.Header.Get("webhook-id")); before != nil && before != r.Header.Get("webhook-id") {
				t.Error("another attempt has another id")
			}
			if calls.Add(1) < 3 {
				w.Header().Set("Retry-After", "0")
				w.WriteHeader(status)
				return
			}
			answerWith(http.StatusOK, "application/json", `{"text":"at last"}`)(w, r)
		})
		if text, err := ask(h, t.Context(), nil); err != nil || text != "at last" {
			t.Errorf("%d: %q %v", status, text, err)
		}
		calls.Store(-10)
		id = atomic.Value{}
		_, err := ask(h, t.Context(), nil)
		check(t, "", err, "", hook.Failed, http.StatusInternalServerError, "Service currently unavailable due to hook")
		if n := calls.Load() + 10; n != 3 {
			t.Errorf("%d: %d attempts", status, n)
		}
	}
}

func TestServersThatAreNotThere(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	address := server.URL
	server.Close()
	guard := outgoing.Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	h, err := hook.New(hook.SendEmail, address, secret, outgoing.New(outgoing.Options{Guard: guard}))
	if err != nil {
		t.Fatal(err)
	}
	_, err = ask(h, t.Context(), nil)
	check(t, "", err, "", hook.Unreachable, http.StatusUnprocessableEntity, "Failed to reach hook after maximum retries")
	if strings.Contains(err.Error(), "key=1") {
		t.Errorf("the error holds the URL: %v", err)
	}

	t.Run("and ones that must not be reached", func(t *testing.T) {
		h, err := hook.New(hook.SendEmail, address, secret, outgoing.New(outgoing.Options{}))
		if err != nil {
			t.Fatal(err)
		}
		_, err = ask(h, t.Context(), nil)
		check(t, "", err, "", hook.Failed, http.StatusInternalServerError, "Error running the hook send-email")
		var denied *outgoing.DeniedError
		if !errors.As(err, &denied) {
			t.Error(err)
		}
	})
}

func TestServersThatDoNotAnswer(t *testing.T) {
	t.Parallel()
	h := serve(t, secret, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then the server sees that its client leaves
		<-r.Context().Done()
	})
	_, err := ask(h, t.Context(), nil)
	check(t, "", err, "", hook.TimedOut, http.StatusUnprocessableEntity, "Failed to reach hook within maximum time of 5s")

	t.Run("end with their caller", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if _, err := ask(h, ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
	t.Run("or ask for too long a wait", func(t *testing.T) {
		h := serve(t, secret, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(http.StatusServiceUnavailable)
		})
		_, err := ask(h, t.Context(), nil)
		check(t, "", err, "", hook.TimedOut, http.StatusUnprocessableEntity, "")
	})
}

func TestNewRefusesWhatCannotWork(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, uri, secrets string }{
		{"a file", "file:///etc/passwd", secret},
		{"gopher", "gopher://example.com/", secret},
		{"no scheme", "example.com/hook", secret},
		{"a user in the URL", "https://u:p@example.com/", secret},
		{"no secret", "https://example.com/", ""},
		{"separators alone", "https://example.com/", "||"},
		{"an asymmetric secret", "https://example.com/", "v1a,whsk_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="},
		{"a secret without its prefix", "https://example.com/", "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="},
		{"a secret that is not base64", "https://example.com/", "v1,whsec_???"},
		{"a short secret", "https://example.com/", "v1,whsec_c2hvcnQ="},
		{"secrets of which one is bad", "https://example.com/", secret + "|v1,whsec_c2hvcnQ="},
		{"secrets without a URI", "", secret},
		{"a function without a schema", "pg-functions://postgres/fn", ""},
		{"a function too deep", "pg-functions://postgres/public/fn/x", ""},
		{"a name with a quote", `pg-functions://postgres/public/f"n`, ""},
		{"a name with a statement", "pg-functions://postgres/public/f();drop%20table%20x", ""},
		{"an empty name", "pg-functions://postgres/public/", ""},
	} {
		h, err := hook.New(hook.SendSMS, test.uri, test.secrets, http.DefaultClient)
		if err == nil || h != nil && err == nil {
			t.Errorf("%s is no error", test.name)
		}
		if err != nil && strings.Contains(err.Error(), "MDEy") {
			t.Errorf("the error of %s holds the secret: %v", test.name, err)
		}
	}
	if h, err := hook.New(hook.SendSMS, "", "", nil); h != nil || err != nil {
		t.Errorf("no hook: %v %v", h, err)
	}
}

const functions = `
create schema hooks;
create table hooks.calls (who text, role_setting text, timeout text, payload jsonb);
create function hooks.echo(event jsonb) returns jsonb language plpgsql as $$
begin
  insert into hooks.calls values (current_user, current_setting('role'), current_setting('statement_timeout'), event);
  return jsonb_build_object('text', event->>'text');
end $$;
create function hooks.echo_json(event json) returns json language sql as $$ select json_build_object('text', event->>'text') $$;
create function hooks.nothing(event jsonb) returns void language sql as $$ $$;
create function hooks.nulls(event jsonb) returns jsonb language sql as $$ select null::jsonb $$;
create function hooks.none(event jsonb) returns setof jsonb language sql as $$ select '{}'::jsonb where false $$;
create function hooks.refuse(event jsonb) returns jsonb language sql as $$ select '{"error":{"http_code":403,"message":"not you"}}'::jsonb $$;
create function hooks.raise(event jsonb) returns jsonb language plpgsql as $$ begin raise exception 'inner workings'; end $$;
create function hooks.sleep(event jsonb) returns jsonb language sql as $$ select jsonb_build_object('text', pg_sleep(60)::text) $$;
create function hooks.large(event jsonb) returns jsonb language sql as $$ select jsonb_build_object('text', repeat('x', 300000)) $$;
create function hooks.list(event jsonb) returns jsonb language sql as $$ select '[1]'::jsonb $$;
create function hooks.secret(event jsonb) returns jsonb language sql as $$ select '{}'::jsonb $$;
revoke execute on function hooks.secret(jsonb) from public;
grant usage on schema hooks to supabase_auth_admin;
grant all on hooks.calls to supabase_auth_admin;`

func function(t *testing.T, name string) *hook.Hook {
	t.Helper()
	h, err := hook.New(hook.CustomAccessToken, "pg-functions://postgres/hooks/"+name, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestFunctions(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	db.Exec(t, functions)
	for _, test := range []struct {
		name, function, text string
		kind                 hook.Kind
		status               int
		message              string
	}{
		{name: "of jsonb", function: "echo", text: "<häagen>"},
		{name: "of json", function: "echo_json", text: "<häagen>"},
		{name: "that give nothing", function: "nothing"},
		{name: "that give NULL", function: "nulls"},
		{name: "that give no row", function: "none"},
		{"that refuse", "refuse", "", hook.Refused, 403, "not you"},
		{"that fail", "raise", "", hook.Failed, 500, "Error running the hook customize-access-token"},
		{"that take too long", "sleep", "", hook.TimedOut, 422, ""},
		{"that say too much", "large", "", hook.TooLarge, 422, ""},
		{"that give a list", "list", "", hook.Failed, 500, ""},
		{"that the role may not call", "secret", "", hook.Failed, 500, ""},
		{"that are not there", "absent", "", hook.Failed, 500, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			text, err := ask(function(t, test.function), t.Context(), db.Pool)
			check(t, text, err, test.text, test.kind, test.status, test.message)
		})
	}
}

func TestFunctionsRunInTheTransactionOfTheirCaller(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	db.Exec(t, functions)
	echo := function(t, "echo")
	rolledBack := errors.New("roll back")
	err := pgx.BeginFunc(t.Context(), db.Pool, func(tx pgx.Tx) error {
		var before, beforeTimeout, after, afterTimeout string
		look := "select current_user, current_setting('statement_timeout')"
		if err := tx.QueryRow(t.Context(), look).Scan(&before, &beforeTimeout); err != nil {
			return err
		}
		if _, err := ask(echo, t.Context(), tx); err != nil {
			return err
		}
		if err := tx.QueryRow(t.Context(), look).Scan(&after, &afterTimeout); err != nil {
			return err
		}
		if after != before || afterTimeout != beforeTimeout {
			t.Errorf("%s %s became %s %s", before, beforeTimeout, after, afterTimeout)
		}
		var who, role, timeout string
		if err := tx.QueryRow(t.Context(), "select who, role_setting, timeout from hooks.calls").Scan(&who, &role, &timeout); err != nil {
			return err
		}
		if who != "supabase_auth_admin" || timeout != "2s" {
			t.Errorf("the function ran as %s within %s", who, timeout)
		}
		return rolledBack
	})
	if !errors.Is(err, rolledBack) {
		t.Fatal(err)
	}
	var calls int
	if err := db.Pool.QueryRow(t.Context(), "select count(*) from hooks.calls").Scan(&calls); err != nil || calls != 0 {
		t.Errorf("%d calls are left: %v", calls, err)
	}
}
