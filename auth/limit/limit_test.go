package limit_test

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"basalt/auth/limit"
	"basalt/store/storetest"
)

func rule(name string, most int) limit.Rule {
	return limit.Rule{Name: name, Max: most, Window: time.Hour}
}

func take(t *testing.T, l *limit.Limiter, db *storetest.Database, hits ...limit.Hit) *limit.Verdict {
	t.Helper()
	verdict, err := l.Take(t.Context(), db.Pool, hits...)
	if err != nil {
		t.Fatal(err)
	}
	return verdict
}

func TestProcessesShareTheirCounts(t *testing.T) {
	db := storetest.New(t)
	processes := []*limit.Limiter{{}, {}}
	hit := limit.Hit{Rule: rule("signup", 10), Of: "192.0.2.1"}
	for i := range 10 {
		if r := take(t, processes[i%2], db, hit).Refused(); r != nil {
			t.Fatalf("hit %d is refused", i+1)
		}
	}
	for _, process := range processes {
		r := take(t, process, db, hit).Refused()
		if r == nil {
			t.Fatal("the eleventh hit passes")
		}
		if r.RetryAfter < 59*time.Minute || r.RetryAfter > time.Hour {
			t.Errorf("the wait is %v", r.RetryAfter)
		}
	}
	if r := take(t, processes[0], db, limit.Hit{Rule: hit.Rule, Of: "192.0.2.2"}).Refused(); r != nil {
		t.Error("another address is refused with it")
	}
}

func TestHitsAtTheSameMomentAreCountedOneByOne(t *testing.T) {
	db := storetest.New(t)
	l := &limit.Limiter{}
	a, b := limit.Hit{Rule: rule("a", 20), Of: "x"}, limit.Hit{Rule: rule("b", 30), Of: "x"}
	var passedA, passedB atomic.Int64
	var group sync.WaitGroup
	for i := range 60 {
		group.Go(func() {
			hits := []limit.Hit{a, b}
			if i%2 == 0 {
				hits = []limit.Hit{b, a}
			}
			verdict, err := l.Take(t.Context(), db.Pool, hits...)
			if err != nil {
				t.Error(err)
				return
			}
			if verdict.Refused(a.Rule) == nil {
				passedA.Add(1)
			}
			if verdict.Refused(b.Rule) == nil {
				passedB.Add(1)
			}
		})
	}
	group.Wait()
	if passedA.Load() != 20 || passedB.Load() != 30 {
		t.Errorf("%d and %d passed, not 20 and 30", passedA.Load(), passedB.Load())
	}
}

func TestAWindowThatHasEndedBeginsAnew(t *testing.T) {
	db := storetest.New(t)
	l := &limit.Limiter{}
	hit := limit.Hit{Rule: rule("once", 1), Of: "x"}
	take(t, l, db, hit)
	if take(t, l, db, hit).Refused() == nil {
		t.Fatal("the second hit passes")
	}
	db.Exec(t, `update basalt.rate_limits set resets_at = now() - interval '1 second'`)
	if take(t, l, db, hit).Refused() != nil {
		t.Error("the first hit of the next window is refused")
	}
	if take(t, l, db, hit).Refused() == nil {
		t.Error("the second hit of the next window passes")
	}
}

func TestForgottenHitsDoNotCount(t *testing.T) {
	db := storetest.New(t)
	l := &limit.Limiter{}
	hit := limit.Hit{Rule: rule("once", 1), Of: "x"}
	take(t, l, db, hit)
	batch := &pgx.Batch{}
	l.Forget(batch, hit)
	if err := db.Pool.SendBatch(t.Context(), batch).Close(); err != nil {
		t.Fatal(err)
	}
	if take(t, l, db, hit).Refused() != nil {
		t.Error("a forgotten hit counts")
	}
}

func TestSweepRemovesEndedWindowsOnly(t *testing.T) {
	db := storetest.New(t)
	db.Exec(t, `
		insert into basalt.rate_limits (key, hits, resets_at)
		select 'old:' || n, 1, now() - interval '1 minute'
		from generate_series(1, 100) n`)
	l := &limit.Limiter{}
	hit := limit.Hit{Rule: rule("many", 1000), Of: "x"}
	for range 500 {
		take(t, l, db, hit)
	}
	var left int
	if err := db.Pool.QueryRow(t.Context(), `select count(*) from basalt.rate_limits`).Scan(&left); err != nil {
		t.Fatal(err)
	}
	if left != 1 {
		t.Errorf("%d windows are left", left)
	}
}

func TestNothingIsCountedWhenLimitsAreOff(t *testing.T) {
	db := storetest.New(t)
	l := &limit.Limiter{Off: true}
	for range 3 {
		if take(t, l, db, limit.Hit{Rule: rule("once", 1), Of: "x"}).Refused() != nil {
			t.Fatal("a hit is refused")
		}
	}
}

func TestTheTableHoldsNoAddresses(t *testing.T) {
	db := storetest.New(t)
	take(t, &limit.Limiter{}, db, limit.Hit{Rule: rule("signup", 1), Of: "someone@example.com"})
	var key string
	if err := db.Pool.QueryRow(t.Context(), `select key from basalt.rate_limits`).Scan(&key); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(key, "someone") || !strings.HasPrefix(key, "signup:") {
		t.Errorf("the key is %q", key)
	}
}
