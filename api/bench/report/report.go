// Package report is the outcome of a benchmark, as data, as tables in a terminal and as a page.
package report

import (
	"math"
	"slices"
	"time"
)

// Format is the number of the JSON's form; files of another are refused by name.
const Format = 1

// Report is a whole run.
type Report struct {
	Format   int           `json:"format"`
	Version  string        `json:"version"` // of the measuring Basalt
	Commit   string        `json:"commit"`
	Command  string        `json:"command"`
	Started  time.Time     `json:"started"`
	Took     time.Duration `json:"took_ns"`
	Pace     float64       `json:"pace"`   // by which all measuring was stretched; figures of short ones are noisy
	Rounds   int           `json:"rounds"` // of each figure
	Machine  Machine       `json:"machine"`
	Server   Server        `json:"server"`
	Sections []Section     `json:"sections"`
	// Changes, when set, are shown with the report: what is different since an earlier run.
	Changes *Comparison `json:"-"`
}

// Machine is what measured; a server that is given by URL may run elsewhere.
type Machine struct {
	System     string  `json:"system"` // Debian GNU/Linux 12, kernel 6.1
	CPU        string  `json:"cpu"`
	Cores      int     `json:"cores"`
	Memory     int64   `json:"memory_bytes"`
	Go         string  `json:"go"`
	LoadBefore float64 `json:"load_before"` // mean number of runnable processes in the minute before
	LoadAfter  float64 `json:"load_after"`
}

// Server is what was measured.
type Server struct {
	URL      string    `json:"url"`
	Own      bool      `json:"own"` // started for the run
	Postgres string    `json:"postgres"`
	Settings []Setting `json:"settings"`
}

// Setting is one setting of Basalt or PostgreSQL that bears on the figures.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Section is one question that is answered by measuring.
type Section struct {
	Name   string  `json:"name"` // stable, as in --only
	Title  string  `json:"title"`
	Intro  string  `json:"intro"`
	Charts []Chart `json:"charts,omitempty"`
	Tables []Table `json:"tables,omitempty"`
	Notes  []Note  `json:"notes,omitempty"`
}

// Note is a sentence below a section; a bad one says that something is not as it should be.
type Note struct {
	Text string `json:"text"`
	Bad  bool   `json:"bad,omitempty"`
}

// Table is figures in rows and columns. Method says in one sentence how they were taken.
type Table struct {
	Title   string   `json:"title"`
	Method  string   `json:"method"`
	Columns []string `json:"columns"` // of the cells; the first column, the rows' names, has Head
	Head    string   `json:"head"`
	Rows    []Row    `json:"rows"`
}

// Row is one line of a table.
type Row struct {
	Name  string `json:"name"`
	Cells []Cell `json:"cells"`
}

// Cell is a figure, or text where something is not a figure ("none: no bus", "not measured: …").
type Cell struct {
	Figure *Figure `json:"figure,omitempty"`
	Text   string  `json:"text,omitempty"`
}

// Figure is one measured value.
type Figure struct {
	// Key names it in comparisons of runs: "reads.pk.50.p95".
	Key  string `json:"key"`
	Unit string `json:"unit"` // ms, µs, ns, /s, MiB, ×, B, "" (a count)
	// Value is the median of Rounds, which show the noise. A figure measured once has one round; one without any was not
	// measured.
	Value  float64   `json:"value"`
	Rounds []float64 `json:"rounds"`
	Better Better    `json:"better,omitempty"`
	// Bar, when set, is the value that it is to reach.
	Bar *float64 `json:"bar,omitempty"`
	// Headline, when set, puts the figure on top of the report, under these words.
	Headline string `json:"headline,omitempty"`
}

// Better says in which direction a figure is good.
type Better string

// Directions of figures.
const (
	Lower  Better = "lower"
	Higher Better = "higher"
)

// Measured says whether there is anything to show.
func (f *Figure) Measured() bool { return len(f.Rounds) > 0 }

// Reached says whether a figure keeps its bar; ok is false without one. What was not measured has not reached it.
func (f *Figure) Reached() (reached, ok bool) {
	if f.Bar == nil {
		return false, false
	}
	if !f.Measured() {
		return false, true
	}
	if f.Better == Higher {
		return f.Value >= *f.Bar, true
	}
	return f.Value <= *f.Bar, true
}

// NewFigure makes a figure of what was measured in each round. What is no number, such as nothing divided by nothing,
// was not measured.
func NewFigure(key, unit string, better Better, rounds ...float64) *Figure {
	rounds = slices.DeleteFunc(slices.Clone(rounds), func(v float64) bool { return !finite(v) })
	return &Figure{Key: key, Unit: unit, Value: median(rounds), Rounds: rounds, Better: better}
}

// WithBar sets the value to reach.
func (f *Figure) WithBar(bar float64) *Figure {
	f.Bar = &bar
	return f
}

// WithHeadline puts the figure on top of the report, under these words.
func (f *Figure) WithHeadline(words string) *Figure {
	f.Headline = words
	return f
}

// Spread is the distance between the least and the most of the rounds.
func (f *Figure) Spread() float64 {
	if !f.Measured() {
		return 0
	}
	return slices.Max(f.Rounds) - slices.Min(f.Rounds)
}

// Noise is half the spread as a part of the value: 0.05 is ± 5 %. It is unknown, ok false, of a figure measured once.
func (f *Figure) Noise() (part float64, ok bool) {
	if len(f.Rounds) < 2 || f.Value == 0 {
		return 0, false
	}
	return f.Spread() / 2 / math.Abs(f.Value), true
}

func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return sorted[middle-1]/2 + sorted[middle]/2 // their sum may be more than a float64 holds
}

// Chart is lines over a common axis.
type Chart struct {
	Title  string `json:"title"`
	Method string `json:"method"`
	XLabel string `json:"x_label"`
	YLabel string `json:"y_label"`
	XLog   bool   `json:"x_log,omitempty"`
	YLog   bool   `json:"y_log,omitempty"`
	Lines  []Line `json:"lines"`
	// Mark, when set, is a level that is drawn across: the 200 ms line.
	Mark *Mark `json:"mark,omitempty"`
}

// Line is one line of a chart.
type Line struct {
	Name   string  `json:"name"`
	Points []Point `json:"points"`
}

// Point is a place on a line. Low and High, where they differ, are the least and most of the rounds.
type Point struct {
	X    float64 `json:"x"`
	Y    float64 `json:"y"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// Missing says that nothing was measured here: nothing is drawn.
	Missing bool `json:"missing,omitempty"`
}

// Mark is a level drawn across a chart.
type Mark struct {
	Y    float64 `json:"y"`
	Name string  `json:"name"`
}

// At makes a point of a figure.
func (f *Figure) At(x float64) Point {
	if !f.Measured() {
		return Point{X: x, Missing: true}
	}
	return Point{X: x, Y: f.Value, Low: slices.Min(f.Rounds), High: slices.Max(f.Rounds)}
}
