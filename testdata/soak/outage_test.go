//go:build linux

package soak_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"basalt/store/managed"
)

// postgres is a PostgreSQL that belongs to the test and not to Basalt, so that it can be stopped and started at will.
type postgres struct {
	options managed.Options
	server  *managed.Server
	url     string
}

func startPostgres(t *testing.T) *postgres {
	t.Helper()
	p := &postgres{options: managed.Options{DataDir: dataFolder(t), TCPPort: freePort(t), Log: zerolog.Nop()}}
	p.start(t)
	t.Cleanup(func() {
		if p.server != nil {
			p.stop(t, false)
		}
	})
	p.url = p.server.URL()
	return p
}

func (p *postgres) start(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute) // it may have to be fetched
	defer cancel()
	var err error
	if p.server, err = managed.Start(ctx, p.options); err != nil {
		t.Fatalf("start PostgreSQL: %v", err)
	}
}

// stop ends it as `pg_ctl stop -m fast` does, or `-m immediate`.
func (p *postgres) stop(t *testing.T, immediate bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if immediate {
		cancel() // there is no time for a fast one
	}
	if err := p.server.Stop(ctx); err != nil {
		t.Fatalf("stop PostgreSQL: %v", err)
	}
	p.server = nil
}

func TestARestartOfPostgreSQLUnderLoadIsSuccessOr503AndEndsByItself(t *testing.T) {
	r := random(t)
	pg := startPostgres(t)
	s := serving{databaseURL: pg.url, flags: []string{"--pool-size", "8"}}
	p := serve(t, s)
	k := readKeys(t, s)
	execute(t, pg.url, loadSchema)
	service := newCaller(p.url(), k.service, "")
	awaitTable(t, service, "slots")
	l := newLoad(t, r, p.url(), k, 24)
	l.reading = true
	var slowest time.Duration
	for cycle := range times(4, 20) {
		stop := l.start(t)
		immediate, away := cycle%2 == 1, time.Duration(r.IntN(1500)*(cycle/2%2))*time.Millisecond
		time.Sleep(time.Duration(100+r.IntN(400)) * time.Millisecond) // the moment of the stop is random
		t.Logf("cycle %d: immediate %v, away for %s", cycle, immediate, away)
		pg.stop(t, immediate)
		if cycle/2%2 == 1 {
			l.expectUnready(t, service)
		}
		time.Sleep(away) // how long it is away is random, too
		pg.start(t)
		back := time.Now()
		slowest = max(slowest, l.awaitAll(t, back))
		l.expectNoErrors(t)
		stop()
		l.verify(t, pg.url)
	}
	inTime(t, "last error after PostgreSQL was back", slowest, 2*time.Second)
	l.report(t)
	l.expectUnavailable(t)
	if code := p.terminate(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.tail(20))
	}
}

// expectUnready waits until the server says that PostgreSQL is away, while it says that itself is there.
func (l *load) expectUnready(t *testing.T, c *caller) {
	t.Helper()
	eventually(t, "/health/ready is 503", func() bool {
		got := c.health(t, "/health/ready")
		return got.status == http.StatusServiceUnavailable && got.header.Get("Retry-After") != ""
	})
	if got := c.health(t, "/health/live"); got.status != http.StatusOK {
		t.Errorf("/health/live: %d %s", got.status, got.body)
	}
}

func (c *caller) health(t *testing.T, path string) *answer {
	t.Helper()
	got, err := c.call(t.Context(), "GET", path, "")
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return got
}

// expectNoErrors lets each client be served three times more and wants no error among those.
func (l *load) expectNoErrors(t *testing.T) {
	t.Helper()
	failed := func() (n int) {
		l.mu.Lock()
		defer l.mu.Unlock()
		for name, count := range l.counts {
			if !servedName(name) {
				n += count
			}
		}
		return n
	}
	before := failed()
	for range 3 {
		l.awaitAll(t, time.Now())
	}
	if after := failed(); after != before {
		t.Errorf("%d requests failed after all were served again", after-before)
	}
}
