//go:build linux

package soak_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"basalt/api/bench"
	"basalt/api/bench/report"
	"basalt/store/storetest"
)

// benchmark is one run of `basalt bench`, of which no figure is looked at that is a time.
type benchmark struct {
	cmd    *exec.Cmd
	exited chan struct{}

	mu   sync.Mutex
	text bytes.Buffer // of stderr
}

// startBenchmark runs `basalt bench` as quick as it can be, in a folder that is also the place for its scratch folder.
func startBenchmark(t *testing.T, folder string, args ...string) *benchmark {
	t.Helper()
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	args = append([]string{"bench", "--pace", "0.05", "--rounds", "1"}, args...)
	b := &benchmark{cmd: exec.Command(os.Getenv(binaryEnv), args...), exited: make(chan struct{})}
	b.cmd.Env = append(environment(t, ""), "TMPDIR="+folder)
	b.cmd.Dir = folder
	b.cmd.Stderr = b
	b.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := startChild(b.cmd); err != nil {
		t.Fatalf("start basalt bench: %v", err)
	}
	go func() {
		_ = b.cmd.Wait() // how it ended is in its ProcessState
		close(b.exited)
	}()
	t.Cleanup(func() {
		_ = syscall.Kill(-b.cmd.Process.Pid, syscall.SIGKILL) // it has ended as a rule
		<-b.exited
	})
	return b
}

// Write takes what it says on stderr.
func (b *benchmark) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *benchmark) said() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// exitCode waits for the end, for which a busy machine may need long.
func (b *benchmark) exitCode(t *testing.T) int {
	t.Helper()
	select {
	case <-b.exited:
	case <-time.After(8 * time.Minute):
		t.Fatalf("basalt bench does not end\n%s", b.said())
	}
	return b.cmd.ProcessState.ExitCode()
}

// figures reads the outcome of a run, by the figures' keys. All that says that something failed is an error.
func figures(t *testing.T, path string, sections []string) map[string]*report.Figure {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var outcome report.Report
	if err := json.Unmarshal(text, &outcome); err != nil {
		t.Fatal(err)
	}
	var names []string
	found := map[string]*report.Figure{}
	for _, section := range outcome.Sections {
		names = append(names, section.Name)
		for _, note := range section.Notes {
			// A database of tests may be set to be quick and not durable, which the benchmark rightly holds against it.
			if note.Bad && !strings.Contains(note.Text, "fsync = off") {
				t.Errorf("%s: %s", section.Name, note.Text)
			}
		}
		for _, table := range section.Tables {
			for _, row := range table.Rows {
				for _, cell := range row.Cells {
					if cell.Figure == nil {
						continue
					}
					found[cell.Figure.Key] = cell.Figure
					if counts := cell.Figure.Unit == "" && cell.Figure.Bar != nil && *cell.Figure.Bar == 0; counts && cell.Figure.Value != 0 {
						t.Errorf("%s, %s: %v", table.Title, row.Name, cell.Figure.Value)
					}
				}
			}
		}
	}
	if !slices.Equal(names, sections) {
		t.Errorf("the sections are %v instead of %v", names, sections)
	}
	return found
}

// wantFigures compares numbers that do not depend on the machine.
func wantFigures(t *testing.T, found map[string]*report.Figure, want map[string]float64) {
	t.Helper()
	for key, value := range want {
		if found[key] == nil || found[key].Value != value {
			t.Errorf("the figure %s is %+v instead of %v", key, found[key], value)
		}
	}
}

// wantNothingLeft refuses anything in a folder of scratch folders, and processes there.
func wantNothingLeft(t *testing.T, folder string, but ...string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if !slices.Contains(but, entry.Name()) {
			t.Errorf("%s is left", entry.Name())
		}
	}
	if pids := processesIn(t, folder); len(pids) > 0 {
		t.Errorf("processes run on: %v", pids)
	}
}

func TestABenchmarkOfAThrowAwayServerFindsNoFailureAndLeavesNothing(t *testing.T) {
	folder := dataFolder(t)
	b := startBenchmark(t, folder, "--json", "figures.json")
	if code := b.exitCode(t); code != 0 {
		t.Fatalf("exit code %d\n%s", code, b.said())
	}
	found := figures(t, filepath.Join(folder, "figures.json"), bench.Sections())
	wantFigures(t, found, map[string]float64{
		"reads.failed": 0, "auth.user.200.failed": 0, "auth.signin.failed": 0, "auth.flood.failed": 0,
		"auth.signup.accepted": 10, "auth.signup.refused": 20, "auth.signup.untold": 0,
		"writes.failed": 0, "writes.misplaced": 0, "writes.left": 0,
		"limits.pool.5.1000.failed": 0, "limits.pool.100.1000.failed": 0, "limits.overload.2.failed": 0,
	})
	if made := found["writes.made"]; made == nil || made.Value < 50 {
		t.Errorf("rows made: %+v", made)
	}
	wantNothingLeft(t, folder, "figures.json")
}

// TestCtrlCEndsABenchmarkWithItsServerAndPostgreSQL sends the signal as a terminal does: to the whole group.
func TestCtrlCEndsABenchmarkWithItsServerAndPostgreSQL(t *testing.T) {
	for _, c := range []struct{ moment, says string }{
		{"while its server starts", "start a throw-away server"},
		{"while the tables are filled", "fill the tables"},
		{"while it measures", "  overhead"},
		{"while it starts the server again", "  limits"},
	} {
		t.Run(c.moment, func(t *testing.T) {
			folder := dataFolder(t)
			b := startBenchmark(t, folder, "--only", "overhead,limits")
			eventually(t, c.moment, func() bool { return strings.Contains(b.said(), c.says) || !b.running() })
			if c.says == "start a throw-away server" {
				eventually(t, "PostgreSQL's folder", func() bool {
					found, err := filepath.Glob(filepath.Join(folder, "basalt-bench-*", "data", "postgres*"))
					return err == nil && len(found) > 0
				})
			}
			if err := syscall.Kill(-b.cmd.Process.Pid, syscall.SIGINT); err != nil {
				t.Fatalf("%v\n%s", err, b.said())
			}
			if code := b.exitCode(t); code != 1 || !strings.HasSuffix(b.said(), "basalt: interrupted\n") {
				t.Errorf("exit code %d\n%s", code, b.said())
			}
			wantNothingLeft(t, folder)
		})
	}
}

func (b *benchmark) running() bool {
	select {
	case <-b.exited:
		return false
	default:
		return true
	}
}

// TestABenchmarkTakesAwayWhatItMadeOnAGivenServer: also when it is interrupted.
func TestABenchmarkTakesAwayWhatItMadeOnAGivenServer(t *testing.T) {
	database := storetest.NewEmpty(t)
	s := serving{databaseURL: database.URL, flags: []string{"--limits", "on"}}
	p := serve(t, s)
	k := readKeys(t, s)
	conn := connect(t, database.URL)
	// What the sign-ins and sign-ups of a run have used up is not to stop the next.
	forgetLimits := func(t *testing.T) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), `delete from basalt.rate_limits`); err != nil {
			t.Fatal(err)
		}
	}
	given := []string{"--url", p.url(), "--anon-key", k.anon, "--service-key", k.service, "--database-url", database.URL}
	for _, c := range []struct {
		moment, reached string // reached is asked of the database
	}{
		{"in the middle of filling the tables", `select exists (select from public.bench_item)`},
		{"when its users sign in", `select exists (select from auth.sessions s join auth.users u on u.id = s.user_id where u.email like 'bench-user-%')`},
		{"when it writes", `select exists (select from public.bench_entry)`},
	} {
		t.Run("interrupted "+c.moment, func(t *testing.T) {
			forgetLimits(t)
			b := startBenchmark(t, dataFolder(t), append(given, "--only", "auth,writes")...)
			reached := false
			eventually(t, c.moment, func() bool {
				// The tables may not be there yet.
				return conn.QueryRow(t.Context(), c.reached).Scan(&reached) == nil && reached || !b.running()
			})
			if err := b.cmd.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatalf("%v\n%s", err, b.said())
			}
			if code := b.exitCode(t); code != 1 || !strings.HasSuffix(b.said(), "basalt: interrupted\n") {
				t.Errorf("exit code %d\n%s", code, b.said())
			}
			wantNothingMade(t, conn)
		})
	}
	t.Run("at its end", func(t *testing.T) {
		forgetLimits(t)
		folder := dataFolder(t)
		b := startBenchmark(t, folder, append(given, "--only", "auth,writes", "--json", "figures.json")...)
		if code := b.exitCode(t); code != 0 {
			t.Fatalf("exit code %d\n%s", code, b.said())
		}
		wantFigures(t, figures(t, filepath.Join(folder, "figures.json"), []string{"auth", "writes"}), map[string]float64{
			"auth.signup.accepted": 10, "auth.signup.refused": 20, "writes.failed": 0, "writes.misplaced": 0, "writes.left": 0,
		})
		wantNothingMade(t, conn)
	})
	if code := p.terminate(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.tail(20))
	}
}

// wantNothingMade refuses tables, functions and users of a benchmark.
func wantNothingMade(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	var left []string
	if err := conn.QueryRow(t.Context(), `
		select coalesce(array_agg(name), '{}')
		from (
		  select relname::text as name
		  from pg_class
		  where relname like 'bench\_%'
		  union all
		  select proname::text
		  from pg_proc
		  where proname like 'bench\_%'
		  union all
		  select email
		  from auth.users
		  where email like 'bench-%'
		) as left_over`).Scan(&left); err != nil {
		t.Fatal(err)
	}
	if len(left) > 0 {
		t.Errorf("left in the database: %v", left)
	}
}

func TestABenchmarkThatCannotBeIsRefused(t *testing.T) {
	for _, c := range []struct {
		what string
		args []string
		says string
	}{
		{"a server on another machine", []string{"--url", "http://192.0.2.1:8090", "--anon-key", "a", "--service-key", "s"}, "--yes-load-this-server"},
		{"a server without its keys", []string{"--url", "http://127.0.0.1:8090"}, "--anon-key"},
		{"keys without a server", []string{"--anon-key", "a"}, "--url"},
		{"a section that there is not", []string{"--only", "nonsense"}, "nonsense"},
		{"no pace", []string{"--pace", "0"}, "--pace"},
		{"no rounds", []string{"--rounds", "0"}, "--rounds"},
		{"figures to compare that are not there", []string{"--compare", "missing.json"}, "missing.json"},
		{"a flag that is unknown", []string{"--nonsense"}, "nonsense"},
	} {
		t.Run(c.what, func(t *testing.T) {
			folder := dataFolder(t)
			b := startBenchmark(t, folder, c.args...)
			if code := b.exitCode(t); code != 2 || !strings.HasPrefix(b.said(), "basalt: ") || !strings.Contains(b.said(), c.says) {
				t.Errorf("exit code %d\n%s", code, b.said())
			}
			wantNothingLeft(t, folder)
		})
	}
}
