package report

import (
	"fmt"
	"slices"
	"strings"
)

// grid is a table of a terminal; its first line are the heads.
type grid [][]field

// field is one cell.
type field struct {
	text  string
	style string
	right bool // ends at the right end of its column and is not broken into lines
	rest  bool // takes what is left of the line
	glued bool // belongs to the column before
}

// gap is the room before a column.
func (f field) gap() int {
	if f.glued {
		return 1
	}
	return columnGap
}

// textTable lays out a table. A figure takes up to three columns: value, noise, and how it stands to its bar.
func textTable(t *Table) grid {
	columns := len(t.Columns)
	for _, row := range t.Rows {
		columns = max(columns, len(row.Cells))
	}
	head := []field{{text: t.Head, style: faint}}
	rows := make(grid, len(t.Rows))
	for i, row := range t.Rows {
		rows[i] = []field{{text: row.Name}}
	}
	for c := range columns {
		name := ""
		if c < len(t.Columns) {
			name = t.Columns[c]
		}
		figures, noise, bars := kinds(t, c)
		unit, shared := sharedUnit(t, c)
		if shared && unit != "" {
			name += ", " + unit
		}
		head = append(head, field{text: name, style: faint, right: figures})
		for i, row := range t.Rows {
			var cell Cell
			if c < len(row.Cells) {
				cell = row.Cells[c]
			}
			rows[i] = append(rows[i], valueField(cell, shared, c == len(row.Cells)-1))
			if noise {
				rows[i] = append(rows[i], noiseField(cell))
			}
			if bars {
				rows[i] = append(rows[i], barField(cell))
			}
		}
		if noise {
			head = append(head, field{glued: true})
		}
		if bars {
			head = append(head, field{glued: true})
		}
	}
	return append(grid{head}, rows...)
}

// kinds says what there is in a column.
func kinds(t *Table, column int) (figures, noise, bars bool) {
	for _, row := range t.Rows {
		if column >= len(row.Cells) || row.Cells[column].Figure == nil {
			continue
		}
		figure := row.Cells[column].Figure
		figures, noise, bars = true, noise || figure.noise() != "", bars || figure.Bar != nil
	}
	return figures, noise, bars
}

// sharedUnit is the unit of all figures of a column, which its head then names.
func sharedUnit(t *Table, column int) (unit string, shared bool) {
	for _, row := range t.Rows {
		if column >= len(row.Cells) || row.Cells[column].Figure == nil {
			continue
		}
		if shared && row.Cells[column].Figure.Unit != unit {
			return "", false
		}
		unit, shared = row.Cells[column].Figure.Unit, true
	}
	return unit, shared
}

func valueField(cell Cell, bare, last bool) field {
	switch {
	case cell.Figure == nil:
		return field{text: cell.Text, rest: last}
	case !cell.Figure.Measured() || bare:
		return field{text: cell.Figure.text(), right: true}
	}
	return field{text: withUnit(cell.Figure.text(), cell.Figure.Unit), right: true}
}

func noiseField(cell Cell) field {
	if cell.Figure == nil {
		return field{}
	}
	return field{text: strings.ReplaceAll(cell.Figure.noise(), " ", ""), style: faint, right: true}
}

func barField(cell Cell) field {
	if cell.Figure == nil || cell.Figure.Bar == nil {
		return field{}
	}
	if reached, _ := cell.Figure.Reached(); reached {
		return field{text: "reached " + cell.Figure.goal(), style: green}
	}
	return field{text: "missed " + cell.Figure.goal(), style: red}
}

// Room that a table leaves, and the least that it takes.
const (
	tableIndent = "  "
	columnGap   = 2
	leastColumn = 10
)

// table writes a grid within TextWidth. Where it is wider, text is broken into lines; where figures alone are, their
// columns go below each other in several tables.
func (t *terminal) table(g grid) {
	for i := range g {
		for c := range g[i] {
			g[i][c].text = printable(g[i][c].text)
		}
	}
	for len(g[0]) > 0 {
		shown := fitting(g)
		t.rows(g, shown)
		if shown == len(g[0]) {
			return
		}
		fmt.Fprintln(t)
		for i := range g { // the names again, and the columns that are left
			g[i] = slices.Concat(g[i][:1], g[i][min(shown, len(g[i])):])
		}
	}
}

// fitting is how many columns of a grid have room beside each other, when all text is as narrow as it may be. What is
// glued to a column stays with it.
func fitting(g grid) int {
	width, whole := len(tableIndent)-columnGap, 0
	for c, head := range g[0] {
		if !head.glued {
			whole = c
		}
		length, figures := lengths(g, c, false)
		if !figures {
			length = min(length, leastColumn)
		}
		width += head.gap() + length
		if width > TextWidth && whole > 1 {
			return whole
		}
	}
	return len(g[0])
}

// lengths is the longest text of a column, and whether it has figures. Their heads count whole, or by their longest
// word.
func lengths(g grid, column int, wholeHeads bool) (longest int, figures bool) {
	for i, row := range g {
		if column >= len(row) || row[column].rest {
			continue
		}
		figures = figures || row[column].right
		if i > 0 || !row[column].right || wholeHeads {
			longest = max(longest, columnsIn(row[column].text))
			continue
		}
		for word := range strings.FieldsSeq(row[column].text) {
			longest = max(longest, columnsIn(word))
		}
	}
	if figures {
		return min(longest, TextWidth/3), true
	}
	return min(longest, TextWidth), false
}

// rows writes the first columns of a grid.
func (t *terminal) rows(g grid, columns int) {
	widths := widthsOf(g, columns)
	for _, row := range g {
		cells := make([][]string, columns)
		lines := 1
		at := len(tableIndent)
		for c := range columns {
			if c >= len(row) {
				break
			}
			width := widths[c]
			if row[c].rest {
				width = max(TextWidth-at, leastColumn)
			}
			cells[c] = wrap(row[c].text, width)
			lines = max(lines, len(cells[c]))
			if c+1 < columns {
				at += widths[c] + g[0][c+1].gap()
			}
		}
		for line := range lines {
			text, blank := tableIndent, -columnGap
			for c := range columns {
				blank += g[0][c].gap()
				part := ""
				if line < len(cells[c]) {
					part = cells[c][line]
				}
				if part == "" {
					blank += widths[c]
					continue
				}
				missing := max(widths[c]-columnsIn(part), 0)
				if row[c].right {
					blank, missing = blank+missing, 0
				}
				text += strings.Repeat(" ", blank) + t.in(row[c].style, part)
				blank = missing
			}
			if text == tableIndent {
				text = ""
			}
			fmt.Fprintln(t, text)
		}
	}
}

// widthsOf are the widths of columns. Where they do not fit, heads of figures are broken into lines, then the widest
// texts are narrowed.
func widthsOf(g grid, columns int) []int {
	widths, figures := make([]int, columns), make([]bool, columns)
	total := 0
	for _, wholeHeads := range []bool{true, false} {
		total = len(tableIndent) - columnGap
		for c := range columns {
			widths[c], figures[c] = lengths(g, c, wholeHeads)
			total += g[0][c].gap() + widths[c]
		}
		if total <= TextWidth {
			return widths
		}
	}
	for ; total > TextWidth; total-- {
		widest := -1
		for c, width := range widths {
			if !figures[c] && width > leastColumn && (widest < 0 || width > widths[widest]) {
				widest = c
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
	}
	return widths
}
