package api_test

import (
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"basalt/api"
	"basalt/api/apitest"
	"basalt/store/storetest"
)

// takeOver reads settings as serve does with a configuration file of PostgREST.
func takeOver(t *testing.T, text string, environment map[string]string, args ...string) (api.Settings, error) {
	t.Helper()
	for name, value := range environment {
		t.Setenv(name, value)
	}
	file := filepath.Join(t.TempDir(), "postgrest.conf")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var s api.Settings
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	if err := s.Bind(flags); err != nil {
		t.Fatal(err)
	}
	if err := flags.Parse(append(args, "--postgrest-config", file)); err != nil {
		t.Fatal(err)
	}
	return s, s.TakeOver(flags)
}

const longSecret = "a-secret-of-more-than-thirty-two-bytes"

func TestAConfigurationOfPostgRESTIsTakenOver(t *testing.T) {
	secrets := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(secrets, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	const jwks = `{"keys":[{"kty":"oct","k":"YS1zZWNyZXQtb2YtbW9yZS10aGFuLXRoaXJ0eS10d28tYnl0ZXM"}]}`
	for _, test := range []struct {
		name, text  string
		environment map[string]string
		args        []string
		get         func(*api.Settings) any
		want        any
	}{
		{"schemas", `db-schemas = "api, other"`, nil, nil, func(s *api.Settings) any { return s.Schemas }, []string{"api", "other"}},
		{"an older name", `db-schema = "api"`, nil, nil, func(s *api.Settings) any { return s.Schemas }, []string{"api"}},
		{"an older name beside the newer one", "db-schemas = \"new\"\ndb-schema = \"old\"", nil, nil, func(s *api.Settings) any { return s.Schemas }, []string{"new"}},
		{"an older name before the newer one", "db-schema = \"old\"\ndb-schemas = \"new\"", nil, nil, func(s *api.Settings) any { return s.Schemas }, []string{"new"}},
		{"the last of two", "db-max-rows = 1\ndb-max-rows = 2", nil, nil, func(s *api.Settings) any { return s.MaxRows }, int64(2)},
		{"the flag wins", `db-max-rows = 5`, nil, []string{"--max-rows=6"}, func(s *api.Settings) any { return s.MaxRows }, int64(6)},
		{"the flag wins though it is the default", `db-max-rows = 5`, nil, []string{"--max-rows=1000"}, func(s *api.Settings) any { return s.MaxRows }, int64(1000)},
		{"the environment wins", `db-max-rows = 5`, map[string]string{"BASALT_MAX_ROWS": "7"}, nil, func(s *api.Settings) any { return s.MaxRows }, int64(7)},
		{"PostgREST's own environment is not read", `db-max-rows = 5`, map[string]string{"PGRST_DB_MAX_ROWS": "7"}, nil, func(s *api.Settings) any { return s.MaxRows }, int64(5)},
		{"no most rows where none are said", ``, nil, nil, func(s *api.Settings) any { return s.MaxRows }, int64(0)},
		{"no anonymous role where none is said", ``, nil, nil, func(s *api.Settings) any { return s.RestAnonRole }, ""},
		{"the anonymous role", `db-anon-role = "web_anon"`, nil, nil, func(s *api.Settings) any { return s.RestAnonRole }, "web_anon"},
		{"PostgREST's search path where none is said", ``, nil, nil, func(s *api.Settings) any { return s.ExtraSearchPath }, []string{"public"}},
		{"an empty search path", `db-extra-search-path = ""`, nil, nil, func(s *api.Settings) any { return len(s.ExtraSearchPath) }, 0},
		{"writes without filters", ``, nil, nil, func(s *api.Settings) any { return s.RequireFilters }, false},
		{"no end of statements", ``, nil, nil, func(s *api.Settings) any { return s.StatementTimeout.String() }, "0s"},
		{"writes without filters unless we are told", ``, nil, []string{"--require-filters"}, func(s *api.Settings) any { return s.RequireFilters }, true},
		{"a switch", `db-aggregates-enabled = true`, nil, nil, func(s *api.Settings) any { return s.RestAggregates }, true},
		{"a switch as text", `db-aggregates-enabled = "TRUE"`, nil, nil, func(s *api.Settings) any { return s.RestAggregates }, true},
		{"a switch as a number", `url-use-legacy-target-names = 0`, nil, nil, func(s *api.Settings) any { return s.LegacyTargetNames }, false},
		{"the end of transactions", `db-tx-end = "rollback-allow-override"`, nil, nil, func(s *api.Settings) any { return s.RestTxEnd }, "rollback-allow-override"},
		{"the pre-request", `db-pre-request = "auth_checks.check"`, nil, nil, func(s *api.Settings) any { return s.RestPreRequest }, "auth_checks.check"},
		{"hoisted settings", `db-hoisted-tx-settings = "statement_timeout, work_mem"`, nil, nil, func(s *api.Settings) any { return s.RestHoisted }, []string{"statement_timeout", "work_mem"}},
		{"a pool", `db-pool = 33`, nil, nil, func(s *api.Settings) any { return s.PoolSize }, 33},
		{"a wait in seconds", `db-pool-acquisition-timeout = 3`, nil, nil, func(s *api.Settings) any { return s.PoolTimeout.String() }, "3s"},
		{"the address", "server-host = \"127.0.0.1\"\nserver-port = 4000", nil, nil, func(s *api.Settings) any { return s.Listen }, "127.0.0.1:4000"},
		{"the address where none is said", ``, nil, nil, func(s *api.Settings) any { return s.Listen }, "0.0.0.0:3000"},
		{"all addresses", "server-host = \"*\"", nil, nil, func(s *api.Settings) any { return s.Listen }, "[::]:3000"},
		{"an address of version 6", "server-host = \"::1\"", nil, nil, func(s *api.Settings) any { return s.Listen }, "[::1]:3000"},
		{"the database", `db-uri = "postgres://u:p@h/d"`, nil, nil, func(s *api.Settings) any { return s.DatabaseURL.Reveal() }, "postgres://u:p@h/d"},
		{"the database in a file", `db-uri = "@` + write("uri", "postgres://u:p@h/d\n") + `"`, nil, nil, func(s *api.Settings) any { return s.DatabaseURL.Reveal() }, "postgres://u:p@h/d"},
		{"the database of the environment", `db-uri = "postgres://u:p@h/d"`, map[string]string{"DATABASE_URL": "postgres://other@h/d"}, nil, func(s *api.Settings) any { return s.DatabaseURL.Reveal() }, "postgres://other@h/d"},
		{"a secret", `jwt-secret = "` + longSecret + `"`, nil, nil, func(s *api.Settings) any { return s.JWTSecret.Reveal() }, longSecret},
		{"a secret with a dollar", `jwt-secret = "$$` + longSecret + `"`, nil, nil, func(s *api.Settings) any { return s.JWTSecret.Reveal() }, "$" + longSecret},
		{"a secret of the environment", `jwt-secret = "$(OUR_SECRET)"`, map[string]string{"OUR_SECRET": longSecret}, nil, func(s *api.Settings) any { return s.JWTSecret.Reveal() }, longSecret},
		{"a secret in a file", `jwt-secret = "@` + write("secret", longSecret+"\n") + `"`, nil, nil, func(s *api.Settings) any { return s.JWTSecret.Reveal() }, longSecret},
		{"a secret in base64", "jwt-secret-is-base64 = true\njwt-secret = \"" + base64.StdEncoding.EncodeToString([]byte(longSecret)) + `"`, nil, nil, func(s *api.Settings) any { return s.JWTSecret.Reveal() }, longSecret},
		{"a secret in base64url", `jwt-secret = "` + strings.ReplaceAll(base64.URLEncoding.EncodeToString([]byte(longSecret)), "=", ".") + "\"\nsecret-is-base64 = 1", nil, nil, func(s *api.Settings) any { return s.JWTSecret.Reveal() }, longSecret},
		{"keys", `jwt-secret = "` + strings.ReplaceAll(jwks, `"`, `\"`) + `"`, nil, nil, func(s *api.Settings) any { return s.JWTKeys.Reveal() + s.JWTSecret.Reveal() }, jwks},
		{"keys in a file", `jwt-secret = "@` + write("jwks", jwks) + `"`, nil, nil, func(s *api.Settings) any { return s.JWTKeys.Reveal() }, jwks},
		{"an audience", `jwt-aud = "https://example.com"`, nil, nil, func(s *api.Settings) any { return s.JWTAudience }, "https://example.com"},
		{"the place of the role", `jwt-role-claim-key = ".\"https://example.com/role\"[0]"`, nil, nil, func(s *api.Settings) any { return s.JWTRoleClaim }, `."https://example.com/role"[0]`},
		{"the place of the role with a dollar", `role-claim-key = "$$.a.b"`, nil, nil, func(s *api.Settings) any { return s.JWTRoleClaim }, `$.a.b`},
		{"a level that we do not have", `log-level = "crit"`, nil, nil, func(s *api.Settings) any { return s.LogLevel }, "error"},
		{"the function at the root", "db-schemas = \"api\"\ndb-root-spec = \"api.root\"", nil, nil, func(s *api.Settings) any { return s.RestRootFunction }, "root"},
		{"the function at the root without a schema", `root-spec = "root"`, nil, nil, func(s *api.Settings) any { return s.RestRootFunction }, "root"},
		{"the description", "openapi-mode = \"ignore-privileges\"\nopenapi-security-active = true\nopenapi-server-proxy-uri = \"https://a.example/rest\"", nil, nil,
			func(s *api.Settings) any { return []any{s.OpenAPIMode, s.OpenAPISecurity, s.OpenAPIServer} }, []any{"ignore-privileges", true, "https://a.example/rest"}},
		{"plans", `db-plan-enabled = true`, nil, nil, func(s *api.Settings) any { return s.RestPlan }, true},
		{"origins", `server-cors-allowed-origins = "https://a.example, http://b.example:8080"`, nil, nil, func(s *api.Settings) any { return s.CORSOrigins }, []string{"https://a.example", "http://b.example:8080"}},
		{"timing", `server-timing-enabled = on`, nil, nil, func(s *api.Settings) any { return s.ServerTiming }, true},
		{"the trace header", `server-trace-header = "X-Trace"`, nil, nil, func(s *api.Settings) any { return s.TraceHeader }, "X-Trace"},
		{"app settings", "app.settings.b = \"0\"\napp.settings.q = \"1,\\\"2\\\\\"\napp.settings.a.c = 5\napp.settings.b = \"3\"", nil, nil, func(s *api.Settings) any {
			return appSettings(t, s)
		}, []string{`q=1,"2\`, "a.c=5", "b=3"}},
		{"app settings that are given", `app.settings.b = "1"`, nil, []string{"--app-settings=x=y"}, func(s *api.Settings) any { return appSettings(t, s) }, []string{"x=y"}},
		{"what has no meaning", "admin-server-port = 3001\njwt-cache-max-entries = 5\ndb-channel-enabled = false\nlog-query = true\ndb-channel = \"pgrst\"\nclient-error-verbosity = \"verbose\"\nserver-unix-socket = \"\"", nil, nil,
			func(s *api.Settings) any { return len(s.Taken.Notes) }, 4},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := takeOver(t, test.text, test.environment, test.args...)
			if err != nil {
				t.Fatal(err)
			}
			if got := test.get(&s); !reflect.DeepEqual(got, test.want) {
				t.Errorf("%v, want %v", got, test.want)
			}
		})
	}
}

func TestAConfigurationThatCannotBeTakenOverNamesTheLine(t *testing.T) {
	for text, want := range map[string]string{
		"\ndb-chanel = \"canary\"":                            "line 2: db-chanel: PostgREST has no such setting",
		`db-channel = "canary"`:                               "line 1: db-channel: it is not supported",
		`client-error-verbosity = "minimal"`:                  "line 1: client-error-verbosity: it is not supported",
		`db-prepared-statements = false`:                      "line 1: db-prepared-statements: it is not supported",
		`db-pool-automatic-recovery = false`:                  "line 1: db-pool-automatic-recovery: it is not supported",
		`server-unix-socket = "/canary"`:                      "line 1: server-unix-socket: it is not supported",
		`server-cors-allowed-origins = "example.com"`:         "line 1: server-cors-allowed-origins: --cors-origins",
		`db-root-spec = "hidden.root"`:                        "line 1: db-root-spec: it is not supported: the function must be",
		`db-schemas = "public,can\u0000ary"`:                  "line 1: db-schemas: the value has a zero byte",
		`db-uri = "postgres://h/can\u0000ary"`:                "line 1: db-uri: the value has a zero byte",
		`openapi-mode = "some"`:                               "line 1: openapi-mode: --openapi-mode",
		`server-reuseport = true`:                             "line 1: server-reuseport: it is not supported",
		`internal-schema-cache-query-sleep = 1`:               "line 1: internal-schema-cache-query-sleep: it is not supported",
		"a = 1":                                               "line 1: a: PostgREST has no such setting",
		"jwt-secret = canary":                                 "line 1: jwt-secret: the value must be",
		"\n\njwt-secret = \"canary\"":                         "line 3: jwt-secret: --jwt-secret: it has 6 bytes",
		`jwt-secret = "@/no/such/file"`:                       "line 1: jwt-secret: open /no/such/file",
		"jwt-secret = \"can ary!\"\njwt-secret-is-base64 = 1": "line 1: jwt-secret: it is not base64",
		`jwt-secret = "{\"canary\":1}"`:                       "line 1: jwt-secret: --jwt-keys",
		`jwt-secret = "{\"kty\":\"oct\",\"k\":\"Y2FuYXJ5\"}"`: "line 1: jwt-secret: --jwt-keys: its k has 6 bytes",
		`db-uri = "canary"`:                                   "line 1: db-uri: --database-url",
		`db-uri = "@/no/such/file"`:                           "line 1: db-uri: open /no/such/file",
		`db-max-rows = "many"`:                                "line 1: db-max-rows: the value must be a whole number",
		`db-max-rows = -1`:                                    "line 1: db-max-rows: the value must be a whole number",
		`db-aggregates-enabled = "perhaps"`:                   "line 1: db-aggregates-enabled: the value must be true or false",
		`db-schemas = "public,pg_catalog"`:                    "line 1: db-schemas: --schemas: the schema pg_catalog must not be exposed",
		`db-tx-end = "never"`:                                 "line 1: db-tx-end: --rest-tx-end",
		`jwt-role-claim-key = "role"`:                         "line 1: jwt-role-claim-key: --jwt-role-claim",
		`log-level = "loud"`:                                  "line 1: log-level: --log-level",
		`server-port = 99999`:                                 "line 1: server-port: --listen",
		`server-trace-header = "Set-Cookie"`:                  "line 1: server-trace-header: --trace-header",
		`app.settings.a-b = "canary"`:                         "line 1: app.settings.a-b: --app-settings: the name of setting 1",
		`app.settings.a = "$(NO_SUCH_VARIABLE)"`:              "line 1: app.settings.a: the environment has no variable",
	} {
		_, err := takeOver(t, text, nil)
		var setting *api.SettingError
		if !errors.As(err, &setting) || setting.Flag != "postgrest-config" || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %s", text, err, want)
		} else if strings.Contains(setting.Reason, "canary") || strings.Contains(setting.Reason, "can ary") {
			t.Errorf("%q: %v shows the value", text, err)
		}
	}
	var s api.Settings
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	if err := s.Bind(flags); err != nil {
		t.Fatal(err)
	}
	s.PostgrestConfig = "/no/such/file"
	if err := s.TakeOver(flags); err == nil || !strings.Contains(err.Error(), "--postgrest-config") || !strings.Contains(err.Error(), "/no/such/file") {
		t.Errorf("a file that is not there: %v", err)
	}
}

func TestAServerMovesWithItsConfiguration(t *testing.T) {
	database := storetest.New(t)
	database.Exec(t, `
create schema api;
grant usage on schema api to anon, authenticated;
create table api.thing (id int primary key);
insert into api.thing select generate_series(1, 3);
grant all on api.thing to anon, authenticated;
create function api.told(name text) returns text language sql stable as $$ select current_setting('app.settings.' || name, true) $$;
create schema configured;
create function configured.by_function() returns void language sql as $$
  select set_config('pgrst.db_max_rows', '2', true), set_config('pgrst.db_schemas', 'nowhere', true), set_config('pgrst.db_anon_role', 'service_role', true)
$$;
do $$ begin
  execute format('alter role authenticator in database %I set pgrst.db_schemas = %L', current_database(), 'api');
  execute format('alter role authenticator in database %I set pgrst.db_tx_end = %L', current_database(), 'rollback');
  execute format('alter role authenticator in database %I set pgrst.unheard_of = %L', current_database(), 'x');
end $$;`)
	text := `
db-uri = "` + database.URL + `"
db-schemas = "public"
db-anon-role = "anon"
db-pre-config = "configured.by_function"
server-host = "127.0.0.1"
server-port = 0
server-timing-enabled = true
db-tx-end = "commit"
admin-server-port = 3001
jwt-secret = "` + longSecret + `"
app.settings.greeting = "hello"
`
	serve := func(text string, args ...string) *apitest.Server {
		s, err := takeOver(t, text, nil, append(args, "--log-level=info", "--database-url="+database.URL)...)
		if err != nil {
			t.Fatal(err)
		}
		return apitest.Over(t, database, s)
	}
	s := serve(text, "--rest-anon-role=anon", "--autoconfirm=true")
	if answer := s.Do(t, "GET", "/rest/v1/thing?order=id", "", "Apikey:"); answer.Status != 200 || strings.Join(strings.Fields(answer.Body), "") != `[{"id":1},{"id":2}]` || answer.Header.Get("Server-Timing") == "" {
		t.Errorf("the settings of the database above those of the function above those of the file: %d %s %v", answer.Status, answer.Body, answer.Header)
	}
	if answer := s.Do(t, "DELETE", "/rest/v1/thing", "", "Apikey:"); answer.Status != 204 {
		t.Errorf("a removal without a filter: %d %s", answer.Status, answer.Body)
	}
	if answer := s.Do(t, "GET", "/rest/v1/rpc/told?name=greeting", "", "Apikey:"); answer.Body != `"hello"` {
		t.Errorf("an app setting: %d %s", answer.Status, answer.Body)
	}
	for _, want := range []string{"admin-server-port has no effect", "pgrst.unheard_of has no effect"} {
		if log := s.Log.String(); !strings.Contains(log, want) || strings.Contains(log, longSecret) {
			t.Errorf("the log lacks %q or shows a secret: %s", want, log)
		}
	}
	s.Stop(t)
	alone := serve(text+"db-config = false\ndb-schemas = \"api\"\ndb-tx-end = \"commit\"\n", "--autoconfirm=true")
	if answer := alone.Do(t, "GET", "/rest/v1/thing?order=id", ""); strings.Join(strings.Fields(answer.Body), "") != `[{"id":1},{"id":2},{"id":3}]` {
		t.Errorf("the file alone: %d %s", answer.Status, answer.Body)
	}
}

func TestASettingOfTheDatabaseThatCannotBeIsNamed(t *testing.T) {
	database := storetest.New(t)
	database.Exec(t, `
do $$ begin
  execute format('alter role authenticator in database %I set pgrst.db_prepared_statements = %L', current_database(), 'false');
end $$;`)
	s, err := takeOver(t, "server-port = 0\nserver-host = \"127.0.0.1\"", nil, "--database-url="+database.URL)
	if err != nil {
		t.Fatal(err)
	}
	if err := apitest.Refused(t, s); !strings.Contains(err.Error(), "pgrst.db_prepared_statements of the database: it is not supported") {
		t.Error(err)
	}
}
