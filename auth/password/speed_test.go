package password

import (
	"testing"

	"golang.org/x/crypto/argon2"
)

// BenchmarkBareHash is what nothing can be faster than: the library alone.
func BenchmarkBareHash(b *testing.B) {
	p, salt := Recommended(), make([]byte, saltLength)
	b.ReportAllocs()
	for b.Loop() {
		argon2.IDKey([]byte("correct horse battery"), salt, p.Passes, p.MemoryKiB, p.Lanes, keyLength)
	}
}

// BenchmarkTwoLanes is what was decided against: see the package's documentation.
func BenchmarkTwoLanes(b *testing.B) {
	p, salt := Recommended(), make([]byte, saltLength)
	b.ReportAllocs()
	for b.Loop() {
		argon2.IDKey([]byte("correct horse battery"), salt, p.Passes, p.MemoryKiB, 2, keyLength)
	}
}

// BenchmarkVerify is what hashes of other systems cost.
func BenchmarkVerify(b *testing.B) {
	for _, c := range []struct{ name, stored string }{
		{"bcrypt10", "$2a$10$qpN89lxA7hU71KlCq35QCe5LrD7jAn7BQJjQL/a.4GW2uBCiA/U0q"},
		{"firebase", "$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==$42xEC+ixf3L2lw==$lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ=="},
		{"pbkdf2-600k", "$pbkdf2-sha256$i=600000$c29tZXNhbHQ$98jZicV16ODfEsEZeYPGHU3kbrUrvUEXOPimVSQDD44"},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Verify(c.stored, "correct horse battery"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkGate is the rate of hashes when there is always one that waits, collections of their memory included.
func BenchmarkGate(b *testing.B) {
	gate, p := NewGate(GateOptions{Queue: 1 << 20}), Recommended()
	dummy := p.Dummy()
	b.SetParallelism(4)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := gate.Do(b.Context(), func() { _, _ = Verify(dummy, "correct horse battery") }); err != nil {
				b.Error(err)
			}
		}
	})
}

func BenchmarkBareRate(b *testing.B) {
	dummy := Recommended().Dummy()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			_, _ = Verify(dummy, "correct horse battery")
		}
	})
}

func BenchmarkPolicy(b *testing.B) {
	policy := Policy{}
	b.ReportAllocs()
	for b.Loop() {
		if w := policy.Check("velvet rope of another colour"); w != nil {
			b.Fatal(w)
		}
	}
}
