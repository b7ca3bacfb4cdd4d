package password

import (
	"context"
	"errors"
	"runtime"
	"runtime/metrics"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// occupy takes a slot of the gate until the given function is called.
func occupy(t *testing.T, gate *Gate) (release func()) {
	hold, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		if err := gate.Do(t.Context(), func() { <-hold }); err != nil {
			t.Error(err)
		}
	}()
	synctest.Wait()
	return func() { close(hold); <-done }
}

func TestGateNeverRunsMoreThanItsSlots(t *testing.T) {
	gate := NewGate(GateOptions{Slots: 2, Queue: 100, Wait: time.Minute})
	var running, over atomic.Int64
	var group sync.WaitGroup
	for range 50 {
		group.Go(func() {
			err := gate.Do(t.Context(), func() {
				if running.Add(1) > 2 {
					over.Add(1)
				}
				if _, err := light().Hash("x"); err != nil {
					t.Error(err)
				}
				running.Add(-1)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if over.Load() > 0 {
		t.Errorf("%d times more than two ran at once", over.Load())
	}
	if s := gate.Stats(); s != (Stats{Slots: 2, Done: 50}) {
		t.Errorf("the gate is left as %+v", s)
	}
}

func TestGateServesInTheOrderOfComing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := NewGate(GateOptions{Slots: 1, Queue: 100, Wait: time.Minute})
		release := occupy(t, gate)
		var order []int
		for i := range 10 {
			go func() {
				if err := gate.Do(t.Context(), func() { order = append(order, i) }); err != nil {
					t.Error(err)
				}
			}()
			synctest.Wait()
		}
		if s := gate.Stats(); s.Running != 1 || s.Queued != 10 {
			t.Errorf("the gate says %+v", s)
		}
		release()
		synctest.Wait()
		if len(order) != 10 || !slices.IsSorted(order) {
			t.Errorf("served in the order %v", order)
		}
	})
}

func TestGateRefusesWhatItHasNoRoomFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := NewGate(GateOptions{Slots: 1, Queue: 1, Wait: time.Minute})
		release := occupy(t, gate)
		ctx, cancel := context.WithCancel(t.Context())
		left := make(chan error, 1)
		go func() { left <- gate.Do(ctx, func() { t.Error("work of a caller who left was done") }) }()
		synctest.Wait()
		if err := gate.Do(t.Context(), func() { t.Error("refused work was done") }); !errors.Is(err, ErrBusy) {
			t.Errorf("a third caller gets %v", err)
		}
		cancel()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("who leaves gets %v", err)
		}
		release()
		if s := gate.Stats(); s != (Stats{Slots: 1, Done: 1, Refused: 1}) {
			t.Errorf("the gate is left as %+v", s)
		}
	})
}

func TestGateRefusesAfterItsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := NewGate(GateOptions{Slots: 1, Queue: 1, Wait: 3 * time.Second})
		release := occupy(t, gate)
		began := time.Now()
		if err := gate.Do(t.Context(), func() {}); !errors.Is(err, ErrBusy) {
			t.Errorf("the wait ends with %v", err)
		}
		if waited := time.Since(began); waited != 3*time.Second {
			t.Errorf("it waited %v", waited)
		}
		release()
	})
}

func TestGateIsFreeAgainAfterAPanic(t *testing.T) {
	gate := NewGate(GateOptions{Slots: 1})
	func() {
		defer func() { _ = recover() }()
		_ = gate.Do(t.Context(), func() { panic("hash") })
	}()
	if err := gate.Do(t.Context(), func() {}); err != nil {
		t.Error(err)
	}
}

func TestAFloodOfHashesDoesNotPileUpMemory(t *testing.T) {
	g := NewGate(GateOptions{Slots: 2, Wait: time.Minute})
	stop := make(chan struct{})
	var hashes, watcher sync.WaitGroup
	peak := uint64(0)
	watcher.Go(func() {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
			metrics.Read(sample)
			peak = max(peak, sample[0].Value.Uint64())
		}
	})
	runtime.GC()
	for range 30 {
		hashes.Go(func() {
			_ = g.Do(t.Context(), func() { _, _ = Recommended().Hash("correct horse battery") })
		})
	}
	hashes.Wait()
	close(stop)
	watcher.Wait()
	// Two hash, and each may find what one before it left: a collection counts as alive what ended while it ran.
	if most := uint64(5 * hashMemory); peak > most {
		t.Errorf("%d MiB are in use at once", peak>>20)
	}
}
