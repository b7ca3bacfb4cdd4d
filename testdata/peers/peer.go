package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"basalt/api/bench/load"
	"basalt/api/bench/peers"
)

// peer is one of what is measured.
type peer interface {
	// about describes the peer, as far as is known.
	about() *peers.Peer
	// start builds what has to be built, and starts it with the rows in place. Its error is why it is not measured.
	start(ctx context.Context, w *workshop) error
	// lacks says why a scenario cannot be asked of the peer; empty: it can.
	lacks(s scenario) string
	// check asks once and compares the rows.
	check(ctx context.Context, s scenario) error
	// measure loads the peer.
	measure(ctx context.Context, s scenario, callers int, warm, length time.Duration) (sample, error)
	// pid is the process of the server; 0: it has none of its own.
	pid() int
	stop() error
}

// sample is one round: times in ms.
type sample struct {
	p50, p95, perSecond float64
	errors              int
	firstError          error
}

// server is a peer that speaks HTTP.
type server struct {
	peers.Peer
	process  *process
	url      string
	requests map[string]request // by the name of the scenario
	missing  map[string]string  // scenarios that cannot be asked, with the reason
}

// request is how a scenario is asked of a server.
type request struct {
	// write makes the request of a turn.
	write func(turn int, r *load.Request)
	// rows reads an answer.
	rows func(body []byte) ([]row, error)
}

func (s *server) about() *peers.Peer { return &s.Peer }

func (s *server) lacks(sc scenario) string { return s.missing[sc.name] }

func (s *server) pid() int {
	if s.process == nil {
		return 0
	}
	return s.process.cmd.Process.Pid
}

func (s *server) stop() error { return s.process.stop() }

func (s *server) check(ctx context.Context, sc scenario) error {
	asked := s.requests[sc.name]
	for _, turn := range []int{0, 4321} {
		result, err := load.Closed(ctx, load.Options{URL: s.url, Callers: 1, For: time.Minute, Count: 1}, func(_, _ int, r *load.Request) {
			asked.write(turn, r)
			r.Check = func(body []byte) error {
				if sc.want == nil {
					return nil
				}
				got, err := asked.rows(body)
				if err != nil {
					return fmt.Errorf("%w: %.200s", err, body)
				}
				return sc.compare(turn, got)
			}
		})
		if err != nil {
			return err
		}
		if result.Errors > 0 {
			return result.FirstError
		}
	}
	return nil
}

var errEmpty = errors.New("the answer has no body")

func notEmpty(body []byte) error {
	if len(body) == 0 {
		return errEmpty
	}
	return nil
}

func (s *server) measure(ctx context.Context, sc scenario, callers int, warm, length time.Duration) (sample, error) {
	write := s.requests[sc.name].write
	result, err := load.Closed(ctx, load.Options{URL: s.url, Callers: callers, Warm: warm, For: length}, func(caller, n int, r *load.Request) {
		write(turnOf(caller, n), r)
		r.Check = nil
		if sc.want != nil {
			r.Check = notEmpty
		}
	})
	if err != nil {
		return sample{}, err
	}
	return sample{
		p50: milliseconds(result.Percentile(0.5)), p95: milliseconds(result.Percentile(0.95)), perSecond: result.PerSecond(),
		errors: result.Errors, firstError: result.FirstError,
	}, nil
}

func milliseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }

// get is a read of a path that depends on the turn.
func get(header string, path func(turn int) string, rows func([]byte) ([]row, error)) request {
	return request{rows: rows, write: func(turn int, r *load.Request) {
		r.Method, r.Path, r.Header, r.Body, r.Want = http.MethodGet, path(turn), header, nil, http.StatusOK
	}}
}

// post is a write of the entry.
func post(header, path string, want int) request {
	header += "Content-Type: application/json\r\n"
	return request{write: func(_ int, r *load.Request) {
		r.Method, r.Path, r.Header, r.Body, r.Want = http.MethodPost, path, header, entryJSON, want
	}}
}

// rowsOf reads an array of rows, as PostgREST's dialect answers.
func rowsOf(body []byte) ([]row, error) {
	var answered []struct {
		ID    int               `json:"id"`
		Parts []json.RawMessage `json:"bench_part"`
	}
	if err := json.Unmarshal(body, &answered); err != nil {
		return nil, err
	}
	rows := make([]row, len(answered))
	for i, r := range answered {
		rows[i] = row{r.ID, len(r.Parts)}
	}
	return rows, nil
}

// postgrestRequests ask a server of PostgREST's dialect below a base path.
func postgrestRequests(header, base string) map[string]request {
	path := func(format string, of func(int) int) func(int) string {
		return func(turn int) string { return base + fmt.Sprintf(format, of(turn)) }
	}
	return map[string]request{
		byKey:  get(header, path("/bench_item?id=eq.%d", keyOf), rowsOf),
		list:   get(header, path("/bench_item?stock=eq.%d&order=price&limit=20", stockOf), rowsOf),
		long:   get(header, path("/bench_item?id=gt.%d&order=id&limit=1000", afterOf), rowsOf),
		nested: get(header, path("/bench_item?select=id,name,bench_part(id,name,weight,amount,item_id)&id=gt.%d&order=id&limit=20", parentOf), rowsOf),
		insert: post(header+"Prefer: return=minimal\r\n", base+"/bench_entry", http.StatusCreated),
	}
}

// bearer is the header of a signed-in user.
func bearer(token string) string { return "Authorization: Bearer " + token + "\r\n" }
