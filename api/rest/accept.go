package rest

import (
	"sort"
	"strconv"
	"strings"

	"basalt/query/sql"
)

// accepted is one media range that a client accepts.
type accepted struct {
	name     string // type/subtype in small letters
	text     string // as it came, without parameters
	stripped bool   // nulls=stripped
	plan     *explained
	quality  float64
	// special rates ranges of one quality: parameters count for, stars against a range (RFC 9110 §12.5.1).
	special int
}

// explained is a wish for the plan of the request instead of its answer.
type explained struct {
	options sql.ExplainOptions
	of      accepted // the media type whose answer is explained
}

// accepts reads the Accept headers: what is wanted most comes first, what is refused is left out. Nil stands for JSON
// or whatever there is, which is what nearly all requests ask for.
func accepts(header []string) ([]accepted, error) {
	if len(header) == 0 || len(header) == 1 && (header[0] == anything || header[0] == "application/json") {
		return nil, nil
	}
	list := make([]accepted, 0, 4)
	for _, line := range header {
		for line != "" {
			var element string
			element, line = cutUnquoted(line, ',')
			if element = strings.TrimSpace(element); element == "" {
				continue
			}
			if a := parseRange(element); a.quality > 0 {
				list = append(list, a)
			}
		}
	}
	if len(list) == 0 {
		return nil, notAcceptable(strings.Join(header, ", "))
	}
	sort.SliceStable(list, func(i, j int) bool {
		if list[i].quality != list[j].quality {
			return list[i].quality > list[j].quality
		}
		return list[i].special > list[j].special
	})
	return list, nil
}

// anything is the range of all media types.
const anything = "*/*"

// parseRange reads one media range. What cannot be read of its parameters is ignored.
func parseRange(element string) accepted {
	name, rest := cutUnquoted(element, ';')
	text := strings.TrimSpace(name)
	a := accepted{name: strings.ToLower(text), text: text, quality: 1, special: -strings.Count(name, "*")}
	of, options := "application/json", ""
	for rest != "" {
		var parameter string
		parameter, rest = cutUnquoted(rest, ';')
		key, value, found := strings.Cut(parameter, "=")
		if !found {
			continue
		}
		value = strings.Trim(strings.TrimSpace(value), `"`)
		switch strings.ToLower(strings.TrimSpace(key)) {
		case "q":
			if q, err := strconv.ParseFloat(value, 64); err == nil {
				a.quality = q
			}
			continue
		case "nulls":
			a.stripped = value == "stripped"
		case "for":
			of = value
		case "options":
			options = value
		}
		a.special++
	}
	if minor, found := strings.CutPrefix(a.name, "application/vnd.pgrst.plan"); found && (minor == "" || minor == "+json" || minor == "+text") {
		a.plan = readExplained(of, options)
		a.plan.options.JSON = minor == "+json"
	}
	return a
}

// mediaType is the range as answers name it.
func (a *accepted) mediaType() string {
	switch {
	case a.plan != nil:
		return a.plan.mediaType()
	case a.isObject() && a.stripped:
		return "application/vnd.pgrst.object+json;nulls=stripped"
	case a.isObject():
		return "application/vnd.pgrst.object+json"
	case a.isArray() && a.stripped:
		return "application/vnd.pgrst.array+json;nulls=stripped"
	case a.isArray():
		return "application/json"
	}
	return a.text
}

func (a *accepted) isObject() bool {
	return a.name == "application/vnd.pgrst.object+json" || a.name == "application/vnd.pgrst.object"
}

func (a *accepted) isArray() bool {
	return a.name == "application/vnd.pgrst.array+json" || a.name == "application/vnd.pgrst.array"
}

// mediaType names the plan's media type with what it was asked for.
func (e *explained) mediaType() string {
	format := "text"
	if e.options.JSON {
		format = "json"
	}
	text := "application/vnd.pgrst.plan+" + format + `; for="` + e.of.mediaType() + `"`
	separator := "; options="
	for i, set := range [...]bool{e.options.Analyze, e.options.Verbose, e.options.Settings, e.options.Buffers, e.options.WAL} {
		if set {
			text += separator + [...]string{"analyze", "verbose", "settings", "buffers", "wal"}[i]
			separator = "|"
		}
	}
	return text
}

// readExplained reads the parameters of a plan's media type.
func readExplained(of, options string) *explained {
	e := &explained{of: parseRange(of)}
	for option := range strings.SplitSeq(options, "|") {
		switch option {
		case "analyze":
			e.options.Analyze = true
		case "verbose":
			e.options.Verbose = true
		case "settings":
			e.options.Settings = true
		case "buffers":
			e.options.Buffers = true
		case "wal":
			e.options.WAL = true
		}
	}
	return e
}

// cutUnquoted cuts a text at the first separator outside of quotes.
func cutUnquoted(text string, separator byte) (before, after string) {
	quoted := false
	for i := range len(text) {
		switch {
		case text[i] == '"':
			quoted = !quoted
		case text[i] == separator && !quoted:
			return text[:i], text[i+1:]
		}
	}
	return text, ""
}
