package report

import (
	"iter"
	"strings"
)

// maxHighlights is how many figures stand on top of a report.
const maxHighlights = 6

// Highlight is a figure on top of a report.
type Highlight struct {
	Words  string
	Figure *Figure
}

// Highlights are the figures with a Headline; where no section has marked any, the first that have a bar to reach.
func (r *Report) Highlights() []Highlight {
	var marked, barred []Highlight
	for place, figure := range r.figures() {
		switch {
		case figure.Headline != "":
			marked = append(marked, Highlight{figure.Headline, figure})
		case figure.Bar != nil:
			barred = append(barred, Highlight{place.name(), figure})
		}
	}
	if len(marked) == 0 {
		marked = barred
	}
	return marked[:min(len(marked), maxHighlights)]
}

// Missed are the figures that do not reach their bar, with their names; reached is the number of those that do.
func (r *Report) Missed() (missed []Highlight, reached int) {
	for place, figure := range r.figures() {
		kept, ok := figure.Reached()
		switch {
		case kept:
			reached++
		case ok:
			missed = append(missed, Highlight{place.name(), figure})
		}
	}
	return missed, reached
}

// place is where a figure stands.
type place struct {
	section, table int
	title          string // of the table
	row, column    string
}

func (p place) name() string {
	parts := []string{p.title}
	for _, part := range []string{p.row, p.column} {
		if part != "" && part != "figure" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, " · ")
}

// figures goes over all figures in the order of the page. One that stands in several tables comes once.
func (r *Report) figures() iter.Seq2[place, *Figure] {
	return func(yield func(place, *Figure) bool) {
		seen := map[string]bool{}
		for s, section := range r.Sections {
			for t, table := range section.Tables {
				for _, row := range table.Rows {
					for c, cell := range row.Cells {
						if cell.Figure == nil || seen[cell.Figure.Key] {
							continue
						}
						seen[cell.Figure.Key] = true
						column := ""
						if c < len(table.Columns) {
							column = table.Columns[c]
						}
						if !yield(place{s, t, table.Title, row.Name, column}, cell.Figure) {
							return
						}
					}
				}
			}
		}
	}
}
