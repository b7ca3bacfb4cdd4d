package managed

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// serverProcesses lists PostgreSQL's processes that work in a folder: the postmaster and its backends stand in the
// cluster's folder for all their life, whatever their names and whoever is their parent.
func serverProcesses(dir string) ([]int, error) {
	want, err := os.Stat(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		home := filepath.Join("/proc", entry.Name())
		name, err := os.ReadFile(filepath.Join(home, "comm"))
		if err != nil || strings.TrimSpace(string(name)) != "postgres" {
			continue
		}
		// A process that ended meanwhile, a zombie, or another user's cannot be looked into, and is not ours.
		at, err := os.Stat(filepath.Join(home, "cwd"))
		if err == nil && os.SameFile(want, at) {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// endWithParent has the kernel kill the program when the thread that started it ends. The caller keeps its goroutine
// on that thread until the program is done.
func endWithParent(cmd *exec.Cmd) { cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL }
