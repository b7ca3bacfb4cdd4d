package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
)

// written is the JSON of a report, as the command writes it.
func written(t testing.TB, r *Report) []byte {
	t.Helper()
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// spaces is a file of nothing but spaces, without an end.
type spaces struct{}

func (spaces) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func TestWhatIsNoReportIsRefusedWithItsReason(t *testing.T) {
	broken := errors.New("the disk is gone")
	for _, test := range []struct {
		name string
		file io.Reader
		want string
	}{
		{"an empty file", strings.NewReader(""), "it is empty"},
		{"a page", strings.NewReader("<!doctype html>"), "invalid character '<'"},
		{"a file cut short", bytes.NewReader(written(t, sample(1, 1))[:5000]), "unexpected end of JSON input"},
		{"two files in one", strings.NewReader(`{"format":1}{"format":1}`), "after top-level value"},
		{"null", strings.NewReader("null"), "it names no format"},
		{"another program's JSON", strings.NewReader(`{"metrics":{}}`), "it names no format"},
		{"a list", strings.NewReader("[]"), "cannot unmarshal array"},
		{"a format that is no number", strings.NewReader(`{"format":"1"}`), "cannot unmarshal string"},
		{"an earlier format", strings.NewReader(`{"format":0}`), "format 0, of an earlier Basalt: this one reads format 1"},
		{"a later format of which all else differs", strings.NewReader(`{"format":2,"sections":"none"}`), "format 2, of a later Basalt: this one reads format 1"},
		{"no figures", strings.NewReader(`{"format":1,"sections":[{"name":"a"}]}`), "it holds no figures"},
		{"a figure without a key", strings.NewReader(`{"format":1,"sections":[{"tables":[{"title":"Reads","rows":[{"name":"pk","cells":[{"figure":{"value":1}}]}]}]}]}`),
			`the figure "Reads · pk" has no key`},
		{"a figure that is good in no known direction", strings.NewReader(`{"format":1,"sections":[{"tables":[{"rows":[{"cells":[{"figure":{"key":"a","better":"up"}}]}]}]}]}`),
			`the figure "a" is better "up", which is neither "lower" nor "higher"`},
		{"a value of the wrong kind", strings.NewReader(`{"format":1,"sections":[{"tables":[{"rows":[{"cells":[{"figure":{"key":"a","value":"1"}}]}]}]}]}`),
			"cannot unmarshal string"},
		{"a value beyond all numbers", strings.NewReader(`{"format":1,"sections":[{"tables":[{"rows":[{"cells":[{"figure":{"key":"a","value":1e999}}]}]}]}]}`),
			"cannot unmarshal number 1e999"},
		{"a nest without end", strings.NewReader(strings.Repeat("[", 1<<20)), "exceeded max depth"},
		{"a file without end", spaces{}, "more than 32 MiB"},
		{"a file that cannot be read", io.MultiReader(strings.NewReader("{"), failing{broken}), "the disk is gone"},
	} {
		t.Run(test.name, func(t *testing.T) {
			report, err := Read(test.file)
			if report != nil || err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want %q in it", err, test.want)
			}
		})
	}
	if _, err := Read(spaces{}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a giant file is refused as %v", err)
	}
	var format *FormatError
	if _, err := Read(strings.NewReader(`{"format":7}`)); !errors.As(err, &format) || format.Format != 7 {
		t.Errorf("another format is refused as %v", err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestAReportIsReadAsItWasWritten(t *testing.T) {
	for name, report := range map[string]*Report{"a run": sample(3, 1), "any text": filled("\x00\x1b </script> 測試 🧪 \u2028"), "many rows": long()} {
		t.Run(name, func(t *testing.T) {
			first := written(t, report)
			read, err := Read(bytes.NewReader(first))
			if err != nil {
				t.Fatal(err)
			}
			if second := written(t, read); !bytes.Equal(first, second) {
				t.Error("what is read is written differently")
			}
			if report.Changes = nil; pageOf(t, read) != pageOf(t, report) {
				t.Error("what is read looks different")
			}
		})
	}
}

func TestWhatWasNotMeasuredCanBeWritten(t *testing.T) {
	figure := NewFigure("ratio", "×", Lower, nan(), 2, infinite(), 4)
	if figure.Value != 3 || len(figure.Rounds) != 2 {
		t.Errorf("rounds that are numbers: %v of %v", figure.Value, figure.Rounds)
	}
	none := NewFigure("ratio", "×", Lower, nan())
	if none.Measured() || !none.At(1).Missing {
		t.Error("what is no number counts as measured")
	}
	written(t, &Report{Sections: []Section{{Charts: []Chart{{Lines: []Line{{Points: []Point{none.At(1)}}}}}, Tables: []Table{{Rows: []Row{{Cells: []Cell{{Figure: figure}, {Figure: none}}}}}}}}})
}

// FuzzRead: no file makes reading panic, and what is read is shown, compared and written, and read again as the same.
func FuzzRead(f *testing.F) {
	short := sample(1, 1)
	short.Sections = short.Sections[2:]
	f.Add(written(f, short))
	f.Add(written(f, filled("é\x1b]0;x\a")))
	f.Add([]byte(`{"format":1,"sections":[{"name":"top","charts":[{"x_log":true,"y_log":true,"lines":[{"points":[{"x":-1,"y":1e308,"high":1e309}]}]}],"tables":[{"rows":[{"cells":[{"figure":{"key":"a","rounds":[]}}]}]}]}]}`))
	f.Add([]byte(`{"format":1,"sections":[{"charts":[{"y_log":true,"mark":{"y":-5e-324},"lines":[{"points":[{"x":1e308,"y":5e-324},{"x":-1e308,"y":0}]}]}],"tables":[{"columns":["","",""],"rows":[{},{"cells":[{},{"figure":{"key":"a","value":-1e308,"rounds":[1e308,-1e308],"bar":0}}]}]}]}]}`))
	f.Add([]byte(`{"format":2}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		if len(file) > 64<<10 {
			return
		}
		report, err := Read(bytes.NewReader(file))
		if err != nil {
			return
		}
		first := written(t, report)
		again, err := Read(bytes.NewReader(first))
		if err != nil {
			t.Fatalf("what was read is refused once it is written: %v", err)
		}
		if !bytes.Equal(first, written(t, again)) {
			t.Fatal("what was read is written differently")
		}
		report.Changes = Compare(again, report)
		for _, change := range report.Changes.Changes {
			if change.Verdict != WithinNoise {
				t.Errorf("%s is %s than itself", change.Key, change.Verdict)
			}
		}
		page := pageOf(t, report)
		if strings.Contains(page, "<script") || strings.ContainsAny(page, "\x00\x1b") {
			t.Error("a text breaks out of the page")
		}
		checkText(t, report)
	})
}
