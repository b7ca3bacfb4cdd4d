package pgjson

import (
	"encoding/binary"
	"strconv"
)

// The sign field of a numeric, which also marks the values that are no number.
const (
	numericPositive         = 0x0000
	numericNegative         = 0x4000
	numericNaN              = 0xc000
	numericInfinity         = 0xd000
	numericNegativeInfinity = 0xf000

	maxNumericScale = 0x3fff
)

// digitPairs holds 00 to 99.
const digitPairs = "00010203040506070809" +
	"10111213141516171819" +
	"20212223242526272829" +
	"30313233343536373839" +
	"40414243444546474849" +
	"50515253545556575859" +
	"60616263646566676869" +
	"70717273747576777879" +
	"80818283848586878889" +
	"90919293949596979899"

// numericWord gives the word for a numeric that is no number, "" for the others.
func numericWord(v []byte) string {
	switch binary.BigEndian.Uint16(v[4:]) {
	case numericNaN:
		return "NaN"
	case numericInfinity:
		return "Infinity"
	case numericNegativeInfinity:
		return "-Infinity"
	default:
		return ""
	}
}

// validNumeric checks the header (digit count, weight, sign, scale: two bytes each) and the base-10000 digits.
func validNumeric(v []byte) bool {
	if len(v) < 8 || len(v) != 8+2*int(binary.BigEndian.Uint16(v)) || binary.BigEndian.Uint16(v[6:]) > maxNumericScale {
		return false
	}
	switch binary.BigEndian.Uint16(v[4:]) {
	case numericPositive, numericNegative, numericNaN, numericInfinity, numericNegativeInfinity:
	default:
		return false
	}
	for i := 8; i < len(v); i += 2 {
		if binary.BigEndian.Uint16(v[i:]) > 9999 {
			return false
		}
	}
	return true
}

// appendNumeric writes a valid numeric that is a number, with as many decimals as its scale says.
func appendNumeric(dst, v []byte) []byte {
	weight := int(int16(binary.BigEndian.Uint16(v[2:]))) // of the first digit, in powers of 10000
	scale := int(binary.BigEndian.Uint16(v[6:]))
	if binary.BigEndian.Uint16(v[4:]) == numericNegative {
		dst = append(dst, '-')
	}
	digits := v[8:]
	if weight < 0 {
		dst = append(dst, '0')
	} else {
		first, rest := nextNumericDigit(digits)
		for ; first == 0 && weight > 0; weight-- { // never sent, but JSON has no leading zeros
			first, rest = nextNumericDigit(rest)
		}
		dst = strconv.AppendUint(dst, uint64(first), 10)
		digits = rest
		for range weight {
			var digit uint
			digit, digits = nextNumericDigit(digits)
			dst = appendFour(dst, digit)
		}
	}
	if scale == 0 {
		return dst
	}
	dst = append(dst, '.')
	end := len(dst) + scale
	for place := -1; len(dst) < end; place-- {
		var digit uint
		if place <= weight {
			digit, digits = nextNumericDigit(digits)
		}
		dst = appendFour(dst, digit)
	}
	return dst[:end]
}

// nextNumericDigit takes the next digit; trailing zeros are not stored.
func nextNumericDigit(digits []byte) (digit uint, rest []byte) {
	if len(digits) < 2 {
		return 0, nil
	}
	return uint(digits[0])<<8 | uint(digits[1]), digits[2:]
}

// appendFour writes a number below 10000 with four digits.
func appendFour(dst []byte, n uint) []byte {
	high, low := n/100%100*2, n%100*2
	return append(dst, digitPairs[high], digitPairs[high+1], digitPairs[low], digitPairs[low+1])
}

// appendTwo writes a number below 100 with two digits.
func appendTwo(dst []byte, n uint) []byte {
	n = n % 100 * 2
	return append(dst, digitPairs[n], digitPairs[n+1])
}
