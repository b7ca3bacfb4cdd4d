package rest_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"basalt/api/apitest"
)

// quote is a text as JSON.
func quote(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err) // strings always marshal
	}
	return string(quoted)
}

func TestErrorsOfTheDatabaseHaveTheirStatus(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, `
create function fail(code text, message text default 'm', detail text default 'd', hint text default 'h') returns int language plpgsql as $$
begin
  raise exception using errcode = code, message = message, detail = detail, hint = hint;
end $$;
create function plain() returns void language plpgsql as $$ begin raise 'no'; end $$;
create function divide() returns int language sql as 'select 1 / 0';
create function slow() returns void language sql as 'select pg_sleep(60)';
create function deep(n int) returns int language plpgsql as $$ begin return deep(n + 1); end $$;
create function as_role(r text) returns void language plpgsql as $$ begin execute format('set role %I', r); end $$;
`+open, nil)
	signed, _ := s.SignUp(t, "a@example.com")
	raise := func(code string) string { return `{"code":"` + code + `"}` }
	answer := func(message, detail string) string {
		return `{"code":"PGRST","message":` + quote(message) + `,"detail":` + quote(detail) + `}`
	}
	exchanges := []exchange{
		{name: "raise alone", method: "POST", path: "rpc/plain", status: 400, want: refusal("P0001", "no", "", "")},
		{name: "a division by zero", method: "POST", path: "rpc/divide", status: 400, has: []string{`"22012"`}},
		{name: "all that a raise says", method: "POST", path: "rpc/fail", body: raise("23514"), status: 400, want: refusal("23514", "m", "d", "h")},
		{name: "a status by PT", method: "POST", path: "rpc/fail", body: raise("PT402"), status: 402, want: refusal("PT402", "m", "d", "h")},
		{name: "a status by PT that has no body", method: "POST", path: "rpc/fail", body: raise("PT304"), status: 304, want: ""},
		{name: "a status by PT that is none", method: "POST", path: "rpc/fail", body: raise("PT099"), status: 500, has: []string{"PT099"}},
		{name: "an answer by PGRST", method: "POST", path: "rpc/fail", body: answer(`{"code":"X1","message":"short"}`, `{"status":418,"headers":{"X-Tea":"oolong"}}`),
			status: 418, want: refusal("X1", "short", "", ""), header: []string{"X-Tea: oolong"}},
		{name: "an answer by PGRST with everything", method: "POST", path: "rpc/fail",
			body:   answer(`{"code":"X1","message":"m","details":"d","hint":"h"}`, `{"status":451,"headers":{"X-A":"a\r\nX-B: b"},"status_text":"No"}`),
			status: 451, want: refusal("X1", "m", "d", "h"), header: []string{"X-A: a  X-B: b", "X-B:"}},
		{name: "an answer by PGRST that would frame itself", method: "POST", path: "rpc/fail",
			body:   answer(`{"code":"X1","message":"m"}`, `{"status":400,"headers":{"transfer-encoding":"gzip","Content-Length":"0","Connection":"close","X-A":"a"}}`),
			status: 400, want: refusal("X1", "m", "", ""), header: []string{"X-A: a", "Transfer-Encoding:", "Connection:"}},
		{name: "an answer by PGRST whose message is no JSON", method: "POST", path: "rpc/fail", body: answer(`x`, `{"status":418,"headers":{}}`), status: 500, has: []string{"PGRST121", "MESSAGE"}},
		{name: "an answer by PGRST without a message", method: "POST", path: "rpc/fail", body: answer(`{"code":"X"}`, `{"status":418,"headers":{}}`), status: 500, has: []string{"PGRST121"}},
		{name: "an answer by PGRST whose detail is no JSON", method: "POST", path: "rpc/fail", body: answer(`{"code":"X","message":"m"}`, `x`), status: 500, has: []string{"PGRST121", "DETAIL"}},
		{name: "an answer by PGRST whose message is shown", method: "POST", path: "rpc/fail", body: answer(`{"message":"m"}`, `{"status":418,"headers":{}}`), status: 500,
			want: refusal("PGRST121", `Could not parse JSON in the "RAISE SQLSTATE 'PGRST'" error`, `Invalid JSON value for MESSAGE: '{"message":"m"}'`,
				"MESSAGE must be a JSON object with obligatory keys: 'code', 'message' and optional keys: 'details', 'hint'.")},
		{name: "an answer by PGRST without a detail", method: "POST", path: "rpc/fail", body: answer(`{"code":"X","message":"m"}`, ``), status: 500,
			want: refusal("PGRST121", `Could not parse JSON in the "RAISE SQLSTATE 'PGRST'" error`, "DETAIL is missing in the RAISE statement",
				"DETAIL must be a JSON object with obligatory keys: 'status', 'headers' and optional key: 'status_text'.")},
		{name: "an answer by PGRST whose detail is shown", method: "POST", path: "rpc/fail", body: answer(`{"code":"X","message":"m"}`, `{"status":"418"}`), status: 500, has: []string{"PGRST121", `Invalid JSON value for DETAIL: '{\"status\":\"418\"}'`}},
		{name: "an answer by PGRST with a header that is no text", method: "POST", path: "rpc/fail", body: answer(`{"code":"X","message":"m"}`, `{"status":418,"headers":{"X-A":null}}`), status: 500, has: []string{"PGRST121"}},
		{name: "an answer by PGRST with a status that cannot be", method: "POST", path: "rpc/fail", body: answer(`{"code":"X","message":"m"}`, `{"status":99,"headers":{}}`), status: 500, has: []string{"PGRST121"}},
		{name: "a function that is missing for xml", method: "POST", path: "rpc/fail", body: `{"code":"42883","message":"function xmlagg(int) does not exist"}`, status: 406, has: []string{"42883"}},
		{name: "a write that names no rows", method: "POST", path: "rpc/fail", body: `{"code":"21000","message":"UPDATE requires a WHERE clause"}`, status: 400, has: []string{"21000"}},
		{name: "an answer by PGRST without headers", method: "POST", path: "rpc/fail", body: answer(`{"code":"X","message":"m"}`, `{"status":418}`), status: 500, has: []string{"PGRST121"}},
		{name: "no privilege, anonymous", method: "POST", path: "rpc/fail", body: raise("42501"), status: 401, has: []string{"42501"}, header: []string{"WWW-Authenticate: Bearer"}},
		{name: "no privilege, signed in", method: "POST", path: "rpc/fail", headers: []string{signed}, body: raise("42501"), status: 403, has: []string{"42501"}, header: []string{"WWW-Authenticate:"}},
		{name: "too deep", method: "POST", path: "rpc/deep", body: `{"n":1}`, status: 500, has: []string{`"54001"`}},
		{name: "codes of ours in a raise", method: "POST", path: "rpc/fail", body: raise("22023"), status: 400, has: []string{"22023"}},
		{name: "a role that is not there", method: "POST", path: "rpc/fail", body: `{"code":"22023","message":"role \"x\" does not exist"}`, status: 401, has: []string{"22023"}},
		{name: "a message that would end its line", method: "POST", path: "rpc/fail", body: answer(`{"code":"A\r\nX-Injected: 1","message":"m"}`, `{"status":400,"headers":{}}`), decided: true, status: 400, want: anything, header: []string{"X-Injected:"}},
	}
	for code, status := range map[string]int{
		"08000": 503, "08006": 503, "08P01": 503, "09000": 500, "0L000": 403, "0LP01": 403, "0P000": 403,
		"23503": 409, "23505": 409, "23000": 400, "23502": 400, "23514": 400, "23P01": 400,
		"25006": 405, "25000": 500, "25001": 500, "25P02": 500, "21000": 500, "28000": 403, "28P01": 403,
		"2D000": 500, "38000": 500, "38001": 500, "39000": 500, "39P01": 500, "3B000": 500, "3B001": 500,
		"40000": 500, "40001": 500, "40P01": 500, "53400": 500, "53000": 503, "53100": 503, "53300": 503,
		"54000": 500, "54001": 500, "54023": 500, "55000": 500, "55006": 500, "55P03": 500,
		"57P01": 503, "57000": 500, "57014": 500, "57P02": 500, "57P03": 500, "57P05": 500, "58000": 500, "58P01": 500,
		"F0000": 500, "F0001": 500, "HV000": 500, "HV00D": 500, "P0001": 400, "P0000": 500, "P0002": 500, "P0003": 500, "P0004": 500,
		"XX000": 500, "XX001": 500, "42883": 404, "42P01": 404, "42P17": 500, "42601": 400, "42703": 400, "42P10": 400,
		"22P02": 400, "22001": 400, "22012": 400, "0A000": 400, "02000": 400, "44000": 400, "ABCDE": 400, "99999": 400,
		"PT200": 200, "PT418": 418, "PT599": 599, "PT600": 500, "PT0A1": 500,
	} {
		header := []string{"Retry-After:"}
		if status == 503 {
			header = []string{"Retry-After: " + anything}
		}
		exchanges = append(exchanges, exchange{name: "SQLSTATE " + code, method: "POST", path: "rpc/fail", body: raise(code), status: status,
			want: refusal(code, "m", "d", "h"), header: header})
	}
	run(t, s, exchanges)
}

func TestTextThatIsNoUTF8IsRefusedInShape(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, `create table t (id int primary key, v text, j jsonb);`+open, nil)
	run(t, s, []exchange{
		{name: "in a value", path: "t?v=eq.%ff%fe", status: 400, want: anything},
		{name: "in a name", path: "t?%ff=eq.1", status: 400, want: anything},
		{name: "in a path", path: "%ff", status: 404, want: anything},
		{name: "a NUL in a path", path: "t%00", status: 404, want: anything},
		{name: "a NUL in a value", path: "t?v=eq.a%00b", status: 400, want: anything},
		{name: "a NUL in a list", path: "t?v=in.(a%00b)", status: 400, want: anything},
		{name: "a NUL in a name", path: "t?select=v%00", status: 400, want: anything},
		{name: "a NUL in a body", method: "POST", path: "t", body: `{"id":1,"v":"a\u0000b"}`, status: 400, want: anything},
		{name: "a NUL in a body's jsonb", method: "POST", path: "t", body: `{"id":1,"j":"a\u0000b"}`, status: 400, want: anything},
		{name: "a NUL as it is in a body", method: "POST", path: "t", body: "{\"id\":1,\"v\":\"a\x00b\"}", status: 400, want: anything},
		{name: "a lone surrogate in a body", method: "POST", path: "t", body: `{"id":1,"v":"\ud800"}`, status: 400, want: anything},
		{name: "bytes that are no text in a body", method: "POST", path: "t", body: "{\"id\":1,\"v\":\"\xff\"}", status: 400, want: anything},
		{name: "an overlong encoding in a body", method: "POST", path: "t", body: "{\"id\":1,\"v\":\"\xc0\xaf\"}", status: 400, want: anything},
		{name: "bytes that are no text in CSV", method: "POST", path: "t", headers: []string{"Content-Type: text/csv"}, body: "id,v\n1,\xff\n", status: 400, want: anything},
		{name: "bytes that are no text in a key", method: "POST", path: "t", body: "{\"\xff\":1}", status: 400, want: anything},
		{name: "bytes that are no text in a time zone", path: "t", headers: []string{"Prefer: timezone=\xff"}, status: 400, want: anything},
		{name: "bytes that are no text in a preference", path: "t", headers: []string{"Prefer: handling=strict, \xff=1"}, status: 400, want: anything},
		{name: "bytes that are no text in Accept", path: "t", headers: []string{"Accept: \xff/x"}, status: 406, want: anything},
		{name: "bytes that are no text in Content-Type", method: "POST", path: "t", headers: []string{"Content-Type: \xff/x"}, body: "x", status: 400, want: anything},
		{name: "bytes that are no text in a header", path: "t", headers: []string{"X-Any: \xff"}, status: 200, want: `[]`},
		{name: "bytes that are no text in a cookie", path: "t", headers: []string{"Cookie: a=\xff"}, status: 200, want: `[]`},
	})
}

func TestNothingOfAClientEndsAHeader(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, `create table named (name text primary key); create table part (id int primary key, name text references named);
		create function echo(v text) returns text language plpgsql as $$
		begin
		  perform set_config('response.headers', json_build_array(json_build_object('X-Echo', v))::text, true);
		  return v;
		end $$;`+open, nil)
	evil := "a\r\nX-Injected: 1\r\n\r\n<b>é"
	encoded := url.QueryEscape(evil)
	none := "X-Injected:"
	run(t, s, []exchange{
		{name: "a key in Location", method: "POST", path: "named", headers: []string{"Prefer: return=headers-only"}, body: `{"name":` + quote(evil) + `}`, status: 201,
			header: []string{none, "Location: /named?name=eq." + encoded}},
		{name: "a filter in Content-Location", path: "named?name=eq." + encoded, status: 200, want: `[{"name":` + quoteASCII(evil) + `}]`, header: []string{none}},
		{name: "an alias in a warning", path: `part?select=id,"` + encoded + `":named(name)&named.name=eq.x`, status: 200, want: `[]`, header: []string{none}},
		{name: "a value in a function's header", method: "POST", path: "rpc/echo", body: `{"v":` + quote(evil) + `}`, status: 200, want: anything, header: []string{none}},
		{name: "a path", path: "named" + url.PathEscape(evil), status: 404, want: anything, header: []string{none}},
		{name: "a function's path", path: "rpc/" + url.PathEscape(evil), status: 404, want: anything, header: []string{none}},
	})
}

// quoteASCII is a text as the JSON of answers has it: characters of HTML stay as they are.
func quoteASCII(text string) string {
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(quote(text))
}
