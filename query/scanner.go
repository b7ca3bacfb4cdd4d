package query

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// scanner reads one key or value of the query string from left to right.
type scanner struct {
	what  string // what errors call the text
	text  string
	pos   int
	shift int // columns that errors count before the text
}

const expectName = "field name (* or [a..z0..9_$])"

func (s *scanner) fail(expecting string) error { return s.failAt(s.pos, expecting) }

func (s *scanner) failAt(pos int, expecting string) error {
	unexpected := "end of input"
	if pos < len(s.text) {
		_, size := utf8.DecodeRuneInString(s.text[pos:])
		unexpected = `"` + s.text[pos:pos+size] + `"`
	}
	return newSyntaxError(s.what, s.text, s.shift, pos, "unexpected "+unexpected+" expecting "+expecting)
}

// peek gives the next byte, or 0 at the end (no text holds NUL).
func (s *scanner) peek() byte {
	if s.pos < len(s.text) {
		return s.text[s.pos]
	}
	return 0
}

func (s *scanner) done() bool { return s.pos == len(s.text) }

func (s *scanner) rest() string { return s.text[s.pos:] }

func (s *scanner) accept(c byte) bool {
	if s.peek() != c {
		return false
	}
	s.pos++
	return true
}

func (s *scanner) acceptText(t string) bool {
	if !strings.HasPrefix(s.rest(), t) {
		return false
	}
	s.pos += len(t)
	return true
}

func (s *scanner) delimiter() error {
	if !s.accept('.') {
		return s.fail("delimiter (.)")
	}
	return nil
}

// space skips white space.
func (s *scanner) space() {
	for s.pos < len(s.text) && isSpace(s.text[s.pos]) {
		s.pos++
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' }

func trimSpace(text string) string { return strings.Trim(text, " \t") }

// name reads the name of a column, relation, alias or the like with the white space around it.
func (s *scanner) name() (string, error) {
	s.space()
	start := s.pos
	if s.peek() == '"' {
		name, err := s.quoted()
		if err != nil {
			return "", err
		}
		if name == "" {
			return "", s.failAt(start+1, expectName)
		}
		s.space()
		return name, nil
	}
	for s.pos < len(s.text) {
		c := s.text[s.pos]
		if c == '-' && !strings.HasPrefix(s.rest(), "->") {
			s.pos++
			continue
		}
		size := identifierSize(s.text[s.pos:])
		if size == 0 {
			break
		}
		s.pos += size
	}
	name := trimSpace(s.text[start:s.pos])
	if name == "" {
		return "", s.fail(expectName)
	}
	s.space()
	return name, nil
}

// identifier reads a type's or configuration's name: letters, digits, blanks, _ and $.
func (s *scanner) identifier() (string, error) {
	start := s.pos
	for s.pos < len(s.text) {
		size := identifierSize(s.text[s.pos:])
		if size == 0 {
			break
		}
		s.pos += size
	}
	name := trimSpace(s.text[start:s.pos])
	if name == "" {
		return "", s.fail("letter or digit")
	}
	return name, nil
}

// identifierSize is the length of the character that text begins with, 0 when an unquoted name can not hold it.
func identifierSize(text string) int {
	switch c := text[0]; {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == ' ', c == '$':
		return 1
	case c < utf8.RuneSelf:
		return 0
	}
	r, size := utf8.DecodeRuneInString(text)
	if unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r) {
		return size
	}
	return 0
}

// quoted reads a text in double quotes, in which a backslash makes the next character literal.
func (s *scanner) quoted() (string, error) {
	end, escaped := skipQuoted(s.text, s.pos)
	if end < 0 {
		return "", s.failAt(len(s.text), `"\"" (closing quote)`)
	}
	text := s.text[s.pos+1 : end-1]
	s.pos = end
	if escaped {
		text = unquote(text)
	}
	return text, nil
}

// skipQuoted gives the position behind the quoted text that begins at pos, -1 when it does not end, and whether it
// holds backslashes.
func skipQuoted(text string, pos int) (end int, escaped bool) {
	for i := pos + 1; i < len(text); i++ {
		switch text[i] {
		case '"':
			return i + 1, escaped
		case '\\':
			escaped = true
			i++
		}
	}
	return -1, escaped
}

// unquote removes the backslashes from the inside of a quoted text.
func unquote(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' {
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// field reads a column with its JSON path.
func (p *parser) field(s *scanner) (Field, error) {
	name, err := s.name()
	if err != nil {
		return Field{}, err
	}
	return p.pathOf(s, name)
}

// pathOf reads the JSON path behind a column's name.
func (p *parser) pathOf(s *scanner, name string) (Field, error) {
	f := Field{Name: name}
	for s.acceptText("->") {
		step := Step{AsText: s.accept('>')}
		if err := s.jsonKey(&step); err != nil {
			return f, err
		}
		if p.steps++; p.steps > maxSteps {
			return f, tooMany("JSON path steps", maxSteps)
		}
		if len(f.Path) == maxPath {
			return f, tooMany("steps of a JSON path", maxPath)
		}
		f.Path = append(f.Path, step)
		s.space()
	}
	return f, nil
}

func (s *scanner) jsonKey(step *Step) (err error) {
	s.space()
	if s.peek() == '"' {
		step.Quoted = true
		step.Key, err = s.quoted()
		return err
	}
	start := s.pos
	s.accept('-')
	for s.pos < len(s.text) && !strings.HasPrefix(s.rest(), "->") && strings.IndexByte("(:.,>)", s.text[s.pos]) < 0 {
		s.pos++
	}
	step.Key = trimSpace(s.text[start:s.pos])
	digits := strings.TrimPrefix(step.Key, "-")
	other := strings.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' })
	switch {
	case step.Key == "":
		return s.fail("any non reserved character different from: .,>()")
	case digits != "" && other < 0:
		step.Index = true
	case len(digits) < len(step.Key):
		return s.failAt(start+1+max(other, 0), "digit")
	}
	return nil
}
