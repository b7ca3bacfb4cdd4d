package requests

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// mostRoutes is how many are told apart; the rest is counted as one.
const mostRoutes = 256

type routeKey struct{ method, route string }

// routes are what requests are counted by.
type routes struct {
	known atomic.Pointer[map[routeKey]*series] // replaced, never changed: finding takes no lock
	grow  sync.Mutex
	other *series
}

// of finds what a request is counted by.
func (r *routes) of(method, route string) *series {
	key := routeKey{method, route}
	known := *r.known.Load()
	if found := known[key]; found != nil {
		return found
	}
	if len(known) >= mostRoutes {
		return r.other
	}
	r.grow.Lock()
	defer r.grow.Unlock()
	known = *r.known.Load()
	if found := known[key]; found != nil {
		return found
	}
	if len(known) >= mostRoutes {
		return r.other
	}
	more := make(map[routeKey]*series, len(known)+1)
	for k, s := range known {
		more[k] = s
	}
	key.route = strings.Clone(route)
	more[key] = newSeries(key)
	r.known.Store(&more)
	return more[key]
}

// A Route is what came in by one route and method within a window.
type Route struct {
	Method, Route string // no method stands for the rest of all
	Totals
}

// A Second is what ended within one second.
type Second struct {
	At time.Time
	Totals
}

// Totals count requests and say how long they took.
type Totals struct {
	Requests, Refused, Failed uint64 // refused: 4xx, failed: 5xx
	P50, P95                  time.Duration
}

// Routes gives what the last so many seconds have brought, the busiest routes first.
func (l *Log) Routes(now time.Time, window time.Duration) []Route {
	var found []Route
	add := func(s *series) {
		if t := s.since(now.Add(-window).Unix()); t.Requests > 0 {
			found = append(found, Route{s.key.method, s.key.route, t})
		}
	}
	for _, s := range *l.routes.known.Load() {
		add(s)
	}
	add(l.routes.other)
	slices.SortFunc(found, func(a, b Route) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Route, b.Route), cmp.Compare(a.Method, b.Method))
	})
	return found
}

// Seconds gives the last so many whole seconds, the oldest first.
func (l *Log) Seconds(now time.Time, count int) []Second {
	count = min(count, seconds-2)
	list := make([]Second, count)
	for i := range list {
		at := now.Unix() - int64(count-i)
		list[i] = Second{time.Unix(at, 0).UTC(), l.total.at(at)}
	}
	return list
}

// Window gives the totals of the last so long.
func (l *Log) Window(now time.Time, window time.Duration) Totals {
	return l.total.since(now.Add(-window).Unix())
}
