package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

func nan() float64      { return math.NaN() }
func infinite() float64 { return math.Inf(1) }

// of is a report of figures in one table.
func of(figures ...*Figure) *Report {
	t := Table{Title: "Table", Columns: []string{"figure"}}
	for _, figure := range figures {
		t.Rows = append(t.Rows, Row{"row " + figure.Key, []Cell{{Figure: figure}}})
	}
	return &Report{Sections: []Section{{Tables: []Table{t}}}}
}

func TestAChangeCountsBeyondTheNoiseOfBothRuns(t *testing.T) {
	for _, test := range []struct {
		name         string
		unit         string
		better       Better
		before, now  []float64
		want         Verdict
		change, than string
	}{
		{"a latency that falls is better", "ms", Lower, []float64{10, 10.1, 9.9}, []float64{8, 8.1, 7.9}, Improved, "−20 %", "4 %"},
		{"a latency that rises is worse", "ms", Lower, []float64{10, 10.1, 9.9}, []float64{12, 12.1, 11.9}, Worse, "+20 %", "4 %"},
		{"a throughput that rises is better", "/s", Higher, []float64{1000, 1010, 990}, []float64{1200, 1210, 1190}, Improved, "+20 %", "4 %"},
		{"a throughput that falls is worse", "/s", Higher, []float64{1000, 1010, 990}, []float64{800, 810, 790}, Worse, "−20 %", "4 %"},
		{"what is neither good nor bad has changed", "", "", []float64{10, 10}, []float64{12, 12}, Changed, "+20 %", "0 %"},
		{"a change as large as both spreads is noise", "ms", Lower, []float64{10, 11, 10}, []float64{11, 11, 10}, WithinNoise, "+10 %", "20 %"},
		{"the old run's noise alone hides a change", "ms", Lower, []float64{5, 10, 15}, []float64{12, 12, 12}, WithinNoise, "+20 %", "100 %"},
		{"the new run's noise alone hides a change", "ms", Lower, []float64{10, 10, 10}, []float64{7, 12, 17}, WithinNoise, "+20 %", "100 %"},
		{"one that is measured once tells nothing", "ms", Lower, []float64{10}, []float64{30, 30}, NoiseHidden, "+200 %", "unknown"},
		{"one that is measured once and the same has not changed", "ms", Lower, []float64{10}, []float64{10}, WithinNoise, "0 %", "unknown"},
		{"a count that is exact each time counts by one", "", Lower, []float64{11, 11, 11}, []float64{12, 12, 12}, Worse, "+9.1 %", "0 %"},
		{"a change from nothing has no percentage", "", Lower, []float64{0, 0}, []float64{3, 3}, Worse, "from 0", "0 %"},
		{"a change to nothing is all of it", "", Lower, []float64{3, 3}, []float64{0, 0}, Improved, "−100 %", "0 %"},
		{"nothing stays nothing", "", Lower, []float64{0, 0}, []float64{0, 0}, WithinNoise, "0 %", "0 %"},
		{"noise around nothing is told in its unit", "ms", Lower, []float64{0, 0, 1}, []float64{3, 3, 3}, Worse, "from 0", "1 ms"},
		{"a value below nothing rises towards it", "ms", Lower, []float64{-10, -10}, []float64{-5, -5}, Worse, "+50 %", "0 %"},
		{"a change below a tenth of a percent keeps a digit", "B", Lower, []float64{10000, 10000}, []float64{10004, 10004}, Worse, "+0.04 %", "0 %"},
		{"a change of many powers of ten is readable", "B", Lower, []float64{1e-9, 1e-9}, []float64{1e9, 1e9}, Worse, "+10²⁰ %", "0 %"},
		{"spreads beyond all numbers hide everything", "B", Lower, []float64{-math.MaxFloat64, math.MaxFloat64}, []float64{1, 1}, WithinNoise, "+unknown", "unknown"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := Compare(of(NewFigure("a", test.unit, test.better, test.before...)), of(NewFigure("a", test.unit, test.better, test.now...)))
			if len(c.Changes) != 1 || len(c.OnlyNew)+len(c.OnlyOld) > 0 {
				t.Fatalf("changes: %+v", c)
			}
			got := c.Changes[0]
			if got.Verdict != test.want {
				t.Errorf("it is %s, want %s", got.Verdict, test.want)
			}
			if test.change != "+unknown" && (got.change() != test.change || got.noise() != test.than) {
				t.Errorf("%s over %s, want %s over %s", got.change(), got.noise(), test.change, test.than)
			}
		})
	}
}

func TestFiguresOfOneRunAreNamed(t *testing.T) {
	unmeasured := func(key string) *Figure { return NewFigure(key, "ms", Lower) }
	one := func(key, unit string) *Figure { return NewFigure(key, unit, Lower, 1, 1) }
	for _, test := range []struct {
		name             string
		before, now      []*Figure
		onlyOld, onlyNew []string
		compared         int
		warning          string
	}{
		{"a figure that is new", []*Figure{one("a", "ms")}, []*Figure{one("a", "ms"), one("b", "ms")}, nil, []string{"b"}, 1, ""},
		{"a figure that is gone", []*Figure{one("a", "ms"), one("b", "ms")}, []*Figure{one("a", "ms")}, []string{"b"}, nil, 1, ""},
		{"a figure that could not be measured now", []*Figure{one("a", "ms")}, []*Figure{unmeasured("a")}, []string{"a"}, nil, 0, ""},
		{"a figure that could not be measured before", []*Figure{unmeasured("a")}, []*Figure{one("a", "ms")}, nil, []string{"a"}, 0, ""},
		{"a figure that was never measured", []*Figure{unmeasured("a")}, []*Figure{unmeasured("a")}, nil, nil, 0, ""},
		{"a figure in another unit", []*Figure{one("a", "ms")}, []*Figure{one("a", "µs")}, nil, nil, 0, `a is in "µs" now, in "ms" before: it is not compared`},
		{"a figure that stands twice", []*Figure{one("a", "ms"), one("a", "ms")}, []*Figure{one("a", "ms"), one("a", "ms")}, nil, nil, 1, ""},
		{"empty runs", nil, nil, nil, nil, 0, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := Compare(of(test.before...), of(test.now...))
			if !slices.Equal(c.OnlyOld, test.onlyOld) || !slices.Equal(c.OnlyNew, test.onlyNew) || len(c.Changes) != test.compared {
				t.Errorf("only before %v, only now %v, in both %d", c.OnlyOld, c.OnlyNew, len(c.Changes))
			}
			if got := strings.Join(c.Warnings, "; "); got != test.warning {
				t.Errorf("warnings: %q, want %q", got, test.warning)
			}
		})
	}
}

func TestWhatElseDiffersIsTold(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(r *Report)
		want   string // empty: nothing
	}{
		{"nothing", func(*Report) {}, ""},
		{"the port of a server started for the run", func(r *Report) { r.Server.URL = "http://127.0.0.1:1" }, ""},
		{"the load of the machine", func(r *Report) { r.Machine.LoadBefore = 9 }, ""},
		{"the system", func(r *Report) { r.Machine.System = "FreeBSD" }, "System: FreeBSD now, Debian GNU/Linux 12 (bookworm), kernel 6.1.0-21-amd64 before"},
		{"the processor", func(r *Report) { r.Machine.CPU = "" }, "Processor: none now, AMD EPYC 7B13 before"},
		{"its cores", func(r *Report) { r.Machine.Cores = 64 }, "Cores: 64 now, 2 before"},
		{"the memory", func(r *Report) { r.Machine.Memory = 512 << 20 }, "Memory: 512 MiB now, 8 GiB before"},
		{"how long was measured", func(r *Report) { r.Pace = 0.1 }, "Pace: 0.1 now, 1 before"},
		{"how often was measured", func(r *Report) { r.Rounds = 1 }, "Rounds: 1 now, 3 before"},
		{"Go", func(r *Report) { r.Machine.Go = "go1.27" }, "Go: go1.27 now, go1.26.0 before"},
		{"PostgreSQL", func(r *Report) { r.Server.Postgres = "18.0" }, "PostgreSQL: 18.0 now, 17.5 before"},
		{"a server of someone's own", func(r *Report) { r.Server.Own, r.Server.URL = false, "http://h:1" }, "Server: http://h:1 now, one started for the run before"},
		{"a setting", func(r *Report) { r.Server.Settings = set(r, "fsync", "off") }, "Setting fsync: off now, on before"},
		{"a setting that is new", func(r *Report) { r.Server.Settings = append(slices.Clip(r.Server.Settings), Setting{"jit", "on"}) }, "Setting jit: on now, none before"},
		{"a setting that is gone", func(r *Report) { r.Server.Settings = r.Server.Settings[1:] }, "Setting shared_buffers: none now, 128MB before"},
		{"settings in another order", func(r *Report) { slices.Reverse(r.Server.Settings) }, ""},
		{"a setting that stands twice", func(r *Report) { r.Server.Settings = append(r.Server.Settings, r.Server.Settings[0]) }, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			now := sample(1, 1)
			test.change(now)
			c := Compare(sample(1, 1), now)
			if got := strings.Join(c.Warnings, "; "); got != test.want {
				t.Fatalf("warnings: %q, want %q", got, test.want)
			}
			if now.Changes = c; test.want != "" {
				if text := checkText(t, now); !strings.Contains(text, "Attention: ") {
					t.Error("the text does not tell it")
				}
				if page := pageOf(t, now); !strings.Contains(page, "the runs differ in more than Basalt") {
					t.Error("the page does not tell it")
				}
			}
		})
	}
}

func set(r *Report, name, value string) []Setting {
	settings := slices.Clone(r.Server.Settings)
	for i := range settings {
		if settings[i].Name == name {
			settings[i].Value = value
		}
	}
	return settings
}

func TestWhatIsWorstComesFirst(t *testing.T) {
	figures := func(values ...float64) *Report {
		var out []*Figure
		for i, v := range values {
			out = append(out, NewFigure(string(rune('a'+i)), "ms", Lower, v, v))
		}
		once := NewFigure("once", "ms", Lower, values[0]*9)
		return of(append(out, once)...)
	}
	c := Compare(figures(10, 10, 10, 10, 10, 0), figures(5, 11, 10, 20, 2, 1))
	var order []string
	for _, change := range c.Changes {
		order = append(order, change.Key+" "+string(change.Verdict))
	}
	want := "f worse, d worse, b worse, once noise unknown, e better, a better, c within the noise"
	if got := strings.Join(order, ", "); got != want {
		t.Errorf("the order is %s\nwant %s", got, want)
	}
	if got := c.tally(); got != "3 worse, 1 of unknown noise, 2 better, 1 within the noise" {
		t.Errorf("the tally is %s", got)
	}
}

func TestAChangeOverItsBarIsTold(t *testing.T) {
	for _, test := range []struct {
		name        string
		better      Better
		before, now float64
		want        string
	}{
		{"a latency that comes to its bar", Lower, 250, 200, "reaches its bar now"},
		{"a latency that goes over its bar", Lower, 200, 201, "misses its bar now"},
		{"a throughput that comes to its bar", Higher, 199, 200, "reaches its bar now"},
		{"a throughput that falls below its bar", Higher, 200, 150, "misses its bar now"},
		{"both reach it", Lower, 100, 150, ""},
		{"both miss it", Lower, 300, 250, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			figure := func(v float64) *Figure { return NewFigure("a", "", test.better, v, v).WithBar(200) }
			if got := change("a", figure(test.before), figure(test.now)).bar(); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

func TestManyFiguresOfOneRunAreToldByTheirSections(t *testing.T) {
	t.Parallel()
	few := []string{"reads.pk.1.p50", "limits.peak"}
	if got := listed(few); got != "reads.pk.1.p50, limits.peak" {
		t.Error(got)
	}
	var many []string
	for i := range 9 {
		many = append(many, fmt.Sprint("reads.pk.", i), fmt.Sprint("limits.pool.", i))
	}
	if got := listed(many); got != "18 figures: limits 9, reads 9" {
		t.Error(got)
	}
}
