package bench

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"basalt/api/bench/report"
)

const (
	streamRows  = 1_000_000
	sampleEvery = 25 * time.Millisecond
	mebibyte    = 1 << 20

	// Bars of a stream: the memory that it takes, and when it begins.
	streamMemory = 64 // MiB
	streamBegins = 100 * time.Millisecond
)

// resident is the metric of the memory that a process holds.
const resident = "process_resident_memory_bytes"

// memory measures the server's memory: idle, during a stream of many rows, at many callers. The server is started for
// each round, as a process keeps for a while what it has once taken.
func (r *run) memory(s *report.Section) error {
	var idle, streaming, over, crowded, first, rate []float64
	rows := r.turns(streamRows)
	length := max(r.lasting(time.Second), 4*sampleEvery)
	for round := range r.options.Rounds {
		r.progress.Step(fmt.Sprintf("memory, round %d of %d", round+1, r.options.Rounds))
		if err := r.target.restart(r.ctx, "--max-rows", "0"); err != nil {
			return err
		}
		if _, _, err := r.stream(10); err != nil { // nothing is loaded or compiled for the first time in what counts
			return err
		}
		before, err := r.target.metric(r.ctx, resident)
		if err != nil {
			return err
		}
		var begins, took time.Duration
		peak, err := r.peakMemory(func() error {
			begins, took, err = r.stream(rows)
			return err
		})
		if err != nil {
			return err
		}
		callers := poolCallers[len(poolCallers)-1]
		peakCrowd, err := r.peakMemory(func() error {
			result, err := r.readByKey(callers, length)
			if err == nil {
				s.Notes = append(s.Notes, failures(fmt.Sprintf("Memory at %d callers", callers), result)...)
			}
			return err
		})
		if err != nil {
			return err
		}
		idle, streaming = append(idle, before/mebibyte), append(streaming, peak/mebibyte)
		over, crowded = append(over, max(peak-before, 0)/mebibyte), append(crowded, peakCrowd/mebibyte)
		first, rate = append(first, milliseconds(begins)), append(rate, float64(rows)/took.Seconds())
	}
	cell := func(figure *report.Figure) []report.Cell { return []report.Cell{{Figure: figure}} }
	s.Tables = append(s.Tables, report.Table{
		Title: "Memory of the server", Head: "without PostgreSQL", Columns: []string{"figure"},
		Method: fmt.Sprintf("Resident memory as the server's /metrics tells it, every %v; the most of it in each of %d rounds, each on a server just started with --max-rows 0: idle, then while one client reads %d rows, then while 1,000 callers read by primary key.", sampleEvery, r.options.Rounds, rows),
		Rows: []report.Row{
			{Name: "idle", Cells: cell(report.NewFigure("limits.memory.idle", "MiB", report.Lower, idle...).WithHeadline("memory at idle, without PostgreSQL"))},
			{Name: "at 1,000 callers", Cells: cell(report.NewFigure("limits.memory.1000", "MiB", report.Lower, crowded...))},
			{Name: "during the stream", Cells: cell(report.NewFigure("limits.memory.stream", "MiB", report.Lower, streaming...))},
			{Name: "the stream over idle", Cells: cell(report.NewFigure("limits.memory.stream.over", "MiB", report.Lower, over...).WithBar(streamMemory))},
			{Name: "first byte of the stream", Cells: cell(report.NewFigure("limits.stream.first", "ms", report.Lower, first...).WithBar(milliseconds(streamBegins)))},
			{Name: "rows of the stream", Cells: cell(report.NewFigure("limits.stream.rate", "/s", report.Higher, rate...))},
		},
	})
	return nil
}

// peakMemory samples the server's memory while something is done.
func (r *run) peakMemory(work func() error) (peak float64, err error) {
	ctx, stop := context.WithCancel(r.ctx)
	defer stop()
	done := make(chan error, 1)
	go func() {
		for {
			now, err := r.target.metric(ctx, resident)
			if err == nil {
				peak = max(peak, now)
				err = sleep(ctx, sampleEvery)
			}
			if err != nil {
				done <- err
				return
			}
		}
	}()
	err = work()
	stop()
	if sampled := <-done; !errors.Is(sampled, context.Canceled) {
		err = errors.Join(err, sampled)
	}
	return peak, err
}

// stream reads rows that are made on the way, as one object a line, and tells when the first byte and the last have come.
func (r *run) stream(rows int) (first, all time.Duration, err error) {
	request, err := r.target.request(r.ctx, http.MethodGet, fmt.Sprint("/rest/v1/rpc/bench_rows?n=", rows), r.target.ServiceKey, nil)
	if err != nil {
		return 0, 0, err
	}
	request.Header.Set("Accept", "application/x-ndjson")
	request.Header.Set("Accept-Encoding", "identity")
	begin := time.Now()
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, 0, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(response.Body, 300)) // the status says enough
		return 0, 0, fmt.Errorf("stream %d rows: status %d: %s", rows, response.StatusCode, text)
	}
	body := bufio.NewReaderSize(response.Body, 64<<10)
	if _, err := body.Peek(1); err != nil {
		return 0, 0, fmt.Errorf("stream %d rows: %w", rows, err)
	}
	first = time.Since(begin)
	lines := 0
	for buffer := make([]byte, 64<<10); ; {
		n, err := body.Read(buffer)
		lines += bytes.Count(buffer[:n], []byte{'\n'})
		if err == io.EOF {
			break
		}
		if err != nil {
			return 0, 0, fmt.Errorf("stream %d rows: %w", rows, err)
		}
	}
	if lines != rows {
		return 0, 0, fmt.Errorf("the stream ended after %d rows of %d", lines, rows)
	}
	return first, time.Since(begin), nil
}
