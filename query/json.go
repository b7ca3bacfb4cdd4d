package query

import (
	"strconv"
	"unicode/utf8"
)

const (
	// maxJSONDepth bounds the recursion over a body; PostgreSQL's own parser gives up in the same region.
	maxJSONDepth = 1000
	// minCells is how many cells a body may ask for whatever its length. Beyond it there may be as many as the body
	// has bytes: rows that lack nearly all of many columns= would otherwise ask for far more memory than they sent.
	minCells = 1 << 20
	// fewKeys is up to where comparing one by one is faster than hashing.
	fewKeys = 16
)

// JSONOptions tell which JSON bodies are taken.
type JSONOptions struct {
	// Columns are the keys that count (columns=), the only ones and in this order; nil for all that the body has.
	Columns []string
	// Ragged allows rows that lack keys which others have. Columns imply it.
	Ragged bool
	// Any allows every JSON value, as calls do. Only an object is taken apart then: Single tells that it was one.
	Any bool
}

// ReadJSON takes a JSON body apart: one object, or an array of objects with the same keys. A key that occurs twice in
// an object has its last value, as in PostgreSQL's json_populate_record. A value that is neither is taken for an empty
// array, as PostgREST does. Cells are tokens of body. Errors are *BodyError.
func ReadJSON(body []byte, o JSONOptions) (*Payload, error) {
	if !utf8.Valid(body) {
		return nil, &BodyError{Code: CodeBody, Message: invalidJSON, Details: "The body is not valid UTF-8."}
	}
	r := jsonReader{scan: jsonScanner{text: body}, Payload: Payload{Format: JSON, Keys: o.Columns, Raw: body}, fixed: o.Columns != nil}
	if o.Ragged && !r.fixed && !o.Any {
		if err := r.collectKeys(); err != nil {
			return nil, err
		}
	}
	return r.read(o.Any)
}

const invalidJSON = "Empty or invalid json"

// jsonReader fills a payload from a JSON body.
type jsonReader struct {
	Payload
	scan  jsonScanner
	index map[string]int // of Keys, once there are many
	fixed bool           // the keys are given: others are skipped, and rows may lack some
}

func (r *jsonReader) read(whole bool) (*Payload, error) {
	s := &r.scan
	s.space()
	var err error
	switch {
	case s.peek() == '{':
		r.Single = true
		err = r.row()
	case s.peek() == '[' && !whole:
		err = r.array()
	default:
		err = s.value(0)
	}
	if err == nil {
		err = s.end()
	}
	if err != nil {
		return nil, r.inRow(err)
	}
	return &r.Payload, nil
}

// inRow names the row that an error is about.
func (r *jsonReader) inRow(err error) error {
	if e, ok := err.(*BodyError); ok && r.scan.row > 0 {
		e.Row = r.scan.row
		e.Details = "Row " + strconv.Itoa(e.Row) + ": " + e.Details
	}
	return err
}

// eachRow goes over the elements of the array that the text stands at.
func (r *jsonReader) eachRow(row func() error) error {
	s := &r.scan
	s.pos++
	if s.space(); s.accept(']') {
		return nil
	}
	for {
		s.row++
		if s.space(); s.peek() != '{' {
			if err := s.value(1); err != nil { // what is no JSON at all is worse
				return err
			}
			return &BodyError{Code: CodeBody, Message: mismatchedKeys, Details: "It is not an object."}
		}
		if err := row(); err != nil {
			return err
		}
		s.space()
		switch {
		case s.accept(','):
		case s.accept(']'):
			s.row = 0
			return nil
		default:
			return s.unexpected()
		}
	}
}

const mismatchedKeys = "All object keys must match"

func (r *jsonReader) array() error {
	return r.eachRow(func() error {
		start := r.scan.pos
		if err := r.row(); err != nil {
			return err
		}
		if r.Rows == 1 {
			r.reserve(len(r.scan.text)-start, r.scan.pos-start)
		}
		return nil
	})
}

// row reads an object into a row of cells.
func (r *jsonReader) row() error {
	first := len(r.Cells)
	if err := r.addRow(); err != nil {
		return err
	}
	given := 0
	guess := 0 // the place of the next key, if this row spells them in the order of the first
	err := r.scan.members(func(key []byte, escaped bool) error {
		at := r.find(key, escaped, guess)
		if at < 0 && !r.fixed {
			if r.Rows > 1 {
				return &BodyError{Code: CodeBody, Message: mismatchedKeys, Details: "The first object lacks its key " + strconv.Quote(shorten(string(key))) + "."}
			}
			at = r.addKey(key, escaped)
		}
		token, err := r.scan.cell()
		if err != nil || at < 0 {
			return err
		}
		if r.Cells[first+at] == nil {
			given++
		}
		r.Cells[first+at] = token
		guess = at + 1
		return nil
	})
	if err != nil {
		return err
	}
	if given < len(r.Keys) {
		if !r.fixed {
			return &BodyError{Code: CodeBody, Message: mismatchedKeys, Details: "It lacks keys of the first object."}
		}
		r.Ragged = true
	}
	return nil
}

// addRow makes room for a row of the keys that are known.
func (r *jsonReader) addRow() error {
	r.Rows++
	n := len(r.Cells) + len(r.Keys)
	if r.fixed && n > max(minCells, len(r.scan.text)) {
		return &BodyError{Code: CodeBody, Message: "Too many rows for so many columns", Details: "Most of the keys are absent; name fewer in columns."}
	}
	for len(r.Cells) < n {
		r.Cells = append(r.Cells, nil)
	}
	return nil
}

// find gives the place of a key, -1 when it is unknown.
func (r *jsonReader) find(key []byte, escaped bool, guess int) int {
	if escaped {
		key = appendUnescaped(nil, key)
	}
	if guess < len(r.Keys) && r.Keys[guess] == string(key) {
		return guess
	}
	if len(r.Keys) > fewKeys {
		if len(r.index) != len(r.Keys) {
			r.buildIndex()
		}
		if at, ok := r.index[string(key)]; ok {
			return at
		}
		return -1
	}
	for i := range r.Keys {
		if r.Keys[i] == string(key) {
			return i
		}
	}
	return -1
}

func (r *jsonReader) buildIndex() {
	if r.index == nil {
		r.index = make(map[string]int, len(r.Keys))
	}
	for i := len(r.index); i < len(r.Keys); i++ {
		r.index[r.Keys[i]] = i
	}
}

// addKey adds a key of the first row.
func (r *jsonReader) addKey(key []byte, escaped bool) int {
	if escaped {
		key = appendUnescaped(nil, key)
	}
	r.Keys = append(r.Keys, string(key))
	r.Cells = append(r.Cells, nil)
	return len(r.Keys) - 1
}

// collectKeys goes over the body once for the keys of all rows, and then begins anew with these given.
func (r *jsonReader) collectKeys() error {
	s := &r.scan
	if s.space(); s.peek() == '[' {
		err := r.eachRow(func() error {
			guess := 0
			return s.members(func(key []byte, escaped bool) error {
				at := r.find(key, escaped, guess)
				if at < 0 {
					at = len(r.Keys)
					if escaped {
						key = appendUnescaped(nil, key)
					}
					r.Keys = append(r.Keys, string(key))
				}
				guess = at + 1
				_, err := s.cell()
				return err
			})
		})
		if err != nil {
			return r.inRow(err)
		}
		r.fixed = true
	}
	s.pos, s.row = 0, 0
	return nil
}
