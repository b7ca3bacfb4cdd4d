//go:build linux

package worker

import (
	"sync"
	"time"

	"github.com/rs/zerolog"

	"basalt/auth/password"
)

const (
	// defaultPatience is how long the process may take for an answer, or for its start. A hash of the recommended costs
	// takes some hundredths of a second, the dearest that is read two on a processor of its own.
	defaultPatience = 3 * time.Second
	// defaultIdle is after how long without a password the process ends.
	defaultIdle = time.Minute
	// After a failure nothing is started for shortPause, after one that follows twice as long, up to longPause.
	shortPause, longPause = time.Second, time.Minute
)

// Worker hashes passwords in a child process that it starts when there is need. A nil Worker hashes in this process.
type Worker struct {
	log            zerolog.Logger
	patience, idle time.Duration
	group          sync.WaitGroup

	mu     sync.Mutex
	child  *child // nil while there is none
	pause  time.Duration
	resume time.Time // nothing is started before
	closed bool
}

// New makes a worker, nil on systems other than Linux. The program must call Run when it is started with Flag. Close must
// be called.
func New(log zerolog.Logger) *Worker {
	return &Worker{log: log, patience: defaultPatience, idle: defaultIdle, pause: shortPause}
}

// Hash is password.Parameters.Hash.
func (w *Worker) Hash(costs password.Parameters, secret string) (string, error) {
	if got, ok := w.ask(question{Costs: costs, Password: secret}); ok {
		return got.Hash, nil
	}
	return costs.Hash(secret)
}

// Verify is password.Verify.
func (w *Worker) Verify(stored, secret string) (bool, error) {
	if got, ok := w.ask(question{Stored: stored, Password: secret}); ok {
		return got.Fits, nil
	}
	return password.Verify(stored, secret)
}

// Close ends the process. What is asked from here on is hashed in this one.
func (w *Worker) Close() {
	if w == nil {
		return
	}
	w.mu.Lock()
	w.closed = true
	if w.child != nil {
		w.child.fail()
	}
	w.mu.Unlock()
	w.group.Wait()
}

// ask has the process answer, or tells that the caller has to find out by itself, and what is wrong with it.
func (w *Worker) ask(q question) (answer, bool) {
	if w == nil {
		return answer{}, false
	}
	c := w.current()
	if c == nil {
		return answer{}, false
	}
	got, ok := c.ask(q)
	return got, ok && got.Done
}

// current gives the process when it is ready, and starts one when there is none.
func (w *Worker) current() *child {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.child == nil && !w.closed && !time.Now().Before(w.resume) {
		c := newChild(w.patience, w.idle)
		w.child = c
		w.group.Go(func() { w.ended(c, c.run()) })
	}
	if w.child == nil || !w.child.ready.Load() {
		return nil
	}
	return w.child
}

// ended makes room for the next process.
func (w *Worker) ended(c *child, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.child = nil
	if c.answered.Load() {
		w.pause = shortPause
	}
	if err == nil || w.closed {
		return
	}
	w.resume = time.Now().Add(w.pause)
	w.log.Warn().Err(err).Int("pid", c.pid).Dur("pause_ms", w.pause).Msg("the process that hashes passwords has ended: the server hashes by itself until there is the next")
	w.pause = min(2*w.pause, longPause)
}
