package store_test

import (
	"context"
	"testing"

	"basalt/query/sql"
	"basalt/store"
	"basalt/store/storetest"
)

// readByKey is a read by primary key under row level security with the seven settings of a REST request.
func readByKey(t testing.TB, options store.Options) (*store.DB, *store.Flight) {
	t.Helper()
	database := storetest.New(t)
	database.Exec(t, `
		create table notes (
			id bigint primary key,
			owner uuid not null,
			title text not null,
			done boolean not null default false,
			created_at timestamptz not null default now()
		);
		insert into notes (id, owner, title)
		select n, '00000000-0000-0000-0000-000000000001', 'note ' || n
		from generate_series(1, 1000) n;
		alter table notes enable row level security;
		create policy own on notes for select to authenticated using (owner = (select auth.uid()));
		grant select on notes to authenticated;
		analyze notes;`)
	options.URL = database.URL
	db, err := store.Open(context.Background(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db, &store.Flight{
		Session: store.Session{
			Role:     "authenticated",
			ReadOnly: true,
			Settings: []store.Setting{
				{Name: "search_path", Value: `"public", "extensions"`},
				{Name: "request.jwt.claims", Value: `{"sub":"00000000-0000-0000-0000-000000000001","role":"authenticated"}`},
				{Name: "request.method", Value: "GET"},
				{Name: "request.path", Value: "/notes"},
				{Name: "request.headers", Value: `{"accept":"application/json","user-agent":"test"}`},
				{Name: "request.cookies", Value: `{}`},
			},
		},
		Steps: []store.Step{{
			Statement: &sql.Statement{SQL: `select id, owner, title, done, created_at from public.notes where id = $1`},
			Params:    [][]byte{[]byte("42")},
			Sink:      &counter{},
		}},
	}
}

// counter is a sink that counts rows.
type counter struct {
	rows int64
}

func (c *counter) Begin(store.Columns) error { return nil }
func (c *counter) Row([][]byte) error        { c.rows++; return nil }
func (c *counter) End(int64) error           { return nil }

func BenchmarkReadByKey(b *testing.B) {
	db, flight := readByKey(b, store.Options{PoolSize: 8})
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	b.ReportAllocs()
	for b.Loop() {
		if err := db.Run(ctx, flight); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReadByKeyParallel(b *testing.B) {
	db, flight := readByKey(b, store.Options{PoolSize: 8})
	b.ReportAllocs()
	b.SetParallelism(8)
	b.RunParallel(func(pb *testing.PB) {
		own := *flight
		own.Steps = []store.Step{flight.Steps[0]}
		own.Steps[0].Sink = &counter{}
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		for pb.Next() {
			if err := db.Run(ctx, &own); err != nil {
				b.Error(err)
				return
			}
		}
	})
}
