package rest_test

import (
	"net/http"
	"testing"

	"basalt/api/apitest"
)

const medley = `
create table t (id int primary key, a text, b bytea, x xml);
insert into t values (1, 'one', '\x00ff', '<a/>'), (2, null, null, null);
create table child (id int primary key, parent int references t);
create function words() returns text language sql stable as $$ select 'wörds' $$;
create function more_words() returns setof text language sql stable as $$ select 'a' union all select 'b' $$;
create function no_words() returns text language sql stable as 'select null::text';
create function bytes() returns bytea language sql stable as $$ select '\x00ff'::bytea $$;
create function markup() returns xml language sql stable as $$ select '<a/>'::xml $$;
create function rows_of() returns setof t language sql stable as 'select * from t order by id';
create function nothing() returns void language sql as 'select';
create function typed() returns text language plpgsql stable as $$
begin
  perform set_config('response.headers', '[{"Content-Type": "text/html"}, {"X-More": "1"}]', true);
  return '<p>';
end $$;
create function failing() returns text language plpgsql stable as $$ begin raise exception 'no'; end $$;
` + open

// Each row is one media type, as a request asks for it and as its answer names it.
func TestMediaTypesAndTheirContentTypes(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, medley, nil)
	const json, array, object = "application/json; charset=utf-8", "application/vnd.pgrst.array+json;nulls=stripped; charset=utf-8", "application/vnd.pgrst.object+json; charset=utf-8"
	const one = "t?select=id,a&id=eq.2"
	tests := []struct {
		name, method, path, accept string
		prefer, body               string
		status                     int
		kind, want                 string
	}{
		{name: "JSON", path: one, accept: "application/json", status: 200, kind: json, want: `[{"id":2,"a":null}]`},
		{name: "JSON with parameters", path: one, accept: "application/json; charset=iso-8859-1; x", status: 200, kind: json, want: `[{"id":2,"a":null}]`},
		{name: "JSON in capital letters", path: one, accept: "APPLICATION/JSON", status: 200, kind: json, want: `[{"id":2,"a":null}]`},
		{name: "anything", path: one, accept: "*/*", status: 200, kind: json, want: `[{"id":2,"a":null}]`},
		{name: "any application", path: one, accept: "application/*", status: 200, kind: json, want: `[{"id":2,"a":null}]`},
		{name: "an array", path: one, accept: "application/vnd.pgrst.array+json", status: 200, kind: json, want: `[{"id":2,"a":null}]`},
		{name: "an array by its short name", path: one, accept: "application/vnd.pgrst.array", status: 200, kind: json, want: `[{"id":2,"a":null}]`},
		{name: "an array without nulls", path: one, accept: "application/vnd.pgrst.array+json;nulls=stripped", status: 200, kind: array, want: `[{"id":2}]`},
		{name: "an array without nulls by its short name", path: one, accept: "application/vnd.pgrst.array; nulls=stripped", status: 200, kind: array, want: `[{"id":2}]`},
		{name: "an object", path: one, accept: "application/vnd.pgrst.object+json", status: 200, kind: object, want: `{"id":2,"a":null}`},
		{name: "an object in capital letters", path: one, accept: "ApplicatIon/vnd.PgRsT.object+json", status: 200, kind: object, want: `{"id":2,"a":null}`},
		{name: "an object without nulls", path: one, accept: "application/vnd.pgrst.object;nulls=stripped", status: 200, kind: "application/vnd.pgrst.object+json;nulls=stripped; charset=utf-8", want: `{"id":2}`},
		{name: "an object of two", path: "t", accept: "application/vnd.pgrst.object+json", status: 406, kind: json, want: anything},
		{name: "CSV", path: one, accept: "text/csv", status: 200, kind: "text/csv; charset=utf-8", want: "id,a\n2,"},
		{name: "CSV before anything", path: one, accept: "*/*, text/csv", status: 200, kind: "text/csv; charset=utf-8", want: "id,a\n2,"},
		{name: "CSV after JSON", path: one, accept: "text/csv;q=0.8, application/json;q=0.9", status: 200, kind: json, want: anything},
		{name: "lines of JSON", path: one, accept: "application/x-ndjson", status: 200, kind: "application/x-ndjson; charset=utf-8", want: "{\"id\":2,\"a\":null}\n"},
		{name: "an error of a request for CSV", path: "t?id=eq.x", accept: "text/csv", status: 400, kind: json, want: anything},
		{name: "a table that is not there, in no type", path: "none", accept: "image/png", status: 404, kind: json, want: anything},
		{name: "what is wanted first is not there", path: one, accept: "text/plain, application/json", status: 200, kind: json, want: anything},
		{name: "a browser", path: one, accept: "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8", status: 200, kind: json, want: anything},
		{name: "text of one column", path: "t?select=a&id=eq.1", accept: "text/plain", status: 406, kind: json, want: anything},
		{name: "bytes of one column", path: "t?select=b&id=eq.1", accept: "application/octet-stream", status: 406, kind: json, want: anything},
		{name: "XML of one column", path: "t?select=x&id=eq.1", accept: "text/xml", status: 406, kind: json, want: anything},
		{name: "text of one column of a function's rows", path: "rpc/rows_of?select=a", accept: "text/plain", status: 406, kind: json, want: anything},
		{name: "OpenAPI of a table", path: "t", accept: "application/openapi+json", status: 406, kind: json, want: anything},
		{name: "a form of a table", path: "t", accept: "application/x-www-form-urlencoded", status: 406, kind: json, want: anything},
		{name: "GeoJSON without PostGIS", path: "t", accept: "application/geo+json", status: 406, kind: json, want: anything},
		{name: "a plan that is not allowed", path: "t", accept: "application/vnd.pgrst.plan", status: 406, kind: json, want: anything},
		{name: "any text", path: one, accept: "text/*", status: 406, kind: json, want: anything},
		{name: "no type at all", path: "t", accept: "undefined", status: 406, kind: json, want: refusal("PGRST107", "None of these media types are available: undefined", "", "")},
		{name: "several that are not there", path: "t", accept: "image/png;q=0.5, Text/Plain;x=y", status: 406, kind: json, want: refusal("PGRST107", "None of these media types are available: Text/Plain, image/png", "", "")},
		{name: "HEAD of CSV", method: "HEAD", path: one, accept: "text/csv", status: 200, kind: "text/csv; charset=utf-8"},
		{name: "HEAD of nothing that there is", method: "HEAD", path: one, accept: "image/png", status: 406, kind: json},
		{name: "text of a function", path: "rpc/words", accept: "text/plain", status: 200, kind: "text/plain; charset=utf-8", want: "wörds"},
		{name: "text of several lines", path: "rpc/more_words", accept: "text/plain", status: 406, kind: json, want: anything},
		{name: "text that is null", path: "rpc/no_words", accept: "text/plain", status: 200, kind: "text/plain; charset=utf-8"},
		{name: "text as bytes", path: "rpc/words", accept: "application/octet-stream", status: 406, kind: json, want: anything},
		{name: "text as CSV", path: "rpc/words", accept: "text/csv", status: 200, kind: "text/csv; charset=utf-8", want: "words\nwörds"},
		{name: "bytes of a function", path: "rpc/bytes", accept: "application/octet-stream", status: 200, kind: "application/octet-stream", want: "\x00\xff"},
		{name: "XML of a function", path: "rpc/markup", accept: "text/xml", status: 200, kind: "text/xml; charset=utf-8", want: "<a/>"},
		{name: "HEAD of text", method: "HEAD", path: "rpc/words", accept: "text/plain", status: 200, kind: "text/plain; charset=utf-8"},
		{name: "a function that says what its answer is", path: "rpc/typed", accept: "text/plain", status: 200, kind: "text/html", want: "<p>"},
		{name: "an error of a function asked for text", path: "rpc/failing", accept: "text/plain", status: 400, kind: json, want: anything},
		{name: "nothing of a function", method: "POST", path: "rpc/nothing", accept: "*/*", status: 204},
		{name: "nothing of a function as CSV", method: "POST", path: "rpc/nothing", accept: "text/csv", status: 204},
		{name: "a row written as CSV", method: "POST", path: "t?select=id,a", accept: "text/csv", prefer: "return=representation", body: `{"id":3}`, status: 201, kind: "text/csv; charset=utf-8", want: "id,a\n3,"},
		{name: "a row written without nulls", method: "POST", path: "t?select=id,a", accept: "application/vnd.pgrst.array+json;nulls=stripped", prefer: "return=representation", body: `{"id":4}`, status: 201, kind: array, want: `[{"id":4}]`},
		{name: "a row changed as an object", method: "PATCH", path: "t?id=eq.4&select=id", accept: "application/vnd.pgrst.object+json", prefer: "return=representation", body: `{"a":"x"}`, status: 200, kind: object, want: `{"id":4}`},
		{name: "a row written for nobody", method: "POST", path: "t", accept: "text/csv", body: `{"id":5}`, status: 201},
		{name: "a row written in no type", method: "POST", path: "t", accept: "text/plain", body: `{"id":6}`, status: 406, kind: json, want: anything},
		{name: "was not", path: "t?id=eq.6", accept: "*/*", status: 200, kind: json, want: "[]"},
	}
	var exchanges []exchange
	for _, test := range tests {
		e := exchange{name: test.name, method: test.method, path: test.path, body: test.body, status: test.status, want: test.want,
			headers: []string{"Accept: " + test.accept}, header: []string{"Content-Type: " + test.kind}}
		if test.prefer != "" {
			e.headers = append(e.headers, "Prefer: "+test.prefer)
		}
		exchanges = append(exchanges, e)
	}
	run(t, s, exchanges)

	t.Run("several Accept headers are one", func(t *testing.T) {
		request, err := http.NewRequestWithContext(t.Context(), "GET", s.URL+"/rest/v1/t?select=id&id=eq.1", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Apikey", s.Keys.AnonKey)
		request.Header["Accept"] = []string{"image/png", "*/*;q=0.1", "text/csv;q=0.2"}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if got := response.Header.Get("Content-Type"); response.StatusCode != http.StatusOK || got != "text/csv; charset=utf-8" {
			t.Errorf("%d %s", response.StatusCode, got)
		}
	})
}
