package report

import (
	"math"
	"slices"
)

// Values beyond these are drawn at them: their logarithms and steps stay numbers.
const (
	leastDrawn = 1e-300
	mostDrawn  = 1e300
)

// axis maps values to places between from and to, in the units of a drawing.
type axis struct {
	low, high float64 // values at from and to
	log       bool
	from, to  float64
	ticks     []tick
}

// tick is a value that is marked on an axis; one without a label is a finer line.
type tick struct {
	At    float64
	Label string
}

// newAxis makes an axis that holds all values. A logarithmic one needs a value above 0, else it is linear.
func newAxis(values []float64, log bool, from, to float64) *axis {
	a := &axis{from: from, to: to, log: log}
	if log {
		above := slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return v < leastDrawn })
		if a.log = len(above) > 0; a.log {
			values = above
		}
	}
	if len(values) == 0 {
		values = []float64{0, 1}
	}
	a.low, a.high = slices.Min(values), slices.Max(values)
	return a
}

// place is where a value is drawn; one below the end of the axis stands at the end.
func (a *axis) place(v float64) float64 {
	low, high := a.low, a.high
	v = min(max(v, low), high)
	if a.log {
		v, low, high = math.Log10(v), math.Log10(low), math.Log10(high)
	}
	if high <= low {
		return (a.from + a.to) / 2
	}
	return a.from + (v-low)/(high-low)*(a.to-a.from)
}

// widen rounds the ends of the axis to ticks, and marks those that have room.
func (a *axis) widen(most int) {
	if a.log {
		a.widenLog(most)
		return
	}
	if a.high == a.low {
		a.high += max(1, math.Abs(a.high))
	}
	step := niceStep((a.high - a.low) / float64(most))
	first, last := math.Floor(a.low/step+1e-9), math.Ceil(a.high/step-1e-9)
	a.low, a.high = first*step, last*step
	for i := first; i <= last; i++ {
		a.ticks = append(a.ticks, tick{a.place(i * step), rounded(i * step)})
	}
}

// niceStep is the least of 1, 2 and 5 times a power of ten that is not below a step.
func niceStep(step float64) float64 {
	step = max(step, leastDrawn)
	power := math.Pow(10, math.Floor(math.Log10(step)))
	for _, digit := range []float64{1, 2, 5} {
		if digit*power >= step*(1-1e-9) {
			return digit * power
		}
	}
	return 10 * power
}

func (a *axis) widenLog(most int) {
	first, last := int(math.Floor(math.Log10(a.low)+1e-9)), int(math.Ceil(math.Log10(a.high)-1e-9))
	if first == last {
		last++
	}
	if last-first > most { // too many powers of ten for a label each
		a.low, a.high = math.Pow10(first), math.Pow10(last)
		every := (last - first + most - 1) / most
		for i := first; i <= last; i += every {
			a.ticks = append(a.ticks, tick{a.place(math.Pow10(i)), rounded(math.Pow10(i))})
		}
		return
	}
	var steps []float64
	for i := first; i <= last; i++ {
		for _, digit := range []float64{1, 2, 5} {
			steps = append(steps, digit*math.Pow10(i))
		}
	}
	low, high := 0, len(steps)-1
	for low < high-1 && steps[low+1] <= a.low*(1+1e-9) {
		low++
	}
	for high > low+1 && steps[high-1] >= a.high*(1-1e-9) {
		high--
	}
	steps = steps[low : high+1]
	a.low, a.high = steps[0], steps[len(steps)-1]
	for i, step := range steps {
		label := ""
		if len(steps) <= most || math.Abs(math.Log10(step)-math.Round(math.Log10(step))) < 1e-9 || i == 0 && last-first < 2 {
			label = rounded(step)
		}
		a.ticks = append(a.ticks, tick{a.place(step), label})
	}
}

// mark labels given values, as far as their labels do not touch: both ends first, then from the first on.
func (a *axis) mark(values []float64, gap float64) {
	values = slices.Compact(slices.Sorted(slices.Values(values)))
	if len(values) == 0 {
		return
	}
	order := slices.Clone(values)
	if last := len(order) - 1; last > 0 { // the last comes second
		order = slices.Insert(order[:last], 1, values[last])
	}
	for _, v := range order {
		t := tick{a.place(v), rounded(v)}
		if slices.ContainsFunc(a.ticks, func(other tick) bool {
			return other.Label != "" && math.Abs(other.At-t.At) < gap+labelWidth*float64(columnsIn(other.Label)+columnsIn(t.Label))/2
		}) {
			t.Label = ""
		}
		a.ticks = append(a.ticks, t)
	}
}
