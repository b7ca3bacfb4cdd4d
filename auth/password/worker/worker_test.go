//go:build linux

package worker

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"

	"basalt/auth/password"
)

const (
	secret    = "correct horse battery"
	serverEnv = "WORKER_TEST_SERVER"
)

// The test program is the process that hashes, when a worker starts it, and a server that has one, for the test of a
// server's end.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == Flag {
		if err := Run(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if os.Getenv(serverEnv) != "" {
		w := New(zerolog.Nop())
		c := w.current()
		for ; c == nil; c = w.current() {
			time.Sleep(time.Millisecond)
		}
		fmt.Println(c.pid)
		select {}
	}
	os.Exit(m.Run())
}

var light = password.Parameters{MemoryKiB: 64, Passes: 1, Lanes: 1}

func eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !condition(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("in half a minute not: %s", what)
		}
	}
}

// start gives a worker with a process that is ready, and the process.
func start(t testing.TB) (*Worker, int) {
	t.Helper()
	w := New(zerolog.Nop())
	t.Cleanup(w.Close)
	return w, ready(t, w)
}

// ready waits for the worker's process.
func ready(t testing.TB, w *Worker) (pid int) {
	t.Helper()
	eventually(t, "a process is ready", func() bool {
		c := w.current()
		if c == nil {
			return false
		}
		pid = c.pid
		return true
	})
	return pid
}

// another waits for the process that follows one that has failed, without the pause between them.
func another(t *testing.T, w *Worker, than int) (pid int) {
	t.Helper()
	eventually(t, "there is another process", func() bool {
		w.mu.Lock()
		w.resume = time.Time{}
		w.mu.Unlock()
		c := w.current()
		if c == nil || c.pid == than {
			return false
		}
		pid = c.pid
		return true
	})
	if runs(than) {
		t.Errorf("process %d runs beside its successor", than)
	}
	return pid
}

// runs tells whether there is a process, other than one whose end nobody has asked for yet.
func runs(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(after, "Z")
}

func send(t *testing.T, pid int, what syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, what); err != nil {
		t.Fatal(err)
	}
}

// asked gives what the process answers.
func asked(t *testing.T, w *Worker, q question) answer {
	t.Helper()
	got, ok := w.ask(q)
	if !ok {
		t.Fatal("the process does not answer")
	}
	return got
}

func TestTheProcessHashesAndCompares(t *testing.T) {
	w, _ := start(t)
	hash := asked(t, w, question{Costs: light, Password: secret}).Hash
	for _, c := range []struct {
		name, stored, secret string
		fits                 bool
	}{
		{"its own hash fits the password", hash, secret, true},
		{"its own hash does not fit another", hash, "correct horse", false},
		{"an empty password is compared", hash, "", false},
		{"a hash of bcrypt is compared", "$2a$04$GqPxDdPxtgRtfvxkOCrQ8.r1hSyGpyKa1ROPjWfJ5Uo6iTTWB3zn6", "nobody's", false},
		{"a dummy fits nobody", light.Dummy(), secret, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			here, err := password.Verify(c.stored, c.secret)
			if err != nil {
				t.Fatal(err)
			}
			if got := asked(t, w, question{Stored: c.stored, Password: c.secret}).Fits; got != c.fits || got != here {
				t.Errorf("there %v, here %v", got, here)
			}
			if got, err := w.Verify(c.stored, c.secret); got != c.fits || err != nil {
				t.Errorf("%v %v", got, err)
			}
		})
	}
	if _, err := w.Verify("$9$unheard", secret); !errors.Is(err, password.ErrUnknownHash) {
		t.Errorf("an unknown hash gives %v", err)
	}
}

func TestWithoutAProcessTheCallerHashes(t *testing.T) {
	closed := New(zerolog.Nop())
	closed.Close()
	for name, w := range map[string]*Worker{"nil": nil, "new": New(zerolog.Nop()), "closed": closed} {
		t.Run(name, func(t *testing.T) {
			defer w.Close()
			hash, err := w.Hash(light, secret)
			if err != nil {
				t.Fatal(err)
			}
			if fits, err := w.Verify(hash, secret); !fits || err != nil {
				t.Errorf("%v %v", fits, err)
			}
		})
	}
}

func TestAKilledProcessLosesNoPassword(t *testing.T) {
	w, pid := start(t)
	hash, err := light.Hash(secret)
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if fits, err := w.Verify(hash, secret); !fits || err != nil {
					t.Errorf("a password that fits: %v %v", fits, err)
				}
				if fits, err := w.Verify(hash, "another"); fits || err != nil {
					t.Errorf("a password that does not: %v %v", fits, err)
				}
			}
		})
	}
	for range 5 {
		send(t, pid, syscall.SIGKILL)
		pid = another(t, w, pid)
	}
	close(stop)
	callers.Wait()
}

func TestAProcessThatHangsIsReplaced(t *testing.T) {
	w, pid := start(t)
	w.child.patience = 50 * time.Millisecond
	hash, err := light.Hash(secret)
	if err != nil {
		t.Fatal(err)
	}
	send(t, pid, syscall.SIGSTOP)
	var callers sync.WaitGroup
	for range 4 {
		callers.Go(func() {
			if fits, err := w.Verify(hash, secret); !fits || err != nil {
				t.Errorf("%v %v", fits, err)
			}
		})
	}
	callers.Wait()
	pid = another(t, w, pid)
	// More than the pipe holds.
	w.child.patience = 50 * time.Millisecond
	send(t, pid, syscall.SIGSTOP)
	if fits, err := w.Verify(hash, strings.Repeat("x", 1<<20)); fits || err != nil {
		t.Errorf("%v %v", fits, err)
	}
	another(t, w, pid)
}

func TestTheProcessEndsWithItsServer(t *testing.T) {
	for name, stopped := range map[string]bool{"one that waits": false, "one that hangs": true} {
		t.Run(name, func(t *testing.T) {
			server := exec.Command("/proc/self/exe")
			server.Env = append(os.Environ(), serverEnv+"=1")
			out, err := server.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := server.Start(); err != nil {
				t.Fatal(err)
			}
			defer server.Wait()
			defer server.Process.Kill()
			line, err := bufio.NewReader(out).ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			pid, err := strconv.Atoi(strings.TrimSpace(line))
			if err != nil {
				t.Fatal(err)
			}
			if stopped {
				send(t, pid, syscall.SIGSTOP)
			}
			if !runs(pid) {
				t.Fatal("there is none")
			}
			if err := server.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			eventually(t, "it has ended", func() bool { return !runs(pid) })
		})
	}
}

func TestSignalsToTheWholeGroupLeaveTheProcess(t *testing.T) {
	w, pid := start(t)
	for _, what := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		send(t, pid, what)
	}
	asked(t, w, question{Costs: light, Password: secret})
	if w.child.pid != pid {
		t.Error("it is another")
	}
}

func TestAProcessWithNothingToDoEnds(t *testing.T) {
	w := New(zerolog.Nop())
	t.Cleanup(w.Close)
	w.idle = time.Millisecond
	pid := ready(t, w)
	eventually(t, "it has ended", func() bool { return !runs(pid) })
	// There is no pause after it.
	w.mu.Lock()
	w.idle = time.Minute
	w.mu.Unlock()
	ready(t, w)
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.resume.IsZero() {
		t.Error("its end counts as a failure")
	}
}

func TestClosingEndsTheProcess(t *testing.T) {
	w, pid := start(t)
	w.Close()
	if runs(pid) {
		t.Error("it runs")
	}
}

func TestPausesBetweenFailuresGrow(t *testing.T) {
	w := New(zerolog.Nop())
	failed := errors.New("failed")
	for _, want := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
		began := time.Now()
		w.ended(newChild(w.patience, w.idle), failed)
		if pause := w.resume.Sub(began).Truncate(time.Second); pause != want*time.Second {
			t.Errorf("a pause of %v, not of %v s", pause, int(want))
		}
	}
	worked := newChild(w.patience, w.idle)
	worked.answered.Store(true)
	w.ended(worked, failed)
	if w.pause != 2*shortPause {
		t.Errorf("after one that has worked the next pause is %v", w.pause)
	}
}

func TestTheProcessGivesWayAndIsToldNothing(t *testing.T) {
	w, pid := start(t)
	asked(t, w, question{Costs: light, Password: secret})
	ours, err := unix.SchedGetAttr(0, 0)
	if err != nil {
		t.Fatal(err)
	}
	folder := fmt.Sprintf("/proc/%d", pid)
	threads, err := filepath.Glob(folder + "/task/*")
	if err != nil || len(threads) == 0 {
		t.Fatalf("%v %v", threads, err)
	}
	for _, thread := range threads {
		id, err := strconv.Atoi(filepath.Base(thread))
		if err != nil {
			t.Fatal(err)
		}
		attr, err := unix.SchedGetAttr(id, 0)
		if err == unix.ESRCH {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if want := min(ours.Nice+nicer, nicest); attr.Nice != want {
			t.Errorf("thread %d has niceness %d, not %d", id, attr.Nice, want)
		}
		if ours.Runtime > 0 && attr.Runtime != uint64(slice) { // Linux 6.12 and later
			t.Errorf("thread %d has slices of %d ns", id, attr.Runtime)
		}
	}
	if env, err := os.ReadFile(folder + "/environ"); err != nil || len(env) > 0 {
		t.Errorf("it is given variables, or %v", err)
	}
	args, err := os.ReadFile(folder + "/cmdline")
	if err != nil || string(args) != os.Args[0]+"\x00"+Flag+"\x00" {
		t.Errorf("it is called %q, %v", args, err)
	}
}

func TestTheMemoryOfTheProcessIsBounded(t *testing.T) {
	w, pid := start(t)
	const atOnce = 2
	gate := password.NewGate(password.GateOptions{Slots: atOnce, Wait: time.Minute})
	costs := password.Parameters{MemoryKiB: 19456, Passes: 1, Lanes: 1}
	var callers sync.WaitGroup
	for range 30 {
		callers.Go(func() {
			if err := gate.Do(t.Context(), func() { asked(t, w, question{Costs: costs, Password: secret}) }); err != nil {
				t.Error(err)
			}
		})
	}
	callers.Wait()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	var kib int
	if _, err := fmt.Sscan(peak, &kib); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d MiB at most", kib>>10)
	// As a rule it is little more than what runs at once takes. Small objects in the place of an earlier hash can make the
	// next take another, some times; the thirty together would take 570 MiB.
	if most := 8*19456 + 60<<10; kib > most {
		t.Errorf("%d MiB are more than %d", kib>>10, most>>10)
	}
}
