//go:build linux

package soak_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"basalt/store/storetest"
)

// napper is a server on its own PostgreSQL with slow requests.
type napper struct {
	data    string
	process *process
	service *caller
	watch   func() int // how many sleep in PostgreSQL
}

func startNapper(t *testing.T, flags ...string) *napper {
	t.Helper()
	s := serving{data: dataFolder(t), flags: flags}
	n := &napper{data: s.data, process: serve(t, s)}
	k := readKeys(t, s)
	n.service = newCaller(n.process.url(), k.service, "")
	execute(t, k.databaseURL, napSchema)
	awaitTable(t, n.service, "words")
	conn := connect(t, k.databaseURL)
	n.watch = func() (count int) {
		if err := conn.QueryRow(t.Context(), `select count(*) from pg_stat_activity where wait_event = 'PgSleep'`).Scan(&count); err != nil {
			t.Fatal(err)
		}
		return count
	}
	return n
}

// nap starts slow requests and returns when they run. The channel gives how each ended.
func (n *napper) nap(t *testing.T, count int, seconds float64) <-chan error {
	t.Helper()
	ended := make(chan error, count)
	for range count {
		go func() {
			got, err := n.service.call(context.Background(), "POST", "/rest/v1/rpc/nap", fmt.Sprintf(`{"seconds":%v}`, seconds))
			if err == nil && (got.status != http.StatusOK || got.body != `"rested"`) {
				err = fmt.Errorf("%d %s", got.status, got.body)
			}
			ended <- err
		}()
	}
	eventually(t, "all naps are under way", func() bool { return n.watch() == count })
	return ended
}

// refuses waits until new connections are refused.
func (n *napper) refuses(t *testing.T) {
	t.Helper()
	eventually(t, "new connections are refused", func() bool {
		_, err := newCaller(n.process.url(), "", "").call(t.Context(), "GET", "/health/live", "")
		return errors.Is(err, syscall.ECONNREFUSED)
	})
}

func (n *napper) signal(t *testing.T) {
	t.Helper()
	if err := n.process.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
}

// gone checks that nothing of PostgreSQL is left.
func (n *napper) gone(t *testing.T, pid int) {
	t.Helper()
	if left := processesIn(t, n.data); len(left) > 0 || syscall.Kill(pid, 0) == nil {
		t.Errorf("PostgreSQL outlived Basalt: %v", left)
	}
}

func TestSIGTERMLetsRequestsEndRefusesNewOnesAndStopsPostgreSQL(t *testing.T) {
	n := startNapper(t)
	pid, err := postmaster(n.data)
	if err != nil {
		t.Fatal(err)
	}
	ended := n.nap(t, 5, 1.5)
	n.signal(t)
	began := time.Now()
	n.refuses(t)
	for range 5 {
		if err := <-ended; err != nil {
			t.Errorf("a request that was under way: %v", err)
		}
	}
	if code := n.process.exitCode(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, n.process.tail(20))
	}
	inTime(t, "SIGTERM to the end", time.Since(began), 30*time.Second)
	n.gone(t, pid)
}

func TestSIGTERMCutsRequestsThatOutlastTheShutdownTimeout(t *testing.T) {
	n := startNapper(t, "--shutdown-timeout", "500ms")
	pid, err := postmaster(n.data)
	if err != nil {
		t.Fatal(err)
	}
	ended := n.nap(t, 2, 15)
	n.signal(t)
	began := time.Now()
	if code := n.process.exitCode(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, n.process.tail(20))
	}
	inTime(t, "SIGTERM to the end with requests that do not end", time.Since(began), 5*time.Second)
	for range 2 {
		if err := <-ended; err == nil {
			t.Error("a request that was cut got its answer")
		}
	}
	if !strings.Contains(n.process.log(), "requests were cut") {
		t.Errorf("the log does not say so:\n%s", n.process.tail(20))
	}
	n.gone(t, pid)
}

func TestASecondSignalEndsAtOnce(t *testing.T) {
	n := startNapper(t)
	n.nap(t, 2, 15)
	n.signal(t)
	n.refuses(t)
	n.signal(t)
	began := time.Now()
	if code := n.process.exitCode(t); code == 0 {
		t.Error("exit code 0 though requests were cut off")
	}
	inTime(t, "second signal to the end", time.Since(began), time.Second)
	// What is left of PostgreSQL is taken over by the next start.
	p := serve(t, serving{data: n.data})
	if code := p.terminate(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.tail(20))
	}
	if left := processesIn(t, n.data); len(left) > 0 {
		t.Errorf("PostgreSQL outlived Basalt: %v", left)
	}
}

func TestALogThatNobodyReadsStopsNoRequest(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	defer write.Close()
	if _, err := unix.FcntlInt(write.Fd(), unix.F_SETPIPE_SZ, 4096); err != nil {
		t.Fatal(err)
	}
	s := serving{databaseURL: storetest.NewEmpty(t).URL, stderr: write}
	p := launch(t, s)
	c := newCaller(p.url(), "", "")
	eventually(t, "it serves", func() bool {
		got, err := c.call(t.Context(), "GET", "/health/ready", "")
		return err == nil && got.status == http.StatusOK
	})
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			for range 400 {
				if got, err := c.call(t.Context(), "GET", "/health/live", ""); err != nil || got.status != http.StatusOK {
					t.Errorf("a request while the log is stuck: %v %v", got, err)
					return
				}
			}
		})
	}
	group.Wait()
	if dropped := c.metric(t, "basalt_log_lines_dropped_total"); dropped == 0 {
		t.Error("the log was stuck, but no line was counted as dropped")
	} else {
		t.Logf("%v lines were dropped", dropped)
	}
	k := readKeys(t, s)
	newCaller(p.url(), k.anon, "").signUp(t, "unheard@example.com")
	if code := p.terminate(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestAReaderOfTheLogThatDiesTakesNobodyWithIt(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer write.Close()
	p := launch(t, serving{databaseURL: storetest.NewEmpty(t).URL, stderr: write})
	c := newCaller(p.url(), "", "")
	ready := func() bool {
		got, err := c.call(t.Context(), "GET", "/health/ready", "")
		return err == nil && got.status == http.StatusOK
	}
	eventually(t, "it serves", ready)
	head := make([]byte, 64)
	if n, err := read.Read(head); err != nil || !bytes.HasPrefix(head[:n], []byte(`{`)) {
		t.Fatalf("the log begins with %q, %v", head[:n], err)
	}
	read.Close()
	for range 100 {
		if !ready() {
			t.Fatalf("basalt is gone: %v", p.cmd.ProcessState)
		}
	}
	if code := p.terminate(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
