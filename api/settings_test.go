package api_test

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"basalt/api"
	"basalt/auth"
)

// bind reads settings from an environment and a command line, as serve does.
func bind(t *testing.T, environment map[string]string, args ...string) (api.Settings, *pflag.FlagSet, error) {
	t.Helper()
	for name, value := range environment {
		t.Setenv(name, value)
	}
	var s api.Settings
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	err := s.Bind(flags)
	if err == nil {
		err = flags.Parse(args)
	}
	if err == nil {
		err = s.Check()
	}
	return s, flags, err
}

// appSettings are the settings for SQL, each as name=value.
func appSettings(t *testing.T, s *api.Settings) []string {
	t.Helper()
	parsed, err := api.ParseAppSettings(s.AppSettings)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, setting := range parsed {
		list = append(list, setting.Name+"="+setting.Value.Reveal())
	}
	return list
}

func TestSettingsComeFromDefaultsEnvironmentAndFlags(t *testing.T) {
	for _, test := range []struct {
		name        string
		environment map[string]string
		args        []string
		get         func(api.Settings) any
		want        any
	}{
		{"a default", nil, nil, func(s api.Settings) any { return s.MaxRows }, int64(1000)},
		{"a default duration", nil, nil, func(s api.Settings) any { return s.PoolTimeout }, 10 * time.Second},
		{"a default size", nil, nil, func(s api.Settings) any { return s.BodyLimit }, api.Bytes(50 << 20)},
		{"a default list", nil, nil, func(s api.Settings) any { return s.ExtraSearchPath }, []string{"public", "extensions"}},
		{"a default switch", nil, nil, func(s api.Settings) any { return s.RequireFilters }, true},
		{"the environment", map[string]string{"BASALT_MAX_ROWS": "5"}, nil, func(s api.Settings) any { return s.MaxRows }, int64(5)},
		{"the flag before the environment", map[string]string{"BASALT_MAX_ROWS": "5"}, []string{"--max-rows", "6"}, func(s api.Settings) any { return s.MaxRows }, int64(6)},
		{"the flag before a default", nil, []string{"--max-rows=0"}, func(s api.Settings) any { return s.MaxRows }, int64(0)},
		{"an empty variable is none", map[string]string{"BASALT_MAX_ROWS": "", "BASALT_SCHEMAS": ""}, nil, func(s api.Settings) any { return s.MaxRows }, int64(1000)},
		{"the second variable", map[string]string{"DATABASE_URL": "postgres://a@b/c"}, nil, func(s api.Settings) any { return s.DatabaseURL.Reveal() }, "postgres://a@b/c"},
		{"the first variable before the second", map[string]string{"DATABASE_URL": "postgres://a@b/c", "BASALT_DATABASE_URL": "postgres://d@e/f"}, nil,
			func(s api.Settings) any { return s.DatabaseURL.Reveal() }, "postgres://d@e/f"},
		{"a second variable that is empty", map[string]string{"DATABASE_URL": "", "BASALT_DATABASE_URL": "postgres://d@e/f"}, nil,
			func(s api.Settings) any { return s.DatabaseURL.Reveal() }, "postgres://d@e/f"},
		{"a list with blanks", map[string]string{"BASALT_SCHEMAS": " a, b ,,c"}, nil, func(s api.Settings) any { return s.Schemas }, []string{"a", "b", "c"}},
		{"a list that is emptied", nil, []string{"--extra-search-path="}, func(s api.Settings) any { return len(s.ExtraSearchPath) }, 0},
		{"a list is replaced, not lengthened", nil, []string{"--schemas", "x"}, func(s api.Settings) any { return s.Schemas }, []string{"x"}},
		{"a switch without a value", nil, []string{"--rest-aggregates"}, func(s api.Settings) any { return s.RestAggregates }, true},
		{"a switch that is put off", nil, []string{"--require-filters=false"}, func(s api.Settings) any { return s.RequireFilters }, false},
		{"a size in MiB", nil, []string{"--body-limit", "2MiB"}, func(s api.Settings) any { return s.BodyLimit }, api.Bytes(2 << 20)},
		{"a size in bytes", nil, []string{"--body-limit", "2000"}, func(s api.Settings) any { return s.BodyLimit }, api.Bytes(2000)},
		{"app settings", nil, []string{`--app-settings=a=1, b.c="x,\"y\"" ,d=`}, func(s api.Settings) any {
			return appSettings(t, &s)
		}, []string{"a=1", `b.c=x,"y"`, "d="}},
		{"no anonymous role", nil, []string{"--rest-anon-role="}, func(s api.Settings) any { return s.RestAnonRole }, ""},
		{"a duration", nil, []string{"--read-timeout", "1m30s"}, func(s api.Settings) any { return s.ReadTimeout }, 90 * time.Second},
		{"a pool as large as the machine wants", nil, nil, func(s api.Settings) any { return s.PoolSize >= 8 }, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, _, err := bind(t, test.environment, test.args...)
			if err != nil {
				t.Fatal(err)
			}
			if got := test.get(s); !reflect.DeepEqual(got, test.want) {
				t.Errorf("%v, want %v", got, test.want)
			}
		})
	}
}

func TestSettingsThatCannotBeAreRefusedByName(t *testing.T) {
	const secret = "a-secret-that-must-not-show"
	for _, test := range []struct {
		name        string
		environment map[string]string
		args        []string
		flag        string
	}{
		{"a number that is none", nil, []string{"--max-rows=abc"}, "--max-rows"},
		{"a number below zero", nil, []string{"--max-rows=-1"}, "--max-rows"},
		{"a number with a fraction", nil, []string{"--pool-size=1.5"}, "--pool-size"},
		{"a pool beyond PostgreSQL's maximum", nil, []string{"--pool-size=4294967297"}, "--pool-size"},
		{"a duration without a unit", nil, []string{"--read-timeout=30"}, "--read-timeout"},
		{"a duration below zero", nil, []string{"--read-timeout=-1s"}, "--read-timeout"},
		{"a time in which no request is read", nil, []string{"--read-timeout=1ns"}, "--read-timeout"},
		{"a time in which no answer is taken", nil, []string{"--write-timeout=99ms"}, "--write-timeout"},
		{"a time in which no statement ends", nil, []string{"--statement-timeout=1ms"}, "--statement-timeout"},
		{"a time beyond PostgreSQL's maximum", nil, []string{"--statement-timeout=2562047h"}, "--statement-timeout"},
		{"a size of another unit", nil, []string{"--body-limit=5MB"}, "--body-limit"},
		{"a size beyond all memory", nil, []string{"--body-limit=9999999999GiB"}, "--body-limit"},
		{"a switch of another word", nil, []string{"--require-filters=maybe"}, "--require-filters"},
		{"a number of the environment", map[string]string{"BASALT_MAX_ROWS": "abc"}, nil, "--max-rows"},
		{"a duration of the environment", map[string]string{"BASALT_IDLE_TIMEOUT": "soon"}, nil, "--idle-timeout"},
		{"a secret of the second variable", map[string]string{"JWT_SECRET": "short"}, nil, "or JWT_SECRET"},
		{"a number of the environment, by the variable's name", map[string]string{"BASALT_POOL_WAIT": "x"}, nil, "BASALT_POOL_WAIT"},
		{"hashes that are cheap to guess", nil, []string{"--password-hash-passes=1"}, "--password-hash-memory"},
		{"hashes that take the machine's memory", nil, []string{"--password-hash-memory=1GiB"}, "--password-hash-memory"},
		{"hashes without a lane", nil, []string{"--password-hash-lanes=0"}, "--password-hash-lanes"},
		{"hashes of a hundred passes", nil, []string{"--password-hash-passes=100"}, "--password-hash-passes"},
		{"an address without a port", nil, []string{"--listen=localhost"}, "--listen"},
		{"a port that is none", nil, []string{"--listen=localhost:99999"}, "--listen"},
		{"no schema", nil, []string{"--schemas="}, "--schemas"},
		{"the schema of accounts", nil, []string{"--schemas=public,auth"}, "--schemas"},
		{"the schema of PostgreSQL", nil, []string{"--schemas=pg_catalog"}, "--schemas"},
		{"our own schema", nil, []string{"--schemas=basalt"}, "--schemas"},
		{"a secret that can be guessed", nil, []string{"--jwt-secret=" + secret}, "--jwt-secret"},
		{"a database that is no URL", nil, []string{"--database-url=" + secret}, "--database-url"},
		{"a database whose URL is malformed", nil, []string{"--database-url=postgres://u:" + secret + "@h:port/d"}, "--database-url"},
		{"a certificate that is not there", nil, []string{"--database-url=postgres://u:" + secret + "@h/d?sslmode=verify-full&sslrootcert=/none.pem"}, "/none.pem"},
		{"a database of the environment", map[string]string{"DATABASE_URL": "postgres://u:" + secret + "@h:port/d"}, nil, "--database-url"},
		{"a port of the managed database beside another", nil, []string{"--database-url=postgres://u@h/d", "--postgres-port=5"}, "--postgres-port"},
		{"a role's place that is none", nil, []string{"--jwt-role-claim=$"}, "--jwt-role-claim"},
		{"a network that is none", nil, []string{"--trusted-proxies=10.0.0.0/8,example.com"}, "--trusted-proxies"},
		{"a public URL of another scheme", nil, []string{"--public-url=ftp://x"}, "--public-url"},
		{"a site URL that is none", nil, []string{"--site-url=example.com"}, "--site-url"},
		{"a level that is none", nil, []string{"--log-level=loud"}, "--log-level"},
		{"a format that is none", nil, []string{"--log-format=xml"}, "--log-format"},
		{"limits that are neither on nor off", nil, []string{"--limits=no"}, "--limits"},
		{"a confirmation that is none", nil, []string{"--autoconfirm=yes"}, "--autoconfirm"},
		{"an end of transactions that is none", nil, []string{"--rest-tx-end=maybe"}, "--rest-tx-end"},
		{"a pre-request with parentheses", nil, []string{"--rest-pre-request=api.check()"}, "--rest-pre-request"},
		{"a pre-request without a name", nil, []string{"--rest-pre-request=api."}, "--rest-pre-request"},
		{"an anonymous role that is the way back", nil, []string{"--rest-anon-role=none"}, "--rest-anon-role"},
		{"app settings without values", nil, []string{"--app-settings=" + secret}, "--app-settings"},
		{"app settings with an odd name", nil, []string{"--app-settings=a b=" + secret}, "--app-settings"},
		{"app settings with the same name twice", nil, []string{"--app-settings=a=" + secret + ",a=x"}, "--app-settings"},
		{"app settings with the same name in another case", nil, []string{"--app-settings=a=" + secret + ",A=x"}, "--app-settings"},
		{"app settings that are no UTF-8", nil, []string{"--app-settings=a=" + secret + "\xff"}, "--app-settings"},
		{"app settings with an open quote", nil, []string{`--app-settings=a="` + secret}, "--app-settings"},
		{"app settings without a comma", nil, []string{`--app-settings=a="x"` + secret}, "--app-settings"},
		{"app settings of the environment", map[string]string{"BASALT_APP_SETTINGS": secret}, nil, "--app-settings"},
		{"keys that are none", nil, []string{"--jwt-keys=" + secret}, "--jwt-keys"},
		{"keys that are too short", nil, []string{`--jwt-keys={"kty":"oct","k":"` + secret + `"}`}, "--jwt-keys"},
		{"keys in a file that is not there", nil, []string{"--jwt-keys=@/no/such/file"}, "/no/such/file"},
		{"signing keys that are none", nil, []string{"--jwt-signing-keys=" + secret}, "--jwt-signing-keys"},
		{"signing keys that are a shared secret", nil, []string{`--jwt-signing-keys={"kty":"oct","k":"` + secret + `"}`}, "--jwt-signing-keys"},
		{"signing keys without a private half", nil, []string{`--jwt-signing-keys={"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}`}, "no private half"},
		{"signing keys in a file that is not there", nil, []string{"--jwt-signing-keys=@/no/such/file"}, "/no/such/file"},
		{"tokens that end at once", nil, []string{"--access-token-life=1s"}, "--access-token-life"},
		{"tokens that never end", nil, []string{"--access-token-life=9000h"}, "--access-token-life"},
		{"registration without an OAuth server", nil, []string{"--oauth-registration"}, "--oauth-registration"},
		{"a page of consent elsewhere", nil, []string{"--oauth-server", "--oauth-consent-path=//evil.example/"}, "--oauth-consent-path"},
		{"no passkeys at all", nil, []string{"--max-passkeys=0"}, "--max-passkeys"},
		{"passkeys on an address that is no domain", nil, []string{"--passkeys", "--site-url=http://127.0.0.1:3000"}, "--webauthn-rp-id"},
		{"passkeys bound to a URL", nil, []string{"--passkeys", "--webauthn-rp-id=https://example.com"}, "--webauthn-rp-id"},
		{"passkeys of another site", nil, []string{"--passkeys", "--site-url=https://app.example.com", "--webauthn-rp-id=example.org"}, "--webauthn-rp-id"},
		{"passkeys of a site whose name only ends alike", nil, []string{"--passkeys", "--site-url=https://notexample.com", "--webauthn-rp-id=example.com"}, "--webauthn-rp-id"},
		{"passkeys of a domain below the site's", nil, []string{"--passkeys", "--site-url=https://example.com", "--webauthn-rp-id=app.example.com"}, "--webauthn-rp-id"},
		{"passkeys for what is no origin", nil, []string{"--webauthn-origins=example.com"}, "--webauthn-origins"},
		{"a SAML key that is none", nil, []string{"--saml-private-key=" + secret}, "--saml-private-key"},
		{"a SAML key in a file that is not there", nil, []string{"--saml-private-key=@/no/such/file"}, "/no/such/file"},
		{"an origin that is none", nil, []string{"--cors-origins=https://a.example,b.example"}, "--cors-origins"},
		{"an origin with a path", nil, []string{"--cors-origins=https://a.example/"}, "--cors-origins"},
		{"all origins in a word", nil, []string{"--cors-origins=*"}, "--cors-origins"},
		{"a trace header that is none", nil, []string{"--trace-header=a b"}, "--trace-header"},
		{"a trace header that frames answers", nil, []string{"--trace-header=content-length"}, "--trace-header"},
		{"a trace header that is a secret", nil, []string{"--trace-header=ApiKey"}, "--trace-header"},
		{"an own network that is none", nil, []string{"--outgoing-allow=10.0.0.0/8,localhost"}, "--outgoing-allow"},
		{"a hook of another scheme", nil, []string{"--hook-send-sms=ftp://example.com/"}, "--hook-send-sms"},
		{"a hook that names no function", nil, []string{"--hook-custom-access-token=pg-functions://postgres/f"}, "--hook-custom-access-token"},
		{"a hook without a secret", nil, []string{"--hook-before-user-created=https://example.com/"}, "--hook-before-user-created"},
		{"a hook with a secret that is none", nil, []string{"--hook-after-user-created=https://example.com/", "--hook-after-user-created-secrets=" + secret}, "--hook-after-user-created"},
		{"a secret without its hook", nil, []string{"--hook-mfa-verification-attempt-secrets=" + secret}, "--hook-mfa-verification-attempt"},
		{"a captcha of nobody", nil, []string{"--captcha-provider=me", "--captcha-secret=" + secret}, "--captcha-provider"},
		{"a captcha without a secret", nil, []string{"--captcha-provider=turnstile"}, "--captcha-secret"},
		{"a captcha's secret without its provider", nil, []string{"--captcha-secret=" + secret}, "--captcha-provider"},
		{"a captcha's address that is none", nil, []string{"--captcha-provider=turnstile", "--captcha-secret=" + secret, "--captcha-url=file:///x"}, "--captcha-url"},
		{"less memory than one body", nil, []string{"--body-memory=1MiB"}, "--body-memory"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, _, err := bind(t, test.environment, test.args...)
			if err == nil {
				t.Fatal("accepted")
			}
			if !strings.Contains(err.Error(), test.flag) {
				t.Errorf("%q does not name %s", err, test.flag)
			}
			if strings.Contains(err.Error(), secret) {
				t.Errorf("%q shows the secret", err)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%q is more than a line", err)
			}
		})
	}
	_, _, err := bind(t, map[string]string{"BASALT_LOG_LEVEL": "loud"})
	var setting *api.SettingError
	if !errors.As(err, &setting) || setting.Flag != "log-level" {
		t.Errorf("%v is no SettingError", err)
	}
}

func TestHelpShowsNoSecretOfTheEnvironment(t *testing.T) {
	const secret = "a-secret-that-must-not-show-in-any-help-text"
	_, flags, err := bind(t, map[string]string{
		"JWT_SECRET": secret, "DATABASE_URL": "postgres://u:" + secret + "@h/d", "BASALT_APP_SETTINGS": "a=" + secret,
		"BASALT_JWT_KEYS": `{"kty":"oct","k":"` + secret + `"}`,
	})
	if err != nil {
		t.Fatal(err)
	}
	usage := flags.FlagUsages()
	if strings.Contains(usage, secret) {
		t.Error("the help shows a secret")
	}
	for name := range strings.FieldsSeq("listen data database-url pool-size statement-timeout schemas max-rows jwt-secret body-limit log-level") {
		flag := flags.Lookup(name)
		if flag == nil || flag.Usage == "" {
			t.Errorf("no help for --%s", name)
		}
	}
	for _, want := range []string{"(default 127.0.0.1:8090)", "(default 10s)", "(default 50MiB)", "(default 1000)"} {
		if !strings.Contains(strings.ReplaceAll(usage, `"`, ""), want) {
			t.Errorf("the help lacks %s:\n%s", want, usage)
		}
	}
}

func TestSizesAreWrittenAsTheyAreRead(t *testing.T) {
	for text, want := range map[string]api.Bytes{"0": 0, "1000": 1000, "1KiB": 1 << 10, "3MiB": 3 << 20, "2GiB": 2 << 30, "1536KiB": 1536 << 10} {
		s, _, err := bind(t, nil, "--answer-memory", text)
		if err != nil || s.AnswerMemory != want || s.AnswerMemory.String() != text {
			t.Errorf("%s: %d, %s, %v", text, s.AnswerMemory, s.AnswerMemory, err)
		}
	}
}

func TestTheAddressOfTheManagedDatabaseStandsForNone(t *testing.T) {
	data := t.TempDir()
	own := "postgres://postgres:x@/postgres?port=5432&host=" + url.QueryEscape(filepath.Join(data, "postgres"))
	s, _, err := bind(t, map[string]string{"DATABASE_URL": own}, "--data", data)
	if err != nil || s.DatabaseURL != "" {
		t.Errorf("%q, %v", s.DatabaseURL.Reveal(), err)
	}
	s, _, err = bind(t, map[string]string{"DATABASE_URL": own}, "--data", t.TempDir())
	if err != nil || s.DatabaseURL.Reveal() != own {
		t.Errorf("another folder's: %q, %v", s.DatabaseURL.Reveal(), err)
	}
}

// A server runs, and its shell has taken over what `basalt keys --env` prints.
func TestTheAddressOfTheManagedDatabaseNamesTheManagedDatabase(t *testing.T) {
	data := t.TempDir()
	if err := os.WriteFile(filepath.Join(data, "api-url"), []byte("http://127.0.0.1:1234\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := api.Defaults()
	s.Data = data
	s.DatabaseURL = auth.Secret("postgres://postgres:x@/postgres?port=5432&host=" + url.QueryEscape(filepath.Join(data, "postgres")))
	if got := s.RunningURL(); got != "http://127.0.0.1:1234" {
		t.Errorf("the server runs at %s", got)
	}
	if !s.SignsUpAtOnce() {
		t.Error("sign-ups wait for a confirmation that the managed database does without")
	}
	s.DatabaseURL = "postgres://postgres:x@host/postgres"
	if s.SignsUpAtOnce() || s.RunningURL() != "http://127.0.0.1:8090" {
		t.Errorf("another database is taken for the managed one: %s", s.RunningURL())
	}
}

func TestAnAddressForAllNetworksIsShownAsOneToConnectTo(t *testing.T) {
	var s api.Settings
	for address, want := range map[string]string{
		"0.0.0.0:80": "http://127.0.0.1:80", "[::]:80": "http://127.0.0.1:80", ":80": "http://127.0.0.1:80",
		"localhost:80": "http://localhost:80", "[::1]:80": "http://[::1]:80", "10.0.0.1:80": "http://10.0.0.1:80",
	} {
		if got := s.URL(address); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}
