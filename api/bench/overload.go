package bench

import (
	"fmt"
	"net/http"
	"time"

	"basalt/api/bench/load"
	"basalt/api/bench/report"
)

const (
	peakCallers = 50
	// overloadCallers are more than may wait for a connection to PostgreSQL (--pool-wait), so that the server has to refuse.
	overloadCallers = 2500
	overloadTime    = 1500 * time.Millisecond
)

// overloads are the multiples of the peak that are asked for.
var overloads = []int{1, 2, 4}

// overloaded is what the rounds of one multiple have given.
type overloaded struct {
	reached                            readings
	answered, refused, told, sent, bad []float64 // shares of what was due, of the refusals, of what was due; failures
}

// overload asks for more than the server can answer.
func (r *run) overload(s *report.Section) error {
	length := max(r.lasting(overloadTime), 200*time.Millisecond)
	var peak []float64
	outcomes := make([]overloaded, len(overloads))
	for round := range r.options.Rounds {
		r.progress.Step(fmt.Sprintf("the peak, round %d of %d", round+1, r.options.Rounds))
		most, err := r.readByKey(peakCallers, length)
		if err != nil {
			return err
		}
		if most.PerSecond() == 0 {
			return fmt.Errorf("no read was answered: %w", most.FirstError)
		}
		peak = append(peak, most.PerSecond())
		s.Notes = append(s.Notes, failures(fmt.Sprintf("The peak, %d callers", peakCallers), most)...)
		for i, times := range overloads {
			r.progress.Step(fmt.Sprintf("%d × the peak, round %d of %d", times, round+1, r.options.Rounds))
			o := load.Options{URL: r.target.URL, Callers: overloadCallers, Warm: length / 2, For: length}
			result, err := load.Open(r.ctx, o, most.PerSecond()*float64(times), readKinds[0].prepare(r.target.headers()))
			if err != nil {
				return err
			}
			outcomes[i].add(result)
			if bad := result.Errors - refusals(result); bad > 0 {
				s.Notes = append(s.Notes, report.Note{Bad: true, Text: fmt.Sprintf("%d × the peak: %d of %d failed otherwise than by being refused; one failure is: %v", times, bad, result.Requests, result.FirstError)})
			}
		}
	}
	tellOverload(s, peak, outcomes, fmt.Sprintf(
		"Reads by primary key. The peak is the throughput of %d callers who wait for their answers; then so many times that rate is asked for without waiting, over at most %d connections, turn by turn, %s of %v.",
		peakCallers, overloadCallers, r.rounds(), length))
	return nil
}

// refusals counts the answers of a server that has too much to do.
func refusals(result *load.Result) int {
	return result.Statuses[http.StatusTooManyRequests] + result.Statuses[http.StatusServiceUnavailable] + result.Statuses[http.StatusGatewayTimeout]
}

func (o *overloaded) add(result *load.Result) {
	share := func(n, of int) float64 { return float64(n) / float64(max(of, 1)) }
	refused := refusals(result)
	o.reached.add(result)
	o.answered = append(o.answered, share(result.Requests-result.Errors, result.Offered))
	o.refused = append(o.refused, share(refused, result.Offered))
	o.told = append(o.told, share(result.RetryAfter, refused))
	o.sent = append(o.sent, 1-share(result.Unsent, result.Offered))
	o.bad = append(o.bad, float64(result.Errors-refused))
}

// leastSent is the share of what was due below which a note says why there was no more.
const leastSent = 0.95

func tellOverload(s *report.Section, peak []float64, outcomes []overloaded, method string) {
	table := report.Table{Title: "More than the server can answer", Method: method, Head: "asked for",
		Columns: []string{"answered a second", "p50", "p95", "answered", "refused", "of these with Retry-After", "could be sent", "failed"}}
	top := make([]report.Cell, len(table.Columns))
	top[0] = report.Cell{Figure: report.NewFigure("limits.peak", "/s", report.Higher, peak...)}
	table.Rows = append(table.Rows, report.Row{Name: "the peak", Cells: top})
	chart := report.Chart{Title: "Reads answered in a second by what is asked for", Method: method, XLabel: "× the peak", YLabel: "reads/s"}
	line := report.Line{Name: "answered"}
	for i, times := range overloads {
		o := &outcomes[i]
		key := fmt.Sprint("limits.overload.", times)
		cells := o.reached.cells(key)
		line.Points = append(line.Points, cells[3].Figure.At(float64(times)))
		sent := report.NewFigure(key+".sent", "×", report.Higher, o.sent...)
		told := report.Cell{Text: "–"}
		refused := report.NewFigure(key+".refused", "×", "", o.refused...)
		if refused.Value > 0 {
			told = report.Cell{Figure: report.NewFigure(key+".told", "×", report.Higher, o.told...)}
		}
		table.Rows = append(table.Rows, report.Row{Name: fmt.Sprintf("%d × the peak", times), Cells: []report.Cell{
			cells[3], cells[0], cells[1], {Figure: report.NewFigure(key+".answered", "×", report.Higher, o.answered...)},
			{Figure: refused}, told, {Figure: sent}, worstOf(key+".failed", o.bad),
		}})
		if sent.Value < leastSent {
			s.Notes = append(s.Notes, report.Note{Text: fmt.Sprintf(
				"At %d × the peak %.0f %% of what was due could be sent: all of the %d connections waited for their answers, as the server answers who waits in the order of coming and has refusals wait for their turn, and as the load takes its share of the same cores.", times, 100*sent.Value, overloadCallers)})
		}
	}
	chart.Lines = []report.Line{line}
	kept := report.NewFigure("limits.overload.kept", "×", report.Higher, ratios(outcomes[1].reached.rate, peak)...).WithBar(0.8).
		WithHeadline("throughput at twice the peak / at the peak")
	s.Charts = append(s.Charts, chart)
	s.Tables = append(s.Tables, table, report.Table{
		Title: "No collapse", Head: "reads by primary key", Columns: []string{"figure"},
		Method: "Reads answered in a second at twice the peak by those at the peak, of the same round.",
		Rows:   []report.Row{{Name: "at 2 × the peak / at the peak", Cells: []report.Cell{{Figure: kept}}}},
	})
}
