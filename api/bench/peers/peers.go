// Package peers is the outcome of measuring Basalt beside other servers in one run, as data.
package peers

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	"basalt/api/bench/report"
)

// Format is the number of the JSON's form; files of another are refused by name.
const Format = 1

// Basalt is the name of the peer that the ratios are to.
const Basalt = "basalt"

// Outcome is a whole run: rounds of all peers interleaved, with the same rows and the same work.
type Outcome struct {
	Format    int            `json:"format"`
	Version   string         `json:"version"` // of Basalt
	Commit    string         `json:"commit"`
	Command   string         `json:"command"`
	Started   time.Time      `json:"started"`
	Took      time.Duration  `json:"took_ns"`
	Machine   report.Machine `json:"machine"`
	Rounds    int            `json:"rounds"`
	Round     time.Duration  `json:"round_ns"`
	Postgres  string         `json:"postgres"` // version of the server that the peers on PostgreSQL share
	Settings  []Setting      `json:"settings"` // of that PostgreSQL
	Peers     []Peer         `json:"peers"`
	Scenarios []Scenario     `json:"scenarios"`
	Memory    []Memory       `json:"memory"`
	Published []Published    `json:"published"`
}

// Setting is one setting that bears on the figures.
type Setting = report.Setting

// Peer is a server beside Basalt, Basalt itself, or a floor below it.
type Peer struct {
	Name    string `json:"name"`  // stable, as in PEERS=
	Title   string `json:"title"` // as shown
	Version string `json:"version,omitempty"`
	// Built says in one sentence where the measured program is from.
	Built string `json:"built,omitempty"`
	// Durable says what a written answer promises.
	Durable string `json:"durable,omitempty"`
	// Identity says how the signed-in user is kept to her own rows.
	Identity string `json:"identity,omitempty"`
	// Missing is why the peer was not measured; empty: it was.
	Missing string `json:"missing,omitempty"`
}

// Scenario is the same work at one number of callers.
type Scenario struct {
	Name    string   `json:"name"` // pk, list, rows, embed, insert
	Title   string   `json:"title"`
	Callers int      `json:"callers"`
	Results []Result `json:"results"` // in the order of Outcome.Peers, those that took part
}

// Result is what one peer did. Times are in ms, ratios are the peer's figure by Basalt's of the same round: a time
// above 1 is slower than Basalt, a throughput below 1 is less than Basalt's.
type Result struct {
	Peer      string         `json:"peer"`
	P50       *report.Figure `json:"p50,omitempty"`
	P95       *report.Figure `json:"p95,omitempty"`
	PerSecond *report.Figure `json:"per_second,omitempty"`

	RatioP50       *report.Figure `json:"ratio_p50,omitempty"`
	RatioP95       *report.Figure `json:"ratio_p95,omitempty"`
	RatioPerSecond *report.Figure `json:"ratio_per_second,omitempty"`

	// Errors counts answers that were not the wanted ones, in all rounds; FirstError is one of them.
	Errors     int    `json:"errors"`
	FirstError string `json:"first_error,omitempty"`
	// Missing is why the peer took no part in this scenario.
	Missing string `json:"missing,omitempty"`
}

// Memory is what the process of a server held, in MiB; PostgreSQL is not counted.
type Memory struct {
	Peer  string         `json:"peer"`
	Idle  *report.Figure `json:"idle"`
	After *report.Figure `json:"after"` // once all scenarios were measured
}

// Published is a figure that somebody else has published. It was not measured in this run, on this machine.
type Published struct {
	Peer   string `json:"peer"`
	What   string `json:"what"`
	Value  string `json:"value"`
	Source string `json:"source"`
}

// Read reads an outcome from a file.
func Read(path string) (*Outcome, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var o Outcome
	if err := json.Unmarshal(text, &o); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if o.Format != Format {
		return nil, fmt.Errorf("%s has format %d, this program reads %d: make it anew by `make bench-peers`", path, o.Format, Format)
	}
	return &o, nil
}

// Title is how a peer is shown.
func (o *Outcome) Title(name string) string {
	at := slices.IndexFunc(o.Peers, func(p Peer) bool { return p.Name == name })
	if at < 0 {
		return name
	}
	return o.Peers[at].Title
}
