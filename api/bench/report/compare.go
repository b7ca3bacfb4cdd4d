package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// Rule says when a change counts.
const Rule = "A change counts only when the medians lie further apart than the spreads of both runs together " +
	"(most minus least of the rounds of each); what either run measured only once has no known noise and counts for nothing."

// Comparison is what changed between two runs.
type Comparison struct {
	// Since, Version and Commit are of the earlier run.
	Since           time.Time
	Version, Commit string
	// Warnings name what else differs: the figures may have changed for that.
	Warnings []string
	// Changes are of the figures that both runs have: worse ones first, then of unknown noise, then better ones, then
	// within the noise; the larger before the smaller.
	Changes []Change
	// OnlyOld and OnlyNew are the keys of figures that one run has.
	OnlyOld, OnlyNew []string
}

// Change is one figure in two runs.
type Change struct {
	Key, Name string
	Old, New  *Figure
	// Part is the change as a part of the old value: 0.1 is 10 % more. Infinite where the old one is 0.
	Part float64
	// Noise is the spreads of both together as a part of the old value.
	Noise   float64
	Verdict Verdict
}

// Verdict says what to make of a change.
type Verdict string

// Verdicts in the order in which they are shown.
const (
	Worse       Verdict = "worse"
	NoiseHidden Verdict = "noise unknown" // measured once
	Changed     Verdict = "changed"       // of a figure that is neither good nor bad
	Improved    Verdict = "better"
	WithinNoise Verdict = "within the noise"
)

var verdicts = [...]Verdict{Worse, NoiseHidden, Changed, Improved, WithinNoise}

// Compare tells what changed from an earlier run to a later one, and what of it is more than noise.
func Compare(old, new *Report) *Comparison {
	c := &Comparison{Since: old.Started, Version: old.Version, Commit: old.Commit, Warnings: differences(old, new)}
	before := map[string]*Figure{}
	for _, figure := range old.figures() {
		before[figure.Key] = figure
	}
	both := map[string]bool{}
	for place, figure := range new.figures() {
		earlier, ok := before[figure.Key]
		if !ok || !earlier.Measured() || !figure.Measured() {
			if figure.Measured() {
				c.OnlyNew = append(c.OnlyNew, figure.Key)
			}
			continue
		}
		both[figure.Key] = true
		if earlier.Unit != figure.Unit {
			c.Warnings = append(c.Warnings, fmt.Sprintf("%s is in %q now, in %q before: it is not compared", figure.Key, figure.Unit, earlier.Unit))
			continue
		}
		c.Changes = append(c.Changes, change(place.name(), earlier, figure))
	}
	for _, figure := range old.figures() {
		if figure.Measured() && !both[figure.Key] {
			c.OnlyOld = append(c.OnlyOld, figure.Key)
		}
	}
	slices.SortStableFunc(c.Changes, func(a, b Change) int {
		return cmp.Or(
			cmp.Compare(slices.Index(verdicts[:], a.Verdict), slices.Index(verdicts[:], b.Verdict)),
			cmp.Compare(b.size(), a.size()),
		)
	})
	return c
}

func change(name string, old, new *Figure) Change {
	c := Change{Key: new.Key, Name: name, Old: old, New: new}
	difference, noise := new.Value-old.Value, old.Spread()+new.Spread()
	c.Part, c.Noise = partOf(difference, old.Value), partOf(noise, old.Value)
	switch {
	case math.Abs(difference) <= noise:
		c.Verdict = WithinNoise
	case len(old.Rounds) < 2 || len(new.Rounds) < 2:
		c.Verdict = NoiseHidden
	case new.Better == "":
		c.Verdict = Changed
	case (difference > 0) == (new.Better == Higher):
		c.Verdict = Improved
	default:
		c.Verdict = Worse
	}
	return c
}

// partOf is a by the size of b; nothing is no part of nothing.
func partOf(a, b float64) float64 {
	if a == 0 {
		return 0
	}
	return a / math.Abs(b)
}

// size is how far apart two values are as a factor, so that half and double are as much.
func (c Change) size() float64 {
	if c.Part == 0 {
		return 0
	}
	if (c.New.Value < 0) != (c.Old.Value < 0) || math.IsInf(c.Part, 0) {
		return math.Inf(1)
	}
	return math.Abs(math.Log(c.New.Value / c.Old.Value))
}

// bar says when a change takes a figure over its bar, empty when it does not.
func (c Change) bar() string {
	before, had := c.Old.Reached()
	now, has := c.New.Reached()
	switch {
	case !had || !has || before == now:
		return ""
	case now:
		return "reaches its bar now"
	}
	return "misses its bar now"
}

// differences names what is not the same in both runs, besides Basalt.
func differences(old, new *Report) []string {
	var found []string
	differ := func(what, before, now string) {
		if before != now {
			found = append(found, fmt.Sprintf("%s: %s now, %s before", what, orNothing(now), orNothing(before)))
		}
	}
	differ("System", old.Machine.System, new.Machine.System)
	differ("Processor", old.Machine.CPU, new.Machine.CPU)
	differ("Cores", fmt.Sprint(old.Machine.Cores), fmt.Sprint(new.Machine.Cores))
	differ("Memory", memorySize(old.Machine.Memory), memorySize(new.Machine.Memory))
	differ("Pace", fmt.Sprint(old.Pace), fmt.Sprint(new.Pace))
	differ("Rounds", fmt.Sprint(old.Rounds), fmt.Sprint(new.Rounds))
	differ("Go", old.Machine.Go, new.Machine.Go)
	differ("PostgreSQL", old.Server.Postgres, new.Server.Postgres)
	switch {
	case old.Server.Own != new.Server.Own:
		differ("Server", old.Server.kind(), new.Server.kind())
	case !new.Server.Own:
		differ("Server", old.Server.URL, new.Server.URL) // own ones get a free port each
	}
	before, now := old.Server.settings(), new.Server.settings()
	told := map[string]bool{}
	for _, s := range slices.Concat(old.Server.Settings, new.Server.Settings) {
		if !told[s.Name] {
			told[s.Name] = true
			differ("Setting "+s.Name, before[s.Name], now[s.Name])
		}
	}
	return found
}

func (s *Server) settings() map[string]string {
	values := map[string]string{}
	for _, setting := range s.Settings {
		values[setting.Name] = setting.Value
	}
	return values
}

func (s *Server) kind() string {
	if s.Own {
		return "one started for the run"
	}
	return s.URL
}

func orNothing(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

// memorySize writes a size of memory.
func memorySize(n int64) string {
	if n >= 1<<30 {
		return number(math.Round(float64(n)/(1<<30)*10)/10) + " GiB"
	}
	return number(math.Round(float64(n)/(1<<20))) + " MiB"
}

// tally counts the changes of each verdict: "2 worse, 3 better, 40 within the noise".
func (c *Comparison) tally() string {
	text := ""
	for _, verdict := range verdicts {
		count := 0
		for _, change := range c.Changes {
			if change.Verdict == verdict {
				count++
			}
		}
		if count == 0 && (verdict == NoiseHidden || verdict == Changed) {
			continue
		}
		if text != "" {
			text += ", "
		}
		words := string(verdict)
		if verdict == NoiseHidden {
			words = "of unknown noise"
		}
		text += fmt.Sprintf("%d %s", count, words)
	}
	return text
}

// change is the difference with its sign: "+12 %".
func (c Change) change() string {
	switch {
	case math.IsInf(c.Part, 0):
		return "from 0"
	case c.Part > 0:
		return "+" + percent(c.Part)
	}
	return percent(c.Part)
}

// noise is what the change is to be larger than.
func (c Change) noise() string {
	switch {
	case len(c.Old.Rounds) < 2 || len(c.New.Rounds) < 2:
		return "unknown"
	case math.IsInf(c.Noise, 0):
		return withUnit(number(c.Old.Spread()+c.New.Spread()), c.New.Unit)
	}
	return percent(c.Noise)
}

// mostKeys is how many keys of figures are listed; of more only the sections are told.
const mostKeys = 8

// listed are keys of figures in words: "reads.pk.1.p50, reads.pk.5.p50", or "140 figures: limits 70, reads 70".
func listed(keys []string) string {
	if len(keys) <= mostKeys {
		return strings.Join(keys, ", ")
	}
	counts := map[string]int{}
	for _, key := range keys {
		section, _, _ := strings.Cut(key, ".")
		counts[section]++
	}
	var words []string
	for _, section := range slices.Sorted(maps.Keys(counts)) {
		words = append(words, fmt.Sprint(section, " ", counts[section]))
	}
	return fmt.Sprintf("%d figures: %s", len(keys), strings.Join(words, ", "))
}
