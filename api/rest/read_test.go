package rest_test

import (
	"strings"
	"testing"

	"basalt/api"
	"basalt/api/apitest"
)

const shelf = `
create table book (id int primary key, title text, pages int, data jsonb);
insert into book values (1, 'One', 10, '{"a":null,"b":{"c":null}}'), (2, 'Two', null, null), (3, 'Three', 30, '[]'),
  (4, 'Four, "4"', 40, null), (5, null, 50, null);
create table author (id int primary key, name text);
create table wrote (book int references book, author int references author, primary key (book, author));
insert into author values (1, 'Ann'), (2, 'Bob');
insert into wrote values (1, 1), (1, 2), (2, 1);
create view recent as select id, title from book where id > 3;
create view fixed as select 1 as one;
create function secret_of(book) returns text language sql stable as $$ select 'x' $$;
create table bare (a int, b int);
create table closed (id int primary key);
` + open + `
revoke all on closed from anon, authenticated, service_role;`

func TestReadingAnswersWithRangesCountsAndHeaders(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, shelf, nil)
	run(t, s, []exchange{
		{name: "rows come as an array with all headers of a read", path: "book?select=id,title&id=lte.2&order=id",
			status: 200, want: `[{"id":1,"title":"One"},{"id":2,"title":"Two"}]`,
			header: []string{"Content-Type: application/json; charset=utf-8", "Content-Range: 0-1/*",
				"Content-Location: /book?id=lte.2&order=id&select=id%2Ctitle", "Content-Profile:", "Preference-Applied:"}},
		{name: "nothing found is an empty array", path: "book?id=eq.99", status: 200, want: `[]`,
			header: []string{"Content-Range: */*"}},
		{name: "limit and offset", path: "book?select=id&order=id&limit=2&offset=1", status: 200, want: `[{"id":2},{"id":3}]`,
			header: []string{"Content-Range: 1-2/*"}},
		{name: "a limit of 0 is allowed", path: "book?limit=0", status: 200, want: `[]`, header: []string{"Content-Range: */*"}},
		{name: "a limit of 0 with a count", path: "book?limit=0", headers: []string{"Prefer: count=exact"}, status: 206, want: `[]`,
			header: []string{"Content-Range: */5", "Preference-Applied: count=exact"}},
		{name: "a limit that is no number is no limit", path: "book?select=id&limit=abc&order=id", status: 200,
			want: `[{"id":1},{"id":2},{"id":3},{"id":4},{"id":5}]`},
		{name: "a negative limit cannot be satisfied", path: "book?limit=-1", status: 416, has: []string{`"code":"PGRST103"`, "Requested range not satisfiable"}},
		{name: "an exact count of everything", path: "book?select=id&order=id", headers: []string{"Prefer: count=exact"}, status: 200,
			want: anything, header: []string{"Content-Range: 0-4/5", "Preference-Applied: count=exact"}},
		{name: "a part of a known total is 206", path: "book?select=id&order=id&limit=2&offset=1", headers: []string{"Prefer: count=exact"},
			status: 206, want: `[{"id":2},{"id":3}]`, header: []string{"Content-Range: 1-2/5"}},
		{name: "the count follows the filters", path: "book?select=id&id=gt.3&order=id", headers: []string{"Prefer: count=exact"},
			status: 200, want: anything, header: []string{"Content-Range: 0-1/2"}},
		{name: "an offset at the end of a known total", path: "book?offset=5", headers: []string{"Prefer: count=exact"},
			status: 206, want: `[]`, header: []string{"Content-Range: */5"}},
		{name: "an offset beyond a known total cannot be satisfied", path: "book?offset=9", headers: []string{"Prefer: count=exact"},
			status: 416, want: refusal("PGRST103", "Requested range not satisfiable", "An offset of 9 was requested, but there are only 5 rows.", ""),
			header: []string{"Content-Range: */5"}},
		{name: "an offset beyond an unknown total is empty", path: "book?offset=9", status: 200, want: `[]`, header: []string{"Content-Range: */*"}},
		{name: "a Range header", path: "book?select=id&order=id", headers: []string{"Range-Unit: items", "Range: 0-1"}, status: 200,
			want: `[{"id":1},{"id":2}]`, header: []string{"Content-Range: 0-1/*"}},
		{name: "a Range header for one row", path: "book?select=id&order=id", headers: []string{"Range: 0-0"}, status: 200,
			want: `[{"id":1}]`, header: []string{"Content-Range: 0-0/*"}},
		{name: "an open Range header", path: "book?select=id&order=id", headers: []string{"Range: 3-"}, status: 200,
			want: `[{"id":4},{"id":5}]`, header: []string{"Content-Range: 3-4/*"}},
		{name: "Range header and limit meet in their intersection", path: "book?select=id&order=id&limit=3&offset=1", headers: []string{"Range: 2-9"},
			status: 200, want: `[{"id":3},{"id":4}]`, header: []string{"Content-Range: 2-3/*"}},
		{name: "a Range header that ends before it begins", path: "book", headers: []string{"Range: 3-1"}, status: 416, has: []string{"PGRST103"}},
		{name: "a Range header of 0--1", path: "book", headers: []string{"Range: 0--1"}, status: 416, has: []string{"PGRST103"}},
		{name: "a Range header in bytes is passed over", path: "book?select=id&id=eq.1", headers: []string{"Range: bytes=0-99"}, status: 200, want: `[{"id":1}]`},
		{name: "HEAD has the headers only", method: "HEAD", path: "book?select=id&limit=2", headers: []string{"Prefer: count=exact"},
			status: 206, header: []string{"Content-Range: 0-1/5", "Content-Length:", "Content-Type: application/json; charset=utf-8",
				"Content-Location: /book?limit=2&select=id"}},
		{name: "HEAD beyond a known total", method: "HEAD", path: "book?offset=9", headers: []string{"Prefer: count=exact"}, status: 416,
			header: []string{"Content-Range: */5", "Content-Length:"}},
		{name: "HEAD of what does not exist", method: "HEAD", path: "nope", status: 404, header: []string{"Content-Length:"}},
		{name: "HEAD does not look at Range", method: "HEAD", path: "book", headers: []string{"Range: 0-0"}, status: 200, header: []string{"Content-Range: 0-4/*"}},
		{name: "an empty select gives empty objects", path: "book?select=&id=lte.2", status: 200, want: `[{},{}]`, header: []string{"Content-Range: 0-1/*"}},
		{name: "a planned count", path: "bare", headers: []string{"Prefer: count=planned"}, status: 206, want: `[]`,
			header: []string{"Preference-Applied: count=planned"}},
		{name: "an estimated count is exact while it is small", path: "book?select=id&limit=1&order=id", headers: []string{"Prefer: count=estimated"},
			status: 206, want: `[{"id":1}]`, header: []string{"Content-Range: 0-0/5"}},
		{name: "an inner embed counts in the total", path: "book?select=id,author!inner(name)&author.name=eq.Bob", headers: []string{"Prefer: count=exact"},
			status: 200, want: `[{"id":1,"author":[{"name":"Bob"}]}]`, header: []string{"Content-Range: 0-0/1"}},
		{name: "a table that is not there", path: "bok", status: 404,
			want: refusal("PGRST205", "Could not find the table 'public.bok' in the schema cache", "", "Perhaps you meant the table 'public.book'")},
		{name: "a column that is not there", path: "book?select=nope", status: 400, has: []string{`"code":"42703"`}},
		{name: "a filter that is none", path: "book?id=foo.1", status: 400, has: []string{`"code":"PGRST100"`, "failed to parse filter (foo.1)"}},
		{name: "a value of the wrong type", path: "book?id=eq.x", status: 400, has: []string{`"code":"22P02"`}},
		{name: "a table without privileges", path: "closed", status: 401, has: []string{`"code":"42501"`}, header: []string{"WWW-Authenticate: Bearer"}},
		{name: "a deeper path", path: "book/1", status: 404, want: refusal("PGRST125", "Invalid path specified in request URL", "", "")},
		{name: "a path that begins twice", path: "rest/v1/book", status: 404, want: refusal("PGRST125", "Invalid path specified in request URL", "", "Paths begin behind /rest/v1.")},
		{name: "an unknown method", method: "TRACE", path: "book", status: 405, want: refusal("PGRST117", "Unsupported HTTP method: TRACE", "", "")},
		{name: "a semicolon separates parameters", path: "book?select=id;id=eq.2", status: 200, want: `[{"id":2}]`},
		{name: "an escaped semicolon is a character", path: "book?select=id&title=eq.a%3Bb", status: 200, want: `[]`},
		{name: "the key may be a parameter", path: "book?select=id&id=eq.1&apikey=" + s.Keys.AnonKey, headers: []string{"Apikey:"}, status: 200,
			want: `[{"id":1}]`, header: []string{"Content-Location: /book?id=eq.1&select=id"}},
		{name: "the key may stand behind a semicolon", path: "book?select=id;id=eq.1;apikey=" + s.Keys.AnonKey, headers: []string{"Apikey:"}, status: 200,
			want: `[{"id":1}]`, header: []string{"Content-Location: /book?id=eq.1&select=id"}},
		{name: "a computed column", path: "book?select=id,secret_of&id=eq.1", status: 200, want: `[{"id":1,"secret_of":"x"}]`},
	})
}

func TestMaxRowsCapsReadsAndNotWrites(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, `create table n (id int primary key); insert into n select generate_series(1, 10); create function ns() returns setof int language sql stable as 'select generate_series(1,10)';
		create function rows_of() returns setof n language sql stable as 'select * from n';`+open,
		func(s *api.Settings) { s.MaxRows = 3 })
	run(t, s, []exchange{
		{name: "a read", path: "n?order=id", status: 200, want: `[{"id":1},{"id":2},{"id":3}]`, header: []string{"Content-Range: 0-2/*"}},
		{name: "a read that wants more", path: "n?order=id&limit=9", status: 200, want: `[{"id":1},{"id":2},{"id":3}]`},
		{name: "a read that wants less", path: "n?order=id&limit=1", status: 200, want: `[{"id":1}]`},
		{name: "the exact count sees all", path: "n?order=id", headers: []string{"Prefer: count=exact"}, status: 206, want: anything, header: []string{"Content-Range: 0-2/10"}},
		{name: "a function's rows", path: "rpc/rows_of?order=id", status: 200, want: `[{"id":1},{"id":2},{"id":3}]`},
		{name: "a write gives back all", method: "PATCH", path: "n?id=gt.0", headers: []string{"Prefer: return=representation", s.Service()},
			body: `{"id":1}`, status: 409, has: []string{"23505"}},
		{name: "a delete gives back all", method: "DELETE", path: "n?id=lt.6&select=id", headers: []string{"Prefer: return=representation"},
			status: 200, want: `[{"id":1},{"id":2},{"id":3},{"id":4},{"id":5}]`, header: []string{"Content-Range: */*"}},
	})
}

func TestMediaTypesOfReads(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, shelf, nil)
	object := "Accept: application/vnd.pgrst.object+json"
	run(t, s, []exchange{
		{name: "whatever", path: "book?select=id&id=eq.1", headers: []string{"Accept: */*"}, status: 200, want: `[{"id":1}]`},
		{name: "no Accept at all", path: "book?select=id&id=eq.1", status: 200, want: `[{"id":1}]`},
		{name: "what browsers send", path: "book?select=id&id=eq.1", headers: []string{"Accept: text/html,application/xhtml+xml,*/*;q=0.8"}, status: 200,
			want: `[{"id":1}]`, header: []string{"Content-Type: application/json; charset=utf-8"}},
		{name: "an array by its own name", path: "book?select=id&id=eq.1", headers: []string{"Accept: application/vnd.pgrst.array+json"}, status: 200, want: `[{"id":1}]`},
		{name: "one object", path: "book?select=id&id=eq.1", headers: []string{object}, status: 200, want: `{"id":1}`,
			header: []string{"Content-Type: application/vnd.pgrst.object+json; charset=utf-8", "Content-Range: 0-0/*"}},
		{name: "one object by its short name", path: "book?select=id&id=eq.1", headers: []string{"Accept: application/vnd.pgrst.object"}, status: 200, want: `{"id":1}`},
		{name: "one object of none", path: "book?id=eq.99", headers: []string{object}, status: 406,
			want: refusal("PGRST116", "Cannot coerce the result to a single JSON object", "The result contains 0 rows", "")},
		{name: "one object of several", path: "book", headers: []string{object}, status: 406, has: []string{"PGRST116", "The result contains 5 rows"}},
		{name: "nulls stripped from an array, in jsonb too", path: "book?select=*&id=lte.2&order=id", headers: []string{"Accept: application/vnd.pgrst.array+json;nulls=stripped"},
			status: 200, want: `[{"id":1,"title":"One","pages":10,"data":{"b":{}}},{"id":2,"title":"Two"}]`,
			header: []string{"Content-Type: application/vnd.pgrst.array+json;nulls=stripped; charset=utf-8"}},
		{name: "nulls stripped from one object", path: "book?select=id,pages&id=eq.2", headers: []string{object + ";nulls=stripped"}, status: 200, want: `{"id":2}`,
			header: []string{"Content-Type: application/vnd.pgrst.object+json;nulls=stripped; charset=utf-8"}},
		{name: "nulls stay in plain JSON whatever the parameter", path: "book?select=id,pages&id=eq.2", headers: []string{"Accept: application/json;nulls=stripped"},
			status: 200, want: `[{"id":2,"pages":null}]`},
		{name: "CSV", path: "book?select=id,title,pages&order=id", headers: []string{"Accept: text/csv"}, status: 200,
			want:   "id,title,pages\n1,One,10\n2,Two,\n3,Three,30\n4,\"Four, \"\"4\"\"\",40\n5,,50",
			header: []string{"Content-Type: text/csv; charset=utf-8", "Content-Range: 0-4/*"}},
		{name: "CSV of nothing is empty", path: "book?id=eq.99", headers: []string{"Accept: text/csv"}, status: 200, want: ""},
		{name: "CSV with an embed as JSON text", path: "book?select=id,author(name)&id=eq.2", headers: []string{"Accept: text/csv"}, status: 200,
			want: "id,author\n2,\"[{\"\"name\"\":\"\"Ann\"\"}]\""},
		{name: "CSV with quoted names", path: `book?select="a,b":id,"c""d":pages&id=eq.1`, headers: []string{"Accept: text/csv"}, status: 400, has: []string{"PGRST100"}},
		{name: "CSV with names that need quotes", path: `book?select="a,b":id,"c\"d":pages&id=eq.1`, headers: []string{"Accept: text/csv"}, status: 200,
			want: "\"a,b\",\"c\"\"d\"\n1,10"},
		{name: "one object a line", path: "book?select=id&order=id&limit=2", headers: []string{"Accept: application/x-ndjson"}, status: 200,
			want: "{\"id\":1}\n{\"id\":2}\n", header: []string{"Content-Type: application/x-ndjson; charset=utf-8"}},
		{name: "one object a line of nothing", path: "book?id=eq.99", headers: []string{"Accept: application/x-ndjson"}, status: 200, want: ""},
		{name: "the best rated wins", path: "book?select=id&id=eq.1", headers: []string{"Accept: application/json;q=0.5, text/csv"}, status: 200, want: "id\n1"},
		{name: "the first of equals wins", path: "book?select=id&id=eq.1", headers: []string{"Accept: text/csv, application/json"}, status: 200, want: "id\n1"},
		{name: "a rating of 0 is a refusal", path: "book", headers: []string{"Accept: application/json;q=0"}, status: 406, has: []string{"PGRST107"}},
		{name: "nothing that is offered", path: "book", headers: []string{"Accept: image/png, application/pdf"}, status: 406,
			want: refusal("PGRST107", "None of these media types are available: image/png, application/pdf", "", "")},
		{name: "text is for functions", path: "book", headers: []string{"Accept: text/plain"}, status: 406, has: []string{"PGRST107"}},
		{name: "an Accept that is none", path: "book", headers: []string{"Accept: ;;;"}, status: 406, has: []string{"PGRST107"}},
	})
}

func TestOptionsTellsWhatARelationOrFunctionTakes(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, shelf+`
		create function quiet() returns int language sql stable as 'select 1';
		create function loud() returns int language sql volatile as 'select 1';`, nil)
	run(t, s, []exchange{
		{name: "a table with a key", method: "OPTIONS", path: "book", status: 200, header: []string{"Allow: OPTIONS,GET,HEAD,POST,PUT,PATCH,DELETE"}},
		{name: "a table without one", method: "OPTIONS", path: "bare", status: 200, header: []string{"Allow: OPTIONS,GET,HEAD,POST,PATCH,DELETE"}},
		{name: "an updatable view", method: "OPTIONS", path: "recent", status: 200, header: []string{"Allow: OPTIONS,GET,HEAD,POST,PUT,PATCH,DELETE"}},
		{name: "a view that is not", method: "OPTIONS", path: "fixed", status: 200, header: []string{"Allow: OPTIONS,GET,HEAD"}},
		{name: "a volatile function", method: "OPTIONS", path: "rpc/loud", status: 200, header: []string{"Allow: OPTIONS,POST"}},
		{name: "a stable function", method: "OPTIONS", path: "rpc/quiet", status: 200, header: []string{"Allow: OPTIONS,GET,HEAD,POST"}},
		{name: "the root", method: "OPTIONS", path: "", status: 200, header: []string{"Allow: OPTIONS,GET,HEAD"}},
		{name: "nothing", method: "OPTIONS", path: "nope", status: 404, has: []string{"PGRST205"}},
		{name: "no function", method: "OPTIONS", path: "rpc/nope", status: 404, has: []string{"PGRST202"}},
	})
	if flights := metric(t, s, "basalt_flights_total"); flights != "0" {
		t.Errorf("OPTIONS asked the database: %s flights", flights)
	}
}

// metric reads one value of /metrics.
func metric(t *testing.T, s *apitest.Server, name string) string {
	t.Helper()
	for line := range strings.Lines(s.Do(t, "GET", "/metrics", "").Body) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			return strings.TrimSpace(value)
		}
	}
	t.Fatalf("no metric %s", name)
	return ""
}

func TestSeveralSchemas(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, `
		create table place (id int primary key, at text default 'public'); insert into place values (1);
		create schema other; create schema hidden; grant usage on schema other to anon; 
		create table other.place (id int primary key, at text default 'other'); insert into other.place values (1);
		create table hidden.treasure (id int);
		create function other.where_am_i() returns text language sql stable as $$ select current_setting('search_path') $$;
		grant all on other.place to anon; create schema locked; create table locked.thing (id int);`+open,
		func(s *api.Settings) { s.Schemas = []string{"public", "other", "locked"} })
	run(t, s, []exchange{
		{name: "the first is the default", path: "place?select=at", status: 200, want: `[{"at":"public"}]`, header: []string{"Content-Profile: public"}},
		{name: "Accept-Profile chooses for reads", path: "place?select=at", headers: []string{"Accept-Profile: other"}, status: 200, want: `[{"at":"other"}]`, header: []string{"Content-Profile: other"}},
		{name: "Content-Profile says nothing about reads", path: "place?select=at", headers: []string{"Content-Profile: other"}, status: 200, want: `[{"at":"public"}]`},
		{name: "Content-Profile chooses for writes", method: "POST", path: "place?select=at", headers: []string{"Content-Profile: other", "Prefer: return=representation"},
			body: `{"id":2}`, status: 201, want: `[{"at":"other"}]`, header: []string{"Content-Profile: other"}},
		{name: "Accept-Profile says nothing about writes", method: "POST", path: "place?select=at", headers: []string{"Accept-Profile: other", "Prefer: return=representation"},
			body: `{"id":2}`, status: 201, want: `[{"at":"public"}]`},
		{name: "a function by POST goes by Content-Profile", method: "POST", path: "rpc/where_am_i", headers: []string{"Content-Profile: other"}, status: 200, has: []string{`\"other\", \"public\"`}},
		{name: "a function by GET goes by Accept-Profile", path: "rpc/where_am_i", headers: []string{"Accept-Profile: other"}, status: 200, has: []string{`\"other\", \"public\"`}},
		{name: "OPTIONS goes by Accept-Profile", method: "OPTIONS", path: "rpc/where_am_i", headers: []string{"Accept-Profile: other"}, status: 200, header: []string{"Allow: OPTIONS,GET,HEAD,POST"}},
		{name: "one that is not exposed", path: "treasure", headers: []string{"Accept-Profile: hidden"}, status: 406,
			want: refusal("PGRST106", "Invalid schema: hidden", "", "Only the following schemas are exposed: public, other, locked")},
		{name: "one that does not exist reads the same", path: "treasure", headers: []string{"Accept-Profile: absent"}, status: 406,
			want: refusal("PGRST106", "Invalid schema: absent", "", "Only the following schemas are exposed: public, other, locked")},
		{name: "bytes that are no text", path: "place", headers: []string{"Accept-Profile: \xff\xfe"}, status: 406, has: []string{"PGRST106"}},
		{name: "one without USAGE is forbidden, not absent", path: "thing", headers: []string{"Accept-Profile: locked"}, status: 401, has: []string{`"42501"`}},
		{name: "names of hidden schemas are no hints", path: "treasur", status: 404,
			want: refusal("PGRST205", "Could not find the table 'public.treasur' in the schema cache", "", "")},
	})
}
