//go:build !race

package rest_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/labstack/echo/v4"
	"github.com/rs/zerolog"

	"basalt/api/rest"
	"basalt/auth"
	"basalt/store"
	"basalt/store/storetest"
)

// TestAReadByKeyAllocatesLittle holds the hot path to its budget: what lies between echo and the socket, for one row
// behind row-level security. (The race detector makes sync.Pool forget, so this is not run with it.)
func TestAReadByKeyAllocatesLittle(t *testing.T) {
	database := storetest.New(t)
	database.Exec(t, `
		create table item (
		  id bigint primary key,
		  name text not null,
		  price numeric,
		  extra jsonb,
		  created_at timestamptz not null default now(),
		  owner uuid not null
		);
		insert into item values (1, 'one', 1.5, '{"a": 1}', now(), '00000000-0000-4000-8000-00000000000a');
		alter table item enable row level security;
		create policy own on item using (owner = (select auth.uid()));
		grant select on item to authenticated;`)
	ctx, cancel := context.WithCancel(t.Context())
	db, err := store.Open(ctx, store.Options{URL: database.URL, PoolSize: 1, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	connection, err := pgconn.ParseConfig(database.URL)
	if err != nil {
		t.Fatal(err)
	}
	catalogs := store.NewCatalogWatcher(store.WatchOptions{
		Connection: connection, Catalog: store.CatalogOptions{Schemas: []string{"public"}}, Logger: zerolog.Nop(),
	})
	watched := make(chan error, 1)
	go func() { watched <- catalogs.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		<-watched
		db.Close()
	})
	if err := catalogs.Reload(ctx); err != nil {
		t.Fatal(err)
	}
	caller := &auth.Principal{Role: "authenticated", Claims: `{"sub":"00000000-0000-4000-8000-00000000000a","role":"authenticated"}`}
	handler := rest.New(db, catalogs, func(*http.Request) (*auth.Principal, error) { return caller, nil }, zerolog.Nop(),
		rest.Options{Schemas: []string{"public"}, MaxRows: 1000, AnswerMemory: 1 << 20, Prefix: "/rest/v1"})

	e := echo.New()
	request := httptest.NewRequest(http.MethodGet, "/rest/v1/item?id=eq.1&select=id,name,price,extra,created_at", nil).WithContext(ctx)
	request.Header.Set("Authorization", "Bearer a.token.of-some-length-that-goes-into-request.headers")
	recorder := httptest.NewRecorder()
	read := func() {
		recorder.Body.Reset()
		clear(recorder.Header())
		if err := handler.Serve(e.NewContext(request, recorder)); err != nil {
			t.Fatal(err)
		}
	}
	read()
	if recorder.Code != http.StatusOK || recorder.Body.Len() < 50 {
		t.Fatalf("answer %d %s", recorder.Code, recorder.Body)
	}
	var before, after runtime.MemStats
	const runs = 500
	runtime.ReadMemStats(&before)
	for range runs {
		read()
	}
	runtime.ReadMemStats(&after)
	// Echo's context and response and the recorder's clone of the headers take six of them.
	if allocations := (after.Mallocs - before.Mallocs) / runs; allocations > 40 {
		t.Errorf("a read allocates %d times, 40 are the most", allocations)
	}
	if bytes := (after.TotalAlloc - before.TotalAlloc) / runs; bytes > 6<<10 {
		t.Errorf("a read allocates %d bytes, 6 KiB are the most", bytes)
	}
	t.Logf("a read: %d allocations, %d bytes", (after.Mallocs-before.Mallocs)/runs, (after.TotalAlloc-before.TotalAlloc)/runs)
}
