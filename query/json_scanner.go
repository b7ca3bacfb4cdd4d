package query

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// jsonScanner walks over JSON text (RFC 8259) that is valid UTF-8.
type jsonScanner struct {
	text []byte
	pos  int
	row  int // the element of the outermost array, from 1; 0 outside
}

func (s *jsonScanner) peek() byte {
	if s.pos < len(s.text) {
		return s.text[s.pos]
	}
	return 0
}

func (s *jsonScanner) accept(c byte) bool {
	if s.pos < len(s.text) && s.text[s.pos] == c {
		s.pos++
		return true
	}
	return false
}

func (s *jsonScanner) space() {
	for s.pos < len(s.text) {
		switch s.text[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// end wants the end of the text.
func (s *jsonScanner) end() error {
	if s.space(); s.pos < len(s.text) {
		return s.unexpected()
	}
	return nil
}

func (s *jsonScanner) unexpected() error {
	if s.pos >= len(s.text) {
		return s.invalid("unexpected end of input")
	}
	_, size := utf8.DecodeRune(s.text[s.pos:])
	return s.invalid("unexpected " + strconv.Quote(string(s.text[s.pos:s.pos+size])) + " at byte " + strconv.Itoa(s.pos+1))
}

func (s *jsonScanner) invalid(details string) error {
	return &BodyError{Code: CodeBody, Message: invalidJSON, Details: details}
}

// members goes over the object that the text stands at. visit gets each key between its quotes, and whether it holds
// escapes, and moves over the value.
func (s *jsonScanner) members(visit func(key []byte, escaped bool) error) error {
	s.pos++
	if s.space(); s.accept('}') {
		return nil
	}
	for {
		if s.space(); s.peek() != '"' {
			return s.unexpected()
		}
		start := s.pos + 1
		escapes, err := s.string()
		if err != nil {
			return err
		}
		if escapes&nulEscape != 0 {
			return nulError()
		}
		end := s.pos - 1
		if s.space(); !s.accept(':') {
			return s.unexpected()
		}
		s.space()
		if err := visit(s.text[start:end], escapes != 0); err != nil {
			return err
		}
		s.space()
		switch {
		case s.accept(','):
		case s.accept('}'):
			return nil
		default:
			return s.unexpected()
		}
	}
}

// cell moves over a value of a row and gives its token.
func (s *jsonScanner) cell() ([]byte, error) {
	start := s.pos
	if s.peek() == '"' {
		escapes, err := s.string()
		if err == nil && escapes&nulEscape != 0 {
			err = nulError()
		}
		return s.text[start:s.pos], err
	}
	err := s.value(2)
	return s.text[start:s.pos], err
}

// nulError is PostgreSQL's own answer to a text with a NUL character. Deeper in a value it is PostgreSQL that decides:
// json columns keep the escape.
func nulError() error {
	return &BodyError{Code: "22P05", Message: "unsupported Unicode escape sequence", Details: `\u0000 cannot be converted to text.`}
}

// value moves over any value.
func (s *jsonScanner) value(depth int) error {
	switch c := s.peek(); {
	case c == '"':
		_, err := s.string()
		return err
	case c == '{' || c == '[':
		if depth++; depth > maxJSONDepth {
			return &BodyError{Code: CodeBody, Message: "The JSON is nested too deeply", Details: "More than " + strconv.Itoa(maxJSONDepth) + " levels."}
		}
		if c == '{' {
			return s.members(func([]byte, bool) error { return s.value(depth) })
		}
		return s.elements(func() error { return s.value(depth) })
	case c == '-' || c >= '0' && c <= '9':
		return s.number()
	default:
		return s.literal()
	}
}

// elements goes over the array that the text stands at; visit moves over each element.
func (s *jsonScanner) elements(visit func() error) error {
	s.pos++
	if s.space(); s.accept(']') {
		return nil
	}
	for {
		s.space()
		if err := visit(); err != nil {
			return err
		}
		s.space()
		switch {
		case s.accept(','):
		case s.accept(']'):
			return nil
		default:
			return s.unexpected()
		}
	}
}

func (s *jsonScanner) literal() error {
	for _, word := range [...]string{"null", "true", "false"} {
		if len(s.text)-s.pos >= len(word) && string(s.text[s.pos:s.pos+len(word)]) == word {
			s.pos += len(word)
			return nil
		}
	}
	return s.unexpected()
}

func (s *jsonScanner) number() error {
	s.accept('-')
	if !s.accept('0') && !s.digits() {
		return s.unexpected()
	}
	if s.accept('.') && !s.digits() {
		return s.unexpected()
	}
	if s.accept('e') || s.accept('E') {
		if !s.accept('+') {
			s.accept('-')
		}
		if !s.digits() {
			return s.unexpected()
		}
	}
	return nil
}

func (s *jsonScanner) digits() bool {
	start := s.pos
	for s.pos < len(s.text) && s.text[s.pos] >= '0' && s.text[s.pos] <= '9' {
		s.pos++
	}
	return s.pos > start
}

// escapeSet tells which kinds of escape a string holds.
type escapeSet byte

const (
	anyEscape escapeSet = 1 << iota
	nulEscape           // \u0000
)

// string moves over a string.
func (s *jsonScanner) string() (escapes escapeSet, err error) {
	for i := s.pos + 1; i < len(s.text); i++ {
		switch c := s.text[i]; {
		case c == '"':
			s.pos = i + 1
			return escapes, nil
		case c == '\\':
			escapes |= anyEscape
			s.pos = i + 1
			nul, err := s.escape()
			if err != nil {
				return 0, err
			}
			if nul {
				escapes |= nulEscape
			}
			i = s.pos - 1
		case c < ' ':
			s.pos = i
			return 0, s.unexpected()
		}
	}
	s.pos = len(s.text)
	return 0, s.unexpected()
}

// escape moves over what follows a backslash; surrogates must come in pairs.
func (s *jsonScanner) escape() (nul bool, err error) {
	switch s.peek() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.pos++
		return false, nil
	case 'u':
	default:
		return false, s.unexpected()
	}
	r, ok := hexRune(s.text[s.pos+1:])
	if !ok {
		return false, s.unexpected()
	}
	s.pos += 5
	if !utf16.IsSurrogate(r) {
		return r == 0, nil
	}
	if rest := s.text[s.pos:]; len(rest) > 2 && rest[0] == '\\' && rest[1] == 'u' {
		if low, ok := hexRune(rest[2:]); ok && utf16.DecodeRune(r, low) != utf8.RuneError {
			s.pos += 6
			return false, nil
		}
	}
	return false, s.invalid("a Unicode surrogate without its other half at byte " + strconv.Itoa(s.pos-5))
}

// hexRune reads four hexadecimal digits.
func hexRune(text []byte) (rune, bool) {
	if len(text) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range text[:4] {
		if !isHex(c) {
			return 0, false
		}
		r = r<<4 | rune(hexValue(c))
	}
	return r, true
}
