package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// MaxSize bounds the JSON of a report that is read, in bytes. A run makes less than a hundredth of it.
const MaxSize = 32 << 20

// ErrTooLarge refuses a file above MaxSize.
var ErrTooLarge = fmt.Errorf("more than %d MiB, which no benchmark writes", MaxSize>>20)

// FormatError refuses a report of another form.
type FormatError struct{ Format int }

func (e *FormatError) Error() string {
	age := "an earlier"
	if e.Format > Format {
		age = "a later"
	}
	return fmt.Sprintf("format %d, of %s Basalt: this one reads format %d; measure again with one of them for both", e.Format, age, Format)
}

// Read reads the JSON of a report. It refuses what is larger than MaxSize (ErrTooLarge), of another form (FormatError)
// and what is not the figures of a benchmark.
func Read(r io.Reader) (*Report, error) {
	text, err := io.ReadAll(io.LimitReader(r, MaxSize+1))
	if err != nil {
		return nil, err
	}
	if len(text) > MaxSize {
		return nil, ErrTooLarge
	}
	if len(text) == 0 {
		return nil, errors.New("not the JSON of a benchmark: it is empty")
	}
	var form struct {
		Format *int `json:"format"`
	}
	if err := json.Unmarshal(text, &form); err != nil {
		return nil, fmt.Errorf("not the JSON of a benchmark: %w", err)
	}
	if form.Format == nil {
		return nil, errors.New("not the JSON of a benchmark: it names no format")
	}
	if *form.Format != Format {
		return nil, &FormatError{*form.Format}
	}
	var report Report
	if err := json.Unmarshal(text, &report); err != nil {
		return nil, fmt.Errorf("not the JSON of a benchmark: %w", err)
	}
	figures := 0
	for place, figure := range report.figures() {
		if figure.Key == "" {
			return nil, fmt.Errorf("not the JSON of a benchmark: the figure %q has no key", place.name())
		}
		if figure.Better != "" && figure.Better != Lower && figure.Better != Higher {
			return nil, fmt.Errorf("not the JSON of a benchmark: the figure %q is better %q, which is neither %q nor %q", figure.Key, figure.Better, Lower, Higher)
		}
		figures++
	}
	if figures == 0 {
		return nil, errors.New("not the JSON of a benchmark: it holds no figures")
	}
	return &report, nil
}
