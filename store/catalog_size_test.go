package store_test

import (
	"runtime"
	"testing"
	"time"

	"basalt/store"
	"basalt/store/storetest"
)

// A large schema: 5,000 tables, each with a key to the one before it, 500 views and 20,000 functions, committed in
// parts because a transaction cannot hold that many locks.
const (
	largeTables = `
do $$
begin
  for i in 1..5000 loop
    execute format(
      'create table big_%s (id bigint generated always as identity primary key, owner uuid default gen_random_uuid(),
        title text not null default ''new'', amount numeric(10, 2), tags text[], info jsonb, made timestamptz default now(),
        done boolean, rank int, before bigint %s)',
      i, case when i > 1 then format('references big_%s', i - 1) end);
    if i % 10 = 0 then
      execute format('create view big_view_%1$s as select id as entry, before, title from big_%1$s', i);
    end if;
    if i % 500 = 0 then
      commit;
    end if;
  end loop;
end
$$`

	largeFunctions = `
do $$
begin
  for i in 1..20000 loop
    execute format(
      'create function big_function_%s(first_one int, second_one text default ''x'') returns table (id bigint, label text)
        language sql stable as ''select %s, second_one''',
      i, i);
    if i % 2000 = 0 then
      commit;
    end if;
  end loop;
end
$$`
)

// TestALargeCatalogLoads measures what the catalog of a large schema costs. Its bounds are generous: the machine
// of a test may be busy.
func TestALargeCatalogLoads(t *testing.T) {
	if testing.Short() {
		t.Skip("making the schema takes a while")
	}
	db := storetest.NewEmpty(t)
	db.Exec(t, largeTables)
	db.Exec(t, largeFunctions)
	conn := connect(t, db.URL)
	before := heap()
	start := time.Now()
	c, err := store.LoadCatalog(t.Context(), conn, richOptions, 1)
	took := time.Since(start)
	if err != nil {
		t.Fatal(err)
	}
	used := heap() - before
	t.Logf("%d relations and %d routines: %v, %d MiB kept", len(c.Relations("public")), len(c.RoutinesOf("public")),
		took, used>>20)
	if len(c.Relations("public")) != 5500 || len(c.RoutinesOf("public")) != 20000 {
		t.Error("something is missing")
	}
	if got := len(c.Relationships(public("big_10"))); got != 4 {
		t.Errorf("big_10 has %d relationships", got)
	}
	if took > 30*time.Second {
		t.Errorf("the load took %v", took)
	}
	if used > 200<<20 {
		t.Errorf("the catalog keeps %d bytes", used)
	}
	runtime.KeepAlive(c)
}

func heap() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
