package outbox

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Stats count what this process has done since it began.
type Stats struct {
	// Queued are messages that were put into the outbox to be sent, those of transactions that failed afterwards included.
	Queued int64
	// Sent are messages that were taken over by who brings them.
	Sent int64
	// Failed are messages that were given up.
	Failed int64
}

// counts are what Stats tell.
type counts struct{ queued, sent, failed atomic.Int64 }

// Stats gives the counts.
func (o *Outbox) Stats() Stats {
	return Stats{Queued: o.counts.queued.Load(), Sent: o.counts.sent.Load(), Failed: o.counts.failed.Load()}
}

const (
	countWaiting = `
select count(*)
from basalt.outbox
where state = 'queued'`

	// waitingAge is how long a count of what waits is good: however often it is asked for, PostgreSQL is not.
	waitingAge = time.Second
	// waitingPatience is for counting it.
	waitingPatience = 2 * time.Second
)

// waiting is the last count of what waits.
type waiting struct {
	mu    sync.Mutex
	until time.Time
	count int64
	err   error
}

// Waiting counts the messages that wait to be sent, by whichever process. The count is up to a second old; the error is
// the database's.
func (o *Outbox) Waiting() (int64, error) {
	w := &o.waiting
	w.mu.Lock()
	defer w.mu.Unlock()
	if time.Now().Before(w.until) {
		return w.count, w.err
	}
	ctx, cancel := context.WithTimeout(context.Background(), waitingPatience)
	defer cancel()
	if w.err = o.pool.QueryRow(ctx, countWaiting).Scan(&w.count); w.err != nil {
		w.err = fmt.Errorf("count the messages that wait: %w", w.err)
	}
	w.until = time.Now().Add(waitingAge)
	return w.count, w.err
}
