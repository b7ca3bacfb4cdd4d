package postgrest

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

func environment(name string) (string, bool) {
	value, found := map[string]string{"SECRET": "s3cret", "EMPTY": ""}[name]
	return value, found
}

func TestParse(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want []Assignment
	}{
		"nothing":                      {"", nil},
		"comments and empty lines":     {"# a\n\n  # b = \"c\"\n", nil},
		"text":                         {`db-uri = "postgres://u:p@h/d"`, []Assignment{{"db-uri", "postgres://u:p@h/d", 1}}},
		"without blanks":               {`a="b"`, []Assignment{{"a", "b", 1}}},
		"numbers and switches":         {"a = 10\nb = true\nc = off\nd = 1.5\n", []Assignment{{"a", "10", 1}, {"b", "true", 2}, {"c", "false", 3}, {"d", "1.5", 4}}},
		"a comment behind a value":     {"a = \"b\" # c\nd = 1# e\n", []Assignment{{"a", "b", 1}, {"d", "1", 2}}},
		"a comment's sign inside":      {`a = "b # c"`, []Assignment{{"a", "b # c", 1}}},
		"escapes":                      {`a = "\"\\\n\t\u00e9"`, []Assignment{{"a", "\"\\\n\té", 1}}},
		"dollars":                      {`a = "$$.role$$"`, []Assignment{{"a", "$.role$", 1}}},
		"the environment":              {`app.settings.key = "<$(SECRET)$(EMPTY)>"`, []Assignment{{"app.settings.key", "<s3cret>", 1}}},
		"text over several lines":      {"a = \"{\n}\"\nb = 1", []Assignment{{"a", "{\n}", 1}, {"b", "1", 3}}},
		"line ends of another system":  {"a = 1\r\nb = \"c\"\r\n", []Assignment{{"a", "1", 1}, {"b", "c", 2}}},
		"a mark at the beginning":      {"\uFEFFa = 1", []Assignment{{"a", "1", 1}}},
		"the same key twice":           {"a = 1\na = 2", []Assignment{{"a", "1", 1}, {"a", "2", 2}}},
		"an assignment that is broken": {"a\n =\n", nil},
	} {
		got, err := Parse(test.text, environment)
		if name == "an assignment that is broken" {
			if err == nil {
				t.Errorf("%s passes", name)
			}
			continue
		}
		if err != nil || !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

func TestParseSaysWhereItFails(t *testing.T) {
	for text, want := range map[string]string{
		"a = 1\ncanary":               "line 2: a line of the form",
		"a = 1\n= 2":                  "line 2: a line of the form",
		"a = canary":                  "line 1: a: the value must be",
		"a =":                         "line 1: a: the value must be",
		"\n\nb = \"canary\nmore":      "line 3: b: the closing quote is missing",
		`a = "canary" more`:           "line 1: a: something follows",
		`a = "b`:                      "line 1: a: the closing quote",
		`a = "b\`:                     "line 1: a: the closing quote",
		`a = "canary\x"`:              "line 1: a: a backslash goes",
		`a = "canary\u12"`:            `line 1: a: \u goes`,
		`a = "\ud800"`:                `line 1: a: \u goes`,
		`a = "canary$b"`:              "line 1: a: a dollar is written twice",
		`a = "$(NONE)"`:               "line 1: a: the environment has no variable NONE",
		`a = "$(NONE"`:                "line 1: a: a dollar",
		"import \"canary\"":           "line 1: import is not supported",
		"app {\n settings.x = \"y\"}": "line 1: groups are not supported",
		"a = [1, 2]":                  "line 1: a: the value must be",
		"a = \"\xff\"":                "line 1: the file is not UTF-8",
	} {
		_, err := Parse(text, environment)
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		} else if strings.Contains(err.Error(), "canary") {
			t.Errorf("%q: %v repeats the text", text, err)
		}
	}
}

// FuzzParse: nothing makes the reader panic, keys are of their alphabet, and lines are in the file.
func FuzzParse(f *testing.F) {
	f.Add("a = \"b\\\"\\u00e9$$$(SECRET)\" # c\nd = 1\n")
	f.Add("app.settings.x = on\r\n\"")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := Parse(text, environment)
		if err != nil {
			return
		}
		for _, a := range list {
			if a.Key == "" || strings.TrimFunc(a.Key, func(r rune) bool { return r < 0x80 && isKeyByte(byte(r)) }) != "" {
				t.Fatalf("%q gives the key %q", text, a.Key)
			}
			if a.Line < 1 || a.Line > strings.Count(text, "\n")+1 {
				t.Fatalf("%q gives the line %d", text, a.Line)
			}
		}
	})
}
