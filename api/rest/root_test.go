package rest_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"basalt/api"
	"basalt/api/apitest"
)

// library is a schema with something of everything that a description tells. private is not exposed; second is.
const library = `
comment on schema public is E'A library\nIt lends books.\nTo people.';
create schema second;
create schema private;
create type mood as enum ('sad', 'ok');
create domain score as int default 3;
create table authors (
  id bigint generated always as identity primary key,
  name varchar(40) not null
);
comment on table authors is E'Those who write\n\nAnd those who wrote.';
comment on column authors.name is 'As on the cover';
create table books (
  id int primary key,
  author bigint not null references authors,
  title text not null default 'untitled',
  pages smallint default 42,
  lost boolean not null default false,
  price numeric default 9.5,
  since date default '1900-01-01',
  feeling mood default 'ok',
  code char(3),
  tags text[],
  notes jsonb default '{}',
  rating score,
  shout text generated always as (upper(title)) stored
);
create view titles as select id, title, author from books;
create view counts as select count(*) as n from books;
create table secrets (id int primary key, text text);
create table inbox (id int primary key, text text);
create table "Odd {name}/x" ("a b" int primary key, "c.d" text);
create table second.letters (id int primary key);
create function lend(book int, days int default 14) returns setof books language sql as 'select * from books';
comment on function lend(int, int) is E'Lends a book\n\nFor some days.';
create function add(a int, b int) returns int language sql immutable as 'select a + b';
create function add(a int) returns int language sql immutable as 'select a';
create function total(variadic xs int[]) returns int language sql stable as 'select 1';
create function whole(json) returns json language sql as 'select $1';
create function positional(int) returns int language sql as 'select $1';
create function halves(n int, out low int, out high int) language sql as 'select 1, 2';
create function forbidden() returns int language sql as 'select 1';
create function private.check() returns void language plpgsql as $$
begin
  if current_setting('request.headers')::json ->> 'x-refused' is not null then
    raise 'refused';
  end if;
end $$;
grant usage on schema private to anon;
create domain "application/openapi+json" as json;
create function own_description() returns "application/openapi+json" language sql stable as $$ select '{"openapi": "3.0.0"}'::json $$;
create function welcome() returns json language sql stable as $$ select '{"hello": "you"}'::json $$;
grant usage on schema public, second to anon, service_role;
grant all on all tables in schema public, second to anon, service_role;
grant execute on all functions in schema public to anon, service_role;
revoke all on secrets from anon, public;
revoke all on inbox from anon, public;
grant insert on inbox to anon;
revoke update, delete on books from anon;
revoke execute on function forbidden() from anon, public;
grant execute on function forbidden() to service_role;
`

// document is a description as far as the tests look into it.
type document map[string]any

// at follows keys into the document.
func (d document) at(keys ...string) any {
	var value any = map[string]any(d)
	for _, key := range keys {
		inner, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = inner[key]
	}
	return value
}

// expect compares a part of the document with JSON; "" stands for nothing.
func (d document) expect(t *testing.T, want string, keys ...string) {
	t.Helper()
	var wanted any
	if want != "" {
		if err := json.Unmarshal([]byte(want), &wanted); err != nil {
			t.Fatal(err)
		}
	}
	if got := d.at(keys...); !reflect.DeepEqual(got, wanted) {
		text, _ := json.Marshal(got)
		t.Errorf("%s is %s, want %s", strings.Join(keys, " "), text, want)
	}
}

func describe(t *testing.T, s *apitest.Server, headers ...string) document {
	t.Helper()
	answer := s.Do(t, "GET", "/rest/v1/", "", headers...)
	if answer.Status != http.StatusOK {
		t.Fatalf("%d %s", answer.Status, answer.Body)
	}
	var d document
	if err := json.Unmarshal([]byte(answer.Body), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func startLibrary(t *testing.T, change func(*api.Settings)) *apitest.Server {
	return apitest.Start(t, library, func(settings *api.Settings) {
		settings.Schemas = []string{"public", "second"}
		if change != nil {
			change(settings)
		}
	})
}

func TestTheRootDescribesWhatTheRoleMayUse(t *testing.T) {
	t.Parallel()
	s := startLibrary(t, nil)
	d := describe(t, s)
	d.expect(t, `"2.0"`, "swagger")
	d.expect(t, `{"title":"A library","description":"It lends books.\nTo people.","version":"test"}`, "info")
	d.expect(t, `"/rest/v1"`, "basePath")
	d.expect(t, `["http"]`, "schemes")
	d.expect(t, `"`+strings.TrimPrefix(s.URL, "http://")+`"`, "host")
	d.expect(t, "", "securityDefinitions")
	d.expect(t, "", "security")

	d.expect(t, `"Those who write"`, "paths", "/authors", "get", "summary")
	d.expect(t, `"And those who wrote."`, "paths", "/authors", "get", "description")
	d.expect(t, `["authors"]`, "paths", "/authors", "post", "tags")
	d.expect(t, `[{"$ref":"#/parameters/rowFilter.authors.id"},{"$ref":"#/parameters/rowFilter.authors.name"},{"$ref":"#/parameters/select"},
		{"$ref":"#/parameters/order"},{"$ref":"#/parameters/range"},{"$ref":"#/parameters/rangeUnit"},{"$ref":"#/parameters/offset"},
		{"$ref":"#/parameters/limit"},{"$ref":"#/parameters/preferCount"}]`, "paths", "/authors", "get", "parameters")
	d.expect(t, `[{"$ref":"#/parameters/body.authors"},{"$ref":"#/parameters/select"},{"$ref":"#/parameters/preferPost"}]`, "paths", "/authors", "post", "parameters")
	d.expect(t, `{"type":"array","items":{"$ref":"#/definitions/authors"}}`, "paths", "/authors", "get", "responses", "200", "schema")
	d.expect(t, `{"name":"name","description":"As on the cover","in":"query","type":"string","required":false}`, "parameters", "rowFilter.authors.name")

	for path, methods := range map[string]string{
		"/":                     "get",
		"/authors":              "delete get patch post",
		"/books":                "get post",
		"/titles":               "delete get patch post",
		"/counts":               "get",
		"/inbox":                "post",
		"/Odd%20%7Bname%7D%2Fx": "delete get patch post",
		"/rpc/lend":             "post",
		"/rpc/add":              "get post",
		"/rpc/total":            "get post",
		"/rpc/whole":            "post",
		"/rpc/halves":           "post",
		"/rpc/welcome":          "get post",
		"/secrets":              "", // no right to anything
		"/letters":              "", // of another schema
		"/rpc/forbidden":        "",
		"/rpc/positional":       "", // its argument has no name
	} {
		item, _ := d.at("paths", path).(map[string]any)
		if got := strings.Join(slices.Sorted(maps.Keys(item)), " "); got != methods {
			t.Errorf("%s takes %q, want %q", path, got, methods)
		}
	}
	d.expect(t, "", "definitions", "secrets")

	service := describe(t, s, s.Service())
	service.expect(t, `["secrets"]`, "paths", "/secrets", "get", "tags")
	service.expect(t, `["(rpc) forbidden"]`, "paths", "/rpc/forbidden", "post", "tags")
	service.expect(t, `["books"]`, "paths", "/books", "patch", "tags")

	second := describe(t, s, "Accept-Profile: second")
	second.expect(t, `["letters"]`, "paths", "/letters", "get", "tags")
	second.expect(t, "", "paths", "/books")
	second.expect(t, `"Basalt API"`, "info", "title")
}

func TestColumnsAreDescribedWithTheirTypesKeysAndDefaults(t *testing.T) {
	t.Parallel()
	d := describe(t, startLibrary(t, nil))
	d.expect(t, `{
		"type": "object",
		"description": "Those who write\n\nAnd those who wrote.",
		"properties": {
			"id": {"type": "integer", "format": "int64", "description": "Note:\nThis is a Primary Key.<pk/>"},
			"name": {"type": "string", "format": "character varying", "maxLength": 40, "description": "As on the cover"}
		},
		"required": ["id", "name"]
	}`, "definitions", "authors")
	const key = "Note:\\nThis is a Foreign Key to `authors.id`.<fk table='authors' column='id'/>"
	for column, want := range map[string]string{
		"author":  `{"type":"integer","format":"int64","description":"` + key + `"}`,
		"title":   `{"type":"string","format":"text","default":"untitled"}`,
		"pages":   `{"type":"integer","format":"int32","default":42}`,
		"lost":    `{"type":"boolean","format":"boolean","default":false}`,
		"price":   `{"type":"number","format":"numeric","default":9.5}`,
		"since":   `{"type":"string","format":"date","default":"1900-01-01"}`,
		"feeling": `{"type":"string","format":"public.mood","default":"ok","enum":["sad","ok"]}`,
		"code":    `{"type":"string","format":"character","maxLength":3}`,
		"tags":    `{"type":"array","format":"text[]","items":{"type":"string"}}`,
		"notes":   `{"format":"jsonb"}`,
		"rating":  `{"type":"integer","format":"int32","default":3}`,
		"shout":   `{"type":"string","format":"text"}`,
	} {
		d.expect(t, want, "definitions", "books", "properties", column)
	}
	d.expect(t, `["id","author","title","lost"]`, "definitions", "books", "required")
	// A view has the keys of the tables below.
	d.expect(t, `{"type":"integer","format":"int64","description":"`+key+`"}`, "definitions", "titles", "properties", "author")
	d.expect(t, `{"type":"integer","format":"int32","description":"Note:\nThis is a Primary Key.<pk/>"}`, "definitions", "titles", "properties", "id")
}

func TestFunctionsAreDescribedWithTheirArguments(t *testing.T) {
	t.Parallel()
	d := describe(t, startLibrary(t, nil))
	d.expect(t, `"Lends a book"`, "paths", "/rpc/lend", "post", "summary")
	d.expect(t, `"For some days."`, "paths", "/rpc/lend", "post", "description")
	d.expect(t, `[{"name":"args","in":"body","required":true,"schema":{
		"type":"object","description":"Lends a book\n\nFor some days.",
		"properties":{"book":{"type":"integer","format":"int32"},"days":{"type":"integer","format":"int32"}},
		"required":["book"]}},{"$ref":"#/parameters/preferParams"}]`, "paths", "/rpc/lend", "post", "parameters")
	// Overloads share a path: what one of them can do without is not required.
	d.expect(t, `[{"name":"a","in":"query","required":true,"type":"integer","format":"int32"},
		{"name":"b","in":"query","required":false,"type":"integer","format":"int32"}]`, "paths", "/rpc/add", "get", "parameters")
	d.expect(t, `[{"name":"xs","in":"query","required":true,"type":"array","items":{"type":"integer","format":"int32"},"collectionFormat":"multi"}]`,
		"paths", "/rpc/total", "get", "parameters")
	d.expect(t, `[{"name":"args","in":"body","required":true,"schema":{"format":"json"}},{"$ref":"#/parameters/preferParams"}]`,
		"paths", "/rpc/whole", "post", "parameters")
	d.expect(t, `["application/json"]`, "paths", "/rpc/whole", "post", "consumes")

	three := describe(t, startLibrary(t, nil), "Accept: application/openapi+json;version=3.1")
	three.expect(t, `{"type":"array","items":{"$ref":"#/components/schemas/books"}}`,
		"paths", "/rpc/lend", "post", "responses", "200", "content", "application/json", "schema")
	three.expect(t, `{"anyOf":[
		{"type":"object","properties":{"a":{"type":"integer","format":"int32"},"b":{"type":"integer","format":"int32"}},"required":["a","b"],"additionalProperties":false},
		{"type":"object","properties":{"a":{"type":"integer","format":"int32"}},"required":["a"],"additionalProperties":false}]}`,
		"paths", "/rpc/add", "post", "requestBody", "content", "application/json", "schema")
}

func TestTheVersionOfTheDescriptionIsNegotiated(t *testing.T) {
	t.Parallel()
	s := startLibrary(t, nil)
	const swagger, three = `{"swagger":"2.0"`, `{"openapi":"3.1.0"`
	for _, test := range []struct {
		name, path, accept string
		status             int
		begins             string
	}{
		{"nothing said", "", "Accept:", 200, swagger},
		{"anything", "", "Accept: */*", 200, swagger},
		{"JSON", "", "Accept: application/json", 200, swagger},
		{"OpenAPI", "", "Accept: application/openapi+json", 200, swagger},
		{"OpenAPI 2.0", "", "Accept: application/openapi+json; version=2.0", 200, swagger},
		{"OpenAPI 3.1", "", "Accept: application/openapi+json; version=3.1", 200, three},
		{"a patch of it", "", `Accept: application/openapi+json; version="3.1.1"`, 200, three},
		{"its former name", "", "Accept: application/vnd.oai.openapi+json;version=3.1", 200, three},
		{"the better rated", "", "Accept: application/openapi+json;q=0.5, application/openapi+json;version=3.1;q=0.9", 200, three},
		{"the first of equals", "", "Accept: text/html, application/openapi+json, application/openapi+json;version=3.1", 200, swagger},
		{"a version among others that is not there", "", "Accept: application/openapi+json;version=4.0, application/json;q=0.1", 200, swagger},
		{"by the address", "?openapi=3.1", "Accept: text/html", 200, three},
		{"2.0 by the address", "?openapi=2.0", "Accept:", 200, swagger},
		{"a version that is not there", "", "Accept: application/openapi+json;version=4.0", 406, `{"code":"PGRST107"`},
		{"a version that is not there by the address", "?openapi=4", "Accept:", 406, `{"code":"PGRST107"`},
		{"an address that cannot be read", "?openapi=%zz", "Accept:", 406, `{"code":"PGRST107"`},
		{"another media type", "", "Accept: text/csv", 406, `{"code":"PGRST107"`},
		{"nothing at all", "", "Accept: */*;q=0", 406, `{"code":"PGRST107"`},
		{"what is no media type", "", "Accept: ;;", 406, `{"code":"PGRST107"`},
		{"what is no number", "", "Accept: */*;q=NaN", 406, `{"code":"PGRST107"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			answer := s.Do(t, "GET", "/rest/v1/"+test.path, "", test.accept)
			if answer.Status != test.status || !strings.HasPrefix(answer.Body, test.begins) {
				t.Fatalf("%d %.100s", answer.Status, answer.Body)
			}
			want := "application/json; charset=utf-8"
			switch test.begins {
			case swagger:
				want = "application/openapi+json; charset=utf-8"
			case three:
				want = "application/openapi+json; version=3.1; charset=utf-8"
			}
			if got := answer.Header.Get("Content-Type"); got != want {
				t.Errorf("sent as %s, want %s", got, want)
			}
		})
	}
}

func TestTheRootAnswersAsAResource(t *testing.T) {
	t.Parallel()
	s := startLibrary(t, nil)
	get := s.Do(t, "GET", "/rest/v1/", "")
	if get.Header.Get("Content-Profile") != "public" {
		t.Errorf("the profile is %q", get.Header.Get("Content-Profile"))
	}
	if without := s.Do(t, "GET", "/rest/v1", ""); without.Body != get.Body {
		t.Errorf("without the slash: %d", without.Status)
	}
	head := s.Do(t, "HEAD", "/rest/v1/", "")
	if head.Status != 200 || head.Body != "" || head.Header.Get("Content-Type") != get.Header.Get("Content-Type") || head.Header.Get("Content-Length") != "" {
		t.Errorf("HEAD: %d %v", head.Status, head.Header)
	}
	tag := get.Header.Get("Etag")
	for _, known := range []string{tag, `"x", ` + tag, "*", strings.TrimPrefix(tag, "W/")} {
		if same := s.Do(t, "GET", "/rest/v1/", "", "If-None-Match: "+known); same.Status != http.StatusNotModified || same.Body != "" {
			t.Errorf("known as %s: %d", known, same.Status)
		}
	}
	if other := s.Do(t, "GET", "/rest/v1/", "", s.Service(), "If-None-Match: "+tag); other.Status != 200 {
		t.Errorf("the tag of another role's: %d", other.Status)
	}
	if range_ := s.Do(t, "GET", "/rest/v1/", "", "Range: 0-1"); range_.Status != 200 || range_.Body != get.Body {
		t.Errorf("with a range: %d", range_.Status)
	}
	run(t, s, []exchange{
		{name: "another schema", path: "", headers: []string{"Accept-Profile: private"}, status: 406, has: []string{"PGRST106"}},
		{name: "another method", method: "DELETE", path: "", status: 405, has: []string{"PGRST117"}},
		{name: "options", method: "OPTIONS", path: "", status: 200, header: []string{"Allow: OPTIONS,GET,HEAD"}},
	})
}

func TestTheDescriptionFollowsTheSchema(t *testing.T) {
	t.Parallel()
	s := startLibrary(t, nil)
	tag := s.Do(t, "GET", "/rest/v1/", "").Header.Get("Etag")
	s.Database.Exec(t, `create table plays (id int primary key); grant select on plays to anon`)
	apitest.Until(t, "a new table is described", func() bool {
		answer := s.Do(t, "GET", "/rest/v1/", "", "If-None-Match: "+tag)
		return answer.Status == 200 && strings.Contains(answer.Body, `"/plays"`)
	})
	s.Database.Exec(t, `revoke select on plays from anon`)
	apitest.Until(t, "a right that was taken is not described", func() bool {
		return !strings.Contains(s.Do(t, "GET", "/rest/v1/", "").Body, `"/plays":{"get"`)
	})
	s.Database.Exec(t, `revoke usage on schema public from anon, public`)
	if body := s.Do(t, "GET", "/rest/v1/", "").Body; strings.Contains(body, "authors") {
		t.Errorf("a schema that the role may not use is described: %.200s", body)
	}
}

func TestPrivilegesCanBeIgnored(t *testing.T) {
	t.Parallel()
	s := startLibrary(t, func(settings *api.Settings) {
		settings.OpenAPIMode = "ignore-privileges"
		settings.OpenAPISecurity = true
		settings.OpenAPIServer = "https://api.example.com/base"
		settings.RestPreRequest = "private.check"
	})
	d := describe(t, s)
	d.expect(t, `["secrets"]`, "paths", "/secrets", "post", "tags")
	d.expect(t, `["(rpc) forbidden"]`, "paths", "/rpc/forbidden", "post", "tags")
	d.expect(t, "", "paths", "/counts", "post")
	d.expect(t, "", "paths", "/letters")
	d.expect(t, `"api.example.com:443"`, "host")
	d.expect(t, `"/base"`, "basePath")
	d.expect(t, `["https"]`, "schemes")
	d.expect(t, `[{"JWT":[]}]`, "security")
	d.expect(t, `"apiKey"`, "securityDefinitions", "JWT", "type")
	run(t, s, []exchange{{name: "the function before each request refuses", path: "", headers: []string{"X-Refused: yes"}, status: 400, has: []string{"refused"}}})
	three := describe(t, s, "Accept: application/openapi+json;version=3.1")
	three.expect(t, `[{"url":"https://api.example.com/base"}]`, "servers")
	three.expect(t, `{"JWT":{"type":"http","scheme":"bearer","bearerFormat":"JWT"}}`, "components", "securitySchemes")
}

func TestTheDescriptionCanBeDisabled(t *testing.T) {
	t.Parallel()
	s := startLibrary(t, func(settings *api.Settings) {
		settings.OpenAPIMode = "disabled"
		settings.RestRootFunction = "welcome"
	})
	run(t, s, []exchange{
		{name: "GET", path: "", status: 404, has: []string{"PGRST126", "Root endpoint metadata is disabled"}},
		{name: "HEAD", method: "HEAD", path: "", status: 404},
		{name: "everything else is there", path: "authors", status: 200, want: "[]"},
	})
}

func TestAFunctionCanAnswerAtTheRoot(t *testing.T) {
	t.Parallel()
	s := startLibrary(t, func(settings *api.Settings) {
		settings.RestRootFunction = "public.welcome"
	})
	run(t, s, []exchange{
		{name: "GET", path: "", status: 200, want: `{"hello": "you"}`, header: []string{"Content-Type: application/json; charset=utf-8"}},
		{name: "HEAD", method: "HEAD", path: "", status: 200},
		{name: "by its own name", path: "rpc/welcome", status: 200, want: `{"hello": "you"}`},
		{name: "in a schema that has none", path: "", headers: []string{"Accept-Profile: second"}, status: 404, has: []string{"PGRST202"}},
		{name: "POST", method: "POST", path: "", status: 405, has: []string{"PGRST117"}},
	})
}

func TestAFunctionCanDescribeTheSchema(t *testing.T) {
	t.Parallel()
	s := startLibrary(t, func(settings *api.Settings) { settings.RestRootFunction = "own_description" })
	run(t, s, []exchange{
		{name: "what it says", path: "", headers: []string{"Accept: application/openapi+json"}, status: 200, want: `{"openapi": "3.0.0"}`,
			header: []string{"Content-Type: application/openapi+json; charset=utf-8"}},
	})
}
