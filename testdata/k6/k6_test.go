package k6_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"basalt/api/apitest"
	"basalt/api/bench"
)

// world is a server with rows, and the environment that names it to the scripts.
type world struct {
	*apitest.Server
	env []string
}

func start(t *testing.T) *world {
	t.Helper()
	s := apitest.Start(t, bench.Schema, nil)
	rows, err := os.ReadFile("rows.sql")
	if err != nil {
		t.Fatal(err)
	}
	header, _ := s.SignUp(t, "bench-owner@example.com")
	s.Database.Exec(t, string(rows))
	return &world{s, []string{"API_URL=" + s.URL, "ANON_KEY=" + s.Keys.AnonKey, "TOKEN=" + strings.TrimPrefix(header, "Authorization: Bearer ")}}
}

// left is how many rows the scripts have left.
func (w *world) left(t *testing.T) (rows int) {
	t.Helper()
	if err := w.Database.Pool.QueryRow(t.Context(), `select count(*) from bench_entry`).Scan(&rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

// summary is what k6 counted.
type summary struct {
	Metrics struct {
		Checks struct{ Passes, Fails int }
		// Its passes are the requests that failed.
		Failed struct{ Passes, Fails int } `json:"http_req_failed"`
	}
}

// run runs a script to its end with five callers for a second at a time.
func (w *world) run(t *testing.T, script string, more ...string) (code int, output string, counted summary) {
	t.Helper()
	k6, err := filepath.Abs("../../bin/k6")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(k6); err != nil {
		t.Fatalf("%v: `make bin/k6` builds it", err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
	defer stop()
	export := filepath.Join(t.TempDir(), "summary.json")
	cmd := exec.CommandContext(ctx, k6, "run", "--no-usage-report", "--quiet", "--no-color", "--address", "", "--summary-export", export, script)
	cmd.Env = slices.Concat(environment(t), w.env, more)
	text, err := cmd.CombinedOutput()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		t.Fatalf("run k6: %v", err)
	}
	// k6 that could not begin has counted nothing.
	if report, err := os.ReadFile(export); err == nil {
		if err := json.Unmarshal(report, &counted); err != nil {
			t.Fatalf("%v: %s", err, report)
		}
	}
	return cmd.ProcessState.ExitCode(), string(text), counted
}

// environment is that of the tests without what k6 or the scripts take from it, with k6's own files in a folder that
// goes.
func environment(t *testing.T) []string {
	var env []string
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "K6_") {
			env = append(env, pair)
		}
	}
	return append(env, "CALLERS=5", "SECONDS=1", "KIND=", "K6_AUTO_EXTENSION_RESOLUTION=false", "XDG_CONFIG_HOME="+t.TempDir())
}

func TestTheScriptsFindWhatIsWrongAndNothingElse(t *testing.T) {
	w := start(t)
	for _, script := range []string{"read.js", "crud.js", "auth.js"} {
		t.Run(script+" finds nothing wrong", func(t *testing.T) {
			code, output, counted := w.run(t, script)
			t.Log(output)
			if code != 0 {
				t.Errorf("exit code %d", code)
			}
			if checks := counted.Metrics.Checks; checks.Passes == 0 || checks.Fails > 0 {
				t.Errorf("checks: %+v", checks)
			}
			if requests := counted.Metrics.Failed; requests.Fails == 0 || requests.Passes > 0 {
				t.Errorf("requests: %d failed, %d did not", requests.Passes, requests.Fails)
			}
			if left := w.left(t); left > 0 {
				t.Errorf("%d rows are left", left)
			}
		})
	}
	for _, c := range []struct{ what, script, kind, sql, says string }{
		{"a row that is written twice", "crud.js", "", `
create function twice() returns trigger language plpgsql as $$
begin
  if pg_trigger_depth() = 1 then
    insert into bench_entry (run, body, amount) values (new.run, new.body, new.amount);
  end if;
  return new;
end
$$;
create trigger twice after insert on bench_entry for each row execute function twice();
`, "failed 1 times: no row of this run is left"},
		{"rows that are missing in some of the answers", "read.js", "embed20x5", `
alter table bench_part enable row level security;
create policy most on bench_part to authenticated using (amount <> 1);
`, "thresholds on metrics 'checks' have been crossed"},
		{"a token without rows", "read.js", "pk", `alter policy own on bench_item using (false)`, "TOKEN sees 0 rows of bench_item"},
		{"a token that is refused", "auth.js", "", `delete from auth.sessions`, "http_req_failed' have been crossed"},
	} {
		t.Run(c.script+" finds "+c.what, func(t *testing.T) {
			w.Database.Exec(t, c.sql)
			code, output, _ := w.run(t, c.script, "KIND="+c.kind)
			if code == 0 || !strings.Contains(output, c.says) {
				t.Errorf("exit code %d, %q is not in\n%s", code, c.says, output)
			}
			if left := w.left(t); left > 0 {
				t.Errorf("%d rows are left", left)
			}
		})
	}
}
