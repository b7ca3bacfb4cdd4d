package admin_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"basalt/api/admin"
	"basalt/api/apitest"
	"basalt/auth/administrator"
)

const exploreSchema = `
	create table authors (id bigint generated always as identity primary key, name text not null, editor bigint references authors (id));
	create table books (id int primary key, author bigint not null references authors (id), second bigint references authors (id), title text unique);
	create table tags (id int primary key);
	create table book_tags (book int references books (id), tag int references tags (id), primary key (book, tag));
	create table notes (id int primary key, owner uuid references auth.users);
	alter table notes enable row level security;
	create policy reads on notes for select to authenticated using (true);
	create policy narrows on notes as restrictive to anon using (true);
	create view titles as select title from books;
	create function add(a int, b int default 2) returns int language sql immutable as $$ select a + b $$;
	create function nameless(int) returns int language sql as $$ select 1 $$;
	create function wipe() returns void language sql as $$ delete from books $$;
	revoke all on authors, books, tags, book_tags, notes, titles from anon, authenticated;
	grant select (id) on authors to anon;
	grant select, insert on notes to anon, authenticated;
	revoke execute on function wipe() from public, anon, authenticated`

func TestWhatTheAPIOffersEachRole(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, exploreSchema, administrator.Viewer)
	var body admin.ExploreBody
	apitest.Until(t, "the catalog knows all", func() bool {
		d.call(t, "GET", "/explore", nil).JSON(t, &body)
		return slices.ContainsFunc(body.Functions, func(f admin.ExploreFunction) bool { return f.Name == "wipe" })
	})
	if body.AnonKey != d.Keys.AnonKey || !slices.Equal(body.Schemas, []string{"public"}) {
		t.Errorf("%s %v", body.AnonKey, body.Schemas)
	}
	access := func(name, role string) string {
		for _, r := range body.Relations {
			for _, a := range r.Access {
				if r.Name == name && a.Role == role {
					return strings.Join(a.Granted, " ") + "; " + strings.Join(a.Passed, " ")
				}
			}
		}
		return "none"
	}
	for _, test := range []struct{ name, relation, role, want string }{
		{"a grant on one column counts", "authors", "anon", "select; select"},
		{"without a grant there is nothing", "books", "anon", "; "},
		{"a policy for the verb lets rows through, none for another does not", "notes", "authenticated", "select insert; select"},
		{"a restrictive policy alone lets nothing through", "notes", "anon", "select insert; "},
		{"the service role passes policies by", "notes", "service_role", "select insert update delete; select insert update delete"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := access(test.relation, test.role); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
	t.Run("foreign keys to another schema, along which nothing is embedded", func(t *testing.T) {
		for _, r := range body.Relations {
			if r.Name == "notes" && (!slices.Equal(r.Outside, []string{"auth.users"}) || len(r.Embeds) != 0) || r.Name == "books" && len(r.Outside) != 0 {
				t.Errorf("%s: %q, %v", r.Name, r.Outside, r.Embeds)
			}
		}
	})
	t.Run("functions with who may call them", func(t *testing.T) {
		var got []string
		for _, f := range body.Functions {
			got = append(got, f.Name+" "+strings.Join(f.Roles, ","))
		}
		if want := []string{"add anon,authenticated,service_role", "wipe service_role"}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	})
	t.Run("each way to embed is one that the API understands", func(t *testing.T) {
		ways := 0
		for _, r := range body.Relations {
			for _, embed := range r.Embeds {
				ways++
				name := embed.Name
				if embed.Hint != "" {
					name += "!" + embed.Hint
				}
				answer := d.call(t, "GET", "/rest/"+r.Name+"?select="+name+"(*)", nil)
				if answer.Status != http.StatusOK {
					t.Errorf("%s embeds %s: %d %s", r.Name, name, answer.Status, answer.Body)
				}
			}
		}
		if ways < 10 {
			t.Errorf("there are %d ways", ways)
		}
	})
	t.Run("the description names the public address", func(t *testing.T) {
		answer := d.call(t, "GET", "/openapi.json?schema=public", nil)
		var document struct {
			OpenAPI string                     `json:"openapi"`
			Servers []struct{ URL string }     `json:"servers"`
			Paths   map[string]json.RawMessage `json:"paths"`
		}
		answer.JSON(t, &document)
		if !strings.HasPrefix(document.OpenAPI, "3.1") || len(document.Servers) != 1 || !strings.HasSuffix(document.Servers[0].URL, "/rest/v1") || document.Paths["/books"] == nil {
			t.Errorf("%s %v", document.OpenAPI, document.Servers)
		}
		if answer := d.call(t, "GET", "/openapi.json?schema=auth", nil); answer.Status != http.StatusNotFound {
			t.Errorf("%d %s", answer.Status, answer.Body)
		}
	})
}

func TestTheSQLOfARequest(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, exploreSchema, administrator.Viewer)
	for _, test := range []struct {
		name    string
		request admin.RESTRequestBody
		status  int
		want    []string
	}{
		{"a read with its values", admin.RESTRequestBody{Method: "GET", Path: "/books?select=id,title&title=eq.it%27s"}, 200, []string{`"parameters":["it's"`, "books"}},
		{"several rows, whose cells go in binary", admin.RESTRequestBody{Method: "POST", Path: "/tags", Body: `[{"id":1},{"id":9007199254740993}]`}, 200, []string{`{1,9007199254740993}`, "insert into"}},
		{"rows that leave a column out", admin.RESTRequestBody{Method: "POST", Path: "books", Body: `[{"id":1,"title":"a"},{"id":2}]`, Headers: map[string]string{"Prefer": "missing=default"}}, 200, []string{`{a,NULL}`}},
		{"a count that is made first", admin.RESTRequestBody{Method: "GET", Path: "/books", Headers: map[string]string{"Prefer": "count=exact"}}, 200, []string{`"count":"select`}},
		{"a call", admin.RESTRequestBody{Method: "POST", Path: "/rpc/add", Body: `{"a":1}`}, 200, []string{"add"}},
		{"a change of nothing", admin.RESTRequestBody{Method: "PATCH", Path: "/books?id=eq.1", Body: `{}`}, 200, []string{`"sql":""`}},
		{"an embed that may mean two", admin.RESTRequestBody{Method: "GET", Path: "/books?select=authors(*)"}, 300, []string{"PGRST201", "books_second_fkey"}},
		{"a table that is not there", admin.RESTRequestBody{Method: "GET", Path: "/nothing"}, 404, []string{"PGRST205"}},
		{"a filter that is none", admin.RESTRequestBody{Method: "GET", Path: "/books?id=near.1"}, 400, []string{"PGRST100"}},
		{"a body that is no JSON", admin.RESTRequestBody{Method: "POST", Path: "/books", Body: `{`}, 400, []string{"PGRST102"}},
		{"the system's own schema", admin.RESTRequestBody{Method: "GET", Path: "/administrators", Headers: map[string]string{"Accept-Profile": "basalt"}}, 406, nil},
		{"the root", admin.RESTRequestBody{Method: "GET", Path: "/"}, 400, nil},
		{"a path above", admin.RESTRequestBody{Method: "GET", Path: "/../../catalog"}, 404, nil},
		{"a bad path", admin.RESTRequestBody{Method: "GET", Path: "/a%zz"}, 400, []string{"bad_path"}},
		{"another method", admin.RESTRequestBody{Method: "CONNECT", Path: "/books"}, 400, []string{"bad_method"}},
		{"another header", admin.RESTRequestBody{Method: "GET", Path: "/books", Headers: map[string]string{"Authorization": "Bearer x"}}, 400, []string{"bad_header"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			answer := d.call(t, "POST", "/rest-sql", test.request)
			if answer.Status != test.status {
				t.Fatalf("%d, want %d: %s", answer.Status, test.status, answer.Body)
			}
			for _, want := range test.want {
				if !strings.Contains(answer.Body, want) {
					t.Errorf("%q is not in %s", want, answer.Body)
				}
			}
		})
	}
	t.Run("nothing of it is run", func(t *testing.T) {
		d.Database.Exec(t, `do $$ begin assert not exists (select from tags); end $$`)
	})
}

func TestAWriteIsTriedAndRolledBack(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, exploreSchema, administrator.Editor)
	answer := d.call(t, "POST", "/rest/tags", `{"id":7}`, "Prefer: return=representation,tx=rollback")
	if answer.Status != http.StatusCreated || !strings.Contains(answer.Body, `[{"id":7}]`) {
		t.Fatalf("%d %s", answer.Status, answer.Body)
	}
	d.Database.Exec(t, `do $$ begin assert not exists (select from tags); end $$`)
}
