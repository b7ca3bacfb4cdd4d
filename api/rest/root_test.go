package rest_test

import (
	"encoding/json"
	"net/http"
	"reflect"
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
	answer.JSON(t, &d)
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

func TestTheRootDescribesTheSchema(t *testing.T) {
	t.Parallel()
	s := startLibrary(t, nil)
	t.Log(s.Do(t, "GET", "/rest/v1/", "").Body)
	t.Log(s.Do(t, "GET", "/rest/v1/?openapi=3.1", "").Body)
}
