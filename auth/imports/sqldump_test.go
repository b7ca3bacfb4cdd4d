package imports

import (
	"fmt"
	"strings"
	"testing"
)

// rowsOf reads a dump's rows of a table as `column=value` lists; NULL stands for itself.
func rowsOf(t *testing.T, table, text string) ([]string, error) {
	t.Helper()
	var rows []string
	err := newDump(strings.NewReader(text), table, func(line int, values map[string]*string, fault string) error {
		row := fmt.Sprint(line, ":")
		for _, name := range []string{"id", "email", "n"} {
			if value, there := values[name]; there && value == nil {
				row += " " + name + "=NULL"
			} else if there {
				row += " " + name + "=" + *value
			}
		}
		if fault != "" {
			row += " (" + fault + ")"
		}
		rows = append(rows, row)
		return nil
	}).read()
	return rows, err
}

func TestRowsOfADumpAreThoseOfTheirTableAlone(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		rows string
	}{
		"rows of COPY": {
			"-- a comment; with a semicolon 'and a quote\nCOPY auth.users (id, email) FROM stdin;\n1\ta\\tb\\\\\n\\N\t\n\\.\n",
			"3: id=1 email=a\tb\\|4: id=NULL email=",
		},
		"rows of INSERT": {
			`insert into auth.users (id, email, n) values (1, 'it''s', -2.5), (NULL, E'a\'b\n', true);`,
			"1: id=1 email=it's n=-2.5|1: id=NULL email=a'b\n n=true",
		},
		"names in quotes, columns in any order": {
			`INSERT INTO "auth"."users" ("email", "id") OVERRIDING SYSTEM VALUE VALUES ('x', 1) ON CONFLICT ("id") DO NOTHING;`,
			"1: id=1 email=x",
		},
		"several statements": {
			"INSERT INTO auth.users (id) VALUES (1);\nINSERT INTO auth.users (id) VALUES (2);COPY auth.users (id) FROM stdin;\n3\n\\.\nINSERT INTO auth.users (id) VALUES (4);",
			"1: id=1|2: id=2|3: id=3|5: id=4",
		},
		"another table's rows":        {"INSERT INTO public.users (id) VALUES (1);INSERT INTO users (id) VALUES (1);COPY other.users (id) FROM stdin;\n1\n\\.\n", ""},
		"a text with a statement":     {"INSERT INTO x (id) VALUES ('\nINSERT INTO auth.users (id) VALUES (1);\n');", ""},
		"a text with a COPY":          {"INSERT INTO x (id) VALUES (E'\\'\nCOPY auth.users (id) FROM stdin;\n1\n\\\\.\n');", ""},
		"a row with a statement":      {"COPY x (id) FROM stdin;\nINSERT INTO auth.users (id) VALUES (1);\n\\.\n", ""},
		"a function's text":           {"CREATE FUNCTION f() AS $body$ $$;\nINSERT INTO auth.users (id) VALUES (1);\n$other$ $body$;", ""},
		"a name with a quote":         {"CREATE TABLE \"a';\nINSERT INTO auth.users (id) VALUES (1);\" (id int);", ""},
		"a comment in a comment":      {"/* /* */ INSERT INTO auth.users (id) VALUES (1); */", ""},
		"a parameter":                 {"PREPARE p AS SELECT $1; INSERT INTO auth.users (id) VALUES (1);", "1: id=1"},
		"a COPY to the outside":       {"COPY auth.users (id) TO stdout;\nINSERT INTO auth.users (id) VALUES (1);", "2: id=1"},
		"commands of psql":            {"\\restrict 'abc\n\\connect \"x\nINSERT INTO auth.users (id) VALUES (1);\n\\unrestrict abc", "3: id=1"},
		"ends of lines as on Windows": {"COPY auth.users (id, email) FROM stdin;\r\n1\tx\r\n\\.\r\n", "2: id=1 email=x"},
		"a row that is too short":     {"COPY auth.users (id, email) FROM stdin;\n1\n\\.\n", "2: (it has 1 values for 2 columns)"},
		"a tuple that is too long":    {"INSERT INTO auth.users (id) VALUES (1, 2);", "1: id=1 (it has 2 values for 1 columns)"},
		"a text without end": {
			"INSERT INTO auth.users (id, email) VALUES ('" + strings.Repeat("x", mostOfRow+1) + "', 'y'), ('2', 'z');",
			"1: id=NULL email=y (it is too long)|1: id=2 email=z",
		},
		"a line without end": {
			"COPY auth.users (id) FROM stdin;\n" + strings.Repeat("x", mostOfRow+1) + "\n2\n\\.\n",
			"2: (it is too long)|3: id=2",
		},
	} {
		rows, err := rowsOf(t, "auth.users", c.text)
		got := strings.Join(rows, "|")
		if name == "a line without end" {
			_, cut, _ := strings.Cut(got, "(")
			got = "2: (" + cut
		}
		if err != nil || got != c.rows {
			t.Errorf("%s: %q, %v, not %q", name, got[:min(len(got), 300)], err, c.rows)
		}
	}
}

// FuzzDump writes a text as pg_dump would, in the rows of accounts and of others, and wants it back whole and once; and
// reads the text as a dump, which must not panic.
func FuzzDump(f *testing.F) {
	for _, seed := range []string{"", "a", "it's", `\`, `\.`, "\n\\.\n", "\t", "');", "$$", "E'", "--", "/*", "\r", "ü", "INSERT INTO auth.users (id) VALUES (1);"} {
		f.Add(seed)
	}
	copied := strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`)
	f.Fuzz(func(t *testing.T, text string) {
		literal := "'" + strings.ReplaceAll(text, "'", "''") + "'"
		dump := "COPY other (id) FROM stdin;\n" + copied.Replace(text) + "\n\\.\nINSERT INTO other (id) VALUES (" + literal + ");\n" +
			"COPY auth.users (id) FROM stdin;\n" + copied.Replace(text) + "\n\\.\nINSERT INTO auth.users (id) VALUES (" + literal + ");"
		var found []string
		err := newDump(strings.NewReader(dump), "auth.users", func(_ int, values map[string]*string, fault string) error {
			if fault != "" || values["id"] == nil {
				t.Fatalf("%q: %q %v", text, fault, values)
			}
			found = append(found, *values["id"])
			return nil
		}).read()
		if err != nil || len(found) != 2 || found[0] != text || found[1] != text {
			t.Fatalf("%q is read as %q, %v", text, found, err)
		}
		_ = newDump(strings.NewReader(text), "auth.users", func(int, map[string]*string, string) error { return nil }).read()
	})
}
