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
// cluster's folder for all their life, whatever their names and whoever is their parent. A postmaster that was started
// just now is not there yet, but has its log already: overlooked, it would become a second one on the same files.
func serverProcesses(dir string) ([]int, error) {
	want, err := os.Stat(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	log, err := os.Stat(folder{filepath.Dir(dir)}.log())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
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
		if err == nil && os.SameFile(want, at) || log != nil && writesTo(home, log) {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// writesTo says whether a process has a file as its standard error.
func writesTo(home string, file os.FileInfo) bool {
	at, err := os.Stat(filepath.Join(home, "fd", "2"))
	return err == nil && os.SameFile(file, at)
}

// endWithParent has the kernel kill the program when the thread that started it ends. The caller keeps its goroutine
// on that thread until the program is done.
func endWithParent(cmd *exec.Cmd) { cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL }
