package typescript_test

import (
	_ "embed"
	"flag"
	"os"
	"strings"
	"testing"

	"basalt/query/typescript"
	"basalt/store"
	"basalt/store/storetest"
)

var update = flag.Bool("update", false, "write the golden file anew")

//go:embed testdata/schema.sql
var schema string

const golden = "testdata/database.golden.ts"

// generate makes the types of a fresh database.
func generate(t *testing.T, sql string, schemas ...string) string {
	t.Helper()
	database := storetest.NewEmpty(t)
	database.Exec(t, sql)
	conn, err := database.Pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	c, err := store.LoadCatalog(t.Context(), conn.Conn().PgConn(), store.CatalogOptions{Schemas: schemas}, 1)
	if err != nil {
		t.Fatal(err)
	}
	return typescript.Generate(c)
}

func TestARichSchemaBecomesTheTypesOfTheGoldenFile(t *testing.T) {
	t.Parallel()
	got := generate(t, schema, "public", "second")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	lines, wanted := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range min(len(lines), len(wanted)) {
		if lines[i] != wanted[i] {
			t.Fatalf("line %d is\n%s\nwant\n%s\nrun with -update and look at the difference", i+1, lines[i], wanted[i])
		}
	}
	t.Fatalf("%d lines, want %d", len(lines), len(wanted))
}

func TestASchemaThatIsAskedForTwiceIsWrittenOnce(t *testing.T) {
	t.Parallel()
	const sql = "create table notes (id int); create type mood as enum ('ok')"
	if twice, once := generate(t, sql, "public", "public"), generate(t, sql, "public"); twice != once {
		t.Errorf("the types are\n%s\nwant\n%s", twice, once)
	}
}
