package rest_test

import (
	"regexp"
	"strings"
	"testing"

	"basalt/api"
	"basalt/api/apitest"
	"basalt/auth"
	"basalt/store/storetest"
)

const entries = `
create table entry (id int primary key, v text default 'd');
create table parent (id int primary key);
create table child (id int primary key, parent int references parent deferrable initially deferred);
create function add_entry(i int) returns int language sql as $$ insert into entry values (i) returning id $$;
` + open

func TestTransactionsEndAsTheOperatorAndTheClientWant(t *testing.T) {
	t.Parallel()
	database := storetest.New(t)
	database.Exec(t, entries)
	for _, mode := range []struct {
		name      string
		kept      map[string]bool // by what is preferred
		overrides bool
	}{
		{"commit", map[string]bool{"": true, "tx=commit": true, "tx=rollback": true}, false},
		{"commit-allow-override", map[string]bool{"": true, "tx=commit": true, "tx=rollback": false}, true},
		{"rollback", map[string]bool{"": false, "tx=commit": false, "tx=rollback": false}, false},
		{"rollback-allow-override", map[string]bool{"": false, "tx=commit": true, "tx=rollback": false}, true},
	} {
		t.Run(mode.name, func(t *testing.T) {
			settings := apitest.Settings(t, database.URL)
			settings.RestTxEnd = mode.name
			s := apitest.Over(t, database, settings)
			for preferred, kept := range mode.kept {
				applied := "Preference-Applied:"
				if mode.overrides && preferred != "" {
					applied += " " + preferred
				}
				prefer := "Prefer: " + preferred
				after := `[]`
				if kept {
					after = `[{"id":1}]`
				}
				database.Exec(t, `truncate entry`)
				run(t, s, []exchange{
					{name: "a write " + preferred, method: "POST", path: "entry", headers: []string{prefer}, body: `{"id":1}`, status: 201, header: []string{applied}},
					{name: "what is left of a write " + preferred, path: "entry?select=id", status: 200, want: after},
				})
				database.Exec(t, `truncate entry`)
				run(t, s, []exchange{
					{name: "a call " + preferred, method: "POST", path: "rpc/add_entry", headers: []string{prefer}, body: `{"i":1}`, status: 200, want: "1", header: []string{applied}},
					{name: "what is left of a call " + preferred, path: "entry?select=id", status: 200, want: after},
				})
				database.Exec(t, `truncate entry; insert into entry values (1), (2)`)
				run(t, s, []exchange{
					{name: "a read " + preferred, path: "entry?select=id&order=id", headers: []string{prefer}, status: 200, want: `[{"id":1},{"id":2}]`, header: []string{applied}},
					{name: "a constraint of the commit " + preferred, method: "POST", path: "child", headers: []string{prefer}, body: `{"id":1,"parent":9}`, status: 409, has: []string{`"23503"`}},
					{name: "strict handling " + preferred, path: "entry?select=id&limit=0", headers: []string{strings.TrimSuffix("Prefer: handling=strict, "+preferred, ", ")}, status: 200, want: `[]`},
				})
			}
			if mode.overrides {
				database.Exec(t, `truncate entry`)
				run(t, s, []exchange{
					{name: "the rows of a write that is undone", method: "POST", path: "entry", headers: []string{"Prefer: tx=rollback, return=representation"}, body: `[{"id":5},{"id":6}]`,
						status: 201, want: `[{"id":5,"v":"d"},{"id":6,"v":"d"}]`, header: []string{"Preference-Applied: return=representation, tx=rollback"}},
					{name: "a write that is checked and undone", method: "POST", path: "entry", headers: []string{"Prefer: tx=rollback, return=representation", "Accept: application/vnd.pgrst.object+json"},
						body: `{"id":5}`, status: 201, want: `{"id":5,"v":"d"}`},
					{name: "an update that is undone", method: "PATCH", path: "entry?id=gt.0", headers: []string{"Prefer: tx=rollback"}, body: `{"v":"x"}`, status: 204},
					{name: "nothing is left of them", path: "entry", status: 200, want: `[]`},
				})
			}
			s.Stop(t)
		})
	}
}

const guarded = `
create schema guard;
grant usage on schema guard to public;
create function guard.check() returns void language plpgsql as $$
declare
  headers json := current_setting('request.headers')::json;
begin
  perform set_config('my.seen', current_user || ' ' || current_setting('request.method') || ' ' || current_setting('request.path'), true);
  perform set_config('my.path', current_setting('search_path'), true);
  if headers ->> 'x-stop' is not null then
    raise sqlstate 'PT429' using message = 'slow down', hint = 'wait';
  end if;
  if headers ->> 'x-answer' is not null then
    raise sqlstate 'PGRST' using message = '{"code":"G1","message":"guarded"}', detail = '{"status":451,"headers":{"X-Guard":"on"}}';
  end if;
  if headers ->> 'x-head' is not null then
    perform set_config('response.headers', '[{"X-Guard":"seen"}]', true), set_config('response.status', '202', true);
  end if;
  if headers ->> 'x-bad' is not null then
    perform set_config('response.headers', '{"X-Guard":"seen"}', true);
  end if;
  if headers ->> 'x-bad-status' is not null then
    perform set_config('response.status', 'many', true);
  end if;
  if headers ->> 'x-role' is not null then
    set local role authenticated;
  end if;
  if headers ->> 'x-zone' is not null then
    perform set_config('timezone', headers ->> 'x-zone', true);
  end if;
  if headers ->> 'x-write' is not null then
    insert into guard.calls values (1);
  end if;
end $$;
create table guard.calls (x int);
grant all on guard.calls to public;
create table entry (id int primary key, seen text default current_setting('my.seen'), t timestamptz default '2026-01-02 03:04:05+00');
insert into entry values (0, 'x');
create view sight as select current_setting('my.seen') as seen, current_setting('my.path') as path;
create view who as select current_user as who;
create function sight_of() returns text language sql stable as $$ select current_setting('my.seen') $$;
create function many() returns setof text language sql stable as $$ select repeat('x', 1000) from generate_series(1, 3000) $$;
` + open

func TestAPreRequestRunsBeforeEachStatement(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, guarded, func(settings *api.Settings) { settings.RestPreRequest = "guard.check" })
	signed, _ := s.SignUp(t, "a@example.com")
	for range 2 { // prepared anew, then as it stands
		run(t, s, []exchange{
			{name: "before a read, as the request's role and in its search path", path: "sight", status: 200, want: `[{"seen":"anon GET /sight","path":"\"public\", \"extensions\""}]`},
			{name: "as a user", path: "sight?select=seen", headers: []string{signed}, status: 200, want: `[{"seen":"authenticated GET /sight"}]`},
			{name: "before a call", path: "rpc/sight_of", status: 200, want: `"anon GET /rpc/sight_of"`},
			{name: "before a call by POST", method: "POST", path: "rpc/sight_of", body: `{}`, status: 200, want: `"anon POST /rpc/sight_of"`},
			{name: "before a write", method: "POST", path: "entry?select=seen", headers: []string{give}, body: `{"id":1}`, status: 201, want: `[{"seen":"anon POST /entry"}]`},
			{name: "before a removal", method: "DELETE", path: "entry?id=eq.1&select=id", headers: []string{give}, status: 200, want: `[{"id":1}]`},
			{name: "it stops a read", path: "sight", headers: []string{"X-Stop: 1"}, status: 429, want: refusal("PT429", "slow down", "", "wait")},
			{name: "it stops a write", method: "POST", path: "entry", headers: []string{"X-Stop: 1"}, body: `{"id":9}`, status: 429, has: []string{"PT429"}},
			{name: "which has not happened", path: "entry?id=eq.9", status: 200, want: `[]`},
			{name: "it gives the whole answer", path: "sight", headers: []string{"X-Answer: 1"}, status: 451, want: refusal("G1", "guarded", "", ""), header: []string{"X-Guard: on"}},
			{name: "it sets headers and the status of a read", path: "entry?select=id&id=eq.0", headers: []string{"X-Head: 1"}, status: 202, decided: true, want: `[{"id":0}]`, header: []string{"X-Guard: seen"}},
			{name: "and of a write", method: "PATCH", path: "entry?id=eq.0", headers: []string{"X-Head: 1"}, body: `{"seen":"y"}`, status: 202, decided: true, header: []string{"X-Guard: seen"}},
			{name: "before anything of a long answer leaves", path: "rpc/many", headers: []string{"X-Head: 1"}, status: 202, decided: true, want: anything, header: []string{"X-Guard: seen"}},
			{name: "headers that are none", path: "sight", headers: []string{"X-Bad: 1"}, status: 500, has: []string{"PGRST111"}},
			{name: "a status that is none", path: "sight", headers: []string{"X-Bad-Status: 1"}, status: 500, has: []string{"PGRST112"}},
			{name: "it changes the role", path: "who", headers: []string{"X-Role: 1"}, status: 200, want: `[{"who":"authenticated"}]`},
			{name: "of its own request", path: "who", status: 200, want: `[{"who":"anon"}]`},
			{name: "it sets the time zone", path: "entry?select=t&id=eq.0", headers: []string{"X-Zone: Asia/Tokyo"}, status: 200, want: `[{"t":"2026-01-02T12:04:05+09:00"}]`},
			{name: "for its own request", path: "entry?select=t&id=eq.0", status: 200, want: `[{"t":"2026-01-02T03:04:05+00:00"}]`},
			{name: "it cannot write before a read", path: "sight", headers: []string{"X-Write: 1"}, status: 405, has: []string{`"25006"`}},
			{name: "it writes before a write", method: "PATCH", path: "entry?id=eq.0", headers: []string{"X-Write: 1"}, body: `{"seen":"y"}`, status: 204},
		})
	}
	var calls int
	if err := s.Database.Pool.QueryRow(t.Context(), `select count(*) from guard.calls`).Scan(&calls); err != nil || calls != 2 {
		t.Errorf("%d writes of the pre-request, %v", calls, err)
	}
}

func TestAPreRequestThatIsNotThereIsNamed(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, guarded, func(settings *api.Settings) { settings.RestPreRequest = `guard.gone"; drop table entry; --` })
	run(t, s, []exchange{{name: "by PostgreSQL", path: "entry", status: 404, has: []string{"42883", "gone"}}})
	s.Database.Exec(t, `create function public."unqualified"() returns int language sql as 'select 1 / 0'`)
	settings := apitest.Settings(t, s.Database.URL)
	settings.RestPreRequest = "unqualified"
	other := apitest.Over(t, s.Database, settings)
	run(t, other, []exchange{{name: "without a schema it is searched", path: "entry", status: 400, has: []string{"22012"}}})
}

func TestTheOperatorsSettingsReachSQL(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, `
create function setting(name text) returns text language sql stable as 'select current_setting(name, true)';
create function deep() returns text language sql set work_mem = '7MB' set statement_timeout = '1234ms' as $$ select setting('work_mem') || ' ' || setting('statement_timeout') $$;
create function outer_memory() returns text language plpgsql set work_mem = '9MB' as $$ begin return deep(); end $$;
create table entry (id int primary key, w text default current_setting('work_mem'));
create function deferred() returns trigger language plpgsql as $$ begin insert into seen values (current_setting('work_mem')); return null; end $$;
create table seen (w text);
create constraint trigger late after insert on entry deferrable initially deferred for each row execute function deferred();
create function add_entry() returns void language sql set work_mem = '11MB' as 'insert into entry values (1)';
`+open, func(settings *api.Settings) {
		settings.AppSettings = auth.Secret(`key="a \"quoted\", value",deep.er=`)
		settings.RestHoisted = []string{"work_mem"}
	})
	run(t, s, []exchange{
		{name: "by their names", path: "rpc/setting?name=app.settings.key", status: 200, want: `"a \"quoted\", value"`},
		{name: "by POST", method: "POST", path: "rpc/setting", body: `{"name":"app.settings.key"}`, status: 200, want: `"a \"quoted\", value"`},
		{name: "one that is empty", path: "rpc/setting?name=app.settings.deep.er", status: 200, want: `""`},
		{name: "one that is not there", path: "rpc/setting?name=app.settings.none", status: 200, want: `null`},
		{name: "a hoisted setting holds to the end of the transaction", method: "POST", path: "rpc/add_entry", body: `{}`, status: 204},
		{name: "as a deferred trigger saw", path: "seen", status: 200, want: `[{"w":"11MB"}]`},
		{name: "a client cannot set them", path: "rpc/setting?name=app.settings.key", headers: []string{"app.settings.key: x", "Prefer: app.settings.key=x"}, status: 200, want: `"a \"quoted\", value"`},
	})
}

func TestTheAnonymousRoleIsTheOperators(t *testing.T) {
	t.Parallel()
	database := storetest.New(t)
	web := newRole(t, database, "_web")
	database.Exec(t, mirrors+`grant `+web+` to authenticator; create table held (id int); revoke all on held from anon, public, authenticated;`)
	settings := apitest.Settings(t, database.URL)
	settings.RestAnonRole = web
	s := apitest.Over(t, database, settings)
	noKey := "Apikey:"
	run(t, s, []exchange{
		{name: "of a request without a token", path: "rpc/who", headers: []string{noKey}, status: 200, want: quote(web)},
		{name: "in the claims", path: "rpc/claim?name=role", headers: []string{noKey}, status: 200, want: quote(web)},
		{name: "of a token that names none", path: "rpc/who", headers: []string{s.Token(t, `{"exp":9999999999}`)}, status: 200, want: quote(web)},
		{name: "the anonymous key keeps its own", path: "rpc/who", status: 200, want: `"anon"`},
		{name: "what it may not is 401", path: "held", headers: []string{noKey}, status: 401, has: []string{`"42501"`}, header: []string{"WWW-Authenticate: Bearer"}},
		{name: "what the anonymous key may not as well", path: "held", status: 401, has: []string{`"42501"`}},
		{name: "what a user may not is 403", path: "held", headers: []string{s.As(t, "authenticated", "")}, status: 403, has: []string{`"42501"`}},
		{name: "it must name the rows that it changes", method: "DELETE", path: "moment", headers: []string{noKey}, status: 400, has: []string{`"21000"`}},
		{name: "so must the anonymous key", method: "DELETE", path: "moment", status: 400, has: []string{`"21000"`}},
	})
	settings.RestAnonRole = ""
	closed := apitest.Over(t, database, settings)
	required := refusal("PGRST302", "Anonymous access is disabled", "", "")
	run(t, closed, []exchange{
		{name: "a request without a token where there must be one", path: "rpc/who", headers: []string{noKey}, status: 401, want: required, header: []string{"WWW-Authenticate: Bearer"}},
		{name: "a token that names no role where it must", path: "rpc/who", headers: []string{closed.Token(t, `{"exp":9999999999}`)}, status: 401, want: required},
		{name: "the anonymous key", path: "rpc/who", status: 200, want: `"anon"`},
		{name: "a user", path: "rpc/who", headers: []string{closed.As(t, "authenticated", "")}, status: 200, want: `"authenticated"`},
	})
}

func TestAnAnonymousRoleThatIsNotThere(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, mirrors, func(settings *api.Settings) { settings.RestAnonRole = "nobody_of_that_name" })
	run(t, s, []exchange{{name: "is refused", path: "rpc/who", headers: []string{"Apikey:"}, status: 401, has: []string{"22023"}}})
}

func TestServerTimingTellsThePartsOfARequest(t *testing.T) {
	t.Parallel()
	timed := apitest.Start(t, entries, func(settings *api.Settings) { settings.ServerTiming = true })
	all := regexp.MustCompile(`^jwt;dur=\d+\.\d{3}, parse;dur=\d+\.\d{3}, plan;dur=\d+\.\d{3}, pool;dur=\d+\.\d{3}, transaction;dur=\d+\.\d{3}, response;dur=\d+\.\d{3}$`)
	for _, e := range []exchange{
		{name: "a read", method: "GET", path: "entry", status: 200},
		{name: "a read of a head", method: "HEAD", path: "entry", status: 200},
		{name: "a write", method: "POST", path: "entry", body: `{"id":1}`, status: 201},
		{name: "a call", method: "POST", path: "rpc/add_entry", body: `{"i":2}`, status: 200},
	} {
		t.Run(e.name, func(t *testing.T) {
			answer := timed.Do(t, e.method, "/rest/v1/"+e.path, e.body)
			if got := answer.Header.Get("Server-Timing"); answer.Status != e.status || !all.MatchString(got) {
				t.Errorf("%d %q", answer.Status, got)
			}
		})
	}
	long := apitest.Start(t, `create view lines as select repeat('x', 1000) as line from generate_series(1, 3000);`+open, func(settings *api.Settings) {
		settings.ServerTiming, settings.MaxRows = true, 0
	})
	answer := long.Do(t, "GET", "/rest/v1/lines", "")
	if got := answer.Header.Get("Server-Timing"); !regexp.MustCompile(`^jwt;dur=\d+\.\d{3}, parse;dur=\d+\.\d{3}, plan;dur=\d+\.\d{3}, pool;dur=\d+\.\d{3}$`).MatchString(got) {
		t.Errorf("a streamed answer: %q", got)
	}
	plain := apitest.Start(t, entries, nil)
	if got := plain.Do(t, "GET", "/rest/v1/entry", "").Header.Values("Server-Timing"); got != nil {
		t.Errorf("nobody asked for %q", got)
	}
}

func TestPathsOfTheRoleClaimLeaveOurKeysAlone(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, mirrors, func(settings *api.Settings) {
		settings.JWTRoleClaim = `.app.roles[?(@ ^== "service")]`
		settings.JWTSecret = auth.Secret(strings.Repeat("s", 40))
	})
	run(t, s, []exchange{
		{name: "the service key", path: "rpc/who", headers: []string{s.Service()}, status: 200, want: `"service_role"`},
		{name: "the anonymous key", path: "rpc/who", status: 200, want: `"anon"`},
		{name: "a token by its list", path: "rpc/who", headers: []string{s.Token(t, `{"exp":9999999999,"role":"x","app":{"roles":["x","service_role"]}}`)}, status: 200, want: `"service_role"`},
		{name: "a token without a match", path: "rpc/who", headers: []string{s.Token(t, `{"exp":9999999999,"app":{"roles":["x"]}}`)}, status: 200, want: `"anon"`},
	})
}
