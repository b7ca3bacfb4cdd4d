//go:build linux

package soak_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestTheManagedPostgreSQLLosesNothingWithThePower(t *testing.T) {
	s := serving{data: dataFolder(t)}
	p := serve(t, s)
	k := readKeys(t, s)
	conn := connect(t, k.databaseURL)
	for name, want := range map[string]string{
		"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on", "data_checksums": "on", "wal_level": "logical",
	} {
		var got string
		if err := conn.QueryRow(t.Context(), `select setting from pg_settings where name = $1`, name).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %q instead of %q, %v", name, got, want, err)
		}
	}
	// Neither a role nor a database nor a function says otherwise.
	var weakened int
	if err := conn.QueryRow(t.Context(), `
		select (select count(*) from pg_db_role_setting where setconfig::text ~ 'synchronous_commit|fsync')
		     + (select count(*) from pg_proc where proconfig::text ~ 'synchronous_commit|fsync')`).Scan(&weakened); err != nil || weakened > 0 {
		t.Errorf("%d settings weaken durability, %v", weakened, err)
	}
	if code := p.terminate(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.tail(20))
	}
}

// TestTheReleasedBinaryIsSmallAndStartsFast looks at the binary as `make build` makes it.
func TestTheReleasedBinaryIsSmallAndStartsFast(t *testing.T) {
	const mebibyte = 1 << 20
	binary := os.Getenv(binaryEnv)
	if raced {
		binary = filepath.Join(filepath.Dir(binary), "basalt-released")
		build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", binary, "basalt")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("build: %v\n%s", err, out)
		}
	}
	info, err := os.Stat(binary)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("binary: %.1f MiB (bar 40)", float64(info.Size())/mebibyte)
	if info.Size() > 40*mebibyte {
		t.Errorf("the binary has %d bytes", info.Size())
	}

	t.Setenv(binaryEnv, binary)
	s := serving{data: dataFolder(t)}
	p := serve(t, s)
	t.Logf("first start: %s", p.startTook().Round(time.Millisecond))
	for range 3 {
		if code := p.terminate(t); code != 0 {
			t.Errorf("exit code %d\n%s", code, p.tail(20))
		}
		p = serve(t, s)
		inTime(t, "start on a folder that is there", p.startTook(), 1500*time.Millisecond)
	}
	newCaller(p.url(), p.anonKey, "").health(t, "/health/ready")
	resident := memory(t, p.cmd.Process.Pid)
	t.Logf("resident memory at rest: %.1f MiB (bar 40)", float64(resident)/mebibyte)
	if resident > 40*mebibyte {
		t.Errorf("%d bytes are resident", resident)
	}
}

// memory is the resident memory of a process.
func memory(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	kibibytes, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kibibytes << 10
}
