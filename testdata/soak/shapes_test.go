//go:build linux

package soak_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"basalt/store/storetest"
)

// TestShapesWithoutEndTakeBoundedMemory: clients of which each request has a shape of its own make neither Basalt nor
// PostgreSQL's backends grow without end.
func TestShapesWithoutEndTakeBoundedMemory(t *testing.T) {
	const (
		connections = 4
		clients     = 8
		bar         = 128 << 20 // of Basalt, above what it takes at rest
		backendBar  = 128 << 20 // of each backend
	)
	shapes := times(2_000, 50_000)
	database := storetest.NewEmpty(t)
	s := serving{databaseURL: database.URL, flags: []string{"--pool-size", strconv.Itoa(connections)}}
	p := serve(t, s)
	var columns strings.Builder
	for i := range 60 {
		fmt.Fprintf(&columns, ", column_%d text", i)
	}
	database.Exec(t, `create table wide (id int primary key`+columns.String()+`);`)
	conn := connect(t, database.URL)
	c := newCaller(p.url(), readKeys(t, s).service, "")
	awaitTable(t, c, "wide")
	idle := memory(t, p.cmd.Process.Pid)

	r := random(t)
	seeds := make([]uint64, clients)
	for i := range seeds {
		seeds[i] = r.Uint64()
	}
	var group sync.WaitGroup
	var mu sync.Mutex
	var largest, largestBackend int
	for _, seed := range seeds {
		group.Go(func() {
			r := rand.New(rand.NewPCG(seed, 0))
			for i := range shapes / clients {
				got, err := c.call(t.Context(), "GET", "/rest/v1/wide?"+randomShape(r), "")
				if err != nil || got.status != http.StatusOK {
					t.Errorf("%v %+v", err, got)
					return
				}
				if i%50 == 0 {
					mu.Lock()
					largest = max(largest, memory(t, p.cmd.Process.Pid))
					largestBackend = max(largestBackend, backendMemory(t, conn))
					mu.Unlock()
				}
			}
		})
	}
	group.Wait()
	t.Logf("%d shapes: Basalt grew by %.1f MiB (bar %d), the largest backend has %.1f MiB (bar %d)", shapes,
		float64(largest-idle)/(1<<20), bar>>20, float64(largestBackend)/(1<<20), backendBar>>20)
	if !raced && largest-idle > bar {
		t.Errorf("Basalt grew by %d bytes", largest-idle)
	}
	if largestBackend > backendBar {
		t.Errorf("a backend has grown to %d bytes", largestBackend)
	}
}

// randomShape makes a query string that has hardly been sent before: mostly a small one, now and then a large one.
func randomShape(r *rand.Rand) string {
	items := 1 + r.IntN(12)
	if r.IntN(50) == 0 {
		items = 600
	}
	var b strings.Builder
	b.WriteString("select=")
	for i := range items {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "a%d:column_%d", r.IntN(1_000_000), r.IntN(60))
	}
	for range r.IntN(4) {
		fmt.Fprintf(&b, "&column_%d=eq.x", r.IntN(60))
	}
	fmt.Fprintf(&b, "&order=column_%d,column_%d.desc", r.IntN(60), r.IntN(60))
	return b.String()
}

// backendMemory is the private memory of the largest backend that serves Basalt, 0 when they run on another machine.
func backendMemory(t *testing.T, conn *pgx.Conn) (largest int) {
	t.Helper()
	rows, err := conn.Query(t.Context(), `
		select pid
		from pg_stat_activity
		where datname = current_database()
		  and application_name = 'basalt'`)
	if err != nil {
		t.Error(err)
		return 0
	}
	pids, err := pgx.CollectRows(rows, pgx.RowTo[int])
	if err != nil {
		t.Error(err)
	}
	for _, pid := range pids {
		text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
		if err != nil {
			continue
		}
		if _, rest, ok := strings.Cut(string(text), "RssAnon:"); ok {
			kibibytes, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				t.Error(err)
			}
			largest = max(largest, kibibytes<<10)
		}
	}
	return largest
}
