package requests

import (
	"math/bits"
	"sync"
	"time"
)

const (
	// seconds is how far the series go back.
	seconds = 304
	// routeEvery is how many seconds one cell of a route covers.
	routeEvery = 4

	// buckets of durations: two bits below the highest, from 64 µs on to beyond a minute. A quantile is off by an eighth at
	// most.
	subBits   = 2
	baseShift = 6
	buckets   = 84
)

// cell counts what ended within a span of seconds.
type cell struct {
	span            int64 // number of the span since 1970
	refused, failed uint32
	buckets         [buckets]uint32
}

// series is a ring of cells.
type series struct {
	key   routeKey
	every int64
	mu    sync.Mutex
	cells []cell
}

func newSeries(key routeKey) *series {
	return &series{key: key, every: routeEvery, cells: make([]cell, seconds/routeEvery)}
}

func (s *series) add(at int64, took time.Duration, status int) {
	span := at / s.every
	s.mu.Lock()
	c := &s.cells[span%int64(len(s.cells))]
	if c.span != span {
		*c = cell{span: span}
	}
	c.buckets[bucket(took)]++
	switch {
	case status >= 500:
		c.failed++
	case status >= 400:
		c.refused++
	}
	s.mu.Unlock()
}

// since sums what has ended from a second on.
func (s *series) since(from int64) Totals {
	var sum sum
	s.mu.Lock()
	for i := range s.cells {
		if c := &s.cells[i]; c.span*s.every >= from {
			sum.add(c)
		}
	}
	s.mu.Unlock()
	return sum.totals()
}

// at gives one second.
func (s *series) at(second int64) Totals {
	var sum sum
	s.mu.Lock()
	if c := &s.cells[second/s.every%int64(len(s.cells))]; c.span == second/s.every {
		sum.add(c)
	}
	s.mu.Unlock()
	return sum.totals()
}

type sum struct {
	all, refused, failed uint64
	buckets              [buckets]uint64
}

func (s *sum) add(c *cell) {
	s.refused += uint64(c.refused)
	s.failed += uint64(c.failed)
	for i, n := range c.buckets {
		s.buckets[i] += uint64(n)
		s.all += uint64(n)
	}
}

func (s *sum) totals() Totals {
	return Totals{Requests: s.all, Refused: s.refused, Failed: s.failed, P50: s.quantile(50), P95: s.quantile(95)}
}

// quantile interpolates within the bucket that holds it.
func (s *sum) quantile(percent uint64) time.Duration {
	if s.all == 0 {
		return 0
	}
	rank := (s.all*percent + 99) / 100
	for i, n := range s.buckets {
		if rank > n {
			rank -= n
			continue
		}
		low, high := limit(i), limit(i+1)
		return low + (high-low)*time.Duration(rank)/time.Duration(n+1)
	}
	return limit(buckets)
}

// bucket is where a duration is counted.
func bucket(d time.Duration) int {
	us := uint64(max(d, 0) / time.Microsecond)
	high := bits.Len64(us >> (baseShift + subBits)) // octaves above the first four steps
	if high == 0 {
		return int(us >> baseShift)
	}
	step := us >> (baseShift + high - 1) & (1<<subBits - 1)
	return min(buckets-1, high<<subBits+int(step))
}

// limit is where a bucket begins.
func limit(i int) time.Duration {
	high, step := i>>subBits, i&(1<<subBits-1)
	if high == 0 {
		return time.Duration(step<<baseShift) * time.Microsecond
	}
	return time.Duration((step|1<<subBits)<<(baseShift+high-1)) * time.Microsecond
}
