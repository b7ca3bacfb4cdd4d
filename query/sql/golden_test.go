package sql_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"basalt/query"
	"basalt/query/pgjson"
	"basalt/query/plan"
	"basalt/query/sql"
)

// Each golden file holds requests, every one followed by the statement that it compiles to. To add a case, add its
// request line and run the test with -update.
func TestRequestsCompileToTheStatementsOfTheGoldenFiles(t *testing.T) {
	s := newSample(t)
	files, err := filepath.Glob("testdata/*.golden")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".golden"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for _, entry := range entriesOf(string(want)) {
				got.WriteString(entry)
				if !strings.HasPrefix(entry, "## ") {
					s.describe(t, &got, strings.TrimSpace(entry))
					got.WriteByte('\n')
				}
			}
			if got.String() == string(want) {
				return
			}
			if *update {
				if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			t.Errorf("the statements are not those of %s; run with -update and look at the difference\n%s",
				file, firstDifference(string(want), got.String()))
		})
	}
}

// entriesOf gives the requests of a golden file with their bodies, and its headings.
func entriesOf(golden string) (entries []string) {
	for line := range strings.Lines(golden) {
		word, _, _ := strings.Cut(line, " ")
		switch word {
		case "GET", "POST", "PATCH", "PUT", "DELETE", "##":
			entries = append(entries, line)
		case ">":
			entries[len(entries)-1] += line
		}
	}
	return entries
}

// describe writes what a request compiles to, and has PostgreSQL check it.
func (s *sample) describe(t *testing.T, out *strings.Builder, line string) {
	_, statement, err := s.compile(line)
	if err != nil {
		describeError(t, out, line, err)
		return
	}
	s.with(t, func(conn *pgconn.PgConn) {
		if statement.Nothing {
			out.WriteString("nothing to do\n")
			return
		}
		describeStatement(t, out, conn, line, "", statement)
		if statement.Count != nil {
			describeStatement(t, out, conn, line, "count ", statement.Count)
		}
		if statement.Plan != nil {
			describeStatement(t, out, conn, line, "plan ", statement.Plan)
		}
	})
}

func describeStatement(t *testing.T, out *strings.Builder, conn *pgconn.PgConn, line, what string, s *sql.Statement) {
	fmt.Fprintf(out, "%ssql:\n", what)
	for text := range strings.Lines(s.SQL + "\n") {
		out.WriteString("\t" + text)
	}
	for i, p := range s.Params {
		fmt.Fprintf(out, "%s$%d: %s\n", what, i+1, describeParam(p))
	}
	if what == "" {
		describeAnswer(out, s)
	}
	if _, err := prepare(t, conn, s); err != nil {
		var refused *pgconn.PgError
		if !errors.As(err, &refused) || !strings.Contains(line, "refused="+refused.Code) {
			t.Errorf("%s: PostgreSQL refuses\n%s\n%v", line, s.SQL, err)
		}
	}
}

// describeAnswer writes how the rows of a statement become an answer.
func describeAnswer(out *strings.Builder, s *sql.Statement) {
	for _, hidden := range s.Hidden {
		switch hidden.Kind {
		case sql.KeyColumn:
			fmt.Fprintf(out, "hidden: key %s\n", hidden.Name)
		case sql.InsertedColumn:
			out.WriteString("hidden: inserted\n")
		case sql.CursorColumn:
			out.WriteString("hidden: cursor\n")
		case sql.TotalColumn:
			out.WriteString("hidden: total\n")
		case sql.ShownColumn:
			out.WriteString("hidden: shown\n")
		}
	}
	if !s.RowsAffected {
		fmt.Fprintf(out, "layout: %s\n", describeColumns(s.Layout.Columns))
	}
	for _, flag := range []struct {
		name string
		set  bool
	}{
		{"scalar", s.Scalar}, {"single", s.Single}, {"void", s.Void}, {"read only", s.ReadOnly},
		{"rows affected", s.RowsAffected},
	} {
		if flag.set {
			fmt.Fprintf(out, "%s\n", flag.name)
		}
	}
}

func describeParam(p sql.Param) string {
	form := map[query.CellForm]string{
		query.JSONCell: " as json", query.ArrayCell: " as array", query.JSONArrayCell: " as array of json",
	}[p.Form]
	switch p.Source {
	case sql.Constant:
		return fmt.Sprintf("constant %q", p.Text)
	case sql.Limit:
		return "limit"
	case sql.Offset:
		return "offset"
	case sql.Cell:
		return fmt.Sprintf("cell %d%s", p.Index, form)
	case sql.Cells:
		return fmt.Sprintf("cells %d%s", p.Index, form)
	case sql.Given:
		return fmt.Sprintf("given %d", p.Index)
	case sql.Rows:
		return "rows"
	case sql.Body:
		return "body"
	case sql.BodyBytes:
		return "body as bytes"
	case sql.PageLimit:
		return "limit and one more"
	case sql.MaxAffected:
		return "max-affected"
	case sql.Cursor:
		return fmt.Sprintf("cursor %d", p.Index)
	}
	text := fmt.Sprintf("value %d", p.Index)
	if p.Source == sql.Argument {
		text = fmt.Sprintf("argument %d", p.Index)
	}
	if p.Like {
		text += ", pattern"
	}
	if p.List {
		text += ", list"
	}
	if p.Max > 0 {
		text += fmt.Sprintf(", at most %d", p.Max)
	}
	return text
}

func describeColumns(columns []pgjson.Column) string {
	parts := make([]string, len(columns))
	for i, c := range columns {
		parts[i] = c.Key
		switch c.Kind {
		case pgjson.Scalar:
			parts[i] += "scalar"
		case pgjson.Wrapped:
			parts[i] += "wrapped"
		case pgjson.Record:
			parts[i] += "record(" + describeColumns(c.Members) + ")"
		case pgjson.Records:
			parts[i] += "records(" + describeColumns(c.Members) + ")"
		case pgjson.List:
			parts[i] += "list(" + describeColumns(c.Members) + ")"
		}
	}
	return strings.Join(parts, " ")
}

func describeError(t *testing.T, out *strings.Builder, line string, err error) {
	var refused *plan.Error
	if !errors.As(err, &refused) {
		t.Fatalf("%s: %v", line, err)
	}
	fmt.Fprintf(out, "error: %s %s\n", refused.Code, refused.Message)
	if refused.Details != "" {
		fmt.Fprintf(out, "details: %s\n", refused.Details)
	}
	for _, c := range refused.Choices {
		fmt.Fprintf(out, "choice: %s, %s, %s\n", c.Cardinality, c.Embedding, c.Relationship)
	}
	if refused.Hint != "" {
		fmt.Fprintf(out, "hint: %s\n", refused.Hint)
	}
}

func firstDifference(want, got string) string {
	wanted, gotten := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range wanted {
		if i >= len(gotten) || wanted[i] != gotten[i] {
			rest := ""
			if i < len(gotten) {
				rest = gotten[i]
			}
			return fmt.Sprintf("line %d\nwant: %s\ngot:  %s", i+1, wanted[i], rest)
		}
	}
	return "lines beyond the end"
}
