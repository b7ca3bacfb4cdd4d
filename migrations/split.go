package migrations

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Statement is one SQL statement of a script.
type Statement struct {
	// Text is the statement without its semicolon and without what stands before
	// its first word.
	Text string
	// Offset is where Text begins in the script, in bytes.
	Offset int
	// Data holds the lines that follow a "copy … from stdin", without the final "\.".
	Data string
}

// ReadsData tells a "copy … from stdin", which takes Data.
func (s *Statement) ReadsData() bool { return isCopyFromStdin(s.Text) }

// CopyData is what a SyntaxError calls the lines behind a "copy … from stdin" whose end is not there.
const CopyData = `the data of a COPY (it ends with a line \.)`

// SyntaxError says that a script ends inside something that was opened.
type SyntaxError struct {
	// Offset is where it was opened, in bytes.
	Offset int
	// Open names what was opened.
	Open string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s is never closed", e.Open)
}

// Split cuts a script at the semicolons that end its statements, by the lexical
// rules of PostgreSQL with standard_conforming_strings on (Documentation, 4.1), and
// by psql's for "begin atomic" bodies, rules with several commands and inline COPY
// data. Lines that start with a backslash between statements become statements of
// their own, as psql would read them.
func Split(script string) ([]Statement, error) {
	s := splitter{text: script}
	for s.skipSpace(); s.pos < len(s.text); s.skipSpace() {
		if err := s.statement(); err != nil {
			return nil, err
		}
	}
	if s.open != nil {
		return nil, s.open
	}
	return s.found, nil
}

type splitter struct {
	text  string
	pos   int
	found []Statement
	// open is the first thing that the end of the script cut off.
	open *SyntaxError
}

// skipSpace passes over white space and comments between statements.
func (s *splitter) skipSpace() {
	for s.pos < len(s.text) {
		switch {
		case isSpace(s.text[s.pos]):
			s.pos++
		case s.at("--"), s.at("/*"):
			s.comment()
		default:
			return
		}
	}
}

// statement reads from the first character of a statement past its end.
func (s *splitter) statement() error {
	start := s.pos
	if s.text[start] == '\\' {
		s.line()
		s.add(start, s.pos)
		return nil
	}
	var body routineBody
	parens := 0
	for s.pos < len(s.text) {
		switch c := s.text[s.pos]; {
		case c == ';' && parens == 0 && body.depth == 0:
			end := s.pos
			s.pos++
			s.add(start, end)
			return s.copyData()
		case s.at("--"), s.at("/*"):
			s.comment()
		case c == '\'':
			s.quoted('\'', false)
		case c == '"':
			s.quoted('"', false)
		case c == '$':
			s.dollar()
		case c == '(':
			parens++
			s.pos++
		case c == ')':
			parens = max(parens-1, 0)
			s.pos++
		case isWordStart(c):
			word := s.word()
			if (word == "e" || word == "E") && s.at("'") {
				s.quoted('\'', true)
				continue
			}
			if parens == 0 {
				body.see(word, s.text[s.pos:])
			}
		case c >= '0' && c <= '9':
			// A number takes the letters that follow, so that 1e'…' is no E string.
			s.word()
		default:
			s.pos++
		}
	}
	s.add(start, len(s.text))
	return nil
}

func (s *splitter) add(start, end int) {
	if text := strings.TrimRight(s.text[start:end], " \t\r\n\f\v"); text != "" {
		s.found = append(s.found, Statement{Text: text, Offset: start})
	}
}

func (s *splitter) at(prefix string) bool {
	return strings.HasPrefix(s.text[s.pos:], prefix)
}

func (s *splitter) unclosed(start int, what string) {
	s.pos = len(s.text)
	if s.open == nil {
		s.open = &SyntaxError{Offset: start, Open: what}
	}
}

// line moves past the end of the line.
func (s *splitter) line() {
	if end := strings.IndexByte(s.text[s.pos:], '\n'); end >= 0 {
		s.pos += end + 1
	} else {
		s.pos = len(s.text)
	}
}

// comment passes over a comment. Block comments nest, other than in C.
func (s *splitter) comment() {
	if s.at("--") {
		s.line()
		return
	}
	start, depth := s.pos, 0
	for s.pos < len(s.text) {
		switch {
		case s.at("/*"):
			depth++
			s.pos += 2
		case s.at("*/"):
			depth--
			s.pos += 2
			if depth == 0 {
				return
			}
		default:
			s.pos++
		}
	}
	s.unclosed(start, "a comment that begins with /*")
}

// quoted passes over a string or a quoted name. A doubled quote needs no care: it
// ends one string and begins the next. With escapes a backslash takes the next
// character with it, also where the string goes on after a line break.
func (s *splitter) quoted(quote byte, escapes bool) {
	start := s.pos
	for {
		s.pos++
		for s.pos < len(s.text) && s.text[s.pos] != quote {
			if escapes && s.text[s.pos] == '\\' {
				s.pos++
			}
			s.pos++
		}
		if s.pos >= len(s.text) {
			s.unclosed(start, "a "+map[byte]string{'\'': "string", '"': "quoted name"}[quote])
			return
		}
		s.pos++
		if !escapes {
			return
		}
		next, ok := s.continuation()
		if !ok {
			return
		}
		s.pos = next
	}
}

// continuation finds the quote with which an E string goes on: the next character,
// or after white space that has a line break in it.
func (s *splitter) continuation() (int, bool) {
	broken := false
	for i := s.pos; i < len(s.text); i++ {
		switch c := s.text[i]; {
		case c == '\'':
			return i, broken || i == s.pos
		case c == '\n' || c == '\r':
			broken = true
		case !isSpace(c):
			return 0, false
		}
	}
	return 0, false
}

// dollar passes over a dollar-quoted string, or over a lone dollar sign.
func (s *splitter) dollar() {
	start := s.pos
	end := start + 1
	for end < len(s.text) && s.text[end] != '$' && isWordByte(s.text[end]) {
		end++
	}
	tagged := end < len(s.text) && s.text[end] == '$' && (end == start+1 || !isDigit(s.text[start+1]))
	if !tagged {
		s.pos++
		return
	}
	tag := s.text[start : end+1]
	rest := strings.Index(s.text[end+1:], tag)
	if rest < 0 {
		s.unclosed(start, "a string that begins with "+tag)
		return
	}
	s.pos = end + 1 + rest + len(tag)
}

// word reads a name, keyword or number. A dollar sign within belongs to it, so
// that a$b$ opens no string.
func (s *splitter) word() string {
	start := s.pos
	for s.pos < len(s.text) && isWordByte(s.text[s.pos]) {
		s.pos++
	}
	return s.text[start:s.pos]
}

// copyData takes the lines that follow a COPY FROM STDIN.
func (s *splitter) copyData() error {
	if len(s.found) == 0 || !isCopyFromStdin(s.found[len(s.found)-1].Text) {
		return nil
	}
	s.line()
	start := s.pos
	for s.pos < len(s.text) {
		lineStart := s.pos
		s.line()
		if strings.TrimRight(s.text[lineStart:s.pos], "\r\n") == `\.` {
			s.found[len(s.found)-1].Data = s.text[start:lineStart]
			return nil
		}
	}
	return &SyntaxError{Offset: start, Open: CopyData}
}

// routineBody follows whether the semicolons belong to the body of a routine in
// the SQL standard's form: create function … begin atomic …; …; end.
type routineBody struct {
	words int
	// routine: the statement began with create [or replace] function or procedure.
	routine bool
	depth   int
}

func (b *routineBody) see(word, rest string) {
	word = strings.ToLower(word)
	b.words++
	switch {
	case b.words == 1:
		b.routine = word == "create"
	case !b.routine:
	case b.words == 2 && word == "or", b.words == 3 && word == "replace":
	case b.words <= 4 && (word == "function" || word == "procedure"):
		b.words = 4
	case b.words <= 4:
		b.routine = false
	case word == "begin" && b.depth == 0 && strings.EqualFold(firstWord(rest), "atomic"):
		b.depth = 1
	case b.depth > 0 && word == "case":
		b.depth++
	case b.depth > 0 && word == "end":
		b.depth--
	}
}

func isCopyFromStdin(text string) bool {
	words := keywords(text)
	if len(words) == 0 || words[0] != "copy" {
		return false
	}
	for i := range len(words) - 1 {
		if words[i] == "from" && words[i+1] == "stdin" {
			return true
		}
	}
	return false
}

// firstWord returns the first word of text after space and comments.
func firstWord(text string) string {
	s := splitter{text: text}
	s.skipSpace()
	return s.word()
}

// keywords returns the words of a statement that stand outside of strings, quoted
// names, comments and parentheses, in lower case.
func keywords(text string) []string {
	var words []string
	s := splitter{text: text}
	depth := 0
	for s.pos < len(s.text) {
		switch c := s.text[s.pos]; {
		case s.at("--"), s.at("/*"):
			s.comment()
		case c == '\'' || c == '"':
			s.quoted(c, false)
		case c == '$':
			s.dollar()
		case c == '(':
			depth++
			s.pos++
		case c == ')':
			depth--
			s.pos++
		case isWordByte(c):
			word := strings.ToLower(s.word())
			if word == "e" && s.at("'") {
				s.quoted('\'', true)
			} else if depth == 0 {
				words = append(words, word)
			}
		default:
			s.pos++
		}
	}
	return words
}

// place turns a byte offset of a script into a line and a column, both from 1; the
// column counts characters.
func place(script string, offset int) (line, column int) {
	before := script[:min(offset, len(script))]
	line = strings.Count(before, "\n") + 1
	column = utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
	return line, column
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isWordStart(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func isWordByte(c byte) bool { return isWordStart(c) || isDigit(c) || c == '$' }
