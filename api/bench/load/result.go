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
	// Operations are the same figures of the requests of one Request.Operation each.
	Operations map[string]*Result

	latencies []time.Duration // of the successes; sorted once merged
}

func newResult() *Result { return &Result{Statuses: map[int]int{}} }

// add counts an answer, also as one of its operation where it has one.
func (r *Result) add(operation string, a answer, err error, took time.Duration) {
	if operation != "" {
		if r.Operations == nil {
			r.Operations = map[string]*Result{}
		}
		if r.Operations[operation] == nil {
			r.Operations[operation] = newResult()
		}
		r.Operations[operation].add("", a, err, took)
	}
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
	operations := map[string]*Result{}
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
		for name := range r.Operations {
			operations[name] = nil
		}
	}
	slices.Sort(all.latencies)
	for name := range operations {
		var parts []*Result
		for _, r := range results {
			if part := r.Operations[name]; part != nil {
				parts = append(parts, part)
			}
		}
		operations[name] = merge(parts, took)
	}
	all.Operations = operations
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
