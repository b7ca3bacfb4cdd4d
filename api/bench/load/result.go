package load

import (
	"slices"
	"time"
)

// Result is how a server answered.
type Result struct {
	// Requests counts those that were answered or failed; Errors those of them whose status or body was not the wanted.
	Requests, Errors int
	// Statuses counts answers by status; 0 stands for requests without an answer.
	Statuses map[int]int
	// RetryAfter counts the answers that told when to come again.
	RetryAfter int
	// FirstError is one failure in words.
	FirstError error
	// Bytes counts the bodies.
	Bytes int64
	// Took is how long requests were counted.
	Took time.Duration
	// Offered and Unsent belong to open loads: what was due, and what of it found no free connection.
	Offered, Unsent int

	latencies []time.Duration // of the successes; sorted once merged
}

func newResult() *Result { return &Result{Statuses: map[int]int{}} }

func (r *Result) add(a answer, err error, took time.Duration) {
	r.Requests++
	r.Statuses[a.status]++
	r.Bytes += a.bytes
	if a.retryAfter {
		r.RetryAfter++
	}
	if err != nil {
		r.Errors++
		if r.FirstError == nil {
			r.FirstError = err
		}
		return
	}
	r.latencies = append(r.latencies, took)
}

func merge(results []*Result, took time.Duration) *Result {
	all := newResult()
	all.Took = took
	for _, r := range results {
		all.Requests += r.Requests
		all.Errors += r.Errors
		all.RetryAfter += r.RetryAfter
		all.Bytes += r.Bytes
		for status, n := range r.Statuses {
			all.Statuses[status] += n
		}
		if all.FirstError == nil {
			all.FirstError = r.FirstError
		}
		all.latencies = append(all.latencies, r.latencies...)
	}
	slices.Sort(all.latencies)
	return all
}

// Percentile is the time that a share of the successful requests was answered within, as 0.95; 0 where none was.
func (r *Result) Percentile(share float64) time.Duration {
	if len(r.latencies) == 0 {
		return 0
	}
	at := int(share * float64(len(r.latencies)))
	return r.latencies[min(at, len(r.latencies)-1)]
}

// PerSecond is how many requests succeeded in a second.
func (r *Result) PerSecond() float64 {
	if r.Took <= 0 {
		return 0
	}
	return float64(len(r.latencies)) / r.Took.Seconds()
}
