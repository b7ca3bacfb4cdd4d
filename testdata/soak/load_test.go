//go:build linux

package soak_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// loadSchema is what clients write to. Nothing in entries is unique but the row's own number, so that a write that was
// carried out twice shows.
const loadSchema = `
create table entries (
  id bigint generated always as identity primary key,
  client int not null,
  seq int not null,
  part int not null
);
create index on entries (client, seq);
create table registers (
  client int primary key,
  value int not null default 0,
  bumps int not null default 0
);
create table slots (
  client int,
  slot int,
  value int not null,
  primary key (client, slot)
);
alter table entries enable row level security;
alter table registers enable row level security;
alter table slots enable row level security;
create policy everybody on entries to authenticated using (true);
create policy everybody on registers to authenticated using (true);
create policy everybody on slots to authenticated using (true);
create function record(client int, seq int, parts int) returns void language sql as $$
  insert into entries (client, seq, part)
  select $1, $2, part
  from generate_series(0, $3 - 1) part
$$;
create function bump(client int) returns int language sql as $$
  update registers
  set bumps = bumps + 1
  where client = $1
  returning bumps
$$;
`

// outcome is what a client knows of a write of its own.
type outcome uint8

const (
	refused outcome = iota + 1 // an answer says that nothing was written
	unknown                    // the answer is missing, or says that the connection to PostgreSQL was lost
	acknowledged
)

// client writes and reads one request after the other and remembers what it was told. The journal is in memory: the
// kills hit the server and PostgreSQL, not the clients.
type client struct {
	*caller
	id     int
	random *rand.Rand

	seq      int
	batches  map[int]batch // of entries, by seq
	lastAck  int           // seq of the last acknowledged batch
	value    register      // of registers
	slot     register      // of all slots
	bumps    [2]int        // acknowledged and unknown
	accounts map[string]outcome

	served atomic.Int64 // when the last request began that was answered with success, in nanoseconds
}

// batch is one insert of several rows.
type batch struct {
	size    int
	outcome outcome
}

// register is a place that is overwritten: it holds what was acknowledged last, or an unknown write after that.
type register struct {
	last    int
	unknown []int
}

func (r *register) note(value int, o outcome) {
	switch o {
	case acknowledged:
		r.last, r.unknown = value, nil
	case unknown:
		r.unknown = append(r.unknown, value)
	}
}

func (r *register) mayBe(value int) bool { return value == r.last || slices.Contains(r.unknown, value) }

// load is a crowd of clients. They keep their journals from one run to the next.
type load struct {
	clients []*client
	reading bool // also read, and expect to see what was acknowledged

	mu       sync.Mutex
	counts   map[string]int
	strange  []string // answers that must not be
	longest  time.Duration
	longests string
}

// newLoad makes the clients of a running server whose database has loadSchema. Half of them are signed-in users.
func newLoad(t *testing.T, r *rand.Rand, base string, k keys, size int) *load {
	t.Helper()
	l := &load{counts: map[string]int{}}
	user, _ := newCaller(base, k.anon, "").signUp(t, "crowd@example.com")
	for id := range size {
		c := &client{
			caller: user, id: id, random: rand.New(rand.NewPCG(r.Uint64(), 0)),
			batches: map[int]batch{}, accounts: map[string]outcome{},
		}
		if id%2 == 0 {
			c.caller = newCaller(base, k.service, "")
		}
		l.clients = append(l.clients, c)
	}
	ids := make([]string, size)
	for id := range ids {
		ids[id] = fmt.Sprintf(`{"client":%d}`, id)
	}
	l.clients[0].must(t, http.StatusCreated, "POST", "/rest/v1/registers", "["+strings.Join(ids, ",")+"]")
	return l
}

// start lets the clients work until the returned function is called, which waits until none has a request under way.
func (l *load) start(t *testing.T) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	for _, c := range l.clients {
		group.Go(func() {
			for ctx.Err() == nil {
				l.step(c)
			}
		})
	}
	stopped := sync.OnceFunc(func() {
		cancel()
		group.Wait()
	})
	t.Cleanup(stopped)
	return stopped
}

// step is one request of one client.
func (l *load) step(c *client) {
	c.seq++
	switch n := c.random.IntN(100); {
	case n < 30:
		size := 1 + c.random.IntN(5)
		rows := make([]string, size)
		for part := range rows {
			rows[part] = fmt.Sprintf(`{"client":%d,"seq":%d,"part":%d}`, c.id, c.seq, part)
		}
		c.noteBatch(size, l.write(c, "insert", "POST", "/rest/v1/entries", "["+strings.Join(rows, ",")+"]"))
	case n < 45:
		size := 1 + c.random.IntN(5)
		c.noteBatch(size, l.write(c, "rpc", "POST", "/rest/v1/rpc/record", fmt.Sprintf(`{"client":%d,"seq":%d,"parts":%d}`, c.id, c.seq, size)))
	case n < 60:
		path := fmt.Sprintf("/rest/v1/registers?client=eq.%d", c.id)
		c.value.note(c.seq, l.write(c, "update", "PATCH", path, fmt.Sprintf(`{"value":%d}`, c.seq)))
	case n < 75:
		var rows []string
		for slot := range 3 {
			rows = append(rows, fmt.Sprintf(`{"client":%d,"slot":%d,"value":%d}`, c.id, slot, c.seq))
		}
		c.slot.note(c.seq, l.write(c, "upsert", "POST", "/rest/v1/slots", "["+strings.Join(rows, ",")+"]", "Prefer: resolution=merge-duplicates"))
	case n < 85:
		switch l.write(c, "bump", "POST", "/rest/v1/rpc/bump", fmt.Sprintf(`{"client":%d}`, c.id)) {
		case acknowledged:
			c.bumps[0]++
		case unknown:
			c.bumps[1]++
		}
	case n < 87 && c.id%8 == 0: // one hash costs as much as a hundred rows
		email := fmt.Sprintf("client-%d-%d@example.com", c.id, c.seq)
		c.accounts[email] = l.write(c, "signup", "POST", "/auth/v1/signup", `{"email":"`+email+`","password":"`+passphrase+`"}`)
	case n < 92 && c.token != "":
		l.send(c, "user", "GET", "/auth/v1/user", "")
	case l.reading:
		l.read(c)
	}
}

func (c *client) noteBatch(size int, o outcome) {
	c.batches[c.seq] = batch{size, o}
	if o == acknowledged {
		c.lastAck = c.seq
	}
}

// read looks for the rows that were acknowledged last.
func (l *load) read(c *client) {
	if c.lastAck == 0 {
		return
	}
	got, ok := l.send(c, "read", "GET", fmt.Sprintf("/rest/v1/entries?select=part&client=eq.%d&seq=eq.%d", c.id, c.lastAck), "")
	if want := c.batches[c.lastAck].size; ok && strings.Count(got.body, "part") != want {
		l.complain("client %d sees %s instead of its %d rows", c.id, got.body, want)
	}
}

// write sends a write and says what the client knows afterwards.
func (l *load) write(c *client, kind, method, path, body string, headers ...string) outcome {
	got, ok := l.send(c, kind, method, path, body, headers...)
	switch {
	case ok:
		return acknowledged
	case got != nil && got.status == http.StatusGatewayTimeout:
		return refused
	}
	return unknown
}

// send sends a request and judges the answer: success; 503 with a time to come again; 504 of a pool that is full. Without
// an answer there must be no server.
func (l *load) send(c *client, kind, method, path, body string, headers ...string) (*answer, bool) {
	began := time.Now()
	got, err := c.call(context.Background(), method, path, body, headers...)
	took := time.Since(began)
	name := kind + " gone"
	if err == nil {
		name = fmt.Sprintf("%s %d", kind, got.status)
	}
	l.mu.Lock()
	l.counts[name]++
	if took > l.longest {
		l.longest, l.longests = took, name
	}
	l.mu.Unlock()
	if took >= stuck {
		l.complain("%s %s is stuck: %v", method, path, err)
	}
	pause := 5 * time.Millisecond
	switch {
	case err != nil:
	case got.status < 300:
		c.served.Store(began.UnixNano())
		return got, true
	case got.status == http.StatusServiceUnavailable && got.header.Get("Retry-After") != "":
		pause *= 4
	case got.status == http.StatusGatewayTimeout && strings.Contains(got.body, "PGRST003"):
	default:
		l.complain("%s %s: %d %v %s", method, path, got.status, got.header, got.body)
	}
	time.Sleep(pause) // as a polite client, not for the test's sake
	return got, false
}

// servedName tells the counts of requests that succeeded.
func servedName(name string) bool { return strings.Contains(name, " 2") }

func (l *load) complain(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.strange = append(l.strange, fmt.Sprintf(format, args...))
}

// awaitAll waits until each client was served by a request that began after a moment, and tells how long after it.
func (l *load) awaitAll(t *testing.T, since time.Time) time.Duration {
	t.Helper()
	eventually(t, "each client is served again", func() bool {
		return !slices.ContainsFunc(l.clients, func(c *client) bool { return c.served.Load() < since.UnixNano() })
	})
	return time.Since(since)
}

// verify compares the journals with the tables.
func (l *load) verify(t *testing.T, url string) {
	t.Helper()
	conn := connect(t, url)
	l.verifyEntries(t, conn)
	l.verifyRegisters(t, conn)
	l.verifyAccounts(t, conn)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, text := range l.strange[:min(len(l.strange), 10)] {
		t.Errorf("strange answer (of %d): %s", len(l.strange), text)
	}
	if t.Failed() {
		t.FailNow()
	}
}

func (l *load) verifyEntries(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	rows, err := conn.Query(t.Context(), `select client, seq, count(*), count(distinct part) from entries group by client, seq`)
	if err != nil {
		t.Fatal(err)
	}
	type key struct{ client, seq int }
	found := map[key]int{}
	var at key
	var count, parts int
	if _, err := pgx.ForEachRow(rows, []any{&at.client, &at.seq, &count, &parts}, func() error {
		found[at] = count
		if count != parts {
			t.Errorf("client %d, batch %d: doubled (%d rows of %d parts)", at.client, at.seq, count, parts)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, c := range l.clients {
		for seq, b := range c.batches {
			count := found[key{c.id, seq}]
			whole := count == b.size
			right := b.outcome == acknowledged && whole || b.outcome == refused && count == 0 || b.outcome == unknown && (whole || count == 0)
			if !right {
				t.Errorf("client %d, batch %d of %d rows, outcome %d: %d rows are there", c.id, seq, b.size, b.outcome, count)
			}
			delete(found, key{c.id, seq})
		}
	}
	if len(found) > 0 {
		t.Errorf("rows that nobody wrote: %v", found)
	}
}

func (l *load) verifyRegisters(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	rows, err := conn.Query(t.Context(), `
		select client, registers.value, bumps, coalesce(min(slots.value), 0), coalesce(max(slots.value), 0)
		from registers
		left join slots using (client)
		group by client, registers.value, bumps`)
	if err != nil {
		t.Fatal(err)
	}
	var id, value, bumps, least, most int
	if _, err := pgx.ForEachRow(rows, []any{&id, &value, &bumps, &least, &most}, func() error {
		c := l.clients[id]
		if !c.value.mayBe(value) {
			t.Errorf("client %d: its register holds %d instead of %+v", id, value, c.value)
		}
		if bumps < c.bumps[0] || bumps > c.bumps[0]+c.bumps[1] {
			t.Errorf("client %d: bumped %d times, acknowledged %d, unknown %d", id, bumps, c.bumps[0], c.bumps[1])
		}
		if least != most || !c.slot.mayBe(least) {
			t.Errorf("client %d: its slots hold %d to %d instead of %+v", id, least, most, c.slot)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

func (l *load) verifyAccounts(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	for _, c := range l.clients {
		for email, o := range c.accounts {
			var count int
			if err := conn.QueryRow(t.Context(), `
				select count(*)
				from auth.users
				join auth.identities on user_id = users.id
				where users.email = $1`, email).Scan(&count); err != nil {
				t.Fatal(err)
			}
			if count > 1 || o == acknowledged && count != 1 {
				t.Errorf("account %s, outcome %d: %d times there", email, o, count)
			}
		}
	}
}

// expectUnavailable checks that the outages were noticed at all: somebody was told to come again.
func (l *load) expectUnavailable(t *testing.T) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for name := range l.counts {
		if strings.HasSuffix(name, " 503") {
			return
		}
	}
	t.Error("nobody was answered 503: nothing was tested")
}

// report logs how many requests ended how.
func (l *load) report(t *testing.T) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	var parts []string
	for name, count := range l.counts {
		parts = append(parts, fmt.Sprintf("%s: %d", name, count))
	}
	slices.Sort(parts)
	t.Logf("requests: %s; the longest took %s (%s)", strings.Join(parts, ", "), l.longest.Round(time.Millisecond), l.longests)
}
