package rest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"basalt/query"
	"basalt/query/catalog"
	"basalt/store"
)

// wideCatalog is a catalog of one relation with many columns.
func wideCatalog(t *testing.T) *catalog.Catalog {
	t.Helper()
	raw := catalog.Raw{
		Options: catalog.Options{Schemas: []string{"public"}},
		Types: []catalog.RawType{
			{OID: 20, Name: catalog.Name{Schema: "pg_catalog", Name: "int8"}, Kind: catalog.BaseType, Category: 'N', SQL: "bigint"},
			{OID: 25, Name: catalog.Name{Schema: "pg_catalog", Name: "text"}, Kind: catalog.BaseType, Category: 'S', SQL: "text"},
		},
		Relations: []catalog.RawRelation{{OID: 1, Name: catalog.Name{Schema: "public", Name: "wide"}, Kind: catalog.Table}},
		Keys:      []catalog.RawKey{{Relation: 1, Primary: true, Columns: []int16{1}}},
	}
	for i := range int16(60) {
		raw.Columns = append(raw.Columns, catalog.RawColumn{
			Relation: 1, Number: i + 1, Name: fmt.Sprintf("column_%d", i+1), Type: 20 + 5*catalog.OID(i%2), NotNull: i == 0,
		})
	}
	c, err := catalog.Build(raw, 1)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestTheMemoryForStatementsIsBounded: clients that invent a new shape for each request do not make the server grow,
// whether their shapes are small or as large as an address can be.
func TestTheMemoryForStatementsIsBounded(t *testing.T) {
	shapes := 8_000
	if os.Getenv("BASALT_SOAK") != "" {
		shapes = 1_000_000
	}
	const most = 96 << 20
	c := wideCatalog(t)
	r := rand.New(rand.NewPCG(1, 2))
	columns := func(n int) string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf("a%d:column_%d", r.IntN(1_000_000), 1+r.IntN(60))
		}
		return strings.Join(list, ",")
	}
	for _, test := range []struct {
		name string
		make int
		raw  func(i int) string
	}{
		{"small ones", shapes, func(i int) string {
			return fmt.Sprintf("select=%s,shape%d:column_1&column_1=gt.1&order=column_%d", columns(2), i, 1+i%60)
		}},
		{"usual ones", shapes, func(i int) string {
			return fmt.Sprintf("select=%s&column_1=gt.1&column_2=like.x&or=(column_3.eq.1,column_%d.is.null)&order=column_%d", columns(12), 1+i%60, 1+i%60)
		}},
		{"large ones", shapes / 20, func(int) string { return "select=" + columns(900) }},
		{"ones with many conditions", shapes / 20, func(int) string {
			parts := make([]string, 500)
			for i := range parts {
				parts[i] = fmt.Sprintf("column_%d=gt.%d", 1+r.IntN(60), i)
			}
			return strings.Join(parts, "&")
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := New(nil, nil, nil, zerolog.Nop(), Options{})
			p := NewPlanner(c)
			q := &query.Query{}
			before := heap()
			for i := range test.make {
				if err := q.Parse(test.raw(i), query.ParseOptions{}); err != nil {
					t.Fatal(err)
				}
				request := &query.Request{Action: query.Read, Schema: "public", Target: "wide", Query: q, Limit: -1}
				statement, err := h.compile(p, request)
				if err != nil {
					t.Fatal(err)
				}
				// As it is after its rows were first written.
				described := store.Columns{TimeZone: "UTC", IntervalStyle: "postgres", Types: make([]uint32, len(statement.Layout.Columns))}
				for j := range described.Types {
					described.Types[j] = 25
				}
				if _, err := statement.bind(p, described, &h.zones); err != nil {
					t.Fatal(err)
				}
			}
			grown := heap() - before
			t.Logf("%d shapes: %d statements of %d bytes take %.1f MiB (bar %d)", test.make, len(p.compiled), p.bytes, float64(grown)/(1<<20), most>>20)
			if grown > most {
				t.Errorf("the heap grew by %d bytes", grown)
			}
			runtime.KeepAlive(p)
		})
	}
}

func heap() int64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
