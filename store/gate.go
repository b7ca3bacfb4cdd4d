package store

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// refusalPace is the least time from one refusal to the next, and mostRefusalDelay how long one waits for its turn.
	refusalPace      = time.Millisecond
	mostRefusalDelay = 500 * time.Millisecond
)

// gate admits as many flights as there are connections and lets a bounded number wait in the order they came. The
// wait is here and not in the pool so that it has a bound and costs nothing while a connection is free.
type gate struct {
	maxWaiting int
	patience   time.Duration

	mu      sync.Mutex
	free    int
	first   *waiter
	last    *waiter
	waiting int

	waiters sync.Pool // of *waiter

	refusing chan struct{} // holds one token while one is refused

	refused  atomic.Int64
	waited   atomic.Int64
	waitTime atomic.Int64 // nanoseconds
}

// waiter is one flight in the queue.
type waiter struct {
	ready      chan struct{} // holds one token
	timer      *time.Timer
	queued     bool
	prev, next *waiter
}

func newGate(places, maxWaiting int, patience time.Duration) *gate {
	g := &gate{free: places, maxWaiting: maxWaiting, patience: patience, refusing: make(chan struct{}, 1)}
	g.waiters.New = func() any {
		w := &waiter{ready: make(chan struct{}, 1), timer: time.NewTimer(time.Hour)}
		w.timer.Stop()
		return w
	}
	return g
}

// enter takes a place or waits for one. It returns a *PoolFullError when the queue is full or patience ends, and the
// context's error when the caller left.
func (g *gate) enter(ctx context.Context) error {
	g.mu.Lock()
	if g.free > 0 {
		g.free--
		g.mu.Unlock()
		return nil
	}
	if g.waiting >= g.maxWaiting {
		full := &PoolFullError{Waiting: g.waiting}
		g.mu.Unlock()
		g.refused.Add(1)
		g.delay(ctx)
		return full
	}
	w := g.waiters.Get().(*waiter)
	g.append(w)
	g.mu.Unlock()
	return g.wait(ctx, w)
}

// delay has those who are refused wait for their turn. A refusal takes nearly as much of the CPU as an answer, and who
// is refused at once asks again at once: without a pace a crowd of refusals takes the time of those who were let in.
func (g *gate) delay(ctx context.Context) {
	most := time.NewTimer(mostRefusalDelay)
	defer most.Stop()
	select {
	case g.refusing <- struct{}{}:
		time.Sleep(refusalPace)
		<-g.refusing
	case <-most.C:
	case <-ctx.Done():
	}
}

func (g *gate) wait(ctx context.Context, w *waiter) error {
	began := time.Now()
	w.timer.Reset(g.patience)
	var failure error
	select {
	case <-w.ready:
	case <-w.timer.C:
		failure = &PoolFullError{Waited: g.patience}
	case <-ctx.Done():
		failure = ctx.Err()
	}
	w.timer.Stop()
	if failure != nil {
		failure = g.giveUp(w, failure)
	}
	g.waiters.Put(w)
	g.waited.Add(1)
	g.waitTime.Add(int64(time.Since(began)))
	return failure
}

// giveUp leaves the queue. A place that was handed over in the same moment is passed on.
func (g *gate) giveUp(w *waiter, failure error) error {
	g.mu.Lock()
	if w.queued {
		g.remove(w)
		g.mu.Unlock()
	} else {
		g.mu.Unlock()
		<-w.ready
		g.leave()
	}
	if _, full := failure.(*PoolFullError); full || failure == context.DeadlineExceeded {
		g.refused.Add(1)
	}
	return failure
}

// leave gives the place to the first in the queue, or frees it.
func (g *gate) leave() {
	g.mu.Lock()
	w := g.first
	if w == nil {
		g.free++
		g.mu.Unlock()
		return
	}
	g.remove(w)
	g.mu.Unlock()
	w.ready <- struct{}{}
}

// queueLength is the number of flights that wait.
func (g *gate) queueLength() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.waiting
}

func (g *gate) append(w *waiter) {
	w.queued = true
	w.prev = g.last
	if g.last == nil {
		g.first = w
	} else {
		g.last.next = w
	}
	g.last = w
	g.waiting++
}

func (g *gate) remove(w *waiter) {
	if w.prev == nil {
		g.first = w.next
	} else {
		w.prev.next = w.next
	}
	if w.next == nil {
		g.last = w.prev
	} else {
		w.next.prev = w.prev
	}
	w.prev, w.next, w.queued = nil, nil, false
	g.waiting--
}
