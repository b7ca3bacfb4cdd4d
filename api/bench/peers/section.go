package peers

import (
	"fmt"
	"time"

	"basalt/api/bench/report"
)

const method = "Closed loop of keep-alive callers on the same machine; the peers take turns in every round, in an order that " +
	"rotates; figures are medians of %d rounds of %s, ratios medians of each round's ratio to Basalt (times above 1 are slower than Basalt)."

// Section makes a part of a benchmark's report of an outcome.
func (o *Outcome) Section() report.Section {
	s := report.Section{
		Name:  "peers",
		Title: "Peers in the same run",
		Intro: "Other servers with the same rows and the same work, on the same machine in the same minutes.",
	}
	for _, scenario := range o.Scenarios {
		s.Tables = append(s.Tables, o.table(scenario))
	}
	s.Tables = append(s.Tables, o.memory())
	if len(o.Published) > 0 {
		s.Tables = append(s.Tables, o.published())
	}
	s.Notes = o.notes()
	return s
}

func (o *Outcome) table(scenario Scenario) report.Table {
	t := report.Table{
		Title:   fmt.Sprintf("%s, %s", scenario.Title, callers(scenario.Callers)),
		Method:  fmt.Sprintf(method, o.Rounds, o.Round.Round(time.Millisecond)),
		Head:    "server",
		Columns: []string{"p50", "p95", "per second", "p50 ratio", "p95 ratio", "throughput ratio", "errors"},
	}
	for _, r := range scenario.Results {
		row := report.Row{Name: o.Title(r.Peer)}
		if r.Missing != "" {
			row.Cells = append(row.Cells, report.Cell{Text: "not measured: " + r.Missing})
			t.Rows = append(t.Rows, row)
			continue
		}
		for _, figure := range []*report.Figure{r.P50, r.P95, r.PerSecond, r.RatioP50, r.RatioP95, r.RatioPerSecond} {
			row.Cells = append(row.Cells, report.Cell{Figure: figure})
		}
		row.Cells = append(row.Cells, report.Cell{Text: fmt.Sprint(r.Errors)})
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (o *Outcome) memory() report.Table {
	t := report.Table{
		Title:   "Memory",
		Method:  "Resident set of the server's own process; the PostgreSQL that some of them use is not counted.",
		Head:    "server",
		Columns: []string{"idle", "after the scenarios"},
	}
	for _, m := range o.Memory {
		t.Rows = append(t.Rows, report.Row{Name: o.Title(m.Peer), Cells: []report.Cell{{Figure: m.Idle}, {Figure: m.After}}})
	}
	return t
}

func (o *Outcome) published() report.Table {
	t := report.Table{
		Title:   "Published by others",
		Method:  "Not measured here: what others say of their own machines, with where they say it.",
		Head:    "server",
		Columns: []string{"what", "figure", "source"},
	}
	for _, p := range o.Published {
		t.Rows = append(t.Rows, report.Row{Name: o.Title(p.Peer), Cells: []report.Cell{{Text: p.What}, {Text: p.Value}, {Text: p.Source}}})
	}
	return t
}

// notes says of each peer what it promises, or why it was not measured.
func (o *Outcome) notes() []report.Note {
	var notes []report.Note
	for _, p := range o.Peers {
		if p.Missing != "" {
			notes = append(notes, report.Note{Text: p.Title + " was not measured: " + p.Missing})
			continue
		}
		text := p.Title
		if p.Version != "" {
			text += " " + p.Version
		}
		for _, sentence := range []string{p.Built, p.Identity, p.Durable} {
			if sentence != "" {
				text += ". " + sentence
			}
		}
		notes = append(notes, report.Note{Text: text + "."})
	}
	for _, scenario := range o.Scenarios {
		for _, r := range scenario.Results {
			if r.Errors > 0 {
				notes = append(notes, report.Note{Bad: true, Text: fmt.Sprintf("%s failed %d times in %s, %s: %s",
					o.Title(r.Peer), r.Errors, scenario.Title, callers(scenario.Callers), r.FirstError)})
			}
		}
	}
	return notes
}

func callers(n int) string {
	if n == 1 {
		return "1 caller"
	}
	return fmt.Sprintf("%d callers", n)
}
