package rest_test

import (
	"testing"

	"basalt/api"
	"basalt/api/apitest"
)

func TestWritesGoByContentProfile(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, `
create table parent (id int primary key, name text);
create table child (id int primary key, name text, parent int references parent);
insert into parent values (1, 'public 1');
insert into child values (1, 'public child', 1);
create schema "Other One";
create table "Other One".parent (id int primary key, name text);
create table "Other One".child (id int primary key, name text, parent int references "Other One".parent);
insert into "Other One".parent values (3, 'other 3');
insert into "Other One".child values (1, 'other child', 3);
create function "Other One".below(id int) returns setof "Other One".parent language sql stable as 'select * from "Other One".parent p where p.id < below.id';
grant usage on schema "Other One" to anon;
grant all on all tables in schema "Other One" to anon;
`+open, func(settings *api.Settings) { settings.Schemas = []string{"public", "Other One"} })
	other, told := "Content-Profile: Other One", []string{"Content-Profile: Other One"}
	run(t, s, []exchange{
		{name: "an insert by default", method: "POST", path: "child?select=id,parent(name)", headers: []string{give}, body: `{"id":2,"parent":1}`, status: 201, want: `[{"id":2,"parent":{"name":"public 1"}}]`, header: []string{"Content-Profile: public"}},
		{name: "an insert with the parent there", method: "POST", path: "child?select=id,parent(name)", headers: []string{give, other}, body: `{"id":2,"parent":3}`, status: 201, want: `[{"id":2,"parent":{"name":"other 3"}}]`, header: told},
		{name: "a key there", method: "POST", path: "child", headers: []string{"Prefer: return=headers-only", other}, body: `{"id":4,"parent":3}`, status: 201, want: "", header: []string{"Location: /child?id=eq.4"}},
		{name: "a merge", method: "POST", path: "child?select=id,name", headers: []string{"Prefer: return=representation, resolution=merge-duplicates", other}, body: `{"id":4,"name":"merged"}`, status: 200, want: `[{"id":4,"name":"merged"}]`, header: told},
		{name: "an update", method: "PATCH", path: "child?id=eq.1&select=name,parent(name)", headers: []string{give, other}, body: `{"name":"changed"}`, status: 200, want: `[{"name":"changed","parent":{"name":"other 3"}}]`, header: told},
		{name: "a put", method: "PUT", path: "child?id=eq.111", headers: []string{give, other}, body: `{"id":111,"name":"put","parent":null}`, status: 201, want: `[{"id":111,"name":"put","parent":null}]`, header: told},
		{name: "a delete", method: "DELETE", path: "child?id=eq.111", headers: []string{give, other}, status: 200, want: `[{"id":111,"name":"put","parent":null}]`, header: told},
		{name: "a call with embeds", method: "POST", path: "rpc/below?select=name,child(name)&child.order=id&child.limit=1", headers: []string{other}, body: `{"id":6}`, status: 200, want: `[{"name":"other 3","child":[{"name":"changed"}]}]`, header: told},
		{name: "a call that the default schema has not", method: "POST", path: "rpc/below", body: `{"id":6}`, status: 404, has: []string{"PGRST202", "public.below(id)"}},
		{name: "the other schema is untouched", path: "child?select=id,name&order=id", status: 200, want: `[{"id":1,"name":"public child"},{"id":2,"name":null}]`},
		{name: "a schema that is none", method: "POST", path: "child", headers: []string{"Content-Profile: unknown"}, body: `{"id":9}`, status: 406,
			want: refusal("PGRST106", "Invalid schema: unknown", "", "Only the following schemas are exposed: public, Other One")},
		{name: "a schema that is none for a delete", method: "DELETE", path: "child?id=eq.1", headers: []string{"Content-Profile: unknown"}, status: 406, has: []string{"PGRST106"}},
	})
}
