package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"basalt/api/bench/peers"
	"basalt/api/bench/report"
)

// show prints an outcome as tables of Markdown.
func show(out io.Writer, o *peers.Outcome) {
	fmt.Fprintf(out, "Basalt %s and peers, %s, %s, %d cores, load %.1f before and %.1f after, PostgreSQL %s\n", o.Version,
		o.Started.Format(time.DateOnly), o.Machine.CPU, o.Machine.Cores, o.Machine.LoadBefore, o.Machine.LoadAfter, o.Postgres)
	fmt.Fprintf(out, "Medians of %d rounds of %v; ratios are to Basalt in the same round: times above 1 are slower, rates below 1 are less.\n", o.Rounds, o.Round)
	for _, s := range o.Scenarios {
		fmt.Fprintf(out, "\n%s, callers: %d\n\n", s.Title, s.Callers)
		rows := [][]string{{"", "p50 ms", "p95 ms", "per s", "p50 ratio", "p95 ratio", "rate ratio", "errors"}}
		for _, r := range s.Results {
			if r.Missing != "" {
				rows = append(rows, []string{o.Title(r.Peer), "not measured: " + r.Missing})
				continue
			}
			rows = append(rows, []string{o.Title(r.Peer), value(r.P50, 2), value(r.P95, 2), value(r.PerSecond, 0),
				value(r.RatioP50, 2), value(r.RatioP95, 2), value(r.RatioPerSecond, 2), fmt.Sprint(r.Errors)})
		}
		table(out, rows)
	}
	fmt.Fprint(out, "\nMemory of the server's process, PostgreSQL not counted\n\n")
	rows := [][]string{{"", "idle MiB", "after MiB"}}
	for _, m := range o.Memory {
		rows = append(rows, []string{o.Title(m.Peer), value(m.Idle, 1), value(m.After, 1)})
	}
	table(out, rows)
	fmt.Fprint(out, "\nNotes\n\n")
	for _, note := range o.Section().Notes {
		fmt.Fprintln(out, "-", note.Text)
	}
	if len(o.Published) > 0 {
		fmt.Fprint(out, "\nPublished by others, not measured here\n\n")
		rows := [][]string{{"", "what", "figure", "source"}}
		for _, p := range o.Published {
			rows = append(rows, []string{o.Title(p.Peer), p.What, p.Value, p.Source})
		}
		table(out, rows)
	}
}

func value(f *report.Figure, digits int) string {
	if f == nil || len(f.Rounds) == 0 {
		return "-"
	}
	return fmt.Sprintf("%.*f", digits, f.Value)
}

// table prints rows below their head, in columns as wide as what stands in them.
func table(out io.Writer, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, cells := range rows {
		for i, cell := range cells {
			if len(cells) == len(widths) {
				widths[i] = max(widths[i], len([]rune(cell)))
			} else if i == 0 {
				widths[i] = max(widths[i], len([]rune(cell)))
			}
		}
	}
	line := func(cells []string) {
		for i, cell := range cells {
			fmt.Fprint(out, "| ", cell, strings.Repeat(" ", max(0, widths[i]-len([]rune(cell)))), " ")
		}
		fmt.Fprintln(out, "|")
	}
	line(rows[0])
	for i := range widths {
		fmt.Fprint(out, "| ", strings.Repeat("-", max(3, widths[i])), " ")
	}
	fmt.Fprintln(out, "|")
	for _, cells := range rows[1:] {
		line(cells)
	}
}
