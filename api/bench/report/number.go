package report

import (
	"math"
	"strconv"
	"strings"
)

// number writes a value with three digits that say something: 0.0123, 1.23, 12.3, 123, 12,345.
func number(v float64) string {
	size := math.Abs(v)
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "unknown"
	case v == 0:
		return "0"
	case size >= 1e15 || size < 1e-6:
		return strconv.FormatFloat(v, 'g', 3, 64)
	case v == math.Trunc(v):
		return grouped(v, 0)
	case size < 1:
		return grouped(v, min(2-int(math.Floor(math.Log10(size))), 8))
	case size < 9.995:
		return grouped(v, 2)
	case size < 99.95:
		return grouped(v, 1)
	}
	return grouped(v, 0)
}

// grouped writes a value with so many decimals and a comma between thousands.
func grouped(v float64, decimals int) string {
	text := strconv.FormatFloat(math.Abs(v), 'f', decimals, 64)
	whole, fraction, _ := strings.Cut(text, ".")
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + "," + whole[at:]
	}
	if fraction != "" {
		whole += "." + fraction
	}
	if v < 0 {
		return "−" + whole
	}
	return whole
}

// rounded is a value to reach or a tick, which has no more digits than it was set with.
func rounded(v float64) string {
	text := number(v)
	if strings.Contains(text, ".") && !strings.Contains(text, "e") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// withUnit sets a unit behind a number, when there is one.
func withUnit(number, unit string) string {
	if unit == "" {
		return number
	}
	return number + " " + unit
}

// percent writes a part of one as a percentage; below ten with a decimal where it is not a whole number.
func percent(part float64) string {
	hundredths := part * 100
	switch {
	case math.IsNaN(hundredths) || math.IsInf(hundredths, 0):
		return "unknown"
	case math.Abs(hundredths) < 9.95:
		return strings.TrimSuffix(grouped(hundredths, 1), ".0") + " %"
	}
	return grouped(hundredths, 0) + " %"
}

// text is the value without its unit.
func (f *Figure) text() string {
	if !f.Measured() {
		return "not measured"
	}
	return number(f.Value)
}

// noise is "± 4 %", empty where it is unknown.
func (f *Figure) noise() string {
	part, ok := f.Noise()
	if !ok {
		return ""
	}
	return "± " + percent(part)
}

// goal is what the value is to be: "≤ 200 ms".
func (f *Figure) goal() string {
	sign := "≤ "
	if f.Better == Higher {
		sign = "≥ "
	}
	return sign + withUnit(rounded(*f.Bar), f.Unit)
}

// rounds lists the values of the rounds.
func (f *Figure) rounds() string {
	values := make([]string, len(f.Rounds))
	for i, round := range f.Rounds {
		values[i] = number(round)
	}
	return strings.Join(values, ", ")
}
