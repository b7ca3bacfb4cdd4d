package report

import (
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

//go:embed *.gohtml
var pageTemplates embed.FS

//go:embed page.css
var pageStyle string

const (
	openChanges  = 20 // rows of changes that are open; all that is worse always is
	denseColumns = 6
)

// page is what the template is filled with.
type page struct {
	*Report
	Style      template.CSS
	Highlights []Highlight
	Missed     []missedBar
	Reached    int
	Facts      []Setting
	Sections   []pageSection
	Changes    *pageChanges
}

type missedBar struct {
	Highlight
	Anchor string
}

type pageSection struct {
	Section
	Anchor string
	Charts []pageChart
	Tables []pageTable
}

type pageChart struct {
	Chart
	Plots    []plot
	Labelled bool // beside the lines, where there is room
	Columns  []string
	Rows     [][]string
}

type pageTable struct {
	Table
	Anchor  string
	Columns []pageColumn
	Rows    []pageRow
	Lengths bool // the figures of the first column are drawn beside it
	Dense   bool // so many columns that the noise goes below its figure
}

type pageColumn struct {
	Name    string
	Figures bool // stand right, as their names do
	Noise   bool // of at least one figure; the others leave its room, so that they stand below each other
}

type pageRow struct {
	Name  string
	Cells []pageCell
}

// pageCell is a cell with what it shows beside its figure or text.
type pageCell struct {
	Cell
	Span   int
	Length bool    // drawn beside the cell: Share
	Share  float64 // of the largest of its column, in percent
	Noise  bool
}

// WriteHTML writes the report as one page, which needs neither a network nor a script.
func (r *Report) WriteHTML(w io.Writer) error {
	parsed, err := template.New("page.gohtml").Funcs(template.FuncMap{
		"value":   (*Figure).text,
		"noise":   (*Figure).noise,
		"goal":    (*Figure).goal,
		"rounds":  (*Figure).rounds,
		"reached": func(f *Figure) bool { reached, _ := f.Reached(); return reached },
		"px":      place1,
		"day":     day,
		"short":   func(commit string) string { return prefix(known(commit), 12) },
		"count":   count,
		"add":     func(a, b float64) float64 { return a + b },
	}).ParseFS(pageTemplates, "*.gohtml")
	if err != nil {
		return err
	}
	var text strings.Builder
	if err := parsed.Execute(&text, r.page()); err != nil {
		return err
	}
	_, err = io.WriteString(w, strings.Map(writable, text.String()))
	return err
}

// writable replaces what XML and HTML have no way to write, escaped or not (XML 1.0 §2.2), and what would turn the
// direction of all text after it (Unicode Standard Annex #9, §2).
func writable(r rune) rune {
	if unicode.IsControl(r) && r != '\n' && r != '\t' || r&0xFFFE == 0xFFFE || unicode.Is(unicode.Bidi_Control, r) {
		return utf8.RuneError
	}
	return r
}

func (r *Report) page() *page {
	p := &page{Report: r, Style: template.CSS(pageStyle), Highlights: r.Highlights(), Facts: r.facts()}
	ids := anchors{"top": true, "main": true, "bars-title": true, "changes": true, "changes-title": true, "run": true, "run-title": true}
	for i, section := range r.Sections {
		anchor := ids.take(section.Name, i+1, len(section.Tables))
		part := pageSection{Section: section, Anchor: anchor}
		part.Title = cmp.Or(section.Title, section.Name, fmt.Sprintf("Section %d", i+1))
		for _, chart := range section.Charts {
			columns, rows := chart.table()
			part.Charts = append(part.Charts, pageChart{chart, []plot{chart.draw(wide), chart.draw(narrow)}, chart.labelled(), columns, rows})
		}
		for t, table := range section.Tables {
			part.Tables = append(part.Tables, newPageTable(table, tableAnchor(anchor, t+1), len(section.Charts) == 0))
		}
		p.Sections = append(p.Sections, part)
	}
	missed := map[string]string{}
	for at, figure := range r.figures() {
		missed[figure.Key] = p.Sections[at.section].Tables[at.table].Anchor
	}
	var bars []Highlight
	bars, p.Reached = r.Missed()
	for _, bar := range bars {
		p.Missed = append(p.Missed, missedBar{bar, missed[bar.Figure.Key]})
	}
	if r.Changes != nil {
		p.Changes = newPageChanges(r.Changes)
	}
	return p
}

// facts are what is known of a run, besides the settings of the server.
func (r *Report) facts() []Setting {
	m := r.Machine
	server := r.Server.URL
	if r.Server.Own {
		server = "started for the run"
	}
	date, memory, processor, load := day(r.Started), "", known(m.CPU), ""
	if r.Took > 0 {
		date = joined(date, "took "+r.Took.Round(time.Second).String())
	}
	if r.Rounds > 0 {
		date = joined(date, fmt.Sprintf("%s at pace %v", count(r.Rounds, "round", "rounds"), r.Pace))
	}
	if m.Memory > 0 {
		memory = memorySize(m.Memory)
	}
	if m.Cores > 0 {
		processor = joined(processor, count(m.Cores, "core", "cores"))
	}
	if m.LoadBefore > 0 || m.LoadAfter > 0 {
		load = fmt.Sprintf("%.2f before, %.2f after", m.LoadBefore, m.LoadAfter)
	}
	commit := known(r.Commit)
	if commit != "" {
		commit = "commit " + commit
	}
	facts := []Setting{
		{"Date", date},
		{"Basalt", joined(r.Version, commit)},
		{"Server", server},
		{"PostgreSQL", r.Server.Postgres},
		{"System", m.System},
		{"Processor", processor},
		{"Memory", memory},
		{"Go", m.Go},
		{"Load of the machine", load},
	}
	return slices.DeleteFunc(facts, func(f Setting) bool { return f.Value == "" })
}

// day writes a date and time, nothing when it is not known.
func day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2 January 2006, 15:04 UTC")
}

// known is a text, empty when it says that nothing is known.
func known(text string) string {
	if text == "unknown" {
		return ""
	}
	return text
}

// joined sets a comma between what there is.
func joined(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ", ")
}

// count writes a number of things.
func count(n int, one, more string) string {
	if n != 1 {
		one = more
	}
	return grouped(float64(n), 0) + " " + one
}

// isAnchor says whether a name can stand in an address as it is.
func isAnchor(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// anchors are the ids of a page that are taken.
type anchors map[string]bool

// take finds the id of a section, from which those of its heading and its tables are made: its name where it can be.
func (a anchors) take(name string, number, tables int) string {
	for tries := 0; ; tries++ {
		ids := []string{name, name + "-title"}
		for t := range tables {
			ids = append(ids, tableAnchor(name, t+1))
		}
		if isAnchor(name) && !slices.ContainsFunc(ids, func(id string) bool { return a[id] }) {
			for _, id := range ids {
				a[id] = true
			}
			return name
		}
		name = fmt.Sprintf("section-%d", number) + strings.Repeat("-more", tries)
	}
}

func tableAnchor(section string, number int) string { return fmt.Sprintf("%s-%d", section, number) }

// newPageTable pads rows to the columns. With bars, those of the first column of figures are shown.
func newPageTable(t Table, anchor string, bars bool) pageTable {
	out := pageTable{Table: t, Anchor: anchor}
	for _, name := range t.Columns {
		out.Columns = append(out.Columns, pageColumn{Name: name})
	}
	for _, row := range t.Rows {
		for i, cell := range row.Cells {
			if i == len(out.Columns) {
				out.Columns = append(out.Columns, pageColumn{})
			}
			if cell.Figure != nil {
				out.Columns[i].Figures = true
				out.Columns[i].Noise = out.Columns[i].Noise || cell.Figure.noise() != ""
			}
		}
	}
	out.Dense = len(out.Columns) >= denseColumns
	most := 0.0
	if bars && len(t.Rows) > 2 && !out.Dense {
		most = mostOf(t)
	}
	out.Lengths = most > 0
	for _, row := range t.Rows {
		line := pageRow{Name: row.Name}
		for i, cell := range row.Cells {
			shown := pageCell{Cell: cell, Span: 1, Noise: out.Columns[i].Noise, Length: out.Lengths && i == 0}
			if i == len(row.Cells)-1 && cell.Figure == nil {
				shown.Span = len(out.Columns) - i
			}
			if shown.Length && cell.Figure.Measured() {
				shown.Share = max(cell.Figure.Value/most*100, 0.5)
			}
			line.Cells = append(line.Cells, shown)
		}
		for range len(out.Columns) - len(row.Cells) {
			if n := len(line.Cells); n > 0 && line.Cells[n-1].Span > 1 {
				break
			}
			line.Cells = append(line.Cells, pageCell{Span: 1})
		}
		out.Rows = append(out.Rows, line)
	}
	return out
}

// mostOf is the largest figure of the first column, 0 when they are not all of one kind, or not lengths.
func mostOf(t Table) float64 {
	most, unit := 0.0, ""
	for i, row := range t.Rows {
		if len(row.Cells) == 0 || row.Cells[0].Figure == nil {
			return 0
		}
		figure := row.Cells[0].Figure
		if i == 0 {
			unit = figure.Unit
		}
		if figure.Unit != unit || unit == "" || figure.Value < 0 || !finite(figure.Value) {
			return 0
		}
		most = max(most, figure.Value)
	}
	return most
}

type pageChanges struct {
	*Comparison
	Tally, Rule  string
	First, More  []pageChange
	WithinNoise  []pageChange
	OnlyOldWords string
	OnlyNewWords string
}

// pageChange is a change with its drawing, which shows from half to double, equal factors being equally far.
type pageChange struct {
	Change
	Percent, Noise, Bar string
	Dot                 float64 // from 0, half, over 50, no change, to 100, double
	From, Width         float64 // of the noise
	Class               string  // better, worse or none
}

func newPageChanges(c *Comparison) *pageChanges {
	p := &pageChanges{Comparison: c, Tally: c.tally(), Rule: Rule, OnlyOldWords: listed(c.OnlyOld), OnlyNewWords: listed(c.OnlyNew)}
	for _, change := range c.Changes {
		from, to := factorPlace(1-change.Noise), factorPlace(1+change.Noise)
		shown := pageChange{
			Change: change, Percent: change.change(), Noise: change.noise(), Bar: change.bar(),
			Dot: factorPlace(1 + change.Part), From: from, Width: to - from, Class: "none",
		}
		if change.Verdict == Worse || change.Verdict == Improved {
			shown.Class = string(change.Verdict)
		}
		switch {
		case change.Verdict == WithinNoise:
			p.WithinNoise = append(p.WithinNoise, shown)
		case len(p.First) < openChanges || change.Verdict == Worse:
			p.First = append(p.First, shown)
		default:
			p.More = append(p.More, shown)
		}
	}
	return p
}

// factorPlace maps factors from a half to two to 0 to 100; others stand at the ends.
func factorPlace(factor float64) float64 {
	if !(factor > 0.5) {
		return 0
	}
	return min(50+50*math.Log2(factor), 100)
}
