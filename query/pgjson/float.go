package pgjson

import (
	"bytes"
	"math"
	"math/bits"
	"strconv"
)

// appendFloat writes the shortest text that reads back as the same number, in PostgreSQL's form: an exponent
// only outside 1e-4 … 1e15 (float8) or 1e6 (float4). It returns false for NaN and the infinities, whose text
// is a word, not a number.
func appendFloat(dst []byte, f float64, size int) ([]byte, bool) {
	magnitude := math.Abs(f)
	switch {
	case math.IsNaN(f):
		return append(dst, "NaN"...), false
	case magnitude > math.MaxFloat64:
		if f < 0 {
			dst = append(dst, '-')
		}
		return append(dst, "Infinity"...), false
	case f == 0:
		if math.Signbit(f) {
			dst = append(dst, '-')
		}
		return append(dst, '0'), true
	}
	low, high := 1e-4, 1e15
	if size == 32 {
		low, high = float64(float32(1e-4)), 1e6
	}
	if magnitude < low || magnitude >= high {
		return appendScientific(dst, f, size), true
	}
	if whole := int64(f); float64(whole) == f {
		return strconv.AppendInt(dst, whole, 10), true
	}
	return strconv.AppendFloat(dst, f, 'f', -1, size), true
}

// appendScientific differs from strconv in one thing. A decimal that lies exactly half-way between two floats
// reads back as the one with the even mantissa, so strconv takes it when it is the shortest; PostgreSQL does not
// rely on how a reader rounds, and takes the shortest decimal that is strictly nearer: 1e23 is
// 9.999999999999999e+22 there.
func appendScientific(dst []byte, f float64, size int) []byte {
	start := len(dst)
	dst = strconv.AppendFloat(dst, f, 'e', -1, size)
	if !isHalfway(dst[start:], f, size) {
		return dst
	}
	for precision := significantDigits(dst[start:]); ; precision++ { // one digit more than before
		dst = strconv.AppendFloat(dst[:start], f, 'e', precision, size)
		if readsAs(dst[start:], f, size) && !isHalfway(dst[start:], f, size) {
			return dst
		}
	}
}

func readsAs(text []byte, f float64, size int) bool {
	parsed, err := strconv.ParseFloat(string(text), size)
	return err == nil && parsed == f
}

func significantDigits(text []byte) int {
	count := bytes.IndexByte(text, 'e')
	if text[0] == '-' {
		count--
	}
	if bytes.IndexByte(text, '.') >= 0 {
		count--
	}
	return count
}

// isHalfway says whether the decimal that text spells lies exactly between f and one of its neighbours. Only whole
// numbers beyond the mantissa's range can: there, decimal = odd · 2^a · 5^k, and half-way points are
// (2m±1) · 2^(e-1), so odd · 5^k has to be 2m±1 and fit a mantissa of one bit more.
func isHalfway(text []byte, f float64, size int) bool {
	precision := 53
	if size == 32 {
		precision = 24
	}
	fraction, exponent := math.Frexp(math.Abs(f))
	if exponent <= precision {
		return false
	}
	mantissa := uint64(math.Ldexp(fraction, precision)) // 2^(precision-1) ≤ mantissa < 2^precision
	exponent -= precision

	decimal, power := uint64(0), 0
	e := bytes.IndexByte(text, 'e')
	for i, c := range text[:e] {
		if c >= '0' && c <= '9' {
			decimal = decimal*10 + uint64(c-'0')
		} else if c == '.' {
			power = i + 1 - e
		}
	}
	written := 0
	for _, c := range text[e+2:] { // behind e+
		written = written*10 + int(c-'0')
	}
	power += written
	if power < 0 || decimal == 0 {
		return false
	}
	twos := bits.TrailingZeros64(decimal)
	odd := decimal >> twos
	for range power {
		high, low := bits.Mul64(odd, 5)
		if high != 0 || low > 4<<precision {
			return false
		}
		odd = low
	}
	twos += power
	if twos == exponent-1 && (odd == 2*mantissa+1 || odd == 2*mantissa-1) {
		return true
	}
	// Below a power of two the neighbour is half as far away.
	return mantissa == 1<<(precision-1) && twos == exponent-2 && odd == 4*mantissa-1
}
