package migrations

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestSplitCutsWherePsqlCuts(t *testing.T) {
	cases := []struct {
		name, script string
		want         []string
	}{
		{"nothing", " \n-- a comment; with a semicolon\n/* and; another */ ;; ", nil},
		{"two statements, the last without an end", "select 1; select 2", []string{"select 1", "select 2"}},
		{"a semicolon in a string", "select ';'';'; select 2;", []string{"select ';'';'", "select 2"}},
		{"a backslash does not escape in a plain string", `select '\'; select 2;`, []string{`select '\'`, "select 2"}},
		{"a backslash escapes in an E string", `select E'\';'; select 2;`, []string{`select E'\';'`, "select 2"}},
		{"an E string goes on after a line break", "select e'a'\n  '\\';'; select 2;", []string{"select e'a'\n  '\\';'", "select 2"}},
		{"a name that ends in e makes no E string", `select type'\'; select 2;`, []string{`select type'\'`, "select 2"}},
		{"a semicolon in a quoted name", `select 1 as "a;""b"; select 2;`, []string{`select 1 as "a;""b"`, "select 2"}},
		{"a Unicode string", `select U&'\0041;'; select 2;`, []string{`select U&'\0041;'`, "select 2"}},
		{"dollar quotes", "do $$ begin; end $$; do $a_1$ $$;$b$; $a_1$;", []string{"do $$ begin; end $$", "do $a_1$ $$;$b$; $a_1$"}},
		{"parameters open no dollar quote", "prepare p as select $1;select $1;", []string{"prepare p as select $1", "select $1"}},
		{"a dollar sign in a name opens none", "select 1 as a$b$; select 2 as c$b$;", []string{"select 1 as a$b$", "select 2 as c$b$"}},
		{"nested comments", "select 1 /* a; /* b; */ c; */; select 2;", []string{"select 1 /* a; /* b; */ c; */", "select 2"}},
		{"a comment within", "select 1 -- one; two\n + 2;", []string{"select 1 -- one; two\n + 2"}},
		{
			"a rule with several commands",
			"create rule r as on insert to t do also (delete from a; delete from b); select 2;",
			[]string{"create rule r as on insert to t do also (delete from a; delete from b)", "select 2"},
		},
		{
			"a body in the standard's form",
			"create or replace function f(a int) returns int begin atomic select case when a = 1 then 2 else 3 end; select 4; end; select 2;",
			[]string{"create or replace function f(a int) returns int begin atomic select case when a = 1 then 2 else 3 end; select 4; end", "select 2"},
		},
		{
			"begin outside of a routine ends at once",
			"begin; create table atomic (id int); end;",
			[]string{"begin", "create table atomic (id int)", "end"},
		},
		{"a table called function", "create table function_log (id int); select 1;", []string{"create table function_log (id int)", "select 1"}},
		{"lines of psql", "\\restrict abc;def\nselect 1;\n\\unrestrict abc\n", []string{`\restrict abc;def`, "select 1", `\unrestrict abc`}},
		{"carriage returns", "select 1;\r\nselect 2;\r\n", []string{"select 1", "select 2"}},
		{"letters beyond ASCII", "select 'é;' as naïve; select 2;", []string{"select 'é;' as naïve", "select 2"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			found, err := Split(c.script)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, statement := range found {
				got = append(got, statement.Text)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestSplitTakesTheDataOfACopy(t *testing.T) {
	found, err := Split("COPY public.t (id, note) FROM stdin;\n1\ta;b\n2\t'\n\\.\n\nselect 1;\ncopy t from stdin with (format csv);\n\\.\n")
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 3 || found[0].Data != "1\ta;b\n2\t'\n" || found[1].Text != "select 1" || found[2].Data != "" {
		t.Errorf("got %+v", found)
	}
}

func TestSplitNamesWhatIsNeverClosed(t *testing.T) {
	for _, c := range []struct {
		name, script, open string
		offset             int
	}{
		{"a string", "select 1; select 'a;", "a string", 17},
		{"a quoted name", `select "a;`, "a quoted name", 7},
		{"a dollar quote", "do $x$ begin; $$;", "a string that begins with $x$", 3},
		{"a comment", "select 1 /* a /* b */", "a comment that begins with /*", 9},
		{"copy data", "copy t from stdin;\n1\n", `the data of a COPY (it ends with a line \.)`, 19},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Split(c.script)
			var syntax *SyntaxError
			if !errors.As(err, &syntax) || syntax.Open != c.open || syntax.Offset != c.offset {
				t.Errorf("got %#v", err)
			}
		})
	}
}

func TestPlaceCountsLinesAndCharacters(t *testing.T) {
	script := "a\né = x"
	if line, column := place(script, strings.Index(script, "x")); line != 2 || column != 5 {
		t.Errorf("got %d:%d", line, column)
	}
}

// FuzzSplit: Split never panics; statements stand in the script where they say, in
// order and apart; a statement that is split again is one statement, itself.
func FuzzSplit(f *testing.F) {
	for _, seed := range []string{
		"select 1; select 'a'';b';", "do $a$ ; $a$;", "create function f() returns int begin atomic select 1; end;",
		"copy t from stdin;\n1\n\\.\n", "/* a /* ; */ */ select e'\\'';", "\\restrict x\n", "select 1 -- a\n;", "(;);",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, script string) {
		found, err := Split(script)
		if err != nil {
			return
		}
		end := 0
		for _, s := range found {
			if s.Offset < end || !strings.HasPrefix(script[s.Offset:], s.Text) || s.Text == "" {
				t.Fatalf("statement %q does not stand at %d of %q", s.Text, s.Offset, script)
			}
			end = s.Offset + len(s.Text)
			if isCopyFromStdin(s.Text) {
				continue
			}
			again, err := Split(s.Text)
			if err != nil || len(again) != 1 || again[0].Text != s.Text {
				t.Fatalf("split again: %q gives %+v, %v", s.Text, again, err)
			}
		}
	})
}
