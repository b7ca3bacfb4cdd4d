// Package load puts an HTTP server under load and tells how it answered.
package load

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Options say how the load is made.
type Options struct {
	// URL is the server's base address, as http://127.0.0.1:8090.
	URL string
	// Callers is how many connections are kept open, each with one request at a time.
	Callers int
	// Warm is how long requests are sent before those that count.
	Warm time.Duration
	// For is how long answers are counted. With Count it is the longest.
	For time.Duration
	// Least stretches For, at most tenfold, until so many answers have come for each caller: the figures of a time in which
	// a caller is hardly answered once tell where its edges lie, and not what the server does.
	Least int
	// Count, when not 0, ends the load after so many counted requests of each caller.
	Count int
}

// Prepare writes the n-th request of a caller, both counted from 0. It runs on the caller's goroutine; r keeps what the
// caller's last call left in it.
type Prepare func(caller, n int, r *Request)

// Closed has each caller send its next request as soon as the last is answered. Counted are the answers that come after
// Warm and until the end. The error tells that the load itself could not be made; failed requests are in the result.
func Closed(ctx context.Context, o Options, prepare Prepare) (*Result, error) {
	target, err := parse(o.URL)
	if err != nil {
		return nil, err
	}
	var group sync.WaitGroup
	var answered atomic.Int64
	var over atomic.Bool
	results := make([]*Result, o.Callers)
	begin := time.Now().Add(o.Warm)
	for caller := range o.Callers {
		result := newResult()
		results[caller] = result
		group.Go(func() {
			c := newClient(target)
			defer c.close()
			var r Request
			counted := 0
			for n := 0; ctx.Err() == nil && !over.Load() && (o.Count == 0 || counted < o.Count); n++ {
				prepare(caller, n, &r)
				start := time.Now()
				a, err := c.do(&r)
				if now := time.Now(); !now.Before(begin) && !over.Load() {
					counted++
					answered.Add(1)
					result.add(r.Operation, a, err, now.Sub(start))
				}
				if err != nil && a.status == 0 {
					pause(ctx) // a server that is away is not asked a million times
				}
			}
		})
	}
	ended := make(chan struct{})
	go func() {
		group.Wait()
		close(ended)
	}()
	enough := func() bool {
		return answered.Load() >= int64(o.Least)*int64(o.Callers) || time.Since(begin) >= 10*o.For
	}
	for wait := time.Until(begin.Add(o.For)); wait > 0; {
		select {
		case <-ended:
			wait = 0
		case <-time.After(wait):
			if wait = 0; !enough() {
				wait = 5 * time.Millisecond
			}
		}
	}
	took := time.Since(begin)
	over.Store(true)
	<-ended
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return merge(results, took), nil
}

// Open sends requests at a rate of so many a second, whatever the answers, over at most Callers connections: what an
// overloaded server meets. A request that is due while all callers wait is counted as unsent. Counted are the requests
// that are due, and the answers that come, after Warm and until the end: what the server does while the load lasts, and
// not how it recovers.
func Open(ctx context.Context, o Options, rate float64, prepare Prepare) (*Result, error) {
	target, err := parse(o.URL)
	if err != nil {
		return nil, err
	}
	if rate <= 0 {
		return nil, errors.New("the rate of an open load is above 0")
	}
	due := make(chan time.Time) // no queue: who is not there is counted
	results := make([]*Result, o.Callers)
	clients := connected(ctx, target, o.Callers) // who comes in crowds has been there before
	var group sync.WaitGroup
	start := time.Now()
	begin := start.Add(o.Warm)
	end := begin.Add(o.For)
	for caller, c := range clients {
		result := newResult()
		results[caller] = result
		group.Go(func() {
			defer c.close()
			var r Request
			n := 0
			for at := range due {
				prepare(caller, n, &r)
				n++
				a, err := c.do(&r)
				if now := time.Now(); !now.Before(begin) && now.Before(end) {
					result.add(r.Operation, a, err, now.Sub(at))
				}
				if err != nil && a.status == 0 {
					pause(ctx)
				}
			}
		})
	}
	offered, unsent := 0, 0
	for sent := 0; ctx.Err() == nil && time.Now().Before(end); {
		for ; float64(sent) < time.Since(start).Seconds()*rate; sent++ {
			now := time.Now()
			counts := !now.Before(begin)
			if counts {
				offered++
			}
			select {
			case due <- now:
			default:
				if counts {
					unsent++
				}
			}
		}
		time.Sleep(time.Millisecond)
	}
	close(due)
	group.Wait()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	result := merge(results, o.For)
	result.Offered, result.Unsent = offered, unsent
	return result, nil
}

// connected are clients with an open connection, but for those whom the server does not let in: they try it again with
// their first request.
func connected(ctx context.Context, target *url.URL, n int) []*client {
	const atOnce = 32
	clients := make([]*client, n)
	var group sync.WaitGroup
	for first := range atOnce {
		group.Go(func() {
			for i := first; i < n; i += atOnce {
				clients[i] = newClient(target)
				if ctx.Err() == nil {
					_ = clients[i].connect()
				}
			}
		})
	}
	group.Wait()
	return clients
}

// CheckURL refuses what is not the base address of a server.
func CheckURL(address string) error {
	_, err := parse(address)
	return err
}

func parse(address string) (*url.URL, error) {
	target, err := url.Parse(address)
	if err != nil || target.Scheme != "http" && target.Scheme != "https" || target.Host == "" || strings.Trim(target.Path, "/") != "" {
		return nil, fmt.Errorf("%q is not the address of a server, such as http://127.0.0.1:8090", address)
	}
	return target, nil
}

func pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(10 * time.Millisecond):
	}
}
