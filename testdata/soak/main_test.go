//go:build linux

package soak_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

const (
	allEnv    = "BASALT_SOAK"
	seedEnv   = "BASALT_SOAK_SEED"
	binaryEnv = "BASALT_SOAK_BINARY"
)

// TestMain builds the binary that all tests run, with the race detector when they have it themselves.
func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	if os.Getenv(binaryEnv) != "" {
		return m.Run()
	}
	folder, err := os.MkdirTemp("", "basalt-soak-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder)
	// The start modes run it as another user.
	if err := os.Chmod(folder, 0o755); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	binary := filepath.Join(folder, "basalt")
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", binary)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if raced {
		build.Args = append(build.Args, "-race")
		build.Env = append(os.Environ(), "CGO_ENABLED=1")
	} else {
		build.Args = append(build.Args, "-ldflags", "-s -w")
	}
	build.Args = append(build.Args, "basalt")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the binary: %v\n%s", err, out)
		return 1
	}
	os.Setenv(binaryEnv, binary)
	return m.Run()
}

// all says whether everything is run, on a machine that has time and nothing else to do.
func all() bool { return os.Getenv(allEnv) != "" }

// times gives how often something is repeated: in `make test`, and in `make soak`.
func times(few, many int) int {
	if all() {
		return many
	}
	return few
}

// random gives the random choices of a test and logs the seed that repeats them.
func random(t *testing.T) *rand.Rand {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv(seedEnv); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("%s: %v", seedEnv, err)
		}
	}
	t.Logf("%s=%d", seedEnv, seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// inTime reports a duration against its bar. The bar is a verdict in a full run without the race detector only: on a
// machine that does other things as well, or much slower, it would judge the machine.
func inTime(t *testing.T, what string, took, bar time.Duration) {
	t.Helper()
	t.Logf("%s: %s (bar %s)", what, took.Round(time.Millisecond), bar)
	if all() && !raced && took > bar {
		t.Errorf("%s took %s, longer than %s", what, took.Round(time.Millisecond), bar)
	}
}

// patience is how long a test waits for what should come soon.
const patience = 30 * time.Second

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	if !within(patience, condition) {
		t.Fatalf("within %s not: %s", patience, what)
	}
}

func within(limit time.Duration, condition func() bool) bool {
	deadline := time.Now().Add(limit)
	for !condition() {
		if time.Now().After(deadline) {
			return false
		}
		time.Sleep(5 * time.Millisecond)
	}
	return true
}
