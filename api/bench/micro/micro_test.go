package micro

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"basalt/api/rest"
	"basalt/query"
	"basalt/query/catalog"
	"basalt/store"
	"basalt/store/storetest"
)

// BenchmarkMicro runs what the section of the report measures, under go test.
func BenchmarkMicro(b *testing.B) {
	for _, benchmark := range Benchmarks() {
		b.Run(benchmark.Key, func(b *testing.B) {
			operation := ready(b, benchmark)
			if err := operation(); err != nil { // what is made at first use is not the operation's
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := operation(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func ready(tb testing.TB, benchmark Benchmark) func() error {
	tb.Helper()
	operation, err := benchmark.New()
	if err != nil {
		tb.Fatal(err)
	}
	return operation
}

// allocations counts those of a benchmark's operation.
func allocations(t *testing.T, key string) float64 {
	t.Helper()
	for _, benchmark := range Benchmarks() {
		if benchmark.Key != key {
			continue
		}
		operation := ready(t, benchmark)
		return testing.AllocsPerRun(100, func() {
			if err := operation(); err != nil {
				t.Fatal(err)
			}
		})
	}
	t.Fatalf("there is no benchmark %s", key)
	return 0
}

func TestTheSectionHasAFigureOfEachRoundForEachOperation(t *testing.T) {
	all, last := 0, -1
	section, err := Section(t.Context(), Options{Rounds: 2, For: 1, Progress: func(done, of int) {
		if done != last+1 {
			t.Errorf("%d are done after %d", done, last)
		}
		last, all = done, of
	}})
	if err != nil {
		t.Fatal(err)
	}
	if last != all-1 || all != 2*len(Benchmarks()) {
		t.Errorf("the progress ended at %d of %d", last, all)
	}
	keys := map[string]bool{}
	for _, table := range section.Tables {
		if table.Title == "" || !strings.HasSuffix(table.Method, ".") || table.Head == "" {
			t.Errorf("the table %q lacks a text", table.Title)
		}
		for _, row := range table.Rows {
			if row.Cells[0].Text == "none: no bus" {
				continue
			}
			for _, cell := range row.Cells {
				if keys[cell.Figure.Key] || len(cell.Figure.Rounds) != 2 {
					t.Errorf("%s: twice, or not of two rounds", cell.Figure.Key)
				}
				keys[cell.Figure.Key] = true
			}
			if row.Cells[0].Figure.Value <= 0 {
				t.Errorf("%s took no time", row.Name)
			}
		}
	}
	if len(keys) != 3*len(Benchmarks()) {
		t.Errorf("%d figures of %d benchmarks", len(keys), len(Benchmarks()))
	}
}

func TestMeasuringEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	_, err := measure(ctx, func() error { cancel(); return nil }, 1<<62)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestTokensAreVerifiedEachTimeOrRememberedAsTheirNamesSay(t *testing.T) {
	for _, algorithm := range []string{"HS256", "ES256"} {
		if n := allocations(t, "jwt.verify."+algorithm); n < 10 {
			t.Errorf("%s: %v allocations, as if the token were remembered", algorithm, n)
		}
		if n := allocations(t, "jwt.remembered."+algorithm); n > 0 {
			t.Errorf("%s: %v allocations of a remembered token", algorithm, n)
		}
	}
}

func TestACachedPlanAllocatesLittle(t *testing.T) {
	if n := allocations(t, "compile.cached"); n > 20 {
		t.Errorf("%v allocations, at most 20 are wanted", n)
	}
}

// The catalog that is made without a database must be the one that a database with the tables has.
func TestStatementsAreThoseOfTheTables(t *testing.T) {
	schema, err := os.ReadFile("../schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	database := storetest.New(t)
	database.Exec(t, string(schema))
	conn, err := pgconn.Connect(t.Context(), database.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	loaded, err := store.LoadCatalog(t.Context(), conn, store.CatalogOptions{Schemas: []string{"public"}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	made, err := newCatalog()
	if err != nil {
		t.Fatal(err)
	}
	for _, raw := range []string{fourConditions, twoEmbeds, conditions[3].raw} {
		r := newRead(raw)
		if err := r.request.Query.Parse(raw, query.ParseOptions{}); err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, c := range []*catalog.Catalog{made, loaded} {
			statement, _, err := rest.NewPlanner(c).Statement(&r.request)
			if err != nil {
				t.Fatalf("%s: %v", raw, err)
			}
			texts = append(texts, statement.SQL)
		}
		if texts[0] != texts[1] {
			t.Errorf("%s:\n%s\nbut by the database's catalog\n%s", raw, texts[0], texts[1])
		}
		if _, err := conn.Prepare(t.Context(), "", texts[0], nil); err != nil {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

func TestRowsBecomeTheJSONOfTheirValues(t *testing.T) {
	rows, err := itemRows(1)
	if err != nil {
		t.Fatal(err)
	}
	encoder, err := itemEncoder()
	if err != nil {
		t.Fatal(err)
	}
	text, err := encoder.AppendRow(nil, rows[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`{"id":1,"key":"`, `"name":"item 1","note":"a note about item 1","price":1.25,"stock":1,"active":false,` +
		`"extra":{"k": 1, "tags": ["a", "b"]},"created_at":"2026-01-01T00:01:00.123456+00:00","owner":"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s has not %s", text, want)
		}
	}
}
