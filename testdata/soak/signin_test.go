//go:build linux

package soak_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"basalt/store/storetest"
)

// readsIn reads one row after the other until the context ends, and gives how long each took.
func readsIn(ctx context.Context, t *testing.T, c *caller) []time.Duration {
	var took []time.Duration
	for ctx.Err() == nil {
		began := time.Now()
		got, err := c.call(ctx, "GET", "/rest/v1/words?id=eq.7", "")
		switch {
		case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		case err != nil || got.status != http.StatusOK:
			t.Errorf("a read: %v %+v", err, got)
			return took
		default:
			took = append(took, time.Since(began))
		}
	}
	return took
}

func quantile(took []time.Duration, q float64) time.Duration {
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return took[int(q*float64(len(took)-1))]
}

// hashing finds the process of a server that hashes passwords.
func hashing(t *testing.T, p *process) (pid int) {
	t.Helper()
	eventually(t, "a process hashes", func() bool {
		lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", p.cmd.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		for _, list := range lists {
			children, _ := os.ReadFile(list) // the thread may have ended
			for _, child := range strings.Fields(string(children)) {
				args, _ := os.ReadFile(filepath.Join("/proc", child, "cmdline"))
				if strings.Contains(string(args), "--hash-passwords") {
					pid, err = strconv.Atoi(child)
					return err == nil
				}
			}
		}
		return false
	})
	return pid
}

// Everybody signs in at once, over and over. Each is let in or is told when to come again; whoever reads meanwhile
// notices little.
func TestAFloodOfSignInsDoesNotSlowReads(t *testing.T) {
	const callers = 500
	length := time.Duration(times(2, 20)) * time.Second
	database := storetest.NewEmpty(t)
	s := serving{databaseURL: database.URL}
	p := serve(t, s)
	k := readKeys(t, s)
	database.Exec(t, napSchema)
	service := newCaller(p.url(), k.service, "")
	awaitTable(t, service, "words")
	anon := newCaller(p.url(), k.anon, "")
	anon.signUp(t, "crowd@example.com")

	read := func() []time.Duration {
		ctx, stop := context.WithTimeout(t.Context(), length)
		defer stop()
		return readsIn(ctx, t, service)
	}
	idle := read()

	var in, refused, wrong atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var flood sync.WaitGroup
	for i := range callers {
		body := `{"email":"crowd@example.com","password":"` + passphrase + `"}`
		if i%2 == 1 {
			body = fmt.Sprintf(`{"email":"nobody-%d@example.com","password":"wrong"}`, i)
		}
		flood.Go(func() {
			for ctx.Err() == nil {
				got, err := anon.call(ctx, "POST", "/auth/v1/token?grant_type=password", body)
				switch {
				case errors.Is(err, context.Canceled):
				case err != nil:
					t.Errorf("a sign-in: %v", err)
					return
				case got.status == http.StatusOK && i%2 == 0:
					in.Add(1)
				case got.status == http.StatusBadRequest && i%2 == 1:
					wrong.Add(1)
				case got.status == http.StatusTooManyRequests && got.header.Get("Retry-After") != "":
					refused.Add(1)
					select { // sooner than it was told, but not in a loop
					case <-time.After(time.Second):
					case <-ctx.Done():
					}
				default:
					t.Errorf("a sign-in: %d %s", got.status, got.body)
					return
				}
			}
		})
	}
	eventually(t, "sign-ins are refused", func() bool { return refused.Load() > 0 })
	before := in.Load() + wrong.Load()
	began := time.Now()
	flooded := read()
	rate := float64(in.Load()+wrong.Load()-before) / time.Since(began).Seconds()

	// The process that hashes is killed. Whoever waits for it is let in or refused all the same.
	before = in.Load() + wrong.Load()
	if err := syscall.Kill(hashing(t, p), syscall.SIGKILL); err != nil {
		t.Error(err)
	}
	eventually(t, "sign-ins are decided", func() bool { return in.Load()+wrong.Load() > before+20 })
	stop()
	flood.Wait()

	t.Logf("reads when idle: p50 %v, p95 %v of %d; in the flood: p50 %v, p95 %v of %d; %.1f sign-ins/s decided (%d in, %d wrong), %d refused",
		quantile(idle, 0.5), quantile(idle, 0.95), len(idle), quantile(flooded, 0.5), quantile(flooded, 0.95), len(flooded),
		rate, in.Load(), wrong.Load(), refused.Load())
	// Time decides in a full run only, on a machine of its own.
	if limit := 2 * quantile(idle, 0.95); all() && !raced && quantile(flooded, 0.95) > limit {
		t.Errorf("the p95 of reads is above %v", limit)
	}
	if len(flooded) == 0 || in.Load() == 0 || wrong.Load() == 0 {
		t.Error("nothing was read, or nobody decided upon, in the flood")
	}
}
