package managed

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

const pidFileName = "postmaster.pid"

// pidFile is what a postmaster writes about itself (PostgreSQL's miscadmin.h, "lock file": pid, folder, start time,
// port, socket folder, listen address, shared memory key, status).
type pidFile struct {
	pid       int
	port      int
	socketDir string
	status    string
}

func (p pidFile) ready() bool { return p.status == "ready" }

// readPIDFile reads as much as is there: a starting postmaster writes the lines one after another.
func readPIDFile(cluster string) (pidFile, error) {
	text, err := os.ReadFile(filepath.Join(cluster, pidFileName))
	if err != nil {
		return pidFile{}, err
	}
	lines := strings.Split(string(text), "\n")
	line := func(n int) string {
		if n > len(lines) {
			return ""
		}
		return strings.TrimSpace(lines[n-1])
	}
	number := func(n int) int {
		v, err := strconv.Atoi(line(n))
		if err != nil {
			return 0
		}
		return v
	}
	return pidFile{pid: number(1), port: number(4), socketDir: line(5), status: line(8)}, nil
}

// isServerIn says whether a process is a PostgreSQL that works in this cluster.
func isServerIn(cluster string, pid int) bool {
	pids, err := serverProcesses(cluster)
	return err == nil && slices.Contains(pids, pid)
}

// dropMisleadingLocks removes lock files that name a living process which is no PostgreSQL of this cluster, as after a
// reboot or in a new container, where process numbers begin again. PostgreSQL would take that process for a running
// server. Lock files of dead processes stay: PostgreSQL clears them itself, after it has checked that no backend still
// holds the shared memory they name.
func dropMisleadingLocks(cluster, socketDir string, port int) error {
	locks := []string{
		filepath.Join(cluster, pidFileName),
		filepath.Join(socketDir, socketName(port)+".lock"),
	}
	for _, lock := range locks {
		text, err := os.ReadFile(lock)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		first, _, _ := strings.Cut(string(text), "\n")
		pid, err := strconv.Atoi(strings.TrimSpace(first))
		if err == nil && pid > 0 && (!alive(pid) || isServerIn(cluster, pid)) {
			continue
		}
		if err := os.Remove(lock); err != nil {
			return err
		}
	}
	return nil
}

func alive(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

func socketName(port int) string { return fmt.Sprintf(".s.PGSQL.%d", port) }
