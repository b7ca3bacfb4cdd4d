package store

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestGateServesInTheOrderOfArrival(t *testing.T) {
	g := newGate(1, 100, time.Minute)
	if err := g.enter(t.Context()); err != nil {
		t.Fatal(err)
	}
	var order []int
	var callers sync.WaitGroup
	for i := range 20 {
		callers.Go(func() {
			if err := g.enter(t.Context()); err != nil {
				t.Error(err)
			}
			order = append(order, i) // one at a time: the gate has one place
			g.leave()
		})
		for g.queueLength() != i+1 {
			time.Sleep(100 * time.Microsecond)
		}
	}
	g.leave()
	callers.Wait()
	for i, got := range order {
		if got != i {
			t.Fatalf("served in the order %v", order)
		}
	}
	if g.free != 1 || g.waiting != 0 {
		t.Errorf("%d places are free and %d wait, want 1 and 0", g.free, g.waiting)
	}
}

func TestGateRefuses(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		name       string
		ctx        context.Context
		maxWaiting int
		want       func(error) bool
	}{
		{"when too many wait", t.Context(), 0, func(err error) bool {
			var full *PoolFullError
			return errors.As(err, &full) && full.Waited == 0
		}},
		{"after its patience", t.Context(), 1, func(err error) bool {
			var full *PoolFullError
			return errors.As(err, &full) && full.Waited == time.Millisecond
		}},
		{"one who has left", cancelled, 1, func(err error) bool { return err == context.Canceled }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			patience := time.Millisecond
			if test.ctx == cancelled {
				patience = time.Minute
			}
			g := newGate(1, test.maxWaiting, patience)
			if err := g.enter(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := g.enter(test.ctx); !test.want(err) {
				t.Errorf("got %v", err)
			}
			g.leave()
			if g.free != 1 || g.waiting != 0 {
				t.Errorf("%d places are free and %d wait, want 1 and 0", g.free, g.waiting)
			}
		})
	}
}

// TestGateLosesNoPlace lets callers give up in the moment in which they are served.
func TestGateLosesNoPlace(t *testing.T) {
	g := newGate(3, 1000, 50*time.Microsecond)
	var callers sync.WaitGroup
	for range 50 {
		callers.Go(func() {
			for range 100 {
				if g.enter(t.Context()) == nil {
					time.Sleep(10 * time.Microsecond)
					g.leave()
				}
			}
		})
	}
	callers.Wait()
	if g.free != 3 || g.waiting != 0 {
		t.Errorf("%d places are free and %d wait, want 3 and 0", g.free, g.waiting)
	}
}

func TestRefusalsComeOneAfterTheOther(t *testing.T) {
	g := newGate(1, 0, time.Minute)
	if err := g.enter(t.Context()); err != nil {
		t.Fatal(err)
	}
	g.refusing <- struct{}{} // somebody else is being refused
	refused := make(chan error, 1)
	ctx, leave := context.WithCancel(t.Context())
	go func() { refused <- g.enter(ctx) }()
	select {
	case err := <-refused:
		t.Fatalf("refused out of turn: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	leave()
	var full *PoolFullError
	if err := <-refused; !errors.As(err, &full) {
		t.Errorf("who leaves while being refused gets %v", err)
	}
	<-g.refusing
	if err := g.enter(t.Context()); !errors.As(err, &full) {
		t.Errorf("the next one gets %v", err)
	}
}

func TestNobodyWaitsLongToBeRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(1, 0, time.Minute)
		if err := g.enter(t.Context()); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		var callers sync.WaitGroup
		for range 5000 {
			callers.Go(func() {
				var full *PoolFullError
				if err := g.enter(t.Context()); !errors.As(err, &full) {
					t.Errorf("got %v", err)
				}
			})
		}
		callers.Wait()
		if took := time.Since(began); took > mostRefusalDelay+refusalPace {
			t.Errorf("the last one waited %v", took)
		}
	})
}
