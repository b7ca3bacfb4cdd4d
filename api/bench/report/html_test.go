package report

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"
)

// hostile is text that would leave whatever it stands in, or break its form.
const hostile = `</title></style></script><script>alert(1)</script>"'><img src=http://evil.example/x onerror=alert(2)>` +
	"<!-- --> ]]> {{.}} ${x} javascript:alert(3) &lt; &#x3c; \x00\x01\x1b[31m\u0085\u202e\ufffe\xff\r\n\t\\u003c 測試 🧪"

// filled is a report with the same text wherever there is any.
func filled(text string) *Report {
	figure := NewFigure(text, text, Higher, 1, 2, 3).WithBar(5).WithHeadline(text)
	r := &Report{Format: Format, Version: text, Commit: text, Command: text, Started: time.Unix(1e9, 0),
		Machine: Machine{System: text, CPU: text, Cores: 1, Go: text},
		Server:  Server{URL: text, Postgres: text, Settings: []Setting{{text, text}}},
		Sections: []Section{{Name: text, Title: text, Intro: text, Notes: []Note{{Text: text}, {text, true}},
			Charts: []Chart{{Title: text, Method: text, XLabel: text, YLabel: text, Mark: &Mark{2, text},
				Lines: []Line{{Name: text, Points: []Point{{X: 1, Y: 2, Low: 1, High: 3}, {X: 2, Y: 2}}}}}},
			Tables: []Table{{Title: text, Method: text, Head: text, Columns: []string{text, text},
				Rows: []Row{{text, []Cell{{Figure: figure}, {Text: text}}}}}}}}}
	r.Changes = Compare(&Report{Version: text, Commit: text, Sections: []Section{{Tables: []Table{{Rows: []Row{{text, []Cell{
		{Figure: NewFigure(text, text, Higher, 9, 9.1)}, {Figure: NewFigure(text+"2", text, Higher, 9, 9.1)}}}}}}}}}, r)
	return r
}

// odd is a report of the values that are hardest to draw.
func odd() *Report {
	values := []float64{0, -1, 1e-320, 5e-7, 1e300, -1e308, math.MaxFloat64, math.NaN(), math.Inf(1), math.Inf(-1)}
	r := &Report{Format: Format}
	for _, log := range []bool{false, true} {
		for _, mark := range []float64{0, 200, math.NaN(), math.Inf(1)} {
			s := Section{Name: "odd", Title: "Odd values"}
			var line Line
			for i, v := range values {
				line.Points = append(line.Points, Point{X: v, Y: values[(i+1)%len(values)], Low: values[(i+2)%len(values)], High: v})
				one := Line{Name: "one point", Points: []Point{{X: v, Y: v, Low: v, High: v}}}
				s.Charts = append(s.Charts, Chart{Title: "One point", Method: "None.", XLog: log, YLog: log, Lines: []Line{one}, Mark: &Mark{mark, "mark"}})
			}
			s.Charts = append(s.Charts, Chart{Title: "All", Method: "None.", XLog: log, YLog: log, Lines: []Line{line, {Name: "none"}}, Mark: &Mark{mark, "mark"}},
				Chart{Title: "No lines", Method: "None.", Mark: &Mark{mark, "mark"}})
			r.Sections = append(r.Sections, s)
		}
	}
	t := Table{Title: "Figures", Method: "None.", Columns: []string{"value"}}
	for _, v := range values {
		t.Rows = append(t.Rows, Row{"raw", []Cell{{Figure: &Figure{Key: number(v), Unit: "ms", Value: v, Rounds: []float64{v, v}}}}})
	}
	t.Rows = append(t.Rows, Row{Name: "no cells"}, Row{"more cells than columns", []Cell{{Text: "a"}, {Text: "b"}, {}}})
	r.Sections = append(r.Sections, Section{Name: "main", Tables: []Table{t, {}}}, Section{Name: "odd-1"}, Section{Name: "section-2", Tables: []Table{t}})
	return r
}

// long is a report of hundreds of rows, lines and columns, and of names without end.
func long() *Report {
	name := strings.Repeat("Wort", 100)
	s := Section{Name: "long", Title: name, Intro: name}
	t := Table{Title: name, Method: name, Head: name}
	c := Chart{Title: name, Method: name, XLabel: name, YLabel: name, XLog: true, YLog: true, Mark: &Mark{3, name}}
	for i := range 200 {
		row := Row{Name: name}
		for range 12 {
			row.Cells = append(row.Cells, Cell{Figure: NewFigure("f"+name+number(float64(i*12+len(row.Cells))), name, Lower, 1, 2)})
		}
		t.Rows = append(t.Rows, row)
		if i < 50 {
			c.Lines = append(c.Lines, Line{Name: name, Points: []Point{{X: 1, Y: float64(i + 1)}, {X: 1e6, Y: 2}}})
		}
	}
	s.Charts, s.Tables = []Chart{c}, []Table{t}
	return &Report{Format: Format, Command: name, Sections: []Section{s}}
}

// reports are what the page and the text have to bear.
func reports() map[string]*Report {
	full := sample(2, 1)
	full.Changes = Compare(sample(1, 1.3), full)
	return map[string]*Report{
		"a run as a machine makes it": full, "an empty report": {}, "text that would break out": filled(hostile),
		"empty text": filled(""), "odd values": odd(), "hundreds of long rows": long(),
		"a section without anything": {Sections: []Section{{}}}, "an empty comparison": {Changes: &Comparison{}},
	}
}

func pageOf(t *testing.T, r *Report) string {
	t.Helper()
	var b strings.Builder
	if err := r.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// void are the elements of HTML that have no end tag.
var void = map[string]bool{"meta": true, "br": true, "hr": true, "img": true, "link": true, "input": true}

// balanced says where the tags of a page do not close as they opened.
func balanced(t *testing.T, page string) {
	t.Helper()
	tokens := html.NewTokenizer(strings.NewReader(page))
	var open []string
	for {
		switch tokens.Next() {
		case html.ErrorToken:
			if !errors.Is(tokens.Err(), io.EOF) {
				t.Errorf("the page cannot be read: %v", tokens.Err())
			}
			if len(open) > 0 {
				t.Errorf("never closed: %v", open)
			}
			return
		case html.StartTagToken:
			if name := tokens.Token().Data; !void[name] {
				open = append(open, name)
			}
		case html.EndTagToken:
			name := tokens.Token().Data
			if len(open) == 0 || open[len(open)-1] != name {
				t.Fatalf("</%s> closes nothing: open are %v", name, open)
			}
			open = open[:len(open)-1]
		}
	}
}

var drawing = regexp.MustCompile(`(?s)<svg.*?</svg>`)

func TestThePageIsWellFormed(t *testing.T) {
	for name, report := range reports() {
		t.Run(name, func(t *testing.T) {
			page := pageOf(t, report)
			balanced(t, page)
			for _, svg := range drawing.FindAllString(page, -1) {
				if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
					t.Fatalf("a drawing has a place that is no number: %.400s", svg)
				}
				decoder := xml.NewDecoder(strings.NewReader(svg))
				for {
					if _, err := decoder.Token(); errors.Is(err, io.EOF) {
						break
					} else if err != nil {
						t.Fatalf("a drawing is not XML: %v in %.400s", err, svg)
					}
				}
			}
			tree, err := html.Parse(strings.NewReader(page))
			if err != nil {
				t.Fatal(err)
			}
			ids, links := map[string]int{}, []string{}
			for node := range tree.Descendants() {
				if node.Type != html.ElementNode {
					continue
				}
				switch node.Data {
				case "script", "iframe", "img", "link", "object", "embed", "form", "base", "foreignobject":
					t.Errorf("the page has a <%s>", node.Data)
				}
				for _, a := range node.Attr {
					switch {
					case a.Key == "id":
						ids[a.Val]++
					case a.Key == "href":
						links = append(links, a.Val)
					case strings.HasPrefix(a.Key, "on"), a.Key == "src", a.Key == "style":
						t.Errorf("the page has an attribute %s=%q", a.Key, a.Val)
					case a.Key == "aria-labelledby":
						links = append(links, "#"+a.Val)
					}
				}
			}
			for id, times := range ids {
				if times > 1 {
					t.Errorf("the id %q stands %d times", id, times)
				}
			}
			for _, link := range links {
				if id, inside := strings.CutPrefix(link, "#"); !inside || ids[id] == 0 {
					t.Errorf("%q leads nowhere in the page", link)
				}
			}
		})
	}
}

func TestThePageNeedsNothingBesideIt(t *testing.T) {
	page := pageOf(t, sample(1, 1))
	for _, want := range []string{"default-src 'none'", "prefers-color-scheme: dark", `content="light dark"`, "@media print", `<html lang="en">`, "width=device-width"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	for _, never := range []string{"url(", "@import", "<script", "ZgotmplZ"} {
		if strings.Contains(page, never) {
			t.Errorf("the page has %s", never)
		}
	}
}

func TestEveryFigureStandsWithItsMethod(t *testing.T) {
	r := sample(1, 1)
	tree, err := html.Parse(strings.NewReader(pageOf(t, r)))
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]string{} // the heading of a chart or table, and its method
	for node := range tree.Descendants() {
		if node.Data == "figure" || slices.Contains(node.Attr, html.Attribute{Key: "class", Val: "block"}) {
			heading, method := "", ""
			for part := range node.Descendants() {
				if part.Data == "h3" {
					heading = part.FirstChild.Data
				}
				if slices.Contains(part.Attr, html.Attribute{Key: "class", Val: "method"}) {
					method = part.FirstChild.Data
				}
			}
			shown[heading] = method
		}
	}
	for _, section := range r.Sections {
		for _, chart := range section.Charts {
			if shown[chart.Title] != chart.Method {
				t.Errorf("the chart %q has the method %q", chart.Title, shown[chart.Title])
			}
		}
		for _, table := range section.Tables {
			if shown[table.Title] != table.Method {
				t.Errorf("the table %q has the method %q", table.Title, shown[table.Title])
			}
		}
	}
}

func TestWhatIsNotKnownIsNotSaid(t *testing.T) {
	for _, test := range []struct {
		name   string
		report *Report
		want   string
	}{
		{"nothing is known", &Report{}, "over"},
		{"the load is unknown", &Report{}, "Load of the machine"},
		{"the time is unknown", &Report{Changes: &Comparison{}}, "0001"},
		{"the commit is unknown", &Report{Commit: "unknown"}, "commit"},
		{"a part was not measured", &Report{Sections: []Section{{Charts: []Chart{{Lines: []Line{{Name: "a", Points: []Point{NewFigure("a", "ms", Lower).At(1)}}}}}}}}, `class="reach"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, body, _ := strings.Cut(pageOf(t, test.report), `class="lead"`)
			if lead, _, _ := strings.Cut(body, "</main>"); strings.Contains(lead, test.want) {
				t.Errorf("the page says %q", test.want)
			}
		})
	}
	if page := pageOf(t, &Report{Machine: Machine{Cores: 1}}); !strings.Contains(page, "1 core.") {
		t.Error("one core is not one core")
	}
}
