//go:build linux

package soak_test

import (
	"math/rand/v2"
	"net/http"
	"syscall"
	"testing"
	"time"
)

// Bars of a managed PostgreSQL that nobody lends a hand.
const (
	readyBar   = 5 * time.Second
	recoverBar = 3 * time.Second
)

// crash is a server on its managed PostgreSQL while it is killed again and again.
type crash struct {
	*testing.T
	random  *rand.Rand
	serving serving
	process *process
	keys    keys
	load    *load

	slowestStart, slowestRecovery time.Duration
}

func TestNothingAcknowledgedIsLostWhenProcessesAreKilled(t *testing.T) {
	c := &crash{T: t, random: random(t), serving: serving{data: dataFolder(t), port: freePort(t)}}
	c.process = serve(t, c.serving)
	c.keys = readKeys(t, c.serving)
	execute(t, c.keys.databaseURL, loadSchema)
	c.awaitSchema()
	c.load = newLoad(t, c.random, c.process.url(), c.keys, 24)

	faults := []struct {
		name string
		hit  func()
	}{
		{"Basalt", c.killBasalt},
		{"the postmaster", c.killPostmaster},
		{"Basalt again", c.killBasalt},
		{"one backend", c.killBackend},
		{"both", c.killBoth},
	}
	for cycle := range times(6, 50) {
		fault := faults[cycle%len(faults)]
		stop := c.load.start(t)
		time.Sleep(time.Duration(100+c.random.IntN(700)) * time.Millisecond) // the moment of the kill is random
		t.Logf("cycle %d: kill %s", cycle, fault.name)
		fault.hit()
		stop()
		c.load.verify(t, readKeys(t, c.serving).databaseURL)
	}
	inTime(t, "slowest start after a kill", c.slowestStart, readyBar)
	inTime(t, "slowest recovery after PostgreSQL was back", c.slowestRecovery, recoverBar)
	c.load.report(t)
	c.load.expectUnavailable(t)
	if code := c.process.terminate(t); code != 0 {
		t.Errorf("exit code %d after SIGTERM", code)
	}
}

// awaitSchema waits until the server knows the tables of the load.
func (c *crash) awaitSchema() {
	c.Helper()
	awaitTable(c.T, newCaller(c.process.url(), c.keys.service, ""), "slots")
}

func awaitTable(t *testing.T, c *caller, table string) {
	t.Helper()
	eventually(t, "the schema cache knows "+table, func() bool {
		got, err := c.call(t.Context(), "GET", "/rest/v1/"+table+"?limit=1", "")
		return err == nil && got.status == http.StatusOK
	})
}

func (c *crash) killBasalt() {
	c.process.kill()
	c.restart()
}

// killBoth kills Basalt and PostgreSQL in random order.
func (c *crash) killBoth() {
	pid, err := postmaster(c.serving.data)
	if err != nil {
		c.Fatal(err)
	}
	basaltFirst := c.random.IntN(2) == 0
	if basaltFirst {
		c.process.kill()
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		c.Fatal(err)
	}
	if !basaltFirst {
		c.process.kill()
	}
	c.restart()
}

// restart starts Basalt again, which needs no hand, and finds the same keys.
func (c *crash) restart() {
	c.Helper()
	c.process = serve(c.T, c.serving)
	c.slowestStart = max(c.slowestStart, c.process.startTook())
	c.load.awaitAll(c.T, time.Now())
	if again := readKeys(c.T, c.serving); again.anon != c.keys.anon || again.service != c.keys.service || again.secret != c.keys.secret {
		c.Fatal("the keys have changed")
	}
}

func (c *crash) killPostmaster() {
	c.outage(func() int {
		pid, err := postmaster(c.serving.data)
		if err != nil {
			c.Fatal(err)
		}
		return pid
	})
}

// killBackend kills one of Basalt's own backends, for which PostgreSQL ends all others and recovers.
func (c *crash) killBackend() {
	c.outage(func() int {
		conn := connect(c.T, c.keys.databaseURL)
		var pid int
		if err := conn.QueryRow(c.Context(), `
			select pid
			from pg_stat_activity
			where application_name = 'basalt'
			  and pid <> pg_backend_pid()
			order by random()
			limit 1`).Scan(&pid); err != nil {
			c.Fatal(err)
		}
		return pid
	})
}

// outage kills one process of PostgreSQL's and sees Basalt through it: it lives on, says that it is not ready, and
// serves again by itself.
func (c *crash) outage(victim func() int) {
	c.Helper()
	pid := victim()
	witness := connect(c.T, c.keys.databaseURL)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		c.Fatal(err)
	}
	eventually(c.T, "PostgreSQL ends its connections", func() bool { return witness.Ping(c.Context()) != nil })
	probe := newCaller(c.process.url(), c.keys.anon, "")
	probe.must(c.T, http.StatusOK, "GET", "/health/live", "")
	c.keys = readKeysWhenBack(c.T, c.serving)
	back := time.Now()
	c.slowestRecovery = max(c.slowestRecovery, c.load.awaitAll(c.T, back))
	eventually(c.T, "/health/ready says so", func() bool {
		got, err := probe.call(c.Context(), "GET", "/health/ready", "")
		return err == nil && got.status == http.StatusOK
	})
	if !c.process.running() {
		c.Fatalf("basalt ended with PostgreSQL\n%s", c.process.tail(40))
	}
}

// readKeysWhenBack reads the keys as soon as PostgreSQL takes connections again.
func readKeysWhenBack(t *testing.T, s serving) keys {
	t.Helper()
	eventually(t, "PostgreSQL is back", func() bool {
		_, err := basalt(t, "", "keys", "--env", "--data", s.data)
		return err == nil
	})
	return readKeys(t, s)
}
