package main

import (
	"context"
	"fmt"
	"time"

	"basalt/api/bench/peers"
	"basalt/api/bench/report"
)

// plan says how long is measured.
type plan struct {
	rounds   int
	length   time.Duration // of a round
	only     []string      // names of scenarios; empty: all
	progress *progress
}

// warm is how long each round asks before it counts: connections open, plans are made.
const warm = 200 * time.Millisecond

// check asks every peer for every scenario once. What is answered otherwise than by the same rows is not measured.
func check(ctx context.Context, all []peer) error {
	for _, p := range all {
		for _, s := range scenarios {
			if p.lacks(s) != "" {
				continue
			}
			if err := p.check(ctx, s); err != nil {
				return fmt.Errorf("%s, %s: %w", p.about().Title, s.title, err)
			}
		}
	}
	return nil
}

// measure runs the scenarios: in each round all peers in turn, each round beginning with the next of them. The first
// round only warms.
func (o plan) measure(ctx context.Context, all []peer) ([]peers.Scenario, error) {
	var outcome []peers.Scenario
	for _, s := range scenarios {
		if !o.wants(s) {
			continue
		}
		for _, callers := range s.callers {
			o.progress.step("%s, %d callers", s.title, callers)
			samples := make([][]sample, len(all))
			for round := range o.rounds + 1 {
				for turn := range all {
					at := (round + turn) % len(all)
					if all[at].lacks(s) != "" {
						continue
					}
					o.progress.part("%s, %d callers, round %d of %d: %s", s.title, callers, round, o.rounds, all[at].about().Title)
					measured, err := all[at].measure(ctx, s, callers, warm, o.length)
					if err != nil {
						return nil, fmt.Errorf("%s, %s: %w", all[at].about().Title, s.title, err)
					}
					if round > 0 {
						samples[at] = append(samples[at], measured)
					}
				}
			}
			done := peers.Scenario{Name: s.name, Title: s.title, Callers: callers}
			base := samples[basaltAt(all)]
			for i, p := range all {
				done.Results = append(done.Results, resultOf(p, s, callers, samples[i], base))
			}
			outcome = append(outcome, done)
		}
	}
	return outcome, nil
}

func (o plan) wants(s scenario) bool {
	if len(o.only) == 0 {
		return true
	}
	for _, name := range o.only {
		if name == s.name {
			return true
		}
	}
	return false
}

func basaltAt(all []peer) int {
	for i, p := range all {
		if p.about().Name == peers.Basalt {
			return i
		}
	}
	return 0 // main lets no run begin without it
}

// resultOf makes figures of the rounds, and ratios round by round.
func resultOf(p peer, s scenario, callers int, rounds, base []sample) peers.Result {
	r := peers.Result{Peer: p.about().Name, Missing: p.lacks(s)}
	if r.Missing != "" {
		return r
	}
	key := fmt.Sprintf("peers.%s.%s.%d.", r.Peer, s.name, callers)
	figure := func(name, unit string, better report.Better, of func(sample) float64) (*report.Figure, *report.Figure) {
		var values, ratios []float64
		for i, sample := range rounds {
			values = append(values, of(sample))
			if of(base[i]) > 0 {
				ratios = append(ratios, of(sample)/of(base[i]))
			}
		}
		return report.NewFigure(key+name, unit, better, values...), report.NewFigure(key+name+"-ratio", "×", "", ratios...)
	}
	r.P50, r.RatioP50 = figure("p50", "ms", report.Lower, func(s sample) float64 { return s.p50 })
	r.P95, r.RatioP95 = figure("p95", "ms", report.Lower, func(s sample) float64 { return s.p95 })
	r.PerSecond, r.RatioPerSecond = figure("rate", "/s", report.Higher, func(s sample) float64 { return s.perSecond })
	for _, sample := range rounds {
		r.Errors += sample.errors
		if r.FirstError == "" && sample.firstError != nil {
			r.FirstError = sample.firstError.Error()
		}
	}
	return r
}

// memory is what the processes of the servers hold.
func memory(all []peer) (map[string]float64, error) {
	held := map[string]float64{}
	for _, p := range all {
		if p.pid() == 0 {
			continue
		}
		mib, err := resident(p.pid())
		if err != nil {
			return nil, err
		}
		held[p.about().Name] = mib
	}
	return held, nil
}

// memories puts both readings side by side.
func memories(all []peer, idle, after map[string]float64) []peers.Memory {
	var out []peers.Memory
	for _, p := range all {
		name := p.about().Name
		if _, has := idle[name]; !has {
			continue
		}
		out = append(out, peers.Memory{
			Peer:  name,
			Idle:  report.NewFigure("peers."+name+".idle", "MiB", report.Lower, idle[name]),
			After: report.NewFigure("peers."+name+".after", "MiB", report.Lower, after[name]),
		})
	}
	return out
}
