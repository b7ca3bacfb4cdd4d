package pgjson

import (
	"errors"
	"strings"
	"testing"
	"time"

	"basalt/query/catalog"
)

func mustEncoder(t testing.TB, layout *Layout, oids []uint32, types Types) *Encoder {
	t.Helper()
	e, err := NewEncoder(layout, oids, types, time.UTC, "postgres")
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// concat joins parts of a binary value.
func concat(parts ...[]byte) (out []byte) {
	for _, part := range parts {
		out = append(out, part...)
	}
	return out
}

// field is a record's field on the wire.
func field(oid int32, value []byte) []byte {
	if value == nil {
		return append(be32(oid), be32(-1)...)
	}
	return concat(be32(oid), be32(int32(len(value))), value)
}

func TestAppendStringEscapesOnlyWhatPostgreSQLEscapes(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", `""`},
		{"plain", `"plain"`},
		{`a "quoted" \ backslash`, `"a \"quoted\" \\ backslash"`},
		{"\b\f\n\r\t\v\x00\x1f", `"\b\f\n\r\t\u000b\u0000\u001f"`},
		{"</script>&'\x7f\u2028é😀", "\"</script>&'\x7f\u2028é😀\""},
		{"1234567\"", `"1234567\""`},
		{"12345678\x1f", `"12345678\u001f"`},
		{"!#[]\u00a0\u00dc\u00a2 sixteen bytes+", "\"!#[]\u00a0\u00dc\u00a2 sixteen bytes+\""},
	} {
		if got := string(AppendString(nil, c.text)); got != c.want {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
	}
	// Every byte at every place of a word.
	for c := range 256 {
		for at := range 17 {
			s := strings.Repeat("\xff", at) + string([]byte{byte(c)}) + strings.Repeat("!", 16-at)
			want := `"` + s[:at] + string(appendPlainly(byte(c))) + s[at+1:] + `"`
			if got := string(AppendString(nil, s)); got != want {
				t.Fatalf("byte %#x at %d: %q, want %q", c, at, got, want)
			}
		}
	}
}

func appendPlainly(c byte) []byte {
	if c < 0x20 || c == '"' || c == '\\' {
		return appendEscape(nil, c)
	}
	return []byte{c}
}

func TestEmbedsWithoutRows(t *testing.T) {
	layout := &Layout{Columns: []Column{
		NewColumn("one", Record, NewColumn("a", Scalar)),
		NewColumn("many", Records, NewColumn("a", Scalar)),
		NewColumn("list", List),
		NewColumn("plain", Scalar),
	}}
	e := mustEncoder(t, layout, []uint32{oidRecord, oidRecordArray, 1007, 23}, typeMap{})
	nothing := make([][]byte, 4)
	for _, c := range []struct {
		name, want string
		write      func(dst []byte, values [][]byte) ([]byte, error)
	}{
		{"are null or empty", `{"one":null,"many":[],"list":[],"plain":null}`, e.AppendRow},
		{"lose only what is null", `{"many":[],"list":[]}`, e.AppendRowStripped},
		{"are empty fields or arrays", `,[],[],`, e.AppendCSVRow},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.write([]byte(">"), nothing)
			if err != nil || string(got) != ">"+c.want {
				t.Errorf("%s, %v, want %s", got, err, c.want)
			}
		})
	}
}

func TestEmbedsInCSVAreTheirJSON(t *testing.T) {
	layout := &Layout{Columns: []Column{
		NewColumn("one", Record, NewColumn("a", Scalar), NewColumn("b", Scalar)),
		NewColumn("many", Records, NewColumn("a", Scalar)),
		NewColumn("list", List),
	}}
	e := mustEncoder(t, layout, []uint32{oidRecord, oidRecordArray, 1009}, typeMap{})
	one := concat(be32(2), field(25, []byte(`say "hi"`)), field(16, []byte{1}))
	got, err := e.AppendCSVRow(nil, [][]byte{
		one,
		flatArray(oidRecord, [][]byte{concat(be32(1), field(23, be32(5)))}),
		flatArray(25, [][]byte{[]byte("x")}),
	})
	const want = `"{""a"":""say \\""hi\\"""",""b"":true}","[{""a"":5}]","[""x""]"`
	if err != nil || string(got) != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
}

// TestWrappedColumnsAreTextInCSV takes types that are not native through to_json.
func TestWrappedColumnsAreTextInCSV(t *testing.T) {
	conn := openDatabase(t)
	execute(t, conn, "create extension citext; create type odd as (a integer, r int4range)")
	for _, c := range []struct{ value, want string }{ // want is "" where PostgreSQL's text is wanted
		{`'[1,5)'::int4range`, ""},
		{`E'say "hi"\\\n\t\r\b\f\x01'::citext`, ""},
		{`''::citext`, ""},
		{`'10.0.0.1/8'::inet`, ""},
		{`'12.5'::money`, ""},
		{`'a:1 fat:2'::tsvector`, ""},
		{`array['a', '', 'NULL', 'b c', E'"\\', null]::citext[]`, ""},
		{`array[['[1,2)', '[3,4)'], ['empty', null]]::int4range[]`, ""},
		{`'{}'::citext[]`, ""},
		{`null::citext`, ""},
		{`row(1, '[1,2)')::odd`, `"{""a"":1,""r"":""[1,2)""}"`},
		{`array[row(1, '[1,2)')::odd]`, `"[{""a"":1,""r"":""[1,2)""}]"`},
	} {
		t.Run(c.value, func(t *testing.T) {
			result := binaryRows(t, conn, "select to_json(v), row(v)::text from (select "+c.value+" as v) s")
			layout := &Layout{Columns: []Column{NewColumn("v", Wrapped)}}
			e := mustEncoder(t, layout, columnOIDs(result, 1), typeMap{})
			want := c.want
			if want == "" {
				want = strings.TrimSuffix(strings.TrimPrefix(string(result.Rows[0][1]), "("), ")")
			}
			if got, err := e.AppendCSVRow(nil, result.Rows[0][:1]); err != nil || string(got) != want {
				t.Errorf("%s, %v, want %s", got, err, want)
			}
			json := string(result.Rows[0][0])
			if json == "" {
				json = "null"
			}
			if got, err := e.AppendRow(nil, result.Rows[0][:1]); err != nil || string(got) != `{"v":`+json+`}` {
				t.Errorf("%s, %v, want %s", got, err, json)
			}
		})
	}
}

// TestListsOfRecordsWithOneFieldAreListsOfThatField has arrays of different lengths in an array.
func TestListsOfRecordsWithOneFieldAreListsOfThatField(t *testing.T) {
	conn := openDatabase(t)
	result := binaryRows(t, conn, `
select array_agg(row(case when n <> 2 then array_fill(n, array[n]) end)),
       array_agg(row(row(n, null::text)))
from generate_series(0, 3) as n`)
	layout := &Layout{Columns: []Column{
		NewColumn("arrays", List, NewColumn("x", List)),
		NewColumn("objects", List, NewColumn("x", Record, NewColumn("n", Scalar), NewColumn("t", Scalar))),
	}}
	e := mustEncoder(t, layout, columnOIDs(result, 2), typeMap{})
	for _, c := range []struct {
		name, want string
		write      func(dst []byte, values [][]byte) ([]byte, error)
	}{
		{"as JSON", `{"arrays":[[],[1],[],[3,3,3]],"objects":[{"n":0,"t":null},{"n":1,"t":null},{"n":2,"t":null},{"n":3,"t":null}]}`,
			e.AppendRow},
		{"stripped", `{"arrays":[[],[1],[],[3,3,3]],"objects":[{"n":0},{"n":1},{"n":2},{"n":3}]}`, e.AppendRowStripped},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, err := c.write(nil, result.Rows[0]); err != nil || string(got) != c.want {
				t.Errorf("%s, %v, want %s", got, err, c.want)
			}
		})
	}
}

func TestAnonymousRecordsMayChangeTheirTypes(t *testing.T) {
	e := mustEncoder(t, &Layout{Columns: []Column{NewColumn("r", Record, NewColumn("a", Scalar))}}, []uint32{oidRecord}, typeMap{})
	for _, c := range []struct {
		value []byte
		want  string
	}{
		{concat(be32(1), field(23, be32(7))), `{"r":{"a":7}}`},
		{concat(be32(1), field(25, []byte("seven"))), `{"r":{"a":"seven"}}`},
		{concat(be32(1), field(21, nil)), `{"r":{"a":null}}`},
	} {
		if got, err := e.AppendRow(nil, [][]byte{c.value}); err != nil || string(got) != c.want {
			t.Errorf("%s, %v, want %s", got, err, c.want)
		}
	}
}

func TestVoidIsAnEmptyString(t *testing.T) {
	conn := openDatabase(t)
	execute(t, conn, "create function nothing() returns void language sql as ''")
	result := binaryRows(t, conn, "select nothing(), to_json(nothing())::text, row(nothing())::text from generate_series(1, 2)")
	e := mustEncoder(t, scalars("nothing"), columnOIDs(result, 1), typeMap{})
	for _, row := range result.Rows {
		json, err := e.AppendValue(nil, 0, row[0])
		if want := "null"; row[0] == nil && (err != nil || string(json) != want) {
			t.Errorf("%s, %v, want %s", json, err, want)
		}
		if row[0] != nil && (err != nil || string(json) != string(row[1])) {
			t.Errorf("%s, %v, want %s", json, err, row[1])
		}
		field, err := e.AppendCSVRow(nil, row[:1])
		if want := string(row[2][1 : len(row[2])-1]); err != nil || string(field) != want {
			t.Errorf("%s, %v, want %s", field, err, want)
		}
	}
}

func TestNativeTypes(t *testing.T) {
	conn := openDatabase(t)
	execute(t, conn, sampleSchema+`
create extension citext;
create type odd as (a integer, r int4range);
create domain odd_domain as odd;
create domain label as citext;
create table plain (id integer, at timestamptz);`)
	types := loadTypes(t, conn)
	native := func(names string, want bool) {
		for name := range strings.FieldsSeq(names) {
			if typ := types.named(t, name); Native(typ) != want {
				t.Errorf("%s: native %v, want %v", typ.Name, !want, want)
			}
		}
	}
	native(`bool int2 int4 int8 float4 float8 numeric text varchar bpchar name char uuid json jsonb date time timetz timestamp
		timestamptz interval bytea oid xid void xml mood percent email amounts stamp point2 person checked_person altered plain
		_bool _int2 _int4 _int8 _float4 _float8 _numeric _text _varchar _bpchar _name _char _uuid _json _jsonb _date _time
		_timetz _timestamp _timestamptz _interval _bytea _oid _xid _xml _mood _percent _amounts _person _plain`, true)
	native(`record _record citext _citext label int4range _int4range int4multirange money point inet cidr macaddr bit varbit
		tsvector tsquery regclass int2vector oidvector _int2vector pg_lsn jsonpath odd _odd odd_domain xid8 anyarray trigger`, false)
	if Native(nil) {
		t.Error("no type is native")
	}
}

func TestACircularTypeIsNotNative(t *testing.T) {
	circle := &catalog.Type{OID: 50_000, Kind: catalog.CompositeType}
	circle.Fields = []catalog.Field{{Name: "self", Type: circle}}
	if Native(circle) {
		t.Error("native")
	}
}

func TestRowTypesTakeTheirFieldsFromTheRelation(t *testing.T) {
	number := &catalog.Type{OID: 23, Kind: catalog.BaseType}
	row := &catalog.Type{OID: 50_000, Kind: catalog.CompositeType,
		Relation: &catalog.Relation{Columns: []*catalog.Column{{Name: "id", Type: number}}}}
	e := mustEncoder(t, scalars("r"), []uint32{50_000}, typeMap{50_000: row})
	got, err := e.AppendRow(nil, [][]byte{concat(be32(1), field(23, be32(7)))})
	if want := `{"r":{"id":7}}`; err != nil || string(got) != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
}

func TestEncodersRefuseWhatTheyDoNotKnow(t *testing.T) {
	number := &catalog.Type{OID: 23, Kind: catalog.BaseType}
	pair := &catalog.Type{OID: 50_000, Kind: catalog.CompositeType,
		Fields: []catalog.Field{{Name: "a", Type: number}, {Name: "b", Type: number}}}
	types := typeMap{50_000: pair}
	unknown := func(oid uint32) func(error) bool {
		return func(err error) bool {
			found := (*UnknownTypeError)(nil)
			return errors.As(err, &found) && found.OID == oid
		}
	}
	shape := func(err error) bool { return errors.As(err, new(*ShapeError)) }
	for _, c := range []struct {
		name   string
		column Column
		oid    uint32
		value  []byte
		is     func(error) bool
	}{
		{"a type that is not native", NewColumn("a", Scalar), 790, nil, unknown(790)},
		{"a type that the catalog does not know", NewColumn("a", Scalar), 60_000, nil, unknown(60_000)},
		{"a record without names", NewColumn("a", Scalar), oidRecord, nil, unknown(oidRecord)},
		{"an embed that is no record", NewColumn("a", Record), 23, nil, unknown(23)},
		{"embeds that are no records", NewColumn("a", Records), 1007, nil, unknown(1007)},
		{"an unknown type inside a record", NewColumn("a", Record, NewColumn("x", Scalar)), oidRecord,
			concat(be32(1), field(60_000, be32(1))), unknown(60_000)},
		{"a composite with another number of fields", NewColumn("a", Scalar), 50_000,
			concat(be32(1), field(23, be32(1))), unknown(50_000)},
		{"a composite with another type of field", NewColumn("a", Scalar), 50_000,
			concat(be32(2), field(23, be32(1)), field(25, be32(1))), unknown(50_000)},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, err := NewEncoder(&Layout{Columns: []Column{c.column}}, []uint32{c.oid}, types, time.UTC, "postgres")
			if err == nil {
				_, err = e.AppendRow(nil, [][]byte{c.value})
			}
			if err == nil || !c.is(err) {
				t.Errorf("error %v", err)
			}
		})
	}
	t.Run("another number of columns", func(t *testing.T) {
		if _, err := NewEncoder(scalars("a", "b"), []uint32{23}, types, time.UTC, "postgres"); !shape(err) {
			t.Errorf("error %v", err)
		}
		e := mustEncoder(t, scalars("a"), []uint32{23}, types)
		for _, write := range []func([]byte, [][]byte) ([]byte, error){e.AppendRow, e.AppendRowStripped, e.AppendCSVRow} {
			if got, err := write([]byte("kept"), make([][]byte, 2)); !shape(err) || string(got) != "kept" {
				t.Errorf("%s, error %v", got, err)
			}
		}
	})
	t.Run("another interval style", func(t *testing.T) {
		_, err := NewEncoder(scalars("a"), []uint32{23}, types, time.UTC, "roman")
		if !errors.As(err, new(*IntervalStyleError)) {
			t.Errorf("error %v", err)
		}
	})
}

func TestMalformedValuesNameTheirColumn(t *testing.T) {
	for _, c := range []struct {
		name  string
		oid   uint32
		value []byte
	}{
		{"a short integer", 23, []byte{1, 2}},
		{"a long boolean", 16, []byte{1, 2}},
		{"jsonb of another version", 3802, []byte{2, '1'}},
		{"an array of another type", 1007, flatArray(25, [][]byte{be32(1)})},
		{"an array that is longer than its value", 1007, concat(be32(1), be32(0), be32(23), be32(1<<30), be32(1))},
		{"an array whose product of dimensions overflows", 1007, concat(be32(6), be32(0), be32(23),
			be32(1<<30), be32(1), be32(1<<30), be32(1), be32(1<<30), be32(1), be32(1<<30), be32(1), be32(4), be32(1), be32(4), be32(1))},
		{"an array with bytes behind it", 1007, append(flatArray(23, [][]byte{be32(1)}), 0)},
		{"an empty array with bytes behind it", 1007, append(concat(be32(0), be32(0), be32(23)), 0)},
		{"a numeric with a digit of 10000", 1700, concat(be16(1), be16(0), be16(0), be16(0), be16(10_000))},
		{"a numeric without all its digits", 1700, concat(be16(2), be16(0), be16(0), be16(0), be16(1))},
		{"a numeric with an unknown sign", 1700, concat(be16(0), be16(0), be16(1), be16(0))},
		{"a timestamp beyond the calendar", 1114, be64(latestMicros)},
		{"a time after midnight", 1083, be64(microsPerDay + 1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := mustEncoder(t, scalars("first", "wrong"), []uint32{25, c.oid}, typeMap{})
			for _, write := range []func([]byte, [][]byte) ([]byte, error){e.AppendRow, e.AppendRowStripped, e.AppendCSVRow} {
				got, err := write([]byte("kept"), [][]byte{[]byte("x"), c.value})
				found := (*ValueError)(nil)
				if !errors.As(err, &found) || found.Column != "wrong" || string(got) != "kept" {
					t.Errorf("%s, error %v", got, err)
				}
			}
		})
	}
}
