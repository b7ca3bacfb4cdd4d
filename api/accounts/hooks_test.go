package accounts_test

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"basalt/api/accounts"
	"basalt/auth"
	"basalt/auth/hook"
	"basalt/auth/outgoing"
	"basalt/store/storetest"
)

const hookSecret = "v1,whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

// hookServer is a server of the project's owner. It checks who calls, remembers what was said, and answers as it is told.
type hookServer struct {
	t      *testing.T
	client *http.Client
	url    string

	mu      sync.Mutex
	said    []string
	answers func(payload string) string
}

func newHookServer(t *testing.T) *hookServer {
	t.Helper()
	s := &hookServer{t: t, answers: func(string) string { return "{}" }}
	server := httptest.NewTLSServer(s)
	t.Cleanup(server.Close)
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	guard := outgoing.Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	s.client = outgoing.New(outgoing.Options{Guard: guard, RootCAs: pool, Timeout: hook.Timeout, MaxAnswer: hook.MaxAnswer})
	s.url = server.URL
	return s
}

func (s *hookServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	payload, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Error(err)
	}
	webhook, err := standardwebhooks.NewWebhook(strings.TrimPrefix(hookSecret, "v1,"))
	if err == nil {
		err = webhook.Verify(payload, r.Header)
	}
	if err != nil {
		s.t.Error(err)
	}
	s.mu.Lock()
	s.said = append(s.said, string(payload))
	answer := s.answers(string(payload))
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, answer)
}

func (s *hookServer) answer(answers func(payload string) string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers, s.said = answers, nil
}

// last gives what was said last, and how often something was.
func (s *hookServer) last() (answer, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.said) == 0 {
		return answer{}, 0
	}
	return answer{text: s.said[len(s.said)-1]}, len(s.said)
}

func (s *hookServer) hook(point hook.Point) *hook.Hook {
	h, err := hook.New(point, s.url, hookSecret, s.client)
	if err != nil {
		s.t.Fatal(err)
	}
	return h
}

func functionHook(t *testing.T, point hook.Point, name string) *hook.Hook {
	t.Helper()
	h, err := hook.New(point, "pg-functions://postgres/public/"+name, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// tokenText gives the claims of a token as they are written.
func tokenText(t *testing.T, accessToken string) answer {
	t.Helper()
	v := strings.Split(accessToken, ".")
	if len(v) != 3 {
		t.Fatalf("%q is no token", accessToken)
	}
	text, err := base64.RawURLEncoding.DecodeString(v[1])
	if err != nil {
		t.Fatal(err)
	}
	return answer{text: string(text)}
}

// startWithHooks runs accounts with hooks in functions.
func startWithHooks(t *testing.T, sql string, hooks func(*auth.Hooks), change func(*auth.Options)) *server {
	t.Helper()
	t.Parallel()
	db := storetest.New(t)
	db.Exec(t, sql)
	o := options()
	o.Hooks.Describe = accounts.DescribeUser
	hooks(&o.Hooks)
	if change != nil {
		change(&o)
	}
	return startOver(t, db, o)
}

const tokenFunction = `
create table public.tenants (user_id uuid, tenant text);
grant all on public.tenants to supabase_auth_admin;
create function public.token(event jsonb) returns jsonb language plpgsql as $$
declare
  claims jsonb := event->'claims';
begin
  if event#>>'{claims,email}' like 'blocked%' then
    return jsonb_build_object('error', jsonb_build_object('http_code', 403, 'message', 'you are blocked'));
  end if;
  claims := jsonb_set(claims, '{tenant}', to_jsonb(coalesce((select tenant from public.tenants where user_id = (event->>'user_id')::uuid), 'none')));
  claims := jsonb_set(claims, '{method}', event->'authentication_method');
  claims := claims - 'user_metadata';
  return jsonb_build_object('claims', claims);
end $$;`

func TestAFunctionChangesTheClaimsOfEveryToken(t *testing.T) {
	s := startWithHooks(t, tokenFunction, func(h *auth.Hooks) {
		h.CustomAccessToken = functionHook(t, hook.CustomAccessToken, "token")
	}, func(o *auth.Options) { o.Anonymous = true })
	a := s.signUp(address())
	claims := tokenText(t, a.str("access_token"))
	if claims.str("tenant") != "none" || claims.str("method") != "password" || claims.str("sub") != a.str("user.id") || claims.get("user_metadata") != nil {
		t.Errorf("after the sign-up: %s", claims.text)
	}
	if _, err := s.db.Pool.Exec(t.Context(), "insert into tenants values ($1, 'acme')", a.str("user.id")); err != nil {
		t.Fatal(err)
	}
	again := s.want(s.refresh(a.str("refresh_token")), 200, "")
	claims = tokenText(t, again.str("access_token"))
	if claims.str("tenant") != "acme" || claims.str("method") != "token_refresh" || claims.get("amr.0.method") != "password" {
		t.Errorf("after the refresh: %s", claims.text)
	}
	s.want(s.call("GET", "/user", again.str("access_token"), ""), 200, "")
	in := s.want(s.signIn(a.str("user.email"), goodPassword), 200, "")
	if claims = tokenText(t, in.str("access_token")); claims.str("tenant") != "acme" {
		t.Errorf("after the sign-in: %s", claims.text)
	}
	anonymous := s.want(s.call("POST", "/signup", s.keys.AnonKey, `{}`), 200, "")
	if claims = tokenText(t, anonymous.str("access_token")); claims.str("method") != "anonymous" {
		t.Errorf("of an anonymous account: %s", claims.text)
	}
}

func TestATokenThatIsRefusedLeavesNoSession(t *testing.T) {
	s := startWithHooks(t, tokenFunction, func(h *auth.Hooks) {
		h.CustomAccessToken = functionHook(t, hook.CustomAccessToken, "token")
	}, nil)
	email := "blocked-" + address()
	body := fmt.Sprintf(`{"email":%q,"password":%q}`, email, goodPassword)
	a := s.want(s.call("POST", "/signup", s.keys.AnonKey, body), 403, "unknown")
	if a.str("msg") != "you are blocked" {
		t.Errorf("the message is %s", a.text)
	}
	s.want(s.signIn(email, goodPassword), 403, "unknown")
	if n := s.count("select count(*) from auth.sessions"); n != 0 {
		t.Errorf("%d sessions are left", n)
	}
}

func TestARefreshThatTheHookRefusesUsesUpNoToken(t *testing.T) {
	s := startWithHooks(t, tokenFunction, func(h *auth.Hooks) {
		h.CustomAccessToken = functionHook(t, hook.CustomAccessToken, "token")
	}, nil)
	a := s.signUp(address())
	s.db.Exec(t, "alter function public.token rename to mislaid")
	s.want(s.refresh(a.str("refresh_token")), 500, "unexpected_failure")
	s.db.Exec(t, "alter function public.mislaid rename to token")
	s.want(s.refresh(a.str("refresh_token")), 200, "")
	if n := s.count("select count(*) from auth.refresh_tokens where revoked"); n != 1 {
		t.Errorf("%d tokens are used up", n)
	}
}

func TestClaimsThatAHookMayNotGive(t *testing.T) {
	server := newHookServer(t)
	s := startWithHooks(t, "", func(h *auth.Hooks) { h.CustomAccessToken = server.hook(hook.CustomAccessToken) }, nil)
	keep := func(payload string) string { return fmt.Sprintf(`{"claims":%s}`, object(t, payload, "claims")) }
	server.answer(keep)
	a := s.signUp(address())
	said, _ := server.last()
	if said.str("metadata.name") != "customize-access-token" || said.str("user_id") != a.str("user.id") || said.str("claims.session_id") == "" {
		t.Errorf("the hook was told %s", said.text)
	}
	for _, test := range []struct{ name, claim, value string }{
		{"no subject", "sub", ""},
		{"no role", "role", ""},
		{"no level", "aal", ""},
		{"no session", "session_id", ""},
		{"no end", "exp", ""},
		{"no audience", "aud", ""},
		{"no beginning", "iat", ""},
		{"no address", "email", ""},
		{"no phone", "phone", ""},
		{"a subject that is a number", "sub", "1"},
		{"an end that is a text", "exp", `"1"`},
		{"an end with a fraction", "exp", "1.5"},
		{"an end beyond all time", "exp", "1e999"},
		{"an audience that is an object", "aud", "{}"},
		{"metadata that is a list", "app_metadata", "[]"},
		{"metadata that is a text", "user_metadata", `""`},
		{"methods that are a text", "amr", `"password"`},
		{"a role that is null", "role", "null"},
	} {
		server.answer(func(payload string) string {
			var claims map[string]json.RawMessage
			if err := json.Unmarshal([]byte(object(t, payload, "claims")), &claims); err != nil {
				t.Error(err)
			}
			if delete(claims, test.claim); test.value != "" {
				claims[test.claim] = json.RawMessage(test.value)
			}
			text, err := json.Marshal(map[string]any{"claims": claims})
			if err != nil {
				t.Error(err)
			}
			return string(text)
		})
		a := s.want(s.signIn(a.str("user.email"), goodPassword), 500, "unexpected_failure")
		if !strings.Contains(a.str("msg"), test.claim) {
			t.Errorf("%s: %s", test.name, a.text)
		}
	}
	for _, text := range []string{`{}`, `{"claims":null}`, `{"claims":[]}`, `{"claims":"x"}`} {
		server.answer(func(string) string { return text })
		s.want(s.signIn(a.str("user.email"), goodPassword), 500, "unexpected_failure")
	}
	if n := s.count("select count(*) from auth.sessions"); n != 1 {
		t.Errorf("%d sessions", n)
	}
	server.answer(func(payload string) string {
		claims := object(t, payload, "claims")
		return fmt.Sprintf(`{"claims":%s,"role":"anon","role":"service_role","exp":4102444800,"n":12345678901234567890}}`, strings.TrimSuffix(claims, "}"))
	})
	in := s.want(s.signIn(a.str("user.email"), goodPassword), 200, "")
	text := tokenText(t, in.str("access_token")).text
	if strings.Count(text, `"role"`) != 1 || !strings.Contains(text, `"n":12345678901234567890`) || in.get("expires_at") != 4102444800.0 {
		t.Errorf("%s until %v", text, in.get("expires_at"))
	}
}

// object digs a value out of JSON as it is written there.
func object(t *testing.T, text, name string) string {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &members); err != nil {
		t.Error(err)
	}
	return string(members[name])
}

func TestTheHookBeforeAnAccountIsMade(t *testing.T) {
	s := startWithHooks(t, `
create function public.before(event jsonb) returns jsonb language plpgsql as $$
begin
  if event#>>'{user,email}' not like '%@example.com' or event#>>'{user,user_metadata,plan}' = 'forbidden' then
    return '{"error":{"http_code":403,"message":"by invitation only"}}';
  end if;
  if event#>>'{metadata,name}' <> 'before-user-created' or event#>'{user,app_metadata}' is null then
    raise exception 'what is this? %', event;
  end if;
  return '{}';
end $$;`, func(h *auth.Hooks) {
		h.BeforeUserCreated = functionHook(t, hook.BeforeUserCreated, "before")
	}, func(o *auth.Options) { o.Anonymous, o.Autoconfirm = true, false })
	s.signUp(address())
	refused := func(body string) {
		t.Helper()
		a := s.want(s.call("POST", "/signup", s.keys.AnonKey, body), 403, "unknown")
		if a.str("msg") != "by invitation only" {
			t.Errorf("%s", a.text)
		}
	}
	refused(fmt.Sprintf(`{"email":"somebody@elsewhere.example","password":%q}`, goodPassword))
	refused(`{"data":{"plan":"forbidden"}}`)
	if n := s.count("select count(*) from auth.users"); n != 1 {
		t.Errorf("%d users", n)
	}
	t.Run("says the same of addresses that are taken", func(t *testing.T) {
		s.db.Exec(t, "update auth.users set email = 'taken@elsewhere.example', email_confirmed_at = now()")
		refused(fmt.Sprintf(`{"email":"taken@elsewhere.example","password":%q}`, goodPassword))
	})
}

func TestTheHookAfterAnAccountIsMade(t *testing.T) {
	server := newHookServer(t)
	s := startWithHooks(t, "", func(h *auth.Hooks) { h.AfterUserCreated = server.hook(hook.AfterUserCreated) }, nil)
	server.answer(func(payload string) string {
		if n := s.count("select count(*) from auth.users where id = $1", answer{text: payload}.str("user.id")); n != 1 {
			t.Errorf("the account is not there when the hook is told of it")
		}
		return `{}`
	})
	a := s.signUp(address())
	said, n := server.last()
	if n != 1 || said.str("metadata.name") != "after-user-created" || said.str("user.email") != a.str("user.email") {
		t.Errorf("%d calls, %s", n, said.text)
	}
	server.answer(func(string) string { return `{"error":{"message":"the books are closed"}}` })
	body := fmt.Sprintf(`{"email":%q,"password":%q}`, address(), goodPassword)
	s.want(s.call("POST", "/signup", s.keys.AnonKey, body), 500, "unexpected_failure")
	if n := s.count("select count(*) from auth.sessions"); n != 1 {
		t.Errorf("%d sessions", n)
	}
}

func TestTheHookForPasswords(t *testing.T) {
	s := startWithHooks(t, `
create table public.attempts (user_id uuid primary key, failed int not null);
grant all on public.attempts to supabase_auth_admin;
create function public.attempt(event jsonb) returns jsonb language plpgsql as $$
declare
  n int;
begin
  if (event->>'valid')::bool then
    return '{"decision":"continue"}';
  end if;
  insert into public.attempts as a values ((event->>'user_id')::uuid, 1)
  on conflict (user_id) do update set failed = a.failed + 1
  returning failed into n;
  if n >= 3 then
    return '{"decision":"reject","message":"come back tomorrow","should_logout_user":true}';
  elsif n = 2 then
    return '{"decision":"reject"}';
  end if;
  return '{"decision":"continue"}';
end $$;`, func(h *auth.Hooks) {
		h.PasswordVerificationAttempt = functionHook(t, hook.PasswordVerificationAttempt, "attempt")
	}, nil)
	a := s.signUp(address())
	email := a.str("user.email")
	for _, test := range []struct {
		message  string
		sessions int
	}{
		{"Invalid login credentials", 1},
		{"Further password verification attempts will be rejected.", 1},
		{"come back tomorrow", 0},
	} {
		wrong := s.want(s.signIn(email, "not the password"), 400, "invalid_credentials")
		if wrong.str("msg") != test.message {
			t.Errorf("%s, not %s", wrong.text, test.message)
		}
		if n := s.count("select count(*) from auth.sessions"); n != test.sessions {
			t.Errorf("%d sessions after %q", n, test.message)
		}
	}
	s.want(s.signIn(email, goodPassword), 200, "")
	nobody := s.want(s.signIn(address(), goodPassword), 400, "invalid_credentials")
	if nobody.str("msg") != "Invalid login credentials" || s.count("select count(*) from public.attempts") != 1 {
		t.Errorf("an attempt at nobody: %s", nobody.text)
	}
}

func TestHooksThatFailTellTheLogAndNotTheClient(t *testing.T) {
	s := startWithHooks(t, `
create function public.broken(event jsonb) returns jsonb language plpgsql as $$
begin raise exception 'inner workings'; end $$;`, func(h *auth.Hooks) {
		h.BeforeUserCreated = functionHook(t, hook.BeforeUserCreated, "broken")
	}, nil)
	body := fmt.Sprintf(`{"email":%q,"password":%q}`, address(), goodPassword)
	a := s.want(s.call("POST", "/signup", s.keys.AnonKey, body), 500, "unexpected_failure")
	if strings.Contains(a.text, "inner workings") || !strings.Contains(s.log.String(), "inner workings") {
		t.Errorf("%s\n%s", a.text, s.log)
	}
}

func TestTheHookForSecondFactors(t *testing.T) {
	s := startWithHooks(t, `
create function public.proof(event jsonb) returns jsonb language plpgsql as $$
begin
  if event->>'factor_type' <> 'totp' or event->>'factor_id' is null or event->>'user_id' is null then
    raise exception 'what is this? %', event;
  end if;
  if (event->>'valid')::bool then
    return '{"decision":"continue"}';
  end if;
  return '{"decision":"reject","message":"enough"}';
end $$;`, func(h *auth.Hooks) {
		h.MFAVerificationAttempt = functionHook(t, hook.MFAVerificationAttempt, "proof")
	}, nil)
	u, f := s.protected()
	if n := s.count("select count(*) from auth.sessions"); n != 1 {
		t.Fatalf("%d sessions", n)
	}
	wrong := s.want(u.verify(f, u.challenge(f), "000000"), 403, "mfa_verification_rejected")
	if wrong.str("msg") != "enough" {
		t.Errorf("%s", wrong.text)
	}
	if n := s.count("select count(*) from auth.sessions"); n != 0 {
		t.Errorf("%d sessions are left", n)
	}
}

func TestAServerSignsOffTheTokensOfATransactionBehindIt(t *testing.T) {
	server := newHookServer(t)
	p := &post{}
	s := startWithHooks(t, "", func(h *auth.Hooks) { h.CustomAccessToken = server.hook(hook.CustomAccessToken) }, func(o *auth.Options) {
		*o = withLinks(*o, p)
	})
	server.answer(func(payload string) string {
		// What the hook's server asks the API must not wait for the transaction that waits for the hook.
		if n := s.count("select count(*) from auth.sessions where id = $1", answer{text: payload}.str("claims.session_id")); n != 1 {
			t.Errorf("the session is not there")
		}
		return fmt.Sprintf(`{"claims":%s,"seen":true}}`, strings.TrimSuffix(object(t, payload, "claims"), "}"))
	})
	email := address()
	s.want(s.say("/otp", `{"email":%q}`, email), 200, "")
	session := s.want(s.verifyCode("email", email, p.last(t, auth.MailConfirmation, email).Token), 200, "")
	if claims := tokenText(t, session.str("access_token")); claims.get("seen") != true {
		t.Errorf("%s", claims.text)
	}
	server.answer(func(string) string { return `{"error":{"http_code":403,"message":"no"}}` })
	s.want(s.say("/otp", `{"email":%q}`, email), 200, "")
	s.want(s.verifyCode("email", email, p.last(t, auth.MailMagicLink, email).Token), 403, "unknown")
	if n := s.count("select count(*) from auth.sessions"); n != 1 {
		t.Errorf("%d sessions", n)
	}
}

// withLinks makes accounts confirm their addresses by what goes to a post.
func withLinks(o auth.Options, p *post) auth.Options {
	links := linkOptions()
	o.Autoconfirm, o.Links, o.Outbound = links.Autoconfirm, links.Links, p
	return o
}
