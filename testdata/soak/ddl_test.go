//go:build linux

package soak_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"basalt/store/storetest"
)

const ddlSchema = `
create table items (id int primary key, n int not null, tag text);
insert into items
select id, 10 * id, 't' || id
from generate_series(1, 100) id;
create table notes (id int primary key, item int references items);
insert into notes
select id, id
from generate_series(1, 100) id;
create function f() returns int language sql stable as 'select 0';
create function g(x int) returns int language sql stable as 'select x';
`

// definitions are what a schema looks like between two changes of it.
type definitions struct {
	column string // the name of the items' third column
	extra  bool   // whether they have a fourth
	text   bool   // whether their number is a text
	away   byte   // the shape of a table that comes and goes, 0 when it is not there
	f      int    // what f gives
	g      string // the type that g takes and gives
}

// notice is a column that the catalog must come to know, or to forget.
type notice struct {
	table, column string
	gone          bool
}

// seen says that the catalog knows. A write of no rows to columns asks the catalog alone.
func (n notice) seen(t *testing.T, c *caller) bool {
	got, err := c.call(t.Context(), "POST", "/rest/v1/"+n.table+"?columns="+n.column, `[]`)
	if err != nil {
		t.Fatal(err)
	}
	return n.gone == (got.status == http.StatusBadRequest || got.status == http.StatusNotFound)
}

// change makes the definitions of the next step, with the commands that lead to them and what the catalog has to notice
// before clients can know; where PostgreSQL tells that a request is outdated, that is nothing.
func (d definitions) change(kind int) (next definitions, sql string, notices []notice) {
	next = d
	switch kind {
	case 0:
		next.extra = !d.extra
		sql = `alter table items add extra text default 'e'`
		if d.extra {
			sql = `alter table items drop extra`
		}
		notices = []notice{{"items", "extra", d.extra}}
	case 1:
		next.column = map[string]string{"tag": "label", "label": "tag"}[d.column]
		sql = fmt.Sprintf(`alter table items rename %s to %s`, d.column, next.column)
		notices = []notice{{"items", next.column, false}, {"items", d.column, true}}
	case 2:
		next.text = !d.text
		sql = `alter table items alter n type text`
		if d.text {
			sql = `alter table items alter n type int using n::int`
		}
	case 3:
		switch d.away {
		case 0:
			next.away, sql = 'a', `create table away (a int); insert into away values (1)`
			notices = []notice{{"away", "a", false}}
		case 'a':
			next.away, sql = 'b', `drop table away; create table away (b text, c int default 2); insert into away values ('x')`
		default:
			next.away, sql = 0, `drop table away`
			// A catalog that has not heard of b yet must not be taken for one that has forgotten it.
			notices = []notice{{"away", "a", true}, {"away", "b", true}}
		}
	case 4:
		next.f = d.f + 1
		sql = fmt.Sprintf(`create or replace function f() returns int language sql stable as 'select %d'`, next.f)
	default:
		next.g = map[string]string{"int": "text", "text": "int"}[d.g]
		sql = fmt.Sprintf(`drop function g(%[1]s); create function g(x %[2]s) returns %[2]s language sql stable as 'select x'`, d.g, next.g)
	}
	return next, sql, notices
}

const changeKinds = 6

// probe is a request whose answer follows from the definitions.
type probe struct {
	method, path, body string
	headers            []string
	want               func(definitions) string
}

func (d definitions) number(n int) string {
	if d.text {
		return fmt.Sprintf(`"%d"`, n)
	}
	return fmt.Sprint(n)
}

func (d definitions) item(id int) string {
	row := fmt.Sprintf(`{"id":%d,"n":%s,"%s":"t%d"`, id, d.number(10*id), d.column, id)
	if d.extra {
		row += `,"extra":"e"`
	}
	return `200 [` + row + `}]`
}

// absent is how an answer begins that a name is not there.
const absent = `400 {"code":"42703"`

// probes are requests about one item. Rows beyond the items belong to the client that makes them.
func probes(id, own int) []probe {
	get := func(path string, want func(definitions) string) probe {
		return probe{method: "GET", path: path, want: want}
	}
	always := func(text string) func(definitions) string { return func(definitions) string { return text } }
	when := func(has func(definitions) bool, text string) func(definitions) string {
		return func(d definitions) string {
			if has(d) {
				return text
			}
			return absent
		}
	}
	representation := "Prefer: return=representation"
	return []probe{
		get(fmt.Sprintf("items?id=eq.%d", id), func(d definitions) string { return d.item(id) }),
		get(fmt.Sprintf("items?select=*&n=in.(%d)", 10*id), func(d definitions) string { return d.item(id) }),
		get(fmt.Sprintf("items?select=id,extra&id=eq.%d", id), when(func(d definitions) bool { return d.extra }, fmt.Sprintf(`200 [{"id":%d,"extra":"e"}]`, id))),
		get(fmt.Sprintf("items?select=tag&tag=eq.t%d", id), when(func(d definitions) bool { return d.column == "tag" }, fmt.Sprintf(`200 [{"tag":"t%d"}]`, id))),
		get(fmt.Sprintf("items?select=label&label=eq.t%d", id), when(func(d definitions) bool { return d.column == "label" }, fmt.Sprintf(`200 [{"label":"t%d"}]`, id))),
		get(fmt.Sprintf("items?select=id,notes(id)&id=eq.%d", id), always(fmt.Sprintf(`200 [{"id":%d,"notes":[{"id":%[1]d}]}]`, id))),
		get(fmt.Sprintf("notes?select=items(*)&id=eq.%d", id), func(d definitions) string {
			return strings.ReplaceAll(strings.Replace(d.item(id), "[", `[{"items":`, 1), "}]", "}}]")
		}),
		{method: "PATCH", path: fmt.Sprintf("items?id=eq.%d", id), body: fmt.Sprintf(`{"n":%d}`, 10*id), headers: []string{representation}, want: func(d definitions) string { return d.item(id) }},
		{method: "POST", path: "items?select=id,n&order=id", headers: []string{"Prefer: return=representation, resolution=merge-duplicates"},
			body: fmt.Sprintf(`[{"id":%d,"n":5},{"id":%d,"n":6}]`, own, own+1),
			want: func(d definitions) string {
				return fmt.Sprintf("201 [{\"id\":%d,\"n\":%s},{\"id\":%d,\"n\":%s}]", own, d.number(5), own+1, d.number(6))
			}},
		{method: "DELETE", path: fmt.Sprintf("items?id=in.(%d,%d)", own, own+1), headers: []string{"Prefer: count=exact"}, want: always("204 ")},
		get("away", func(d definitions) string {
			switch d.away {
			case 'a':
				return `200 [{"a":1}]`
			case 'b':
				return `200 [{"b":"x","c":2}]`
			}
			return `404 {"code":"PGRST205"`
		}),
		{method: "POST", path: "rpc/f", want: func(d definitions) string { return fmt.Sprintf("200 %d", d.f) }},
		{method: "POST", path: "rpc/g", body: `{"x":"7"}`, want: func(d definitions) string {
			if d.g == "text" {
				return `200 "7"`
			}
			return "200 7"
		}},
	}
}

// ddl is a schema that is changed under its clients' requests.
type ddl struct {
	// moment is twice the step that holds, or one more while the next is under way.
	moment atomic.Int64
	served atomic.Int64
	mu     sync.Mutex
	steps  []definitions
}

// between gives the definitions that may have held between two moments.
func (d *ddl) between(begin, end int64) []definitions {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.steps[begin/2 : (end+1)/2+1])
}

// check sends a request and compares its answer with the definitions that held meanwhile.
func (d *ddl) check(t *testing.T, c *caller, p probe) bool {
	begin := d.moment.Load()
	got, err := c.call(t.Context(), p.method, "/rest/v1/"+p.path, p.body, p.headers...)
	if err != nil {
		t.Errorf("%s %s: %v", p.method, p.path, err)
		return false
	}
	d.served.Add(1)
	held := d.between(begin, d.moment.Load())
	answer := fmt.Sprint(got.status, " ", strings.ReplaceAll(got.body, ",\n ", ","))
	// While several things change under a request, it may have seen one of them and not the other: the columns of * are
	// those that the catalog knew, their types those of the moment.
	for _, definitions := range held {
		for _, later := range held {
			definitions.text = later.text
			if want := p.want(definitions); answer == want || strings.Contains(want, `{"code":`) && strings.HasPrefix(answer, want) {
				return true
			}
		}
	}
	if len(held) > 1 && strings.HasPrefix(answer, `404 {"code":"42P01"`) && p.path == "away" {
		return true // PostgreSQL's own words, before the catalog knows
	}
	t.Errorf("%s %s: %s\nunder %+v", p.method, p.path, answer, held)
	return false
}

func TestChangesOfTheSchemaUnderTrafficNeverShow(t *testing.T) {
	const clients, asked = 50, 150 // clients, and requests that each step is held for
	r := random(t)
	database := storetest.NewEmpty(t)
	s := serving{databaseURL: database.URL}
	p := serve(t, s)
	database.Exec(t, ddlSchema)
	service := newCaller(p.url(), readKeys(t, s).service, "")
	awaitTable(t, service, "items")

	d := &ddl{steps: []definitions{{column: "tag", g: "int"}}}
	stop := make(chan struct{})
	var group sync.WaitGroup
	for i := range clients {
		seed := r.Uint64()
		group.Go(func() {
			random := rand.New(rand.NewPCG(seed, 0))
			for {
				select {
				case <-stop:
					return
				default:
				}
				list := probes(1+random.IntN(100), 1000+2*i)
				// The client's own rows come and go together, so that merging them always inserts.
				at := random.IntN(len(list))
				if list[at].method == "DELETE" {
					continue
				}
				if !d.check(t, service, list[at]) {
					return
				}
				if list[at].method == "POST" && strings.HasPrefix(list[at].path, "items") && !d.check(t, service, list[at+1]) {
					return
				}
			}
		})
	}
	conn := connect(t, database.URL)
	var slowest time.Duration
	for range times(18, 600) {
		if t.Failed() {
			break
		}
		next, sql, notices := d.steps[len(d.steps)-1].change(r.IntN(changeKinds))
		d.mu.Lock()
		d.steps = append(d.steps, next)
		d.mu.Unlock()
		d.moment.Add(1)
		if _, err := conn.PgConn().Exec(t.Context(), sql).ReadAll(); err != nil {
			t.Errorf("%s: %v", sql, err)
			break
		}
		changed := time.Now()
		for _, n := range notices {
			eventually(t, "the catalog knows of: "+sql, func() bool { return n.seen(t, service) })
			slowest = max(slowest, time.Since(changed))
		}
		d.moment.Add(1)
		before := d.served.Load()
		eventually(t, "requests are answered", func() bool { return t.Failed() || d.served.Load() > before+asked })
	}
	close(stop)
	group.Wait()
	inTime(t, "the slowest change to be noticed", slowest, time.Second)
	t.Logf("%d requests under %d changes", d.served.Load(), len(d.steps)-1)
	if log := p.log(); strings.Contains(log, "cached plan") {
		t.Errorf("a plan was too old:\n%s", log)
	}
	service.must(t, http.StatusOK, "GET", "/rest/v1/items?limit=1", "")
}
