// Package bench measures a Basalt from outside.
package bench

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"basalt/api/bench/report"
)

// Options say what is measured and how long.
type Options struct {
	// Only names the sections to measure; empty: all.
	Only []string
	// Pace stretches or shortens all measuring; 1 takes about eight minutes. Figures of a pace below 1 are noisy.
	Pace float64
	// Rounds is how often each figure is measured, turn by turn with those it is compared with.
	Rounds int
	// Progress is told how far it is.
	Progress Progress
}

// Progress is told of the work under way.
type Progress interface {
	// Begin names the part of the work, with its number of parts.
	Begin(section string, number, sections int)
	// Step says what is being done.
	Step(what string)
}

// section is a part of the report.
type section struct {
	name    string
	measure func(*run) (report.Section, error)
}

// sections in the order of the page.
var sections = []section{
	{"reads", (*run).reads},
	{"overhead", (*run).overhead},
	{"micro", (*run).micro},
	{"auth", (*run).auth},
	{"writes", (*run).writes},
	{"limits", (*run).limits},
}

// Sections are the names that Options.Only may hold.
func Sections() []string {
	var names []string
	for _, s := range sections {
		names = append(names, s.name)
	}
	return names
}

// CheckSection refuses a name that is not a section's.
func CheckSection(name string) error {
	if slices.Contains(Sections(), name) {
		return nil
	}
	return fmt.Errorf("there is no section %q: they are %s", name, strings.Join(Sections(), ", "))
}

// run is one benchmark under way.
type run struct {
	ctx      context.Context
	target   *Target
	options  Options
	progress Progress
}

// Run measures a target, which it fills with rows before.
func Run(ctx context.Context, t *Target, o Options) (*report.Report, error) {
	t.client = newClient()
	if t.own != nil {
		watched, stop := t.own.watch(ctx)
		defer stop()
		outcome, err := t.measure(watched, o)
		if cause := context.Cause(watched); err != nil && cause != nil && ctx.Err() == nil {
			err = cause
		}
		return outcome, err
	}
	return t.measure(ctx, o)
}

func (t *Target) measure(ctx context.Context, o Options) (*report.Report, error) {
	r := &run{ctx: ctx, target: t, options: o, progress: o.Progress}
	begin := time.Now()
	before := LoadAverage()
	r.progress.Begin("fill the tables", 0, 0)
	if err := t.prepare(ctx, r.progress); err != nil {
		return nil, err
	}
	outcome := &report.Report{Format: report.Format, Started: begin.UTC(), Pace: o.Pace, Rounds: o.Rounds, Machine: Machine(), Server: t.describe(ctx)}
	wanted := slices.DeleteFunc(slices.Clone(sections), func(s section) bool {
		return len(o.Only) > 0 && !slices.Contains(o.Only, s.name)
	})
	for i, s := range wanted {
		r.progress.Begin(s.name, i+1, len(wanted))
		if t.own != nil {
			if err := t.own.forgetLog(); err != nil {
				return nil, err
			}
		}
		if err := t.renew(ctx); err != nil {
			return nil, err
		}
		part, err := s.measure(r)
		if ctx.Err() != nil {
			return nil, ctx.Err() // whatever has failed by it
		}
		if err != nil {
			return nil, fmt.Errorf("measure %s: %w", s.name, err)
		}
		part.Name = s.name
		outcome.Sections = append(outcome.Sections, part)
	}
	outcome.Took = time.Since(begin)
	outcome.Machine.Go = runtime.Version()
	outcome.Machine.LoadBefore, outcome.Machine.LoadAfter = before, LoadAverage()
	return outcome, nil
}

// rounds says how many there are, as a method tells it.
func (r *run) rounds() string { return counted(r.options.Rounds, "round") }

// counted is a number of things in words.
func counted(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// lasting is a time at the pace of the run.
func (r *run) lasting(d time.Duration) time.Duration {
	return max(time.Duration(float64(d)*r.options.Pace), 50*time.Millisecond)
}

// turns is a number of repetitions at the pace of the run.
func (r *run) turns(n int) int { return max(int(float64(n)*r.options.Pace), 10) }

// milliseconds is a time as figures show it.
func milliseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }

// microseconds is a time as figures show it.
func microseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }
