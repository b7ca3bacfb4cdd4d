package store

import (
	"context"
	"sync"
	"time"
)

// outagePause is how long a failed attempt to connect speaks for all others.
const outagePause = 150 * time.Millisecond

// outageProbe is how long one caller has the attempt to itself when nothing is heard of it.
const outageProbe = time.Second

// outage remembers that PostgreSQL could not be reached. While it lasts one caller at a time tries to connect and the
// others are told the last error at once: a flood of requests neither hangs nor becomes a flood of connections.
type outage struct {
	mu    sync.Mutex
	err   error
	since time.Time
	until time.Time // end of the pause, or of the attempt that somebody is making
}

// beforeConnect refuses an attempt that is sure to be in vain. The first caller after the pause becomes the one who
// tries; if it is never heard of again, the next tries when its time is over.
func (o *outage) beforeConnect(context.Context) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		return nil
	}
	now := time.Now()
	if now.Before(o.until) {
		return &outageError{o.err}
	}
	o.until = now.Add(outageProbe)
	return nil
}

// failed notes an attempt that did not reach PostgreSQL.
func (o *outage) failed(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now()
	if o.err == nil {
		o.since = now
	}
	o.err = err
	o.until = now.Add(outagePause)
}

// over notes that PostgreSQL answers.
func (o *outage) over() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.err = nil
}

// state gives the last error and since when, nil when there is no outage.
func (o *outage) state() (since time.Time, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.since, o.err
}

// outageError repeats the error of an earlier attempt.
type outageError struct {
	err error
}

func (e *outageError) Error() string { return e.err.Error() }
func (e *outageError) Unwrap() error { return e.err }
