package store_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"basalt/query/sql"
	"basalt/store"
	"basalt/store/storetest"
)

func TestAFullPool(t *testing.T) {
	database := storetest.NewEmpty(t)
	db := open(t, store.Options{URL: database.URL, PoolSize: 2, MaxWaiting: 5, AcquireTimeout: 50 * time.Millisecond})
	ctx, release := context.WithCancel(t.Context())
	defer release()
	sleep := &sql.Statement{SQL: `select pg_sleep(60), 'a full pool'`}
	var holders sync.WaitGroup
	for range 2 {
		holders.Go(func() { db.Run(ctx, &store.Flight{Steps: []store.Step{{Statement: sleep}}}) })
	}
	eventually(t, "the pool is full", func() bool { return queryInt(t, database, running, sleep.SQL) == 2 })

	var queued, refused atomic.Int64
	var callers sync.WaitGroup
	for range 50 {
		callers.Go(func() {
			err := db.Run(t.Context(), &store.Flight{Steps: []store.Step{statement(`select 1`, nil)}})
			var full *store.PoolFullError
			if !errors.As(err, &full) {
				t.Errorf("got %v, want a *PoolFullError", err)
				return
			}
			if full.Waited > 0 {
				queued.Add(1)
			} else {
				refused.Add(1)
			}
		})
	}
	callers.Wait()
	if queued.Load() < 5 || refused.Load() == 0 {
		t.Errorf("%d waited in vain and %d were refused at once, want at least 5 and 1", queued.Load(), refused.Load())
	}
	s := db.Stats()
	if s.Refused != 50 || s.Flights != 2 || s.Waiting != 0 {
		t.Errorf("the metrics are %+v", s)
	}

	t.Run("is no matter for health and for Basalt's own queries", func(t *testing.T) {
		if err := db.Ping(t.Context()); err != nil {
			t.Error(err)
		}
		if err := db.Healthy(); err != nil {
			t.Error(err)
		}
	})
	t.Run("lets a caller leave the queue", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := db.Run(ctx, &store.Flight{}); err != context.Canceled {
			t.Errorf("got %v, want %v", err, context.Canceled)
		}
	})
	t.Run("serves again when it is not full any more", func(t *testing.T) {
		release()
		holders.Wait()
		for range 20 {
			read(t, db, "", `select 1`)
		}
	})
}

func TestAStormPassesThroughASmallPool(t *testing.T) {
	database := storetest.NewEmpty(t)
	db := open(t, store.Options{URL: database.URL, PoolSize: 3, MaxWaiting: 1000, AcquireTimeout: time.Minute})
	shape := &sql.Statement{SQL: `select $1::text`}
	var callers sync.WaitGroup
	for range 200 {
		callers.Go(func() {
			for range 5 {
				r := &result{}
				err := db.Run(t.Context(), &store.Flight{Steps: []store.Step{{Statement: shape, Params: [][]byte{[]byte("x")}, Sink: r}}})
				if err != nil {
					t.Errorf("flight: %v", err)
					return
				}
			}
		})
	}
	callers.Wait()
	s := db.Stats()
	if s.Open > 3 || s.Flights != 1000 || s.Waiting != 0 || s.Refused != 0 {
		t.Errorf("the metrics are %+v", s)
	}
}

// BenchmarkReadByKey's allocations are a promise: 15 for a cached read by primary key.
func TestACachedReadAllocatesLittle(t *testing.T) {
	db, flight := readByKey(t, store.Options{PoolSize: 1})
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	run := func() {
		if err := db.Run(ctx, flight); err != nil {
			t.Fatal(err)
		}
	}
	run()
	allocations := testing.AllocsPerRun(200, run)
	t.Logf("%v allocations", allocations)
	if allocations > 15 {
		t.Errorf("%v allocations, want at most 15", allocations)
	}
}
