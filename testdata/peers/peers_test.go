package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"basalt/api/bench/peers"
)

// PEERS names servers to start beside those that are always there and need nothing to be fetched; PEERS_DATABASE is a
// PostgreSQL to use. It needs bin/basalt.
func TestARunAsksEveryPeerForTheSameRowsAndWritesItsOutcome(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bench", "peers.json")
	if only := os.Getenv("PEERS"); only == "" {
		t.Setenv("PEERS", "floor")
	}
	var out bytes.Buffer
	err := command(t.Context(), []string{
		"--basalt", "../../bin/basalt", "--peers", os.Getenv("PEERS"), "--database", os.Getenv("PEERS_DATABASE"),
		"--rounds", "1", "--seconds", "0.05", "--json", file,
	}, &out, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	outcome, err := peers.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(outcome.Peers) != len(all()) || outcome.Version == "" || outcome.Postgres == "" {
		t.Errorf("the outcome is %+v", outcome)
	}
	cells := 0
	for _, s := range scenarios {
		cells += len(s.callers)
	}
	if len(outcome.Scenarios) != cells {
		t.Errorf("%d scenarios instead of %d", len(outcome.Scenarios), cells)
	}
	for _, s := range outcome.Scenarios {
		for _, r := range s.Results {
			if r.Missing == "" && (r.Errors > 0 || len(r.P50.Rounds) != 1) {
				t.Errorf("%s of %s: %d errors: %s", s.Name, r.Peer, r.Errors, r.FirstError)
			}
		}
	}
	for _, p := range outcome.Peers {
		if p.Missing != "" && !strings.Contains(out.String(), p.Title+" was not measured: ") {
			t.Errorf("nothing is said of %s:\n%s", p.Title, out.String())
		}
	}
	if tables := outcome.Section().Tables; len(tables) < cells+1 {
		t.Errorf("the report has %d tables", len(tables))
	}
}

func TestAnAnswerWithOtherRowsIsRefused(t *testing.T) {
	s := scenarios[1]
	rows := s.want(7)
	if err := s.compare(7, rows); err != nil {
		t.Error(err)
	}
	if s.compare(7, rows[1:]) == nil || s.compare(8, rows) == nil {
		t.Error("other rows were accepted")
	}
}

func TestMain(m *testing.M) {
	if os.Getenv(floorAddress) != "" {
		main()
	}
	os.Exit(m.Run())
}
