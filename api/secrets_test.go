package api_test

import (
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

	"github.com/jackc/pgx/v5"

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
	leads   []string          // where answers lead, without what may stand there
	read    map[string]bool   // messages whose secrets are known
	running map[string]bool   // statements that PostgreSQL has shown as running
}

// newSecretWalk begins a walk with the secrets that a server was given.
func newSecretWalk(t *testing.T, s *apitest.Server, given map[string]string) *secretWalk {
	w := &secretWalk{t: t, s: s, secrets: maps.Clone(given), read: map[string]bool{}, running: map[string]bool{}}
	w.secrets["the service key"] = s.Keys.ServiceKey.Reveal()
	return w
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
		switch name {
		case "Location":
			w.lead(values[0])
		case "Set-Cookie": // a browser's own secret is left there with the browser
		default:
			w.answers = append(w.answers, name+": "+strings.Join(values, " "))
		}
	}
	if status >= 400 {
		w.answers = append(w.answers, a.Body)
	}
	var led struct {
		URL      string `json:"url"`
		Redirect string `json:"redirect_url"`
		Link     string `json:"action_link"`
	}
	if status < 300 && json.Unmarshal([]byte(a.Body), &led) == nil {
		for _, address := range []string{led.URL, led.Redirect, led.Link} {
			if address != "" {
				w.lead(address)
			}
		}
	}
	w.look()
	return a
}

// lead keeps an address of ours but for the secrets that it is there for: those of a session in the fragment, the code
// of an app in the query, the token of a link to ourselves, the state of a sign-in that begins.
func (w *secretWalk) lead(address string) {
	w.t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		w.t.Fatal(err)
	}
	fragment, err := url.ParseQuery(u.Fragment)
	if err != nil {
		w.t.Fatal(err)
	}
	query := u.Query()
	for _, name := range []string{"access_token", "refresh_token", "provider_token", "provider_refresh_token"} {
		fragment.Del(name)
	}
	if query.Del("code"); strings.HasSuffix(u.Path, "/verify") {
		query.Del("token")
	}
	if query.Has("client_id") { // to a provider, which gives it back (RFC 6749 §4.1.1)
		query.Del("state")
	}
	w.leads = append(w.leads, u.Scheme, u.User.String(), u.Host, u.Path, fmt.Sprint(query), fmt.Sprint(fragment))
}

// look remembers what PostgreSQL shows of the statements that run or ran last.
func (w *secretWalk) look() {
	w.t.Helper()
	rows, err := w.s.Database.Pool.Query(w.t.Context(), `
select query
from pg_stat_activity
where datname = current_database()
and pid <> pg_backend_pid()`)
	if err != nil {
		w.t.Fatal(err)
	}
	statements, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		w.t.Fatal(err)
	}
	for _, statement := range statements {
		w.running[statement] = true
	}
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

// shows tells whether a text holds a secret: a short code as a word of its own only, as digits stand in times and
// identifiers too. Columns of bytes are written in hexadecimal, and values in URLs in their own way.
func shows(text, secret string) bool {
	if strings.Contains(text, hex.EncodeToString([]byte(secret))) {
		return true
	}
	if len(secret) > 8 {
		return strings.Contains(text, secret) || strings.Contains(text, url.QueryEscape(secret))
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

// search ends the server and looks for each secret wherever it should not be. It gives the places.
func (w *secretWalk) search() map[string]string {
	t, s := w.t, w.s
	t.Helper()
	metrics := s.Do(t, "GET", "/metrics", "").Body
	statements := ""
	if _, err := s.Database.Pool.Exec(t.Context(), `create extension if not exists pg_stat_statements with schema extensions`); err == nil {
		if err := s.Database.Pool.QueryRow(t.Context(), `
select coalesce(string_agg(query, E'\n'), '')
from extensions.pg_stat_statements
where dbid = (select oid from pg_database where datname = current_database())`).Scan(&statements); err != nil {
			t.Logf("statistics of statements: %v", err)
		}
	}
	s.Stop(t) // which writes what waits to be written
	places := w.rows()
	places["the log"], places["refusals and headers"], places["where answers lead"] = s.Log.String(), strings.Join(w.answers, "\n"), strings.Join(w.leads, "\n")
	places["the metrics"], places["the statistics of statements"] = metrics, statements
	places["what PostgreSQL shows of what runs"] = strings.Join(slices.Collect(maps.Keys(w.running)), "\n")
	t.Logf("%d secrets in %d places; %d bytes of statements", len(w.secrets), len(places), len(statements))
	for place, text := range places {
		for what, secret := range w.secrets {
			// The project's own keys stand where its processes share them.
			if place == "basalt.secrets" && (what == "the JWT secret" || what == "the service key") {
				continue
			}
			// Six digits of a measurement can be any.
			if place == "the metrics" && len(secret) <= 8 {
				continue
			}
			if shows(text, secret) {
				at := max(0, strings.Index(text, secret))
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
		if !shows(string(line), w.secrets[what]) {
			t.Errorf("%s would not be found", what)
		}
	}
	for _, place := range []string{"the log", "refusals and headers", "where answers lead", "the metrics", "what PostgreSQL shows of what runs"} {
		if places[place] == "" {
			t.Errorf("%s is empty: it proves nothing", place)
		}
	}
	if !strings.Contains(places["the log"], `"level":"debug"`) && !strings.Contains(places["the log"], `"message":"request"`) {
		t.Errorf("the log of %d bytes tells of nothing", len(places["the log"]))
	}
	return places
}

// TestNoSecretOfAccountsIsShownOrKept walks the flows of accounts and looks for each secret of them wherever it should
// not be: in the log with all its levels, in refusals, headers and addresses, in each table, in metrics, and in what PostgreSQL
// shows of statements. Nobody takes messages over here: the failures are logged.
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
		address, err := url.Parse(settings.DatabaseURL.Reveal())
		if err != nil {
			t.Fatal(err)
		}
		// A server that asks for a password has one already; one that trusts takes any.
		if login, asked := address.User.Password(); asked {
			given["the database's login"] = login
		}
		address.User = url.UserPassword(address.User.Username(), given["the database's login"])
		settings.DatabaseURL = auth.Secret(address.String())
		settings.Phone = "true"
	})
	w := newSecretWalk(t, s, given)
	w.walk()
	places := w.search()
	if len(w.secrets) < 40 {
		t.Errorf("only %d secrets were looked for", len(w.secrets))
	}
	for _, table := range []string{"auth.users", "auth.one_time_tokens", "auth.refresh_tokens", "auth.audit_log_entries", "auth.mfa_factors", "basalt.outbox"} {
		if places[table] == "" {
			t.Errorf("%s is empty: it proves nothing", table)
		}
	}
}
