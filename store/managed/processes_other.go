//go:build !linux

package managed

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// serverProcesses lists PostgreSQL's processes that work in a folder, as lsof knows them.
func serverProcesses(dir string) ([]int, error) {
	real, err := filepath.EvalSymlinks(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	// lsof ends with 1 when it finds none.
	out, err := exec.Command("lsof", "-a", "-c", "postgres", "-d", "cwd", "-F", "pn").Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, err
	}
	var pids []int
	pid := 0
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "p"):
			pid, _ = strconv.Atoi(line[1:])
		case line == "n"+real && pid > 0:
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// endWithParent does nothing where the kernel has no such thing: the next start clears what is left.
func endWithParent(*exec.Cmd) {}
