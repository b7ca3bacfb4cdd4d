// Package micro measures Basalt's building blocks in this process.
package micro

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"time"

	"basalt/api/bench/report"
)

// Benchmark is one building block.
type Benchmark struct {
	Key  string // names its figures in comparisons of runs: "jwt.issue.ES256"
	Name string
	// New makes ready what is measured and gives one operation of it, which is not for use by many at once.
	New func() (operation func() error, err error)
	// Bars are what the operation is to reach; zero is none.
	Bars Bars
}

// Bars are the most that an operation may take.
type Bars struct {
	Time        time.Duration
	Allocations float64
}

// group is the benchmarks of one table.
type group struct {
	title, head, method string
	unit                unit // of its times
	benchmarks          []Benchmark
}

type unit struct {
	name string
	is   time.Duration
}

var (
	milliseconds = unit{"ms", time.Millisecond}
	microseconds = unit{"µs", time.Microsecond}
)

// Options say how long is measured.
type Options struct {
	// Rounds is how often each is measured, turn by turn with the others.
	Rounds int
	// For is how long each is repeated in a round. An operation that takes longer is done once.
	For time.Duration
	// Progress, when set, is told how many of all measurements are done.
	Progress func(done, all int)
}

func groups() []group {
	return []group{
		{"Passwords", "costs", "A stored hash is compared with a password, of which Argon2id is nearly all.", milliseconds, passwords()},
		{"Tokens", "a JWT with the claims of a session", "Verifying is what a request does that bears the token: its signature and claims are checked when it is first seen, " +
			"and later the outcome is found by the token's SHA-256.", microseconds, tokens()},
		{"Second factors", "operation", "A TOTP secret of 160 bits is sealed for its row and opened again; a code is compared with those of three time steps.", microseconds, secrets()},
		{"From a request to its statement", "step", "A query string is read, its request planned against the catalog, written as SQL and its values bound; " +
			"a request of a known shape skips planning and writing.", microseconds, requests()},
		{"From rows to JSON", "rows of ten columns", "PostgreSQL's binary values are written as the JSON that its to_json prints.", microseconds, rows()},
	}
}

// Benchmarks are all building blocks, in the order of the page.
func Benchmarks() []Benchmark {
	var all []Benchmark
	for _, g := range groups() {
		all = append(all, g.benchmarks...)
	}
	return all
}

// Section measures all building blocks.
func Section(ctx context.Context, o Options) (report.Section, error) {
	tables := groups()
	benchmarks := Benchmarks()
	operations := make([]func() error, len(benchmarks))
	for i, b := range benchmarks {
		var err error
		if operations[i], err = b.New(); err != nil {
			return report.Section{}, fmt.Errorf("make ready %s: %w", b.Key, err)
		}
		if err := operations[i](); err != nil { // what is made at first use is not the operation's
			return report.Section{}, fmt.Errorf("try %s: %w", b.Key, err)
		}
	}
	measured := make([][]sample, len(benchmarks))
	for round := range o.Rounds {
		for i, b := range benchmarks {
			if o.Progress != nil {
				o.Progress(round*len(benchmarks)+i, o.Rounds*len(benchmarks))
			}
			s, err := measure(ctx, operations[i], o.For)
			if err != nil {
				return report.Section{}, fmt.Errorf("measure %s: %w", b.Key, err)
			}
			measured[i] = append(measured[i], s)
		}
	}
	section := report.Section{
		Name:  "micro",
		Title: "Building blocks",
		Intro: "What single steps of a request cost on one processor, without network and database. `make bench` runs the same through go test -bench.",
	}
	how := fmt.Sprintf(" One caller repeats each for %v; figures are medians of %d rounds, the operations taken in turn.", o.For, o.Rounds)
	next := 0
	for _, g := range tables {
		table := report.Table{Title: g.title, Method: g.method + how, Head: g.head, Columns: []string{"time", "allocations", "bytes allocated"}}
		for _, b := range g.benchmarks {
			table.Rows = append(table.Rows, report.Row{Name: b.Name, Cells: b.cells(measured[next], g.unit)})
			next++
		}
		section.Tables = append(section.Tables, table)
	}
	section.Tables = append(section.Tables, report.Table{
		Title: "Between the parts of the server", Head: "step", Columns: []string{"time"},
		Method: "The parts call each other within one process, so that there is nothing to measure.",
		Rows:   []report.Row{{Name: "A message over the bus and its answer", Cells: []report.Cell{{Text: "none: no bus"}}}},
	})
	return section, nil
}

// sample is what one operation took in a round.
type sample struct {
	time, allocations, bytes float64 // ns, number, bytes
}

// measure repeats an operation for about so long.
func measure(ctx context.Context, operation func() error, length time.Duration) (sample, error) {
	// A batch takes so long at least, so that reading the clock counts for nothing.
	const batchTime = time.Millisecond
	var before, after runtime.MemStats
	runtime.GC() // what others left behind
	runtime.ReadMemStats(&before)
	start := time.Now()
	var took time.Duration
	n, batch := 0, 1
	for took < length {
		if err := ctx.Err(); err != nil {
			return sample{}, err
		}
		for range batch {
			if err := operation(); err != nil {
				return sample{}, err
			}
		}
		n += batch
		now := time.Since(start)
		if now-took < batchTime {
			batch *= 2
		}
		took = now
	}
	runtime.ReadMemStats(&after)
	// Others in the process can only add to the allocations, a few in all: as go test does, parts of one are dropped.
	return sample{
		time:        float64(took) / float64(n),
		allocations: math.Floor(float64(after.Mallocs-before.Mallocs) / float64(n)),
		bytes:       math.Floor(float64(after.TotalAlloc-before.TotalAlloc) / float64(n)),
	}, nil
}

// cells are the figures of the rounds.
func (b Benchmark) cells(rounds []sample, unit unit) []report.Cell {
	var times, allocations, bytes []float64
	for _, s := range rounds {
		times = append(times, s.time/float64(unit.is))
		allocations = append(allocations, s.allocations)
		bytes = append(bytes, s.bytes)
	}
	key := "micro." + b.Key
	took := report.NewFigure(key+".time", unit.name, report.Lower, times...)
	if b.Bars.Time > 0 {
		took.WithBar(float64(b.Bars.Time) / float64(unit.is))
	}
	allocated := report.NewFigure(key+".allocations", "", report.Lower, allocations...)
	if b.Bars.Allocations > 0 {
		allocated.WithBar(b.Bars.Allocations)
	}
	return []report.Cell{{Figure: took}, {Figure: allocated}, {Figure: report.NewFigure(key+".bytes", "B", report.Lower, bytes...)}}
}
