package pgjson

import (
	"math"
	"strconv"
)

// intervalStyle is the setting IntervalStyle.
type intervalStyle byte

const (
	intervalPostgres intervalStyle = iota
	intervalVerbose
	intervalSQL
	intervalISO
)

func parseIntervalStyle(name string) (intervalStyle, error) {
	switch name {
	case "postgres":
		return intervalPostgres, nil
	case "postgres_verbose":
		return intervalVerbose, nil
	case "sql_standard":
		return intervalSQL, nil
	case "iso_8601":
		return intervalISO, nil
	default:
		return 0, &IntervalStyleError{name}
	}
}

// interval is a span with its fields in order; each has its own sign.
type interval struct {
	years, months, days, hours, minutes, seconds, micros int64
}

// splitInterval takes months and time apart, rounding towards zero.
func splitInterval(micros int64, days, months int32) interval {
	return interval{
		years:   int64(months) / 12,
		months:  int64(months) % 12,
		days:    int64(days),
		hours:   micros / (3600 * microsPerSec),
		minutes: micros / (60 * microsPerSec) % 60,
		seconds: micros / microsPerSec % 60,
		micros:  micros % microsPerSec,
	}
}

// appendInterval writes the three fields of an interval. All at their extremes mean infinity (since PostgreSQL 17).
func appendInterval(dst []byte, micros int64, days, months int32, style intervalStyle) []byte {
	switch {
	case micros == math.MaxInt64 && days == math.MaxInt32 && months == math.MaxInt32:
		return append(dst, "infinity"...)
	case micros == math.MinInt64 && days == math.MinInt32 && months == math.MinInt32:
		return append(dst, "-infinity"...)
	}
	span := splitInterval(micros, days, months)
	switch style {
	case intervalVerbose:
		return span.appendVerbose(dst)
	case intervalSQL:
		return span.appendSQL(dst)
	case intervalISO:
		return span.appendISO(dst)
	default:
		return span.appendPostgres(dst)
	}
}

func (s interval) hasTime() bool {
	return s.hours != 0 || s.minutes != 0 || s.seconds != 0 || s.micros != 0
}

func (s interval) negativeTime() bool {
	return s.hours < 0 || s.minutes < 0 || s.seconds < 0 || s.micros < 0
}

// appendPostgres writes 1 year 2 mons -3 days +04:05:06. A plus stands only behind a negative field.
func (s interval) appendPostgres(dst []byte) []byte {
	start := len(dst)
	negative := false
	unit := func(dst []byte, n int64, name string) []byte {
		if n == 0 {
			return dst
		}
		if len(dst) > start {
			dst = append(dst, ' ')
		}
		if negative && n > 0 {
			dst = append(dst, '+')
		}
		negative = n < 0
		return appendUnit(dst, n, name)
	}
	dst = unit(dst, s.years, " year")
	dst = unit(dst, s.months, " mon")
	dst = unit(dst, s.days, " day")
	if len(dst) > start && !s.hasTime() {
		return dst
	}
	if len(dst) > start {
		dst = append(dst, ' ')
	}
	switch {
	case s.negativeTime():
		dst = append(dst, '-')
	case negative:
		dst = append(dst, '+')
	}
	return s.appendClock(dst, true)
}

// appendVerbose writes @ 1 year 2 mons -3 days ago: the first field's sign goes into the word at the end.
func (s interval) appendVerbose(dst []byte) []byte {
	dst = append(dst, '@')
	start := len(dst)
	ago := false
	unit := func(dst []byte, n int64, name string) []byte {
		if n == 0 {
			return dst
		}
		if len(dst) == start {
			ago = n < 0
		}
		if ago {
			n = -n
		}
		return appendUnit(append(dst, ' '), n, name)
	}
	dst = unit(dst, s.years, " year")
	dst = unit(dst, s.months, " mon")
	dst = unit(dst, s.days, " day")
	dst = unit(dst, s.hours, " hour")
	dst = unit(dst, s.minutes, " min")
	if s.seconds != 0 || s.micros != 0 {
		negative := s.seconds < 0 || s.micros < 0
		if len(dst) == start {
			ago = negative
		}
		dst = append(dst, ' ')
		if negative != ago {
			dst = append(dst, '-')
		}
		dst = strconv.AppendUint(dst, uint64(absolute(s.seconds)), 10)
		dst = appendFraction(dst, uint(absolute(s.micros)))
		dst = append(dst, " sec"...)
		if absolute(s.seconds) != 1 || s.micros != 0 {
			dst = append(dst, 's')
		}
	}
	if len(dst) == start {
		dst = append(dst, " 0"...)
	}
	if ago {
		dst = append(dst, " ago"...)
	}
	return dst
}

// appendSQL writes 1-2, 3 4:05:06 or, when the standard has no form for it, +1-2 -3 +4:05:06.
func (s interval) appendSQL(dst []byte) []byte {
	yearMonth, dayTime := s.years != 0 || s.months != 0, s.days != 0 || s.hasTime()
	negative := s.years < 0 || s.months < 0 || s.days < 0 || s.negativeTime()
	positive := s.years > 0 || s.months > 0 || s.days > 0 ||
		s.hours > 0 || s.minutes > 0 || s.seconds > 0 || s.micros > 0
	switch {
	case !yearMonth && !dayTime:
		return append(dst, '0')
	case negative && positive || yearMonth && dayTime:
		dst = append(dst, signOf(s.years < 0 || s.months < 0))
		dst = s.appendYearMonth(dst)
		dst = append(dst, ' ', signOf(s.days < 0))
		dst = strconv.AppendInt(dst, absolute(s.days), 10)
		dst = append(dst, ' ', signOf(s.negativeTime()))
		return s.appendClock(dst, false)
	}
	if negative {
		dst = append(dst, '-')
	}
	if yearMonth {
		return s.appendYearMonth(dst)
	}
	if s.days != 0 {
		dst = strconv.AppendInt(dst, absolute(s.days), 10)
		dst = append(dst, ' ')
	}
	return s.appendClock(dst, false)
}

// appendISO writes P1Y2M-3DT4H5M6.7S.
func (s interval) appendISO(dst []byte) []byte {
	dst = append(dst, 'P')
	start := len(dst)
	dst = appendDesignated(dst, s.years, 'Y')
	dst = appendDesignated(dst, s.months, 'M')
	dst = appendDesignated(dst, s.days, 'D')
	if !s.hasTime() {
		if len(dst) == start {
			dst = append(dst, "T0S"...)
		}
		return dst
	}
	dst = append(dst, 'T')
	dst = appendDesignated(dst, s.hours, 'H')
	dst = appendDesignated(dst, s.minutes, 'M')
	if s.seconds != 0 || s.micros != 0 {
		if s.seconds < 0 || s.micros < 0 {
			dst = append(dst, '-')
		}
		dst = strconv.AppendInt(dst, absolute(s.seconds), 10)
		dst = append(appendFraction(dst, uint(absolute(s.micros))), 'S')
	}
	return dst
}

func (s interval) appendYearMonth(dst []byte) []byte {
	dst = strconv.AppendInt(dst, absolute(s.years), 10)
	return strconv.AppendInt(append(dst, '-'), absolute(s.months), 10)
}

// appendClock writes hours, minutes and seconds without sign; padded says that hours have two digits at least.
func (s interval) appendClock(dst []byte, padded bool) []byte {
	hours := absolute(s.hours)
	if padded && hours < 10 {
		dst = append(dst, '0')
	}
	dst = strconv.AppendInt(dst, hours, 10)
	dst = appendTwo(append(dst, ':'), uint(absolute(s.minutes)))
	dst = appendTwo(append(dst, ':'), uint(absolute(s.seconds)))
	return appendFraction(dst, uint(absolute(s.micros)))
}

func appendUnit(dst []byte, n int64, name string) []byte {
	dst = append(strconv.AppendInt(dst, n, 10), name...)
	if n != 1 {
		dst = append(dst, 's')
	}
	return dst
}

func appendDesignated(dst []byte, n int64, designator byte) []byte {
	if n == 0 {
		return dst
	}
	return append(strconv.AppendInt(dst, n, 10), designator)
}

func signOf(negative bool) byte {
	if negative {
		return '-'
	}
	return '+'
}

func absolute(n int64) int64 {
	if n < 0 {
		return -n
	}
	return n
}
