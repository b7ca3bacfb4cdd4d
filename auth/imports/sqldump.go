package imports

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

const (
	// mostOfRow bounds a row of a dump. Longer ones are refused.
	mostOfRow = 4 << 20
	// mostOfHead bounds what stands before a statement's rows: a table's name and its columns.
	mostOfHead = 64 << 10
)

// dump reads a plain dump of pg_dump as a stream. It follows the lexical structure of statements, for what looks like a
// row of accounts may be the text of somebody's message.
type dump struct {
	r    *bufio.Reader
	line int
	// yield is given the rows of a table.
	table string
	yield func(line int, values map[string]*string, fault string) error
}

func newDump(r io.Reader, table string, yield func(int, map[string]*string, string) error) *dump {
	return &dump{r: bufio.NewReaderSize(r, 256<<10), line: 1, table: table, yield: yield}
}

// read goes through the dump to its end.
func (d *dump) read() error {
	for {
		first, err := d.next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case first.is("copy"):
			err = d.copy()
		case first.is("insert"):
			err = d.insert()
		case first.is("\\"):
			err = d.skipLine() // a command of psql
		case first.is(";"):
		default:
			err = d.skipStatement()
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
	}
}

// token is a lexical element: a word in lower case, a quoted name, a string, a number, or one character.
type token struct {
	kind rune // 'w', 'q', 's', 'n', or the character itself
	text string
	// long is set when the text was too long and is not here.
	long bool
}

// is tells whether the token is a word or a character that means something, and not a text or a name that reads like it.
func (t token) is(text string) bool {
	return t.text == text && (t.kind == 'w' || t.kind == rune(text[0]))
}

func (d *dump) byte() (byte, error) {
	c, err := d.r.ReadByte()
	if c == '\n' {
		d.line++
	}
	return c, err
}

func (d *dump) back(c byte) {
	if c == '\n' {
		d.line--
	}
	_ = d.r.UnreadByte() // follows a read
}

func (d *dump) peekIs(c byte) bool {
	ahead, err := d.r.Peek(1)
	return err == nil && ahead[0] == c
}

// next gives the next token of a statement, behind blanks and comments.
func (d *dump) next() (token, error) {
	for {
		c, err := d.byte()
		if err != nil {
			return token{}, err
		}
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f':
		case c == '-' && d.peekIs('-'):
			if err := d.skipLine(); err != nil {
				return token{}, err
			}
		case c == '/' && d.peekIs('*'):
			if err := d.skipComment(); err != nil {
				return token{}, err
			}
		case c == '\'':
			return d.quoted('s', '\'', false)
		case c == '"':
			return d.quoted('q', '"', false)
		case (c == 'e' || c == 'E') && d.peekIs('\''):
			_, _ = d.byte() // it is there
			return d.quoted('s', '\'', true)
		case c == '$':
			return d.dollar()
		case isWord(c):
			return d.word(c)
		default:
			return token{kind: rune(c), text: string(c)}, nil
		}
	}
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c >= 0x80
}

func (d *dump) word(first byte) (token, error) {
	text := []byte{first}
	number := first >= '0' && first <= '9'
	for {
		c, err := d.byte()
		if err != nil && !errors.Is(err, io.EOF) {
			return token{}, err
		}
		if err != nil || !isWord(c) && c != '$' && (!number || c != '.') {
			if err == nil {
				d.back(c)
			}
			if number {
				return token{kind: 'n', text: string(text)}, nil
			}
			return token{kind: 'w', text: strings.ToLower(string(text))}, nil
		}
		if len(text) < mostOfHead {
			text = append(text, c)
		}
	}
}

// quoted reads to the closing quote, which stands twice where it is meant. With escapes a backslash takes the next
// character along.
func (d *dump) quoted(kind rune, quote byte, escapes bool) (token, error) {
	t := token{kind: kind}
	var text []byte
	for {
		c, err := d.byte()
		if err != nil {
			return t, d.broken(err)
		}
		switch {
		case escapes && c == '\\':
			if c, err = d.byte(); err != nil {
				return t, d.broken(err)
			}
			c = unescape(c)
		case c != quote:
		case d.peekIs(quote):
			_, _ = d.byte() // it is there
		default:
			t.text = string(text)
			return t, nil
		}
		if len(text) < mostOfRow {
			text = append(text, c)
		} else {
			t.long = true
		}
	}
}

func unescape(c byte) byte {
	if i := strings.IndexByte("bfnrtv", c); i >= 0 {
		return "\b\f\n\r\t\v"[i]
	}
	return c
}

// dollar reads a string between $tag$ and $tag$, of which nothing is needed; else the dollar sign is one character.
func (d *dump) dollar() (token, error) {
	ahead, err := d.r.Peek(66)
	if err != nil && !errors.Is(err, io.EOF) {
		return token{}, err
	}
	end := bytes.IndexByte(ahead, '$')
	if end < 0 || slices.ContainsFunc(ahead[:end], func(c byte) bool { return !isWord(c) }) {
		return token{kind: '$', text: "$"}, nil
	}
	closing := append([]byte{'$'}, ahead[:end+1]...)
	if _, err := d.r.Discard(end + 1); err != nil {
		return token{}, err
	}
	var last []byte
	for {
		c, err := d.byte()
		if err != nil {
			return token{}, d.broken(err)
		}
		if last = append(last, c); len(last) > len(closing) {
			last = last[1:]
		}
		if c == '$' && bytes.Equal(last, closing) {
			return token{kind: 's', long: true}, nil
		}
	}
}

func (d *dump) broken(err error) error {
	if errors.Is(err, io.EOF) {
		return wrong("the file ends in the middle of a statement, at line %d: is it all there?", d.line)
	}
	return err
}

func (d *dump) skipLine() error {
	for {
		_, err := d.r.ReadSlice('\n')
		if !errors.Is(err, bufio.ErrBufferFull) {
			d.line++
			return err
		}
	}
}

// skipComment skips a comment of the kind that may hold others.
func (d *dump) skipComment() error {
	depth := 0
	for previous := byte('/'); ; {
		c, err := d.byte()
		switch {
		case err != nil:
			return d.broken(err)
		case previous == '/' && c == '*':
			depth++
			previous = 0
		case previous == '*' && c == '/':
			if depth--; depth == 0 {
				return nil
			}
			previous = 0
		default:
			previous = c
		}
	}
}

func (d *dump) skipStatement() error {
	for {
		t, err := d.next()
		if err != nil || t.is(";") {
			return err
		}
	}
}

// target reads a table's name and, in brackets, its columns. The statement's next token is given too.
func (d *dump) target() (table string, columns []string, next token, err error) {
	var name []string
	for {
		if next, err = d.next(); err != nil {
			return "", nil, next, err
		}
		if next.kind == 'w' || next.kind == 'q' {
			name = append(name, next.text)
		}
		after, err := d.next()
		if err != nil || !after.is(".") || len(name) > 1 {
			next = after
			if err != nil {
				return "", nil, next, err
			}
			break
		}
	}
	if next.is("(") {
		for !next.is(")") {
			if next, err = d.next(); err != nil {
				return "", nil, next, err
			}
			if next.kind == 'w' || next.kind == 'q' {
				columns = append(columns, next.text)
			}
			if next.is(";") || len(columns) > 1600 {
				return "", nil, next, nil
			}
		}
		if next, err = d.next(); err != nil {
			return "", nil, next, err
		}
	}
	return strings.Join(name, "."), columns, next, nil
}

// insert reads INSERT INTO table (columns) VALUES (…), (…);
func (d *dump) insert() error {
	into, err := d.next()
	if err != nil || !into.is("into") {
		return errors.Join(err, d.skipStatement())
	}
	table, columns, next, err := d.target()
	if err != nil || next.is(";") {
		return err
	}
	if table != d.table {
		return d.skipStatement()
	}
	for !next.is("values") {
		if next.is(";") {
			return nil
		}
		if next, err = d.next(); err != nil {
			return err
		}
	}
	for {
		if next, err = d.next(); err != nil {
			return d.broken(err)
		}
		switch {
		case next.is(","):
		case next.is("("):
			if err := d.tuple(columns); err != nil {
				return err
			}
		case next.is(";"):
			return nil
		default:
			return d.skipStatement() // on conflict …
		}
	}
}

// tuple reads a row of values up to its closing bracket.
func (d *dump) tuple(columns []string) error {
	line := d.line
	values := map[string]*string{}
	fault, sign, i := "", "", 0
	for {
		t, err := d.next()
		if err != nil {
			return d.broken(err)
		}
		var value *string
		switch {
		case t.is(","), t.is(")"):
			if i++; t.is(",") {
				continue
			}
			if fault == "" && len(values) != len(columns) || i != len(columns) {
				fault = orElse(fault, fmt.Sprintf("it has %d values for %d columns", i, len(columns)))
			}
			return d.yield(line, values, fault)
		case t.is("-"):
			sign = "-"
			continue
		case t.long:
			fault = "it is too long"
		case t.kind == 's', t.kind == 'n', t.is("true"), t.is("false"):
			text := sign + t.text
			value = &text
		case t.is("null"):
		default:
			return wrong("line %d: %q stands where a value should: only dumps with plain values can be read", d.line, t.text)
		}
		sign = ""
		if i < len(columns) {
			values[columns[i]] = value
		}
	}
}

// copy reads COPY table (columns) FROM stdin; and the lines behind it.
func (d *dump) copy() error {
	table, columns, next, err := d.target()
	if err != nil || next.is(";") {
		return err
	}
	source, err := d.next()
	if err != nil {
		return err
	}
	if !next.is("from") || !source.is("stdin") {
		return d.skipStatement()
	}
	if err := d.skipStatement(); err != nil {
		return err
	}
	if err := d.skipLine(); err != nil {
		return d.broken(err)
	}
	for {
		at := d.line
		line, long, err := d.textLine()
		if err != nil {
			return d.broken(err)
		}
		if string(line) == `\.` {
			return nil
		}
		if table != d.table {
			continue
		}
		values, fault := copied(line, columns)
		if long {
			fault = "it is too long"
		}
		if err := d.yield(at, values, fault); err != nil {
			return err
		}
	}
}

// textLine gives a line without its end; of one that is too long a part.
func (d *dump) textLine() (line []byte, long bool, err error) {
	for {
		part, err := d.r.ReadSlice('\n')
		if len(line)+len(part) > mostOfRow {
			long = true
		} else {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		d.line++
		return bytes.TrimRight(line, "\r\n"), long, err
	}
}

// copied reads a line of COPY's text format.
func copied(line []byte, columns []string) (values map[string]*string, fault string) {
	fields := bytes.Split(line, []byte{'\t'})
	if len(fields) != len(columns) {
		return nil, fmt.Sprintf("it has %d values for %d columns", len(fields), len(columns))
	}
	values = make(map[string]*string, len(columns))
	for i, field := range fields {
		if string(field) == `\N` {
			values[columns[i]] = nil
			continue
		}
		text := unescapeCopied(field)
		values[columns[i]] = &text
	}
	return values, ""
}

func unescapeCopied(field []byte) string {
	if bytes.IndexByte(field, '\\') < 0 {
		return string(field)
	}
	text := make([]byte, 0, len(field))
	for i := 0; i < len(field); i++ {
		if field[i] == '\\' && i+1 < len(field) {
			i++
			text = append(text, unescape(field[i]))
			continue
		}
		text = append(text, field[i])
	}
	return string(text)
}
