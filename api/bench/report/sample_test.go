package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"time"
)

// sample is a report as a run on a small machine makes it: nine numbers of callers, four kinds of reads, the work
// beside direct statements, and peers of which one could not be built. Factor slows it down.
func sample(seed uint64, factor float64) *Report {
	random := rand.New(rand.NewPCG(seed, 1))
	rounds := func(value, noise float64) []float64 {
		out := make([]float64, 3)
		for i := range out {
			out[i] = value * factor * (1 + noise*(2*random.Float64()-1))
		}
		return out
	}
	return &Report{
		Format: Format, Version: "0.9.0", Commit: "0123456789abcdef0123456789abcdef01234567",
		Pace: 1, Rounds: 3,
		Command: "basalt bench --report bench.html --json bench.json",
		Started: time.Date(2026, 12, 2, 9, 30, 0, 0, time.UTC), Took: 8*time.Minute + 12*time.Second,
		Machine: Machine{System: "Debian GNU/Linux 12 (bookworm), kernel 6.1.0-21-amd64", CPU: "AMD EPYC 7B13", Cores: 2,
			Memory: 8 << 30, Go: "go1.26.0", LoadBefore: 0.31, LoadAfter: 2.84},
		Server: Server{URL: "http://127.0.0.1:40411", Own: true, Postgres: "17.5", Settings: []Setting{
			{"shared_buffers", "128MB"}, {"synchronous_commit", "on"}, {"fsync", "on"}, {"--pool", "20"}, {"data", "20,000 items, 100,000 parts"}}},
		Sections: []Section{sampleReads(rounds), sampleOverhead(rounds), samplePeers(rounds)},
	}
}

func sampleReads(rounds func(value, noise float64) []float64) Section {
	s := Section{Name: "reads", Title: "Read latency by concurrency",
		Intro: "Signed-in callers read rows under row-level security over keep-alive connections, each asking again as soon as it is answered."}
	method := "Each point is the median of 3 rounds of 700ms, the callers' numbers taken in turn; bands are the least and most of the rounds. Load and server share the machine."
	latency := Chart{Title: "Time within which 95 % of reads are answered", Method: method, XLabel: "callers", YLabel: "ms", XLog: true, YLog: true,
		Mark: &Mark{Y: 200, Name: "200 ms"}}
	rates := Chart{Title: "Reads answered in a second", Method: method, XLabel: "callers", YLabel: "reads/s", XLog: true, YLog: true}
	var kept *Figure
	for _, kind := range []struct {
		key, title string
		one, peak  float64 // ms of one caller, reads per second at best
	}{
		{"pk", "by primary key", 0.42, 9200}, {"list20", "filtered list of 20 rows", 0.61, 6100},
		{"embed20x5", "embed of 20 × 5", 1.1, 2900}, {"list1000", "list of 1,000 rows", 3.4, 540},
	} {
		table := Table{Title: "Reads " + kind.title, Method: method, Head: "callers", Columns: []string{"p50", "p95", "p99", "throughput"}}
		slow, fast := Line{Name: kind.title}, Line{Name: kind.title}
		for _, callers := range []int{1, 5, 10, 20, 50, 100, 200, 500, 1000} {
			n := float64(callers)
			rate := kind.peak * (1 - math.Exp(-n*1000/kind.one/kind.peak))
			p50 := n / rate * 1000
			key := fmt.Sprintf("reads.%s.%d", kind.key, callers)
			p95 := NewFigure(key+".p95", "ms", Lower, rounds(p50*1.7, 0.15)...)
			throughput := NewFigure(key+".rate", "/s", Higher, rounds(rate, 0.05)...)
			slow.Points, fast.Points = append(slow.Points, p95.At(n)), append(fast.Points, throughput.At(n))
			if kind.key == "pk" && callers >= 500 {
				p95.WithBar(200)
			}
			if kind.key == "pk" && callers == 1000 {
				p95.WithHeadline("Read by primary key at 1,000 callers: 95 % within")
			}
			if kind.key == "pk" && callers == 50 {
				kept = throughput.WithHeadline("Reads by primary key at 50 callers")
			}
			table.Rows = append(table.Rows, Row{strconv.Itoa(callers), []Cell{
				{Figure: NewFigure(key+".p50", "ms", Lower, rounds(p50, 0.04)...)}, {Figure: p95},
				{Figure: NewFigure(key+".p99", "ms", Lower, rounds(p50*2.6, 0.3)...)}, {Figure: throughput}}})
		}
		s.Tables = append(s.Tables, table)
		latency.Lines, rates.Lines = append(latency.Lines, slow), append(rates.Lines, fast)
	}
	s.Charts = []Chart{latency, rates}
	s.Tables = append(s.Tables, Table{Title: "Under many callers", Head: "reads by primary key", Columns: []string{"figure"},
		Method: "Throughput of the same round at 1,000 callers by that at 50.",
		Rows: []Row{
			{"throughput at 1,000 callers / at 50", []Cell{{Figure: NewFigure("reads.pk.kept", "×", Higher, 0.94, 0.97, 0.91).WithBar(0.9).WithHeadline("Throughput kept from 50 to 1,000 callers")}}},
			{"throughput at 50 callers", []Cell{{Figure: kept}}},
			{"failed reads of all kinds", []Cell{{Figure: NewFigure("reads.failed", "", Lower, 0).WithBar(0)}}},
		}})
	return s
}

func sampleOverhead(rounds func(value, noise float64) []float64) Section {
	s := Section{Name: "overhead", Title: "Overhead over direct PostgreSQL",
		Intro: "The same statement, under the same identity and row-level security, sent by pgx without HTTP, by a handler written by hand, and by Basalt; one request at a time."}
	table := Table{Title: "Read of one row by primary key", Head: "way", Columns: []string{"p50", "p95", "Basalt / this"},
		Method: "One of 20,000 rows of ten columns, another each time. Medians of 3 rounds of 1000 turns; each turn goes every way once, in changing order."}
	for i, way := range []struct {
		name       string
		took       float64
		ratio, bar float64
	}{
		{"pgx, the statement alone", 118, 3.1, 0}, {"pgx, identity and statement", 214, 1.68, 1.6},
		{"no database: a constant over HTTP", 71, 5.1, 0}, {"handler by hand", 302, 1.19, 1.25}, {"Basalt", 361, 0, 0},
	} {
		key := fmt.Sprintf("overhead.pk.%d", i)
		row := Row{way.name, []Cell{{Figure: NewFigure(key+".p50", "µs", Lower, rounds(way.took, 0.05)...)},
			{Figure: NewFigure(key+".p95", "µs", Lower, rounds(way.took*1.8, 0.2)...)}, {}}}
		if way.ratio > 0 {
			row.Cells[2].Figure = NewFigure(key+".ratio", "×", Lower, rounds(way.ratio, 0.02)...)
		}
		if way.bar > 0 {
			row.Cells[2].Figure.WithBar(way.bar)
		}
		if way.bar == 1.25 {
			row.Cells[2].Figure.WithHeadline("Read by primary key, Basalt / a handler by hand")
		}
		table.Rows = append(table.Rows, row)
	}
	parts := Table{Title: "Where the time of a read by primary key goes", Head: "part", Columns: []string{"mean"},
		Method: "Server-Timing of the server itself, means of 1000 reads, one at a time; what the client measures beyond it is HTTP, the sockets and the client."}
	for i, part := range []string{"who is calling (the token, remembered)", "parse the request", "find the statement, bind its values", "wait for a connection",
		"PostgreSQL: one flight, rows written as JSON", "headers of the answer", "HTTP, sockets, the client"} {
		parts.Rows = append(parts.Rows, Row{part, []Cell{{Figure: NewFigure(fmt.Sprintf("overhead.parts.%d", i), "µs", Lower, rounds([]float64{1.2, 3.4, 2.1, 0.4, 218, 2.6, 96}[i], 0.1)...)}}})
	}
	micro := Table{Title: "Small parts, by Go benchmarks", Head: "part", Columns: []string{"time", "allocations", "allocated"}, Method: "go test -bench, medians of 3 runs.",
		Rows: []Row{
			{"filter of four conditions, parsed", []Cell{{Figure: NewFigure("micro.parse4.time", "ns", Lower, rounds(1830, .02)...)}, {Figure: NewFigure("micro.parse4.allocs", "", Lower, 11, 11, 11)}, {Figure: NewFigure("micro.parse4.bytes", "B", Lower, 1184, 1184, 1184)}}},
			{"Argon2id at the configured cost", []Cell{{Figure: NewFigure("micro.argon.time", "ms", Lower, rounds(41.7, .03)...).WithHeadline("One Argon2id hash at the configured cost")}, {Figure: NewFigure("micro.argon.allocs", "", Lower, 44, 44, 45)}, {Figure: NewFigure("micro.argon.bytes", "MiB", Lower, 19)}}},
			{"message bus", []Cell{{Text: "none: no bus"}}},
		}}
	s.Tables = []Table{table, parts, micro}
	return s
}

func samplePeers(rounds func(value, noise float64) []float64) Section {
	table := Table{Title: "Filtered list of 20 rows, 10 callers", Head: "server",
		Method:  "Closed loop of keep-alive callers on the same machine; the peers take turns in every round, in an order that rotates; figures are medians of 3 rounds of 700ms, ratios medians of each round's ratio to Basalt (times above 1 are slower than Basalt).",
		Columns: []string{"p50", "p95", "per second", "p50 ratio", "p95 ratio", "throughput ratio", "errors"}}
	for i, peer := range []string{"Basalt", "A handler by hand", "SmoothDB", "PocketBase"} {
		n := float64(i + 1)
		row := Row{Name: peer}
		for c, figure := range []struct {
			unit  string
			value float64
		}{{"ms", 2 * n}, {"ms", 6.3 * n}, {"/s", 4100 / n}, {"×", n}, {"×", n * 1.1}, {"×", 1 / n}} {
			row.Cells = append(row.Cells, Cell{Figure: NewFigure(fmt.Sprintf("peers.list20.10.%d.%d", i, c), figure.unit, Lower, rounds(figure.value, .1)...)})
		}
		table.Rows = append(table.Rows, Row{row.Name, append(row.Cells, Cell{Text: "0"})})
	}
	table.Rows = append(table.Rows, Row{"TrailBase", []Cell{{Text: "not measured: cargo is not on the PATH, and the program is built from its source only"}}})
	published := Table{Title: "Published by others", Method: "Not measured here: what others say of their own machines, with where they say it.", Head: "server",
		Columns: []string{"what", "figure", "source"}, Rows: []Row{
			{"TrailBase", []Cell{{Text: "inserts into a table of messages, 16 callers"}, {Text: "100,000 in 5 s"}, {Text: "https://trailbase.io/reference/benchmarks, read on 1 December 2026"}}}}}
	return Section{Name: "peers", Title: "Peers in the same run", Intro: "Other servers with the same rows and the same work, on the same machine in the same minutes.",
		Tables: []Table{table, published},
		Notes: []Note{{Text: "PocketBase v0.39.11. Built from its Go module. SQLite: a commit is not forced to disk."},
			{Text: "SmoothDB failed 3 times in Filtered list of 20 rows, 10 callers: status 503 instead of 200", Bad: true}}}
}
