package report

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func labels(ticks []tick) string {
	var out []string
	for _, t := range ticks {
		if t.Label != "" {
			out = append(out, t.Label)
		}
	}
	return strings.Join(out, " ")
}

func TestAnAxisIsMarkedAtRoundValues(t *testing.T) {
	for _, test := range []struct {
		name   string
		values []float64
		log    bool
		most   int
		want   string
	}{
		{"values from 0", []float64{0, 873}, false, 5, "0 200 400 600 800 1,000"},
		{"small values", []float64{0, 0.0031}, false, 5, "0 0.001 0.002 0.003 0.004"},
		{"values on both sides of 0", []float64{-30, 70}, false, 5, "−40 −20 0 20 40 60 80"},
		{"nothing but 0", []float64{0}, false, 5, "0 0.2 0.4 0.6 0.8 1"},
		{"no values", nil, false, 5, "0 0.2 0.4 0.6 0.8 1"},
		{"huge values", []float64{0, 3e200}, false, 3, "0 10²⁰⁰ 2·10²⁰⁰ 3·10²⁰⁰"},
		{"powers of ten", []float64{0.7, 4321}, true, 5, "1 10 100 1,000"},
		{"less than a power of ten", []float64{12, 47}, true, 5, "10 20 50"},
		{"one value", []float64{300}, true, 5, "200 500"},
		{"many powers of ten", []float64{1e-9, 1e9}, true, 5, "10⁻⁹ 10⁻⁵ 0.1 1,000 10,000,000"},
		{"nothing above 0 on a logarithmic axis", []float64{0, -1}, true, 5, "−1 −0.8 −0.6 −0.4 −0.2 0"},
		{"0 among others on a logarithmic axis", []float64{0, 12, 47}, true, 5, "10 20 50"},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := newAxis(test.values, test.log, 0, 100)
			a.widen(test.most)
			if got := labels(a.ticks); got != test.want {
				t.Errorf("ticks at %s, want %s", got, test.want)
			}
			for _, v := range test.values {
				if at := a.place(v); !(at >= 0 && at <= 100) {
					t.Errorf("%g stands at %g", v, at)
				}
			}
		})
	}
}

func TestNamesBesideLinesDoNotCoverEachOther(t *testing.T) {
	for lines := 1; lines <= series; lines++ {
		for _, level := range []float64{0, 50, 100} {
			c := Chart{YLabel: "ms", Lines: []Line{{Name: "all", Points: []Point{{X: 1, Y: 0}, {X: 2, Y: 100}}}}}
			for i := range lines - 1 {
				c.Lines = append(c.Lines, Line{Name: strconv.Itoa(i), Points: []Point{{X: 2, Y: level}}})
			}
			p := c.draw(wide)
			var places []float64
			for _, line := range p.Lines {
				places = append(places, line.Label.Y)
			}
			slices.Sort(places)
			for i, y := range places {
				if y < 0 || y > p.Bottom || i > 0 && y-places[i-1] < labelHeight {
					t.Errorf("%d lines at %g: names at %v", lines, level, places)
					break
				}
			}
		}
	}
}

func TestTicksBelowAChartDoNotTouch(t *testing.T) {
	for _, room := range []layout{wide, narrow} {
		for _, log := range []bool{false, true} {
			c := Chart{XLog: log, Lines: []Line{{Name: "a"}}}
			for _, x := range []float64{1, 5, 10, 20, 50, 100, 200, 500, 1000, 12345678} {
				c.Lines[0].Points = append(c.Lines[0].Points, Point{X: x, Y: x})
			}
			end := math.Inf(-1)
			ticks := slices.SortedFunc(slices.Values(c.draw(room).XTicks), func(a, b tick) int { return int(math.Copysign(1, a.At-b.At)) })
			for _, tick := range ticks {
				if tick.Label == "" {
					continue
				}
				half := labelWidth * float64(columnsIn(tick.Label)) / 2
				if tick.At-half < end || tick.At+half > room.width {
					t.Errorf("%s, logarithmic %t: %q has no room", room.class, log, tick.Label)
				}
				end = tick.At + half
			}
		}
	}
}

func TestOnlyWhatWasMeasuredIsDrawn(t *testing.T) {
	for _, test := range []struct {
		name         string
		points       []Point
		drawn, table int
		path, band   bool
		whiskers     int
	}{
		{"nothing", nil, 0, 0, false, false, 0},
		{"one point", []Point{{X: 1, Y: 2, Low: 2, High: 2}}, 1, 1, false, false, 0},
		{"one point with its noise", []Point{{X: 1, Y: 2, Low: 1, High: 3}}, 1, 1, false, false, 1},
		{"two points with their noise", []Point{{X: 1, Y: 2, Low: 1, High: 3}, {X: 2, Y: 2, Low: 2, High: 2}}, 2, 2, true, true, 0},
		{"two points without noise", []Point{{X: 1, Y: 2}, {X: 2, Y: 2}}, 2, 2, true, false, 0},
		{"a point that was not measured", []Point{{X: 1, Y: 2}, {X: 2, Missing: true}, {X: 3, Y: 2}}, 2, 2, true, false, 0},
		{"places that are no numbers", []Point{{X: nan(), Y: 1}, {X: 1, Y: nan()}, {X: infinite(), Y: 1}, {X: 1, Y: infinite()}}, 0, 0, false, false, 0},
		{"noise that is no number", []Point{{X: 1, Y: 2, Low: nan(), High: infinite()}}, 1, 1, false, false, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := Chart{Lines: []Line{{Name: "a", Points: test.points}}, Mark: &Mark{Y: nan()}}
			line := c.draw(wide).Lines[0]
			if _, rows := c.table(); len(rows) != test.table {
				t.Errorf("the table has the rows %v", rows)
			}
			if len(line.Points) != test.drawn || (line.Path != "") != test.path || (line.Band != "") != test.band || len(line.Whiskers) != test.whiskers {
				t.Errorf("drawn: %+v", line)
			}
		})
	}
}
