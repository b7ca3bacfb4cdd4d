package admin_test

import (
	"net/http"
	"strings"
	"testing"

	"basalt/api/apitest"
	"basalt/auth/administrator"
)

const restSchema = `
	create schema shop;
	create schema "Ödland";
	create table shop.orders (id bigint primary key, total numeric);
	insert into shop.orders values (9223372036854775807, 1234567890123456789012345678901234567890.5), (2, 'NaN');
	create table "Ödland"."my table" ("a b" int);
	create table notes (id int primary key, owner uuid, body json);
	insert into notes values (1, null, '{"a" :  1}');
	alter table notes enable row level security;
	create policy own on notes using (owner = auth.uid());
	grant all on notes to anon, authenticated;
	create function is_superuser() returns text language sql stable as $$ select current_setting('is_superuser') $$;
	create function exec_sql(q text) returns text language plpgsql as $$ declare r text; begin execute q into r; return r; end $$;
	create function cookies() returns text language sql stable as $$ select coalesce(current_setting('request.cookies', true), '') || current_setting('request.headers', true) $$`

func TestTheRESTOfAllSchemas(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, restSchema, administrator.Editor)
	_, ada := d.SignUp(t, "ada@example.com")
	d.Database.Exec(t, `insert into notes values (2, '`+ada+`', null)`)
	for _, test := range []struct {
		name, method, path, body string
		headers                  []string
		status                   int
		want                     string
	}{
		{"a table of another schema, exactly", "GET", "/rest/orders?order=id", "", []string{"Accept-Profile: shop"}, 200, `{"id":9223372036854775807,"total":1234567890123456789012345678901234567890.5}`},
		{"a table whose name is quoted", "POST", "/rest/my%20table", `{"a b":1}`, []string{"Content-Profile: %C3%96dland", "Prefer: return=representation"}, 406, ""},
		{"the owner sees all rows", "GET", "/rest/notes?select=id,body", "", nil, 200, `[{"id":1,"body":{"a" :  1}},`},
		{"anon sees none", "GET", "/rest/notes", "", []string{"X-View-As-Role: anon"}, 200, `[]`},
		{"a user sees theirs", "GET", "/rest/notes?select=id", "", []string{"X-View-As-User: " + ada}, 200, `[{"id":2}]`},
		{"accounts are there", "GET", "/rest/users?select=email", "", []string{"Accept-Profile: auth"}, 200, "ada@example.com"},
		{"the system's own schema is not", "GET", "/rest/administrators", "", []string{"Accept-Profile: basalt"}, 406, ""},
		{"CSV", "GET", "/rest/notes?select=id", "", []string{"Accept: text/csv"}, 200, "id\n1\n2"},
		{"NDJSON", "GET", "/rest/notes?select=id", "", []string{"Accept: application/x-ndjson"}, 200, "{\"id\":1}\n{\"id\":2}\n"},
		{"a plan", "GET", "/rest/notes", "", []string{"Accept: application/vnd.pgrst.plan+json"}, 200, `"Plan"`},
		{"an unknown role", "GET", "/rest/notes", "", []string{"X-View-As-Role: nobody"}, 400, `"22023"`},
		{"its name is told", "POST", "/rest/notes", `{"id":9}`, []string{"X-View-As-Role: nobody"}, 400, "nobody"},
		{"a right that anon lacks", "GET", "/rest/orders", "", []string{"Accept-Profile: shop", "X-View-As-Role: anon"}, 403, `"42501"`},
		{"an editor calls functions", "GET", "/rest/rpc/is_superuser", "", nil, 200, `"on"`},
		{"an editor writes", "PATCH", "/rest/notes?id=eq.1", `{"body":[1]}`, []string{"Prefer: return=representation"}, 200, `[1]`},
		{"the session of the administrator is hidden from functions", "GET", "/rest/rpc/cookies", "", nil, 200, `"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			answer := d.call(t, test.method, test.path, test.body, test.headers...)
			if answer.Status != test.status || !strings.Contains(answer.Body, test.want) {
				t.Errorf("%d %s", answer.Status, answer.Body)
			}
			if strings.Contains(answer.Body, "basalt_admin") {
				t.Errorf("the cookie is shown: %s", answer.Body)
			}
		})
	}
	t.Run("a schema that comes later", func(t *testing.T) {
		d.Database.Exec(t, `create schema later; create table later.things (id int)`)
		apitest.Until(t, "it is there", func() bool {
			return d.call(t, "GET", "/rest/things", nil, "Accept-Profile: later").Status == http.StatusOK
		})
		d.Database.Exec(t, `drop schema later cascade`)
		apitest.Until(t, "it is gone", func() bool {
			return d.call(t, "GET", "/rest/things", nil, "Accept-Profile: later").Status == http.StatusNotAcceptable
		})
	})
}

func TestCallsOfFunctionsNeedTheHeaderOfTheDashboard(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, restSchema, administrator.Editor)
	cookie := d.headers[0]
	for _, path := range []string{"/rest/rpc/is_superuser", "/rest/%72pc/is_superuser", "/rest//rpc/is_superuser"} {
		for _, method := range []string{"GET", "HEAD", "POST"} {
			answer := d.Do(t, method, "/admin/api"+path, "", cookie)
			if answer.Status != http.StatusForbidden || method != "HEAD" && !strings.Contains(answer.Body, "header_missing") {
				t.Errorf("%s %s: %d %s", method, path, answer.Status, answer.Body)
			}
		}
	}
	if answer := d.Do(t, "GET", "/admin/api/rest/notes?select=id", "", cookie); answer.Status != http.StatusOK {
		t.Errorf("a read: %d %s", answer.Status, answer.Body)
	}
}

func TestViewersReadAndDoNotWrite(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, restSchema, administrator.Viewer)
	for _, test := range []struct {
		name, method, path string
		headers            []string
		status             int
		want               string
	}{
		{"rows, whatever policies say", "GET", "/rest/notes?select=id", nil, 200, `[{"id":1}]`},
		{"writing", "POST", "/rest/notes", nil, 403, "role_too_low"},
		{"a function", "GET", "/rest/rpc/is_superuser", nil, 403, "cannot call functions"},
		{"a function under another spelling", "GET", "/rest/%72pc/exec_sql?q=select%201", nil, 403, "cannot call functions"},
		{"a statement that takes the role of the public back", "GET", "/rest/rpc/exec_sql?q=select%20set_config('role','none',true)%7C%7Ccurrent_setting('is_superuser')", []string{"X-View-As-Role: anon"}, 403, "cannot call functions"},
		{"as the owner by name", "GET", "/rest/notes", []string{"X-View-As-Role: postgres"}, 403, "anon, authenticated or service_role"},
		{"hashes of passwords", "GET", "/rest/users?select=encrypted_password", []string{"Accept-Profile: auth"}, 403, "42501"},
		{"changing rows", "POST", "/rows/public/notes", nil, 403, "role_too_low"},
	} {
		t.Run(test.name, func(t *testing.T) {
			answer := d.call(t, test.method, test.path, nil, test.headers...)
			if answer.Status != test.status || !strings.Contains(answer.Body, test.want) {
				t.Errorf("%d %s", answer.Status, answer.Body)
			}
		})
	}
}
