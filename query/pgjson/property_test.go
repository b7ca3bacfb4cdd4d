package pgjson

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// session has the settings that the form of values depends on.
type session struct{ zone, style string }

var sessions = []session{
	{"UTC", "postgres"},
	{"Asia/Kolkata", "postgres_verbose"},
	{"America/New_York", "sql_standard"},
	{"Africa/Monrovia", "iso_8601"},
	{"<+05:30>-05:30", "postgres"},
}

func (s *session) encoder(t testing.TB, layout *Layout, result *pgconn.Result, types Types) *Encoder {
	t.Helper()
	zone, err := LoadZone(s.zone)
	if err != nil {
		t.Fatal(err)
	}
	e, err := NewEncoder(layout, columnOIDs(result, len(layout.Columns)), types, zone, s.style)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func eachSession(t *testing.T, conn *pgconn.PgConn, run func(t *testing.T, s *session)) {
	for _, s := range sessions {
		execute(t, conn, fmt.Sprintf("set timezone = '%s'; set intervalstyle = '%s'", s.zone, s.style))
		t.Run(s.zone+" "+s.style, func(t *testing.T) { run(t, &s) })
	}
}

func sameBytes(t *testing.T, what string, got []byte, err error, want []byte) {
	t.Helper()
	if err != nil {
		t.Errorf("%s: %v, want %.300s", what, err, want)
		return
	}
	if bytes.Equal(got, want) {
		return
	}
	at := 0
	for at < len(got) && at < len(want) && got[at] == want[at] {
		at++
	}
	from := max(0, at-60)
	t.Errorf("%s: at %d\n got %q\nwant %q", what, at, got[from:min(len(got), at+60)], want[from:min(len(want), at+60)])
}

// flatArray is a binary array of one dimension.
func flatArray(elem uint32, values [][]byte) []byte {
	out := append(append(be32(1), be32(0)...), be32(int32(elem))...)
	out = append(append(out, be32(int32(len(values)))...), be32(1)...)
	for _, value := range values {
		out = append(append(out, be32(int32(len(value)))...), value...)
	}
	return out
}

// compareValues has PostgreSQL take values of a type, and compares its JSON and text of them with ours.
func compareValues(t *testing.T, conn *pgconn.PgConn, s *session, typ sampleType, values [][]byte) {
	t.Helper()
	sql := fmt.Sprintf(`
select v, to_json(v)::text, row(v)::text, coalesce(json_strip_nulls(to_json(v))::text, 'null')
from unnest($1::%s[]) with ordinality as given(v, n)
order by n`, typ.sql)
	result := binaryRows(t, conn, sql, flatArray(typ.oid, values))
	e := s.encoder(t, scalars("v"), result, typeMap{})
	var dst []byte
	var err error
	for i, row := range result.Rows {
		what := fmt.Sprintf("%s %d % .100x", typ.sql, i, row[0])
		dst, err = e.AppendValue(dst[:0], 0, row[0])
		sameBytes(t, what+" as JSON", dst, err, row[1])
		dst, err = e.AppendCSVRow(dst[:0], row[:1])
		sameBytes(t, what+" as CSV", dst, err, row[2][1:len(row[2])-1])
		dst, err = e.AppendValueStripped(dst[:0], 0, row[0])
		sameBytes(t, what+" stripped", dst, err, row[3])
		if t.Failed() {
			return
		}
	}
}

func TestEveryScalarTypeIsWrittenAsPostgreSQLWritesIt(t *testing.T) {
	conn := openDatabase(t)
	eachSession(t, conn, func(t *testing.T, s *session) {
		seed := uint64(time.Now().UnixNano())
		t.Logf("seed %d", seed)
		for _, typ := range scalarTypes(major(t, conn)) {
			t.Run(typ.sql, func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, 0))
				values := make([][]byte, 3000)
				for i := range values {
					values[i] = typ.value(r)
				}
				compareValues(t, conn, s, typ, values)
			})
		}
	})
}

const sampleSchema = `
create type mood as enum ('sad', 'ok', 'very "happy", \o/', 'NULL', '');
create domain percent as integer;
create domain email as text;
create domain amounts as numeric[];
create domain stamp as timestamptz;
create type point2 as (x double precision, y double precision);
create type person as (id bigint, "full ""name"" \ é" text, home point2, feeling mood, tags text[], since stamp, doc json);
create domain checked_person as person;
create table altered (a integer, gone text, b text, share percent);
alter table altered drop column gone;`

// compositeTypes are the types that the schema above declares, and arrays of them.
func compositeTypes(t testing.TB, types typeMap, scalars []sampleType) []sampleType {
	scalar := map[string]sampleType{}
	for _, typ := range scalars {
		scalar[typ.sql] = typ
	}
	like := func(name string, base sampleType) sampleType {
		return sampleType{name, types.named(t, name).OID, base.value}
	}
	array := func(elem sampleType) sampleType { return arrayOf(elem, types[elem.oid].Array) }
	mood := like("mood", sampleType{value: func(r *rand.Rand) []byte {
		return []byte(pick(r, "sad", "ok", `very "happy", \o/`, "NULL", ""))
	}})
	percent := like("percent", scalar["integer"])
	email := like("email", scalar["text"])
	amounts := like("amounts", arrayOf(scalar["numeric"], 1231))
	stamp := like("stamp", scalar["timestamptz"])
	point2 := recordOf("point2", types.named(t, "point2").OID, scalar["double precision"], scalar["double precision"])
	person := recordOf("person", types.named(t, "person").OID, scalar["bigint"], scalar["text"], point2, mood,
		array(scalar["text"]), stamp, scalar["json"])
	checked := like("checked_person", person)
	altered := recordOf("altered", types.named(t, "altered").OID, scalar["integer"], scalar["text"], percent)
	return []sampleType{mood, percent, email, amounts, stamp, point2, person, checked, altered,
		array(mood), array(percent), array(email), array(amounts), array(stamp), array(point2), array(person),
		array(checked), array(altered)}
}

// fillSamples makes a table with a column of every native type, filled at random.
func fillSamples(t testing.TB, conn *pgconn.PgConn, rows int) (names []string, types typeMap) {
	t.Helper()
	execute(t, conn, sampleSchema)
	types = loadTypes(t, conn)
	scalars := scalarTypes(major(t, conn))
	all := slices.Clone(scalars)
	for _, elem := range scalars {
		all = append(all, arrayOf(elem, types[elem.oid].Array))
	}
	all = append(all, compositeTypes(t, types, scalars)...)
	columns := make([]string, len(all))
	for i, typ := range all {
		name := fmt.Sprintf("c%d", i)
		names = append(names, name)
		columns[i] = name + " " + typ.sql
	}
	execute(t, conn, "create table samples (id integer generated always as identity, "+strings.Join(columns, ", ")+")")
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	data := append([]byte("PGCOPY\n\xff\r\n\x00"), make([]byte, 8)...)
	for range rows {
		data = binary.BigEndian.AppendUint16(data, uint16(len(all)))
		for _, typ := range all {
			data = nullable(r, data, typ)
		}
	}
	data = append(data, 0xff, 0xff)
	sql := "copy samples (" + strings.Join(names, ", ") + ") from stdin (format binary)"
	if _, err := conn.CopyFrom(context.Background(), bytes.NewReader(data), sql); err != nil {
		t.Fatal(err)
	}
	return names, types
}

func TestRowsOfEveryTypeAreWrittenAsPostgreSQLWritesThem(t *testing.T) {
	conn := openDatabase(t)
	names, types := fillSamples(t, conn, 400)
	list := strings.Join(names, ", ")
	sql := fmt.Sprintf(`
select %s, row_to_json(s)::text, s::text, json_strip_nulls(row_to_json(s))::text
from (select %[1]s from samples order by id) as s`, list)
	eachSession(t, conn, func(t *testing.T, s *session) {
		result := binaryRows(t, conn, sql)
		for _, oid := range columnOIDs(result, len(names)) {
			if typ := types[oid]; !Native(typ) {
				t.Errorf("%s is not native", typ.Name)
			}
		}
		e := s.encoder(t, scalars(names...), result, types)
		var dst []byte
		var err error
		for i, row := range result.Rows {
			values, want := row[:len(names)], row[len(names):]
			what := fmt.Sprintf("row %d", i)
			dst, err = e.AppendRow(dst[:0], values)
			sameBytes(t, what+" as JSON", dst, err, want[0])
			dst, err = e.AppendCSVRow(dst[:0], values)
			sameBytes(t, what+" as CSV", dst, err, want[1][1:len(want[1])-1])
			dst, err = e.AppendRowStripped(dst[:0], values)
			sameBytes(t, what+" stripped", dst, err, want[2])
			if t.Failed() {
				return
			}
		}
	})
}

// TestEmbedsAreWrittenFromAnonymousRecords nests a to-one and a to-many embed in each other, with a list beside.
func TestEmbedsAreWrittenFromAnonymousRecords(t *testing.T) {
	conn := openDatabase(t)
	names, types := fillSamples(t, conn, 120)
	members := make([]Column, 0, len(names)+1)
	for _, name := range names {
		members = append(members, NewColumn(name, Scalar))
	}
	members = append(members, NewColumn("wrapped", Scalar))
	layout := &Layout{Columns: []Column{
		NewColumn("id", Scalar),
		NewColumn("one", Record, members...),
		NewColumn("many", Records, NewColumn("id", Scalar), NewColumn("parent", Record, members...),
			NewColumn("below", Records, NewColumn("i d", Scalar)), NewColumn("ids", List)),
		NewColumn("list", List),
	}}
	list := strings.Join(names, ", ")
	sql := fmt.Sprintf(`
select s.id,
       case when s.id %% 7 <> 0 then row(%[1]s, to_json(int4range(1, s.id + 1))) end,
       (select array_agg(row(
                 c.id,
                 case when c.id %% 2 = 0 then (select row(%[1]s, to_json(int4range(1, p.id + 1))) from samples p where p.id = c.id) end,
                 (select array_agg(row(g.id)) from samples g where g.id between c.id and c.id + c.id %% 3 - 1),
                 (select array_agg(g.id) from samples g where g.id between c.id and c.id + c.id %% 3 - 1)
               ) order by c.id)
        from samples c where c.id / 5 = s.id),
       (select array_agg(c4 order by c.id) from samples c where c.id / 5 = s.id),
       row_to_json(x)::text,
       json_strip_nulls(row_to_json(x))::text
from samples s
cross join lateral (
  select s.id,
         case when s.id %% 7 <> 0 then (select row_to_json(e) from (select %[1]s, int4range(1, s.id + 1) as wrapped) e) end as one,
         (select coalesce('[' || string_agg(row_to_json(m)::text, ',' order by m.id) || ']', '[]')::json
          from (select c.id,
                       case when c.id %% 2 = 0 then
                         (select row_to_json(e) from (select %[1]s, int4range(1, p.id + 1) as wrapped from samples p where p.id = c.id) e)
                       end as parent,
                       (select coalesce('[' || string_agg(row_to_json(b)::text, ',') || ']', '[]')::json
                        from (select g.id as "i d" from samples g where g.id between c.id and c.id + c.id %% 3 - 1) b) as below,
                       (select to_json(coalesce(array_agg(g.id), '{}')) from samples g where g.id between c.id and c.id + c.id %% 3 - 1) as ids
                from samples c where c.id / 5 = s.id) m) as many,
         (select to_json(coalesce(array_agg(c4 order by c.id), '{}')) from samples c where c.id / 5 = s.id) as list
) x
order by s.id`, list)
	eachSession(t, conn, func(t *testing.T, s *session) {
		result := binaryRows(t, conn, sql)
		e := s.encoder(t, layout, result, types)
		var dst []byte
		var err error
		for i, row := range result.Rows {
			values, want := row[:4], row[4:]
			dst, err = e.AppendRow(dst[:0], values)
			sameBytes(t, fmt.Sprintf("row %d", i), dst, err, want[0])
			dst, err = e.AppendRowStripped(dst[:0], values)
			sameBytes(t, fmt.Sprintf("row %d stripped", i), dst, err, want[1])
			if t.Failed() {
				return
			}
		}
	})
}
