package report

import (
	"math"
	"strconv"
	"strings"
)

// superscripts are the digits of an exponent.
var superscripts = strings.NewReplacer("-", "⁻", "0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹")

// finite says whether a value is a number at all.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// number writes a value with three digits that say something: 0.0123, 1.23, 12.3, 123, 12,345.
func number(v float64) string {
	size := math.Abs(v)
	switch {
	case !finite(v):
		return "unknown"
	case v == 0:
		return "0"
	case size >= 1e15 || size < 1e-6:
		return scientific(v)
	case v == math.Trunc(v):
		return grouped(v, 0)
	case size < 0.9995:
		return grouped(v, min(2-exponent(size), 8))
	case size < 9.995:
		return grouped(v, 2)
	case size < 99.95:
		return grouped(v, 1)
	}
	return grouped(v, 0)
}

// exponent is the power of ten of a value's first digit, once it is rounded to three.
func exponent(size float64) int {
	_, power, _ := strings.Cut(strconv.FormatFloat(size, 'e', 2, 64), "e")
	n, _ := strconv.Atoi(power) // FormatFloat writes digits
	return n
}

// scientific writes a value by a power of ten: 1.23·10⁻⁷, 10⁸.
func scientific(v float64) string {
	digits, _, _ := strings.Cut(strconv.FormatFloat(math.Abs(v), 'e', 2, 64), "e")
	digits = strings.TrimRight(strings.TrimRight(digits, "0"), ".")
	text := strings.TrimPrefix(digits+"·10", "1·") + superscripts.Replace(strconv.Itoa(exponent(math.Abs(v))))
	if v < 0 {
		return "−" + text
	}
	return text
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
	if v < 0 && strings.ContainsAny(whole, "123456789") {
		return "−" + whole
	}
	return whole
}

// rounded is a value to reach or a tick, which has no more digits than it was set with.
func rounded(v float64) string {
	if size := math.Abs(v); finite(v) && v != 0 && (size >= 1e8 || size < 1e-4) {
		return scientific(v)
	}
	text := number(v)
	if strings.Contains(text, ".") {
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
	case !finite(hundredths):
		return "unknown"
	case math.Abs(hundredths) >= 1e6:
		return scientific(hundredths) + " %"
	case math.Abs(hundredths) >= 1e-6 && math.Abs(hundredths) < 0.095: // one digit, so that a change is not none
		return grouped(hundredths, min(-int(math.Floor(math.Log10(math.Abs(hundredths)))), 8)) + " %"
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
