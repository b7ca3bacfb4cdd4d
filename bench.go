package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"basalt/api/bench"
	"basalt/api/bench/floor"
	"basalt/api/bench/load"
	"basalt/api/bench/peers"
	"basalt/api/bench/report"
	"basalt/auth"
)

// benchFlags are the flags of `basalt bench`.
type benchFlags struct {
	url, anonKey, serviceKey, databaseURL string
	force                                 bool
	only                                  []string
	pace                                  float64
	rounds                                int
	json, report, compare, peers          string
}

func benchCommand() *cobra.Command {
	var flags benchFlags
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure a server: a throw-away one, or a given one",
		Example: "  basalt bench --report bench.html --json bench.json\n  basalt bench --only reads --pace 0.3\n  basalt bench --compare bench.json\n" +
			"  basalt bench --url http://127.0.0.1:8090 --anon-key KEY --service-key @FILE --database-url URL",
		Long: "Measure a server: a throw-away one on its own PostgreSQL in a scratch folder, or one given by --url with its keys.\n\n" +
			"A given server gets three tables public.bench_… and a user bench-owner@example.com, which are taken away in the end.\n" +
			"With --database-url the tables are made by the command, and the server is measured beside bare statements; without it\n" +
			"make them before: basalt bench schema | psql DATABASE_URL",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return measure(cmd, &flags) },
	}
	f := cmd.Flags()
	f.StringVar(&flags.url, "url", "", "address of the server, as http://127.0.0.1:8090; empty: a throw-away one is started")
	f.StringVar(&flags.anonKey, "anon-key", "", "its anon key")
	f.StringVar(&flags.serviceKey, "service-key", "", "its service key; @FILE reads it from a file")
	f.StringVar(&flags.databaseURL, "database-url", "", "its database, for the tables and for what is measured beside it")
	f.BoolVar(&flags.force, "yes-load-this-server", false, "measure a server on another machine, which may be in use")
	f.StringSliceVar(&flags.only, "only", nil, "sections to measure, comma-separated: "+strings.Join(bench.Sections(), ", "))
	f.Float64Var(&flags.pace, "pace", 1, "stretch all measuring by so much; below 1 it is quicker and noisier")
	f.IntVar(&flags.rounds, "rounds", 3, "how often each figure is measured, turn by turn with the others")
	f.StringVar(&flags.json, "json", "", "file for the figures, to be compared with later")
	f.StringVar(&flags.report, "report", "", "file for a page with plots, as bench.html, that needs nothing beside it")
	f.StringVar(&flags.compare, "compare", "", "file of --json of an earlier run: what has changed since is told")
	f.StringVar(&flags.peers, "peers", "", "figures of `make bench-peers`, to be shown with these")
	cmd.AddCommand(benchSchemaCommand(), benchFloorCommand())
	return cmd
}

func benchSchemaCommand() *cobra.Command {
	var drop bool
	cmd := &cobra.Command{
		Use:     "schema",
		Short:   "Print the SQL of the tables that are measured",
		Example: "  basalt bench schema | psql DATABASE_URL\n  basalt bench schema --drop | psql DATABASE_URL",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			text := bench.Schema
			if drop {
				text = bench.DropSchema
			}
			_, err := io.WriteString(cmd.OutOrStdout(), text)
			return err
		},
	}
	cmd.Flags().BoolVar(&drop, "drop", false, "the SQL that takes them away")
	return cmd
}

// benchFloorCommand is the server that a benchmark is measured beside, in a process of its own as Basalt is.
func benchFloorCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "floor",
		Short:  "Answer a few requests by hand, of DATABASE_URL, as the user of BASALT_BENCH_CLAIMS, tokens verified with BASALT_BENCH_SECRET",
		Hidden: true,
		Args:   noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return floor.Serve(cmd.Context(), os.Getenv("DATABASE_URL"), os.Getenv("BASALT_BENCH_CLAIMS"), auth.Secret(os.Getenv("BASALT_BENCH_SECRET")), cmd.OutOrStdout())
		},
	}
}

func (f *benchFlags) check() error {
	switch {
	case f.url == "" && (f.anonKey != "" || f.serviceKey != "" || f.databaseURL != ""):
		return usageError{errors.New("--anon-key, --service-key and --database-url belong to --url")}
	case f.url != "" && (f.anonKey == "" || f.serviceKey == ""):
		return usageError{errors.New("--url needs --anon-key and --service-key, which `basalt keys` prints")}
	case f.url != "" && load.CheckURL(f.url) != nil:
		return usageError{fmt.Errorf("--url: %w", load.CheckURL(f.url))}
	case f.pace < 0.05 || f.pace > 10:
		return usageError{errors.New("--pace is from 0.05 to 10")}
	case f.rounds < 1 || f.rounds > 100:
		return usageError{errors.New("--rounds is from 1 to 100")}
	}
	for _, name := range f.only {
		if err := bench.CheckSection(name); err != nil {
			return usageError{fmt.Errorf("--only: %w", err)}
		}
	}
	return nil
}

func measure(cmd *cobra.Command, flags *benchFlags) (err error) {
	if err := flags.check(); err != nil {
		return err
	}
	earlier, peersSection, err := flags.read()
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	progress := newBenchProgress(cmd.ErrOrStderr())
	defer progress.end()
	target, err := flags.target(cmd, progress)
	if err != nil {
		return err
	}
	defer func() {
		problem := target.Close()
		if problem != nil && ctx.Err() != nil {
			err = fmt.Errorf("interrupted, and not all could be taken away: %w", problem)
			return
		}
		err = errors.Join(err, problem)
	}()
	outcome, err := bench.Run(ctx, target, bench.Options{Only: flags.only, Pace: flags.pace, Rounds: flags.rounds, Progress: progress})
	if err != nil {
		return err
	}
	progress.end()
	outcome.Version, outcome.Commit, outcome.Command = version, commit, commandLine(cmd)
	if peersSection != nil {
		outcome.Sections = append(outcome.Sections, *peersSection)
	}
	if earlier != nil {
		outcome.Changes = report.Compare(earlier, outcome)
	}
	return flags.write(cmd, outcome)
}

// target is the given server, else a new one.
func (f *benchFlags) target(cmd *cobra.Command, progress *benchProgress) (*bench.Target, error) {
	if f.url == "" {
		progress.Begin("start a throw-away server", 0, 0)
		return bench.StartOwn(cmd.Context())
	}
	key := f.serviceKey
	if path, ok := strings.CutPrefix(key, "@"); ok {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, usageError{fmt.Errorf("--service-key: %w", err)}
		}
		key = strings.TrimSpace(string(text))
	}
	target := &bench.Target{URL: strings.TrimRight(f.url, "/"), AnonKey: f.anonKey, ServiceKey: key, DatabaseURL: f.databaseURL}
	if !f.force && !target.IsLoopback() {
		return nil, usageError{fmt.Errorf("%s is not on this machine: the load may take it away from its users; --yes-load-this-server measures it all the same", f.url)}
	}
	return target, nil
}

// read reads what the figures are shown beside, before minutes go by.
func (f *benchFlags) read() (earlier *report.Report, beside *report.Section, err error) {
	for name, path := range map[string]string{"--json": f.json, "--report": f.report} {
		if path == "" {
			continue
		}
		if folder, err := os.Stat(filepath.Dir(path)); err != nil || !folder.IsDir() {
			return nil, nil, usageError{fmt.Errorf("%s: there is no folder %s", name, filepath.Dir(path))}
		}
	}
	if f.compare != "" {
		file, err := os.Open(f.compare)
		if err != nil {
			return nil, nil, usageError{fmt.Errorf("--compare: %w", err)}
		}
		defer file.Close()
		if earlier, err = report.Read(file); err != nil {
			return nil, nil, usageError{fmt.Errorf("--compare: %s: %w", f.compare, err)}
		}
	}
	if f.peers != "" {
		outcome, err := peers.Read(f.peers)
		if err != nil {
			return nil, nil, usageError{fmt.Errorf("--peers: %w", err)}
		}
		section := outcome.Section()
		beside = &section
	}
	return earlier, beside, nil
}

// write tells the figures on stdout, and puts them into the files that are wanted. What cannot be written keeps nothing
// else from being written: it took minutes to measure.
func (f *benchFlags) write(cmd *cobra.Command, outcome *report.Report) error {
	var problems []error
	if f.json != "" {
		text, err := json.MarshalIndent(outcome, "", "  ")
		if err == nil {
			err = os.WriteFile(f.json, append(text, '\n'), 0o644)
		}
		problems = append(problems, err)
	}
	if f.report != "" {
		var page bytes.Buffer
		err := outcome.WriteHTML(&page)
		if err == nil {
			err = os.WriteFile(f.report, page.Bytes(), 0o644)
		}
		problems = append(problems, err)
	}
	file, ok := cmd.OutOrStdout().(*os.File)
	colour := ok && term.IsTerminal(int(file.Fd())) && os.Getenv("NO_COLOR") == ""
	problems = append(problems, outcome.WriteText(cmd.OutOrStdout(), colour))
	return errors.Join(problems...)
}

// commandLine is the call as it can be repeated, without keys and addresses of databases.
func commandLine(cmd *cobra.Command) string {
	line := "basalt bench"
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		switch flag.Name {
		case "anon-key", "service-key", "database-url":
			line += " --" + flag.Name + " …"
		default:
			line += " --" + flag.Name + " " + shellQuote(strings.Trim(flag.Value.String(), "[]"))
		}
	})
	return line
}

// benchProgress shows on a terminal how far a benchmark is, elsewhere a line for each section.
type benchProgress struct {
	errs  io.Writer
	bar   *progressbar.ProgressBar // nil: no terminal
	begun time.Time
	title string
}

func newBenchProgress(errs io.Writer) *benchProgress {
	p := &benchProgress{errs: errs, begun: time.Now()}
	if file, ok := errs.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		p.bar = progressbar.NewOptions(1, progressbar.OptionSetWriter(file), progressbar.OptionSetWidth(20),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	}
	return p
}

// Begin is told of a section.
func (p *benchProgress) Begin(section string, number, sections int) {
	p.title = section
	if p.bar == nil {
		fmt.Fprintf(p.errs, "%5.0fs  %s\n", time.Since(p.begun).Seconds(), section)
		return
	}
	p.bar.ChangeMax(max(sections, 1))
	_ = p.bar.Set(max(number-1, 0)) // a bar that cannot be drawn stops nothing
	p.bar.Describe(section)
}

// Step is told of a part of a section.
func (p *benchProgress) Step(what string) {
	if p.bar != nil {
		p.bar.Describe(p.title + ": " + what)
	}
}

func (p *benchProgress) end() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
