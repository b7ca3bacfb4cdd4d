package rest_test

import (
	"testing"

	"basalt/api"
	"basalt/api/apitest"
)

const gallery = `
create table work (id int primary key, title text default 'untitled', made int, secret text default 'hidden');
insert into work values (1, 'Sun', 1900, 's1'), (2, 'Moon', 1950, 's2');
create table tag (work int references work, name text, primary key (work, name));
insert into tag values (1, 'old');
create view shown as select id as number, title, made from work where made < 2000;
create view checked as select id, title, made from work where made < 2000 with check option;
create view tags_of as select w.id, w.title, t.work as of_work, t.name from work w join tag t on t.work = w.id;
alter view shown alter title set default 'of the view';
create view joined as select w.id, w.title, count(t.name) as tags from work w left join tag t on t.work = w.id group by w.id;
create function put_joined() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    delete from work where id = old.id;
    return old;
  elsif tg_op = 'UPDATE' then
    update work set title = new.title where id = old.id;
  else
    insert into work (id, title) values (new.id, new.title || ' by view');
    new.title := new.title || ' by view';
    new.tags := 0;
  end if;
  return new;
end $$;
create trigger put_joined instead of insert or update or delete on joined for each row execute function put_joined();
create view only_insert as select distinct id, title from work;
create view part_random as select id, random() as r from work;
create trigger only_insert instead of insert on only_insert for each row execute function put_joined();
create view null_key as select w.id, t.name as of from work w left join tag t on t.work = w.id;
create function put_null_key() returns trigger language plpgsql as $$ begin insert into work (id) values (new.id); return new; end $$;
create trigger put_null_key instead of insert on null_key for each row execute function put_null_key();
create table pair_key (a int, b int, v text, primary key (a, b));
create view two_keys as select w.id as work_id, p.a, p.b, p.v from work w cross join pair_key p;
create function put_two() returns trigger language plpgsql as $$ begin return new; end $$;
create trigger put_two instead of insert on two_keys for each row execute function put_two();
create materialized view still as select * from work;
create view with_rule as select id, title from work where id > 100;
create table logged (id int primary key, v text);
create table log (line text);
create rule also as on insert to logged do also insert into log values ('inserted ' || new.id);
create table redirected (id int primary key, v text);
create rule elsewhere as on insert to redirected do instead insert into logged values (new.id, new.v) returning *;
create table deaf (id int primary key, v text);
create rule ignores as on insert to deaf do instead nothing;
create table stamped (id int primary key, v text, by text, n int default 0);
create function stamp() returns trigger language plpgsql as $$
begin
  new.by := current_user;
  new.n := coalesce(new.n, 0) + 1;
  return new;
end $$;
create trigger stamp before insert or update on stamped for each row execute function stamp();
create table picky (id int primary key, v text);
create function pick() returns trigger language plpgsql as $$
begin
  if new.v = 'skip' then return null; end if;
  if new.v = 'refuse' then raise sqlstate 'PT422' using message = 'refused', detail = 'by the trigger', hint = 'try another'; end if;
  return new;
end $$;
create trigger pick before insert or update on picky for each row execute function pick();
create table counted (id int primary key, n int default 0);
create function count_up() returns trigger language plpgsql as $$ begin update counted set n = n + 1 where id = 0; return null; end $$;
create trigger count_up after insert on picky for each row execute function count_up();
insert into counted values (0, 0);
create table ours (id int primary key, owner text default current_user, v text);
create table inherits_ours (extra text) inherits (ours);
` + open

func TestWritingToViews(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, gallery, nil)
	notUpdatable := `"55000"`
	run(t, s, []exchange{
		{name: "a simple view", method: "POST", path: "shown", headers: []string{give}, body: `{"number":3,"title":"Star","made":1999}`, status: 201, want: `[{"number":3,"title":"Star","made":1999}]`},
		{name: "a row that it does not show", method: "POST", path: "shown", headers: []string{give}, body: `{"number":4,"title":"Far","made":2001}`, status: 201, want: `[{"number":4,"title":"Far","made":2001}]`},
		{name: "which its check option refuses", method: "POST", path: "checked", body: `{"id":5,"made":2001}`, status: 400, has: []string{`"44000"`, "new row violates check option"}},
		{name: "a view's own default", method: "POST", path: "shown", headers: []string{give}, body: `{"number":6,"made":1}`, status: 201, want: `[{"number":6,"title":"of the view","made":1}]`},
		{name: "a view's own default by preference", method: "POST", path: "shown?columns=number,title,made", headers: []string{"Prefer: missing=default, return=representation"}, body: `[{"number":7},{"number":8,"title":"t"}]`, status: 201, want: `[{"number":7,"title":"of the view","made":null},{"number":8,"title":"t","made":null}]`},
		{name: "a column that it does not show", method: "POST", path: "shown", body: `{"number":9,"secret":"x"}`, status: 400, has: []string{"PGRST204"}},
		{name: "Location by the view's own name for the key", method: "POST", path: "shown", headers: []string{"Prefer: return=headers-only"}, body: `{"number":10}`, status: 201, header: []string{"Location: /shown?number=eq.10"}},
		{name: "an update of rows that it shows only", method: "PATCH", path: "shown?number=gte.3&select=number&order=number", headers: []string{give}, body: `{"made":1990}`, status: 200, want: `[{"number":3},{"number":6}]`},
		{name: "a delete through it", method: "DELETE", path: "shown?number=eq.3&select=title", headers: []string{give}, status: 200, want: `[{"title":"Star"}]`},
		{name: "embeds through it", method: "PATCH", path: "shown?number=eq.1&select=title,tag(name)", headers: []string{give}, body: `{"title":"Sun!"}`, status: 200, want: `[{"title":"Sun!","tag":[{"name":"old"}]}]`},
		{name: "triggers instead of an insert", method: "POST", path: "joined", headers: []string{give}, body: `{"id":20,"title":"T"}`, status: 201, want: `[{"id":20,"title":"T by view","tags":0}]`},
		{name: "triggers instead of inserts of many", method: "POST", path: "joined?select=id", headers: []string{give + ", count=exact"}, body: `[{"id":21,"title":"T"},{"id":22,"title":"U"}]`, status: 201, want: `[{"id":21},{"id":22}]`, header: []string{"Content-Range: */2"}},
		{name: "triggers instead of an update", method: "PATCH", path: "joined?id=eq.20&select=title", headers: []string{give}, body: `{"title":"new"}`, status: 200, want: `[{"title":"new"}]`, header: []string{"Content-Range: 0-0/*"}},
		{name: "triggers instead of a delete", method: "DELETE", path: "joined?id=eq.20&select=id", headers: []string{give}, status: 200, want: `[{"id":20}]`},
		{name: "have worked", path: "work?id=gte.20&select=id,title&order=id", status: 200, want: `[{"id":21,"title":"T by view"},{"id":22,"title":"U by view"}]`},
		{name: "an upsert by triggers", method: "POST", path: "joined", headers: []string{"Prefer: resolution=merge-duplicates"}, body: `{"id":21,"title":"T"}`, status: 400, want: anything},
		{name: "a trigger for inserts only", method: "POST", path: "only_insert", body: `{"id":30,"title":"T"}`, status: 400, want: anything, has: []string{"tags"}},
		{name: "no trigger for updates", method: "PATCH", path: "only_insert?id=eq.1", body: `{"title":"x"}`, status: 500, has: []string{notUpdatable}},
		{name: "keys that are null in Location", method: "POST", path: "null_key", headers: []string{"Prefer: return=headers-only"}, body: `{"id":40}`, status: 201, want: "", header: []string{"Location: /null_key?id=eq.40"}},
		{name: "keys of two tables in Location", method: "POST", path: "two_keys", headers: []string{"Prefer: return=headers-only"}, body: `{"work_id":1,"a":2,"b":null}`, status: 201, want: "", header: []string{"Location: /two_keys?work_id=eq.1&a=eq.2&b=is.null"}},
		{name: "a materialized view", method: "POST", path: "still", body: `{"id":1}`, status: 400, has: []string{`"42809"`}},
		{name: "a view of two tables", method: "POST", path: "tags_of", body: `{"id":1}`, status: 500, has: []string{notUpdatable, "cannot insert into view"}},
		{name: "a view of two tables, changed", method: "PATCH", path: "tags_of?id=eq.1", body: `{"title":"x"}`, status: 500, has: []string{notUpdatable}},
		{name: "a view of two tables, deleted from", method: "DELETE", path: "tags_of?id=eq.1", status: 500, has: []string{notUpdatable}},
		{name: "a column that is an expression", method: "POST", path: "part_random?columns=r", body: `{"r":1}`, status: 400, has: []string{`"0A000"`, `of view \"part_random\"`}},
	})
}

func TestTriggersAndRulesHaveTheirSay(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, gallery, nil)
	run(t, s, []exchange{
		{name: "a trigger's changes come back", method: "POST", path: "stamped", headers: []string{give}, body: `{"id":1,"v":"a","by":"me"}`, status: 201, want: `[{"id":1,"v":"a","by":"anon","n":1}]`},
		{name: "of an update as well", method: "PATCH", path: "stamped?id=eq.1", headers: []string{give, s.Service()}, body: `{"v":"b"}`, status: 200, want: `[{"id":1,"v":"b","by":"service_role","n":2}]`},
		{name: "of a merge as well", method: "POST", path: "stamped?select=v,n", headers: []string{"Prefer: resolution=merge-duplicates, return=representation"}, body: `{"id":1,"v":"c"}`, status: 200, want: `[{"v":"c","n":3}]`},
		{name: "rows that a trigger leaves out", method: "POST", path: "picky?select=id", headers: []string{give + ", count=exact"}, body: `[{"id":1,"v":"a"},{"id":2,"v":"skip"},{"id":3,"v":"b"}]`, status: 201, want: `[{"id":1},{"id":3}]`, header: []string{"Content-Range: */2"}},
		{name: "one row that a trigger leaves out", method: "POST", path: "picky", headers: []string{"Prefer: return=headers-only, count=exact"}, body: `{"id":4,"v":"skip"}`, status: 201, want: "", header: []string{"Location:", "Content-Range: */0"}},
		{name: "an update that a trigger leaves out", method: "PATCH", path: "picky?id=eq.1", headers: []string{give}, body: `{"v":"skip"}`, status: 200, want: `[]`, header: []string{"Content-Range: */*"}},
		{name: "a trigger's refusal", method: "POST", path: "picky", body: `[{"id":5,"v":"a"},{"id":6,"v":"refuse"}]`, status: 422, want: refusal("PT422", "refused", "by the trigger", "try another")},
		{name: "undoes all rows", path: "picky?select=id&order=id", status: 200, want: `[{"id":1},{"id":3}]`},
		{name: "and what triggers did elsewhere", path: "counted", status: 200, want: `[{"id":0,"n":2}]`},
		{name: "a put that a trigger leaves out", method: "PUT", path: "picky?id=eq.9", body: `{"id":9,"v":"skip"}`, status: 400, has: []string{"PGRST115"}},
		{name: "a rule that does more", method: "POST", path: "logged", headers: []string{give}, body: `[{"id":1,"v":"a"}]`, status: 201, want: `[{"id":1,"v":"a"}]`},
		{name: "has done it", path: "log", status: 200, want: `[{"line":"inserted 1"}]`},
		{name: "a rule that does it elsewhere", method: "POST", path: "redirected?select=v", headers: []string{give}, body: `{"id":2,"v":"b"}`, status: 201, want: `[{"v":"b"}]`},
		{name: "has done it there", path: "logged?id=eq.2&select=v", status: 200, want: `[{"v":"b"}]`},
		{name: "a rule that does nothing", method: "POST", path: "deaf", headers: []string{"Prefer: count=exact"}, body: `{"id":1}`, status: 201, want: "", header: []string{"Content-Range: */0"}},
		{name: "a rule that does nothing and gives nothing back", method: "POST", path: "deaf", headers: []string{give}, body: `{"id":1}`, status: 400, has: []string{`"0A000"`}},
		{name: "a table that others inherit from", method: "POST", path: "inherits_ours", headers: []string{give}, body: `{"id":1,"v":"a","extra":"e"}`, status: 201, want: `[{"id":1,"owner":"anon","v":"a","extra":"e"}]`},
		{name: "is changed with them", method: "PATCH", path: "ours?id=eq.1&select=id,v", headers: []string{give}, body: `{"v":"b"}`, status: 200, want: `[{"id":1,"v":"b"}]`},
		{name: "is deleted from with them", method: "DELETE", path: "ours?id=eq.1&select=v", headers: []string{give}, status: 200, want: `[{"v":"b"}]`},
	})
}

func TestOptionsOfEveryKindOfRelation(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, gallery+`
create table years (name text, year int, primary key (name, year)) partition by list (year);
create view only_update as select distinct id, title from work;
create trigger only_update instead of update on only_update for each row execute function put_joined();
create view only_delete as select distinct id, title from work;
create trigger only_delete instead of delete on only_delete for each row execute function put_joined();
create view keyless as select title from work;
create schema other; create table other.hidden_here (id int primary key); grant usage on schema other to anon;
create function pick(n int) returns int language sql stable as 'select n';
`, func(settings *api.Settings) { settings.Schemas = []string{"public", "other"} })
	options := func(name, path string, allow string) exchange {
		return exchange{name: name, method: "OPTIONS", path: path, status: 200, want: "", header: []string{"Allow: " + allow, "Access-Control-Allow-Origin: *", "Content-Length: 0", "Content-Type:"}}
	}
	const all = "OPTIONS,GET,HEAD,POST,PUT,PATCH,DELETE"
	run(t, s, []exchange{
		options("a partitioned table", "years", all),
		options("a view with all triggers and a key", "joined", all),
		options("a view with a trigger for inserts", "only_insert", "OPTIONS,GET,HEAD,POST"),
		options("a view with a trigger for updates", "only_update", "OPTIONS,GET,HEAD,PATCH"),
		options("a view with a trigger for deletes", "only_delete", "OPTIONS,GET,HEAD,DELETE"),
		options("a simple view without a key", "keyless", "OPTIONS,GET,HEAD,POST,PATCH,DELETE"),
		options("a view of two tables", "tags_of", "OPTIONS,GET,HEAD"),
		options("a materialized view", "still", "OPTIONS,GET,HEAD"),
		options("a function with arguments", "rpc/pick", "OPTIONS,GET,HEAD,POST"),
		options("query strings do not count", "work?select=nope&id=eq", all),
		{name: "of another schema", method: "OPTIONS", path: "hidden_here", headers: []string{"Accept-Profile: other"}, status: 200, header: []string{"Allow: " + all}},
		{name: "of another schema by the wrong header", method: "OPTIONS", path: "hidden_here", headers: []string{"Content-Profile: other"}, status: 404, has: []string{"PGRST205"}},
		{name: "of a schema that is none", method: "OPTIONS", path: "work", headers: []string{"Accept-Profile: nope"}, status: 406, has: []string{"PGRST106"}},
		{name: "a deeper path", method: "OPTIONS", path: "work/1", status: 404, has: []string{"PGRST125"}},
		{name: "a method that is none", method: "TRACE", path: "work", status: 405, want: refusal("PGRST117", "Unsupported HTTP method: TRACE", "", "")},
		{name: "a preflight", method: "OPTIONS", path: "work", headers: []string{"Origin: http://a.example", "Access-Control-Request-Method: PATCH", "Access-Control-Request-Headers: prefer"}, status: 204, want: "",
			header: []string{"Access-Control-Allow-Origin: *", "Access-Control-Allow-Headers: prefer", "Allow:"}},
	})
}
