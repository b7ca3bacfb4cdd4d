package migrations

import (
	"fmt"
	"strings"
)

// script is a user's file, cut into what runs together.
type script struct {
	file string
	text string
	// steps run in order. In a file that is one transaction each holds one statement;
	// else what the file puts between begin and commit stays together.
	steps [][]Statement
	// separate: the file asked to run outside of one transaction.
	separate bool
}

// separateMark in a comment before the first statement makes a file run statement
// by statement, for what PostgreSQL refuses inside a transaction.
const separateMark = "basalt: no-transaction"

// ScriptError is what is wrong with a file before any of it has run.
type ScriptError struct {
	File         string
	Line, Column int
	Message      string
}

func (e *ScriptError) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
}

func parseScript(file userFile) (*script, error) {
	s := &script{file: file.file, text: file.text}
	statements, err := Split(file.text)
	if syntax, ok := err.(*SyntaxError); ok {
		return nil, s.refuse(syntax.Offset, syntax.Error())
	}
	head := len(file.text)
	if len(statements) > 0 {
		head = statements[0].Offset
	}
	s.separate = marked(file.text[:head])

	var together []Statement // between begin and commit, nil outside
	opened := 0
	for _, statement := range statements {
		words := keywords(statement.Text)
		switch kind := transactionKind(words); {
		case strings.HasPrefix(statement.Text, `\`):
			// Newer versions of pg_dump write these two around their output.
			if command := strings.Fields(statement.Text)[0]; command != `\restrict` && command != `\unrestrict` {
				return nil, s.refuse(statement.Offset, command+" is a command of psql: a migration holds SQL only")
			}
		case kind == "begin" && s.separate && together == nil:
			together, opened = []Statement{}, statement.Offset
		case kind == "commit" && together != nil:
			s.steps = append(s.steps, together)
			together = nil
		case kind == "begin", kind == "commit":
			// The file is one transaction already.
		case kind == "rollback":
			return nil, s.refuse(statement.Offset, "a migration cannot roll itself back: PostgreSQL does so when a statement fails")
		case together != nil:
			together = append(together, statement)
		default:
			s.steps = append(s.steps, []Statement{statement})
		}
	}
	if together != nil {
		return nil, s.refuse(opened, "this transaction is never committed")
	}
	return s, nil
}

func (s *script) refuse(offset int, message string) error {
	line, column := place(s.text, offset)
	return &ScriptError{File: s.file, Line: line, Column: column, Message: message}
}

// marked looks for the mark in the comments before the first statement.
func marked(head string) bool {
	for line := range strings.Lines(head) {
		if comment, ok := strings.CutPrefix(strings.TrimSpace(line), "--"); ok && strings.TrimSpace(comment) == separateMark {
			return true
		}
	}
	return false
}

// transactionKind tells "begin", "commit" and "rollback" of a whole transaction
// from every other statement. Savepoints are left to PostgreSQL.
func transactionKind(words []string) string {
	if len(words) == 0 {
		return ""
	}
	second := ""
	if len(words) > 1 {
		second = words[1]
	}
	switch words[0] {
	case "begin":
		return "begin"
	case "start":
		if second == "transaction" {
			return "begin"
		}
	case "commit", "end":
		if second != "prepared" {
			return "commit"
		}
	case "rollback", "abort":
		for _, word := range words[1:] {
			if word == "to" || word == "prepared" {
				return ""
			}
		}
		return "rollback"
	}
	return ""
}

// setsSession tells statements whose effect lives in the session only, which has to
// be brought about again when a file goes on in another session.
func setsSession(words []string) bool {
	if len(words) == 0 {
		return false
	}
	switch words[0] {
	case "set", "reset":
		return true
	case "select":
		return len(words) <= 3 && words[len(words)-1] == "set_config"
	}
	return false
}

// progressSum covers the steps that are done, so that the rest may still change.
func progressSum(steps [][]Statement) string {
	var all strings.Builder
	for _, step := range steps {
		for _, statement := range step {
			all.WriteString(strings.ReplaceAll(statement.Text+"\x00"+statement.Data, "\r\n", "\n"))
			all.WriteString("\x00")
		}
	}
	return checksum([]byte(all.String()))
}

// concurrentIndex returns the name of the index that a "create index concurrently"
// makes, and whether the statement is one that names its index.
func concurrentIndex(text string) (name string, ok bool) {
	s := splitter{text: text}
	next := func() (string, bool) {
		s.skipSpace()
		if s.at(`"`) {
			start := s.pos
			for again := true; again; again = s.at(`"`) {
				s.quoted('"', false)
			}
			return strings.ReplaceAll(s.text[start+1:s.pos-1], `""`, `"`), true
		}
		return strings.ToLower(s.word()), false
	}
	word, quoted := next()
	if word != "create" || quoted {
		return "", false
	}
	if word, _ = next(); word == "unique" {
		word, _ = next()
	}
	concurrently, _ := next()
	if word != "index" || concurrently != "concurrently" {
		return "", false
	}
	name, quoted = next()
	if name == "if" && !quoted {
		next() // not
		next() // exists
		name, quoted = next()
	}
	if name == "" || name == "on" && !quoted {
		return "", false
	}
	return name, true
}
