//go:build linux

package soak_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestAFirstStartThatIsKilledAtAnyMomentIsFinishedByTheNext kills Basalt and all of its PostgreSQL, initdb included.
func TestAFirstStartThatIsKilledAtAnyMomentIsFinishedByTheNext(t *testing.T) {
	r := random(t)
	for range times(4, 40) {
		s := serving{data: dataFolder(t), port: freePort(t)}
		var printed string
		kills := 1 + r.IntN(2)
		for range kills {
			p := launch(t, s)
			stages := stages(p, s.data)
			stage := stages[r.IntN(len(stages))]
			eventually(t, stage.name, func() bool { return stage.reached() || p.said(`"msg":"ready"`) || !p.running() })
			time.Sleep(time.Duration(r.IntN(150)) * time.Millisecond) // the moment of the kill is random
			if !p.running() {
				t.Fatalf("basalt ended by itself\n%s", p.log())
			}
			p.kill()
			killAll(t, s.data)
			said := "not ready"
			if p.anonKey != "" {
				said = "ready"
				printed = same(t, printed, p.anonKey)
			}
			t.Logf("killed after %s: %s", stage.name, said)
		}
		p := serve(t, s)
		same(t, printed, p.anonKey)
		k := readKeys(t, s)
		same(t, p.anonKey, k.anon)
		execute(t, k.databaseURL, loadSchema)
		service := newCaller(p.url(), k.service, "")
		awaitTable(t, service, "slots")
		service.must(t, http.StatusCreated, "POST", "/rest/v1/slots", `{"client":1,"slot":2,"value":3}`)
		newCaller(p.url(), k.anon, "").signUp(t, "first@example.com")
		if code := p.terminate(t); code != 0 {
			t.Errorf("exit code %d\n%s", code, p.tail(20))
		}
	}
}

// TestAStartThatFollowsAKilledOneAtOnceTakesItsPlace kills Basalt alone, which leaves PostgreSQL at any point of its
// start: two of them on the same files would destroy these.
func TestAStartThatFollowsAKilledOneAtOnceTakesItsPlace(t *testing.T) {
	r := random(t)
	s := serving{data: dataFolder(t), port: freePort(t)}
	p := serve(t, s)
	k := readKeys(t, s)
	execute(t, k.databaseURL, loadSchema)
	for range times(12, 300) {
		p.kill()
		p = launch(t, s)
		eventually(t, "the lock", func() bool { return p.said("start") || !p.running() })
		time.Sleep(time.Duration(r.IntN(120)) * time.Millisecond) // the moment of the kill is random
		if !p.running() {
			t.Fatalf("basalt ended by itself\n%s", p.log())
		}
	}
	p.kill()
	p = serve(t, s)
	if got := newCaller(p.url(), k.service, "").must(t, http.StatusOK, "GET", "/rest/v1/slots", ""); got.body != "[]" {
		t.Errorf("the table holds %s", got.body)
	}
	if code := p.terminate(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.tail(20))
	}
	if left := processesIn(t, s.data); len(left) > 0 {
		t.Errorf("PostgreSQL outlived Basalt: %v", left)
	}
}

// stage is something that a first start reaches.
type stage struct {
	name    string
	reached func() bool
}

func stages(p *process, data string) []stage {
	exists := func(name string) func() bool {
		return func() bool {
			_, err := os.Stat(filepath.Join(data, name))
			return err == nil
		}
	}
	logged := func(text string) func() bool { return func() bool { return p.said(text) } }
	return []stage{
		{"the start", func() bool { return true }},
		{"the lock", exists("basalt.lock")},
		{"the beginning of initdb", exists("postgres.new/postgres")},
		{"the end of initdb", exists("postgres")},
		{"the start of PostgreSQL", exists("postgres/postmaster.pid")},
		{"PostgreSQL being ready", logged("PostgreSQL is ready")},
		{"the first migration", logged("0001_")},
		{"the fourth migration", logged("0004_")},
		{"the last migration", logged("0101_")},
		{"the catalog", logged("loaded the catalog")},
		{"being ready", logged(`"msg":"ready"`)},
	}
}

// same refuses another key than the one that was printed before, if one was.
func same(t *testing.T, before, now string) string {
	t.Helper()
	if before != "" && now != before {
		t.Fatalf("the key that was printed, %s, has become %s", before, now)
	}
	return now
}
