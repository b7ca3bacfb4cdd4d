package query

import (
	"strconv"
	"strings"
)

// ParsePreferences reads the Prefer headers of a request, one text a header. Names and values are compared as they are
// written, as PostgREST does; blanks around them and quotes around values do not count. The first valid preference of
// a kind counts.
func ParsePreferences(headers []string) Preferences {
	p := Preferences{MaxAffected: -1}
	seen := preferencesSeen{}
	for _, header := range headers {
		for header != "" {
			var preference string
			preference, header = cutPreference(header)
			if preference = strings.TrimSpace(preference); preference != "" && !p.take(preference, &seen) {
				p.Invalid = append(p.Invalid, preference)
			}
		}
	}
	return p
}

// preferencesSeen remembers the preferences whose first value may be one that asks for nothing.
type preferencesSeen struct{ timeZone, maxAffected bool }

// cutPreference cuts at the first comma that is not in quotes.
func cutPreference(header string) (preference, rest string) {
	quoted := false
	for i := 0; i < len(header); i++ {
		switch header[i] {
		case '"':
			quoted = !quoted
		case '\\':
			if quoted {
				i++
			}
		case ',':
			if !quoted {
				return header[:i], header[i+1:]
			}
		}
	}
	return header, ""
}

// take sets what one preference asks for and says whether it is known.
func (p *Preferences) take(preference string, seen *preferencesSeen) bool {
	name, value, _ := strings.Cut(preference, "=")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if strings.HasPrefix(value, `"`) {
		if end, _ := skipQuoted(value, 0); end == len(value) {
			value = unquote(value[1 : end-1])
		}
	}
	switch name {
	case "return":
		return choose(&p.Return, value, returnNames[:])
	case "count":
		return choose(&p.Count, value, countNames[:])
	case "resolution":
		return choose(&p.Resolution, value, resolutionNames[:])
	case "missing":
		return choose(&p.Missing, value, missingNames[:])
	case "handling":
		return choose(&p.Handling, value, handlingNames[:])
	case "tx":
		return choose(&p.Transaction, value, transactionNames[:])
	case "page":
		return choose(&p.Page, value, pageNames[:])
	case "timezone":
		if !seen.timeZone {
			seen.timeZone, p.TimeZone = true, value
		}
		return true
	case "max-affected":
		if seen.maxAffected {
			return true
		}
		seen.maxAffected = true
		if n, err := strconv.ParseInt(value, 10, 64); err == nil && n >= 0 {
			p.MaxAffected = n
		}
		return true
	}
	return false
}

// The values of the preferences, each at the place of its constant.
var (
	returnNames      = [...]string{ReturnMinimal: "minimal", ReturnHeadersOnly: "headers-only", ReturnRepresentation: "representation"}
	countNames       = [...]string{CountExact: "exact", CountPlanned: "planned", CountEstimated: "estimated"}
	resolutionNames  = [...]string{MergeDuplicates: "merge-duplicates", IgnoreDuplicates: "ignore-duplicates"}
	missingNames     = [...]string{MissingNull: "null", MissingDefault: "default"}
	handlingNames    = [...]string{HandlingStrict: "strict", HandlingLenient: "lenient"}
	transactionNames = [...]string{TransactionCommit: "commit", TransactionRollback: "rollback"}
	pageNames        = [...]string{PageKeyset: "keyset"}
)

// choose sets a preference that is not set yet and says whether the value is one of its names.
func choose[T ~byte](preference *T, value string, names []string) bool {
	for i := 1; i < len(names); i++ {
		if names[i] == value {
			if *preference == 0 {
				*preference = T(i)
			}
			return true
		}
	}
	return false
}

// AppendApplied writes the value of Preference-Applied: the preferences that an action honours. conflictTarget says
// that an insert has a primary key or on_conflict to resolve by. Nothing is written when none applies. Preferences
// that the server's settings overrule are for the caller to clear.
func (p *Preferences) AppendApplied(dst []byte, action Action, conflictTarget bool) []byte {
	start := len(dst)
	add := func(name, value string) {
		if value == "" {
			return
		}
		if len(dst) > start {
			dst = append(dst, ", "...)
		}
		dst = append(append(append(dst, name...), '='), value...)
	}
	if action == Insert && conflictTarget {
		add("resolution", resolutionNames[p.Resolution])
	}
	if action == Insert || action == Update {
		add("missing", missingNames[p.Missing])
	}
	if action != Read && action != Call {
		add("return", returnNames[p.Return])
	}
	add("count", countNames[p.Count])
	if action == Read {
		add("page", pageNames[p.Page])
	}
	add("tx", transactionNames[p.Transaction])
	add("handling", handlingNames[p.Handling])
	add("timezone", p.TimeZone)
	if p.LimitsAffected(action) {
		add("max-affected", strconv.FormatInt(p.MaxAffected, 10))
	}
	return dst
}
