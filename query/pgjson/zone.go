package pgjson

import (
	"math"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // the machine may have no zone files
)

// LoadZone gives the time zone that PostgreSQL means by a name: that of a zone file (Asia/Kolkata) or else a POSIX
// specification (<+0530>-05:30, EST5EDT,M3.2.0,M11.1.0), which is what a bare offset becomes there. It reads
// files: remember what it gives.
//
// Daylight saving by a POSIX rule begins a day early or late before 1970, as far back as that has a meaning.
func LoadZone(name string) (*time.Location, error) {
	if name != "" && name != "Local" { // names that Go, not PostgreSQL, gives a meaning
		if zone, err := time.LoadLocation(name); err == nil {
			return zone, nil
		}
	}
	return parsePOSIXZone(name)
}

// zone finds the offset at a moment. It may be used by many goroutines at once.
type zone struct {
	location *time.Location
	fixed    bool
	shift    int32 // of a fixed zone

	once       sync.Once
	spans      []zoneSpan
	start, end int64 // the seconds that the spans cover, end excluded
}

// zoneSpan begins at a second and ends where the next one begins.
type zoneSpan struct {
	start  int64
	offset int32
}

func newZone(location *time.Location) *zone {
	z := &zone{location: location}
	now := time.Unix(0, 0).In(location)
	if start, end := now.ZoneBounds(); start.IsZero() && end.IsZero() {
		_, offset := now.Zone()
		z.fixed, z.shift = true, int32(offset)
	}
	return z
}

// offset gives the seconds east of UTC at a Unix time.
func (z *zone) offset(unix int64) int32 {
	if z.fixed {
		return z.shift
	}
	z.once.Do(z.tabulate)
	if unix < z.start || unix >= z.end {
		_, offset := time.Unix(unix, 0).In(z.location).Zone()
		return int32(offset)
	}
	spans := z.spans
	low, high := 0, len(spans)
	for high-low > 1 {
		if middle := int(uint(low+high) / 2); spans[middle].start <= unix {
			low = middle
		} else {
			high = middle
		}
	}
	return spans[low].offset
}

// The table's bounds, for zones that change twice a year for ever.
const (
	tabulatedFrom  = -5_364_662_400 // 1800-01-01, before the first zone
	tabulatedUntil = 2_240_524_800  // 2041-01-01
)

// tabulate lists the zone's changes, since asking the time package anew for every value costs several times
// what writing it does.
func (z *zone) tabulate() {
	at := time.Unix(tabulatedFrom, 0).In(z.location)
	z.start, z.end = tabulatedFrom, tabulatedUntil
	if first, _ := at.ZoneBounds(); first.IsZero() {
		z.start = math.MinInt64
	}
	for start := z.start; ; {
		if _, offset := at.Zone(); len(z.spans) == 0 || z.spans[len(z.spans)-1].offset != int32(offset) {
			z.spans = append(z.spans, zoneSpan{start, int32(offset)})
		}
		next, ok := nextChange(at)
		if !ok {
			z.end = math.MaxInt64
			return
		}
		if next.Unix() >= tabulatedUntil {
			return
		}
		start, at = next.Unix(), next
	}
}

// nextChange gives a moment up to which the zone's offset stays the same; ok is false when it does for ever. Where
// a rule decides, the time package gives the end of the year as such a moment too, and on the last day of leap
// years one that is past already.
func nextChange(at time.Time) (next time.Time, ok bool) {
	_, next = at.ZoneBounds()
	if !next.IsZero() && !next.After(at) {
		next = at.Add(24 * time.Hour)
	}
	return next, !next.IsZero()
}

// parsePOSIXZone reads a TZ specification as PostgreSQL does: names may be empty, and offsets count westwards.
func parsePOSIXZone(name string) (*time.Location, error) {
	rest, ok := skipZoneName(name)
	if !ok {
		return nil, &ZoneError{name}
	}
	standard, rest, ok := cutOffset(rest)
	if !ok {
		return nil, &ZoneError{name}
	}
	offset, ok := parseOffset(standard)
	if !ok {
		return nil, &ZoneError{name}
	}
	if rest == "" {
		return time.FixedZone(name, -offset), nil
	}
	if rest, ok = skipZoneName(rest); !ok {
		return nil, &ZoneError{name}
	}
	// The time package knows the rules of daylight saving only as the last line of a zone file.
	rule := "<STD>" + standard + "<DST>" + rest
	if !strings.Contains(rest, ",") {
		rule += ",M3.2.0,M11.1.0"
	}
	zone, err := time.LoadLocationFromTZData(name, zoneFile(-offset, rule))
	if err != nil {
		return nil, &ZoneError{name}
	}
	// Rules that it cannot read it passes over when it is asked for a time.
	if _, changes := nextChange(time.Unix(0, 0).In(zone)); !changes {
		return nil, &ZoneError{name}
	}
	return zone, nil
}

// skipZoneName cuts <anything> or the text up to a digit, a sign or a comma.
func skipZoneName(spec string) (rest string, ok bool) {
	if strings.HasPrefix(spec, "<") {
		_, rest, ok = strings.Cut(spec, ">")
		return rest, ok
	}
	end := strings.IndexAny(spec, "0123456789+-,")
	if end < 0 {
		return "", true
	}
	return spec[end:], true
}

func cutOffset(spec string) (offset, rest string, ok bool) {
	rest = strings.TrimLeft(spec, "0123456789+-:")
	offset = spec[:len(spec)-len(rest)]
	return offset, rest, offset != ""
}

// parseOffset reads [+-]h[h][:mm[:ss]] as seconds.
func parseOffset(text string) (seconds int, ok bool) {
	sign := 1
	switch text[0] {
	case '-':
		sign, text = -1, text[1:]
	case '+':
		text = text[1:]
	}
	unit := 3600
	for part := range strings.SplitSeq(text, ":") {
		number := 0
		if part == "" || len(part) > 3 || unit == 0 {
			return 0, false
		}
		for _, c := range []byte(part) {
			if c < '0' || c > '9' {
				return 0, false
			}
			number = number*10 + int(c-'0')
		}
		if unit == 3600 && number > 167 || unit < 3600 && number > 59 {
			return 0, false
		}
		seconds += number * unit
		unit /= 60
	}
	return sign * seconds, true
}

// zoneFile makes a version 2 zone file (RFC 8536) that has one type of local time and a rule for all times.
func zoneFile(offset int, rule string) []byte {
	const (
		types = 1
		chars = 4 // "STD" and its zero
	)
	header := func(file []byte) []byte {
		file = append(file, "TZif2"...)
		file = append(file, make([]byte, 15)...)
		// Counts of UT/local indicators, standard/wall indicators, leap seconds, transitions, types, characters.
		for _, count := range []byte{0, 0, 0, 0, types, chars} {
			file = append(file, 0, 0, 0, count)
		}
		file = append(file, byte(offset>>24), byte(offset>>16), byte(offset>>8), byte(offset))
		return append(file, 0, 0, 'S', 'T', 'D', 0) // no daylight saving, the name's index, the names
	}
	file := header(header(nil)) // the 32-bit part that version 1 has, then the 64-bit part
	file = append(file, '\n')
	file = append(file, rule...)
	return append(file, '\n')
}
