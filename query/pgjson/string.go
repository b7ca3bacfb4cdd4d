package pgjson

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

const hexDigits = "0123456789abcdef"

// AppendString writes a JSON string the way PostgreSQL does: only ", \ and characters below 0x20 are escaped.
func AppendString(dst []byte, s string) []byte {
	return appendString(dst, unsafe.Slice(unsafe.StringData(s), len(s)))
}

func appendString(dst, s []byte) []byte {
	dst = append(dst, '"')
	for {
		run := plainRun(s)
		dst = append(dst, s[:run]...)
		if run == len(s) {
			return append(dst, '"')
		}
		dst = appendEscape(dst, s[run])
		s = s[run+1:]
	}
}

// The bytes 0x01…, 0x20…, 0x22… ("), 0x5c… (\) and 0x80… in each of a word's eight lanes.
const (
	eachOne       = 0x0101010101010101
	eachSpace     = 0x2020202020202020
	eachQuote     = 0x2222222222222222
	eachBackslash = 0x5c5c5c5c5c5c5c5c
	eachHigh      = 0x8080808080808080
)

// plainRun counts the leading bytes that need no escape. It looks at eight at a time: a lane's high bit is set
// when the byte is below 0x20 or, xored with " or \, zero. Borrows only disturb lanes above a true hit, so
// the lowest hit is always right.
func plainRun(s []byte) int {
	i := 0
	for ; len(s)-i >= 8; i += 8 {
		word := binary.LittleEndian.Uint64(s[i:])
		quote, backslash := word^eachQuote, word^eachBackslash
		hits := ((word-eachSpace)&^word | (quote-eachOne)&^quote | (backslash-eachOne)&^backslash) & eachHigh
		if hits != 0 {
			return i + bits.TrailingZeros64(hits)/8
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c == '"' || c == '\\' {
			return i
		}
	}
	return i
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	default:
		return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
	}
}
