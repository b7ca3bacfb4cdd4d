package query_test

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"basalt/query"
)

// rows spells a payload: its keys, then its cells row by row, - for an absent one.
func rows(p *query.Payload) string {
	var b strings.Builder
	if p.Single {
		b.WriteString("single ")
	}
	if p.Ragged {
		b.WriteString("ragged ")
	}
	b.WriteString(strings.Join(p.Keys, "|"))
	for row := range p.Rows {
		b.WriteString(" /")
		for key := range p.Keys {
			b.WriteByte(' ')
			if cell := p.Cell(row, key); cell != nil {
				b.WriteString("‹" + string(cell) + "›")
			} else {
				b.WriteByte('-')
			}
		}
	}
	return b.String()
}

func TestReadJSON(t *testing.T) {
	columns := query.JSONOptions{Columns: []string{"b", "a"}}
	tests := []struct {
		name, body string
		options    query.JSONOptions
		want       string
	}{
		{name: "one object is one row", body: ` {"a" : 1, "b":"x"} `, want: `single a|b / ‹1› ‹"x"›`},
		{name: "an array is as many rows as it has objects", body: `[{"a":1,"b":2},{"b":4,"a":3}]`, want: `a|b / ‹1› ‹2› / ‹3› ‹4›`},
		{name: "an empty array has no row", body: "[ ]", want: ""},
		{name: "an empty object is a row of defaults", body: "{}", want: "single  /"},
		{name: "empty objects are rows of defaults", body: "[{},{}]", want: " / /"},
		{name: "numbers keep their digits", body: `{"a":12345678901234567890,"b":1e400,"c":0.10,"d":-0.0E+1}`, want: `single a|b|c|d / ‹12345678901234567890› ‹1e400› ‹0.10› ‹-0.0E+1›`},
		{name: "values are tokens as they stand", body: `{"a":{"x": [1, 2]},"b":[ ],"c":null,"d":true,"e":false,"f":"\u00e9\n"}`, want: `single a|b|c|d|e|f / ‹{"x": [1, 2]}› ‹[ ]› ‹null› ‹true› ‹false› ‹"\u00e9\n"›`},
		{name: "the last of a repeated key counts", body: `[{"a":1,"a":2},{"a":3,"a":4,"a":5}]`, want: "a / ‹2› / ‹5›"},
		{name: "keys may be escaped", body: `[{"\u0061\"":1,"é":2},{"a\"":3,"\u00E9":4}]`, want: `a"|é / ‹1› ‹2› / ‹3› ‹4›`},
		{name: "a surrogate pair is one character", body: `[{"\ud83d\ude00":1},{"😀":2}]`, want: `😀 / ‹1› / ‹2›`},
		{name: "a scalar is taken for an empty array", body: `5`, want: ""},
		{name: "null is taken for an empty array", body: `null`, want: ""},
		{name: "columns restrict and order the keys", body: `[{"a":1,"b":2,"c":3},{"c":4,"a":5}]`, options: columns, want: "ragged b|a / ‹2› ‹1› / - ‹5›"},
		{name: "columns go with one object", body: `{"a":1,"c":2}`, options: columns, want: "single ragged b|a / - ‹1›"},
		{name: "columns go with an empty array", body: `[]`, options: columns, want: "b|a"},
		{name: "ragged rows have the keys of all", body: `[{"a":1},{"b":2,"a":3},{},{"\u0062":4}]`, options: query.JSONOptions{Ragged: true}, want: "ragged a|b / ‹1› - / ‹3› ‹2› / - - / - ‹4›"},
		{name: "rows that could be ragged need not be", body: `[{"a":1},{"a":2}]`, options: query.JSONOptions{Ragged: true}, want: "a / ‹1› / ‹2›"},
		{name: "a ragged object is one row", body: `{"a":1}`, options: query.JSONOptions{Ragged: true}, want: "single a / ‹1›"},
		{name: "a call takes an object apart", body: `{"a":[{"b":1}]}`, options: query.JSONOptions{Any: true}, want: `single a / ‹[{"b":1}]›`},
		{name: "a call takes an array as it is", body: `[1,{"a":2},"x"]`, options: query.JSONOptions{Any: true}, want: ""},
		{name: "a NUL deep in a value is for PostgreSQL to judge", body: `{"a":{"b":"\u0000"}}`, want: `single a / ‹{"b":"\u0000"}›`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p, err := query.ReadJSON([]byte(test.body), test.options)
			if err != nil {
				t.Fatal(err)
			}
			if got := rows(p); got != test.want {
				t.Errorf("\n got %s\nwant %s", got, test.want)
			}
			if p.Format != query.JSON || string(p.Raw) != test.body {
				t.Errorf("format %d, raw %s", p.Format, p.Raw)
			}
		})
	}
}

func TestReadJSONFindsManyKeys(t *testing.T) {
	var objects []string
	for row, factor := range []int{1, 3, 7} { // coprime to 100: each row has the keys in another order
		var members []string
		for i := range 100 {
			key := i * factor % 100
			members = append(members, fmt.Sprintf(`"k%d":%d`, key, row*100+key))
		}
		objects = append(objects, "{"+strings.Join(members, ",")+"}")
	}
	for _, ragged := range []bool{false, true} {
		p, err := query.ReadJSON([]byte("["+strings.Join(objects, ",")+"]"), query.JSONOptions{Ragged: ragged})
		if err != nil {
			t.Fatal(err)
		}
		for row := range 3 {
			for i := range 100 {
				if got := string(p.Cell(row, i)); got != strconv.Itoa(row*100+i) {
					t.Fatalf("row %d, key %d: %s", row, i, got)
				}
			}
		}
	}
}

func TestReadJSONRefuses(t *testing.T) {
	tests := []struct {
		name, body    string
		options       query.JSONOptions
		code, message string
		details       string
		row           int
	}{
		{name: "an empty body", body: "", code: "PGRST102", message: "Empty or invalid json", details: "unexpected end of input"},
		{name: "a body that ends early", body: `[{"a":1},{"a":`, code: "PGRST102", message: "Empty or invalid json", details: "Row 2: unexpected end of input", row: 2},
		{name: "something behind the body", body: `{} x`, code: "PGRST102", message: "Empty or invalid json", details: `unexpected "x" at byte 4`},
		{name: "a comma too many", body: `[{"a":1,}]`, code: "PGRST102", message: "Empty or invalid json", details: `Row 1: unexpected "}" at byte 9`, row: 1},
		{name: "a leading zero", body: `{"a":01}`, code: "PGRST102", message: "Empty or invalid json", details: `unexpected "1" at byte 7`},
		{name: "an unknown word", body: `{"a":nil}`, code: "PGRST102", message: "Empty or invalid json", details: `unexpected "n" at byte 6`},
		{name: "a line break in a string", body: "{\"a\":\"x\ny\"}", code: "PGRST102", message: "Empty or invalid json", details: `unexpected "\n" at byte 8`},
		{name: "an unknown escape", body: `{"a":"\x"}`, code: "PGRST102", message: "Empty or invalid json", details: `unexpected "x" at byte 8`},
		{name: "half a surrogate pair", body: `{"a":"\ud800x"}`, code: "PGRST102", message: "Empty or invalid json", details: "a Unicode surrogate without its other half at byte 7"},
		{name: "a low surrogate first", body: `{"a":"\udc00\ud800"}`, code: "PGRST102", message: "Empty or invalid json", details: "a Unicode surrogate without its other half at byte 7"},
		{name: "invalid UTF-8", body: "{\"a\":\"\xff\"}", code: "PGRST102", message: "Empty or invalid json", details: "The body is not valid UTF-8."},
		{name: "a NUL in a value", body: `[{"a":"x\u0000"}]`, code: "22P05", message: "unsupported Unicode escape sequence", details: `Row 1: \u0000 cannot be converted to text.`, row: 1},
		{name: "a NUL in a key", body: `{"\u0000":1}`, code: "22P05", message: "unsupported Unicode escape sequence", details: `\u0000 cannot be converted to text.`},
		{name: "a row without a key of the first", body: `[{"a":1,"b":2},{"a":1}]`, code: "PGRST102", message: "All object keys must match", details: "Row 2: It lacks keys of the first object.", row: 2},
		{name: "a row with another key", body: `[{"a":1},{"a":1,"b":2}]`, code: "PGRST102", message: "All object keys must match", details: `Row 2: The first object lacks its key "b".`, row: 2},
		{name: "a row that is no object", body: `[{"a":1},5]`, code: "PGRST102", message: "All object keys must match", details: "Row 2: It is not an object.", row: 2},
		{name: "a row that is no object with columns", body: `[null]`, options: query.JSONOptions{Columns: []string{"a"}}, code: "PGRST102", message: "All object keys must match", details: "Row 1: It is not an object.", row: 1},
		{name: "too many levels", body: `{"a":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + "}", code: "PGRST102", message: "The JSON is nested too deeply", details: "More than 1000 levels."},
		{name: "far more absent cells than bytes", body: "[{}" + strings.Repeat(",{}", 2000) + "]", options: query.JSONOptions{Columns: manyNames(1000)}, code: "PGRST102", message: "Too many rows for so many columns", details: "Row 1049: Most of the keys are absent; name fewer in columns.", row: 1049},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := query.ReadJSON([]byte(test.body), test.options)
			var body *query.BodyError
			if !errors.As(err, &body) {
				t.Fatalf("got %v", err)
			}
			if body.Code != test.code || body.Message != test.message || body.Details != test.details || body.Row != test.row {
				t.Errorf("got %+v", *body)
			}
		})
	}
}

func manyNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = "c" + strconv.Itoa(i)
	}
	return names
}

func TestReadCSV(t *testing.T) {
	tests := []struct{ name, body, want string }{
		{"lines are rows", "a,b\n1,hi\n2,bye\n", "a|b / ‹1› ‹hi› / ‹2› ‹bye›"},
		{"a header alone has no row", "a,b", "a|b"},
		{"lines may end in CR LF or CR", "a,b\r\n1,2\r3,4", "a|b / ‹1› ‹2› / ‹3› ‹4›"},
		{"NULL is NULL and nothing is the empty text", "a,b,c\nNULL,,null\n", "a|b|c / - ‹› ‹null›"},
		{"quotes hold commas, line breaks and quotes", "a,\"b,c\"\n\"x\ny\",\"say \"\"hi\"\"\"\n", "a|b,c / ‹x\ny› ‹say \"hi\"›"},
		{"an empty quoted field is the empty text", "a\n\"\"\n", "a / ‹›"},
		{"blank lines do not count", "\n\na\n1\n\n\r\n2\n\n", "a / ‹1› / ‹2›"},
		{"white space belongs to fields", "a, b\n 1 ,2\n", "a| b / ‹ 1 › ‹2›"},
		{"a byte order mark does not count", "\ufeffa\n1", "a / ‹1›"},
		{"the last of a repeated name counts", "a,b,a\n1,2,3\n", "a|b / ‹3› ‹2›"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p, err := query.ReadCSV([]byte(test.body))
			if err != nil {
				t.Fatal(err)
			}
			if got := rows(p); got != test.want || p.Format != query.CSV {
				t.Errorf("\n got %q\nwant %q", got, test.want)
			}
		})
	}
}

func TestReadCSVRefuses(t *testing.T) {
	const invalid = "Empty or invalid csv"
	tests := []struct {
		name, body, message, details string
		row                          int
	}{
		{"an empty body", "", invalid, "There is no header line.", 0},
		{"blank lines only", "\n\r\n", invalid, "There is no header line.", 0},
		{"a line with fewer fields", "a,b\n1,2\n3\n", "All lines must have same number of fields", "Row 2 has 1, the header 2.", 2},
		{"a line with more fields", "a,b\n1,2,3\n", "All lines must have same number of fields", "Row 1 has 3, the header 2.", 1},
		{"a quote within a field", "a\nx\"y\n", invalid, `Row 1: unexpected "\"" at byte 4`, 1},
		{"something behind a quoted field", "a\n\"x\"y\n", invalid, `Row 1: unexpected "y" at byte 6`, 1},
		{"a quote that does not end", "a\n1\n\"x\n", invalid, "Row 2: a quoted field does not end", 2},
		{"invalid UTF-8", "a\n\xff", "The body is not valid UTF-8", "", 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := query.ReadCSV([]byte(test.body))
			var body *query.BodyError
			if !errors.As(err, &body) {
				t.Fatalf("got %v", err)
			}
			if body.Code != query.CodeBody || body.Message != test.message || body.Details != test.details || body.Row != test.row {
				t.Errorf("got %+v", *body)
			}
		})
	}
	t.Run("a NUL character, as PostgreSQL does", func(t *testing.T) {
		var body *query.BodyError
		if _, err := query.ReadCSV([]byte("a\n\x00")); !errors.As(err, &body) || body.Code != "22021" {
			t.Errorf("got %v", err)
		}
	})
}

func TestReadForm(t *testing.T) {
	p, err := query.ReadForm([]byte("a=1&b+c=x%26y;a=2&d&e="))
	if err != nil {
		t.Fatal(err)
	}
	if got := rows(p); got != "single a|b c|d|e / ‹2› ‹x&y› ‹› ‹›" || p.Format != query.Form {
		t.Errorf("got %s", got)
	}
	var body *query.BodyError
	if _, err := query.ReadForm([]byte("a=%ff")); !errors.As(err, &body) || body.Code != query.CodeBody {
		t.Errorf("got %v", err)
	}
}

func TestCells(t *testing.T) {
	tests := []struct {
		name, cell    string
		format        query.PayloadFormat
		form          query.CellForm
		want          string
		null, element bool
	}{
		{name: "a string is unquoted", cell: `"x y"`, want: "x y"},
		{name: "escapes are characters", cell: `"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"`, want: "\"\\/\b\f\n\r\té😀"},
		{name: "a number stands as it is", cell: "1e400", want: "1e400"},
		{name: "a boolean stands as it is", cell: "true", want: "true"},
		{name: "an object stands as it is", cell: `{"a": [1]}`, want: `{"a": [1]}`},
		{name: "an array stands as it is", cell: `[1, null]`, want: `[1, null]`},
		{name: "null is NULL", cell: "null", null: true},
		{name: "the text null is a text", cell: `"null"`, want: "null"},
		{name: "a string for a JSON column keeps its quotes", cell: `"x\n"`, form: query.JSONCell, want: `"x\n"`},
		{name: "null for a JSON column is NULL", cell: "null", form: query.JSONCell, null: true},
		{name: "an array for an array column is a literal", cell: `[ 1,"a,b", null , "null","", {"x": "\\"},true,"\u0022"]`, form: query.ArrayCell, want: `{1,"a,b",NULL,"null","","{\"x\": \"\\\\\"}",true,"\""}`},
		{name: "arrays nest", cell: `[[1,2],[3,4]]`, form: query.ArrayCell, want: "{{1,2},{3,4}}"},
		{name: "an array may be empty", cell: `[ ]`, form: query.ArrayCell, want: "{}"},
		{name: "a literal for an array column is a string", cell: `"{1,2}"`, form: query.ArrayCell, want: "{1,2}"},
		{name: "elements for a JSON array column are tokens", cell: `["a",1,{"b":2},null,[3]]`, form: query.JSONArrayCell, want: `{"\"a\"",1,"{\"b\":2}",NULL,[3]}`},
		{name: "as many arrays nest as begin it", cell: `[ [1,[2, 3]] ,[ 4,5]]`, form: query.JSONArrayCell, want: `{{1,"[2, 3]"},{4,5}}`},
		{name: "an array behind an element is a text", cell: `["a",["b"]]`, form: query.ArrayCell, want: `{a,"[\"b\"]"}`},
		{name: "a field of CSV is text", cell: `null`, format: query.CSV, want: "null"},
		{name: "a field of a form is text", cell: `"x"`, format: query.Form, form: query.JSONCell, want: `"x"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			format := query.JSON
			if test.format != 0 {
				format = test.format
			}
			got, null := query.AppendCellText([]byte("-"), []byte(test.cell), format, test.form)
			if string(got) != "-"+test.want || null != test.null {
				t.Errorf("got %s %v, want %s", got, null, test.want)
			}
		})
	}
	t.Run("an absent cell is NULL", func(t *testing.T) {
		if _, null := query.AppendCellText(nil, nil, query.JSON, query.PlainCell); !null {
			t.Error("it is not")
		}
	})
}

func TestAppendCellArray(t *testing.T) {
	p, err := query.ReadJSON([]byte(`[{"a":"x","b":1},{"a":null},{"a":"null","b":[1,"\n"]},{"b":{"c":"\u0041"}},{"a":"\u0041 \"","b":"{}"}]`), query.JSONOptions{Ragged: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		key  int
		form query.CellForm
		want string
	}{
		{0, query.PlainCell, `x|NULL|null|NULL|A "`},
		{0, query.JSONCell, `"x"|NULL|"null"|NULL|"\u0041 \""`},
		{1, query.PlainCell, `1|NULL|[1,"\n"]|{"c":"\u0041"}|{}`},
		{1, query.ArrayCell, "1|NULL|{1,\"\n\"}|{\"c\":\"\\u0041\"}|{}"},
	} {
		array := query.AppendCellArray(nil, p, test.key, test.form)
		var got []string
		for _, element := range readArray(t, array, 25) {
			if element == nil {
				got = append(got, "NULL")
			} else {
				got = append(got, string(element))
			}
		}
		if strings.Join(got, "|") != test.want {
			t.Errorf("key %d, form %d:\n got %s\nwant %s", test.key, test.form, strings.Join(got, "|"), test.want)
		}
		if size := p.CellArraySize(test.key); test.form == query.PlainCell && len(array) > size {
			t.Errorf("key %d takes %d bytes, no more than %d were expected", test.key, len(array), size)
		}
	}
	if got := bytes.Join(readArray(t, query.AppendGivenArray(nil, p, 0), 16), nil); !bytes.Equal(got, []byte{1, 1, 1, 0, 1}) {
		t.Errorf("given %v", got)
	}
}

// readArray reads an array of one dimension in PostgreSQL's binary format; nil is NULL.
func readArray(t *testing.T, array []byte, element uint32) (elements [][]byte) {
	t.Helper()
	number := func() uint32 {
		n := binary.BigEndian.Uint32(array)
		array = array[4:]
		return n
	}
	if dimensions, _, kind := number(), number(), number(); dimensions != 1 || kind != element {
		t.Fatalf("%d dimensions of type %d", dimensions, kind)
	}
	for length, _ := number(), number(); length > 0; length-- {
		if size := int32(number()); size < 0 {
			elements = append(elements, nil)
		} else {
			elements = append(elements, append([]byte{}, array[:size]...))
			array = array[size:]
		}
	}
	if len(array) > 0 {
		t.Fatalf("%d bytes too many", len(array))
	}
	return elements
}

// FuzzReadJSON: reading agrees with encoding/json about what is JSON, but for the bounds that PostgreSQL's text adds,
// and about the keys and values of every row.
func FuzzReadJSON(f *testing.F) {
	for _, seed := range []string{
		`[{"a":1,"b":"x\ud83d\ude00\n"},{"b":null,"a":-0.5e+3}]`, `{"a":{"b":[true,false,null,{}]},"a":2}`, "[]", "[{},{}]", "5", `"x"`, "nul",
		`[{"a":1},{"b":2}]`, `{"\u0061":"\u0000"}`, `{"a":"\ud800"}`, " [ { } ] ", "[1]",
	} {
		f.Add(seed, false)
		f.Add(seed, true)
	}
	f.Fuzz(func(t *testing.T, body string, ragged bool) {
		p, err := query.ReadJSON([]byte(body), query.JSONOptions{Ragged: ragged})
		if err != nil {
			var refused *query.BodyError
			if !errors.As(err, &refused) {
				t.Fatalf("an untyped error: %v", err)
			}
			if refused.Message == "Empty or invalid json" && json.Valid([]byte(body)) && utf8.ValidString(body) &&
				!strings.Contains(refused.Details, "surrogate") {
				t.Fatalf("%q is JSON: %v", body, err)
			}
			return
		}
		if !json.Valid([]byte(body)) {
			t.Fatalf("%q is no JSON", body)
		}
		objects := []map[string]json.RawMessage{{}}
		if p.Single {
			err = json.Unmarshal([]byte(body), &objects[0])
		} else if err = json.Unmarshal([]byte(body), &objects); err != nil {
			return // a scalar
		}
		if err != nil {
			t.Fatal(err)
		}
		if p.Rows != len(objects) {
			t.Fatalf("%d rows, not %d", p.Rows, len(objects))
		}
		for row, object := range objects {
			given := 0
			for key, name := range p.Keys {
				cell := p.Cell(row, key)
				if cell == nil {
					continue
				}
				given++
				if string(object[name]) != string(cell) {
					t.Fatalf("row %d, key %s: %s, not %s", row, name, cell, object[name])
				}
				text, null := query.AppendCellText(nil, cell, query.JSON, query.PlainCell)
				var want string
				if cell[0] == '"' {
					if err := json.Unmarshal(cell, &want); err != nil || want != string(text) {
						t.Fatalf("%s gave %q, not %q", cell, text, want)
					}
				}
				if null != (string(cell) == "null") {
					t.Fatalf("%s is null: %v", cell, null)
				}
				for form := query.PlainCell; form <= query.JSONArrayCell; form++ {
					query.AppendCellText(nil, cell, query.JSON, form)
				}
			}
			if given != len(object) {
				t.Fatalf("row %d has %d cells, not %d", row, given, len(object))
			}
		}
		for key := range p.Keys {
			elements := readArray(t, query.AppendCellArray(nil, p, key, query.PlainCell), 25)
			if len(elements) != p.Rows {
				t.Fatalf("key %d became %q", key, elements)
			}
			for row, element := range elements {
				text, null := query.AppendCellText(nil, p.Cell(row, key), query.JSON, query.PlainCell)
				if null != (element == nil) || !null && !bytes.Equal(element, text) {
					t.Fatalf("row %d, key %d: element %q of %s", row, key, element, p.Cell(row, key))
				}
			}
		}
	})
}

// FuzzReadCSV: reading never panics, and what encoding/csv reads from rows with these cells is read alike.
func FuzzReadCSV(f *testing.F) {
	for _, seed := range []string{"a,b\n1,2\n", "a\r\n\"x\n\"\"y\"\r\n", "a,a\nNULL,\n", "\ufeffa\n\n1", "a\n\"x", "a,b\n1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		p, err := query.ReadCSV([]byte(body))
		if err != nil {
			var refused *query.BodyError
			if !errors.As(err, &refused) {
				t.Fatalf("an untyped error: %v", err)
			}
			return
		}
		for row := range p.Rows {
			for key := range p.Keys {
				if !utf8.Valid(p.Cell(row, key)) {
					t.Fatal("a cell that is no UTF-8")
				}
			}
		}
		if strings.Contains(body, "\r") || len(p.Keys) == 0 { // encoding/csv knows no CR alone and normalises CR LF
			return
		}
		var out bytes.Buffer
		w := csv.NewWriter(&out)
		_ = w.Write(p.Keys)
		for row := range p.Rows {
			record := make([]string, len(p.Keys))
			for key := range p.Keys {
				record[key] = "NULL"
				if cell := p.Cell(row, key); cell != nil {
					record[key] = string(cell)
				}
			}
			_ = w.Write(record)
		}
		w.Flush()
		if len(p.Keys) == 1 { // encoding/csv writes an empty field alone as a blank line
			return
		}
		again, err := query.ReadCSV(out.Bytes())
		if err != nil {
			t.Fatalf("%q: %v", out.String(), err)
		}
		again.Raw, p.Raw = nil, nil
		if rows(again) != rows(p) || !reflect.DeepEqual(again.Keys, p.Keys) {
			t.Fatalf("%q reads %s, was %s", out.String(), rows(again), rows(p))
		}
	})
}

func benchmarkBody(rows, columns int) []byte {
	var b bytes.Buffer
	b.WriteByte('[')
	for row := range rows {
		if row > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('{')
		for column := range columns {
			if column > 0 {
				b.WriteByte(',')
			}
			if column%2 == 0 {
				fmt.Fprintf(&b, `"column_%d":%d`, column, row*columns+column)
			} else {
				fmt.Fprintf(&b, `"column_%d":"some text of row %d"`, column, row)
			}
		}
		b.WriteByte('}')
	}
	b.WriteByte(']')
	return b.Bytes()
}

func BenchmarkReadJSON(b *testing.B) {
	body := benchmarkBody(10_000, 10)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := query.ReadJSON(body, query.JSONOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendCellArray(b *testing.B) {
	p, err := query.ReadJSON(benchmarkBody(10_000, 10), query.JSONOptions{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	var dst []byte
	for b.Loop() {
		for key := range p.Keys {
			dst = query.AppendCellArray(dst[:0], p, key, query.PlainCell)
		}
	}
}

func BenchmarkReadCSV(b *testing.B) {
	var body bytes.Buffer
	body.WriteString("a,b,c,d,e,f,g,h,i,j\n")
	for row := range 10_000 {
		fmt.Fprintf(&body, "%d,text,1,2,3,4,\"quoted text\",,NULL,%d\n", row, row)
	}
	b.SetBytes(int64(body.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := query.ReadCSV(body.Bytes()); err != nil {
			b.Fatal(err)
		}
	}
}

func TestReadJSONAllocatesPerBodyNotPerRow(t *testing.T) {
	body := benchmarkBody(1000, 10)
	allocs := testing.AllocsPerRun(10, func() {
		if _, err := query.ReadJSON(body, query.JSONOptions{}); err != nil {
			t.Fatal(err)
		}
	})
	if allocs > 40 {
		t.Errorf("%v allocations", allocs)
	}
}
