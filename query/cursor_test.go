package query

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestCursorsAreReadAsTheyWereWritten(t *testing.T) {
	for _, values := range [][]CursorValue{
		nil,
		{{Text: ""}},
		{{Null: true}},
		{{Text: "a"}, {Null: true}, {Text: "null"}, {Text: "ünï\n\"'"}, {Text: strings.Repeat("x", 300)}},
	} {
		c := &Cursor{Order: 1 << 63, Values: values}
		text := string(c.Append(nil))
		got, err := ParseCursor(text)
		if err != nil || !reflect.DeepEqual(got, c) {
			t.Errorf("%v became %v by %s, %v", c, got, text, err)
		}
	}
}

// FuzzParseCursor: whatever is sent is refused in the words of the dialect, or means what it is written again as.
func FuzzParseCursor(f *testing.F) {
	f.Add("")
	f.Add("AQAAAAAAAAAAAA")
	f.Add(string((&Cursor{Order: 7, Values: []CursorValue{{Text: "a"}, {Null: true}}}).Append(nil)))
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseCursor(text)
		if err != nil {
			var syntax *SyntaxError
			if !errors.As(err, &syntax) || syntax.Code != CodeSyntax {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		again, err := ParseCursor(string(c.Append(nil)))
		if err != nil || !reflect.DeepEqual(again, c) {
			t.Fatalf("%q is %v, and %v, %v when written again", text, c, again, err)
		}
	})
}
