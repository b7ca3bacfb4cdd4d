package rest_test

import (
	"testing"

	"basalt/api"
	"basalt/api/apitest"
)

// What random requests have found once stays found.
func TestWhatRandomRequestsHaveFound(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, `
create table city (id int primary key, name text, areas box[]);
create table person (id int primary key, city_id int references city, name text);
create table pet (id int primary key, person_id int references person, name text);
insert into city values (1, 'Rome', '{(1,1),(0,0);(2,2),(1,1)}'), (2, 'Oslo', '{}');
insert into person values (1, 1, 'Ann'), (2, null, 'Bo');
insert into pet values (1, 1, 'Rex'), (2, 1, 'Tom'), (3, null, 'Stray');
create function people() returns setof person language sql stable as 'select * from person';
alter table pet enable row level security;
create policy seen on pet to anon, service_role using (true);
create domain "text/html" as text;
create function html_step(state "text/html", next anyelement) returns "text/html" language sql as $$ select state || 'x' $$;
create aggregate html(anyelement) (stype = "text/html", sfunc = html_step, initcond = '');
`+open, func(s *api.Settings) { s.RestAggregates = true })
	exact := []string{"Prefer: count=exact"}
	blind := s.As(t, "authenticated", "") // no policy shows it pets
	run(t, s, []exchange{
		{name: "the arrays of a row that a spread does not find are null", path: "pet?select=id,...person(pets:pet(name))&id=eq.3", status: 200, want: `[{"id":3,"pets":null}]`},
		{name: "and those of a spread within it", path: "pet?select=id,...person(...pet(names:name))&id=eq.3", status: 200, want: `[{"id":3,"names":null}]`},
		{name: "those of a row that has none are empty", path: "person?select=id,pet(name),...pet(names:name)&id=eq.2", status: 200, want: `[{"id":2,"pet":[],"names":[]}]`},
		{name: "boxes stand between semicolons in CSV", path: "city?select=areas&order=id", headers: []string{"Accept: text/csv"}, status: 200, want: "areas\n\"{(1,1),(0,0);(2,2),(1,1)}\"\n{}"},
		{name: "boxes in JSON", path: "city?select=areas&order=id", status: 200, want: `[{"areas":["(1,1),(0,0)","(2,2),(1,1)"]},{"areas":[]}]`},
		{name: "an offset beyond the one group of an inner embed leaves nothing", path: "person?select=id,pet!inner(count())&pet.offset=1", status: 200, want: `[]`},
		{name: "an offset beyond its groups", path: "person?select=id,pet!inner(person_id,count())&pet.offset=1", status: 200, want: `[]`},
		{name: "no offset leaves all", path: "person?select=id,pet!inner(count())&order=id", status: 200, want: `[{"id":1,"pet":[{"count":2}]},{"id":2,"pet":[{"count":0}]}]`},
		{name: "no more rows change than preferred where it is known that none will be shown", method: "PATCH", path: "person?select=id,pet!inner(id)", headers: []string{"Prefer: return=representation, handling=strict, max-affected=1", blind}, body: `{"name":"Changed"}`, status: 400, has: []string{"PGRST124"}},
		{name: "nor with a function that makes the body", method: "PATCH", path: "person?select=id,pet!inner(id)", headers: []string{"Prefer: return=representation, handling=strict, max-affected=1", "Accept: text/html", blind}, body: `{"name":"Changed"}`, status: 400, has: []string{"PGRST124"}},
		{name: "nothing of that has changed", path: "person?select=name&name=eq.Changed", status: 200, want: `[]`},
		{name: "a row that changes and is not shown", method: "PATCH", path: "person?id=eq.1&select=id,pet!inner(id)", headers: []string{"Prefer: return=representation, handling=strict, max-affected=1", blind}, body: `{"name":"Ann"}`, status: 200, want: `[]`},
		{name: "a row that is put in and not shown", method: "PUT", path: "person?id=eq.21&select=id,pet!inner(id)", headers: []string{"Prefer: return=representation"}, body: `{"id":21,"name":"Put"}`, status: 201, want: `[]`},
		{name: "a row that is put in again and not shown", method: "PUT", path: "person?id=eq.21&select=id,pet!inner(id)", headers: []string{"Prefer: return=representation"}, body: `{"id":21,"name":"Again"}`, status: 200, want: `[]`},
		{name: "an upsert that changes a row which is not shown", method: "POST", path: "person?select=id,pet!inner(id)", headers: []string{"Prefer: resolution=merge-duplicates, return=representation"}, body: `[{"id":21,"name":"Once more"}]`, status: 200, want: `[]`},
		{name: "an upsert that inserts a row which is not shown", method: "POST", path: "person?select=id,pet!inner(id)&pet.id=eq.1", headers: []string{"Prefer: resolution=merge-duplicates, return=representation"}, body: `[{"id":1,"name":"Ann"},{"id":9,"name":"New"}]`, status: 201, want: `[{"id":1,"pet":[{"id":1}]}]`},
		{name: "and once more, when it is there", method: "POST", path: "person?select=id,pet!inner(id)&pet.id=eq.1", headers: []string{"Prefer: resolution=merge-duplicates, return=representation"}, body: `[{"id":1,"name":"Ann"},{"id":9,"name":"New"}]`, status: 200, want: `[{"id":1,"pet":[{"id":1}]}]`},
		{name: "the rows of a function of which none is wanted", path: "rpc/people?limit=0", headers: exact, status: 206, want: `[]`, header: []string{"Content-Range: */4"}},
		{name: "a method that nobody knows", method: "BREW", path: "city", status: 405, has: []string{`"code":"PGRST117"`, "BREW"}},
		{name: "a method that nobody knows on the root", method: "BREW", path: "", status: 405, want: anything},
	})
}
