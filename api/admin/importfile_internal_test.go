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
