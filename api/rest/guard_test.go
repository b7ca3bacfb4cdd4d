package rest_test

import (
	"strings"
	"testing"

	"basalt/api"
	"basalt/api/apitest"
)

// miscounting has every way in which a write may write another number of rows than it was given.
const miscounting = `
create table item (id int primary key, name text, price int);
insert into item values (1, 'one', 1), (2, 'two', 2), (3, 'three', 3);
create table log (id int generated always as identity primary key, what text);
create table watched (id int primary key, name text);
insert into watched values (1, 'one'), (2, 'two');
create function watch() returns trigger language plpgsql as $$ begin
  insert into log (what) values (tg_op);
  if new.name = 'dropped' then return null; end if;
  return new;
end $$;
create trigger watch before insert or update on watched for each row execute function watch();
create view shown as select id, name from item;
create function show() returns trigger language plpgsql as $$ begin
  insert into log (what) values ('instead');
  if new.name = 'dropped' then return null; end if;
  return new;
end $$;
create trigger show instead of insert on shown for each row execute function show();
create table tag (item int references item (id) on delete cascade, name text);
insert into tag values (1, 'red'), (1, 'blue');
create table hidden (id int primary key, name text);
alter table hidden enable row level security;
create policy write on hidden for insert with check (true);
create policy read on hidden for select using (name = 'seen');
create function shout(item) returns text language sql stable as $$ select upper($1.name) $$;
create table parent (id int primary key, name text);
create table child () inherits (parent);
insert into parent values (1, 'p');
insert into child values (1, 'c');
` + open

// TestWritesOfTheWrongNumberOfRowsLeaveNothing: whatever makes the number another one, and whatever else was written on
// the way, is gone.
func TestWritesOfTheWrongNumberOfRowsLeaveNothing(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, miscounting, func(s *api.Settings) { s.RestAggregates = true })
	const one = "Accept: application/vnd.pgrst.object+json"
	refused := func(rows string) string {
		return refusal("PGRST116", "Cannot coerce the result to a single JSON object", "The result contains "+rows+" rows", "")
	}
	// Twice, because the first flight of a statement on a connection is another one than those behind it.
	for range 2 {
		batch := s.Do(t, "POST", "/rest/v1/", `[{"method":"POST","path":"/item","body":{"id":8}},
			{"method":"PATCH","path":"/item?id=gt.1","body":{"price":9},"headers":{"accept":"application/vnd.pgrst.object+json"}}]`,
			"Content-Type: application/vnd.basalt.batch+json")
		if batch.Status != 406 || !strings.Contains(batch.Body, "The result contains 3 rows") || !strings.Contains(batch.Body, `"index":1`) {
			t.Errorf("a batch: %d %s", batch.Status, batch.Body)
		}
		run(t, s, []exchange{
			{name: "no row", method: "PATCH", path: "item?id=eq.9", body: `{"price":9}`, headers: []string{one, give}, status: 406, want: refused("0")},
			{name: "several rows", method: "PATCH", path: "item?id=gt.1", body: `{"price":9}`, headers: []string{one, give}, status: 406, want: refused("2")},
			{name: "several rows with an embed", method: "PATCH", path: "item?id=gt.1&select=id,tag(name)", body: `{"price":9}`, headers: []string{one, give}, status: 406, want: refused("2")},
			{name: "several rows in order", method: "DELETE", path: "item?select=id&order=id&id=gt.0", headers: []string{one, give}, status: 406, want: refused("3")},
			{name: "a row that is not shown", method: "PATCH", path: "item?id=eq.2&select=id,tag!inner(name)", body: `{"price":9}`, headers: []string{one, give}, status: 406, want: refused("0")},
			{name: "several inserted", method: "POST", path: "item", body: `[{"id":8},{"id":9}]`, headers: []string{one, give}, status: 406, want: refused("2")},
			{name: "none inserted", method: "POST", path: "item", body: `{"id":1,"price":9}`, headers: []string{one, give + ",resolution=ignore-duplicates"}, status: 406, want: refused("0")},
			{name: "one that a trigger drops", method: "POST", path: "watched", body: `{"id":8,"name":"dropped"}`, headers: []string{one, give}, status: 406, want: refused("0")},
			{name: "one whose change a trigger drops", method: "PATCH", path: "watched?id=eq.1", body: `{"name":"dropped"}`, headers: []string{one, give}, status: 406, want: refused("0")},
			{name: "one that a view's trigger drops", method: "POST", path: "shown", body: `{"id":8,"name":"dropped"}`, headers: []string{one, give}, status: 406, want: refused("0")},
			{name: "a PUT of another row", method: "PUT", path: "item?id=eq.1", body: `{"id":2,"name":"x"}`, status: 400, has: []string{"PGRST115"}},
			{name: "a PUT that a trigger drops", method: "PUT", path: "watched?id=eq.7", body: `{"id":7,"name":"dropped"}`, headers: []string{give}, status: 400, has: []string{"PGRST115"}},
			{name: "more than may be", method: "PATCH", path: "item?id=gt.1", body: `{"price":9}`, headers: []string{"Prefer: handling=strict, max-affected=1"}, status: 400,
				want: refusal("PGRST124", "Query result exceeds max-affected preference constraint", "The query affects 2 rows", "")},
			{name: "more than may be, given back", method: "DELETE", path: "item?id=gt.1", headers: []string{give, "Prefer: handling=strict, max-affected=1"}, status: 400, has: []string{"PGRST124", "2 rows"}},
			{name: "more than may be, counted in one row", method: "DELETE", path: "item?id=gt.1&select=count()", headers: []string{give, "Prefer: handling=strict, max-affected=1"}, status: 400, has: []string{"PGRST124", "2 rows"}},
			{name: "more than may be, none of them shown", method: "PATCH", path: "item?id=gt.1&select=id,tag!inner(name)", body: `{"price":9}`, headers: []string{give, "Prefer: handling=strict, max-affected=1"}, status: 400, has: []string{"PGRST124", "2 rows"}},
			{name: "more than may be, as one object", method: "PATCH", path: "item?id=gt.1&select=count()", body: `{"price":9}`, headers: []string{one, give, "Prefer: handling=strict, max-affected=1"}, status: 400, has: []string{"PGRST124", "2 rows"}},
			{name: "a PUT of another row, counted", method: "PUT", path: "item?id=eq.1&select=count()", body: `{"id":2,"name":"x","price":9}`, headers: []string{give}, status: 400, has: []string{"PGRST115"}},
			{name: "a PUT of a row that is not shown", method: "PUT", path: "item?id=eq.2&select=id,tag!inner(name)", body: `{"id":2,"name":"x","price":9}`, headers: []string{one, give}, status: 406, want: refused("0")},
			{name: "none where one must be and none may be", method: "PATCH", path: "item?id=eq.1", body: `{"price":9}`, headers: []string{one, give + ",handling=strict,max-affected=0"}, status: 400, has: []string{"PGRST124", "1 rows"}},
			{name: "the rows of tables that inherit", method: "PATCH", path: "parent?id=eq.1", body: `{"name":"x"}`, headers: []string{one, give}, status: 406, want: refused("2")},
			{name: "nothing was written", path: "item?select=id,price&order=id", status: 200, want: `[{"id":1,"price":1},{"id":2,"price":2},{"id":3,"price":3}]`},
			{name: "nor beside it", path: "log", status: 200, want: `[]`},
			{name: "nor where triggers are", path: "watched?order=id", status: 200, want: `[{"id":1,"name":"one"},{"id":2,"name":"two"}]`},
		})
	}
	run(t, s, []exchange{
		{name: "one row", method: "PATCH", path: "item?id=eq.2&select=id,shout,tag(name)", body: `{"price":20}`, headers: []string{one, give}, status: 200, want: `{"id":2,"shout":"TWO","tag":[]}`},
		{name: "one row inserted", method: "POST", path: "item", body: `{"id":4,"name":"four"}`, headers: []string{one, give}, status: 201, want: `{"id":4,"name":"four","price":null}`},
		{name: "one row merged", method: "POST", path: "item?select=shout", body: `{"id":4,"name":"vier"}`, headers: []string{one, give + ",resolution=merge-duplicates"}, status: 200, want: `{"shout":"VIER"}`},
		{name: "one row by its place", method: "POST", path: "item", body: `{"id":5}`, headers: []string{"Prefer: return=headers-only, handling=strict, max-affected=1"}, status: 201, header: []string{"Location: /item?id=eq.5"}},
		{name: "a PUT", method: "PUT", path: "item?id=eq.6", body: `{"id":6,"name":"six","price":6}`, headers: []string{give}, status: 201, want: `[{"id":6,"name":"six","price":6}]`},
		{name: "a PUT again", method: "PUT", path: "item?id=eq.6", body: `{"id":6,"name":"six","price":7}`, headers: []string{give, one}, status: 200, want: `{"id":6,"name":"six","price":7}`},
		{name: "a PUT that is not shown", method: "PUT", path: "item?id=eq.6&select=id,tag!inner(name)", body: `{"id":6,"name":"six","price":8}`, headers: []string{give}, status: 200, want: `[]`},
		{name: "is done", path: "item?id=eq.6&select=price", status: 200, want: `[{"price":8}]`},
		{name: "none, counted", method: "PATCH", path: "item?id=gt.90&select=count()", body: `{"price":9}`, headers: []string{give, "Prefer: handling=strict, max-affected=0"}, status: 200, want: `[{"count":0}]`},
		{name: "none for want of a change, counted", method: "PATCH", path: "item?id=gt.1&select=count()", body: `{}`, headers: []string{give, "Prefer: handling=strict, max-affected=0"}, status: 200, want: `[{"count":0}]`},
		{name: "none for want of a change, counted as one object", method: "PATCH", path: "item?id=gt.1&select=count(),price.sum()", body: `{}`, headers: []string{one, give}, status: 200, want: `{"count":0,"sum":null}`},
		{name: "none for want of a change, counted by groups", method: "PATCH", path: "item?id=gt.1&select=id,count()&order=id", body: `{}`, headers: []string{give}, status: 200, want: `[]`},
		{name: "no rows to insert, counted", method: "POST", path: "item?select=count()", body: `[]`, headers: []string{give}, status: 201, want: `[{"count":0}]`},
		{name: "several, counted as one object", method: "PATCH", path: "item?id=in.(2,4)&select=count()", body: `{"price":9}`, headers: []string{one, give, "Prefer: handling=strict, max-affected=2"}, status: 200, want: `{"count":2}`},
		{name: "one through a trigger", method: "PATCH", path: "watched?id=eq.1", body: `{"name":"uno"}`, headers: []string{one, give}, status: 200, want: `{"id":1,"name":"uno"}`},
		{name: "one through a view", method: "POST", path: "shown?select=id", body: `{"id":9,"name":"x"}`, headers: []string{one, give}, status: 201, want: `{"id":9}`},
		{name: "as many as may be", method: "DELETE", path: "item?id=gte.5", headers: []string{"Prefer: handling=strict, max-affected=2, count=exact"}, status: 204, header: []string{"Content-Range: */2"}},
		{name: "one that may be seen", method: "POST", path: "hidden?select=id", body: `{"id":1,"name":"seen"}`, headers: []string{one, give}, status: 201, want: `{"id":1}`},
		{name: "one that may not be seen", method: "POST", path: "hidden?select=id", body: `{"id":2,"name":"unseen"}`, headers: []string{one, give}, status: 401, has: []string{"42501"}},
		{name: "a text that speaks of the guard", method: "PATCH", path: "item?id=eq.1", body: `{"price":"basalt: rows written 5"}`, headers: []string{one, give}, status: 400, has: []string{"22P02"}},
	})
}
