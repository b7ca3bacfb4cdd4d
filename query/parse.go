package query

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Bounds of a query string. Its length is bounded at the edge; these keep what a short text can ask for small, since
// each of them multiplies the work of planning.
const (
	// maxDepth bounds nested embeds and nested and/or, and with them the recursion here and in the planner.
	maxDepth = 64
	// maxConditions bounds filters and groups together. PostgreSQL plans a thousand in milliseconds, not ten thousand.
	maxConditions = 1000
	// maxItems is below the 1,664 columns that a result of PostgreSQL may have.
	maxItems = 1000
	// maxEmbeds bounds joins: planning them grows faster than linearly.
	maxEmbeds = 100
	// maxNames is the 1,600 columns that a table of PostgreSQL may have.
	maxNames = 1600
	// maxTerms bounds sort keys.
	maxTerms = 200
	// maxLevels bounds limit, offset and order parameters: the top level and every embed.
	maxLevels = maxEmbeds + 1
	// maxSteps bounds JSON arrows; each is a bind parameter, of which the wire protocol knows 65,535.
	maxSteps = 10_000
	// maxPath bounds the arrows of one path: PostgreSQL descends them by recursion on a small stack.
	maxPath = 200
	// maxElements bounds the elements of one list.
	maxElements = 50_000
	// maxArguments is above the 100 arguments that a routine may have, so that their absence is what is reported.
	maxArguments = 200
	// maxArgumentValues bounds repeated keys for a variadic argument.
	maxArgumentValues = 10_000
)

// ParseOptions tell what a query string is read for.
type ParseOptions struct {
	// Call says that the query string goes with GET on a routine: keys may be arguments.
	Call bool
	// IsArgument says whether a value is for an argument of the routine, though it may look like a filter. Of a call
	// only; a key whose value looks like none counts as an argument in any case, so that its routine is found missing.
	IsArgument func(name, value string) bool
}

// Parse reads a query string as it stands in the URL, still percent-encoded, without the question mark.
//
// What q held before is overwritten and its memory used again, so nothing of an earlier result may be in use. Texts of
// q share the memory of raw where they need no decoding. After an error q holds nothing useful.
//
// Errors are *SyntaxError, or *RangeError for a negative limit.
func (q *Query) Parse(raw string, o ParseOptions) error {
	q.reset()
	p := parser{query: q, options: o}
	if err := p.parameters(raw); err != nil {
		return err
	}
	if err := p.settleRanges(); err != nil {
		return err
	}
	q.Shape = q.appendShape(q.Shape)
	return nil
}

// AddArguments reads a body of application/x-www-form-urlencoded as arguments of a routine, the way that GET has them
// in its query string. It comes after Parse.
func (q *Query) AddArguments(form string) error {
	p := parser{query: q, options: ParseOptions{Call: true}}
	err := eachParameter(form, func(key, value string, _ bool) error { return p.argument(key, value) })
	if err != nil {
		return err
	}
	q.Shape = q.appendShape(q.Shape[:0])
	return nil
}

func (q *Query) reset() {
	q.Select, q.HasSelect = q.Select[:0], false
	q.Where = q.Where[:0]
	q.Order = q.Order[:0]
	q.Ranges = q.Ranges[:0]
	q.Columns, q.HasColumns = nil, false
	q.OnConflict = nil
	q.Arguments = q.Arguments[:0]
	q.Values = q.Values[:0]
	q.Shape = q.Shape[:0]
}

// parser is the state of one Parse.
type parser struct {
	query   *Query
	options ParseOptions
	// What was read so far, against the bounds.
	items, embeds, conditions, terms, steps, argumentValues int
}

func (p *parser) parameters(raw string) error {
	return eachParameter(raw, func(key, value string, given bool) error {
		if !given {
			return nil
		}
		return p.parameter(key, value)
	})
}

func (p *parser) parameter(key, value string) error {
	q := p.query
	switch key { // of these the first counts
	case "select":
		if q.HasSelect {
			return nil
		}
		q.HasSelect = true
		return p.selection(value)
	case "columns":
		if q.HasColumns {
			return nil
		}
		q.HasColumns = true
		names, err := p.names("columns parameter", value)
		q.Columns = names
		return err
	case "on_conflict":
		if q.OnConflict != nil {
			return nil
		}
		names, err := p.names("on_conflict parameter", value)
		q.OnConflict = names
		return err
	}
	word := key[strings.LastIndexByte(key, '.')+1:]
	switch word {
	case "order":
		return p.ordering(key, value)
	case "limit", "offset":
		return p.rangeOf(key, word, value)
	case "and", "or":
		return p.logic(key, word, value)
	}
	return p.filter(key, value)
}

// level reads the embeds before the last word of a key such as a.b.order.
func (p *parser) level(key, word string) ([]string, error) {
	if len(key) == len(word) {
		return nil, nil
	}
	s := scanner{what: "tree path", text: key}
	var path []string
	for end := len(key) - len(word); s.pos < end; {
		name, err := s.name()
		if err != nil {
			return nil, err
		}
		if err := s.delimiter(); err != nil {
			return nil, err
		}
		path = append(path, name)
	}
	if len(path) > maxDepth {
		return nil, tooMany("levels of embedding", maxDepth)
	}
	return path, nil
}

func (p *parser) names(what, value string) ([]string, error) {
	s := scanner{what: what, text: value}
	names := make([]string, 0, 1+strings.Count(value, ","))
	for {
		name, err := s.name()
		if err != nil {
			return nil, err
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		if len(names) > maxNames {
			return nil, tooMany("columns", maxNames)
		}
		if s.done() {
			return names, nil
		}
		if !s.accept(',') {
			return nil, s.fail(`"," or end of input`)
		}
	}
}

// absent stands in a Range for what was not given until settleRanges: -1 may be given.
const absent = math.MinInt64

func (p *parser) rangeOf(key, word, value string) error {
	path, err := p.level(key, word)
	if err != nil {
		return err
	}
	q := p.query
	at := slices.IndexFunc(q.Ranges, func(r Range) bool { return slices.Equal(r.Path, path) })
	if at < 0 {
		if len(q.Ranges) == maxLevels {
			return tooMany("limits", maxLevels)
		}
		at = len(q.Ranges)
		q.Ranges = append(q.Ranges, Range{Path: path, Limit: absent, Offset: absent, LimitRef: None, OffsetRef: None})
	}
	if word == "limit" {
		q.Ranges[at].Limit = parseCount(value)
	} else {
		q.Ranges[at].Offset = parseCount(value)
	}
	return nil
}

// parseCount reads a number of rows; what is none is taken as absent, and what no table holds as the largest number.
func parseCount(text string) int64 {
	text = strings.Trim(text, " \t")
	digits := strings.TrimPrefix(text, "-")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return absent
	}
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err == nil && n != absent:
		return n
	case text[0] == '-':
		return absent + 1
	default:
		return math.MaxInt64
	}
}

// settleRanges brings limits and offsets into their final form: a negative offset takes its rows off the limit, as if
// there were rows before the first.
func (p *parser) settleRanges() error {
	q := p.query
	for i := range q.Ranges {
		r := &q.Ranges[i]
		if r.Limit != absent {
			if r.Limit < 0 {
				return negativeLimit()
			}
			if r.Offset != absent && r.Offset < 0 && r.Limit > 0 {
				if r.Limit += r.Offset; r.Limit <= 0 {
					return negativeLimit()
				}
			}
		} else {
			r.Limit = -1
		}
		if r.Offset == absent {
			r.Offset = -1
		} else {
			r.Offset = max(r.Offset, 0)
		}
		if len(r.Path) == 0 {
			continue
		}
		if r.Limit >= 0 {
			r.LimitRef = p.value(strconv.FormatInt(r.Limit, 10))
		}
		if r.Offset >= 0 {
			r.OffsetRef = p.value(strconv.FormatInt(r.Offset, 10))
		}
	}
	return nil
}

func (p *parser) argument(name, value string) error {
	q := p.query
	if p.argumentValues++; p.argumentValues > maxArgumentValues {
		return tooMany("argument values", maxArgumentValues)
	}
	at := slices.IndexFunc(q.Arguments, func(a Argument) bool { return a.Name == name })
	if at < 0 {
		if at = len(q.Arguments); at == maxArguments {
			return tooMany("arguments", maxArguments)
		}
		if at < cap(q.Arguments) { // take up the memory of an earlier query's values
			q.Arguments = q.Arguments[:at+1]
			q.Arguments[at] = Argument{Name: name, Values: q.Arguments[at].Values[:0]}
		} else {
			q.Arguments = append(q.Arguments, Argument{Name: name})
		}
	}
	q.Arguments[at].Values = append(q.Arguments[at].Values, p.value(value))
	return nil
}

// value keeps a literal and gives its place.
func (p *parser) value(text string) Ref {
	p.query.Values = append(p.query.Values, text)
	return Ref(len(p.query.Values) - 1)
}
