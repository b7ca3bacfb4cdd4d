package query

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

const (
	invalidCSV = "Empty or invalid csv"
	raggedCSV  = "All lines must have same number of fields"
)

// ReadCSV takes a CSV body (RFC 4180) apart. The first line names the keys; when a name occurs twice its last field
// counts. Lines end in LF, CR LF or CR, blank ones do not count. The field NULL is NULL, an empty one the empty text.
// Fields are parts of body where no quote in them is doubled. Errors are *BodyError.
func ReadCSV(body []byte) (*Payload, error) {
	text := bytes.TrimPrefix(body, []byte("\ufeff")) // spreadsheets write a byte order mark
	if err := checkBody(text); err != nil {
		return nil, err
	}
	r := csvReader{text: text}
	header, err := r.header()
	if err != nil {
		return nil, err
	}
	p := &Payload{Format: CSV, Raw: body}
	places := make([]int, len(header)) // of each field among the keys
	index := make(map[string]int, len(header))
	for i, name := range header {
		at, ok := index[string(name)]
		if !ok {
			at = len(p.Keys)
			index[string(name)] = at
			p.Keys = append(p.Keys, string(name))
		}
		places[i] = at
	}
	for r.skipBlankLines(); r.pos < len(r.text); r.skipBlankLines() {
		start := r.pos
		if err := r.line(p, places); err != nil {
			return nil, err
		}
		if p.Rows == 1 {
			p.reserve(len(r.text)-start, r.pos-start)
		}
	}
	return p, nil
}

// checkBody refuses what PostgreSQL can not hold as text.
func checkBody(text []byte) error {
	if !utf8.Valid(text) {
		return &BodyError{Code: CodeBody, Message: "The body is not valid UTF-8"}
	}
	if bytes.IndexByte(text, 0) >= 0 {
		return &BodyError{Code: "22021", Message: `invalid byte sequence for encoding "UTF8": 0x00`}
	}
	return nil
}

// csvReader walks over CSV text.
type csvReader struct {
	text []byte
	pos  int
	row  int // the line that is read, from 1 behind the header
}

func (r *csvReader) header() ([][]byte, error) {
	r.skipBlankLines()
	if r.pos == len(r.text) {
		return nil, &BodyError{Code: CodeBody, Message: invalidCSV, Details: "There is no header line."}
	}
	var names [][]byte
	for {
		name, last, err := r.field()
		if err != nil {
			return nil, err
		}
		if names = append(names, name); last {
			return names, nil
		}
	}
}

// line reads one row into cells.
func (r *csvReader) line(p *Payload, places []int) error {
	r.row++
	p.Rows++
	first := len(p.Cells)
	for range p.Keys {
		p.Cells = append(p.Cells, nil)
	}
	for n := 0; ; n++ {
		field, last, err := r.field()
		if err != nil {
			return err
		}
		if n < len(places) {
			if string(field) == "NULL" {
				field = nil
			}
			p.Cells[first+places[n]] = field
		}
		if !last {
			continue
		}
		if n+1 != len(places) {
			return &BodyError{
				Code: CodeBody, Message: raggedCSV, Row: r.row,
				Details: "Row " + strconv.Itoa(r.row) + " has " + strconv.Itoa(n+1) + ", the header " + strconv.Itoa(len(places)) + ".",
			}
		}
		return nil
	}
}

func (r *csvReader) skipBlankLines() {
	for r.pos < len(r.text) && (r.text[r.pos] == '\n' || r.text[r.pos] == '\r') {
		r.pos++
	}
}

// field reads one field and what ends it; last says that it ends its line.
func (r *csvReader) field() (field []byte, last bool, err error) {
	if r.pos < len(r.text) && r.text[r.pos] == '"' {
		if field, err = r.quoted(); err != nil {
			return nil, false, err
		}
	} else {
		start := r.pos
		for r.pos < len(r.text) && !isFieldEnd(r.text[r.pos]) {
			if r.text[r.pos] == '"' {
				return nil, false, r.unexpected()
			}
			r.pos++
		}
		field = r.text[start:r.pos]
	}
	if r.pos == len(r.text) {
		return field, true, nil
	}
	switch c := r.text[r.pos]; {
	case !isFieldEnd(c):
		return nil, false, r.unexpected()
	case c == ',':
		r.pos++
		return field, false, nil
	case c == '\r' && r.pos+1 < len(r.text) && r.text[r.pos+1] == '\n':
		r.pos++
	}
	r.pos++
	return field, true, nil
}

func isFieldEnd(c byte) bool { return c == ',' || c == '\n' || c == '\r' }

// quoted reads a field in quotes, in which a quote is doubled.
func (r *csvReader) quoted() ([]byte, error) {
	start := r.pos + 1
	doubled := false
	for i := start; i < len(r.text); i++ {
		if r.text[i] != '"' {
			continue
		}
		if i+1 < len(r.text) && r.text[i+1] == '"' {
			doubled = true
			i++
			continue
		}
		r.pos = i + 1
		field := r.text[start:i]
		if doubled {
			field = bytes.ReplaceAll(field, []byte(`""`), []byte(`"`))
		}
		return field, nil
	}
	return nil, r.invalid("a quoted field does not end")
}

func (r *csvReader) unexpected() error {
	_, size := utf8.DecodeRune(r.text[r.pos:])
	return r.invalid("unexpected " + strconv.Quote(string(r.text[r.pos:r.pos+size])) + " at byte " + strconv.Itoa(r.pos+1))
}

func (r *csvReader) invalid(details string) error {
	e := &BodyError{Code: CodeBody, Message: invalidCSV, Row: r.row, Details: details}
	if r.row > 0 {
		e.Details = "Row " + strconv.Itoa(r.row) + ": " + details
	}
	return e
}
