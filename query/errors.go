package query

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Codes of the errors that reading a request may end in.
const (
	CodeSyntax = "PGRST100" // the query string
	CodeBody   = "PGRST102"
	CodeRange  = "PGRST103"
)

// SyntaxError says where a query string leaves the grammar.
type SyntaxError struct {
	Code    string // CodeSyntax
	Message string // what was read, with line and column
	Details string // what stands there, and what was expected
	Pos     int    // offset in bytes within the text that Message names
}

func (e *SyntaxError) Error() string { return e.Message + ": " + e.Details }

// RangeError says that no row can be in the window asked for.
type RangeError struct {
	Code    string // CodeRange
	Message string
	Details string
}

func (e *RangeError) Error() string { return e.Message + ": " + e.Details }

// BodyError says why a body can not be read.
type BodyError struct {
	Code    string // CodeBody, or the SQLSTATE that PostgreSQL gives for the same text
	Message string
	Details string
	Row     int // the row that is wrong, counted from 1; 0 when it is not about a row
}

func (e *BodyError) Error() string {
	if e.Details == "" {
		return e.Message
	}
	return e.Message + ": " + e.Details
}

// maxQuoted is how much of a client's text an error repeats: enough to find it, too little to flood a log.
const maxQuoted = 256

func newSyntaxError(what, text string, shift, pos int, details string) *SyntaxError {
	line, column := 1, 1+shift
	for _, r := range text[:pos] {
		switch r {
		case '\n':
			line, column = line+1, 1
		default:
			column++
		}
	}
	var b strings.Builder
	b.WriteString(`"failed to parse `)
	b.WriteString(what)
	b.WriteString(" (")
	b.WriteString(shorten(text))
	b.WriteString(`)" (line `)
	b.WriteString(strconv.Itoa(line))
	b.WriteString(", column ")
	b.WriteString(strconv.Itoa(column))
	b.WriteString(")")
	return &SyntaxError{Code: CodeSyntax, Message: b.String(), Details: details, Pos: pos}
}

func tooMany(what string, most int) *SyntaxError {
	return &SyntaxError{
		Code:    CodeSyntax,
		Message: "Too many " + what,
		Details: "A query may hold " + strconv.Itoa(most) + " at most.",
	}
}

func shorten(text string) string {
	if len(text) <= maxQuoted {
		return text
	}
	end := maxQuoted
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}
