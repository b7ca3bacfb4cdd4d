package bench

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"basalt/api/bench/load"
	"basalt/api/bench/report"
)

// limits measures how a server behaves at its bounds: few and many connections to PostgreSQL, memory, too many requests.
func (r *run) limits() (report.Section, error) {
	s := report.Section{
		Title: "Limits",
		Intro: "What the size of the pool of connections does, how much memory the server takes, and what it does when more is asked than it can answer.",
	}
	if r.target.own == nil {
		s.Notes = append(s.Notes, report.Note{Text: "Sizes of the pool and memory are not measured: for them the server has to be started again with other settings, which is done with a throw-away one only."})
		return s, r.overload(&s)
	}
	if err := r.pools(&s); err != nil {
		return s, err
	}
	if err := r.memory(&s); err != nil {
		return s, err
	}
	if err := r.overload(&s); err != nil {
		return s, err
	}
	return s, r.target.restart(r.ctx)
}

// The sizes of the pool that are measured, and the callers.
var (
	poolSizes   = []int{5, 10, 25, 50, 100}
	poolCallers = []int{50, 200, 1000}
)

// poolConnections is what PostgreSQL has to admit for the largest pool, beside which the server has a few others.
const poolConnections = 150

// pools measures reads by the size of the pool.
func (r *run) pools(s *report.Section) (err error) {
	if err := r.target.sql(r.ctx, fmt.Sprintf(`alter system set max_connections = %d`, poolConnections)); err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, r.target.sql(context.WithoutCancel(r.ctx), `alter system reset max_connections`))
	}()
	length := r.lasting(500 * time.Millisecond)
	measured, failed := make([][]readings, len(poolSizes)), make([][][]float64, len(poolSizes))
	for i := range poolSizes {
		measured[i], failed[i] = make([]readings, len(poolCallers)), make([][]float64, len(poolCallers))
	}
	for round := range r.options.Rounds {
		for i, size := range poolSizes {
			if err := r.target.restart(r.ctx, "--pool-size", strconv.Itoa(size)); err != nil {
				return err
			}
			for k, callers := range poolCallers {
				r.progress.Step(fmt.Sprintf("pool of %d, %d callers, round %d of %d", size, callers, round+1, r.options.Rounds))
				result, err := r.readByKey(callers, length)
				if err != nil {
					return err
				}
				measured[i][k].add(result)
				failed[i][k] = append(failed[i][k], float64(result.Errors))
				s.Notes = append(s.Notes, failures(fmt.Sprintf("Pool of %d, %d callers", size, callers), result)...)
			}
		}
	}
	tellPools(s, measured, failed, fmt.Sprintf(
		"Reads by primary key; median of %d rounds of %v, each on a server started with --pool-size and warmed up; PostgreSQL admits %d connections for it.", r.options.Rounds, length, poolConnections))
	return nil
}

// readByKey has callers read by primary key. Before what counts they have made their connections, and statements are
// prepared on those of the pool.
func (r *run) readByKey(callers int, length time.Duration) (*load.Result, error) {
	return load.Closed(r.ctx, load.Options{URL: r.target.URL, Callers: callers, Warm: length / 2, For: length, Least: leastAnswers}, readKinds[0].prepare(r.target.headers()))
}

func tellPools(s *report.Section, measured [][]readings, failed [][][]float64, method string) {
	rate := report.Table{Title: "Reads in a second by the size of the pool", Method: method, Head: "connections"}
	p95 := report.Table{Title: "p95 by the size of the pool", Method: method, Head: "connections"}
	bad := report.Table{Title: "Failed reads by the size of the pool", Method: method, Head: "connections"}
	rates := report.Chart{Title: "Reads in a second by the size of the pool", Method: method, XLabel: "connections", YLabel: "reads/s", XLog: true}
	times := report.Chart{Title: "Time within which 95 % of reads are answered by the size of the pool", Method: method, XLabel: "connections", YLabel: "ms", XLog: true, YLog: true}
	for _, callers := range poolCallers {
		name := fmt.Sprint(callers, " callers")
		rate.Columns, p95.Columns, bad.Columns = append(rate.Columns, name), append(p95.Columns, name), append(bad.Columns, name)
		rates.Lines, times.Lines = append(rates.Lines, report.Line{Name: name}), append(times.Lines, report.Line{Name: name})
	}
	for i, size := range poolSizes {
		rateRow, p95Row, badRow := report.Row{Name: strconv.Itoa(size)}, report.Row{Name: strconv.Itoa(size)}, report.Row{Name: strconv.Itoa(size)}
		for k, callers := range poolCallers {
			key := fmt.Sprintf("limits.pool.%d.%d", size, callers)
			cells := measured[i][k].cells(key)
			p95Row.Cells, rateRow.Cells = append(p95Row.Cells, cells[1]), append(rateRow.Cells, cells[3])
			badRow.Cells = append(badRow.Cells, worstOf(key+".failed", failed[i][k]))
			times.Lines[k].Points = append(times.Lines[k].Points, cells[1].Figure.At(float64(size)))
			rates.Lines[k].Points = append(rates.Lines[k].Points, cells[3].Figure.At(float64(size)))
		}
		rate.Rows, p95.Rows, bad.Rows = append(rate.Rows, rateRow), append(p95.Rows, p95Row), append(bad.Rows, badRow)
	}
	s.Tables = append(s.Tables, rate, p95, bad)
	s.Charts = append(s.Charts, rates, times)
}
