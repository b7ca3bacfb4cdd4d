package rest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"basalt/api/apitest"
	"basalt/store/storetest"
)

const mirrors = `
create function setting(name text) returns text language sql stable as 'select current_setting(name, true)';
create function header(name text) returns text language sql stable as $$ select current_setting('request.headers')::json ->> lower(name) $$;
create function cookie(name text) returns text language sql stable as $$ select nullif(current_setting('request.cookies', true), '')::json ->> name $$;
create function claim(name text) returns text language sql stable as $$ select current_setting('request.jwt.claims')::json ->> name $$;
create function who() returns text language sql stable as 'select current_user::text';
create function time_of(t timestamptz default '2026-01-02 03:04:05+00') returns timestamptz language sql stable as 'select t';
create table moment (id int primary key, t timestamptz);
insert into moment values (1, '2026-01-02 03:04:05+00');
` + open

func TestSQLSeesTheRequest(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, mirrors, nil)
	signed, id := s.SignUp(t, "a@example.com")
	run(t, s, []exchange{
		{name: "its method", path: "rpc/setting?name=request.method", status: 200, want: `"GET"`},
		{name: "its method by POST", method: "POST", path: "rpc/setting", body: `{"name":"request.method"}`, status: 200, want: `"POST"`},
		{name: "its path", path: "rpc/setting?name=request.path", status: 200, want: `"/rpc/setting"`},
		{name: "its headers in lower case", path: "rpc/header?name=x-weird", headers: []string{`X-WEIRD: a "quoted\" é`}, status: 200, want: `"a \"quoted\\\" é"`},
		{name: "its host", path: "rpc/header?name=host", status: 200, want: quote(strings.TrimPrefix(s.URL, "http://"))},
		{name: "a header that it lacks", path: "rpc/header?name=x-none", status: 200, want: "null"},
		{name: "its cookies", path: "rpc/cookie?name=b", headers: []string{`Cookie: a=1; b="2 3"`}, status: 200, want: anything, has: []string{"2 3"}},
		{name: "no cookies of administrators", path: "rpc/cookie?name=basalt_admin", headers: []string{`Cookie: basalt_admin=token; b=1`}, status: 200, want: "null"},
		{name: "the cookies behind those", path: "rpc/cookie?name=b", headers: []string{`Cookie: __Host-basalt_admin=token; b=1`}, status: 200, want: anything, has: []string{"1"}},
		{name: "no cookies", path: "rpc/cookie?name=b", status: 200, want: "null"},
		{name: "no cookies among the headers", path: "rpc/header?name=cookie", headers: []string{`Cookie: a=1`}, status: 200, want: "null"},
		{name: "the claims of the anonymous", path: "rpc/claim?name=role", headers: []string{"Apikey:"}, status: 200, want: `"anon"`},
		{name: "the claims of the service", path: "rpc/claim?name=role", headers: []string{s.Service()}, status: 200, want: `"service_role"`},
		{name: "the claims of a user", path: "rpc/claim?name=sub", headers: []string{signed}, status: 200, want: quote(id)},
		{name: "claims digit for digit", path: "rpc/claim?name=big", headers: []string{s.As(t, "authenticated", `"big":12345678901234567890.10`)}, status: 200, want: `"12345678901234567890.10"`},
		{name: "the role of the anonymous", path: "rpc/who", headers: []string{"Apikey:"}, status: 200, want: `"anon"`},
		{name: "the role of a user", path: "rpc/who", headers: []string{signed}, status: 200, want: `"authenticated"`},
		{name: "the role of the service", path: "rpc/who", headers: []string{s.Service()}, status: 200, want: `"service_role"`},
		{name: "a token without a role is anonymous", path: "rpc/who", headers: []string{s.Token(t, fmt.Sprintf(`{"exp":%d}`, time.Now().Add(time.Hour).Unix()))}, status: 200, want: `"anon"`},
		{name: "that reads cannot write", path: "rpc/setting?name=transaction_read_only", status: 200, want: `"on"`},
		{name: "the search path", path: "rpc/setting?name=search_path", status: 200, want: `"\"public\", \"extensions\""`},
	})
}

func TestTimesFollowThePreferredTimeZone(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, mirrors, nil)
	zone := func(name string) []string { return []string{"Prefer: timezone=" + name} }
	run(t, s, []exchange{
		{name: "by its name", path: "moment?select=t", headers: zone("Asia/Kolkata"), status: 200, want: `[{"t":"2026-01-02T08:34:05+05:30"}]`, header: []string{"Preference-Applied: timezone=Asia/Kolkata"}},
		{name: "by its name in quotes", path: "moment?select=t", headers: zone(`"America/New_York"`), status: 200, want: `[{"t":"2026-01-01T22:04:05-05:00"}]`},
		{name: "none", path: "moment?select=t", status: 200, want: `[{"t":"2026-01-02T03:04:05+00:00"}]`, header: []string{"Preference-Applied:"}},
		{name: "again by its name", path: "moment?select=t", headers: zone("Asia/Kolkata"), status: 200, want: `[{"t":"2026-01-02T08:34:05+05:30"}]`},
		{name: "in filters", path: "moment?select=id&t=eq.2026-01-02T08:34:05", headers: zone("Asia/Kolkata"), status: 200, want: `[{"id":1}]`},
		{name: "in a function", path: "rpc/time_of", headers: zone("UTC"), status: 200, want: `"2026-01-02T03:04:05+00:00"`},
		{name: "in a write", method: "PATCH", path: "moment?id=eq.1&select=t", headers: []string{give + ", timezone=Europe/Berlin"}, body: `{"t":"2026-07-01 12:00"}`, status: 200, want: `[{"t":"2026-07-01T12:00:00+02:00"}]`},
		{name: "that is none", path: "moment", headers: zone("Mars/Olympus"), status: 400, has: []string{`"22023"`}},
		{name: "that would be SQL", path: "moment", headers: zone("UTC'; drop table moment; --"), status: 400, has: []string{`"22023"`}},
	})
	// What a numeric offset means is PostgreSQL's business; the answer must be as PostgreSQL itself writes it.
	for _, offset := range []string{"05:30", "-3", "+02:00", "5.5", "UTC+3", "<+0530>-5:30", "EST5EDT"} {
		var want string
		conn, err := s.Database.Pool.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		err = conn.QueryRow(t.Context(), `select set_config('timezone', $1, false), to_json(t)::text from moment`, offset).Scan(new(string), &want)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = conn.Exec(t.Context(), `reset timezone`)
		conn.Release()
		run(t, s, []exchange{{name: "offset " + offset, path: "moment?select=t", headers: zone(offset), status: 200, want: `[{"t":` + want + `}]`}})
	}
}

func TestPreferencesAreAppliedAndToldInOrder(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, stock, nil)
	run(t, s, []exchange{
		{name: "all that an insert honours", method: "POST", path: "item?select=code", body: `{"code":"p1"}`,
			headers: []string{"Prefer: timezone=UTC, handling=lenient, count=exact, return=representation, missing=default, resolution=ignore-duplicates"}, status: 201, want: `[{"code":"p1"}]`,
			header: []string{"Preference-Applied: resolution=ignore-duplicates, missing=default, return=representation, count=exact, handling=lenient, timezone=UTC"}},
		{name: "the first of a kind counts", path: "item?limit=1&select=n", headers: []string{"Prefer: count=exact, count=planned"}, status: 206, want: anything, header: []string{"Preference-Applied: count=exact"}},
		{name: "what reads do not honour is not told", path: "item?limit=0", headers: []string{"Prefer: return=minimal, resolution=merge-duplicates, missing=default, max-affected=1"}, status: 200, want: `[]`, header: []string{"Preference-Applied:"}},
		{name: "unknown ones do not matter", path: "item?limit=0", headers: []string{"Prefer: wait=10, respond-async, ,;=", "X-A: b"}, status: 200, want: `[]`, header: []string{"Preference-Applied:"}},
		{name: "unknown ones are refused when handling is strict", path: "item", headers: []string{"Prefer: handling=strict, wait=10, count=none"}, status: 400,
			want: refusal("PGRST122", "Invalid preferences given with handling=strict", "Invalid preferences: wait=10, count=none", "")},
		{name: "a transaction cannot be given up", method: "POST", path: "item", headers: []string{"Prefer: tx=rollback"}, body: `{"code":"p2"}`, status: 201, header: []string{"Preference-Applied:"}},
		{name: "indeed not", path: "item?code=eq.p2&select=code", status: 200, want: `[{"code":"p2"}]`},
		{name: "blanks and empty ones", path: "item?limit=0", headers: []string{"Prefer:  ,  count = exact  , "}, status: 206, want: `[]`, header: []string{"Preference-Applied: count=exact"}},
	})
}

// newRole makes a role with a name of its own on the server, which other tests share.
func newRole(t *testing.T, db *storetest.Database, suffix string) string {
	t.Helper()
	var name string
	if err := db.Pool.QueryRow(t.Context(), `select current_database() || $1`, suffix).Scan(&name); err != nil {
		t.Fatal(err)
	}
	db.Exec(t, "create role "+name)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		for _, command := range []string{"drop owned by ", "drop role "} {
			if _, err := db.Pool.Exec(ctx, command+name); err != nil {
				t.Errorf("%s%s: %v", command, name, err)
			}
		}
	})
	return name
}

func TestRolesOfTokens(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	editor, stranger := newRole(t, db, "_editor"), newRole(t, db, "_stranger")
	db.Exec(t, mirrors+`
		grant `+editor+` to authenticator;
		alter role `+editor+` set statement_timeout = '1234ms';
		alter role `+editor+` set timezone = 'Asia/Tokyo';
		alter role `+editor+` set default_transaction_isolation = 'repeatable read';
		create table held (id int primary key); insert into held values (1); revoke all on held from anon, authenticated; grant select on held to `+editor+`;
		create function isolation() returns text language sql as $$ select current_setting('transaction_isolation') $$;
		create function serial() returns text language sql set default_transaction_isolation = 'serializable' as $$ select current_setting('transaction_isolation') $$;
		create function hasty() returns text language sql set statement_timeout = '50ms' as $$ select pg_sleep(30)::text $$;`)
	s := apitest.Over(t, db, apitest.Settings(t, db.URL))
	as := func(role string) []string { return []string{s.As(t, role, "")} }
	run(t, s, []exchange{
		{name: "one that authenticator may become", path: "rpc/who", headers: as(editor), status: 200, want: quote(editor)},
		{name: "has its own privileges", path: "held", headers: as(editor), status: 200, want: `[{"id":1}]`},
		{name: "which others have not", path: "held", headers: as("authenticated"), status: 403, has: []string{`"42501"`}},
		{name: "has its own settings", path: "rpc/setting?name=statement_timeout", headers: as(editor), status: 200, want: `"1234ms"`},
		{name: "and its own time zone", path: "moment?select=t", headers: as(editor), status: 403, has: []string{"42501"}},
		{name: "in functions", path: "rpc/time_of", headers: as(editor), status: 200, want: `"2026-01-02T12:04:05+09:00"`},
		{name: "which a preference overrules", path: "rpc/time_of", headers: append(as(editor), "Prefer: timezone=UTC"), status: 200, want: `"2026-01-02T03:04:05+00:00"`},
		{name: "and its own isolation", method: "POST", path: "rpc/isolation", headers: as(editor), status: 200, want: `"repeatable read"`},
		{name: "which a function's own overrules", method: "POST", path: "rpc/serial", headers: as(editor), status: 200, want: `"serializable"`},
		{name: "in reads as well", path: "rpc/isolation", headers: as(editor), status: 200, want: `"repeatable read"`},
		{name: "that others do not have", method: "POST", path: "rpc/isolation", status: 200, want: `"read committed"`},
		{name: "a function's own timeout holds from the beginning", method: "POST", path: "rpc/hasty", status: 500, has: []string{`"57014"`}},
		{name: "one that authenticator may not become", path: "rpc/who", headers: as(stranger), status: 401, has: []string{`"22023"`, "does not exist"}},
		{name: "one that does not exist reads the same", path: "rpc/who", headers: as("no_such_role"), status: 401, has: []string{`"22023"`, "does not exist"}},
		{name: "the superuser", path: "rpc/who", headers: as("postgres"), status: 401, has: []string{`"22023"`}},
		{name: "authenticator itself", path: "rpc/who", headers: as("authenticator"), status: 401, has: []string{`"22023"`}},
		{name: "none", path: "rpc/who", headers: as("none"), status: 401, has: []string{`"22023"`}},
		{name: "one that would be SQL", path: "rpc/who", headers: as(`anon"; drop table held; --`), status: 401, has: []string{`"22023"`}},
		{name: "one that is no text", path: "rpc/who", headers: []string{s.Token(t, `{"role":["anon"],"exp":9999999999}`)}, status: 401, has: []string{"PGRST303"}},
		{name: "an expired token", path: "held", headers: []string{s.Token(t, `{"role":"anon","exp":1000}`)}, status: 401, has: []string{"PGRST303", "JWT expired"},
			header: []string{`WWW-Authenticate: Bearer error="invalid_token", error_description="JWT expired"`}},
		{name: "a time that is no number", path: "held", headers: []string{s.Token(t, `{"role":"anon","exp":"soon"}`)}, status: 401, has: []string{"PGRST303", "The JWT 'exp' claim must be a number"}},
		{name: "a token without a signature", path: "held", headers: []string{"Authorization: Bearer eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.eyJyb2xlIjoic2VydmljZV9yb2xlIiwiZXhwIjo5OTk5OTk5OTk5fQ."}, status: 401, has: []string{"PGRST301"}},
	})
}

func TestSettingsNeverOutliveTheirRequest(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, `
create function leave() returns void language plpgsql as $$
begin
  perform set_config('request.jwt.claims', '{"role":"service_role","sub":"x"}', false), set_config('search_path', 'pg_catalog', false),
    set_config('timezone', 'Asia/Tokyo', false), set_config('my.secret', 'left', false), pg_advisory_lock(4711);
end $$;
create function leave_role() returns void language plpgsql as $$ begin set role service_role; end $$;
create function left_behind() returns json language sql volatile as $$
  select json_build_object('user', current_user, 'secret', current_setting('my.secret', true), 'zone', current_setting('timezone'),
    'locks', (select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()), 'sub', current_setting('request.jwt.claims')::json ->> 'sub')
$$;`, onePooled)
	clean := exchange{name: "leaves nothing", method: "POST", path: "rpc/left_behind", status: 200, has: []string{`"user" : "anon"`, `"secret" : `, `"locks" : 0`, `"sub" : null`}}
	before := s.Do(t, "POST", "/rest/v1/rpc/left_behind", "").Body
	run(t, s, []exchange{
		{name: "a function that sets for the session", method: "POST", path: "rpc/leave", status: 204}, clean,
		{name: "a function that sets the role", method: "POST", path: "rpc/leave_role", headers: []string{s.Service()}, status: 204}, clean,
	})
	if after := s.Do(t, "POST", "/rest/v1/rpc/left_behind", "").Body; strings.Replace(after, `"secret" : ""`, `"secret" : null`, 1) != before {
		t.Errorf("a session is left as %s, was %s", after, before)
	}
}
