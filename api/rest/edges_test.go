package rest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"basalt/api/apitest"
)

// edges are types with texts at and beyond the edges of what they hold.
func edges() map[string][]string {
	return map[string][]string{
		"int2":        {"32767", "-32768", "32768", "-32769", "", "1.0", "1e2", "0x7f", " 7 ", "+7", "-0", "NaN"},
		"int4":        {"2147483647", "-2147483648", "2147483648", "1_000", "٣"},
		"int8":        {"9223372036854775807", "-9223372036854775808", "9223372036854775808", "-9223372036854775809", "9007199254740993"},
		"numeric":     {"1e400", "-1e400", "1e-400", "NaN", "Infinity", "-Infinity", "-0", "-0.00", "0.10", "1e131072", "12345678901234567890.123456789012345678901234567890", "x"},
		"float8":      {"1e400", "-1e400", "1e-400", "1.7976931348623157e308", "1.7976931348623159e308", "4.9e-324", "NaN", "nan", "Infinity", "-inf", "-0", "0.1", "1e21", "123456789012345678"},
		"float4":      {"3.4028235e38", "3.5e38", "1e-45", "1e-46", "NaN", "-0", "16777217"},
		"date":        {"5874897-12-31", "5874898-01-01", "4714-11-24 BC", "4714-11-23 BC", "infinity", "-infinity", "2024-02-29", "2023-02-29", "0000-01-01", "today", "epoch", "", "294276-12-31"},
		"timestamp":   {"294276-12-31 23:59:59.999999", "294277-01-01", "4714-11-24 00:00:00 BC", "4714-11-23 BC", "infinity", "-infinity", "2024-06-30 23:59:60", "2024-01-01 24:00:00", "2024-01-01 25:00"},
		"timestamptz": {"294276-12-31 23:59:59.999999+00", "294276-12-31 23:59:59.999999-15:59", "4714-11-24 00:00:00+00 BC", "infinity", "2024-01-01T00:00:00.0000005Z", "2024-01-01 00:00+15:59:59", "2024-01-01 00:00+16", "2024-03-10 02:30 America/New_York"},
		"time":        {"24:00:00", "24:00:01", "23:59:60", "00:00:00.0000009", "allballs"},
		"timetz":      {"24:00:00-15:59:59", "00:00+16", "12:00 America/New_York"},
		"interval":    {"178000000 years", "179000000 years", "-178000000 years", "2147483647 days", "P1Y2M3DT4H5M6.7S", "1e400 seconds", "infinity", "", "9223372036854775807 us"},
		"bool":        {"true", "FALSE", "t", "of", "o", "2", "1", "", "null"},
		"uuid":        {"00000000-0000-0000-0000-000000000000", "{A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11}", "a0eebc999c0b4ef8bb6d6bb9bd380a1", ""},
		"text":        {"", "null", "NULL", "\U0010FFFF", "\uFFFE", "\u202e", "e\u0301", strings.Repeat("x", 100_000), "\t\r\n", "\x01\x1f\x7f", `\`, `\u0041`},
		"varchar(3)":  {"", "abc", "abcd", "ab ", "abc   ", "äöü", "🎈🎈🎈", "🎈🎈🎈🎈"},
		"char(3)":     {"", "a", "abc ", "abcd"},
		"bytea":       {"", `\x`, `\x00`, `\xABcd`, `\xa`, `\xzz`, `\\000`, `\377`, "a\\"},
		"json":        {`{"a":1e400,"a":2}`, `"\ud83d\ude00"`, `"\ud83d"`, `"\u0000"`, `-0`, `1E+2`, `{`, ``, `  {"b" :  1}  `, `[1,2`, `nul`, strings.Repeat("[", 5000) + strings.Repeat("]", 5000)},
		"jsonb":       {`{"a":1e400,"a":2}`, `"\ud83d\ude00"`, `"\ud83d"`, `"\u0000"`, `-0`, `1E+2`, `1e-400`, `{`, ``, `{"b":1,"a":2}`, strings.Repeat("[", 5000) + strings.Repeat("]", 5000)},
		"int4[]":      {"{}", "{NULL}", "{2147483648}", "[0:1]={1,2}", "{{1},{2,3}}", "{1,}", "", "{ 1 , 2 }", "[-2147483648:-2147483647]={1,2}"},
		"text[]":      {`{"",NULL,"NULL"}`, `{a"b}`, `{"a\"b"}`, `{{}}`, `{\}`},
		"int4range":   {"[2147483646,2147483647]", "[1,2147483647)", "(,)", "empty", "[2,1]", "[1,1)", "(1,1]", ""},
		"numrange":    {"[NaN,NaN]", "[-Infinity,Infinity]", "[1e400,]"},
		"money":       {"92233720368547758.07", "92233720368547758.08", "-92233720368547758.08", "$1,000.00", ""},
		"inet":        {"::", "::ffff:1.2.3.4", "1.2.3.4/33", "0.0.0.0/0", ""},
		"bit(3)":      {"101", "1010", "", "xF"},
		"tsvector":    {"", "'a':16383", "'a':99999", strings.Repeat("x", 3000)},
		"xml":         {"", "<a/>", "<a>", "a & b"},
		"oid":         {"4294967295", "4294967296", "-1"},
		"pg_lsn":      {"FFFFFFFF/FFFFFFFF", "0/100000000"},
		"name":        {strings.Repeat("n", 63), strings.Repeat("n", 64), ""},
		`"char"`:      {"", "a", "ab", "ä", `\377`},
	}
}

// Whatever is written comes back as PostgreSQL itself would show it, or is refused as PostgreSQL itself refuses it: from
// JSON, from CSV, as a filter and as an argument.
func TestValuesAtTheEdgesOfTheirTypes(t *testing.T) {
	t.Parallel()
	types := edges()
	var setup strings.Builder
	names := map[string]string{}
	for sql := range types {
		names[sql] = fmt.Sprintf("e%d", len(names))
		fmt.Fprintf(&setup, "create table %s (v %s, w int default 1);\n", names[sql], sql)
		fmt.Fprintf(&setup, "create function f%s(v %s) returns %[2]s language sql immutable as 'select $1';\n", names[sql], sql)
	}
	s := apitest.Start(t, setup.String()+open, nil)
	for sql, texts := range types {
		t.Run(sql, func(t *testing.T) {
			t.Parallel()
			for _, text := range texts {
				var want *string
				// As the assignment to a column does it: a cast would cut what is too long.
				err := s.Database.Pool.QueryRow(t.Context(), "select to_json(v)::text from json_populate_record(null::"+names[sql]+", json_build_object('v', to_json($1::text)))",
					pgx.QueryExecModeExec, text).Scan(&want)
				code := ""
				if err != nil {
					code = sqlState(t, err)
				}
				isJSON := sql == "json" || sql == "jsonb"
				if !isJSON {
					sameAs(t, s, "JSON", text, code, want, "POST", names[sql]+"?select=v", fmt.Sprintf(`{"v":%s}`, asJSON(t, text)))
				} else if json.Valid([]byte(text)) {
					err := s.Database.Pool.QueryRow(t.Context(), "select to_json($1::text::"+sql+")::text", pgx.QueryExecModeExec, text).Scan(&want)
					code = ""
					if err != nil {
						code = sqlState(t, err)
					}
					sameAs(t, s, "JSON", text, code, want, "POST", names[sql]+"?select=v", `{"v":`+text+`}`)
				}
				if text != "NULL" && !isJSON {
					sameAs(t, s, "CSV", text, code, want, "POST", names[sql]+"?select=v", "v,w\n\""+strings.ReplaceAll(text, `"`, `""`)+"\",1", "Content-Type: text/csv")
				}
				if len(text) < 1000 {
					answer := s.Do(t, "GET", "/rest/v1/"+names[sql]+"?select=v&v=eq."+url.QueryEscape(text), "")
					if answer.Status >= 500 && answer.Status != 504 {
						t.Errorf("filter %q: %d %s", text, answer.Status, answer.Body)
					}
				}
			}
		})
	}
}

func sqlState(t *testing.T, err error) string {
	t.Helper()
	var database *pgconn.PgError
	if !errors.As(err, &database) {
		t.Fatal(err)
	}
	return database.Code
}

func asJSON(t *testing.T, text string) string {
	t.Helper()
	encoded, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}

func sameAs(t *testing.T, s *apitest.Server, how, text, code string, want *string, method, path, body string, headers ...string) {
	t.Helper()
	answer := s.Do(t, method, "/rest/v1/"+path, body, append(headers, give)...)
	shown := text
	if len(shown) > 80 {
		shown = shown[:80] + "…"
	}
	if code == "54000" && answer.Status == 500 && strings.Contains(answer.Body, code) {
		return // beyond a limit of PostgreSQL's, which is no fault of the client's
	}
	if code == "" && answer.Status == 400 && (strings.Contains(answer.Body, `"PGRST102"`) || strings.Contains(answer.Body, `"22P05"`)) {
		return // JSON that some reader of it would stumble over: deep nesting, half a character, NUL
	}
	if code != "" {
		if answer.Status < 400 || answer.Status >= 500 || !strings.Contains(answer.Body, `"PGRST102"`) && !strings.Contains(answer.Body, `"code":"22`) && !strings.Contains(answer.Body, `"code":"`+code+`"`) {
			t.Errorf("%q from %s: %d %.300s, want %s", shown, how, answer.Status, answer.Body, code)
		}
		return
	}
	value := "null"
	if want != nil {
		value = *want
	}
	if got := compact(answer.Body); answer.Status != 201 || got != compact(`[{"v":`+value+`}]`) {
		t.Errorf("%q from %s: %d %.300s, want %.300s", shown, how, answer.Status, got, value)
	}
}

// What is no text at all, or none that PostgreSQL can hold, is refused wherever it comes.
func TestTextThatPostgreSQLCannotHold(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, `create table t (id int generated always as identity, v text, j json, b jsonb, a text[]); create function f(v text) returns text language sql as 'select $1';`+open, nil)
	for name, bad := range map[string]string{
		"a NUL": `"\u0000"`, "a NUL within": `"a\u0000b"`, "a high surrogate": `"\ud800"`, "a low surrogate": `"\udc00"`, "surrogates in the wrong order": `"\udc00\ud800"`,
		"a high surrogate before text": `"\ud800x"`, "an overlong NUL": "\"\xc0\x80\"", "an overlong slash": "\"\xe0\x80\xaf\"", "a surrogate as bytes": "\"\xed\xa0\x80\"",
		"beyond Unicode": "\"\xf4\x90\x80\x80\"", "half a character": "\"\xc3\"", "a stray byte": "\"\x80\"", "Latin-1": "\"\xe4\"", "a raw NUL": "\"\x00\"",
	} {
		for column, body := range map[string]string{"v": bad, "b": bad, "b in an object": `{"k":` + bad + `}`, "b as a key": `{` + bad + `:1}`, "a": `[` + bad + `]`} {
			field, _, _ := strings.Cut(column, " ")
			answer := s.Do(t, "POST", "/rest/v1/t", fmt.Sprintf(`{%q:%s}`, field, body))
			if answer.Status < 400 || answer.Status >= 500 || !json.Valid([]byte(answer.Body)) {
				t.Errorf("%s in %s: %d %q", name, column, answer.Status, answer.Body)
			}
		}
		if answer := s.Do(t, "POST", "/rest/v1/rpc/f", `{"v":`+bad+`}`); answer.Status < 400 || answer.Status >= 500 {
			t.Errorf("%s as an argument: %d %q", name, answer.Status, answer.Body)
		}
		if answer := s.Do(t, "POST", "/rest/v1/t", "{"+bad+":1}"); answer.Status < 400 || answer.Status >= 500 || !json.Valid([]byte(answer.Body)) {
			t.Errorf("%s as a key: %d %q", name, answer.Status, answer.Body)
		}
	}
	var rows int
	if err := s.Database.Pool.QueryRow(t.Context(), "select count(*) from t").Scan(&rows); err != nil || rows != 0 {
		t.Errorf("%d rows were written: %v", rows, err)
	}
	run(t, s, []exchange{
		{name: "an empty cell is the empty text", method: "POST", path: "t?select=v,j", headers: []string{give, "Content-Type: text/csv"}, body: "v\n\"\"", status: 201, want: `[{"v":"","j":null}]`},
		{name: "an empty cell without quotes too", method: "POST", path: "t?select=v", headers: []string{give, "Content-Type: text/csv"}, body: "v,j\n,NULL", status: 201, want: `[{"v":""}]`},
		{name: "NULL is null", method: "POST", path: "t?select=v", headers: []string{give, "Content-Type: text/csv"}, body: "v\nNULL", status: 201, want: `[{"v":null}]`},
		{name: "null in JSON", method: "POST", path: "t?select=v,j", headers: []string{give}, body: `{"v":null,"j":null}`, status: 201, want: `[{"v":null,"j":null}]`},
		{name: "the text null in JSON", method: "POST", path: "t?select=v", headers: []string{give}, body: `{"v":"null"}`, status: 201, want: `[{"v":"null"}]`},
		{name: "a lone surrogate stays in json, which keeps its text", method: "POST", path: "t?select=j", headers: []string{give}, body: `{"j":{"k":1e400,"k":-0}}`, status: 201, want: `[{"j":{"k":1e400,"k":-0}}]`},
	})
}
