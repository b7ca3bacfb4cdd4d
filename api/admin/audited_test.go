package admin_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"basalt/api"
	"basalt/api/admin"
	"basalt/api/apitest"
	"basalt/auth"
	"basalt/auth/administrator"
	"basalt/auth/provider/providertest"
	"basalt/auth/sms/smstest"
	"basalt/auth/sso/ssotest"
)

// unrecorded are the routes that are no GET and leave nothing in the audit log, each with its reason.
var unrecorded = map[string]string{
	"POST /me/totp":                                "a secret that counts once it is proved",
	"POST /me/passkeys/options":                    "a challenge",
	"POST /session/passkey/options":                "a challenge",
	"DELETE /session":                              "whoever signs out may always do so",
	"POST /join/link":                              "tells what a link is for",
	"POST /providers/discover":                     "asks another server",
	"POST /mail-templates/:language/:name/preview": "keeps a picture for who asks",
	"POST /policies/check":                         "is undone",
	"POST /policies/test":                          "is undone",
	"POST /performance/hypothetical":               "is undone",
	"POST /performance/advice":                     "is undone",
	"POST /rest-sql":                               "a text",
	"POST /queries":                                "one's own notes",
	"PATCH /queries/:id":                           "one's own notes",
	"DELETE /queries/:id":                          "one's own notes",
	"DELETE /queries/history":                      "one's own notes",
	"DELETE /sql/:id":                              "ends a run of one's own",
	"POST /rest":                                   "names no relation", "PUT /rest": "the same", "PATCH /rest": "the same", "DELETE /rest": "the same",
}

// auditWorld is a server at which everything can be changed, with an owner at its dashboard.
type auditWorld struct {
	*dashboard
	openID *providertest.OpenID
	saml   string
}

// change is a request that changes something.
type change struct {
	path string
	body any
	// headers are those of somebody else than the owner.
	headers []string
}

// hired makes an administrator and signs them in.
func (w *auditWorld) hired(t *testing.T) (*administrator.Administrator, *browser) {
	t.Helper()
	email := uuid.NewString() + "@example.com"
	return hire(t, w.Server, email, administrator.Viewer), enter(t, w.Server, email)
}

// as gives the headers of a browser.
func as(b *browser) []string { return []string{"Cookie: " + b.cookie, apitest.Dashboard} }

// stranger has the headers of a browser that nobody is signed in at.
var stranger = []string{apitest.Dashboard}

// withCodes is an administrator with a second factor.
func (w *auditWorld) withCodes(t *testing.T) (*administrator.Administrator, *browser) {
	t.Helper()
	a, b := w.hired(t)
	var drawn struct{ Secret string }
	b.want(t, http.StatusOK, "", "POST", "/me/totp", "").JSON(t, &drawn)
	code, _ := codes(t, drawn.Secret)
	b.want(t, http.StatusOK, "", "POST", "/me/totp/verify", `{"code":"`+code+`"}`)
	return a, b
}

// withPasskey is an administrator with a passkey.
func (w *auditWorld) withPasskey(t *testing.T) (*key, *browser) {
	t.Helper()
	_, b := w.hired(t)
	k := newKey(w.Server)
	b.want(t, http.StatusOK, "", "POST", "/me/passkeys/verify", k.register(t, b))
	k.pair.Counter = 1
	return k, b
}

// user is an account of the app with a session.
func (w *auditWorld) user(t *testing.T) (path, email string) {
	t.Helper()
	email = uuid.NewString() + "@example.com"
	_, id := w.SignUp(t, email)
	return "/users/" + id, email
}

// text reads one text from the database.
func (w *auditWorld) text(t *testing.T, sql string, values ...any) (text string) {
	t.Helper()
	if err := w.Database.Pool.QueryRow(t.Context(), sql, values...).Scan(&text); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return text
}

// session is a session of PostgreSQL that somebody may end.
func (w *auditWorld) session(t *testing.T) (pid string, body string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), w.Database.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	pid = fmt.Sprint(conn.PgConn().PID())
	return pid, fmt.Sprintf(`{"started":%q}`, w.text(t, `select backend_start::text from pg_stat_activity where pid::text = $1`, pid))
}

// custom adds a server that signs users in.
func (w *auditWorld) custom(t *testing.T) (path string) {
	t.Helper()
	in := w.customChange()
	providersOf(t, w.call(t, "POST", "/providers/custom", in))
	return "/providers/custom/" + in.Identifier
}

func (w *auditWorld) customChange() admin.CustomProviderChange {
	return admin.CustomProviderChange{
		Identifier: "custom:" + uuid.NewString(), Type: "oidc", Name: changing("Acme"), ClientID: changing("basalt"),
		ClientSecret: changing(auth.Secret("a secret")), Issuer: changing(w.openID.Issuer),
	}
}

// idp gives the identity provider, which is added when it is not there.
func (w *auditWorld) idp(t *testing.T) (path string) {
	t.Helper()
	list := providersOf(t, w.call(t, "GET", "/providers", nil)).SAML.Providers
	if len(list) == 0 {
		list = providersOf(t, w.call(t, "POST", "/providers/saml", admin.SAMLProviderChange{MetadataXML: w.saml})).SAML.Providers
	}
	return "/providers/saml/" + list[0].ID.String()
}

// message puts a message into the outbox that was given up.
func (w *auditWorld) message(t *testing.T) (path string) {
	t.Helper()
	return "/outbox/" + w.text(t, `insert into basalt.outbox (id, channel, kind, body, state, expires_at)
		values (gen_random_uuid(), 'sms', 'otp', 'sealed', 'failed', now() + interval '1 hour') returning id::text`)
}

// try makes a change and gives the tables that are not as they were, while the log has room for an entry or is full.
func (w *auditWorld) try(t *testing.T, route string, make func(*testing.T, *auditWorld) change, full bool) (answer *apitest.Answer, changed []string) {
	t.Helper()
	made := make(t, w)
	caller := &dashboard{w.Server, made.headers}
	if made.headers == nil {
		caller.headers = w.headers
	}
	apitest.Until(t, "no message waits", func() bool {
		return w.text(t, `select count(*)::text from basalt.outbox where state = 'queued'`) == "0"
	})
	before := w.kept(t)
	if full {
		w.Database.Exec(t, `alter table basalt.administrator_audit enable trigger no_room`)
		defer w.Database.Exec(t, `alter table basalt.administrator_audit disable trigger no_room`)
	}
	method, _, _ := strings.Cut(route, " ")
	answer = caller.call(t, method, made.path, made.body)
	after := w.kept(t)
	for table, content := range after {
		if before[table] != content {
			changed = append(changed, table)
		}
	}
	return answer, changed
}

// kept gives what stands in each table, but for the logs and for challenges, which count for nothing.
func (w *auditWorld) kept(t *testing.T) map[string]string {
	t.Helper()
	rows, err := w.Database.Pool.Query(t.Context(), `
select c.oid::regclass::text, md5(query_to_xml('select t::text from ' || c.oid::regclass || ' t order by 1', true, false, '')::text)
from pg_class c
where c.relkind = 'r'
and c.relnamespace in ('auth'::regnamespace, 'basalt'::regnamespace, 'public'::regnamespace)
and c.relname not in ('administrator_audit', 'audit_log_entries', 'requests', 'administrator_challenges')`)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	var table, content string
	if _, err := pgx.ForEachRow(rows, []any{&table, &content}, func() error { found[table] = content; return nil }); err != nil {
		t.Fatal(err)
	}
	return found
}

func TestNoChangeIsKeptWithoutItsRowInTheAuditLog(t *testing.T) {
	t.Parallel()
	texts := smstest.Start(t, http.StatusBadRequest, `{"code":21211}`)
	key := auth.Secret(ssotest.NewKey())
	s := apitest.Start(t, `create table public.places (id int primary key, name text); create table public.numbers (id int primary key, n int)`, func(settings *api.Settings) {
		neighbours(settings)
		settings.SAMLPrivateKey = key
		settings.TwilioAccount, settings.TwilioToken, settings.TwilioFrom, settings.TwilioURL = smstest.Account, smstest.Token, "+15550199", texts.URL
	})
	s.URL = strings.Replace(s.URL, "127.0.0.1", "localhost", 1) // passkeys are bound to a name
	w := &auditWorld{&dashboard{Server: s}, providertest.Start(t, s.URL+"/auth/v1/callback"), ""}
	w.saml = ssotest.New(t, func() string { return s.Do(t, "GET", "/auth/v1/sso/saml/metadata", "", "Apikey:").Body }).Description()
	s.Database.Exec(t, `
create function no_room() returns trigger language plpgsql as $$ begin raise exception 'no room' using errcode = '53100'; end $$;
create trigger no_room before insert on basalt.administrator_audit for each row execute function no_room();
alter table basalt.administrator_audit disable trigger no_room`)

	tried := map[string]bool{}
	for _, c := range recordedChanges {
		tried[c.route] = true
		if c.route != "POST /setup" && w.headers == nil {
			w.headers = s.Administrator(t, administrator.Owner)
		}
		t.Run(c.route+" "+c.action, func(t *testing.T) {
			entries := func() (n int) {
				n, _ = strconv.Atoi(w.text(t, `select count(*)::text from basalt.administrator_audit where action = $1`, c.action))
				return n
			}
			answer, changed := w.try(t, c.route, c.make, true)
			if answer.Status < 500 && !strings.Contains(answer.Body, `"kept":false`) {
				t.Errorf("without room in the log it is answered %d %s", answer.Status, answer.Body)
			}
			if len(changed) > 0 {
				t.Errorf("without its entry in the log %v changed", changed)
			}
			var before int
			counted := func(t *testing.T, w *auditWorld) change {
				made := c.make(t, w)
				before = entries()
				return made
			}
			if answer, changed = w.try(t, c.route, counted, false); answer.Status >= 300 || strings.Contains(answer.Body, `"kept":false`) {
				t.Errorf("it is answered %d %s", answer.Status, answer.Body)
			}
			if after := entries(); after != before+1 {
				t.Errorf("of %s there were %d entries in the log and then %d", c.action, before, after)
			}
			if len(changed) == 0 && !c.outside {
				t.Error("nothing changed")
			}
		})
	}
	there := map[string]bool{}
	for _, route := range routes(t) {
		name := route.Method + " " + route.Path
		there[name] = true
		if changes(route) && !tried[name] && unrecorded[name] == "" {
			t.Errorf("%s changes something and is not tried here", name)
		}
	}
	for name := range unrecorded {
		if !there[name] || tried[name] {
			t.Errorf("%s is no route any more, or has an entry in the log", name)
		}
	}
}
