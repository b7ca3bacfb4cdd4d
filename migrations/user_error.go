package migrations

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"
)

// StatementError is a statement of a user's migration that PostgreSQL refused.
type StatementError struct {
	File string
	// Line and Column, from 1, are where PostgreSQL points at, or where the statement
	// begins when it points nowhere.
	Line, Column int
	Statement    string
	// Advice is what Basalt adds to PostgreSQL's own hint.
	Advice string
	// Refusal holds PostgreSQL's message, detail, hint, SQLSTATE.
	Refusal *pgconn.PgError
}

// Error is one line: where, and PostgreSQL's message.
func (e *StatementError) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s (SQLSTATE %s)", e.File, e.Line, e.Column, e.Refusal.Message, e.Refusal.Code)
}

// Unwrap gives PostgreSQL's error.
func (e *StatementError) Unwrap() error { return e.Refusal }

// Explain is all there is to know, for a person at a terminal.
func (e *StatementError) Explain() string {
	var text strings.Builder
	fmt.Fprintln(&text, e.Error())
	for _, part := range []struct{ name, text string }{
		{"detail", e.Refusal.Detail},
		{"hint", e.Refusal.Hint},
		{"where", e.Refusal.Where},
		{"advice", e.Advice},
	} {
		if part.text != "" {
			fmt.Fprintf(&text, "  %s: %s\n", part.name, part.text)
		}
	}
	const most = 2000
	statement := e.Statement
	if len(statement) > most {
		statement = strings.ToValidUTF8(statement[:most], "") + " …"
	}
	for line := range strings.Lines(statement) {
		fmt.Fprintf(&text, "  | %s\n", strings.TrimRight(line, "\r\n"))
	}
	return text.String()
}

// statementError places PostgreSQL's refusal of a statement in its file.
func statementError(s *script, statement Statement, refusal *pgconn.PgError) *StatementError {
	offset := statement.Offset
	if refusal.Position > 0 {
		offset += characterOffset(statement.Text, int(refusal.Position)-1)
	}
	line, column := place(s.text, offset)
	return &StatementError{
		File:      s.file,
		Line:      line,
		Column:    column,
		Statement: statement.Text,
		Advice:    advice(s, refusal),
		Refusal:   refusal,
	}
}

func advice(s *script, refusal *pgconn.PgError) string {
	switch refusal.Code {
	case "25001", "2D000":
		return fmt.Sprintf("write '-- %s' in the first line of the file: its statements then run one by one, outside of a transaction", separateMark)
	case "55P04":
		return "add the value in a migration of its own: PostgreSQL lets it be used only after the commit"
	}
	return ""
}

// characterOffset turns a count of characters, as PostgreSQL counts, into bytes.
func characterOffset(text string, characters int) int {
	offset := 0
	for ; characters > 0 && offset < len(text); characters-- {
		_, size := utf8.DecodeRuneInString(text[offset:])
		offset += size
	}
	return offset
}
