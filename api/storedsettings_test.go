package api_test

import (
	"net/http"
	"strings"
	"testing"

	"basalt/api"
	"basalt/api/admin"
	"basalt/api/apitest"
	"basalt/auth"
	"basalt/auth/administrator"
)

// named finds a setting in the answer of /admin/api/settings.
func named(t *testing.T, answer *apitest.Answer, name string) admin.SettingBody {
	t.Helper()
	var body admin.SettingsBody
	answer.JSON(t, &body)
	for _, setting := range body.Settings {
		if setting.Name == name {
			return setting
		}
	}
	t.Fatalf("there is no setting %s: %.300s", name, answer.Body)
	return admin.SettingBody{}
}

func TestTheDatabaseIsNotToldWithItsPassword(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, "", nil)
	answer := s.Do(t, "GET", "/admin/api/settings", "", s.Administrator(t, administrator.Owner)...)
	if told := named(t, answer, "database-url"); told.Kind != "secret" || told.Value != "set" || told.Next != "set" || strings.Contains(answer.Body, s.Database.URL) {
		t.Errorf("%+v", told)
	}
}

func TestStoredSettingsCountFromTheNextStartOn(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, `create table n as select * from generate_series(1, 30) as _ (id); grant select on n to anon;`, nil)
	owner := s.Administrator(t, administrator.Owner)
	before := named(t, s.Do(t, "GET", "/admin/api/settings", "", owner...), "max-rows")
	if before.Value != "1000" || before.Next != "1000" || before.Source != "default" || !before.Storable || before.Stored != nil || before.Section != "REST API" {
		t.Errorf("before: %+v", before)
	}
	answer := s.Do(t, "PATCH", "/admin/api/settings", `{"changes":{"max-rows":"7","trace-header":"X-Trace"}}`, owner...)
	if answer.Status != http.StatusOK {
		t.Fatalf("store: %d %s", answer.Status, answer.Body)
	}
	if after := named(t, answer, "max-rows"); after.Value != "1000" || after.Next != "7" || after.Stored == nil || *after.Stored != "7" {
		t.Errorf("after: %+v", after)
	}
	rows := func(s *apitest.Server) int { return strings.Count(s.Do(t, "GET", "/rest/v1/n", "").Body, `"id"`) }
	if got := rows(s); got != 30 {
		t.Errorf("the running server gives %d rows", got)
	}
	second := apitest.Over(t, s.Database, apitest.Settings(t, s.Database.URL))
	if got := rows(second); got != 7 {
		t.Errorf("the next one gives %d rows, want 7", got)
	}
	if running := named(t, second.Do(t, "GET", "/admin/api/settings", "", owner...), "max-rows"); running.Source != "stored" || running.Value != "7" {
		t.Errorf("running: %+v", running)
	}
	second.Do(t, "PATCH", "/admin/api/settings", `{"changes":{"max-rows":null}}`, owner...)
	if got := rows(apitest.Over(t, s.Database, apitest.Settings(t, s.Database.URL))); got != 30 {
		t.Errorf("without it there are %d rows", got)
	}
	if audit := s.Do(t, "GET", "/admin/api/audit?action=settings.change", "", owner...).Body; !strings.Contains(audit, `"after":{"max-rows":"7","trace-header":"X-Trace"}`) || !strings.Contains(audit, `"before":{"max-rows":"7"}`) {
		t.Errorf("audit: %s", audit)
	}
}

func TestSettingsThatCannotBeStoredAreRefused(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, "", nil)
	owner := s.Administrator(t, administrator.Owner)
	for name, test := range map[string]struct {
		body, code string
		status     int
	}{
		"a name that is none":              {`{"changes":{"max-rowz":"7"}}`, "setting_unknown", http.StatusUnprocessableEntity},
		"a secret":                         {`{"changes":{"jwt-secret":"0123456789012345678901234567890123456789"}}`, "setting_fixed", http.StatusUnprocessableEntity},
		"who is sent the captcha's secret": {`{"changes":{"captcha-url":"https://elsewhere.example"}}`, "setting_fixed", http.StatusUnprocessableEntity},
		"who is sent secrets of providers": {`{"changes":{"oauth-providers":"{\"keycloak\":{\"url\":\"https://elsewhere.example\"}}"}}`, "setting_fixed", http.StatusUnprocessableEntity},
		"who is sent the token for texts":  {`{"changes":{"twilio-url":"https://elsewhere.example"}}`, "setting_fixed", http.StatusUnprocessableEntity},
		"what is needed at the very start": {`{"changes":{"database-url":"postgres://elsewhere/"}}`, "setting_fixed", http.StatusUnprocessableEntity},
		"which networks are called":        {`{"changes":{"outgoing-allow":"10.0.0.0/8"}}`, "setting_fixed", http.StatusUnprocessableEntity},
		"how long changes are told":        {`{"changes":{"admin-audit-retention":"1ns"}}`, "setting_fixed", http.StatusUnprocessableEntity},
		"whom to believe":                  {`{"changes":{"trusted-proxies":"0.0.0.0/0"}}`, "setting_fixed", http.StatusUnprocessableEntity},
		"a value of another kind":          {`{"changes":{"max-rows":"many"}}`, "setting_refused", http.StatusUnprocessableEntity},
		"a value that the server refuses":  {`{"changes":{"rest-tx-end":"sometimes"}}`, "setting_refused", http.StatusUnprocessableEntity},
		"a time that shuts the owner out":  {`{"changes":{"read-timeout":"1ns"}}`, "setting_refused", http.StatusUnprocessableEntity},
		"a time that no start is done in":  {`{"changes":{"statement-timeout":"1ms"}}`, "setting_refused", http.StatusUnprocessableEntity},
		"one of several":                   {`{"changes":{"trace-header":"X-Trace","max-rows":"-1"}}`, "setting_refused", http.StatusUnprocessableEntity},
		"a value without an end":           {`{"changes":{"mail-from-name":"` + strings.Repeat("a", 20<<10) + `"}}`, "too_large", http.StatusRequestEntityTooLarge},
		"a file of the server":             {`{"changes":{"smtp-url":"@/etc/hostname"}}`, "setting_refused", http.StatusUnprocessableEntity},
		"NUL":                              {`{"changes":{"trace-header":"a\u0000b"}}`, "", http.StatusBadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			answer := s.Do(t, "PATCH", "/admin/api/settings", test.body, owner...)
			if answer.Status != test.status || !strings.Contains(answer.Body, test.code) {
				t.Errorf("%d %s, want %d %s", answer.Status, answer.Body, test.status, test.code)
			}
		})
	}
	if body := s.Do(t, "GET", "/admin/api/settings", "", owner...).Body; !strings.Contains(body, `"stored":null`) || strings.Contains(body, `"stored":"`) {
		t.Error("something was stored")
	}
	if strings.Contains(s.Do(t, "GET", "/admin/api/settings", "", owner...).Body, s.Keys.Secret.Reveal()) {
		t.Error("the JWT secret is shown")
	}
}

func TestASecretSettingIsKeptSealedAndShownNowhere(t *testing.T) {
	t.Parallel()
	const password = "correct-horse-battery"
	s := apitest.Start(t, "", nil)
	owner := s.Administrator(t, administrator.Owner)
	change := func(body string, status int) *apitest.Answer {
		t.Helper()
		answer := s.Do(t, "PATCH", "/admin/api/settings", body, owner...)
		if answer.Status != status || strings.Contains(answer.Body, password) {
			t.Fatalf("%d %s, want %d without the password", answer.Status, answer.Body, status)
		}
		return answer
	}
	change(`{"changes":{"smtp-url":"smtp://ada:`+password+`@mail.example:port","mail-from":"a@shop.example"}}`, http.StatusUnprocessableEntity)
	change(`{"changes":{"smtp-url":"smtp://ada:`+password+`@127.0.0.1:2525"}}`, http.StatusUnprocessableEntity) // without a sender
	answer := change(`{"changes":{"smtp-url":"smtp://ada:`+password+`@127.0.0.1:2525","mail-from":"a@shop.example"}}`, http.StatusOK)
	if got := named(t, answer, "smtp-url"); got.Stored == nil || *got.Stored != "set" || got.Value != "set" || got.Next != "set" || !got.Storable || !got.AtOnce || got.Waiting {
		t.Errorf("after: %+v", got)
	}
	if got := named(t, change(`{"changes":{"mail-from-name":"Shop"}}`, http.StatusOK), "mail-from-name"); got.Waiting || got.Value != "Shop" {
		t.Errorf("it does not count at once: %+v", got)
	}
	// Another change keeps it, and does not show it.
	change(`{"changes":{"max-rows":"7"}}`, http.StatusOK)
	var kept string
	if err := s.Database.Pool.QueryRow(t.Context(), `select row_to_json(s)::text from basalt.settings s where name = 'smtp-url'`).Scan(&kept); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(kept, `"value":"","`) || !strings.Contains(kept, `"secret":"enc:`) {
		t.Errorf("kept as %s", kept)
	}
	if audit := s.Do(t, "GET", "/admin/api/audit?action=settings.change", "", owner...).Body; strings.Contains(audit, password) || !strings.Contains(audit, `"smtp-url":"set"`) {
		t.Errorf("audit: %s", audit)
	}
	second := apitest.Over(t, s.Database, apitest.Settings(t, s.Database.URL))
	if got := named(t, second.Do(t, "GET", "/admin/api/settings", "", owner...), "smtp-url"); got.Value != "set" || got.Source != "stored" || got.Waiting {
		t.Errorf("the next start: %+v", got)
	}
	for _, server := range []*apitest.Server{s, second} {
		if strings.Contains(server.Log.String(), password) {
			t.Error("the log has the password")
		}
	}

	// What no key opens is said, does not count, and is set anew or taken away.
	if _, err := s.Database.Pool.Exec(t.Context(), `update basalt.settings set secret = regexp_replace(secret, '.$', case right(secret, 1) when 'A' then 'B' else 'A' end) where name = 'smtp-url'`); err != nil {
		t.Fatal(err)
	}
	answer = s.Do(t, "GET", "/admin/api/settings", "", owner...)
	if got := named(t, answer, "smtp-url"); got.Stored == nil || *got.Stored != "lost" {
		t.Errorf("broken: %+v", got)
	}
	if !strings.Contains(answer.Body, `"refused":{"name":"smtp-url"`) { // mails have a sender and no server
		t.Error("it is not said that nothing stored counts")
	}
	change(`{"changes":{"smtp-url":null,"mail-from":null,"mail-from-name":null}}`, http.StatusOK)
	if got := named(t, s.Do(t, "GET", "/admin/api/settings", "", owner...), "smtp-url"); got.Stored != nil || got.Next != "" {
		t.Errorf("taken away: %+v", got)
	}
}

func TestALostSecretSettingKeepsNoServerFromStarting(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, "", nil)
	if _, err := s.Database.Pool.Exec(t.Context(), `insert into basalt.settings (name, value, secret) values ('captcha-secret', '', 'enc:v1:gone:AAAA'), ('max-rows', '7', null)`); err != nil {
		t.Fatal(err)
	}
	second := apitest.Over(t, s.Database, apitest.Settings(t, s.Database.URL))
	if !strings.Contains(second.Log.String(), "captcha-secret") {
		t.Error("the log does not say which is lost")
	}
	owner := second.Administrator(t, administrator.Owner)
	if got := named(t, second.Do(t, "GET", "/admin/api/settings", "", owner...), "max-rows"); got.Value != "7" {
		t.Errorf("the others do not count: %+v", got)
	}
}

func TestWhatIsToBeSealedWithoutTheKeyIsRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, "", nil)
	owner := s.Administrator(t, administrator.Owner)
	const secret = `{"changes":{"app-settings":"a=b"}}`
	if answer := s.Do(t, "PATCH", "/admin/api/settings", secret, owner...); answer.Status != http.StatusOK {
		t.Fatalf("%d %s", answer.Status, answer.Body)
	}
	for what, keys := range map[string]struct {
		settings func(*api.Settings)
		stored   string
		status   int
		code     string
	}{
		"another key":              {func(set *api.Settings) { set.JWTSecret = auth.Secret(strings.Repeat("other-", 8)) }, "lost", http.StatusConflict, "encryption_key_missing"},
		"the key and the next one": {func(set *api.Settings) { set.EncryptionKey = auth.Secret(strings.Repeat("other-", 8)) }, "set", http.StatusOK, "settings"},
	} {
		settings := apitest.Settings(t, s.Database.URL)
		keys.settings(&settings)
		other := apitest.Over(t, s.Database, settings)
		if told := named(t, other.Do(t, "GET", "/admin/api/settings", "", owner...), "app-settings"); told.Stored == nil || *told.Stored != keys.stored {
			t.Errorf("%s: %+v", what, told)
		}
		for _, change := range [][3]string{
			{"PATCH", "/settings", secret},
			{"POST", "/providers/custom", `{"provider_type":"preset","identifier":"gitlab","client_id":"a","client_secret":"b"}`},
		} {
			answer := other.Do(t, change[0], "/admin/api"+change[1], change[2], owner...)
			if answer.Status != keys.status || keys.status != http.StatusOK && !strings.Contains(answer.Body, keys.code) {
				t.Errorf("%s: %s: %d %s", what, change[1], answer.Status, answer.Body)
			}
		}
	}
}

func TestStoredSettingsThatDoNotGoWithThoseGivenKeepNoServerFromStarting(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, "", nil)
	if _, err := s.Database.Pool.Exec(t.Context(), `insert into basalt.settings (name, value) values ('rest-tx-end', 'never'), ('gone', '1')`); err != nil {
		t.Fatal(err)
	}
	second := apitest.Over(t, s.Database, apitest.Settings(t, s.Database.URL))
	if answer := second.Do(t, "GET", "/rest/v1/", ""); answer.Status != http.StatusOK {
		t.Errorf("%d %s", answer.Status, answer.Body)
	}
	if !strings.Contains(second.Log.String(), "rest-tx-end") {
		t.Error("the log does not say which")
	}
	owner := second.Administrator(t, administrator.Owner)
	answer := second.Do(t, "GET", "/admin/api/settings", "", owner...)
	if got := named(t, answer, "rest-tx-end"); got.Value != "commit" || got.Next != "commit" || got.Stored == nil || *got.Stored != "never" {
		t.Errorf("%+v", got)
	}
	if !strings.Contains(answer.Body, `"refused":{"name":"rest-tx-end"`) {
		t.Errorf("it is not said: %.200s", answer.Body)
	}
}

func TestAnOwnerTurnsSigningKeysOver(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, "", nil)
	owner := s.Administrator(t, administrator.Owner)
	want := func(status int, part, method, path, body string) *apitest.Answer {
		t.Helper()
		answer := s.Do(t, method, "/admin/api/signing-keys"+path, body, owner...)
		if answer.Status != status || !strings.Contains(answer.Body, part) {
			t.Errorf("%s %s: %d %s, want %d with %q", method, path, answer.Status, answer.Body, status, part)
		}
		return answer
	}
	want(http.StatusOK, `"keys":[]`, "GET", "", "")
	want(http.StatusUnprocessableEntity, "algorithm_unknown", "POST", "", `{"algorithm":"none"}`)
	want(http.StatusConflict, "no_standby", "POST", "/promote", `{}`)
	var made admin.SigningKeysBody
	want(http.StatusOK, `"standby"`, "POST", "", `{"algorithm":"ES256"}`).JSON(t, &made)
	want(http.StatusConflict, "standby_there", "POST", "", `{"algorithm":"ES256"}`)
	want(http.StatusConflict, "standby_young", "POST", "/promote", `{}`)
	if _, err := s.Database.Pool.Exec(t.Context(), `update basalt.signing_keys set created_at = now() - interval '11 minutes'`); err != nil {
		t.Fatal(err)
	}
	want(http.StatusOK, `"current"`, "POST", "/promote", `{}`)
	want(http.StatusConflict, "key_in_use", "DELETE", "/"+made.Keys[0].ID, "")
	want(http.StatusNotFound, "not_found", "DELETE", "/nothing", "")
	if answer := s.Do(t, "GET", "/admin/api/audit?action=signing_key.promote", "", owner...); !strings.Contains(answer.Body, made.Keys[0].ID) {
		t.Errorf("audit: %s", answer.Body)
	}
}
