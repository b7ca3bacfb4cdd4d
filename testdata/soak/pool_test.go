//go:build linux

package soak_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"basalt/store/storetest"
)

// napSchema has a request of any length.
const napSchema = `
create function nap(seconds float8) returns text language sql as $$
  select 'rested'
  from pg_sleep($1)
$$;
create table words (id int primary key, word text not null);
insert into words
select id, md5(id::text)
from generate_series(1, 1000) id;
`

func TestAPoolThatIsFullRefusesInTimeAndRecovers(t *testing.T) {
	const (
		connections = 10
		queue       = 100
		clients     = 500
		timeout     = 2 * time.Second
	)
	database := storetest.NewEmpty(t)
	s := serving{databaseURL: database.URL, flags: []string{
		"--pool-size", strconv.Itoa(connections), "--pool-wait", strconv.Itoa(queue), "--pool-timeout", timeout.String(),
	}}
	p := serve(t, s)
	k := readKeys(t, s)
	database.Exec(t, napSchema)
	service := newCaller(p.url(), k.service, "")
	awaitTable(t, service, "words")
	user, _ := newCaller(p.url(), k.anon, "").signUp(t, "patient@example.com")

	var served, late atomic.Int64
	var slowest, mostWaiting atomic.Int64
	var group sync.WaitGroup
	for range clients {
		group.Go(func() {
			began := time.Now()
			got, err := service.call(t.Context(), "POST", "/rest/v1/rpc/nap", `{"seconds":0.7}`)
			switch {
			case err != nil:
				t.Errorf("a request in the storm: %v", err)
			case got.status == http.StatusOK:
				served.Add(1)
			case got.status == http.StatusGatewayTimeout && strings.Contains(got.body, `"PGRST003"`) && got.header.Get("Retry-After") != "":
				late.Add(1)
				raise(&slowest, int64(time.Since(began)))
			default:
				t.Errorf("a request in the storm: %d %s", got.status, got.body)
			}
		})
	}
	storm := make(chan struct{})
	go func() {
		group.Wait()
		close(storm)
	}()
	for raging := true; raging; {
		select {
		case <-storm:
			raging = false
		case <-time.After(50 * time.Millisecond):
			raise(&mostWaiting, int64(service.metric(t, "basalt_pool_waiting")))
			if got := service.health(t, "/health/live"); got.status != http.StatusOK {
				t.Errorf("/health/live in the storm: %d", got.status)
			}
			// Sign-ins have connections of their own.
			user.must(t, http.StatusOK, "GET", "/auth/v1/user", "")
		}
	}
	t.Logf("of %d requests %d were served and %d refused; at most %d waited", clients, served.Load(), late.Load(), mostWaiting.Load())
	inTime(t, "slowest refusal", time.Duration(slowest.Load()), timeout+500*time.Millisecond)
	if served.Load() < connections || late.Load() == 0 || mostWaiting.Load() > queue {
		t.Errorf("served %d, refused %d, waiting %d of %d", served.Load(), late.Load(), mostWaiting.Load(), queue)
	}
	if n := service.metric(t, "basalt_pool_waiting"); n != 0 {
		t.Errorf("%v still wait after the storm", n)
	}
	began := time.Now()
	for range 50 {
		group.Go(func() {
			if got, err := service.call(t.Context(), "GET", "/rest/v1/words?id=eq.7", ""); err != nil || got.status != http.StatusOK {
				t.Errorf("after the storm: %v %v", got, err)
			}
		})
	}
	group.Wait()
	inTime(t, "fifty reads after the storm", time.Since(began), 2*time.Second)
	var open int
	if err := database.Pool.QueryRow(t.Context(), `
		select count(*)
		from pg_stat_activity
		where datname = current_database()
		  and application_name = 'basalt'`).Scan(&open); err != nil || open > connections {
		t.Errorf("%d connections for requests, %v", open, err)
	}
	leave(t, service, database)
	if code := p.terminate(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.tail(20))
	}
}

// TestManyClientsAreServedNoSlowerThanFew reports the figures; the clients share the machine with the server.
func TestManyClientsAreServedNoSlowerThanFew(t *testing.T) {
	database := storetest.NewEmpty(t)
	s := serving{databaseURL: database.URL}
	p := serve(t, s)
	database.Exec(t, napSchema)
	c := newCaller(p.url(), readKeys(t, s).service, "")
	awaitTable(t, c, "words")
	for _, clients := range []int{10, 100, 500} {
		var served, other atomic.Int64
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(times(1, 5))*time.Second)
		defer cancel()
		var group sync.WaitGroup
		began := time.Now()
		for n := range clients {
			group.Go(func() {
				for ctx.Err() == nil {
					got, err := c.call(context.WithoutCancel(ctx), "GET", fmt.Sprintf("/rest/v1/words?id=eq.%d", 1+n), "")
					if err == nil && got.status == http.StatusOK {
						served.Add(1)
					} else {
						other.Add(1)
					}
				}
			})
		}
		group.Wait()
		if other.Load() > 0 {
			t.Errorf("%d clients: %d reads were refused", clients, other.Load())
		}
		t.Logf("%d clients: %.0f reads a second", clients, float64(served.Load())/time.Since(began).Seconds())
	}
}

// leave has clients go away: what they asked for ends in PostgreSQL as well.
func leave(t *testing.T, c *caller, database *storetest.Database) {
	t.Helper()
	napping := func() (n int) {
		if err := database.Pool.QueryRow(t.Context(), `
			select count(*)
			from pg_stat_activity
			where datname = current_database()
			  and state = 'active'
			  and wait_event = 'PgSleep'`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			if got, err := c.call(ctx, "POST", "/rest/v1/rpc/nap", `{"seconds":60}`); err == nil {
				t.Errorf("a nap ended by itself: %d %s", got.status, got.body)
			}
		})
	}
	eventually(t, "ten of them sleep", func() bool { return napping() == 10 })
	cancel()
	gone := time.Now()
	group.Wait()
	eventually(t, "nobody sleeps after its client has left", func() bool { return napping() == 0 })
	inTime(t, "end of the queries of clients that left", time.Since(gone), time.Second)
	c.must(t, http.StatusOK, "GET", "/rest/v1/words?id=eq.7", "")
}

func raise(most *atomic.Int64, value int64) {
	for {
		before := most.Load()
		if value <= before || most.CompareAndSwap(before, value) {
			return
		}
	}
}

// metric reads one number from /metrics.
func (c *caller) metric(t *testing.T, name string) float64 {
	t.Helper()
	lines := bufio.NewScanner(strings.NewReader(c.health(t, "/metrics").body))
	for lines.Scan() {
		if text, found := strings.CutPrefix(lines.Text(), name+" "); found {
			value, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return value
		}
	}
	t.Fatalf("/metrics has no %s", name)
	return 0
}
