package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Sizes of a drawing, in its own units: those of CSS at the width that it is made for.
const (
	labelWidth  = 7.0 // of a character of a label
	labelHeight = 16.0
	markerSize  = 4.2
	series      = 9 // colours; later lines begin again
)

// plot is a chart with everything at its place, which the template only writes down.
type plot struct {
	Class                    string // wide or narrow
	Width, Height            float64
	Left, Top, Right, Bottom float64 // of the area of the lines
	XTicks, YTicks           []tick
	XLabel, YLabel           string
	Lines                    []plotLine
	Mark                     *plotMark
	Points                   int
}

// Middle is halfway between left and right.
func (p plot) Middle() float64 { return (p.Left + p.Right) / 2 }

type plotLine struct {
	Series     int // from 1
	Name       string
	Shape      string   // path data around each point
	Path, Band string   // path data
	Whiskers   []string // of points that stand alone
	Points     []plotPoint
	Label      *plotLabel
}

type plotPoint struct {
	X, Y  float64
	Open  bool // beyond the axis, as 0 is on a logarithmic one
	Title string
}

type plotLabel struct {
	X, Y, FromX, FromY float64
	Text               string
}

type plotMark struct {
	Y    float64
	Name string
}

// layout is the room that a drawing has.
type layout struct {
	class         string
	width, height float64
	xTicks        int
}

var (
	wide   = layout{"wide", 860, 400, 10}
	narrow = layout{"narrow", 360, 300, 6}
)

// labelled says whether the lines have room for their names beside them; else a legend names them.
func (c *Chart) labelled() bool {
	return len(c.Lines) <= series && !slices.ContainsFunc(c.Lines, func(l Line) bool { return columnsIn(l.Name) > 28 })
}

// draw places a chart.
func (c *Chart) draw(room layout) plot {
	p := plot{Class: room.class, Width: room.width, Height: room.height, Top: 36, Bottom: room.height - 46}
	lines := make([][]Point, len(c.Lines))
	var xs, ys []float64
	for i, line := range c.Lines {
		lines[i] = drawable(line.Points)
		for _, point := range lines[i] {
			xs, ys = append(xs, point.X), append(ys, point.Y, point.Low, point.High)
		}
	}
	marked := c.Mark != nil && len(ys) > 0 && finite(c.Mark.Y)
	if marked {
		ys = append(ys, bounded(c.Mark.Y))
	}
	if !c.YLog {
		ys = append(ys, 0) // lengths are seen from 0
	}
	y := newAxis(ys, c.YLog, p.Bottom, p.Top)
	p.Points = len(xs)
	y.widen(5)
	p.YTicks = y.ticks
	p.Left = 14
	for _, t := range y.ticks {
		p.Left = max(p.Left, 14+labelWidth*float64(columnsIn(t.Label)))
	}
	p.Right = room.width - 14
	beside := room.class == wide.class && c.labelled() && len(xs) > 0
	if beside {
		longest := 0
		for _, line := range c.Lines {
			longest = max(longest, columnsIn(line.Name))
		}
		p.Right -= labelWidth*float64(longest) + 20
	}
	if len(xs) > 0 { // the last label stands in the drawing
		p.Right = min(p.Right, room.width+8-labelWidth*float64(columnsIn(rounded(slices.Max(xs))))/2)
	}
	x := c.xAxis(xs, p.Left+8, p.Right-8, room.xTicks)
	p.XTicks = x.ticks
	p.XLabel, p.YLabel = cut(c.XLabel, int((p.Right-p.Left)/labelWidth)), cut(c.YLabel, int((p.Right-p.Left)/labelWidth))
	if marked {
		p.Mark = &plotMark{y.place(bounded(c.Mark.Y)), cut(c.Mark.Name, int((p.Right-p.Left)/labelWidth))}
	}
	for i, line := range c.Lines {
		p.Lines = append(p.Lines, c.drawLine(i, line.Name, lines[i], x, y))
	}
	if beside {
		p.label()
	}
	return p
}

// xAxis marks the values that were measured, when they are few, else round ones.
func (c *Chart) xAxis(xs []float64, from, to float64, most int) *axis {
	x := newAxis(xs, c.XLog, from, to)
	distinct := slices.Compact(slices.Sorted(slices.Values(xs)))
	if len(distinct) > 12 {
		x.widen(most)
		return x
	}
	if x.log {
		distinct = slices.DeleteFunc(distinct, func(v float64) bool { return v < x.low })
	}
	x.mark(distinct, 8)
	return x
}

// drawable are the points that have a place, from left to right.
func drawable(points []Point) []Point {
	var out []Point
	for _, p := range points {
		if p.Missing || !finite(p.X) || !finite(p.Y) {
			continue
		}
		if !(p.Low < p.High) { // also when they are no numbers
			p.Low, p.High = p.Y, p.Y
		}
		out = append(out, Point{X: bounded(p.X), Y: bounded(p.Y), Low: bounded(p.Low), High: bounded(p.High)})
	}
	slices.SortStableFunc(out, func(a, b Point) int { return cmp.Compare(a.X, b.X) })
	return out
}

func bounded(v float64) float64 { return min(max(v, -mostDrawn), mostDrawn) }

func (c *Chart) drawLine(i int, name string, points []Point, x, y *axis) plotLine {
	line := plotLine{Series: i%series + 1, Name: name, Shape: shape(i)}
	var path, upper, lower []string
	banded := false
	for _, p := range points {
		at, level, low, high := x.place(p.X), y.place(p.Y), y.place(p.Low), y.place(p.High)
		path = append(path, pair(at, level))
		upper, lower = append(upper, pair(at, high)), append(lower, pair(at, low))
		banded = banded || p.Low < p.High
		if len(points) == 1 && p.Low < p.High {
			line.Whiskers = append(line.Whiskers, "M"+pair(at, low)+"L"+pair(at, high))
		}
		line.Points = append(line.Points, plotPoint{
			X: at, Y: level, Open: y.log && p.Y < y.low,
			Title: fmt.Sprintf("%s, %s %s: %s", name, rounded(p.X), c.XLabel, c.value(p)),
		})
	}
	if len(path) > 1 {
		line.Path = "M" + strings.Join(path, "L")
		if banded {
			slices.Reverse(lower)
			line.Band = "M" + strings.Join(append(upper, lower...), "L") + "Z"
		}
	}
	return line
}

// value writes a point: "12.3 ms (11.8 to 13.0)".
func (c *Chart) value(p Point) string {
	text := withUnit(number(p.Y), c.YLabel)
	if p.Low < p.High {
		text += fmt.Sprintf(" (%s to %s)", number(p.Low), number(p.High))
	}
	return text
}

// label sets the names of the lines beside their ends, so that none covers another.
func (p *plot) label() {
	var labels []*plotLabel
	for i := range p.Lines {
		line := &p.Lines[i]
		if len(line.Points) == 0 {
			continue
		}
		end := line.Points[len(line.Points)-1]
		line.Label = &plotLabel{X: p.Right + 20, Y: end.Y, FromX: end.X + 7, FromY: end.Y, Text: line.Name}
		labels = append(labels, line.Label)
	}
	slices.SortStableFunc(labels, func(a, b *plotLabel) int { return cmp.Compare(a.Y, b.Y) })
	least := p.Top - labelHeight/2
	for _, l := range labels {
		l.Y = max(l.Y, least)
		least = l.Y + labelHeight
	}
	most := p.Bottom
	for _, l := range slices.Backward(labels) {
		l.Y = min(l.Y, most)
		most = l.Y - labelHeight
	}
}

func pair(x, y float64) string { return place1(x) + " " + place1(y) }

// place1 writes a place in a drawing to a tenth.
func place1(v float64) string { return fmt.Sprintf("%.1f", v) }

// shape is the mark of a line's points: lines differ by it where colours do not.
func shape(i int) string {
	r := markerSize
	switch i % 5 {
	case 0: // a disc
		return fmt.Sprintf("M-%.1f 0a%.1f %.1f 0 1 0 %.1f 0a%.1f %.1f 0 1 0 -%.1f 0Z", r, r, r, 2*r, r, r, 2*r)
	case 1: // a square
		return fmt.Sprintf("M-%.1f -%.1fH%.1fV%.1fH-%.1fZ", r-.4, r-.4, r-.4, r-.4, r-.4)
	case 2: // a lozenge
		return fmt.Sprintf("M0 -%.1fL%.1f 0L0 %.1fL-%.1f 0Z", r+1.2, r+1.2, r+1.2, r+1.2)
	case 3: // a triangle
		return fmt.Sprintf("M0 -%.1fL%.1f %.1fH-%.1fZ", r+.8, r+.6, r-.4, r+.6)
	}
	return fmt.Sprintf("M0 %.1fL%.1f -%.1fH-%.1fZ", r+.8, r+.6, r-.4, r+.6) // a triangle on its tip
}

// table is the same figures in rows and columns.
func (c *Chart) table() (heads []string, rows [][]string) {
	points := map[float64][]string{}
	var xs []float64
	heads = []string{c.XLabel}
	for i, line := range c.Lines {
		heads = append(heads, line.Name)
		for _, p := range line.Points {
			if p.Missing || !finite(p.X) || !finite(p.Y) {
				continue
			}
			row, ok := points[p.X]
			if !ok {
				row, xs = make([]string, len(c.Lines)), append(xs, p.X)
				points[p.X] = row
			}
			row[i] = c.value(p)
		}
	}
	slices.Sort(xs)
	for _, x := range xs {
		rows = append(rows, append([]string{rounded(x)}, points[x]...))
	}
	return heads, rows
}
