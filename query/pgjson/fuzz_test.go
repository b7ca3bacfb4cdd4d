package pgjson

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"
	"unicode/utf8"

	"basalt/query/catalog"
)

// hostileTypes has made-up types of each kind that is made of others.
func hostileTypes() (typeMap, []uint32) {
	types := typeMap{}
	var oids []uint32
	add := func(t *catalog.Type) *catalog.Type {
		types[t.OID] = t
		oids = append(oids, t.OID)
		return t
	}
	for _, scalar := range scalarTypes(newestMajor) {
		oids = append(oids, scalar.oid)
	}
	for oid := range uint32(5000) {
		if builtinElement(oid) != 0 {
			oids = append(oids, oid)
		}
	}
	number := &catalog.Type{OID: 23, Kind: catalog.BaseType}
	words := &catalog.Type{OID: 1009, Kind: catalog.BaseType}
	domain := add(&catalog.Type{OID: 50_000, Kind: catalog.DomainType, Base: words})
	mood := add(&catalog.Type{OID: 50_001, Kind: catalog.EnumType})
	pair := add(&catalog.Type{OID: 50_002, Kind: catalog.CompositeType,
		Fields: []catalog.Field{{Name: "a", Type: number}, {Name: "b", Type: domain}, {Name: "c", Type: mood}}})
	add(&catalog.Type{OID: 50_003, Kind: catalog.BaseType, Category: 'A', Elem: pair})
	return types, append(oids, 2278)
}

// FuzzAppendRow gives every type the same bytes as its value: whatever they are, writing ends in JSON or an error,
// and what stood in dst before stays.
func FuzzAppendRow(f *testing.F) {
	types, oids := hostileTypes()
	r := rand.New(rand.NewPCG(1, 1))
	for _, scalar := range scalarTypes(newestMajor) {
		f.Add(scalar.value(r))
		f.Add(arrayOf(scalar, 0).value(r))
		f.Add(concat(be32(2), field(int32(scalar.oid), scalar.value(r)), field(oidRecordArray, nil)))
	}
	pair := concat(be32(3), field(23, be32(1)), field(50_000, flatArray(25, [][]byte{[]byte("x")})), field(50_001, []byte("sad")))
	f.Add(pair)
	f.Add(flatArray(50_002, [][]byte{pair, nil}))
	f.Add(flatArray(oidRecord, [][]byte{concat(be32(2), field(50_002, pair), field(oidRecordArray, nil))}))
	inner := NewColumn("inner", Records, NewColumn("x", Scalar))
	newYork, err := LoadZone("America/New_York")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		// A value with nothing behind it, so that reading too far panics.
		value = append(make([]byte, 0, len(value)), value...)
		check := func(column Column, oid uint32, zone *time.Location, style string) {
			e, err := NewEncoder(&Layout{Columns: []Column{column}}, []uint32{oid}, types, zone, style)
			if err != nil {
				t.Fatal(err)
			}
			for i, write := range []func([]byte, [][]byte) ([]byte, error){e.AppendRow, e.AppendRowStripped, e.AppendCSVRow} {
				got, err := write([]byte("kept"), [][]byte{value})
				if !bytes.HasPrefix(got, []byte("kept")) || err != nil && len(got) != len("kept") {
					t.Fatalf("type %d: %.200q, %v", oid, got, err)
				}
				if passesThrough := oid == 114 || oid == 199 || oid == 3802 || oid == 3807 || column.Kind != Scalar; err != nil ||
					i == 2 || passesThrough || !utf8.Valid(value) {
					continue
				}
				if !json.Valid(got[len("kept"):]) {
					t.Fatalf("type %d: %.200q is no JSON", oid, got)
				}
			}
		}
		for _, oid := range oids {
			check(NewColumn("v", Scalar), oid, time.UTC, "postgres")
		}
		for _, style := range []string{"postgres_verbose", "sql_standard", "iso_8601"} {
			check(NewColumn("v", Scalar), 1186, newYork, style)
		}
		check(NewColumn("v", Scalar), 1184, newYork, "postgres")
		check(NewColumn("v", Wrapped), 114, time.UTC, "postgres")
		check(NewColumn("v", List, inner), oidRecordArray, time.UTC, "postgres")
		check(NewColumn("v", Record, NewColumn("a", Scalar), inner), oidRecord, time.UTC, "postgres")
		check(NewColumn("v", Records, NewColumn("a", Scalar), inner), oidRecordArray, time.UTC, "postgres")
	})
}

// FuzzAppendWithoutNulls compares with the standard library's idea of what is left of valid JSON.
func FuzzAppendWithoutNulls(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		f.Add([]byte(anyJSON(r, 4)))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, ok := appendWithoutNulls(nil, text)
		if !json.Valid(text) || !utf8.Valid(text) {
			return
		}
		if !ok && !bytes.Contains(text, []byte(`\u`)) { // a lone surrogate is valid for encoding/json
			t.Fatalf("%q is refused", text)
		}
		if ok && !json.Valid(got) {
			t.Fatalf("%q becomes %q", text, got)
		}
		if again, ok := appendWithoutNulls(nil, got); ok && !bytes.Equal(got, again) {
			t.Fatalf("%q becomes %q, then %q", text, got, again)
		}
	})
}
