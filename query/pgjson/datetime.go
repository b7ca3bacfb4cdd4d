package pgjson

import (
	"math"
	"strconv"
)

// PostgreSQL counts dates in days and timestamps in microseconds from 2000-01-01.
const (
	secondsPerDay  = 86_400
	microsPerSec   = 1_000_000
	microsPerDay   = secondsPerDay * microsPerSec
	unixEpochDays  = 10_957 // from 1970-01-01 to 2000-01-01
	unixEpochSecs  = unixEpochDays * secondsPerDay
	dateInfinity   = math.MaxInt32
	dateNegative   = math.MinInt32
	stampInfinity  = math.MaxInt64
	stampNegative  = math.MinInt64
	earliestMicros = -211_813_488_000_000_000 // 4714-11-24 BC
	latestMicros   = 9_223_371_331_200_000_000

	maxTimeOffset = 16 * 3600 // exclusive, of a timetz
)

// dateStyle is the form of a timestamp: what stands between date and time.
type dateStyle byte

const (
	jsonStyle dateStyle = 'T' // as XML Schema has it, offsets always with minutes: 2026-01-02T03:04:05+00:00
	textStyle dateStyle = ' ' // DateStyle ISO: 2026-01-02 03:04:05+00
)

// appendDate writes a count of days.
func appendDate(dst []byte, days int32) []byte {
	switch days {
	case dateInfinity:
		return append(dst, "infinity"...)
	case dateNegative:
		return append(dst, "-infinity"...)
	}
	dst, before := appendDay(dst, int64(days))
	return appendEra(dst, before)
}

// appendTimestamp writes microseconds without a zone. It returns false outside PostgreSQL's range.
func appendTimestamp(dst []byte, micros int64, style dateStyle) ([]byte, bool) {
	if dst, ok := appendEndless(dst, micros); ok {
		return dst, true
	}
	if micros < earliestMicros || micros >= latestMicros {
		return dst, false
	}
	dst, before := appendMoment(dst, micros, style)
	return appendEra(dst, before), true
}

// appendTimestampTZ writes microseconds as the zone's local time with its offset.
func appendTimestampTZ(dst []byte, micros int64, z *zone, style dateStyle) ([]byte, bool) {
	if dst, ok := appendEndless(dst, micros); ok {
		return dst, true
	}
	if micros < earliestMicros || micros >= latestMicros {
		return dst, false
	}
	offset := z.offset(floorDiv(micros, microsPerSec) + unixEpochSecs)
	dst, before := appendMoment(dst, micros+int64(offset)*microsPerSec, style)
	dst = appendOffset(dst, offset, style == jsonStyle)
	return appendEra(dst, before), true
}

func appendEndless(dst []byte, micros int64) ([]byte, bool) {
	switch micros {
	case stampInfinity:
		return append(dst, "infinity"...), true
	case stampNegative:
		return append(dst, "-infinity"...), true
	default:
		return dst, false
	}
}

func appendMoment(dst []byte, micros int64, style dateStyle) (_ []byte, before bool) {
	days := floorDiv(micros, microsPerDay)
	dst, before = appendDay(dst, days)
	dst = append(dst, byte(style))
	return appendTime(dst, uint64(micros-days*microsPerDay)), before
}

// appendDay writes year, month and day of a count of days; before says that the year is one before Christ.
// The year begins in March here, so that the leap day is its last (the algorithm is due to Howard Hinnant).
func appendDay(dst []byte, days int64) (_ []byte, before bool) {
	const (
		daysPerEra  = 146_097 // 400 years
		marchOfZero = 719_468 // days from 0000-03-01 to 1970-01-01
	)
	days += unixEpochDays + marchOfZero
	era := floorDiv(days, daysPerEra)
	dayOfEra := uint(days - era*daysPerEra)
	yearOfEra := (dayOfEra - dayOfEra/1460 + dayOfEra/36_524 - dayOfEra/146_096) / 365
	dayOfYear := dayOfEra - (365*yearOfEra + yearOfEra/4 - yearOfEra/100)
	shifted := (5*dayOfYear + 2) / 153 // 0 is March
	day := dayOfYear - (153*shifted+2)/5 + 1
	month := shifted + 3
	year := int64(yearOfEra) + era*400
	if month > 12 {
		month -= 12
		year++
	}
	if year <= 0 { // there is no year 0: 1 BC comes before 1 AD
		before = true
		year = 1 - year
	}
	if year < 10_000 {
		dst = appendFour(dst, uint(year))
	} else {
		dst = strconv.AppendInt(dst, year, 10)
	}
	m, d := month%100*2, day%100*2
	return append(dst, '-', digitPairs[m], digitPairs[m+1], '-', digitPairs[d], digitPairs[d+1]), before
}

func appendEra(dst []byte, before bool) []byte {
	if before {
		return append(dst, " BC"...)
	}
	return dst
}

// appendTime writes microseconds since midnight; 24:00:00 is a time too.
func appendTime(dst []byte, micros uint64) []byte {
	seconds := uint(micros / microsPerSec)
	h, m, s := seconds/3600%100*2, seconds/60%60*2, seconds%60*2
	dst = append(dst,
		digitPairs[h], digitPairs[h+1], ':', digitPairs[m], digitPairs[m+1], ':', digitPairs[s], digitPairs[s+1])
	return appendFraction(dst, uint(micros%microsPerSec))
}

// appendFraction writes microseconds behind a point without trailing zeros, nothing for zero.
func appendFraction(dst []byte, micros uint) []byte {
	if micros == 0 {
		return dst
	}
	high, middle, low := micros/10_000%100*2, micros/100%100*2, micros%100*2
	dst = append(dst, '.', digitPairs[high], digitPairs[high+1],
		digitPairs[middle], digitPairs[middle+1], digitPairs[low], digitPairs[low+1])
	for dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	return dst
}

// appendOffset writes seconds east of UTC as ±hh, with minutes and seconds where they are not zero.
func appendOffset(dst []byte, offset int32, minutes bool) []byte {
	sign := byte('+')
	if offset < 0 {
		sign = '-'
		offset = -offset
	}
	h, m, s := uint(offset)/3600, uint(offset)/60%60, uint(offset)%60
	dst = appendTwo(append(dst, sign), h)
	if m != 0 || s != 0 || minutes {
		dst = appendTwo(append(dst, ':'), m)
	}
	if s != 0 {
		dst = appendTwo(append(dst, ':'), s)
	}
	return dst
}

// floorDiv divides by a positive number and rounds down.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
