package bench

import (
	"bytes"
	"fmt"
	"strconv"
	"time"

	"basalt/api/bench/load"
	"basalt/api/bench/report"
)

// callerCounts are those of the page.
var callerCounts = []int{1, 5, 10, 20, 50, 100, 200, 500, 1000}

// tolerable is the latency up to which an answer feels immediate; the page draws it.
const tolerable = 200 * time.Millisecond

// leastAnswers are the answers of each caller in a round.
const leastAnswers = 3

// read is a kind of read.
type read struct {
	key, title string
	path       func(turn int) string
	rows       int // at the top level of the answer
}

var readKinds = []read{
	{"pk", "by primary key", func(turn int) string {
		return "/rest/v1/bench_item?id=eq." + strconv.Itoa(turn%items+1)
	}, 1},
	{"list20", "filtered list of 20 rows", func(turn int) string {
		return "/rest/v1/bench_item?stock=eq." + strconv.Itoa(turn%stocks) + "&order=price&limit=20"
	}, 20},
	{"embed20x5", "embed of 20 × 5", func(turn int) string {
		return "/rest/v1/bench_item?select=id,name,bench_part(id,name,weight,amount,item_id)&order=id&limit=20&id=gt." + strconv.Itoa(richItems+turn%5000)
	}, 20},
	{"list1000", "list of 1,000 rows", func(turn int) string {
		return "/rest/v1/bench_item?order=id&limit=1000&id=gt." + strconv.Itoa(turn%1000)
	}, 1000},
}

// rowMark is what each row of bench_item begins with in an answer.
var rowMark = []byte(`{"id":`)

// prepare makes the requests of a kind of read, each for other rows. The first answers of each caller are looked at
// whole; later ones are counted by their status, so that the load spends its time on asking.
func (k read) prepare(header string) load.Prepare {
	return func(caller, n int, r *load.Request) {
		r.Method, r.Path, r.Header, r.Check = "GET", k.path(caller*7919+n), header, nil
		if n < 2 {
			r.Check = k.check
		}
	}
}

func (k read) check(body []byte) error {
	found := bytes.Count(body, rowMark)
	if k.key == "embed20x5" {
		found -= k.rows * partsOfOthers // parts begin alike
	}
	if found != k.rows {
		return fmt.Errorf("%d rows instead of %d: %.100s", found, k.rows, body)
	}
	return nil
}

// reads measures latency and throughput of reads by the number of callers.
func (r *run) reads() (report.Section, error) {
	s := report.Section{
		Title: "Read latency by concurrency",
		Intro: "Signed-in callers read rows under row-level security over keep-alive connections, each asking again as soon as it is answered.",
	}
	percentiles := report.Chart{Title: "Time within which 95 % of reads are answered", XLabel: "callers", YLabel: "ms", XLog: true, YLog: true,
		Mark: &report.Mark{Y: milliseconds(tolerable), Name: "200 ms"}}
	rates := report.Chart{Title: "Reads answered in a second", XLabel: "callers", YLabel: "reads/s", XLog: true, YLog: true}
	length := r.lasting(700 * time.Millisecond)
	method := fmt.Sprintf("Each point is the median of %d rounds of %v, or until each caller has been answered three times, the callers' numbers taken in turn; bands are the least and most of the rounds. Load and server share the machine.",
		r.options.Rounds, length)
	percentiles.Method, rates.Method = method, method
	var worst, fifty, thousand *report.Figure
	failed := 0
	for _, kind := range readKinds {
		measured := make([]readings, len(callerCounts))
		for round := range r.options.Rounds {
			for i, callers := range callerCounts {
				r.progress.Step(fmt.Sprintf("%s, %d callers, round %d of %d", kind.title, callers, round+1, r.options.Rounds))
				result, err := load.Closed(r.ctx, load.Options{URL: r.target.URL, Callers: callers, Warm: length / 4, For: length, Least: leastAnswers}, kind.prepare(r.target.headers()))
				if err != nil {
					return s, err
				}
				measured[i].add(result)
				failed += result.Errors
				s.Notes = append(s.Notes, failures(fmt.Sprintf("%s, %d callers", kind.title, callers), result)...)
			}
		}
		table := report.Table{Title: "Reads " + kind.title, Method: method, Head: "callers", Columns: readColumns}
		latency, rate := report.Line{Name: kind.title}, report.Line{Name: kind.title}
		for i, callers := range callerCounts {
			cells := measured[i].cells(fmt.Sprintf("reads.%s.%d", kind.key, callers))
			table.Rows = append(table.Rows, report.Row{Name: strconv.Itoa(callers), Cells: cells})
			p95, throughput := cells[1].Figure, cells[3].Figure
			latency.Points = append(latency.Points, p95.At(float64(callers)))
			rate.Points = append(rate.Points, throughput.At(float64(callers)))
			if kind.key != "pk" {
				continue
			}
			switch callers {
			case 50:
				fifty = throughput
			case 500:
				p95.WithBar(milliseconds(tolerable))
			case 1000:
				thousand, worst = throughput, p95.WithBar(milliseconds(tolerable))
				p95.WithHeadline("p95 of reads at 1,000 callers")
			}
		}
		s.Tables = append(s.Tables, table)
		percentiles.Lines, rates.Lines = append(percentiles.Lines, latency), append(rates.Lines, rate)
	}
	s.Charts = []report.Chart{percentiles, rates}
	kept := report.NewFigure("reads.pk.kept", "×", report.Higher, ratios(thousand.Rounds, fifty.Rounds)...).WithBar(0.9).
		WithHeadline("throughput at 1,000 callers / at 50")
	s.Tables = append(s.Tables, report.Table{
		Title: "Under many callers", Head: "reads by primary key", Columns: []string{"figure"},
		Method: "Throughput of the same round at 1,000 callers by that at 50.",
		Rows: []report.Row{
			{Name: "throughput at 1,000 callers / at 50", Cells: []report.Cell{{Figure: kept}}},
			{Name: "p95 at 1,000 callers", Cells: []report.Cell{{Figure: worst}}},
			{Name: "failed reads of all kinds", Cells: []report.Cell{{Figure: report.NewFigure("reads.failed", "", report.Lower, float64(failed)).WithBar(0)}}},
		},
	})
	return s, nil
}

// readings are the rounds of one load.
type readings struct{ p50, p95, p99, rate []float64 }

var readColumns = []string{"p50", "p95", "p99", "throughput"}

func (m *readings) add(result *load.Result) {
	m.p50 = append(m.p50, milliseconds(result.Percentile(0.50)))
	m.p95 = append(m.p95, milliseconds(result.Percentile(0.95)))
	m.p99 = append(m.p99, milliseconds(result.Percentile(0.99)))
	m.rate = append(m.rate, result.PerSecond())
}

// cells are the columns of readColumns.
func (m *readings) cells(key string) []report.Cell {
	return []report.Cell{
		{Figure: report.NewFigure(key+".p50", "ms", report.Lower, m.p50...)},
		{Figure: report.NewFigure(key+".p95", "ms", report.Lower, m.p95...)},
		{Figure: report.NewFigure(key+".p99", "ms", report.Lower, m.p99...)},
		{Figure: report.NewFigure(key+".rate", "/s", report.Higher, m.rate...)},
	}
}

// ratios divides round by round.
func ratios(a, b []float64) []float64 {
	var out []float64
	for i := range a {
		if b[i] > 0 {
			out = append(out, a[i]/b[i])
		}
	}
	return out
}
