//go:build linux

package worker

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// child is one run of the process, seen from the server.
type child struct {
	patience, idle time.Duration
	ctx            context.Context // of the process
	kill           context.CancelFunc
	ready          atomic.Bool // from then on it may be asked
	answered       atomic.Bool
	pid            int

	mu      sync.Mutex
	in      *os.File
	encoder *gob.Encoder
	rest    *time.Timer
	last    uint64
	waiting map[uint64]chan<- answer // by the number of the question
	shut    bool                     // nothing is asked any more
	retired bool                     // for want of questions
}

func newChild(patience, idle time.Duration) *child {
	c := &child{patience: patience, idle: idle, waiting: map[uint64]chan<- answer{}}
	c.ctx, c.kill = context.WithCancel(context.Background())
	return c
}

// run starts the process and waits for its end, which is an error unless it was retired.
func (c *child) run() error {
	// The kernel ends the process together with the thread that has started it: that one has to stay.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer c.release()
	theirs, in, err := os.Pipe()
	if err != nil {
		return err
	}
	defer in.Close()
	defer theirs.Close()
	out, ours, err := os.Pipe()
	if err != nil {
		return err
	}
	defer out.Close()
	defer ours.Close()
	cmd := exec.CommandContext(c.ctx, "/proc/self/exe", Flag) // the same program, be its file replaced meanwhile
	cmd.Args[0] = os.Args[0]
	cmd.Env = []string{} // which holds secrets, and nothing that is needed
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, ours, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return err
	}
	c.pid = cmd.Process.Pid
	theirs.Close()
	ours.Close()
	defer time.AfterFunc(c.patience, func() {
		if !c.ready.Load() {
			c.fail()
		}
	}).Stop()
	read := make(chan error)
	go func() { read <- c.read(in, out) }() // on any thread
	err = <-read
	if !errors.Is(err, io.EOF) {
		c.fail()
	}
	exit := cmd.Wait()
	if c.release(); c.retired {
		return nil
	}
	return fmt.Errorf("%w: %v", err, exit)
}

// read delivers answers until there are no more.
func (c *child) read(in, out *os.File) error {
	decoder := gob.NewDecoder(out)
	for {
		var a answer
		if err := decoder.Decode(&a); err != nil {
			return err
		}
		if a.ID == hello {
			c.begin(in)
			continue
		}
		c.answered.Store(true)
		c.mu.Lock()
		if to := c.waiting[a.ID]; to != nil {
			to <- a
			delete(c.waiting, a.ID)
		}
		c.mu.Unlock()
	}
}

func (c *child) begin(in *os.File) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.in, c.encoder = in, gob.NewEncoder(in)
	c.rest = time.AfterFunc(c.idle, c.retire)
	c.ready.Store(true)
}

// ask gives false when the process has not answered and will not.
func (c *child) ask(q question) (answer, bool) {
	to := make(chan answer, 1)
	if !c.send(q, to) {
		return answer{}, false
	}
	timer := time.NewTimer(c.patience)
	defer timer.Stop()
	select {
	case a, ok := <-to:
		return a, ok
	case <-timer.C:
		c.fail()
		return answer{}, false
	}
}

func (c *child) send(q question, to chan<- answer) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.shut {
		return false
	}
	c.rest.Reset(c.idle)
	c.last++
	q.ID = c.last
	err := c.in.SetWriteDeadline(time.Now().Add(c.patience)) // it may have stopped reading
	if err == nil {
		err = c.encoder.Encode(q)
	}
	if err != nil {
		c.shut = true
		c.kill()
		return false
	}
	c.waiting[q.ID] = to
	return true
}

// retire lets the process end.
func (c *child) retire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiting) > 0 || c.shut {
		return // the next question sets the timer again
	}
	c.shut, c.retired = true, true
	c.in.Close()
}

// fail ends a process that is of no use.
func (c *child) fail() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shut = true
	c.kill()
}

// release sends away who still waits.
func (c *child) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shut = true
	c.kill()
	if c.rest != nil { // it has been ready
		c.rest.Stop()
	}
	for _, to := range c.waiting {
		close(to)
	}
	clear(c.waiting)
}
