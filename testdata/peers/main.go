// Command peers measures Basalt beside other servers: the same rows, the same work, on the same machine in the same
// minutes.
package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"basalt/api/bench"
	"basalt/api/bench/peers"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if address := os.Getenv(floorAddress); address != "" {
		exit(serveFloor(ctx, address, os.Getenv(floorDatabase), os.Getenv(floorClaims)))
	}
	exit(command(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func exit(err error) {
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// options are the flags.
type options struct {
	basalt, database, cache, json string
	only, scenarios               string
	rounds                        int
	seconds                       float64
}

// all are the peers in the order of the tables.
func all() []peer {
	return []peer{newBasalt(), newBare(), newDirect(), newPocketBase(), newSmoothDB(), newTrailBase(), newPostgREST()}
}

// always are measured whatever is asked for: what the others are compared with.
var always = []string{peers.Basalt, "floor", "pgx"}

func command(ctx context.Context, args []string, out, log io.Writer) error {
	o, err := parse(args, log)
	if err != nil {
		return err
	}
	outcome, err := o.run(ctx, log)
	if err != nil {
		return err
	}
	outcome.Command = "bin/peers " + strings.Join(args, " ")
	show(out, outcome)
	if o.json == "" {
		return nil
	}
	text, err := json.MarshalIndent(outcome, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(o.json), 0o755); err != nil {
		return err
	}
	return os.WriteFile(o.json, append(text, '\n'), 0o644)
}

func parse(args []string, log io.Writer) (options, error) {
	var o options
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	var names, kinds []string
	for _, p := range all() {
		names = append(names, p.about().Name)
	}
	for _, s := range scenarios {
		kinds = append(kinds, s.name)
	}
	f := flag.NewFlagSet("peers", flag.ContinueOnError)
	f.SetOutput(log)
	f.StringVar(&o.basalt, "basalt", "bin/basalt", "the Basalt to measure")
	f.StringVar(&o.database, "database", "", "URL of a PostgreSQL in which a database is made and taken away; empty: a throw-away one is started")
	f.StringVar(&o.cache, "cache", filepath.Join(cache, "basalt-peers"), "folder that built peers are kept in")
	f.StringVar(&o.json, "json", "", "file for the figures")
	f.StringVar(&o.only, "peers", "", "peers to measure beside "+strings.Join(always, ", ")+", comma-separated: "+strings.Join(names, ", ")+"; empty: all")
	f.StringVar(&o.scenarios, "scenarios", "", "scenarios to measure, comma-separated: "+strings.Join(kinds, ", ")+"; empty: all")
	f.IntVar(&o.rounds, "rounds", 5, "rounds that count; one more warms")
	f.Float64Var(&o.seconds, "seconds", 1, "length of a round")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("there is no argument %q", f.Arg(0))
	}
	if o.rounds < 1 || o.seconds <= 0 {
		return o, errors.New("--rounds and --seconds are above 0")
	}
	return o, errors.Join(known("--peers", split(o.only), names), known("--scenarios", split(o.scenarios), kinds))
}

func split(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
}

func known(flag string, given, names []string) error {
	for _, name := range given {
		if !slices.Contains(names, name) {
			return fmt.Errorf("%s: there is no %q: they are %s", flag, name, strings.Join(names, ", "))
		}
	}
	return nil
}

// run starts everything, measures, and ends everything.
func (o options) run(ctx context.Context, log io.Writer) (outcome *peers.Outcome, err error) {
	binary, err := filepath.Abs(o.basalt)
	if err != nil {
		return nil, err
	}
	scratch, err := os.MkdirTemp("", "basalt-peers-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	cache, err := filepath.Abs(o.cache)
	if err != nil {
		return nil, err
	}
	outcome = &peers.Outcome{Format: peers.Format, Started: time.Now().UTC(), Machine: bench.Machine(), Rounds: o.rounds, Published: published}
	outcome.Machine.LoadBefore = bench.LoadAverage()
	outcome.Round = time.Duration(o.seconds * float64(time.Second))
	w := &workshop{basalt: binary, scratch: scratch, cache: cache, secret: rand.Text() + rand.Text(), progress: newProgress(log)}
	defer w.progress.end()
	if w.postgres, err = startPostgres(ctx, scratch, o.database); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.postgres.stop()) }()

	measured, err := o.start(ctx, w, outcome)
	defer func() {
		for _, p := range measured {
			err = errors.Join(err, p.stop())
		}
	}()
	if err != nil {
		return nil, err
	}
	outcome.Version, outcome.Commit = measured[0].about().Version, w.commit
	if err := w.postgres.describe(ctx, outcome); err != nil {
		return nil, err
	}
	if err := check(ctx, measured); err != nil {
		return nil, err
	}
	idle, err := memory(measured)
	if err != nil {
		return nil, err
	}
	plan := plan{rounds: o.rounds, length: outcome.Round, only: split(o.scenarios), progress: w.progress}
	if outcome.Scenarios, err = plan.measure(ctx, measured); err != nil {
		return nil, err
	}
	after, err := memory(measured)
	if err != nil {
		return nil, err
	}
	outcome.Memory = memories(measured, idle, after)
	outcome.Took = time.Since(outcome.Started)
	outcome.Machine.LoadAfter = bench.LoadAverage()
	return outcome, nil
}

// start starts the peers; those that cannot be measured are named with the reason.
func (o options) start(ctx context.Context, w *workshop, outcome *peers.Outcome) ([]peer, error) {
	var measured []peer
	wanted := split(o.only)
	for _, p := range all() {
		a := p.about()
		must := slices.Contains(always, a.Name)
		if !must && len(wanted) > 0 && !slices.Contains(wanted, a.Name) {
			a.Missing = "not asked for"
			outcome.Peers = append(outcome.Peers, *a)
			continue
		}
		w.progress.step("start %s", a.Title)
		err := p.start(ctx, w)
		if err != nil {
			err = errors.Join(err, p.stop())
			if must || ctx.Err() != nil {
				return measured, fmt.Errorf("start %s: %w", a.Title, err)
			}
			a.Missing = strings.Join(strings.Fields(err.Error()), " ")
			w.progress.say("%s is not measured: %s", a.Title, a.Missing)
		} else {
			measured = append(measured, p)
		}
		outcome.Peers = append(outcome.Peers, *a)
	}
	return measured, nil
}
