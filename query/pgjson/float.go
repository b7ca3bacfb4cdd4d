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
	format := byte('f')
	if magnitude < low || magnitude >= high {
		format = 'e'
	} else if whole := int64(f); float64(whole) == f {
		return strconv.AppendInt(dst, whole, 10), true
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, f, format, -1, size)
	return settleShortest(dst, start, f, format, size), true
}

// settleShortest turns strconv's shortest decimal, which begins at start, into PostgreSQL's. They differ in two
// rare cases, both of decimals that are exactly between two others.
//
// A decimal half-way between two floats reads back as the one with the even mantissa, so strconv may take it;
// PostgreSQL does not rely on how a reader rounds, and takes the shortest decimal that is strictly nearer:
// 1e23 is 9.999999999999999e+22. And where a float lies half-way between two shortest decimals, PostgreSQL
// takes the one whose last digit is even.
func settleShortest(dst []byte, start int, f float64, format byte, size int) []byte {
	b := binaryOf(f, size)
	if b.exponent+bits.TrailingZeros64(b.mantissa) < -maxTiePlaces {
		return dst // such a float has more decimals than either case allows
	}
	if d := decimalOf(dst[start:]); b.isHalfway(d) {
		for precision := d.digits(); ; precision++ { // one digit more than before
			dst = strconv.AppendFloat(dst[:start], f, format, precision, size)
			if readsAs(dst[start:], f, size) && !b.isHalfway(decimalOf(dst[start:])) {
				break
			}
		}
	}
	d := decimalOf(dst[start:])
	if d.coefficient%2 == 0 {
		return dst
	}
	above := exactly(b.mantissa, b.exponent, 10*d.coefficient+5, d.power-1)
	if !above && !exactly(b.mantissa, b.exponent, 10*d.coefficient-5, d.power-1) {
		return dst
	}
	last := len(dst) - 1
	if format == 'e' {
		last = start + bytes.IndexByte(dst[start:], 'e') - 1
	}
	digit := dst[last]
	if above {
		dst[last]++
	} else {
		dst[last]--
	}
	if !readsAs(dst[start:], f, size) || b.isHalfway(decimalOf(dst[start:])) {
		dst[last] = digit
	}
	return dst
}

// maxTiePlaces is the number of fractional bits that a float may have whose decimal is not longer than a uint64:
// each bit takes a factor of 5.
const maxTiePlaces = 27

func readsAs(text []byte, f float64, size int) bool {
	parsed, err := strconv.ParseFloat(string(text), size)
	return err == nil && parsed == f
}

// binaryFloat is mantissa · 2^exponent.
type binaryFloat struct {
	mantissa uint64
	exponent int
	lowest   uint64 // the mantissa that powers of two have
}

func binaryOf(f float64, size int) binaryFloat {
	if size == 32 {
		word := math.Float32bits(float32(f))
		return newBinary(uint64(word&(1<<23-1)), int(word>>23&0xff), 1<<23, -150)
	}
	word := math.Float64bits(f)
	return newBinary(word&(1<<52-1), int(word>>52&0x7ff), 1<<52, -1075)
}

func newBinary(fraction uint64, exponent int, implicit uint64, bias int) binaryFloat {
	if exponent == 0 {
		return binaryFloat{fraction, 1 + bias, implicit}
	}
	return binaryFloat{fraction | implicit, exponent + bias, implicit}
}

// isHalfway says whether a decimal lies exactly between the float and one of its neighbours.
func (b binaryFloat) isHalfway(d decimalFloat) bool {
	return exactly(2*b.mantissa+1, b.exponent-1, d.coefficient, d.power) ||
		exactly(2*b.mantissa-1, b.exponent-1, d.coefficient, d.power) ||
		// Below a power of two the neighbour is half as far away.
		b.mantissa == b.lowest && exactly(4*b.mantissa-1, b.exponent-2, d.coefficient, d.power)
}

// decimalFloat is coefficient · 10^power.
type decimalFloat struct {
	coefficient uint64
	power       int
}

// decimalOf reads what strconv has written, without the sign.
func decimalOf(text []byte) (d decimalFloat) {
	fraction := false
	for i, c := range text {
		switch {
		case c >= '0' && c <= '9':
			d.coefficient = d.coefficient*10 + uint64(c-'0')
			if fraction {
				d.power--
			}
		case c == '.':
			fraction = true
		case c == 'e':
			power := 0
			for _, c := range text[i+2:] {
				power = power*10 + int(c-'0')
			}
			if text[i+1] == '-' {
				power = -power
			}
			d.power += power
			return d
		}
	}
	return d
}

func (d decimalFloat) digits() (n int) {
	for c := d.coefficient; c > 0; c /= 10 {
		n++
	}
	return n
}

// exactly says whether mantissa · 2^exponent = coefficient · 10^power: the odd factors and the powers of two of both
// have to be the same.
func exactly(mantissa uint64, exponent int, coefficient uint64, power int) bool {
	binaryTwos, decimalTwos := bits.TrailingZeros64(mantissa), bits.TrailingZeros64(coefficient)
	if exponent+binaryTwos != power+decimalTwos {
		return false
	}
	binary, decimal := mantissa>>binaryTwos, coefficient>>decimalTwos
	smaller, larger := decimal, binary
	if power < 0 {
		smaller, larger, power = binary, decimal, -power
	}
	for ; power > 0 && smaller <= larger; power-- {
		high, low := bits.Mul64(smaller, 5)
		if high != 0 {
			return false
		}
		smaller = low
	}
	return power == 0 && smaller == larger
}
