package api_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"basalt/api"
	"basalt/api/apitest"
	"basalt/auth"
)

// secretWalk walks flows of accounts and remembers each secret that it used or was given.
type secretWalk struct {
	t       *testing.T
	s       *apitest.Server
	secrets map[string]string // by what they are
	answers []string          // refusals, and the headers of all answers
	read    map[string]bool   // messages whose secrets are known
}

// knows remembers a secret. Short codes are looked for as whole words.
func (w *secretWalk) knows(what, secret string) string {
	w.t.Helper()
	if secret == "" {
		w.t.Fatalf("there is no %s", what)
	}
	w.secrets[fmt.Sprintf("%s (%d)", what, len(w.secrets))] = secret
	return secret
}

// do sends a request whose answer must have a status, and keeps what of it may hold no secret.
func (w *secretWalk) do(status int, method, path, body string, headers ...string) *apitest.Answer {
	w.t.Helper()
	a := w.s.Do(w.t, method, "/auth/v1"+path, body, headers...)
	if a.Status != status {
		w.t.Fatalf("%s %s is answered %d %s, not %d", method, path, a.Status, a.Body, status)
	}
	for name, values := range a.Header {
		// Where a link leads, the tokens are: that is what it is for.
		if name != "Location" {
			w.answers = append(w.answers, name+": "+strings.Join(values, " "))
		}
	}
	if status >= 400 {
		w.answers = append(w.answers, a.Body)
	}
	return a
}

type walkSession struct {
	AccessToken  string `json:"access_token"`
	RefreshToken string `json:"refresh_token"`
	User         struct{ ID string }
}

func (s walkSession) bearer() string { return "Authorization: Bearer " + s.AccessToken }

func (w *secretWalk) session(a *apitest.Answer) (s walkSession) {
	w.t.Helper()
	a.JSON(w.t, &s)
	w.knows("access token", s.AccessToken)
	w.knows("refresh token", s.RefreshToken)
	return s
}

// message reads the newest message to an address that was not read before.
func (w *secretWalk) message(to string) message {
	w.t.Helper()
	for _, m := range outboxOf(w.t, w.s) {
		if m.To != to || w.read[m.ID] {
			continue
		}
		w.read[m.ID] = true
		w.knows("code", m.Token)
		if m.Link != "" {
			w.knows("token of a link", linkIn(w.t, m.Link).Query().Get("token"))
		}
		return m
	}
	w.t.Fatalf("no new message has gone to %s", to)
	return message{}
}

// follow opens a link and gives what it leads to.
func (w *secretWalk) follow(link string) (query, fragment url.Values) {
	w.t.Helper()
	a := w.do(http.StatusSeeOther, "GET", "/verify?"+linkIn(w.t, link).RawQuery, "")
	to, err := url.Parse(a.Header.Get("Location"))
	if err != nil {
		w.t.Fatal(err)
	}
	fragment, err = url.ParseQuery(to.Fragment)
	if err != nil {
		w.t.Fatal(err)
	}
	return to.Query(), fragment
}

// walk takes the flows one after the other.
func (w *secretWalk) walk() {
	const verifier = "verifier-canary-of-forty-three-characters-or-more"
	digest := sha256.Sum256([]byte(verifier))
	challenge := base64.RawURLEncoding.EncodeToString(digest[:])
	first, second := w.knows("password", "Password-canary-1!"), w.knows("password", "Password-canary-2!")
	w.knows("verifier", verifier)

	// A sign-up, its confirmation, and refusals.
	w.do(200, "POST", "/signup", `{"email":"ann@example.com","password":"`+first+`"}`)
	w.do(400, "POST", "/token?grant_type=password", `{"email":"ann@example.com","password":"`+first+`"}`)
	_, fragment := w.follow(w.message("ann@example.com").Link)
	w.knows("access token of a link", fragment.Get("access_token"))
	w.knows("refresh token of a link", fragment.Get("refresh_token"))
	w.do(400, "POST", "/token?grant_type=password", `{"email":"ann@example.com","password":"`+w.knows("password", "Wrong-password-canary")+`"}`)
	w.do(400, "POST", "/signup", `{"email":"`+w.knows("broken body", "broken-body-canary"))
	s := w.session(w.do(200, "POST", "/token?grant_type=password", `{"email":"ann@example.com","password":"`+first+`"}`))
	s = w.session(w.do(200, "POST", "/token?grant_type=refresh_token", `{"refresh_token":"`+s.RefreshToken+`"}`))
	w.do(400, "POST", "/token?grant_type=refresh_token", `{"refresh_token":"`+w.knows("refresh token", "refresh-token-canary")+`"}`)
	w.do(403, "GET", "/user", "", "Authorization: Bearer "+w.knows("access token", "header.access-token-canary.signature"))

	// Codes and links by mail.
	w.do(200, "POST", "/otp", `{"email":"ann@example.com"}`)
	w.session(w.do(200, "POST", "/verify", `{"type":"email","email":"ann@example.com","token":"`+w.message("ann@example.com").Token+`"}`))
	w.do(200, "POST", "/magiclink", `{"email":"ann@example.com"}`)
	m := w.message("ann@example.com")
	hash := linkIn(w.t, m.Link).Query().Get("token")
	w.session(w.do(200, "POST", "/verify", `{"type":"magiclink","token_hash":"`+hash+`"}`))
	w.do(403, "POST", "/verify", `{"type":"magiclink","token_hash":"`+hash+`"}`)
	w.do(200, "POST", "/recover", `{"email":"ann@example.com","code_challenge":"`+challenge+`","code_challenge_method":"s256"}`)
	query, _ := w.follow(w.message("ann@example.com").Link)
	code := w.knows("authorization code", query.Get("code"))
	w.do(400, "POST", "/token?grant_type=pkce", `{"auth_code":"`+code+`","code_verifier":"`+w.knows("verifier", "wrong-verifier-canary-of-forty-three-characters")+`"}`)
	s = w.session(w.do(200, "POST", "/token?grant_type=pkce", `{"auth_code":"`+code+`","code_verifier":"`+verifier+`"}`))
	w.do(200, "PUT", "/user", `{"password":"`+second+`"}`, s.bearer())
	w.do(200, "PUT", "/user", `{"email":"new@example.com"}`, s.bearer())
	w.message("ann@example.com")
	w.message("new@example.com")

	// By an administrator.
	w.do(200, "POST", "/invite", `{"email":"invited@example.com"}`, w.s.Service())
	w.message("invited@example.com")
	var made struct {
		Link  string `json:"action_link"`
		Hash  string `json:"hashed_token"`
		Email string `json:"email_otp"`
	}
	w.do(200, "POST", "/admin/generate_link", `{"type":"magiclink","email":"ann@example.com"}`, w.s.Service()).JSON(w.t, &made)
	w.knows("token of a generated link", made.Hash)
	w.knows("code of a generated link", made.Email)

	// A telephone.
	w.do(200, "POST", "/otp", `{"phone":"4915123456789"}`)
	w.session(w.do(200, "POST", "/verify", `{"type":"sms","phone":"4915123456789","token":"`+w.message("4915123456789").Token+`"}`))

	// Second factors.
	s = w.session(w.do(200, "POST", "/token?grant_type=password", `{"email":"ann@example.com","password":"`+second+`"}`))
	var factor struct {
		ID   string
		TOTP struct{ Secret string }
	}
	w.do(200, "POST", "/factors", `{"factor_type":"totp","friendly_name":"app"}`, s.bearer()).JSON(w.t, &factor)
	w.knows("seed", factor.TOTP.Secret)
	var asked struct{ ID string }
	w.do(200, "POST", "/factors/"+factor.ID+"/challenge", `{}`, s.bearer()).JSON(w.t, &asked)
	shown, err := totp.GenerateCode(factor.TOTP.Secret, time.Now())
	if err != nil {
		w.t.Fatal(err)
	}
	w.knows("code of an app", shown)
	s = w.session(w.do(200, "POST", "/factors/"+factor.ID+"/verify", fmt.Sprintf(`{"challenge_id":%q,"code":%q}`, asked.ID, shown), s.bearer()))
	var recovery struct{ Codes []string }
	w.do(200, "POST", "/factors/recovery-codes", "", s.bearer()).JSON(w.t, &recovery)
	for _, code := range recovery.Codes {
		w.knows("recovery code", code)
	}
	w.session(w.do(200, "POST", "/factors/recovery-codes/verify", fmt.Sprintf(`{"code":%q}`, recovery.Codes[0]), s.bearer()))
}

// shows tells whether a text holds a secret: a short code as a word of its own only, as digits stand in times and
// identifiers too. Columns of bytes are written in hexadecimal.
func shows(text, secret string) bool {
	if strings.Contains(text, hex.EncodeToString([]byte(secret))) {
		return true
	}
	if len(secret) > 8 {
		return strings.Contains(text, secret)
	}
	return regexp.MustCompile(`(^|[\s"'=&(:>])` + regexp.QuoteMeta(secret) + `($|[\s"'&),;<])`).MatchString(text)
}

// rows gives all that the tables of accounts hold, by table.
func (w *secretWalk) rows() map[string]string {
	w.t.Helper()
	var tables []string
	if err := w.s.Database.Pool.QueryRow(w.t.Context(), `
select array_agg(format('%I.%I', schemaname, tablename))
from pg_tables
where schemaname not in ('pg_catalog', 'information_schema')`).Scan(&tables); err != nil {
		w.t.Fatal(err)
	}
	held := map[string]string{}
	for _, table := range tables {
		var text *string
		if err := w.s.Database.Pool.QueryRow(w.t.Context(), `select string_agg(to_jsonb(x)::text, E'\n') from `+table+` x`).Scan(&text); err != nil {
			w.t.Fatal(err)
		}
		if text != nil {
			held[table] = *text
		}
	}
	return held
}

// TestNoSecretOfAccountsIsShownOrKept walks the flows of accounts and looks for each secret of them wherever it should
// not be: in the log with all its levels, in refusals and headers, in each table, and in the statistics of statements.
func TestNoSecretOfAccountsIsShownOrKept(t *testing.T) {
	t.Parallel()
	given := map[string]string{
		"the JWT secret":       "jwt-secret-canary-of-thirty-two-bytes-or-more",
		"the encryption key":   "encryption-key-canary-of-thirty-two-bytes",
		"the mail password":    "smtp-password-canary",
		"the hook's secret":    base64.StdEncoding.EncodeToString([]byte("hook-secret-canary-of-thirty-two")),
		"the texts' token":     "twilio-token-canary",
		"the database's login": "dsn-password-canary",
	}
	s := apitest.Start(t, "", func(settings *api.Settings) {
		settings.AutoConfirm, settings.LogLevel, settings.SiteURL = "false", "debug", "https://site.example"
		settings.JWTSecret, settings.EncryptionKey = auth.Secret(given["the JWT secret"]), auth.Secret(given["the encryption key"])
		// Nobody listens there: the failures are logged.
		settings.SMTPURL, settings.MailFrom = auth.Secret("smtp://mailer:"+given["the mail password"]+"@127.0.0.1:1"), "no-reply@mail.example"
		settings.TwilioAccount, settings.TwilioToken = "AC0", auth.Secret(given["the texts' token"])
		settings.TwilioFrom, settings.TwilioURL = "+491511111111", "https://127.0.0.1:1"
		settings.HookSendSMS, settings.HookSendSMSSecrets = "https://127.0.0.1:1/hook", auth.Secret("v1,whsec_"+given["the hook's secret"])
		address, err := url.Parse(settings.DatabaseURL)
		if err != nil {
			t.Fatal(err)
		}
		// A server that asks for a password has one already; one that trusts takes any.
		if login, asked := address.User.Password(); asked {
			given["the database's login"] = login
		}
		address.User = url.UserPassword(address.User.Username(), given["the database's login"])
		settings.DatabaseURL = address.String()
		settings.Phone = "true"
	})
	w := &secretWalk{t: t, s: s, secrets: maps.Clone(given), read: map[string]bool{}}
	w.secrets["the service key"] = s.Keys.ServiceKey.Reveal()
	w.walk()

	statements := ""
	if _, err := s.Database.Pool.Exec(t.Context(), `create extension if not exists pg_stat_statements with schema extensions`); err == nil {
		if err := s.Database.Pool.QueryRow(t.Context(), `
select coalesce(string_agg(query, E'\n'), '')
from extensions.pg_stat_statements
where dbid = (select oid from pg_database where datname = current_database())`).Scan(&statements); err != nil {
			t.Logf("statistics of statements: %v", err)
		}
	}
	places := w.rows()
	s.Stop(t)
	places["the log"], places["refusals and headers"], places["the statistics of statements"] = s.Log.String(), strings.Join(w.answers, "\n"), statements
	t.Logf("%d secrets in %d places; %d bytes of statements", len(w.secrets), len(places), len(statements))
	for place, text := range places {
		for what, secret := range w.secrets {
			// The project's own keys stand where its processes share them.
			if place == "basalt.secrets" && (what == "the JWT secret" || what == "the service key") {
				continue
			}
			if shows(text, secret) {
				at := strings.Index(text, secret)
				t.Errorf("%s shows %s: …%s…", place, what, text[max(0, at-120):min(len(text), at+len(secret)+40)])
			}
		}
	}

	// The search finds what is there: each secret in a line of the log as it would stand.
	for _, what := range slices.Sorted(maps.Keys(w.secrets)) {
		line, err := json.Marshal(map[string]string{"level": "debug", "value": w.secrets[what]})
		if err != nil {
			t.Fatal(err)
		}
		if !shows(s.Log.String()+string(line), w.secrets[what]) {
			t.Errorf("%s would not be found", what)
		}
	}
	if len(w.secrets) < 40 || !strings.Contains(places["the log"], `"level":"debug"`) && !strings.Contains(places["the log"], `"message":"request"`) {
		t.Errorf("%d secrets were looked for in a log of %d bytes", len(w.secrets), len(places["the log"]))
	}
	for _, table := range []string{"auth.users", "auth.one_time_tokens", "auth.refresh_tokens", "auth.audit_log_entries", "auth.mfa_factors", "basalt.outbox"} {
		if places[table] == "" {
			t.Errorf("%s is empty: it proves nothing", table)
		}
	}
}
