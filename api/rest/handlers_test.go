package rest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"basalt/api"
	"basalt/api/apitest"
)

// studio is a schema whose domains are named as media types: functions and aggregates that return them make answers.
const studio = `
create domain "text/html" as text;
create domain "text/plain" as text;
create domain "text/xml" as xml;
create domain "text/csv" as text;
create domain "application/json" as json;
create domain "Application/Vnd.Mixed" as text;
create domain "application/vnd.count+json" as jsonb;
create domain "application/vnd.number" as int;
create domain "application/vnd.pgrst.object" as text;
create domain "application/octet-stream" as bytea;
create domain "image/png" as bytea;
create domain "pg/outfunc" as text;
create domain "*/*" as bytea;

create table client (id int primary key, name text);
create table project (id int primary key, name text, client_id int references client);
insert into client values (1, 'Ann'), (2, 'Bo');
insert into project values (1, 'Seven', 1), (2, 'Ten', 1), (3, 'Eleven', 2);
create table plain (id int primary key, note text);
insert into plain values (1, 'a'), (2, null);
create table doc (id int primary key, body xml);
insert into doc values (1, '<a/>'), (2, '<b>x</b>');
create table document (id int primary key);
insert into document values (1), (2);
create table listed (id int primary key, name text);
insert into listed values (1, 'one'), (2, 'two');
create view listed_view as select * from listed;
create table scarred (id int primary key, gone text, name text, twice int generated always as (id * 2) stored);
alter table scarred drop column gone;
insert into scarred values (1, 'x');
create table guarded (id int primary key, owner text);
insert into guarded values (1, 'anon'), (2, 'other');
alter table guarded enable row level security;
create policy own on guarded using (owner = current_user);

create function always(project) returns boolean language sql stable as 'select true';

create function out_step(state text, next anyelement) returns "pg/outfunc" language sql as $$
  select (coalesce(state, '') || next::text || chr(10))::"pg/outfunc" $$;
create aggregate out_agg(anyelement) (stype = "pg/outfunc", sfunc = out_step, initcond = '');

create function count_step(state "application/vnd.count+json", next anyelement) returns "application/vnd.count+json" language sql as $$
  select pg_catalog.jsonb_build_object('n', (state->>'n')::int + 1, 'of', 'anything') $$;
create aggregate count_agg(anyelement) (stype = "application/vnd.count+json", sfunc = count_step, initcond = '{"n":0}');
create function count_listed_step(state "application/vnd.count+json", next listed) returns "application/vnd.count+json" language sql as $$
  select pg_catalog.jsonb_build_object('n', (state->>'n')::int + 1, 'last', next.name) $$;
create aggregate count_listed(listed) (stype = "application/vnd.count+json", sfunc = count_listed_step, initcond = '{"n":0}');

create function doc_step(state "text/xml", next doc) returns "text/xml" language sql as 'select xmlconcat(state, next.body)::"text/xml"';
create aggregate doc_agg(doc) (stype = "text/xml", sfunc = doc_step);

create function scarred_step(state "text/html", next scarred) returns "text/html" language sql as 'select state || next.name || next.twice';
create aggregate scarred_agg(scarred) (stype = "text/html", sfunc = scarred_step, initcond = '');
create function document_step(state text, next document) returns text language sql as 'select state || next.id';
create function document_final(state text) returns "application/json" language sql as $$ select pg_catalog.json_build_object('over', state)::"application/json" $$;
create aggregate document_agg(document) (stype = text, sfunc = document_step, finalfunc = document_final, initcond = '');

create function bom_step(state text, next listed) returns "text/csv" language sql as $$ select state || next.id || ';' || next.name || chr(10) $$;
create function bom_final(state "text/csv") returns "text/csv" language sql as $$
  select set_config('response.headers', '[{"Content-Disposition": "attachment; filename=\"listed.csv\""}]', true);
  select chr(65279) || state $$;
create aggregate bom(listed) (stype = "text/csv", sfunc = bom_step, finalfunc = bom_final, initcond = '');

create function numbers_step(state "*/*", next client) returns "*/*" language sql as $$ select state || convert_to(next.name || '.', 'UTF8') $$;
create function numbers_final(state "*/*") returns "*/*" language plpgsql as $$
declare accept text := current_setting('request.headers', true)::json->>'accept';
begin
  case
    when accept like 'magic/%' then perform set_config('response.headers', '[{"Content-Type": "' || accept || '"}]', true);
    when accept like 'wrong/%' then raise sqlstate 'PT415' using message = 'Unsupported Media Type';
    else null;
  end case;
  return state;
end $$;
create aggregate numbers_agg(client) (stype = "*/*", sfunc = numbers_step, finalfunc = numbers_final, initcond = '');

create function page() returns "text/html" language sql stable as $$ select '<p>hé</p>' $$;
create function page_of(name text) returns "text/html" language sql stable as $$ select '<p>' || name || '</p>' $$;
create function pages() returns setof "text/html" language sql stable as $$ select '<p>1</p>' union all select '<p>2</p>' $$;
create function no_page() returns "text/html" language sql stable as 'select null::text';
create function words() returns "text/plain" language sql stable as $$ select 'words' $$;
create function tags() returns "text/xml" language sql stable as $$ select '<t/>'::xml $$;
create function image() returns "image/png" language sql stable as $$ select '\x89504e47'::bytea $$;
create function raw() returns "application/octet-stream" language sql stable as $$ select '\x00ff'::bytea $$;
create function mixed() returns "Application/Vnd.Mixed" language sql stable as $$ select 'mixed' $$;
create function number() returns "application/vnd.number" language sql stable as 'select 42';
create function counted() returns "application/vnd.count+json" language sql stable as $$ select '{"n": 7}'::jsonb $$;
create function whatever() returns "*/*" language plpgsql stable as $$
declare accept text := current_setting('request.headers', true)::json->>'accept';
begin
  case accept
    when 'app/chico' then perform set_config('response.headers', '[{"Content-Type": "app/chico"}]', true); return 'chico';
    when 'text/csv' then raise sqlstate 'PT406' using message = 'Not Acceptable';
    else return 'any';
  end case;
end $$;
create function projects(since int default 0) returns setof project language sql stable as 'select * from project where id >= since order by id';
create function listing() returns setof listed language sql stable as 'select * from listed order by id';
create function one_listed(i int) returns listed language sql stable as 'select * from listed where id = i';
create function three() returns int language sql stable as 'select 3';
create function threes() returns setof int language sql stable as 'select generate_series(1, 3)';
` + open

func TestHandlersOfTheDatabaseMakeAnswers(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, studio, nil)
	accept := func(what string) []string { return []string{"Accept: " + what} }
	kind := func(what string, more ...string) []string { return append(more, "Content-Type: "+what) }
	missing := func(what string) string {
		return refusal("PGRST107", "None of these media types are available: "+what, "", "")
	}
	const out, count = "pg/outfunc", "application/vnd.count+json"
	run(t, s, []exchange{
		// functions that return a value of a media type
		{name: "a page", path: "rpc/page", headers: accept("text/html"), status: 200, want: "<p>hé</p>", header: kind("text/html", "Content-Length: 10")},
		{name: "a page by POST with an argument", method: "POST", path: "rpc/page_of", headers: accept("text/html"), body: `{"name":"x"}`, status: 200, want: "<p>x</p>", header: kind("text/html")},
		{name: "a page in JSON", path: "rpc/page", status: 200, want: `"<p>hé</p>"`, header: kind("application/json; charset=utf-8")},
		{name: "a page for whoever takes anything is JSON", path: "rpc/page", headers: accept("*/*"), status: 200, want: `"<p>hé</p>"`},
		{name: "a page for a browser", path: "rpc/page", headers: accept("text/html,application/xhtml+xml,application/xml;q=0.9,image/png,*/*;q=0.8"), status: 200, want: "<p>hé</p>", header: kind("text/html")},
		{name: "a page in capital letters", path: "rpc/page", headers: accept("Text/HTML"), status: 200, want: "<p>hé</p>", header: kind("text/html")},
		{name: "a page with parameters that nobody knows", path: "rpc/page", headers: accept("text/html;level=1"), status: 200, want: "<p>hé</p>", header: kind("text/html")},
		{name: "a page is no plain text", path: "rpc/page", headers: accept("text/plain"), status: 406, want: missing("text/plain"), header: kind("application/json; charset=utf-8")},
		{name: "a page that is null is empty", path: "rpc/no_page", headers: accept("text/html"), status: 200, want: "", header: kind("text/html")},
		{name: "several pages are none", path: "rpc/pages", headers: accept("text/html"), status: 406, want: missing("text/html")},
		{name: "HEAD of a page", method: "HEAD", path: "rpc/page", headers: accept("text/html"), status: 200, header: kind("text/html", "Content-Length:")},
		{name: "plain text", path: "rpc/words", headers: accept("text/plain"), status: 200, want: "words", header: kind("text/plain; charset=utf-8")},
		{name: "XML", path: "rpc/tags", headers: accept("text/xml"), status: 200, want: "<t/>", header: kind("text/xml; charset=utf-8")},
		{name: "bytes", path: "rpc/raw", headers: accept("application/octet-stream"), status: 200, want: "\x00\xff", header: kind("application/octet-stream")},
		{name: "an image", path: "rpc/image", headers: accept("image/png"), status: 200, want: "\x89PNG", header: kind("image/png", "Content-Length: 4")},
		{name: "an image before anything", path: "rpc/image", headers: accept("*/*, image/png"), status: 200, want: "\x89PNG", header: kind("image/png")},
		{name: "a type named in capital letters", path: "rpc/mixed", headers: accept("application/vnd.mixed"), status: 200, want: "mixed", header: kind("Application/Vnd.Mixed")},
		{name: "a number", path: "rpc/number", headers: accept("application/vnd.number"), status: 200, want: "42", header: kind("application/vnd.number")},
		{name: "jsonb without its version byte", path: "rpc/counted", headers: accept(count), status: 200, want: `{"n": 7}`, header: kind(count)},
		{name: "a function of every type", path: "rpc/whatever", headers: accept("text/bango"), status: 200, want: "any", header: kind("application/octet-stream")},
		{name: "a function of every type without Accept", path: "rpc/whatever", status: 200, want: "any", header: kind("application/octet-stream")},
		{name: "a function of every type that names one", path: "rpc/whatever", headers: accept("app/chico"), status: 200, want: "chico", header: kind("app/chico")},
		{name: "a function of every type that refuses one", path: "rpc/whatever", headers: accept("text/csv"), status: 406, has: []string{"Not Acceptable"}, header: kind("application/json; charset=utf-8")},

		// aggregates over the rows of one relation
		{name: "XML of a table", path: "doc?order=id", headers: accept("text/xml"), status: 200, want: "<a/><b>x</b>", header: kind("text/xml; charset=utf-8", "Content-Range: 0-1/*")},
		{name: "XML of no rows", path: "doc?id=eq.9", headers: accept("text/xml"), status: 200, want: "", header: kind("text/xml; charset=utf-8", "Content-Range: */*")},
		{name: "another table has no XML", path: "plain", headers: accept("text/xml"), status: 406, want: missing("text/xml")},
		{name: "JSON that a table makes itself", path: "document?order=id.desc", headers: accept("application/json"), status: 200, want: `{"over" : "21"}`, header: kind("application/json; charset=utf-8")},
		{name: "JSON that a table makes itself as an array", path: "document?order=id", headers: accept("application/vnd.pgrst.array+json"), status: 200, want: `{"over" : "12"}`, header: kind("application/json; charset=utf-8")},
		{name: "not for whoever asks for nothing", path: "document?order=id", status: 200, want: `[{"id":1},{"id":2}]`},
		{name: "nor for whoever takes anything", path: "document?order=id", headers: accept("*/*"), status: 200, want: `[{"id":1},{"id":2}]`},
		{name: "not for some columns", path: "document?select=id&order=id", headers: accept("application/json"), status: 200, want: `[{"id":1},{"id":2}]`},
		{name: "but for all of them", path: "document?select=*&order=id", headers: accept("application/json"), status: 200, want: `{"over" : "12"}`},
		{name: "types of the server's own stay", path: "document?id=eq.1", headers: accept("application/vnd.pgrst.object"), status: 200, want: `{"id":1}`},
		{name: "nulls stripped stay the server's own", path: "document?id=eq.1", headers: accept("application/vnd.pgrst.array+json;nulls=stripped"), status: 200, want: `[{"id":1}]`},
		{name: "CSV with a header of its own", path: "listed?order=id", headers: accept("text/csv"), status: 200, want: "\ufeff1;one\n2;two\n",
			header: kind("text/csv; charset=utf-8", `Content-Disposition: attachment; filename="listed.csv"`)},
		{name: "HEAD has that header too", method: "HEAD", path: "listed", headers: accept("text/csv"), status: 200, header: kind("text/csv; charset=utf-8", `Content-Disposition: attachment; filename="listed.csv"`)},
		{name: "CSV of some columns is the server's", path: "listed?select=name,id&order=id", headers: accept("text/csv"), status: 200, want: "name,id\none,1\ntwo,2"},
		{name: "a view has other rows", path: "listed_view?order=id", headers: accept("text/csv"), status: 200, want: "id,name\n1,one\n2,two"},
		{name: "rows of a window with a count", path: "listed?order=id&limit=1&offset=1", headers: []string{"Accept: text/csv", "Prefer: count=exact"}, status: 206, want: "\ufeff2;two\n", header: []string{"Content-Range: 1-1/2"}},
		{name: "rows of the table from a function", path: "rpc/listing", headers: accept("text/csv"), status: 200, want: "\ufeff1;one\n2;two\n", header: []string{"Content-Range: 0-1/*"}},
		{name: "some of them with a count", path: "rpc/listing?limit=1", headers: []string{"Accept: text/csv", "Prefer: count=exact"}, status: 206, want: "\ufeff1;one\n", header: []string{"Content-Range: 0-0/2"}},
		{name: "none of them with a count", path: "rpc/listing?offset=2", headers: []string{"Accept: text/csv", "Prefer: count=exact"}, status: 206, want: "\ufeff", header: []string{"Content-Range: */2"}},
		{name: "beyond them with a count", path: "rpc/listing?offset=3", headers: []string{"Accept: text/csv", "Prefer: count=exact"}, status: 416, has: []string{"PGRST103"}},
		{name: "one row of the table from a function", path: "rpc/one_listed?i=2", headers: accept("text/csv"), status: 200, want: "\ufeff2;two\n"},

		{name: "a table that lost a column", path: "scarred", headers: accept("text/html"), status: 200, want: "x2", header: kind("text/html")},
		{name: "and its rows written", method: "POST", path: "scarred", headers: []string{give, "Accept: text/html"}, body: `[{"id":2,"name":"y"},{"id":3,"name":"z"}]`, status: 201, want: "y4z6"},

		// aggregates over any rows
		{name: "any table", path: "plain?order=id", headers: accept(out), status: 200, want: "(1,a)\n(2,)\n", header: kind(out, "Content-Range: 0-1/*")},
		{name: "some columns in their order", path: "project?select=name,id&id=lte.2&order=id", headers: accept(out), status: 200, want: "(Seven,1)\n(Ten,2)\n"},
		{name: "no columns", path: "project?select=&id=lte.2", headers: accept(out), status: 200, want: "()\n()\n"},
		{name: "a computed column", path: "project?select=id,always&id=eq.1", headers: accept(out), status: 200, want: "(1,t)\n"},
		{name: "an embed to one", path: "project?select=id,client(id,name)&id=eq.1", headers: accept(out), status: 200, want: "(1,\"{\"\"id\"\":1,\"\"name\"\":\"\"Ann\"\"}\")\n"},
		{name: "an embed to many", path: "client?select=id,project(id)&id=eq.1&project.order=id.desc", headers: accept(out), status: 200, want: "(1,\"[{\"\"id\"\":2}, \n {\"\"id\"\":1}]\")\n"},
		{name: "an embed to many of none", path: "client?select=id,project(id)&id=eq.1&project.id=eq.0", headers: accept(out), status: 200, want: "(1,[])\n"},
		{name: "an embed in an embed under an alias", path: "client?select=id,p:project(i:id,client(name))&id=eq.2", headers: accept(out), status: 200, want: "(2,\"[{\"\"i\"\":3,\"\"client\"\":{\"\"name\"\":\"\"Bo\"\"}}]\")\n"},
		{name: "a spread to one", path: "project?select=id,...client(who:name)&id=eq.3", headers: accept(out), status: 200, want: "(3,Bo)\n"},
		{name: "a spread to many", path: "client?select=id,...project(ids:id)&id=eq.1&project.order=id.desc", headers: accept(out), status: 200, want: "(1,\"[2, 1]\")\n"},
		{name: "ordered by an embed", path: "project?select=id,client(name)&order=client(name).desc,id&limit=2", headers: accept(out), status: 200, want: "(3,\"{\"\"name\"\":\"\"Bo\"\"}\")\n(1,\"{\"\"name\"\":\"\"Ann\"\"}\")\n"},
		{name: "rows of a function", path: "rpc/projects?since=3&select=id", headers: accept(out), status: 200, want: "(3)\n"},
		{name: "a scalar", path: "rpc/three", headers: accept(out), status: 200, want: "3\n", header: kind(out, "Content-Range: 0-0/*")},
		{name: "scalars", path: "rpc/threes", headers: accept(out), status: 200, want: "(1)\n(2)\n(3)\n"},
		{name: "an aggregate for any rows", path: "plain", headers: accept(count), status: 200, want: `{"n": 2, "of": "anything"}`, header: kind(count)},
		{name: "one for the table is preferred", path: "listed?order=id", headers: accept(count), status: 200, want: `{"n": 2, "last": "two"}`},
		{name: "and for a function of the table's rows", path: "rpc/listing", headers: accept(count), status: 200, want: `{"n": 2, "last": "two"}`},
		{name: "policies hold", path: "guarded", headers: accept(out), status: 200, want: "(1,anon)\n", header: []string{"Content-Range: 0-0/*"}},

		// the domain of every media type
		{name: "a table that makes everything", path: "client?order=id", status: 200, want: "Ann.Bo.", header: kind("application/octet-stream")},
		{name: "JSON too", path: "client?id=eq.1", headers: accept("application/json"), status: 200, want: "Ann.", header: kind("application/octet-stream")},
		{name: "and says what it is", path: "client?id=eq.1", headers: accept("magic/number"), status: 200, want: "Ann.", header: kind("magic/number")},
		{name: "or refuses", path: "client?id=eq.1", headers: accept("wrong/kind"), status: 415, has: []string{"Unsupported Media Type"}},
		{name: "some columns are JSON again", path: "client?select=id&id=eq.1", status: 200, want: `[{"id":1}]`},

		// writes
		{name: "a row written", method: "POST", path: "listed", headers: []string{give, "Accept: text/csv"}, body: `{"id":3,"name":"three"}`, status: 201, want: "\ufeff3;three\n", header: kind("text/csv; charset=utf-8")},
		{name: "rows written and counted", method: "POST", path: "listed", headers: []string{"Prefer: return=representation, count=exact", "Accept: " + count}, body: `[{"id":4,"name":"four"},{"id":5,"name":"five"}]`, status: 201,
			want: `{"n": 2, "last": "five"}`, header: []string{"Content-Range: */2"}},
		{name: "a row upserted", method: "POST", path: "listed", headers: []string{"Prefer: return=representation, resolution=merge-duplicates", "Accept: " + count}, body: `{"id":4,"name":"4"}`, status: 200, want: `{"n": 1, "last": "4"}`},
		{name: "rows upserted, some new", method: "POST", path: "listed", headers: []string{"Prefer: return=representation, resolution=merge-duplicates", "Accept: " + out}, body: `[{"id":4,"name":"IV"},{"id":6,"name":"VI"}]`, status: 201, want: "(4,IV)\n(6,VI)\n"},
		{name: "a row put", method: "PUT", path: "listed?id=eq.7", headers: []string{give, "Accept: " + out}, body: `{"id":7,"name":"VII"}`, status: 201, want: "(7,VII)\n"},
		{name: "rows changed", method: "PATCH", path: "listed?id=gte.6", headers: []string{give, "Accept: " + out}, body: `{"name":"x"}`, status: 200, want: "(6,x)\n(7,x)\n", header: []string{"Content-Range: 0-1/*"}},
		{name: "more rows than allowed are not changed", method: "PATCH", path: "listed?id=gte.6", headers: []string{"Prefer: return=representation, handling=strict, max-affected=1", "Accept: " + out}, body: `{"name":"y"}`, status: 400, has: []string{"PGRST124", "2 rows"}},
		{name: "no row changed", method: "PATCH", path: "listed?id=eq.99", headers: []string{give, "Accept: " + out}, body: `{"name":"x"}`, status: 200, want: "", header: []string{"Content-Range: */*"}},
		{name: "nothing to change", method: "PATCH", path: "listed?id=eq.6", headers: []string{give, "Accept: " + out}, body: `{}`, status: 200, want: ""},
		{name: "nothing to change, which an aggregate has its own word for", method: "PATCH", path: "listed?id=eq.6", headers: []string{give, "Accept: " + count}, body: `{}`, status: 200, want: `{"n": 0}`, header: kind(count, "Content-Range: */*")},
		{name: "no row to write", method: "POST", path: "listed", headers: []string{give, "Accept: text/csv"}, body: `[]`, status: 201, want: "\ufeff", header: kind("text/csv; charset=utf-8")},
		{name: "no row to write, with an embed", method: "POST", path: "project?select=id,client(name)", headers: []string{give, "Accept: " + out}, body: `[]`, status: 201, want: ""},
		{name: "rows deleted with an embed", method: "DELETE", path: "project?id=eq.3&select=id,client(name)", headers: []string{give, "Accept: " + out}, status: 200, want: "(3,\"{\"\"name\"\":\"\"Bo\"\"}\")\n"},
		{name: "rows deleted", method: "DELETE", path: "listed?id=gte.3&order=id", headers: []string{give, "Accept: " + out}, status: 200, want: "(3,three)\n(4,IV)\n(5,five)\n(6,x)\n(7,x)\n"},
		{name: "a write that gives nothing back", method: "POST", path: "listed", headers: accept("text/csv"), body: `{"id":8}`, status: 201, want: "", header: []string{"Content-Type:"}},
		{name: "a write that gives nothing back in no type", method: "POST", path: "listed", headers: accept("image/png"), body: `{"id":9}`, status: 406, want: missing("image/png")},
		{name: "that one was not made", path: "listed?id=gte.8&select=id", status: 200, want: `[{"id":8}]`},
	})
}

func TestHandlersComeAndGoWithTheSchema(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, `create table item (id int primary key, name text); insert into item values (1, 'x');`+open, nil)
	ask := func() *apitest.Answer { return s.Do(t, "GET", "/rest/v1/item", "", "Accept: text/html") }
	if answer := ask(); answer.Status != http.StatusNotAcceptable {
		t.Fatalf("before: %d %s", answer.Status, answer.Body)
	}
	s.Database.Exec(t, `
		create domain "text/html" as text;
		create function html_step(state "text/html", next item) returns "text/html" language sql as $$ select state || '<p>' || next.name || '</p>' $$;
		create aggregate html(item) (stype = "text/html", sfunc = html_step, initcond = '');`)
	apitest.Until(t, "the new handler is used", func() bool {
		answer := ask()
		return answer.Status == http.StatusOK && answer.Body == "<p>x</p>" && answer.Header.Get("Content-Type") == "text/html"
	})
	s.Database.Exec(t, `drop aggregate html(item)`)
	apitest.Until(t, "the handler is gone", func() bool { return ask().Status == http.StatusNotAcceptable })
}

// A handler of any rows for every media type stands in where nothing is asked for, and nowhere else.
func TestAHandlerMayStandInForTheDefault(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, `
		create domain "*/*" as text;
		create table item (id int primary key);
		insert into item values (1);
		create function any_step(state "*/*", next anyelement) returns "*/*" language sql as $$ select state || next::text $$;
		create aggregate any_agg(anyelement) (stype = "*/*", sfunc = any_step, initcond = '');`+open, nil)
	own := []string{"Content-Type: application/octet-stream"}
	run(t, s, []exchange{
		{name: "no Accept", path: "item", status: 200, want: "(1)", header: own},
		{name: "anything", path: "item?select=id", headers: []string{"Accept: */*"}, status: 200, want: "(1)", header: own},
		{name: "JSON", path: "item", headers: []string{"Accept: application/json"}, status: 200, want: `[{"id":1}]`},
		{name: "CSV", path: "item", headers: []string{"Accept: text/csv"}, status: 200, want: "id\n1"},
		{name: "another type", path: "item", headers: []string{"Accept: text/html"}, status: 406, has: []string{"PGRST107"}},
	})
}

// Whoever may not call an aggregate, or read the rows, gets nothing by way of it.
func TestHandlersNeedTheRightToBeCalled(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, `
		create domain "text/html" as text;
		create table item (id int primary key);
		insert into item values (1);
		create function html_step(state "text/html", next item) returns "text/html" language sql as $$ select state || next.id $$;
		create aggregate html(item) (stype = "text/html", sfunc = html_step, initcond = '');
		revoke execute on function html(item) from public, anon, authenticated, service_role;`+open, nil)
	answer := s.Do(t, "GET", "/rest/v1/item", "", "Accept: text/html")
	if answer.Status != http.StatusUnauthorized || !strings.Contains(answer.Body, `"42501"`) {
		t.Errorf("%d %s", answer.Status, answer.Body)
	}
}

// A large body made by the database is answered whole, or refused where it has to be held back.
func TestLargeAnswersOfHandlersAreBounded(t *testing.T) {
	t.Parallel()
	const size = 3 << 20
	s := apitest.Start(t, fmt.Sprintf(`
		create domain "text/html" as text;
		create table item (id int primary key);
		insert into item values (1);
		create function html_step(state "text/html", next item) returns "text/html" language sql as $$ select repeat('x', %d) $$;
		create aggregate html(item) (stype = "text/html", sfunc = html_step, initcond = '');`, size)+open,
		func(settings *api.Settings) { settings.AnswerMemory = 2 << 20 })
	answer := s.Do(t, "GET", "/rest/v1/item", "", "Accept: text/html")
	if answer.Status != http.StatusOK || len(answer.Body) != size || answer.Header.Get("Content-Type") != "text/html" {
		t.Errorf("a read: %d with %d bytes", answer.Status, len(answer.Body))
	}
	answer = s.Do(t, "PATCH", "/rest/v1/item?id=eq.1", `{"id":2}`, "Accept: text/html", give)
	if answer.Status != http.StatusRequestEntityTooLarge {
		t.Errorf("a write: %d with %d bytes", answer.Status, len(answer.Body))
	}
}

// A row is read whole before anything of it is answered, so that it has a bound of its own.
func TestARowThatIsTooLargeIsRefused(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, `
		create function wide(n int) returns text immutable language sql as $$ select repeat('x', n) $$;
		create table item (id int primary key);
		insert into item values (1);
		create function body(item) returns text immutable language sql as $$ select repeat('x', 3 << 20) $$;`+open,
		func(settings *api.Settings) { settings.AnswerMemory, settings.BodyLimit = 1<<20, 1<<20 })
	for _, path := range []string{"/rest/v1/item?select=id,body", "/rest/v1/rpc/wide?n=3000000", "/rest/v1/rpc/wide?n=300000000"} {
		answer := s.Do(t, "GET", path, "")
		if answer.Status != http.StatusRequestEntityTooLarge || !strings.Contains(answer.Body, `"54000"`) || !strings.Contains(answer.Body, "A row of") {
			t.Errorf("%s: %d %.200s", path, answer.Status, answer.Body)
		}
	}
	answer, answers := batch(t, s, `[
		{"method":"POST","path":"/item","body":{"id":2}},
		{"method":"GET","path":"/item?select=id"},
		{"method":"PATCH","path":"/item?id=eq.2&select=id,body","prefer":"return=representation","body":{"id":3}},
		{"method":"GET","path":"/item?select=id"}]`)
	if answers != nil || answer.Status != http.StatusRequestEntityTooLarge || !strings.Contains(answer.Body, `"index":2`) {
		t.Errorf("a batch: %d %s", answer.Status, answer.Body)
	}
	if answer := s.Do(t, "GET", "/rest/v1/item", ""); answer.Status != http.StatusOK || answer.Body != `[{"id":1}]` {
		t.Errorf("after that: %d %s", answer.Status, answer.Body)
	}
}
