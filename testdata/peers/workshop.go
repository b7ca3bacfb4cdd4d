package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// workshop is what the peers of a run share.
type workshop struct {
	basalt   string    // binary
	scratch  string    // folder of the run, removed in the end
	cache    string    // folder of built peers, kept
	secret   string    // that the tokens of users of the shared PostgreSQL are signed with (HS256)
	postgres *postgres // shared by the peers that use one
	progress *progress

	commit string // of the measured Basalt

	// owner of all rows in the shared PostgreSQL, and her token, once Basalt has started.
	owner, token string
}

const buildTimeout = 15 * time.Minute

// errTooSlow is why a peer is given up.
var errTooSlow = fmt.Errorf("building it takes more than %v here", buildTimeout)

// goInstall builds a program of a Go module into the cache, unless it is there.
func (w *workshop) goInstall(ctx context.Context, program, pkg, version string) (string, error) {
	folder := filepath.Join(w.cache, program+"-"+version)
	binary := filepath.Join(folder, filepath.Base(pkg))
	if _, err := os.Stat(binary); err == nil {
		return binary, nil
	}
	return binary, w.build(ctx, program, ".", []string{"GOBIN=" + folder, "CGO_ENABLED=0", "GOFLAGS=", "GOTOOLCHAIN=local"}, "go", "install", pkg+"@"+version)
}

// build runs the tools that make a peer, and says that it is at it.
func (w *workshop) build(ctx context.Context, program, folder string, env []string, tool string, args ...string) error {
	if _, err := exec.LookPath(tool); err != nil {
		return fmt.Errorf("%s, which builds it, is not on the PATH", tool)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, buildTimeout, errTooSlow)
	defer cancel()
	cmd := exec.CommandContext(ctx, tool, args...)
	cmd.Dir, cmd.Env = folder, append(os.Environ(), env...)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	began := time.Now()
	ended := make(chan error, 1)
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { ended <- cmd.Wait() }()
	tick := time.NewTicker(5 * time.Second)
	defer tick.Stop()
	for {
		w.progress.part("build %s: %s %s, %v", program, tool, args[0], time.Since(began).Round(time.Second))
		select {
		case err := <-ended:
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err != nil {
				return fmt.Errorf("%s %s: %w: %s", tool, strings.Join(args, " "), err, lastLines(output.String(), 3))
			}
			return nil
		case <-tick.C:
		}
	}
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "; ")
}

// onPath finds a program that can only be measured where somebody has installed it.
func onPath(program string) (string, error) {
	path, err := exec.LookPath(program)
	if errors.Is(err, exec.ErrNotFound) {
		return "", fmt.Errorf("there is no %s on the PATH", program)
	}
	return path, err
}
