package store_test

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"basalt/store"
	"basalt/store/storetest"
)

// fullSize names the environment variable that has the test make 5,000 tables and 20,000 functions rather than a
// tenth of them.
const fullSize = "BASALT_TEST_FULL"

// A large schema: tables, each with a key to the one before it, a view for every tenth, and functions. They are
// committed in parts because a transaction cannot hold that many locks.
const (
	largeTables = `
do $$
begin
  for i in 1..%d loop
    execute format(
      'create table big_%%s (id bigint generated always as identity primary key, owner uuid default gen_random_uuid(),
        title text not null default ''new'', amount numeric(10, 2), tags text[], info jsonb, made timestamptz default now(),
        done boolean, rank int, before bigint %%s)',
      i, case when i > 1 then format('references big_%%s', i - 1) end);
    if i %% 10 = 0 then
      execute format('create view big_view_%%1$s as select id as entry, before, title from big_%%1$s', i);
    end if;
    if i %% 500 = 0 then
      commit;
    end if;
  end loop;
end
$$`

	largeFunctions = `
do $$
begin
  for i in 1..%d loop
    execute format(
      'create function big_function_%%s(first_one int, second_one text default ''x'') returns table (id bigint, label text)
        language sql stable as ''select %%s, second_one''',
      i, i);
    if i %% 2000 = 0 then
      commit;
    end if;
  end loop;
end
$$`
)

// TestALargeCatalogLoads measures what the catalog of a large schema costs. Its bounds are generous: the machine
// of a test may be busy.
func TestALargeCatalogLoads(t *testing.T) {
	tables, functions := 500, 2000
	if os.Getenv(fullSize) != "" {
		tables, functions = 5000, 20000
	}
	db := storetest.NewEmpty(t)
	db.Exec(t, fmt.Sprintf(largeTables, tables))
	db.Exec(t, fmt.Sprintf(largeFunctions, functions))
	conn := connect(t, db.URL)
	before := heap()
	start := time.Now()
	c, err := store.LoadCatalog(t.Context(), conn, richOptions, 1)
	took := time.Since(start)
	if err != nil {
		t.Fatal(err)
	}
	kept := heap() - before
	t.Logf("%d relations and %d routines: %v, %d MiB kept", len(c.Relations("public")), len(c.RoutinesOf("public")),
		took, kept>>20)
	if len(c.Relations("public")) != tables+tables/10 || len(c.RoutinesOf("public")) != functions {
		t.Error("something is missing")
	}
	compare(t, describeRelationships(c, public("big_10"), "big_9"), []string{"many-to-one big_10_before_fkey before=id"})
	compare(t, describeRelationships(c, public("big_view_10"), "big_11"), []string{
		"one-to-many inverse big_11_before_fkey entry=before",
	})
	if took > 30*time.Second {
		t.Errorf("the load took %v", took)
	}
	if kept > 200<<20 {
		t.Errorf("the catalog keeps %d bytes", kept)
	}
	runtime.KeepAlive(c)
}

func heap() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
