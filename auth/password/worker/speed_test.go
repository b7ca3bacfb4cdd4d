//go:build linux

package worker

import (
	"testing"
	"time"

	"basalt/auth/password"
)

// BenchmarkRate is the rate of hashes when there is always one that waits: of the bare hash on all processors, and of the
// process behind a gate.
func BenchmarkRate(b *testing.B) {
	dummy := password.Recommended().Dummy()
	b.Run("bare", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				_, _ = password.Verify(dummy, secret)
			}
		})
	})
	b.Run("process", func(b *testing.B) {
		w, _ := start(b)
		gate := password.NewGate(password.GateOptions{Queue: 1 << 20, Wait: time.Minute})
		b.SetParallelism(4)
		b.ResetTimer()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if err := gate.Do(b.Context(), func() { _, _ = w.Verify(dummy, secret) }); err != nil {
					b.Error(err)
				}
			}
		})
	})
}
