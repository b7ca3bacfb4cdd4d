package k6_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"basalt/api/apitest"
	"basalt/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// schema is that of `basalt bench`, with fewer rows.
const schema = `
create table bench_item (
  id bigint primary key,
  key uuid not null,
  name text not null,
  note text,
  price numeric not null,
  stock int not null,
  active boolean not null,
  extra jsonb,
  created_at timestamptz not null default now(),
  owner uuid
);
create table bench_part (
  id bigint primary key,
  item_id bigint not null references bench_item,
  name text not null,
  weight numeric not null,
  amount int not null
);
create index on bench_part (item_id);
create table bench_entry (
  id bigint generated always as identity primary key,
  run uuid not null,
  body text not null,
  amount int not null
);
alter table bench_item enable row level security;
create policy own on bench_item to authenticated using (owner = (select auth.uid()));
grant select on bench_item, bench_part to authenticated;
grant select, insert, update, delete on bench_entry to authenticated;
insert into bench_item (id, key, name, price, stock, active, extra)
select n, gen_random_uuid(), 'item ' || n, n / 100.0, n % 50, n % 3 > 0, jsonb_build_object('n', n)
from generate_series(1, 1200) n;
insert into bench_part
select n, (n + 9) / 10, 'part ' || n, n / 10.0, n % 7
from generate_series(1, 12000) n;
`

// world is a server with rows, and the environment that names it to the scripts.
type world struct {
	*apitest.Server
	env []string
}

func start(t *testing.T) *world {
	t.Helper()
	s := apitest.Start(t, schema, nil)
	header, owner := s.SignUp(t, "owner@example.com")
	s.Database.Exec(t, `update bench_item set owner = '`+owner+`'`)
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
func (w *world) run(t *testing.T, script string) (code int, output string, counted summary) {
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
	cmd.Env = append(environment(t), w.env...)
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

// environment is that of the tests without k6's settings, with its own files in a folder that goes.
func environment(t *testing.T) []string {
	env := []string{"CALLERS=5", "SECONDS=1", "K6_AUTO_EXTENSION_RESOLUTION=false", "XDG_CONFIG_HOME=" + t.TempDir()}
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "K6_") && !strings.HasPrefix(pair, "KIND=") && !strings.HasPrefix(pair, "XDG_CONFIG_HOME=") {
			env = append(env, pair)
		}
	}
	return env
}

func TestTheScriptsFindNothingWrong(t *testing.T) {
	w := start(t)
	for _, script := range []string{"read.js", "crud.js", "auth.js"} {
		t.Run(script, func(t *testing.T) {
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
}

// A script that never fails would show nothing.
func TestTheScriptsFailWhen(t *testing.T) {
	w := start(t)
	for _, c := range []struct {
		what, script, sql, says string
	}{
		{"a row is written twice", "crud.js", `
create function twice() returns trigger language plpgsql security definer as $$
begin
  if pg_trigger_depth() = 1 and new.id % 10 = 0 then
    insert into bench_entry (run, body, amount) values (new.run, new.body, new.amount);
  end if;
  return new;
end
$$;
create trigger twice after insert on bench_entry for each row execute function twice();
`, "no row of this run is left"},
		{"a row is not in the answer", "read.js", `
alter policy own on bench_item using (owner = (select auth.uid()) and (id % 100 <> 7 or random() < 0.5));
`, "thresholds on metrics 'checks'"},
		{"rows are missing", "read.js", `alter policy own on bench_item using (false)`, "rows of bench_item"},
	} {
		t.Run(c.what, func(t *testing.T) {
			w.Database.Exec(t, c.sql)
			code, output, _ := w.run(t, c.script)
			if code == 0 || !strings.Contains(output, c.says) {
				t.Errorf("exit code %d, %q is not in\n%s", code, c.says, output)
			}
		})
	}
}
