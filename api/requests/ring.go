// Package requests remembers the requests of late and how long they took.
package requests

import (
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// Kept is how many requests the ring holds; then the oldest goes for each that comes.
	Kept = 8192
	// chunk is how many slots are made at once, when the first of them is needed.
	chunk = 512

	mostPath, mostID, mostIP, mostRole, mostCode = 200, 64, 46, 63, 24
)

// A Request is one that was answered. Of long texts the beginning is kept.
type Request struct {
	// Seq numbers the requests of this process from 1.
	Seq      uint64
	At       time.Time // when it came
	Duration time.Duration
	Status   int
	Bytes    int64 // of the answer's body
	Method   string
	// Path is without its query, which may hold keys, tokens and values.
	Path string
	// Route is the pattern that matched, and for the REST API the relation or function. Clients must not be able to make
	// routes: beyond the first 256 they are counted as one.
	Route string
	IP    string
	// Role is the database role of the caller, "" where none was decided.
	Role      string
	RequestID string
	// Code is what the answer called its error.
	Code string
}

// text is a bounded copy: a request's own strings would keep its whole head in memory.
type text[A any] struct {
	bytes A
	size  uint8
}

// slot holds one request without pointers into it.
type slot struct {
	mu       sync.Mutex
	seq      uint64
	at       int64 // microseconds since 1970
	duration time.Duration
	bytes    int64
	method   string // one of the constants of method
	route    *series
	status   int32
	path     text[[mostPath]byte]
	id       text[[mostID]byte]
	ip       text[[mostIP]byte]
	role     text[[mostRole]byte]
	code     text[[mostCode]byte]
}

// Log holds the last requests and counts all of them. All methods may be called at once.
type Log struct {
	last   atomic.Uint64
	chunks [Kept / chunk]atomic.Pointer[[chunk]slot]
	total  series
	routes routes
	tails  atomic.Int32
}

// New makes an empty log.
func New() *Log {
	l := &Log{total: series{every: 1, cells: make([]cell, seconds)}}
	l.routes.other = newSeries(routeKey{"", "other"})
	empty := map[routeKey]*series{}
	l.routes.known.Store(&empty)
	return l
}

// Add takes a request.
func (l *Log) Add(r *Request) {
	name := Method(r.Method)
	route := l.routes.of(name, r.Route)
	end := r.At.Add(r.Duration).Unix()
	l.total.add(end, r.Duration, r.Status)
	route.add(end, r.Duration, r.Status)

	seq := l.last.Add(1)
	s := l.slot(seq)
	s.mu.Lock()
	if s.seq < seq { // else the ring went round while this one waited
		s.seq, s.at, s.duration, s.bytes = seq, r.At.UnixMicro(), r.Duration, r.Bytes
		s.method, s.route, s.status = name, route, int32(r.Status)
		s.path.size = uint8(copy(s.path.bytes[:], r.Path))
		s.id.size = uint8(copy(s.id.bytes[:], r.RequestID))
		s.ip.size = uint8(copy(s.ip.bytes[:], r.IP))
		s.role.size = uint8(copy(s.role.bytes[:], r.Role))
		s.code.size = uint8(copy(s.code.bytes[:], r.Code))
	}
	s.mu.Unlock()
}

// slot is where a request goes.
func (l *Log) slot(seq uint64) *slot {
	at := seq % Kept
	held := &l.chunks[at/chunk]
	slots := held.Load()
	if slots == nil {
		held.CompareAndSwap(nil, new([chunk]slot))
		slots = held.Load()
	}
	return &slots[at%chunk]
}

// Last is the number of the newest request.
func (l *Log) Last() uint64 { return l.last.Load() }

// get gives a request that is still held.
func (l *Log) get(seq uint64) (r Request, found bool) {
	s := l.slot(seq)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seq != seq {
		return r, false
	}
	return Request{
		Seq: seq, At: time.UnixMicro(s.at).UTC(), Duration: s.duration, Status: int(s.status), Bytes: s.bytes,
		Method: s.method, Route: s.route.key.route, Path: string(s.path.bytes[:s.path.size]), IP: string(s.ip.bytes[:s.ip.size]),
		Role: string(s.role.bytes[:s.role.size]), RequestID: string(s.id.bytes[:s.id.size]), Code: string(s.code.bytes[:s.code.size]),
	}, true
}

// Newest calls back with the requests before a number, the newest first, until it says false. 0 begins with the last.
func (l *Log) Newest(before uint64, each func(*Request) bool) {
	last := l.last.Load()
	if before == 0 || before > last {
		before = last + 1
	}
	for seq := before - 1; seq > 0 && seq+Kept > last; seq-- {
		if r, found := l.get(seq); found && !each(&r) {
			return
		}
	}
}

// After calls back with the requests behind a number, the oldest first. It gives the number of the last and how many
// have gone from the ring meanwhile. One that is just being written ends the walk: it is there the next time.
func (l *Log) After(seq uint64, each func(*Request)) (reached, dropped uint64) {
	last := l.last.Load()
	if oldest := last - min(last, Kept); seq < oldest {
		dropped, seq = oldest-seq, oldest
	}
	for seq < last {
		r, found := l.get(seq + 1)
		if !found {
			if l.last.Load() < seq+1+Kept {
				break
			}
			dropped++
		} else {
			each(&r)
		}
		seq++
	}
	return seq, dropped
}

// Method gives the name of a method as a constant, so that clients cannot make names: others are "other".
func Method(name string) string {
	switch name {
	case http.MethodGet:
		return http.MethodGet
	case http.MethodHead:
		return http.MethodHead
	case http.MethodPost:
		return http.MethodPost
	case http.MethodPut:
		return http.MethodPut
	case http.MethodPatch:
		return http.MethodPatch
	case http.MethodDelete:
		return http.MethodDelete
	case http.MethodOptions:
		return http.MethodOptions
	}
	return "other"
}

// mostTails is how many may follow the log at once.
const mostTails = 16

// Follow takes a place among those who follow the log. False is that there is none.
func (l *Log) Follow() (leave func(), admitted bool) {
	if l.tails.Add(1) > mostTails {
		l.tails.Add(-1)
		return nil, false
	}
	return func() { l.tails.Add(-1) }, true
}
