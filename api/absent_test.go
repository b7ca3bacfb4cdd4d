package api_test

import (
	"strings"
	"testing"

	"basalt/api"
	"basalt/api/apitest"
)

func TestSettingsThatNameWhatIsNotThereAreToldAtTheStart(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, `
create schema api;
create function api.check_request(n int) returns void language sql as 'select';
create function api.check_user(event jsonb) returns jsonb language sql as $$ select '{}'::jsonb $$;`, func(s *api.Settings) {
		s.Schemas = []string{"api", "nope"}
		s.RestAnonRole = "pg_monitor"
		s.RestPreRequest = "api.check_request"
		s.RestRootFunction = "welcome"
		s.HookCustomAccessToken = "pg-functions://postgres/hooks/claims"
		s.HookBeforeUserCreated = "pg-functions://postgres/api/check_user"
	})
	for _, want := range []string{
		`"setting":"--schemas","name":"nope","message":"there is no such schema"`,
		`"setting":"--rest-anon-role","name":"pg_monitor","message":"authenticator may not become this role: grant it to authenticator"`,
		`"setting":"--rest-pre-request","name":"check_request","message":"there is no such function without arguments in api"`,
		`"setting":"--rest-root-function","name":"welcome","message":"there is no such function without arguments in api,nope"`,
		`"setting":"--hook-custom-access-token","name":"hooks.claims","message":"there is no such function with one argument: accounts fail where it is to be asked"`,
		`"setting":"--hook-before-user-created","name":"api.check_user","message":"supabase_auth_admin may not run this function: grant usage on its schema and execute on it to supabase_auth_admin"`,
	} {
		logged(t, s, want, 1)
	}
	s.Database.Exec(t, `
create schema hooks;
grant usage on schema hooks, api to supabase_auth_admin;
create function hooks.claims(event jsonb) returns jsonb language sql as $$ select event $$;
create schema nope;
create function nope.welcome() returns text language sql as $$ select 'hello' $$`)
	logged(t, s, `"name":"nope","message":"what was missing is there"`, 1)
	logged(t, s, `"name":"hooks.claims","message":"what was missing is there"`, 1)
	logged(t, s, `"name":"api.check_user","message":"what was missing is there"`, 1)
	s.Database.Exec(t, `drop schema nope cascade`)
	logged(t, s, `"name":"nope","message":"there is no such schema"`, 2)
	if log := s.Log.String(); strings.Count(log, `"name":"check_request"`) != 1 {
		t.Errorf("what is still missing is told again: %s", log)
	}
}

func TestSettingsThatNameWhatIsThereAreNotToldOf(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, `
create schema hidden;
grant usage on schema hidden to service_role;
create function hidden.check_request(n int default 1) returns void language sql as 'select';
create function send(event jsonb, tries int default 1) returns jsonb language sql as $$ select event $$;
create function welcome() returns text language sql as $$ select 'hello' $$;`, func(s *api.Settings) {
		s.RestPreRequest = "hidden.check_request"
		s.RestRootFunction = "welcome"
		s.HookSendSMS = "pg-functions://postgres/public/send"
	})
	s.Database.Exec(t, `create table another (id int primary key)`)
	apitest.Until(t, "the new table is served", func() bool { return s.Do(t, "GET", "/rest/v1/another", "", s.Service()).Status == 200 })
	if log := s.Log.String(); strings.Contains(log, `"setting":`) {
		t.Error(log)
	}
}

// logged waits until a text stands in the log as often as wanted.
func logged(t *testing.T, s *apitest.Server, text string, times int) {
	t.Helper()
	apitest.Until(t, text+" is in the log", func() bool { return strings.Count(s.Log.String(), text) >= times })
}
