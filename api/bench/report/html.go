package report

import (
	"bufio"
	"embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"
	"time"
)

//go:embed *.gohtml
var pageTemplates embed.FS

//go:embed page.css
var pageStyle string

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
}

type pageColumn struct {
	Name    string
	Figures bool // stand right, as their names do
}

type pageRow struct {
	Name  string
	Cells []pageCell
}

// pageCell is a cell with what it shows beside its figure or text.
type pageCell struct {
	Cell
	Span  int
	Share float64 // of the largest of its column, in percent; 0: no bar is drawn
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
		"day":     func(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04 UTC") },
		"short":   func(commit string) string { return commit[:min(len(commit), 12)] },
		"add":     func(a, b float64) float64 { return a + b },
	}).ParseFS(pageTemplates, "*.gohtml")
	if err != nil {
		return err
	}
	buffer := bufio.NewWriter(w)
	if err := parsed.Execute(buffer, r.page()); err != nil {
		return err
	}
	return buffer.Flush()
}

func (r *Report) page() *page {
	p := &page{Report: r, Style: template.CSS(pageStyle), Highlights: r.Highlights(), Facts: r.facts()}
	taken := map[string]bool{"top": true, "changes": true, "run": true}
	for i, section := range r.Sections {
		anchor := section.Name
		if !isAnchor(anchor) || taken[anchor] {
			anchor = fmt.Sprintf("section-%d", i+1)
		}
		taken[anchor] = true
		part := pageSection{Section: section, Anchor: anchor}
		for _, chart := range section.Charts {
			columns, rows := chart.table()
			part.Charts = append(part.Charts, pageChart{chart, []plot{chart.draw(wide), chart.draw(narrow)}, chart.labelled(), columns, rows})
		}
		for t, table := range section.Tables {
			part.Tables = append(part.Tables, newPageTable(table, fmt.Sprintf("%s-%d", anchor, t+1), len(section.Charts) == 0))
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
	basalt := r.Version
	if r.Commit != "" {
		basalt += ", commit " + r.Commit
	}
	facts := []Setting{
		{"Date", r.Started.UTC().Format("2 January 2006, 15:04 UTC") + ", took " + r.Took.Round(time.Second).String()},
		{"Basalt", basalt},
		{"Server", server},
		{"PostgreSQL", r.Server.Postgres},
		{"System", m.System},
		{"Processor", fmt.Sprintf("%s, %d cores", m.CPU, m.Cores)},
		{"Memory", bytes(m.Memory)},
		{"Go", m.Go},
		{"Load of the machine", fmt.Sprintf("%.2f before, %.2f after", m.LoadBefore, m.LoadAfter)},
	}
	return slices.DeleteFunc(facts, func(f Setting) bool { return f.Value == "" })
}

// isAnchor says whether a name can stand in an address as it is.
func isAnchor(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

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
			out.Columns[i].Figures = out.Columns[i].Figures || cell.Figure != nil
		}
	}
	most := 0.0
	if bars && len(t.Rows) > 2 && len(out.Columns) < 6 {
		most = mostOf(t)
	}
	for _, row := range t.Rows {
		line := pageRow{Name: row.Name}
		for i, cell := range row.Cells {
			shown := pageCell{Cell: cell, Span: 1}
			if i == len(row.Cells)-1 && cell.Figure == nil {
				shown.Span = len(out.Columns) - i
			}
			if i == 0 && cell.Figure != nil && most > 0 {
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
		if figure.Unit != unit || figure.Value < 0 || unit == "" {
			return 0
		}
		most = max(most, figure.Value)
	}
	return most
}

type pageChanges struct {
	*Comparison
	Tally, Rule  string
	Counted      []pageChange
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
	p := &pageChanges{Comparison: c, Tally: c.tally(), Rule: Rule, OnlyOldWords: strings.Join(c.OnlyOld, ", "), OnlyNewWords: strings.Join(c.OnlyNew, ", ")}
	for _, change := range c.Changes {
		from, to := factorPlace(1-change.Noise), factorPlace(1+change.Noise)
		shown := pageChange{
			Change: change, Percent: change.change(), Noise: change.noise(), Bar: change.bar(),
			Dot: factorPlace(1 + change.Part), From: from, Width: to - from, Class: "none",
		}
		if change.Verdict == Worse || change.Verdict == Improved {
			shown.Class = string(change.Verdict)
		}
		if change.Verdict == WithinNoise {
			p.WithinNoise = append(p.WithinNoise, shown)
		} else {
			p.Counted = append(p.Counted, shown)
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
