package managed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"
)

const (
	// fastStopTimeout is for the checkpoint of a server that an earlier Basalt left behind.
	fastStopTimeout = 20 * time.Second
	quitTimeout     = 5 * time.Second
	killTimeout     = 10 * time.Second
	pollInterval    = 20 * time.Millisecond
)

// EndAbandoned ends the PostgreSQL of a data folder whose Basalt was killed, and returns when it is gone. It must not be
// called beside a Basalt that runs there.
func EndAbandoned(ctx context.Context, dataDir string) error {
	f, err := newFolder(dataDir)
	if err != nil {
		return err
	}
	return evict(ctx, f.cluster())
}

// evict ends every PostgreSQL process of a cluster that nobody owns any more, and returns when they are gone.
//
// A postmaster that outlived a killed Basalt is stopped and replaced rather than adopted: the settings in force are
// then always those of this start, its abandoned transactions are over, and what is supervised is always a child.
// Backends that outlived a killed postmaster must be gone before a new one may touch the files.
func evict(ctx context.Context, cluster string) error {
	stages := []struct {
		signal  syscall.Signal
		who     func(pids []int) []int
		timeout time.Duration
	}{
		{syscall.SIGINT, func(pids []int) []int { return postmasterAmong(cluster, pids) }, fastStopTimeout},
		{syscall.SIGQUIT, func(pids []int) []int { return pids }, quitTimeout},
		{syscall.SIGKILL, func(pids []int) []int { return pids }, killTimeout},
	}
	for _, stage := range stages {
		pids, err := serverProcesses(cluster)
		if err != nil {
			return err
		}
		targets := stage.who(pids)
		if len(targets) == 0 {
			continue
		}
		for _, pid := range targets {
			if err := syscall.Kill(pid, stage.signal); err != nil && !errors.Is(err, syscall.ESRCH) {
				return fmt.Errorf("end the earlier PostgreSQL process %d: %w", pid, err)
			}
		}
		err = waitGone(ctx, cluster, stage.timeout)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return err
		}
	}
	pids, err := serverProcesses(cluster)
	if err != nil || len(pids) == 0 {
		return err
	}
	return &Error{
		Problem: fmt.Sprintf("PostgreSQL processes of an earlier run do not end: %v", pids),
		Remedy:  "they hang in the kernel, often on a lost disk: look at it, or restart the machine",
	}
}

func postmasterAmong(cluster string, pids []int) []int {
	state, err := readPIDFile(cluster)
	if err != nil || !slices.Contains(pids, state.pid) {
		return nil
	}
	return []int{state.pid}
}

func waitGone(ctx context.Context, cluster string, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return poll(ctx, func() (bool, error) {
		pids, err := serverProcesses(cluster)
		return len(pids) == 0, err
	})
}

// poll asks until the answer is yes, an error, or the end of the context.
func poll(ctx context.Context, ask func() (bool, error)) error {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		done, err := ask()
		if done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
		}
	}
}
