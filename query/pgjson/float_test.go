package pgjson

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// TestFloatsThatLieBetweenDecimals looks for the two cases in which PostgreSQL's shortest decimal is not strconv's.
func TestFloatsThatLieBetweenDecimals(t *testing.T) {
	conn := openDatabase(t)
	s := &session{"UTC", "postgres"}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 2))
	neighbours := func(f float64) []float64 {
		return []float64{f, -f, math.Nextafter(f, 0), math.Nextafter(f, math.Inf(1))}
	}
	var doubles, singles [][]byte
	double := func(floats ...float64) {
		for _, f := range floats {
			doubles = append(doubles, be64(int64(math.Float64bits(f))))
		}
	}
	single := func(floats ...float64) {
		for _, f := range floats {
			singles = append(singles, be32(int32(math.Float32bits(float32(f)))))
		}
	}
	for exponent := -1075; exponent < 1024; exponent++ {
		double(neighbours(math.Ldexp(1, exponent))...)
	}
	for exponent := -150; exponent < 128; exponent++ {
		f := float32(math.Ldexp(1, exponent))
		single(float64(f), float64(math.Nextafter32(f, 0)), float64(math.Nextafter32(f, math.MaxFloat32)))
	}
	for range 10_000 {
		double(halfwayFloats(r, 53, 1000)...)
		single(halfwayFloats(r, 24, 120)...)
		places := 1 + r.IntN(30) // few fractional bits: the decimal is short enough to be half-way to another
		double(math.Ldexp(float64(r.Uint64()>>(11+r.IntN(53))|1), -places))
		single(math.Ldexp(float64(r.Uint32()>>(8+r.IntN(24))|1), -places))
		double(float64(r.Uint64()>>r.IntN(64)) * math.Pow10(r.IntN(12)))
		single(float64(r.Uint64()>>r.IntN(64)) * math.Pow10(r.IntN(5)))
	}
	compareValues(t, conn, s, sampleType{sql: "double precision", oid: 701}, doubles)
	compareValues(t, conn, s, sampleType{sql: "real", oid: 700}, singles)
}
