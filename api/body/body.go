// Package body bounds request bodies: each by a limit, all that are held at once by the memory for them.
package body

import (
	"io"
	"net/http"
	"sync/atomic"

	"golang.org/x/sync/semaphore"
)

// free is the size up to which a body is not counted against the memory: connections are bounded.
const free = 64 << 10

// BusyError says that there is no memory left for another large body. The same request may pass a moment later.
type BusyError struct{}

func (*BusyError) Error() string { return "too many large request bodies at once" }

// Limits bound the bodies of all requests of a server.
type Limits struct {
	each   int64
	memory *semaphore.Weighted
	taken  atomic.Int64
}

// NewLimits makes limits of the given bytes.
func NewLimits(each, memory int64) *Limits {
	return &Limits{each: each, memory: semaphore.NewWeighted(memory)}
}

// Taken is how much of the memory bodies have taken.
func (l *Limits) Taken() int64 { return l.taken.Load() }

// Bound gives a request whose body is bounded. Reading it fails with *http.MaxBytesError when it is larger than a body
// may be, before anything of it is taken when its length says so, and with *BusyError when there is no memory for it.
// Release gives its memory back once nothing holds the body any more.
//
// The request given stays as it is: by its body net/http sees whether the rest of it must be read before an answer.
func (l *Limits) Bound(r *http.Request) (bound *http.Request, release func()) {
	if r.Body == nil || r.Body == http.NoBody {
		return r, func() {}
	}
	b := &bounded{from: r.Body, limits: l, held: free}
	bound = r.WithContext(r.Context())
	bound.Body = b
	if r.ContentLength > l.each {
		// The length is a lie or too much: nobody shall make room for it, nor ask the client to go on.
		bound.ContentLength = -1
		b.failed = &http.MaxBytesError{Limit: l.each}
	}
	return bound, b.release
}

// bounded is a body that takes memory as its bytes really come: a client that only announces a large one takes none.
type bounded struct {
	from       io.ReadCloser
	limits     *Limits
	read, held int64 // bytes that came, bytes that there is room for
	failed     error
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.failed != nil {
		return 0, b.failed
	}
	// One byte beyond the limit tells a body that is as large as it may be from one that is larger.
	if rest := b.limits.each - b.read + 1; int64(len(p)) > rest {
		p = p[:rest]
	}
	n, err := b.from.Read(p)
	b.read += int64(n)
	if b.read > b.limits.each {
		b.failed = &http.MaxBytesError{Limit: b.limits.each}
		return 0, b.failed
	}
	for b.read > b.held {
		// Readers double their buffers: so does the room.
		more := min(b.held, max(b.limits.each-b.held, b.read-b.held))
		if !b.limits.memory.TryAcquire(more) {
			b.failed = &BusyError{}
			return 0, b.failed
		}
		b.limits.taken.Add(more)
		b.held += more
	}
	return n, err
}

func (b *bounded) Close() error { return b.from.Close() }

func (b *bounded) release() {
	b.limits.taken.Add(free - b.held)
	b.limits.memory.Release(b.held - free)
	b.held = free
}
