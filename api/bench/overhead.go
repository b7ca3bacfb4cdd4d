package bench

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"basalt/api/bench/floor"
	"basalt/api/bench/load"
	"basalt/api/bench/report"
)

// overheadTurns is how often each way is gone in a round.
const overheadTurns = 1000

// way is one way to do a piece of work.
type way struct {
	name string
	do   func(turn int) error
}

// comparison is one piece of work, done in several ways: last by Basalt.
type comparison struct {
	key, title, method string
	turns              int
	ways               []way
	bars               map[string]float64 // ratios to reach, by the way that Basalt is compared with
}

// overhead measures what Basalt adds to the same work done by hand, and where its time goes.
func (r *run) overhead() (report.Section, error) {
	s := report.Section{
		Title: "Overhead over direct PostgreSQL",
		Intro: "The same statement, under the same identity and row-level security, sent by pgx without HTTP, by a handler written by hand, and by Basalt; one request at a time.",
	}
	if r.target.DatabaseURL == "" {
		s.Notes = append(s.Notes, report.Note{Text: "Not measured: the server's database is not known; give --database-url."})
		return s, nil
	}
	byHand, err := r.target.startFloor(r.ctx)
	if err != nil {
		return s, err
	}
	defer byHand.stop()
	direct, err := newDirect(r.ctx, r.target)
	if err != nil {
		return s, err
	}
	defer direct.close()
	hand, err := load.NewSender(byHand.URL)
	if err != nil {
		return s, err
	}
	defer hand.Close()
	basalt, err := load.NewSender(r.target.URL)
	if err != nil {
		return s, err
	}
	defer basalt.Close()
	for _, c := range r.comparisons(direct, hand, basalt) {
		table, err := r.compare(c)
		if err != nil {
			return s, err
		}
		s.Tables = append(s.Tables, table)
	}
	parts, err := r.parts()
	if err != nil {
		return s, err
	}
	if parts == nil {
		s.Notes = append(s.Notes, report.Note{Text: "Where the time goes was not measured: the server does not tell it (--server-timing)."})
		return s, nil
	}
	s.Tables = append(s.Tables, *parts)
	return s, nil
}

func (r *run) comparisons(direct *direct, hand, basalt *load.Sender) []comparison {
	byHand := func(path string, at func(turn int) int) func(int) error {
		return hand.Way(func(_, turn int, q *load.Request) {
			q.Method, q.Path, q.Header = "GET", path+strconv.Itoa(at(turn)), r.target.headers()
		})
	}
	through := func(kind read) func(int) error { return basalt.Way(kind.prepare(r.target.headers())) }
	key := func(turn int) int { return turn%items + 1 }
	after := func(turn int) int { return turn % 1000 }
	return []comparison{
		{
			key: "pk", title: "Read of one row by primary key", turns: overheadTurns,
			method: "One of 20,000 rows of ten columns, another each time.",
			ways: []way{
				{"pgx, the statement alone", direct.bare},
				{"pgx, identity and statement", direct.flight(floor.ReadByKey().SQL, key)},
				{"no database: a constant over HTTP", hand.Way(func(_, _ int, q *load.Request) {
					q.Method, q.Path, q.Header = "GET", floor.PathConstant, r.target.headers()
				})},
				{"handler by hand", byHand(floor.PathByKey, key)},
				{"Basalt", through(readKinds[0])},
			},
			bars: map[string]float64{"handler by hand": 1.25, "pgx, identity and statement": 1.6},
		},
		{
			key: "list1000", title: "List of 1,000 rows", turns: overheadTurns / 10,
			method: "Ten columns; json_agg is the way of servers that let PostgreSQL make the JSON.",
			ways: []way{
				{"handler by hand", byHand(floor.PathList, after)},
				{"handler by hand, json_agg", byHand(floor.PathListJSON, after)},
				{"Basalt", through(readKinds[3])},
			},
			bars: map[string]float64{"handler by hand": 1.15, "handler by hand, json_agg": 1.0 / 4},
		},
		{
			key: "embed100x10", title: "100 rows with ten embedded rows each", turns: overheadTurns / 5,
			method: "Five columns of each embedded row; json_agg over lateral json_agg is the way of servers that let PostgreSQL make the JSON.",
			ways: []way{
				{"handler by hand", byHand(floor.PathEmbed, after)},
				{"handler by hand, json_agg", byHand(floor.PathEmbedJSON, after)},
				{"Basalt", basalt.Way(func(_, turn int, q *load.Request) {
					q.Method, q.Header = "GET", r.target.headers()
					q.Path = "/rest/v1/bench_item?select=id,name,bench_part(id,name,weight,amount,item_id)&order=id&limit=100&id=gt." + strconv.Itoa(after(turn))
				})},
			},
			bars: map[string]float64{"handler by hand": 1.15, "handler by hand, json_agg": 1 / 2.5},
		},
		{
			key: "insert", title: "Insert of one row", turns: overheadTurns / 2,
			method: "No row comes back; each is durable when it is answered, as the settings above say.",
			ways: []way{
				{"pgx, identity and statement", direct.insert},
				{"handler by hand", hand.Way(func(_, _ int, q *load.Request) {
					q.Method, q.Path, q.Header, q.Want = "POST", floor.PathInsert, r.target.headers(), http.StatusCreated
				})},
				{"Basalt", basalt.Way(func(_, _ int, q *load.Request) {
					q.Method, q.Path, q.Header, q.Want = "POST", "/rest/v1/bench_entry", r.target.headers()+"Content-Type: application/json\r\n", http.StatusCreated
					q.Body = []byte(`{"run":"00000000-0000-4000-8000-000000000000","body":"an entry","amount":7}`)
				})},
			},
			bars: map[string]float64{"pgx, identity and statement": 1.3},
		},
	}
}

// compare measures the ways of one piece of work turn by turn.
func (r *run) compare(c comparison) (report.Table, error) {
	turns := r.turns(c.turns)
	table := report.Table{
		Title: c.title, Head: "way", Columns: []string{"p50", "p95", "Basalt / this"},
		Method: fmt.Sprintf("%s Medians of %d rounds of %d turns; each turn goes every way once, in changing order. The ratio is that of the medians within a round.", c.method, r.options.Rounds, turns),
	}
	ways := make([]func(int) error, len(c.ways))
	for i, w := range c.ways {
		ways[i] = w.do
	}
	if _, err := load.Turns(r.ctx, 20, ways...); err != nil { // plans are made, caches filled
		return table, fmt.Errorf("%s: %w", c.title, err)
	}
	p50, p95 := make([][]float64, len(ways)), make([][]float64, len(ways))
	for round := range r.options.Rounds {
		r.progress.Step(fmt.Sprintf("%s, round %d of %d", c.title, round+1, r.options.Rounds))
		results, err := load.Turns(r.ctx, turns, ways...)
		if err != nil {
			return table, fmt.Errorf("%s: %w", c.title, err)
		}
		for i, result := range results {
			p50[i] = append(p50[i], microseconds(result.Percentile(0.5)))
			p95[i] = append(p95[i], microseconds(result.Percentile(0.95)))
		}
	}
	last := len(ways) - 1
	for i, w := range c.ways {
		key := fmt.Sprintf("overhead.%s.%d", c.key, i)
		row := report.Row{Name: w.name, Cells: []report.Cell{
			{Figure: report.NewFigure(key+".p50", "µs", report.Lower, p50[i]...)},
			{Figure: report.NewFigure(key+".p95", "µs", report.Lower, p95[i]...)},
			{},
		}}
		if i < last {
			ratio := report.NewFigure(key+".ratio", "×", report.Lower, ratios(p50[last], p50[i])...)
			if bar, ok := c.bars[w.name]; ok {
				ratio.WithBar(bar)
			}
			if c.key == "pk" && w.name == "handler by hand" {
				ratio.WithHeadline("read by primary key / the same by hand")
			}
			row.Cells[2].Figure = ratio
		}
		table.Rows = append(table.Rows, row)
	}
	return table, nil
}

// parts tells where the time of a read by primary key goes, by the server's own measure; nil where it does not tell.
func (r *run) parts() (table *report.Table, err error) {
	if r.target.own != nil {
		if err := r.target.restart(r.ctx, "--server-timing"); err != nil {
			return nil, err
		}
		// The sections behind this one measure a server as it is shipped.
		defer func() { err = errors.Join(err, r.target.restart(r.ctx)) }()
	}
	sender, err := load.NewSender(r.target.URL)
	if err != nil {
		return nil, err
	}
	defer sender.Close()
	turns := r.turns(overheadTurns)
	taken := map[string][]float64{}
	var sums map[string]float64
	prepare := readKinds[0].prepare(r.target.headers())
	ask := sender.Way(func(caller, turn int, q *load.Request) {
		prepare(caller, turn, q)
		q.Headers = func(header http.Header) { addTiming(sums, header.Get("Server-Timing")) }
	})
	for round := range r.options.Rounds + 1 {
		sums = map[string]float64{}
		r.progress.Step(fmt.Sprintf("parts of a read, round %d of %d", round, r.options.Rounds))
		results, err := load.Turns(r.ctx, turns, ask)
		if err != nil {
			return nil, err
		}
		if len(sums) == 0 {
			return nil, nil
		}
		if round == 0 {
			continue // the first makes plans and fills caches
		}
		whole := microseconds(results[0].Took) / float64(turns)
		told := 0.0
		for name, sum := range sums {
			mean := sum * 1000 / float64(turns)
			taken[name] = append(taken[name], mean)
			told += mean
		}
		taken["edge"] = append(taken["edge"], whole-told)
	}
	table = &report.Table{
		Title: "Where the time of a read by primary key goes", Head: "part", Columns: []string{"mean"},
		Method: fmt.Sprintf("Server-Timing of the server itself, means of %d reads, one at a time; what the client measures beyond it is HTTP, the sockets and the client.", turns),
	}
	for _, part := range []struct{ key, name string }{
		{"jwt", "who is calling (the token, remembered)"}, {"parse", "parse the request"}, {"plan", "find the statement, bind its values"},
		{"pool", "wait for a connection"}, {"transaction", "PostgreSQL: one flight, rows written as JSON"}, {"response", "headers of the answer"},
		{"edge", "HTTP, sockets, the client"},
	} {
		if values, ok := taken[part.key]; ok {
			table.Rows = append(table.Rows, report.Row{Name: part.name, Cells: []report.Cell{
				{Figure: report.NewFigure("overhead.parts."+part.key, "µs", report.Lower, values...)}}})
		}
	}
	return table, nil
}

// addTiming adds the milliseconds of a Server-Timing header to sums by name.
func addTiming(sums map[string]float64, header string) {
	for entry := range strings.SplitSeq(header, ",") {
		name, rest, _ := strings.Cut(strings.TrimSpace(entry), ";dur=")
		if took, err := strconv.ParseFloat(rest, 64); err == nil {
			sums[name] += took
		}
	}
}

// direct sends statements by pgx, without HTTP.
type direct struct {
	ctx    context.Context
	pg     *pgconn.PgConn
	claims string
	row    []byte
}

func newDirect(ctx context.Context, t *Target) (*direct, error) {
	pg, err := pgconn.Connect(ctx, t.DatabaseURL)
	if err != nil {
		return nil, fmt.Errorf("connect to the database: %w", err)
	}
	if _, err := pg.Prepare(ctx, "bare", floor.ReadByKey().SQL, nil); err != nil {
		return nil, err
	}
	return &direct{ctx: ctx, pg: pg, claims: t.claims()}, nil
}

func (d *direct) close() { _ = d.pg.Close(context.WithoutCancel(d.ctx)) }

// bare sends the statement alone, as whom the database's address names: no row-level security, no identity.
func (d *direct) bare(turn int) error {
	reader := d.pg.ExecPrepared(d.ctx, "bare", [][]byte{[]byte(strconv.Itoa(turn%items + 1))}, nil, []int16{1})
	for reader.NextRow() {
		d.row, _ = keep(d.row[:0], nil, reader.Values())
	}
	_, err := reader.Close()
	return err
}

// flight sends identity and statement together.
func (d *direct) flight(sql string, at func(turn int) int) func(turn int) error {
	return func(turn int) (err error) {
		d.row, err = floor.Fly(d.ctx, d.pg, sql, floor.Settings(d.claims, "GET", false), [][]byte{[]byte(strconv.Itoa(at(turn)))}, d.row[:0], keep)
		return err
	}
}

func (d *direct) insert(int) (err error) {
	d.row, err = floor.Fly(d.ctx, d.pg, floor.Insert().SQL, floor.Settings(d.claims, "POST", true), floor.InsertParams(), d.row[:0], keep)
	return err
}

// keep copies the values of a row, which a program that wants them has to do.
func keep(dst []byte, _ []pgconn.FieldDescription, values [][]byte) ([]byte, error) {
	for _, value := range values {
		dst = append(dst, value...)
	}
	return dst, nil
}
