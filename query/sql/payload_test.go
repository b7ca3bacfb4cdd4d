package sql_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"basalt/query"
)

// tokens are JSON values for the columns of a kind, some of which PostgreSQL refuses.
var tokens = map[string][]string{
	"a_bool":        {`true`, `false`, `"t"`, `"no"`, `1`, `"maybe"`, `[]`},
	"a_int2":        {`0`, `-7`, `"12"`, `" 12 "`, `32767`, `32768`, `1.5`, `1e2`, `true`, `""`},
	"a_int4":        {`0`, `2147483647`, `"-1"`, `2147483648`, `{"a": 1}`, `"x"`},
	"a_numeric":     {`0.10`, `12345678901234567890.123456789`, `1e400`, `-0`, `"NaN"`, `"Infinity"`, `1E-3`, `"1_0"`},
	"a_price":       {`1.005`, `99999999.99`, `"12.3"`, `999999999.9`, `-1.005`},
	"a_float4":      {`0.1`, `1e38`, `"NaN"`, `"-Infinity"`, `1e39`, `16777217`},
	"a_float8":      {`0.1`, `1e308`, `5e-324`, `1e309`, `"Infinity"`, `-0.0`},
	"a_oid":         {`0`, `4294967295`, `"7"`, `-1`},
	"a_money":       {`5`, `"$1,000.25"`, `-1.5`, `"x"`},
	"a_text":        {`"x"`, `""`, `"NULL"`, `"null"`, `"a\"b\\c"`, `"{a,b}"`, `"é\u00e9\ud83d\ude00\n\t"`, `1.50`, `true`, `{"a" : [1,  2]}`, `[1,"x"]`, `"` + strings.Repeat("long ", 40) + `"`},
	"a_varchar":     {`"12345678"`, `"123456789"`, `"12345678   "`, `""`, `7`, `"éééééééé"`},
	"a_char":        {`"ab"`, `"abcd"`, `"abcde"`, `"abcd  "`, `""`, `1`},
	"a_letter":      {`"x"`, `"xyz"`, `""`, `"é"`},
	"a_name":        {`"x"`, `"` + strings.Repeat("n", 70) + `"`, `" padded "`},
	"a_bit":         {`"101"`, `"1"`, `"1010"`, `101`, `"x"`, `"B101"`},
	"a_varbit":      {`""`, `"10101"`, `"101010"`, `1`},
	"a_bytea":       {`"\\x0001ff"`, `"abc"`, `""`, `"\\x0"`, `"a\\000b"`, `"\\\\"`},
	"a_uuid":        {`"00000000-0000-0000-0000-000000000001"`, `"{0000000000000000000000000000000a}"`, `"x"`},
	"a_date":        {`"2024-02-29"`, `"infinity"`, `"20240301"`, `"2023-02-29"`, `"0044-03-15 BC"`, `20240301`},
	"a_time":        {`"12:34:56.789"`, `"24:00"`, `"25:00"`},
	"a_timetz":      {`"12:34:56+02"`, `"12:34 PST"`},
	"a_timestamp":   {`"2024-01-02T03:04:05.678901"`, `"-infinity"`, `"epoch"`, `"x"`},
	"a_timestamptz": {`"2024-01-02T03:04:05.6789Z"`, `"2024-01-02 03:04:05+02"`, `"2024-01-02 03:04:05.99951"`, `"2024-13-01"`},
	"a_interval":    {`"1 day 02:03"`, `"P1Y2M"`, `"-1 mons"`, `"x"`},
	"a_json":        {`{"a" : 1,  "a": 2}`, `[1, 2]`, `"x"`, `1.50`, `true`, `"{\"a\": 1}"`, `{"n": null}`, `"\\"`},
	"a_jsonb":       {`{"b" : 1,  "a": 2, "a": 3}`, `[1, 2.50]`, `"x"`, `1.50`, `false`, `"\u00e9\\\""`, `{}`},
	"a_document":    {`{"a": 1}`, `[]`, `"x"`},
	"a_xml":         {`"<a/>"`, `"text"`, `"<a>"`},
	"a_inet":        {`"10.0.0.1/8"`, `"::1"`, `"10.0.0.256"`},
	"a_macaddr":     {`"08:00:2b:01:02:03"`, `"x"`},
	"a_point":       {`"(1,2)"`, `"1.5,2"`, `[1, 2]`, `"x"`},
	"a_box":         {`"(1,1),(2,2)"`, `"((3,4),(1,2))"`},
	"a_path":        {`"[(1,2),(3,4)]"`, `"((1,2),(3,4))"`},
	"a_range":       {`"[1,5)"`, `"empty"`, `"(,)"`, `"[5,1)"`, `"(1,2]"`},
	"a_multirange":  {`"{[1,2),[3,4]}"`, `"{}"`},
	"a_tsvector":    {`"a:1 b:2"`, `"'it''s':3"`},
	"a_tsquery":     {`"a & b"`, `"a &"`},
	"a_mood":        {`"ok"`, `"happy"`, `"angry"`, `""`},
	"a_positive":    {`1`, `"7"`, `0`, `-1`, `2147483648`},
	"a_short":       {`"abc"`, `""`, `"abcd"`, `"abc "`, `12`},
	"ints":          {`[1, 2, null]`, `[]`, `"{1,2}"`, `"[2:3]={1,2}"`, `[[1, 2], [3, 4]]`, `[[1], [2, 3]]`, `[[], []]`, `[[]]`, `[[1], []]`, `5`, `["7", 8]`, `[1.5]`, `[true]`, `{"a": 1}`, `[[[1]], [[2]]]`, `[1, [2]]`, `[null, null]`, `[[null], [1]]`, `[[1], null]`},
	"texts":         {`["a", "b,c", "d\"e\\f", "", "NULL", "null", null]`, `[1, true, {"a": 1}, 1.50]`, `["{a}", "é\u00e9"]`, `[["a"], ["b"]]`, `[]`, `"{a,NULL,\"NULL\"}"`, `[" a "]`, `["a\nb"]`},
	"jsons":         {`[1, "x", {"a": [1]}, null]`, `[[1, 2], [3, 4]]`, `[]`, `["\\\"", "a\\b"]`, `"{1,2}"`, `[{"a" : [1, [2]]}]`, `[{"k": "a\"b"}]`},
	"jsonbs":        {`[1, "x", {"a": [1]}, null]`, `[[1]]`, `[{"a": "\""}]`},
	"boxes":         {`["(1,1),(2,2)", "(3,3),(4,4)"]`, `"{(1,1),(2,2);(3,3),(4,4)}"`, `[]`, `[null]`},
	"moods":         {`["ok", null, "sad"]`, `["angry"]`, `[]`},
	"shorts":        {`["abc", "a"]`, `["abcd"]`, `[null]`, `["abc "]`},
	"some_labels":   {`["a", "b"]`, `[]`, `"{a}"`, `[["a"]]`},
	"place":         {`{"x": 1, "y": 2}`, `{"x": 1}`, `{}`, `"(1,2)"`, `{"x": "3", "z": 1}`, `[1, 2]`, `5`, `{"x": "a"}`},
	"places":        {`[{"x": 1, "y": 2}, {"y": null}, null]`, `[]`, `"{\"(1,2)\"}"`, `[[{"x": 1}], [{"x": 2}]]`, `["(1,2)"]`},
	"a_spot":        {`{"x": 1, "y": 2}`, `"(1,)"`, `null`},
}

// A random body puts the same rows into the table as json_populate_recordset does, however its values travel; and when
// that refuses it, the write is refused for the same reason.
func TestRandomBodiesAreStoredAsPostgreSQLWouldPopulateRows(t *testing.T) {
	const bodies = 500
	s := newSample(t)
	random := rand.New(rand.NewPCG(5, 6))
	stored, refused := 0, 0
	s.with(t, func(conn *pgconn.PgConn) {
		for range bodies {
			body, single := randomBody(random)
			want, wantErr := populate(t, conn, body)
			for _, line := range []string{"POST /kinds", "POST /kinds # missing=default", "POST /kinds # resolution=merge"} {
				got, gotErr := s.store(t, conn, line+"\n> "+body)
				same := sqlState(gotErr) == sqlState(wantErr)
				if !single {
					same = (gotErr == nil) == (wantErr == nil) // of several reasons any may come first
				}
				if got != want || !same {
					t.Fatalf("%s\n%s\ngot:  %s %v\nwant: %s %v", line, body, got, gotErr, want, wantErr)
				}
			}
			if wantErr == nil {
				stored++
			} else {
				refused++
			}
		}
	})
	if stored < bodies/3 || refused < bodies/20 {
		t.Errorf("of %d bodies %d were stored and %d refused", bodies, stored, refused)
	}
}

// randomBody makes an object, or an array of objects with the same keys. Few values are likely to be refused, unless
// there is a single one.
func randomBody(random *rand.Rand) (body string, single bool) {
	names := slices.Sorted(maps.Keys(tokens))
	single = random.IntN(2) == 0
	columns := []string{names[random.IntN(len(names))]}
	rows := make([]string, 1)
	if !single {
		for range random.IntN(5) {
			columns = append(columns, names[random.IntN(len(names))])
		}
		rows = make([]string, random.IntN(4)+1)
	}
	for j := range rows {
		pairs := []string{fmt.Sprintf(`"id": %d`, j+1)}
		for _, column := range columns {
			list := tokens[column]
			token := list[random.IntN((len(list)+1)/2)]
			switch {
			case random.IntN(8) == 0:
				token = "null"
			case single, random.IntN(8) == 0:
				token = list[random.IntN(len(list))]
			}
			pairs = append(pairs, fmt.Sprintf(`"%s": %s`, column, token))
		}
		rows[j] = "{" + strings.Join(pairs, ", ") + "}"
	}
	if len(rows) == 1 && random.IntN(2) == 0 {
		return rows[0], single
	}
	return "[" + strings.Join(rows, ", ") + "]", single
}

// populate inserts a body by PostgreSQL's own means and gives what is stored then.
func populate(t *testing.T, conn *pgconn.PgConn, body string) (rows string, err error) {
	t.Helper()
	inTransaction(t, conn, func() {
		result := conn.ExecParams(t.Context(), `
insert into public.kinds
select * from json_populate_recordset(null::public.kinds,
  case json_typeof($1::json) when 'array' then $1::json else json_build_array($1::json) end)`,
			[][]byte{[]byte(body)}, nil, nil, nil).Read()
		if err = result.Err; err == nil {
			rows = textOf(t, conn)
		}
	})
	return rows, err
}

// store writes a request's body and gives what is stored then.
func (s *sample) store(t *testing.T, conn *pgconn.PgConn, text string) (rows string, err error) {
	t.Helper()
	request, statement, err := s.compile(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	inTransaction(t, conn, func() {
		if _, err = s.answer(t, conn, statement, request); err == nil {
			rows = textOf(t, conn)
		}
	})
	return rows, err
}

// textOf gives the table as text, in which JSON is as it was written.
func textOf(t *testing.T, conn *pgconn.PgConn) string {
	t.Helper()
	result := conn.ExecParams(t.Context(), `select string_agg(k::text, e'\n' order by id) from public.kinds k`,
		nil, nil, nil, nil).Read()
	if result.Err != nil {
		t.Fatal(result.Err)
	}
	return string(result.Rows[0][0])
}

func sqlState(err error) string {
	var refused *pgconn.PgError
	var body *query.BodyError
	switch {
	case errors.As(err, &refused):
		return refused.Code
	case errors.As(err, &body):
		return body.Code
	case err != nil:
		return err.Error()
	}
	return ""
}
