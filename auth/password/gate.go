package password

import (
	"context"
	"errors"
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

// ErrBusy is the refusal of a hash for which there is no room: the queue is full, or its
// turn did not come within the wait.
var ErrBusy = errors.New("too many passwords are being checked")

// GateOptions bound the hashing of one process.
type GateOptions struct {
	// Slots is how many hashes run at once; 0 is one per processor. Each takes one
	// processor and Parameters.MemoryKiB.
	Slots int
	// Queue is how many callers may wait; 0 is 64 per slot.
	Queue int
	// Wait is the longest wait for a slot; 0 is five seconds.
	Wait time.Duration
}

// Gate admits hashes one by one per processor, first come first served: a flood of
// sign-ins costs refusals, not the memory of the machine nor the speed of the data path.
type Gate struct {
	slots   chan struct{}
	queue   int64
	wait    time.Duration
	waiting atomic.Int64
	done    atomic.Int64
	refused atomic.Int64
}

// Stats are the state of a gate.
type Stats struct {
	Slots, Running, Queued int
	// Done and Refused are counted since the start.
	Done, Refused int64
}

// NewGate makes a gate.
func NewGate(o GateOptions) *Gate {
	if o.Slots <= 0 {
		o.Slots = runtime.GOMAXPROCS(0)
	}
	if o.Queue <= 0 {
		o.Queue = 64 * o.Slots
	}
	if o.Wait <= 0 {
		o.Wait = 5 * time.Second
	}
	return &Gate{slots: make(chan struct{}, o.Slots), queue: int64(o.Queue), wait: o.Wait}
}

// Do runs work when its turn has come. It gives ErrBusy when there is no room, and the
// context's error when the caller left first.
func (g *Gate) Do(ctx context.Context, work func()) error {
	if err := g.enter(ctx); err != nil {
		return err
	}
	defer func() { <-g.slots }()
	work()
	g.done.Add(1)
	g.tidy()
	return nil
}

const (
	// smallHeap is what the collector looks through in about a millisecond.
	smallHeap = 64 << 20
	// hashMemory is what a hash leaves behind, at the recommended costs.
	hashMemory = 20 << 20
)

// tidy collects the memory that a hash has left behind, when the next is waiting to take as much. By itself the
// collector would let so much garbage come together as there is memory in use, a flood's own included. A hash that was
// left to another process has left none.
func (g *Gate) tidy() {
	if g.waiting.Load() == 0 {
		return
	}
	heap := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(heap)
	live, all := heap[0].Value.Uint64(), heap[1].Value.Uint64()
	if live < uint64(smallHeap+hashMemory*cap(g.slots)) && all > live+hashMemory/2 {
		runtime.GC()
	}
}

func (g *Gate) enter(ctx context.Context) error {
	select {
	case g.slots <- struct{}{}:
		return nil
	default:
	}
	if g.waiting.Add(1) > g.queue {
		g.waiting.Add(-1)
		g.refused.Add(1)
		return ErrBusy
	}
	defer g.waiting.Add(-1)
	timer := time.NewTimer(g.wait)
	defer timer.Stop()
	// Senders that block on a channel are served in the order of their coming.
	select {
	case g.slots <- struct{}{}:
		return nil
	case <-timer.C:
		g.refused.Add(1)
		return ErrBusy
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Stats gives the gate's state, for metrics.
func (g *Gate) Stats() Stats {
	return Stats{
		Slots:   cap(g.slots),
		Running: len(g.slots),
		Queued:  int(g.waiting.Load()),
		Done:    g.done.Load(),
		Refused: g.refused.Load(),
	}
}

// RetryAfter is when a refused caller may come again.
func (g *Gate) RetryAfter() time.Duration { return g.wait }
