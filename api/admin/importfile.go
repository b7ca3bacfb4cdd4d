package admin

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// mostImportRow bounds a row of a file, in bytes.
const mostImportRow = 16 << 20

// csvSource reads CSV (RFC 4180, but for the delimiter) whose first line names the fields. As PostgreSQL's own COPY does,
// it takes a field that is empty and not quoted for NULL.
type csvSource struct {
	r         *bufio.Reader
	delimiter byte
	line      int64
	fields    []string
}

func newCSVSource(r io.Reader, delimiter byte) *csvSource {
	return &csvSource{r: bufio.NewReaderSize(r, 64<<10), delimiter: delimiter, line: 1}
}

func (s *csvSource) next() ([]string, []*string, int64, error) {
	if s.fields == nil {
		if mark, _ := s.r.Peek(3); bytes.Equal(mark, []byte("\ufeff")) {
			_, _ = s.r.Discard(3) // they are there
		}
		names, _, err := s.record()
		if err == io.EOF {
			return nil, nil, 0, fileError(1, "the file is empty")
		}
		if err != nil {
			return nil, nil, 0, err
		}
		s.fields = make([]string, len(names))
		for i, name := range names {
			if name != nil {
				s.fields[i] = *name
			}
		}
	}
	values, line, err := s.record()
	if err != nil {
		return nil, nil, line, err
	}
	if len(values) != len(s.fields) {
		return nil, nil, line, &rowError{line, "the row has " + strconv.Itoa(len(values)) + " fields in place of " + strconv.Itoa(len(s.fields))}
	}
	return s.fields, values, line, nil
}

// record reads the next row that is not empty.
func (s *csvSource) record() (values []*string, began int64, err error) {
	began = s.line
	var field []byte
	quoted, within, size, any := false, false, 0, false
	end := func() {
		if len(field) == 0 && !quoted {
			values = append(values, nil)
		} else {
			text := string(field)
			values = append(values, &text)
		}
		field, quoted = field[:0], false
	}
	for {
		b, err := s.r.ReadByte()
		if err == io.EOF {
			switch {
			case within:
				return nil, began, fileError(began, "a quoted field is never closed")
			case !any:
				return nil, began, io.EOF
			}
			end()
			return values, began, checkText(values, began)
		}
		if err != nil {
			return nil, began, err
		}
		if size++; size > mostImportRow {
			return nil, began, fileError(began, "the row is larger than %d bytes", mostImportRow)
		}
		if b == '\n' {
			s.line++
		}
		switch {
		case within && b == '"':
			if next, _ := s.r.Peek(1); len(next) == 1 && next[0] == '"' {
				_, _ = s.r.Discard(1)
				field = append(field, '"')
			} else {
				within = false
			}
		case within:
			field = append(field, b)
		case b == '"' && len(field) == 0 && !quoted:
			quoted, within, any = true, true, true
		case b == s.delimiter:
			end()
			any = true
		case b == '\r':
			if next, _ := s.r.Peek(1); len(next) == 1 && next[0] != '\n' {
				field = append(field, b)
			}
		case b == '\n' && !any:
			began, size = s.line, 0 // an empty line
		case b == '\n':
			end()
			return values, began, checkText(values, began)
		default:
			field, any = append(field, b), true
		}
	}
}

// checkText refuses a row with what PostgreSQL takes for no text.
func checkText(values []*string, line int64) error {
	for _, value := range values {
		if value == nil {
			continue
		}
		if !utf8.ValidString(*value) {
			return &rowError{line, "the row is not UTF-8"}
		}
		if strings.ContainsRune(*value, 0) {
			return &rowError{line, "the row has a NUL character"}
		}
	}
	return nil
}

// commaNumber is a number with a decimal comma: with points between its thousands, or with an exponent.
var commaNumber = regexp.MustCompile(`^\s*[+-]?(?:[1-9]\d{0,2}(?:\.\d{3})+(?:,\d*)?|\d*(?:,\d*)?(?:[eE][+-]?\d+)?)\s*$`)

// pointNumber writes a number with a decimal comma as PostgreSQL reads it, digit for digit. What has neither comma nor
// point stays as it is, a number or not; what has them in other places is refused rather than guessed at.
func pointNumber(text string) (string, bool) {
	if !strings.ContainsAny(text, ".,") {
		return text, true
	}
	if !commaNumber.MatchString(text) {
		return "", false
	}
	return strings.NewReplacer(".", "", ",", ".").Replace(text), true
}

// jsonSource reads objects: those of one array, or one a line.
type jsonSource struct {
	counted *lineCounter
	decoder *json.Decoder
	lines   *bufio.Reader
	line    int64
	opened  bool
	array   bool
}

func newJSONSource(r io.Reader, array bool) *jsonSource {
	if !array {
		return &jsonSource{lines: bufio.NewReaderSize(r, 64<<10)}
	}
	counted := &lineCounter{source: r}
	return &jsonSource{counted: counted, decoder: json.NewDecoder(counted), array: true}
}

func (s *jsonSource) next() ([]string, []*string, int64, error) {
	raw, err := s.object()
	if err != nil {
		return nil, nil, s.line, err
	}
	fields, values, err := members(raw)
	if err == nil {
		err = checkText(values, s.line)
	}
	if err != nil {
		if bad, ok := errors.AsType[*rowError](err); ok {
			return nil, nil, s.line, bad
		}
		return nil, nil, s.line, &rowError{s.line, err.Error()}
	}
	return fields, values, s.line, nil
}

// object gives the text of the next one.
func (s *jsonSource) object() (json.RawMessage, error) {
	if !s.array {
		return s.nextLine()
	}
	s.counted.from(s.decoder.InputOffset())
	if !s.opened {
		s.opened = true
		token, err := s.decoder.Token()
		if _, cut := errors.AsType[*cutError](err); cut || err == errWideRow {
			return nil, s.broken(err)
		}
		if token != json.Delim('[') {
			return nil, fileError(1, "the file is not an array of objects")
		}
	}
	if !s.decoder.More() {
		if _, err := s.decoder.Token(); err != nil {
			return nil, s.broken(err)
		}
		return nil, io.EOF
	}
	var raw json.RawMessage
	err := s.decoder.Decode(&raw)
	s.line = s.counted.at(s.decoder.InputOffset() - int64(len(raw)))
	if err != nil {
		return nil, s.broken(err)
	}
	if len(raw) > mostImportRow {
		return nil, s.broken(errWideRow)
	}
	return raw, nil
}

func (s *jsonSource) broken(err error) error {
	if _, cut := errors.AsType[*cutError](err); cut {
		return err
	}
	if err == errWideRow {
		return fileError(s.counted.at(s.decoder.InputOffset()), "the row is larger than %d bytes", mostImportRow)
	}
	return fileError(s.counted.at(s.decoder.InputOffset()), "%v", err)
}

// nextLine gives the next line that is not empty.
func (s *jsonSource) nextLine() (json.RawMessage, error) {
	for {
		var line []byte
		for {
			part, err := s.lines.ReadSlice('\n')
			line = append(line, part...)
			if len(line) > mostImportRow {
				return nil, fileError(s.line+1, "the row is larger than %d bytes", mostImportRow)
			}
			if err == nil || err == io.EOF && len(line) > 0 {
				break
			}
			if err != bufio.ErrBufferFull {
				return nil, err
			}
		}
		s.line++
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
	}
}

// members gives the members of an object in the order they stand there. Values are text as PostgreSQL reads it: a string
// without its quotes, anything else as it is written, numbers with all their digits.
func members(raw json.RawMessage) (fields []string, values []*string, err error) {
	if !json.Valid(raw) || bytes.TrimSpace(raw)[0] != '{' {
		return nil, nil, errors.New("it is not a JSON object")
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	_, _ = decoder.Token() // the brace
	seen := map[string]bool{}
	for decoder.More() {
		token, _ := decoder.Token()
		name, _ := token.(string)
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, nil, err
		}
		if seen[name] {
			return nil, nil, errors.New("the member " + name + " is there twice")
		}
		seen[name] = true
		fields = append(fields, name)
		switch value[0] {
		case 'n':
			values = append(values, nil)
		case '"':
			var text string
			_ = json.Unmarshal(value, &text) // it is valid
			values = append(values, &text)
		default:
			text := string(value)
			values = append(values, &text)
		}
	}
	return fields, values, nil
}

// lineCounter counts the lines of what passes, and tells at which an offset is that comes no earlier than those it was
// asked for before. Of one object, with the space before it, it lets no more pass than a row may have and a reader looks
// ahead: the decoder would hold all of it.
type lineCounter struct {
	source io.Reader
	began  int64   // offset of the object
	breaks []int64 // offsets of line breaks that were not asked about yet
	read   int64
	lines  int64
}

var errWideRow = errors.New("the row is too large")

// from says where an object begins.
func (l *lineCounter) from(offset int64) { l.began = offset }

func (l *lineCounter) Read(p []byte) (int, error) {
	if l.read-l.began > 2*mostImportRow {
		return 0, errWideRow
	}
	n, err := l.source.Read(p)
	for i, b := range p[:n] {
		if b == '\n' {
			l.breaks = append(l.breaks, l.read+int64(i))
		}
	}
	l.read += int64(n)
	return n, err
}

func (l *lineCounter) at(offset int64) int64 {
	passed := 0
	for passed < len(l.breaks) && l.breaks[passed] < offset {
		passed++
	}
	l.breaks = l.breaks[passed:]
	l.lines += int64(passed)
	return l.lines + 1
}

// arrayLiteral gives PostgreSQL's text of a JSON array (Documentation, 8.15.2). What is none stays as it is.
func arrayLiteral(text string) *string {
	var elements []json.RawMessage
	if !strings.HasPrefix(text, "[") || json.Unmarshal([]byte(text), &elements) != nil {
		return &text
	}
	literals := make([]string, len(elements))
	for i, element := range elements {
		var word string
		switch {
		case element[0] == '[':
			literals[i] = *arrayLiteral(string(element))
			continue
		case string(element) == "null":
			literals[i] = "NULL"
			continue
		case json.Unmarshal(element, &word) != nil:
			word = string(element) // a number, a boolean, an object
		}
		literals[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(word) + `"`
	}
	literal := "{" + strings.Join(literals, ",") + "}"
	return &literal
}
