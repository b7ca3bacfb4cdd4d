package bench

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"basalt/api/bench/load"
	"basalt/api/bench/report"
)

func TestALoadWithoutAnySuccessReachesNoBar(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	result, err := load.Closed(t.Context(), load.Options{URL: server.URL, Callers: 2, For: time.Minute, Count: 3},
		func(_, _ int, q *load.Request) { q.Method, q.Path = http.MethodGet, "/" })
	if err != nil {
		t.Fatal(err)
	}
	var m readings
	m.add(result)
	cells := m.cells("x")
	for _, cell := range cells[:3] {
		if reached, _ := cell.Figure.WithBar(200).Reached(); reached || cell.Figure.Measured() {
			t.Errorf("%s is measured as %v", cell.Figure.Key, cell.Figure.Value)
		}
		if !cell.Figure.At(1).Missing {
			t.Errorf("%s is drawn", cell.Figure.Key)
		}
	}
	if rate := cells[3].Figure; !rate.Measured() || rate.Value != 0 {
		t.Errorf("the throughput is %v", rate.Value)
	}
	if ratio := report.NewFigure("x", "×", report.Lower, ratios(m.p95, []float64{5})...); ratio.Measured() {
		t.Errorf("the ratio of nothing to 5 is %v", ratio.Value)
	}
}

func TestAnInterruptDoesNotWaitForAServerThatHangs(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		if conn, err := listener.Accept(); err == nil {
			defer conn.Close()
			cancel()
			<-t.Context().Done()
		}
	}()
	begin := time.Now()
	_, err = load.Closed(ctx, load.Options{URL: "http://" + listener.Addr().String(), Callers: 1, For: time.Minute, Count: 1},
		func(_, _ int, q *load.Request) { q.Method, q.Path = http.MethodGet, "/" })
	if err == nil || time.Since(begin) > 20*time.Second { // less than a request may take
		t.Errorf("%v after %v", err, time.Since(begin))
	}
}
