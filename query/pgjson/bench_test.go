package pgjson

import (
	"math/rand/v2"
	"strconv"
	"testing"
	"time"
)

// benchEmbed has ten children with five columns in each parent.
func benchEmbed() (*Layout, []uint32, [][][]byte) {
	layout := &Layout{Columns: []Column{
		NewColumn("id", Scalar),
		NewColumn("name", Scalar),
		NewColumn("items", Records, NewColumn("id", Scalar), NewColumn("title", Scalar), NewColumn("amount", Scalar),
			NewColumn("active", Scalar), NewColumn("created_at", Scalar)),
	}}
	r := rand.New(rand.NewPCG(1, 1))
	rows := make([][][]byte, 100)
	for i := range rows {
		children := make([][]byte, 10)
		for j := range children {
			children[j] = concat(be32(5), field(20, be64(int64(10*i+j))), field(25, []byte("Child number "+strconv.Itoa(j))),
				field(1700, concat(be16(2), be16(0), be16(0), be16(2), be16(12), be16(3400))), field(16, []byte{1}),
				field(1184, be64(r.Int64N(800_000_000)*microsPerSec)))
		}
		rows[i] = [][]byte{be64(int64(i)), []byte("Parent"), flatArray(oidRecord, children)}
	}
	return layout, []uint32{20, 25, oidRecordArray}, rows
}

func BenchmarkAppendEmbeds100x10(b *testing.B) {
	layout, oids, rows := benchEmbed()
	e := mustEncoder(b, layout, oids, typeMap{})
	dst := make([]byte, 0, 1<<20)
	b.ReportAllocs()
	for b.Loop() {
		dst = dst[:0]
		var err error
		for _, row := range rows {
			if dst, err = e.AppendRow(dst, row); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.SetBytes(int64(len(dst)))
}

func BenchmarkAppendValue(b *testing.B) {
	for _, typ := range scalarTypes(newestMajor) {
		b.Run(typ.sql, func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 1))
			values := make([][]byte, 100)
			for i := range values {
				values[i] = typ.value(r)
			}
			e := mustEncoder(b, scalars("v"), []uint32{typ.oid}, typeMap{})
			dst := make([]byte, 0, 1<<20)
			b.ReportAllocs()
			for b.Loop() {
				for _, value := range values {
					dst, _ = e.AppendValue(dst[:0], 0, value)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(values)), "ns/value")
		})
	}
}

func BenchmarkNewEncoder(b *testing.B) {
	layout, oids, _ := benchEmbed()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := NewEncoder(layout, oids, typeMap{}, time.UTC, "postgres"); err != nil {
			b.Fatal(err)
		}
	}
}

func TestWritingRowsAllocatesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	columns := []Column{NewColumn("many", Records, NewColumn("a", Scalar), NewColumn("b", Scalar))}
	oids := []uint32{oidRecordArray}
	values := [][]byte{flatArray(oidRecord, [][]byte{concat(be32(2), field(23, be32(1)), field(1184, be64(0)))})}
	for _, typ := range scalarTypes(newestMajor) {
		values = append(values, typ.value(r), typ.value(r), flatArray(typ.oid, [][]byte{typ.value(r), typ.value(r)}))
		columns = append(columns, NewColumn(typ.sql, Scalar), NewColumn(typ.sql, Scalar), NewColumn(typ.sql, List))
		oids = append(oids, typ.oid, typ.oid, arrayOID(t, typ.oid))
	}
	values = append(values, be64(0x44b52d02c7e14af6)) // 1e23, for which strconv's text has to be corrected
	columns, oids = append(columns, NewColumn("rare", Scalar)), append(oids, 701)
	location, err := LoadZone("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	e, err := NewEncoder(&Layout{Columns: columns}, oids, typeMap{}, location, "postgres_verbose")
	if err != nil {
		t.Fatal(err)
	}
	dst := make([]byte, 0, 1<<20)
	for name, write := range map[string]func([]byte, [][]byte) ([]byte, error){
		"AppendRow": e.AppendRow, "AppendRowStripped": e.AppendRowStripped, "AppendCSVRow": e.AppendCSVRow,
	} {
		if _, err := write(dst, values); err != nil {
			t.Fatal(err)
		}
		if allocs := testing.AllocsPerRun(100, func() { dst, _ = write(dst[:0], values) }); allocs != 0 {
			t.Errorf("%s: %v allocations", name, allocs)
		}
	}
}

func arrayOID(t *testing.T, elem uint32) uint32 {
	for oid := range uint32(5000) {
		if builtinElement(oid) == elem {
			return oid
		}
	}
	t.Fatalf("no array of %d", elem)
	return 0
}
