package pgjson

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

// sampleType is a type with a way to make values of it in the binary format.
type sampleType struct {
	sql   string
	oid   uint32
	value func(r *rand.Rand) []byte
}

func pick[T any](r *rand.Rand, values ...T) T { return values[r.IntN(len(values))] }

func be16(n int16) []byte { return binary.BigEndian.AppendUint16(nil, uint16(n)) }
func be32(n int32) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }
func be64(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }

// anyInt gives numbers of all magnitudes, and the extremes often.
func anyInt(r *rand.Rand) int64 {
	switch r.IntN(4) {
	case 0:
		return pick[int64](r, 0, 1, -1, math.MaxInt64, math.MinInt64, math.MaxInt32, math.MinInt32, math.MaxInt16, math.MinInt16)
	default:
		return int64(r.Uint64()) >> r.IntN(64)
	}
}

func anyFloat64(r *rand.Rand) float64 {
	switch r.IntN(6) {
	case 0:
		return pick(r, 0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64,
			math.SmallestNonzeroFloat64, 1e15, 999999999999999.9, 1e-4, 9.999999999999999e-05, 0.1, 1e23, 123456)
	case 1:
		return math.Float64frombits(r.Uint64() & (1<<52 - 1)) // subnormal
	case 2:
		return float64(anyInt(r)) / pick(r, 1.0, 10, 100, 1000)
	case 3:
		return math.Ldexp(1, r.IntN(2100)-1075)
	default:
		return math.Float64frombits(r.Uint64())
	}
}

func anyFloat32(r *rand.Rand) float32 {
	switch r.IntN(6) {
	case 0:
		return float32(pick(r, 0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat32,
			math.SmallestNonzeroFloat32, 1e6, 999999.94, 1e-4, 9.9999e-05, 0.1, 1e23))
	case 1:
		return math.Float32frombits(r.Uint32() & (1<<23 - 1))
	case 2:
		return float32(anyInt(r)) / pick[float32](r, 1, 10, 100)
	case 3:
		return float32(math.Ldexp(1, r.IntN(300)-160))
	default:
		return math.Float32frombits(r.Uint32())
	}
}

// halfwayFloats gives floats that lie beside a short decimal which is exactly half-way to their neighbour.
func halfwayFloats(r *rand.Rand, precision, maxExponent int) []float64 {
	power := 1 + r.IntN(precision*43/100-1)
	five := uint64(1)
	for range power {
		five *= 5
	}
	low := (uint64(1)<<precision)/five + 1
	odd := (low + r.Uint64N(low)) | 1
	halves := odd * five
	if halves>>(precision+1) != 0 {
		return nil
	}
	exponent := power + r.IntN(maxExponent-precision-power)
	return []float64{math.Ldexp(float64(halves/2), exponent), math.Ldexp(float64(halves/2+1), exponent)}
}

func anyNumeric(r *rand.Rand) []byte {
	head := func(digits, weight int, sign uint16, scale int) []byte {
		out := binary.BigEndian.AppendUint16(nil, uint16(digits))
		out = binary.BigEndian.AppendUint16(out, uint16(int16(weight)))
		out = binary.BigEndian.AppendUint16(out, sign)
		return binary.BigEndian.AppendUint16(out, uint16(scale))
	}
	switch r.IntN(12) {
	case 0:
		return head(0, 0, pick[uint16](r, numericNaN, numericInfinity, numericNegativeInfinity), 0)
	case 1:
		return head(0, 0, 0, r.IntN(5))
	}
	digits, weight, scale := 1+r.IntN(6), r.IntN(8)-3, r.IntN(12)
	if r.IntN(20) == 0 {
		digits, weight, scale = 1+r.IntN(60), r.IntN(80)-40, r.IntN(1001)
	}
	if r.IntN(1000) == 0 {
		digits, weight, scale = 100, 32767, pick(r, 0, 16383) // 131072 digits before the point
	}
	out := head(digits, weight, pick[uint16](r, numericPositive, numericNegative), scale)
	for range digits {
		out = append(out, be16(int16(pick(r, 0, 1, 10, 100, 1000, 9999, r.IntN(10000))))...)
	}
	return out
}

const controlCharacters = "\x01\x02\x07\b\t\n\v\f\r\x1b\x1f\x7f"

func anyText(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(pick(r, 2, 12, 40)) {
		switch r.IntN(8) {
		case 0:
			b.WriteByte(controlCharacters[r.IntN(len(controlCharacters))])
		case 1:
			b.WriteString(pick(r, `"`, `\`, `\u0041`, `/`, `,`, `{`, `}`, `(`, `)`, " ", "'", "NULL", "null", "<", "&"))
		case 2:
			b.WriteString(pick(r, "é", "ß", "日本", "😀", "\u2028", "\u00a0", "\ufeff", "\U0010ffff", "e\u0301"))
		default:
			b.WriteByte(byte(0x20 + r.IntN(0x5f)))
		}
	}
	return b.String()
}

// anyJSON never spells the character 0, which PostgreSQL refuses when it has to write a string anew.
func anyJSON(r *rand.Rand, depth int) string {
	space := func() string { return pick(r, "", "", "", " ", "\n\t", "\r\n  ") }
	kind := r.IntN(8)
	if depth == 0 {
		kind = r.IntN(5)
	}
	switch kind {
	case 0:
		return pick(r, "null", "true", "false")
	case 1:
		return pick(r, "0", "-0", "1e10", "1E-5", "-12.50", "123456789012345678901234567890", "0.1e+3")
	case 2:
		return "null"
	case 3, 4:
		return pick(r, `""`, `"a"`, `"\u0041\u00e9"`, `"\ud83d\ude00"`, `"\/\\\"\b\f\n\r\t"`, `"\u001f\u0022\u005C"`,
			`"日本"`, "\"\x7f\"", `"null"`, string(AppendString(nil, anyText(r))))
	case 5:
		var b strings.Builder
		b.WriteString("[" + space())
		for i := range r.IntN(4) {
			if i > 0 {
				b.WriteString("," + space())
			}
			b.WriteString(anyJSON(r, depth-1) + space())
		}
		return b.String() + "]"
	default:
		var b strings.Builder
		b.WriteString("{" + space())
		for i := range r.IntN(5) {
			if i > 0 {
				b.WriteString("," + space())
			}
			key := pick(r, `"a"`, `"b"`, `"\u0063"`, `"d d"`, `""`)
			b.WriteString(key + space() + ":" + space() + anyJSON(r, depth-1) + space())
		}
		return b.String() + "}"
	}
}

const (
	earliestDay = -2_451_545 + 38 // 4713-01-01 BC and a little more
	latestDay   = 2_145_031_948   // 5874897-12-31
)

func anyDay(r *rand.Rand) int32 {
	switch r.IntN(5) {
	case 0:
		return pick[int32](r, math.MaxInt32, math.MinInt32, 0, -730_120, -730_119, -730_121, earliestDay, latestDay,
			59, 60, -10_957)
	case 1:
		return earliestDay + r.Int32N(latestDay-earliestDay)/pick[int32](r, 1, 1000)
	default:
		return r.Int32N(200_000) - 100_000
	}
}

func anyMoment(r *rand.Rand) int64 {
	switch r.IntN(6) {
	case 0:
		return pick[int64](r, math.MaxInt64, math.MinInt64, 0, -1, 1, earliestMicros, latestMicros-1, -63082281600000000,
			-63082281600000001, microsPerDay-1, -microsPerDay)
	case 1:
		return earliestMicros + int64(r.Uint64N(latestMicros-earliestMicros))
	case 2:
		return (r.Int64N(7_000_000_000) - 4_000_000_000) * microsPerSec // whole seconds from 1873 to 2095
	default:
		unit := pick[int64](r, 1, 10, 1000, 100_000)
		return (r.Int64N(7_000_000_000) - 4_000_000_000) * microsPerSec / unit * unit
	}
}

func anyTimeOfDay(r *rand.Rand) int64 {
	if r.IntN(4) == 0 {
		return pick[int64](r, 0, 1, microsPerDay, microsPerDay-1, microsPerSec, 100_000)
	}
	unit := pick[int64](r, 1, 10, 1000, microsPerSec)
	return r.Int64N(microsPerDay) / unit * unit
}

// anyInterval gives no infinity, which is an interval since PostgreSQL 17 only.
func anyInterval(r *rand.Rand) []byte {
	micros := pick[int64](r, 0, anyInt(r), r.Int64N(2*microsPerDay)-microsPerDay, r.Int64N(200*microsPerSec)-100*microsPerSec,
		microsPerSec, -microsPerSec, 1, -1, 60*microsPerSec, -3600*microsPerSec)
	days := pick[int32](r, 0, int32(anyInt(r)), r.Int32N(60)-30, 1, -1)
	months := pick[int32](r, 0, int32(anyInt(r)), r.Int32N(60)-30, 1, -1, 12, -12)
	if uint32(days)-math.MaxInt32 < 2 && uint32(months)-math.MaxInt32 < 2 {
		micros >>= 1
	}
	return append(append(be64(micros), be32(days)...), be32(months)...)
}

// shortInterval leaves out what PostgreSQL 14 cannot write: more hours than an int32 holds, and the least number of
// days, before which it puts two signs.
func shortInterval(r *rand.Rand) []byte {
	for {
		value := anyInterval(r)
		hours := int64(binary.BigEndian.Uint64(value)) / (3600 * microsPerSec)
		if days := int32(binary.BigEndian.Uint32(value[8:])); hours == int64(int32(hours)) && days != math.MinInt32 {
			return value
		}
	}
}

func anyOrInfiniteInterval(r *rand.Rand) []byte {
	switch r.IntN(20) {
	case 0:
		return append(append(be64(math.MaxInt64), be32(math.MaxInt32)...), be32(math.MaxInt32)...)
	case 1:
		return append(append(be64(math.MinInt64), be32(math.MinInt32)...), be32(math.MinInt32)...)
	default:
		return anyInterval(r)
	}
}

func anyBytes(r *rand.Rand, n int) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(r.Uint32())
	}
	return out
}

// newestMajor is the newest PostgreSQL whose values are known here.
const newestMajor = 18

// scalarTypes are all native types that are not made of others, with the values that a major version can have and write.
func scalarTypes(major int) []sampleType {
	char := func(r *rand.Rand) []byte { return anyBytes(r, 1) }
	interval := anyInterval
	switch {
	case major < 15:
		// It writes the bytes from 0x80 on as they are, which is no UTF-8 and so no JSON.
		char = func(r *rand.Rand) []byte { return []byte{byte(r.IntN(0x80))} }
		interval = shortInterval
	case major >= 17:
		interval = anyOrInfiniteInterval
	}
	text := func(r *rand.Rand) []byte { return []byte(anyText(r)) }
	return []sampleType{
		{"boolean", 16, func(r *rand.Rand) []byte { return []byte{byte(r.IntN(2))} }},
		{"bytea", 17, func(r *rand.Rand) []byte { return anyBytes(r, r.IntN(20)) }},
		{`"char"`, 18, char},
		{"name", 19, func(r *rand.Rand) []byte {
			return []byte(anyText(r)[:0] + strconv.Itoa(r.Int()) + pick(r, "", `"\`, " ,"))
		}},
		{"bigint", 20, func(r *rand.Rand) []byte { return be64(anyInt(r)) }},
		{"smallint", 21, func(r *rand.Rand) []byte { return be16(int16(anyInt(r))) }},
		{"integer", 23, func(r *rand.Rand) []byte { return be32(int32(anyInt(r))) }},
		{"text", 25, text},
		{"oid", 26, func(r *rand.Rand) []byte { return be32(int32(anyInt(r))) }},
		{"xid", 28, func(r *rand.Rand) []byte { return be32(int32(anyInt(r))) }},
		{"json", 114, func(r *rand.Rand) []byte { return []byte(anyJSON(r, 3)) }},
		{"xml", 142, func(r *rand.Rand) []byte {
			return []byte(pick(r, "<a/>", `<a b="c">d &amp; é</a>`, `<?xml version="1.0"?><a/>`,
				`<?xml version="1.1" standalone="yes"?><a> </a>`, "text\n\t"))
		}},
		{"real", 700, func(r *rand.Rand) []byte { return be32(int32(math.Float32bits(anyFloat32(r)))) }},
		{"double precision", 701, func(r *rand.Rand) []byte { return be64(int64(math.Float64bits(anyFloat64(r)))) }},
		{"bpchar", 1042, text},
		{"varchar", 1043, text},
		{"date", 1082, func(r *rand.Rand) []byte { return be32(anyDay(r)) }},
		{"time", 1083, func(r *rand.Rand) []byte { return be64(anyTimeOfDay(r)) }},
		{"timestamp", 1114, func(r *rand.Rand) []byte { return be64(anyMoment(r)) }},
		{"timestamptz", 1184, func(r *rand.Rand) []byte { return be64(anyMoment(r)) }},
		{"interval", 1186, interval},
		{"timetz", 1266, func(r *rand.Rand) []byte {
			zone := pick[int32](r, 0, r.Int32N(2*maxTimeOffset-1)-maxTimeOffset+1, (r.Int32N(30)-15)*3600, (r.Int32N(60)-30)*1800)
			return append(be64(anyTimeOfDay(r)), be32(zone)...)
		}},
		{"numeric", 1700, anyNumeric},
		{"uuid", 2950, func(r *rand.Rand) []byte { return anyBytes(r, 16) }},
		{"jsonb", 3802, func(r *rand.Rand) []byte { return append([]byte{jsonbVersion}, anyJSON(r, 3)...) }},
	}
}

// nullable puts the value's length before it, -1 for the NULL that every tenth is.
func nullable(r *rand.Rand, dst []byte, t sampleType) []byte {
	if r.IntN(10) == 0 {
		return append(dst, be32(-1)...)
	}
	value := t.value(r)
	return append(append(dst, be32(int32(len(value)))...), value...)
}

// arrayOf makes arrays with up to three dimensions, which do not always begin at 1.
func arrayOf(elem sampleType, oid uint32) sampleType {
	return sampleType{elem.sql + "[]", oid, func(r *rand.Rand) []byte {
		dimensions := pick(r, 0, 1, 1, 1, 2, 3)
		out := append(append(be32(int32(dimensions)), be32(1)...), be32(int32(elem.oid))...)
		count := 1
		if dimensions == 0 {
			return out
		}
		for range dimensions {
			length := 1 + r.Int32N(3)
			count *= int(length)
			out = append(append(out, be32(length)...), be32(pick[int32](r, 1, 1, 1, 0, -2, 7))...)
		}
		for range count {
			out = nullable(r, out, elem)
		}
		return out
	}}
}

// recordOf makes values of a composite type.
func recordOf(sql string, oid uint32, fields ...sampleType) sampleType {
	return sampleType{sql, oid, func(r *rand.Rand) []byte {
		out := be32(int32(len(fields)))
		for _, field := range fields {
			out = nullable(r, append(out, be32(int32(field.oid))...), field)
		}
		return out
	}}
}
