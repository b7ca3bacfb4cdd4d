package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"basalt/api/bench/floor"
	"basalt/api/bench/peers"
)

// direct is PostgreSQL by pgx from the measuring program itself: no HTTP, no JSON, no server between.
type direct struct {
	peers.Peer
	pool   *pgxpool.Pool
	claims string
}

func newDirect() *direct {
	return &direct{Peer: peers.Peer{
		Name: "pgx", Title: "pgx, no HTTP",
		Built:    "The measuring program itself, settings and prepared statement in one flight over a pool as large as Basalt's; rows are read and not made JSON of",
		Identity: "The settings and policies are those of Basalt's requests",
		Durable:  "As Basalt: the same PostgreSQL",
	}}
}

func (d *direct) about() *peers.Peer      { return &d.Peer }
func (d *direct) lacks(s scenario) string { return "" }
func (d *direct) pid() int                { return 0 }

func (d *direct) start(ctx context.Context, w *workshop) (err error) {
	if d.claims, err = claimsOf(w.token); err != nil {
		return err
	}
	d.pool, err = openPool(ctx, w.postgres.url)
	return err
}

func (d *direct) stop() error {
	if d.pool != nil {
		d.pool.Close()
	}
	return nil
}

// statement is the SQL and the parameters of a turn.
func statement(s scenario, turn int) (sql string, params [][]byte) {
	number := func(n int) [][]byte { return [][]byte{strconv.AppendInt(nil, int64(n), 10)} }
	switch s.name {
	case byKey:
		return floor.ReadByKey().SQL, number(keyOf(turn))
	case list:
		return listSQL, number(stockOf(turn))
	case long:
		return floor.List().SQL, number(afterOf(turn))
	case nested:
		return embedSQL, number(parentOf(turn))
	default:
		return floor.Insert().SQL, floor.InsertParams()
	}
}

// ask gives the number of rows.
func (d *direct) ask(ctx context.Context, s scenario, turn int) (rows int, err error) {
	conn, err := d.pool.Acquire(ctx)
	if err != nil {
		return 0, err
	}
	defer conn.Release()
	sql, params := statement(s, turn)
	method := http.MethodGet
	if s.want == nil {
		method = http.MethodPost
	}
	_, err = floor.Fly(ctx, conn.Conn().PgConn(), sql, floor.Settings(d.claims, method, s.want == nil), params, nil,
		func(dst []byte, _ []pgconn.FieldDescription, _ [][]byte) ([]byte, error) {
			rows++
			return dst, nil
		})
	return rows, err
}

func (d *direct) check(ctx context.Context, s scenario) error {
	rows, err := d.ask(ctx, s, 0)
	if err == nil && s.want != nil && rows != len(s.want(0)) {
		err = fmt.Errorf("%d rows instead of %d", rows, len(s.want(0)))
	}
	return err
}

func (d *direct) measure(ctx context.Context, s scenario, callers int, warm, length time.Duration) (sample, error) {
	var group sync.WaitGroup
	begin := time.Now().Add(warm)
	end := begin.Add(length)
	latencies := make([][]time.Duration, callers)
	failures := make([]error, callers)
	for caller := range callers {
		group.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				start := time.Now()
				if !start.Before(end) {
					return
				}
				if _, err := d.ask(ctx, s, turnOf(caller, n)); err != nil {
					failures[caller] = err
					return
				}
				if !start.Before(begin) {
					latencies[caller] = append(latencies[caller], time.Since(start))
				}
			}
		})
	}
	group.Wait()
	if ctx.Err() != nil {
		return sample{}, ctx.Err()
	}
	for _, err := range failures {
		if err != nil {
			return sample{}, err // without a server between, a failure is the measuring's own
		}
	}
	all := slices.Concat(latencies...)
	slices.Sort(all)
	at := func(share float64) float64 {
		if len(all) == 0 {
			return 0
		}
		return milliseconds(all[min(int(share*float64(len(all))), len(all)-1)])
	}
	return sample{p50: at(0.5), p95: at(0.95), perSecond: float64(len(all)) / length.Seconds()}, nil
}
