//go:build linux

package worker

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// slice is the longest that the kernel takes.
	slice = 100 * time.Millisecond
	// nicer is a third of the share of a processor that others get which want it as well.
	nicer    = 5
	nicest   = 19
	ordinary = 0 // SCHED_OTHER
)

// giveWay has the kernel interrupt this process for any that wakes up.
//
// Since Linux 6.12 who asks for a shorter slice interrupts who has asked for a longer one, whatever their shares are. A
// server's threads work for less than the default slice at a time. Before, niceness alone works, and less.
func giveWay() error {
	attr, err := unix.SchedGetAttr(0, 0)
	if err != nil {
		return err
	}
	if attr.Policy != unix.SCHED_BATCH && attr.Policy != unix.SCHED_IDLE {
		attr.Policy = ordinary
	}
	attr.Flags, attr.Priority, attr.Period, attr.Deadline = 0, 0, 0, 0
	attr.Nice = min(attr.Nice+nicer, nicest)
	attr.Runtime = uint64(slice)
	// Threads inherit it from those that start them. Some have been started before.
	for done := map[string]bool{}; ; {
		threads, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return err
		}
		before := len(done)
		for _, thread := range threads {
			if done[thread.Name()] {
				continue
			}
			id, err := strconv.Atoi(thread.Name())
			if err != nil {
				return fmt.Errorf("thread %s: %w", thread.Name(), err)
			}
			if err := unix.SchedSetAttr(id, attr, 0); err != nil && err != unix.ESRCH {
				return err
			}
			done[thread.Name()] = true
		}
		if len(done) == before {
			return nil
		}
	}
}
