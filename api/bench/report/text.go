package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// TextWidth is how many columns of a terminal the text of a report takes at most.
const TextWidth = 120

// SGR sequences of ECMA-48.
const (
	bold  = "\x1b[1m"
	faint = "\x1b[2m"
	red   = "\x1b[31m"
	green = "\x1b[32m"
	plain = "\x1b[0m"
)

// terminal writes lines of text, coloured or not.
type terminal struct {
	*bufio.Writer
	colour bool
}

// in puts text between the sequences of a style, where there are colours.
func (t *terminal) in(style, text string) string {
	if !t.colour || style == "" || text == "" {
		return text
	}
	return style + text + plain
}

// paragraph writes text over as many lines as it needs, each behind an indent.
func (t *terminal) paragraph(style, indent, text string) {
	for _, line := range wrap(printable(text), TextWidth-columnsIn(indent)) {
		fmt.Fprintln(t, indent+t.in(style, line))
	}
}

// WriteText writes the report as tables for a terminal of TextWidth columns. Charts are left to the page: tables have
// their figures.
func (r *Report) WriteText(w io.Writer, colour bool) error {
	t := &terminal{bufio.NewWriter(w), colour}
	t.paragraph(bold, "", joined(strings.TrimSpace("Benchmark of Basalt "+r.Version), day(r.Started)))
	names := 0
	facts := append(r.facts(), Setting{"Command", r.Command})
	if r.Command == "" {
		facts = facts[:len(facts)-1]
	}
	facts = append(facts, r.Server.Settings...)
	for _, fact := range facts {
		names = max(names, min(columnsIn(printable(fact.Name)), TextWidth/2))
	}
	for _, fact := range facts {
		for i, line := range wrap(printable(fact.Value), TextWidth-names-4) {
			name := ""
			if i == 0 {
				name = cut(printable(fact.Name), names)
			}
			fmt.Fprintf(t, "  %s  %s\n", t.in(faint, fill(name, names)), line)
		}
	}
	for _, section := range r.Sections {
		t.section(&section)
	}
	if r.Changes != nil {
		t.changes(r.Changes)
	}
	t.bars(r)
	return t.Flush()
}

func (t *terminal) section(s *Section) {
	fmt.Fprintln(t)
	t.paragraph(bold, "", strings.ToUpper(s.Title))
	t.paragraph("", "", s.Intro)
	for _, table := range s.Tables {
		fmt.Fprintln(t)
		t.paragraph(bold, "", table.Title)
		t.table(textTable(&table))
		t.paragraph(faint, "  ", table.Method)
	}
	if len(s.Notes) > 0 {
		fmt.Fprintln(t)
	}
	for _, note := range s.Notes {
		if note.Bad {
			t.paragraph(red, "  ", "Attention: "+note.Text)
		} else {
			t.paragraph("", "  ", note.Text)
		}
	}
}

// bars sums up, at the end where it is seen first.
func (t *terminal) bars(r *Report) {
	missed, reached := r.Missed()
	if len(missed)+reached == 0 {
		return
	}
	fmt.Fprintln(t)
	if len(missed) == 0 {
		t.paragraph(green, "", fmt.Sprintf("All bars reached: %d.", reached))
		return
	}
	t.paragraph(bold, "", fmt.Sprintf("%s reached, %d missed:", count(reached, "bar", "bars"), len(missed)))
	for _, bar := range missed {
		value := bar.Figure.text()
		if bar.Figure.Measured() {
			value = withUnit(value, bar.Figure.Unit)
		}
		t.paragraph(red, "  ", fmt.Sprintf("%s: %s, missed %s", bar.Words, value, bar.Figure.goal()))
	}
}

// changes writes those that count, and how many do not.
func (t *terminal) changes(c *Comparison) {
	fmt.Fprintln(t)
	t.paragraph(bold, "", "WHAT CHANGED")
	since := strings.TrimSpace("Since Basalt " + c.Version)
	if commit := known(c.Commit); commit != "" {
		since += ", commit " + commit
	}
	if !c.Since.IsZero() {
		since += ", measured on " + day(c.Since)
	}
	t.paragraph("", "", fmt.Sprintf("%s: %s.", since, c.tally()))
	for _, warning := range c.Warnings {
		t.paragraph(red, "  ", "Attention: "+warning)
	}
	g := grid{{{text: "figure", style: faint}, {text: "before", style: faint, right: true}, {text: "now", style: faint, right: true},
		{text: "change", style: faint, right: true}, {text: "noise", style: faint, right: true}, {text: "verdict", style: faint}}}
	for _, change := range c.Changes {
		if change.Verdict == WithinNoise {
			break // they come last
		}
		verdict := string(change.Verdict)
		if bar := change.bar(); bar != "" {
			verdict += ", " + bar
		}
		style := ""
		switch change.Verdict {
		case Worse:
			style = red
		case Improved:
			style = green
		}
		g = append(g, []field{{text: change.Name}, {text: withUnit(change.Old.text(), change.Old.Unit), right: true},
			{text: withUnit(change.New.text(), change.New.Unit), right: true}, {text: change.change(), right: true},
			{text: change.noise(), right: true}, {text: verdict, style: style}})
	}
	if len(g) > 1 {
		t.table(g)
	}
	t.paragraph(faint, "  ", Rule)
	for _, only := range []struct {
		run  string
		keys []string
	}{{"this", c.OnlyNew}, {"the earlier", c.OnlyOld}} {
		if len(only.keys) > 0 {
			t.paragraph("", "  ", fmt.Sprintf("Only in %s run: %s.", only.run, strings.Join(only.keys, ", ")))
		}
	}
}

// printable replaces what would steer a terminal, and makes one line of several.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			return utf8.RuneError
		}
		return r
	}, text)
}

// wrap breaks text between words into lines of a width; longer words are broken themselves. Empty text has no lines.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && columnsIn(line)+1+columnsIn(word) <= width {
			line += " " + word
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		line = prefix(word, width)
		for line != word {
			lines, word = append(lines, line), word[len(line):]
			line = prefix(word, width)
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// cut shortens text to a width.
func cut(text string, width int) string {
	if columnsIn(text) <= width {
		return text
	}
	if width < 2 {
		return "…"
	}
	return strings.TrimRight(prefix(text, width-1), " ") + "…"
}

// prefix is as much of a text as a width holds, at least one character.
func prefix(text string, width int) string {
	for i, r := range text {
		if width -= columnsOf(r); width < 0 && i > 0 {
			return text[:i]
		}
	}
	return text
}

// columnsIn is how many columns of a terminal a text takes.
func columnsIn(text string) int {
	sum := 0
	for _, r := range text {
		sum += columnsOf(r)
	}
	return sum
}

// columnsOf is 2 for the wide characters of Unicode Standard Annex #11, 0 for what stands over another.
func columnsOf(r rune) int {
	if r < 0x300 {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	if kind := width.LookupRune(r).Kind(); kind == width.EastAsianWide || kind == width.EastAsianFullwidth {
		return 2
	}
	return 1
}

// fill adds spaces up to a width.
func fill(text string, width int) string {
	return text + strings.Repeat(" ", max(width-columnsIn(text), 0))
}
