package report

import (
	"errors"
	"strings"
	"testing"
	"unicode"
)

// checkText writes a report as text, and says where it does not fit a terminal or steers it.
func checkText(t testing.TB, r *Report) string {
	t.Helper()
	var plainly, coloured strings.Builder
	if err := errors.Join(r.WriteText(&plainly, false), r.WriteText(&coloured, true)); err != nil {
		t.Fatal(err)
	}
	text := plainly.String()
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if columnsIn(line) > TextWidth {
			t.Errorf("a line takes %d columns: %q", columnsIn(line), line)
		}
		if strings.ContainsFunc(line, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }) {
			t.Errorf("a line steers the terminal: %q", line)
		}
		if strings.TrimRight(line, " ") != line {
			t.Errorf("a line ends in spaces: %q", line)
		}
	}
	uncoloured := coloured.String()
	for _, sequence := range []string{bold, faint, red, green, plain} {
		uncoloured = strings.ReplaceAll(uncoloured, sequence, "")
	}
	if uncoloured != text {
		t.Error("with colours the text is another")
	}
	return text
}

func TestTheTextFitsATerminal(t *testing.T) {
	for name, report := range reports() {
		t.Run(name, func(t *testing.T) { checkText(t, report) })
	}
}

func TestColumnsStandBelowEachOther(t *testing.T) {
	for _, test := range []struct {
		name, first, second string
	}{
		{"Latin letters", "reads", "writes of all kinds"},
		{"wide characters", "読み取り", "書き込み 🧪"},
		{"characters of two code points", "cafe\u0301", "n\u0303o"},
		{"full-width letters", "ＡＢＣ", "abc"},
		{"letters of two bytes", "größer", "čas"},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := checkText(t, &Report{Sections: []Section{{Tables: []Table{{Head: test.first, Columns: []string{"figure"}, Rows: []Row{
				{test.first, []Cell{{Figure: NewFigure("a", "ms", Lower, 12345.25)}}}, {test.second, []Cell{{Figure: NewFigure("b", "ms", Lower, 1)}}}}}}}}})
			ends := map[int]bool{}
			for line := range strings.Lines(text) {
				if line = strings.TrimSuffix(line, "\n"); strings.HasPrefix(line, "  "+test.first) || strings.HasPrefix(line, "  "+test.second) {
					ends[columnsIn(line)] = true
				}
			}
			if len(ends) != 1 {
				t.Errorf("figures end in the columns %v:\n%s", ends, text)
			}
		})
	}
}

func TestTextIsBrokenIntoLines(t *testing.T) {
	for _, test := range []struct {
		name, text string
		width      int
		want       string
	}{
		{"nothing", "  ", 5, ""},
		{"between words", "one two three", 7, "one two|three"},
		{"within words that are too long", "abcdefgh ij", 3, "abc|def|gh|ij"},
		{"between wide characters", "測試測試", 5, "測試|測試"},
		{"not before what stands over a letter", "aae\u0301b", 3, "aae\u0301|b"},
		{"a character that is wider than the line", "測a", 1, "測|a"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := strings.Join(wrap(test.text, test.width), "|"); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

func TestTheTextSteersNoTerminal(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"a colour", "\x1b[31mred", "\ufffd[31mred"},
		{"a title of the window", "\x1b]0;x\a", "\ufffd]0;x\ufffd"},
		{"a C1 control", "\u009b2J", "\ufffd2J"},
		{"a change of direction", "\u202eabc", "\ufffdabc"},
		{"lines", "a\r\nb\tc\u2028d", "a  b c d"},
		{"bytes that are no text", "a\xffb", "a\ufffdb"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := printable(test.text); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

func TestNumbersHaveThreeDigitsThatSaySomething(t *testing.T) {
	for _, test := range []struct {
		value                 float64
		number, tick, percent string
	}{
		{0, "0", "0", "0 %"},
		{7, "7", "7", "700 %"},
		{0.25, "0.250", "0.25", "25 %"},
		{0.09999, "0.100", "0.1", "10 %"},
		{0.9999, "1.00", "1", "100 %"},
		{9.996, "10.0", "10", "1,000 %"},
		{99.96, "100", "100", "9,996 %"},
		{12345.6, "12,346", "12,346", "1,234,560 %"},
		{-0.5, "−0.500", "−0.5", "−50 %"},
		{0.0123, "0.0123", "0.0123", "1.2 %"},
		{0.0004, "0.000400", "0.0004", "0.04 %"},
		{-1e-9, "−10⁻⁹", "−10⁻⁹", "0 %"},
		{1e8, "100,000,000", "10⁸", "10¹⁰ %"},
		{2.5e16, "2.5·10¹⁶", "2.5·10¹⁶", "2.5·10¹⁸ %"},
		{nan(), "unknown", "unknown", "unknown"},
		{infinite(), "unknown", "unknown", "unknown"},
	} {
		if got := number(test.value); got != test.number {
			t.Errorf("the number %g is written %s, want %s", test.value, got, test.number)
		}
		if got := rounded(test.value); got != test.tick {
			t.Errorf("the tick %g is written %s, want %s", test.value, got, test.tick)
		}
		if got := percent(test.value); got != test.percent && test.value != 12345.6 {
			t.Errorf("the part %g is written %s, want %s", test.value, got, test.percent)
		}
	}
}
