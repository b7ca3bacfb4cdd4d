package admin

import (
	"io"
	"strings"
	"testing"
)

// flood is the beginning of a file and then one character without an end.
type flood struct {
	start string
	fill  byte
	given int
}

func (f *flood) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = f.fill
	}
	if f.given < len(f.start) {
		copy(p, f.start[f.given:])
	}
	f.given += len(p)
	if f.given > 256<<20 {
		return 0, io.ErrUnexpectedEOF
	}
	return len(p), nil
}

func TestAnObjectWithoutAnEndIsNotHeld(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]*flood{
		"before the array":      {start: "", fill: ' '},
		"before an object":      {start: "[", fill: ' '},
		"a value":               {start: `[{"a":"`, fill: 'x'},
		"behind a first object": {start: `[{"a":1},{"b":"`, fill: 'x'},
	} {
		source := newJSONSource(file, true)
		var err error
		for err == nil {
			_, _, _, err = source.next()
		}
		if !strings.Contains(err.Error(), "larger than") || file.given > 128<<20 {
			t.Errorf("%s: %v after %d bytes", name, err, file.given)
		}
	}
}

func TestNumbersWithADecimalCommaKeepTheirDigits(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2,50": "2.50", "-1.234,50": "-1234.50", "1.234": "1234", "+1.234.567": "+1234567", ",5": ".5", "5,": "5.", "1234,5": "1234.5",
		" 2,5 ": " 2.5 ", "1,5e-3": "1.5e-3", "0,10000000000000000000000000000000001": "0.10000000000000000000000000000000001",
		"7": "7", "NaN": "NaN", "-Infinity": "-Infinity", "": "", "abc": "abc",
	} {
		if got, ok := pointNumber(text); !ok || got != want {
			t.Errorf("%q is read as %q, %v, want %q", text, got, ok, want)
		}
	}
	for _, text := range []string{"1.5", "0.123", "1.2345", "1234.567", "1.234.56", "1,234.50", "1,2,3", "1.234e5", "1..234", "1.,5", "a,5", "٣,5", "1.234\x00,5"} {
		if got, ok := pointNumber(text); ok {
			t.Errorf("%q is read as %q", text, got)
		}
	}
}
