// Package postgrest reads configuration files of PostgREST.
package postgrest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Assignment is one line `key = value` of a file. Values are text, whatever they are written as; true, on, false and off
// without quotes are true and false.
type Assignment struct {
	Key   string
	Value string
	Line  int
}

// A SyntaxError tells where a file cannot be read. It repeats nothing of the line but a key: there may be secrets in it.
type SyntaxError struct {
	Line   int
	Key    string // "" when there is none yet
	Reason string
}

func (e *SyntaxError) Error() string {
	if e.Key == "" {
		return fmt.Sprintf("line %d: %s", e.Line, e.Reason)
	}
	return fmt.Sprintf("line %d: %s: %s", e.Line, e.Key, e.Reason)
}

// Parse reads a file. Environment gives the values of $(NAME) in quoted text. Of two assignments to a key the last one
// counts; both are given.
func Parse(text string, environment func(name string) (string, bool)) ([]Assignment, error) {
	if !utf8.ValidString(text) {
		return nil, &SyntaxError{1, "", "the file is not UTF-8"}
	}
	p := parser{rest: strings.TrimPrefix(text, "\uFEFF"), line: 1, environment: environment}
	var list []Assignment
	for p.skip(); p.rest != ""; p.skip() {
		next, err := p.assignment()
		if err != nil {
			return nil, err
		}
		list = append(list, next)
	}
	return list, nil
}

// parser is the rest of a file.
type parser struct {
	rest        string
	line        int
	environment func(string) (string, bool)
}

// skip passes over blanks, line ends and comments.
func (p *parser) skip() {
	for p.rest != "" {
		switch p.rest[0] {
		case '\n':
			p.line++
		case ' ', '\t', '\r':
		case '#':
			end := strings.IndexByte(p.rest, '\n')
			if end < 0 {
				end = len(p.rest)
			}
			p.rest = p.rest[end:]
			continue
		default:
			return
		}
		p.rest = p.rest[1:]
	}
}

func (p *parser) blanks() { p.rest = strings.TrimLeft(p.rest, " \t\r") }

func (p *parser) assignment() (Assignment, error) {
	a := Assignment{Line: p.line}
	end := 0
	for end < len(p.rest) && isKeyByte(p.rest[end]) {
		end++
	}
	key := p.rest[:end]
	p.rest = p.rest[end:]
	p.blanks()
	if key == "" || !strings.HasPrefix(p.rest, "=") {
		switch {
		case key == "import":
			return a, &SyntaxError{a.Line, "", "import is not supported: write the settings into this file"}
		case strings.HasPrefix(p.rest, "{"):
			return a, &SyntaxError{a.Line, "", "groups are not supported: write the keys with dots"}
		}
		return a, &SyntaxError{a.Line, "", "a line of the form key = value is needed"}
	}
	a.Key, p.rest = key, p.rest[1:]
	p.blanks()
	var err error
	if a.Value, err = p.value(); err != nil {
		return a, &SyntaxError{p.line, key, err.Error()}
	}
	p.blanks()
	if p.rest != "" && p.rest[0] != '\n' && p.rest[0] != '#' {
		return a, &SyntaxError{p.line, key, "something follows the value"}
	}
	return a, nil
}

func isKeyByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c == '.'
}

func (p *parser) value() (string, error) {
	if strings.HasPrefix(p.rest, `"`) {
		return p.quoted()
	}
	end := strings.IndexAny(p.rest, " \t\r\n#")
	if end < 0 {
		end = len(p.rest)
	}
	word := p.rest[:end]
	p.rest = p.rest[end:]
	switch word {
	case "true", "on":
		return "true", nil
	case "false", "off":
		return "false", nil
	}
	if _, err := strconv.ParseFloat(word, 64); err == nil {
		return word, nil
	}
	return "", errors.New("the value must be a number, true, false, or text in double quotes")
}

// quoted reads text in double quotes with its escapes.
func (p *parser) quoted() (string, error) {
	var b strings.Builder
	start := p.line
	for i := 1; i < len(p.rest); i++ {
		switch c := p.rest[i]; c {
		case '"':
			p.rest = p.rest[i+1:]
			return b.String(), nil
		case '\\':
			size, err := p.escape(&b, p.rest[i+1:])
			if err != nil {
				return "", err
			}
			i += size
		case '$':
			size, err := p.interpolate(&b, p.rest[i+1:])
			if err != nil {
				return "", err
			}
			i += size
		case '\n':
			p.line++
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	p.line = start
	return "", errors.New("the closing quote is missing")
}

// escape writes what stands behind a backslash and gives its length.
func (p *parser) escape(b *strings.Builder, text string) (int, error) {
	if text == "" {
		return 0, errors.New("the closing quote is missing")
	}
	switch text[0] {
	case 'n':
		b.WriteByte('\n')
	case 'r':
		b.WriteByte('\r')
	case 't':
		b.WriteByte('\t')
	case '"', '\\':
		b.WriteByte(text[0])
	case 'u':
		return unicodeEscape(b, text)
	default:
		return 0, errors.New(`a backslash goes with one of " \ n r t u; a backslash itself is written twice`)
	}
	return 1, nil
}

// unicodeEscape writes the character of uXXXX.
func unicodeEscape(b *strings.Builder, text string) (int, error) {
	const size = 5
	if len(text) >= size {
		code, err := strconv.ParseUint(text[1:size], 16, 16)
		if err == nil && utf8.ValidRune(rune(code)) {
			b.WriteRune(rune(code))
			return size, nil
		}
	}
	return 0, errors.New(`\u goes with the four hexadecimal digits of a character`)
}

// interpolate writes what stands behind a dollar: another one, or the name of a variable of the environment.
func (p *parser) interpolate(b *strings.Builder, text string) (int, error) {
	if strings.HasPrefix(text, "$") {
		b.WriteByte('$')
		return 1, nil
	}
	name, _, closed := strings.Cut(strings.TrimPrefix(text, "("), ")")
	if !strings.HasPrefix(text, "(") || !closed || name == "" || strings.ContainsAny(name, "\" \n") {
		return 0, errors.New("a dollar is written twice; $(NAME) stands for a variable of the environment")
	}
	value, found := p.environment(name)
	if !found {
		return 0, fmt.Errorf("the environment has no variable %s", name)
	}
	b.WriteString(value)
	return len(name) + 2, nil
}
