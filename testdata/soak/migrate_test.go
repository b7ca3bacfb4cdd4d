//go:build linux

package soak_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"basalt/store/storetest"
)

const (
	migrationFiles  = 12
	separateFile    = 7 // asks for no transaction
	migrationTables = `
select
  coalesce((select count(*) from applied_steps where file = $1), 0),
  to_regclass(format('made_%s', $1)) is not null,
  exists (select from supabase_migrations.schema_migrations where version = $2),
  exists (select from pg_index where indexrelid = to_regclass(format('made_%s_index', $1)) and indisvalid)`
)

// migrationFolder writes files that each do three things with time between them.
func migrationFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for file := range migrationFiles {
		head, index := "", "create index"
		if file == separateFile {
			head, index = "-- basalt: no-transaction\n", "create index concurrently"
		}
		text := fmt.Sprintf(`%screate table made_%d (id int);
insert into made_%[2]d select generate_series(1, 2000);
insert into applied_steps values (%[2]d);
select pg_sleep(0.02);
%[3]s made_%[2]d_index on made_%[2]d (id);
insert into applied_steps values (%[2]d);
select pg_sleep(0.02);
insert into applied_steps values (%[2]d);
`, head, file, index)
		if err := os.WriteFile(filepath.Join(dir, migrationVersion(file)+"_file.sql"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func migrationVersion(file int) string { return fmt.Sprintf("2024010100%04d", file) }

func TestAMigrationThatIsKilledIsBeforeOrAfterAFileAndIsCompletedByTheNext(t *testing.T) {
	r := random(t)
	dir := migrationFolder(t)
	for range times(2, 15) {
		database := storetest.New(t)
		database.Exec(t, `create table applied_steps (file int)`)
		database.Pool.Close() // so that all other sessions are those of migrate
		conn := connect(t, database.URL)
		for range 4 {
			killMigration(t, database.URL, dir, 1+r.IntN(migrationFiles), time.Duration(r.IntN(60))*time.Millisecond)
			t.Logf("killed with %d files applied", expectWholeFiles(t, conn))
		}
		out, err := basalt(t, database.URL, "migrate", "up", "--dir", dir)
		if err != nil {
			t.Fatalf("the last run: %v", err)
		}
		t.Logf("the last run says: %s", out)
		if applied := expectWholeFiles(t, conn); applied != migrationFiles {
			t.Errorf("%d of %d files are applied in the end", applied, migrationFiles)
		}
	}
}

// killMigration runs the migrations and kills the run a moment after it has told so much of its progress.
func killMigration(t *testing.T, databaseURL, dir string, lines int, after time.Duration) {
	t.Helper()
	cmd := exec.Command(os.Getenv(binaryEnv), "migrate", "up", "--dir", dir)
	cmd.Env = environment(t, databaseURL)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	progress, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := startChild(cmd); err != nil {
		t.Fatal(err)
	}
	told := bufio.NewScanner(progress)
	for range lines {
		if !told.Scan() {
			break // it has ended before
		}
	}
	time.Sleep(after) // the moment of the kill is random
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // it was killed, or was done before
}

// expectWholeFiles counts the files that are applied and looks that all others have left no trace.
func expectWholeFiles(t *testing.T, conn *pgx.Conn) (count int) {
	t.Helper()
	// The backend of a killed run ends when it notices.
	eventually(t, "no other session is left", func() bool {
		var others int
		if err := conn.QueryRow(context.Background(), `
			select count(*)
			from pg_stat_activity
			where datname = current_database()
			  and backend_type = 'client backend'
			  and pid <> pg_backend_pid()`).Scan(&others); err != nil {
			t.Fatal(err)
		}
		return others == 0
	})
	for file := range migrationFiles {
		var steps int
		var table, recorded, index bool
		if err := conn.QueryRow(t.Context(), migrationTables, file, migrationVersion(file)).Scan(&steps, &table, &recorded, &index); err != nil {
			t.Fatal(err)
		}
		before := steps == 0 && !table && !index
		after := steps == 3 && table && index
		switch {
		case recorded && !after, !recorded && !before && file != separateFile, file == separateFile && steps > 3:
			t.Fatalf("file %d: recorded %v, but %d steps, table %v, index %v", file, recorded, steps, table, index)
		case recorded:
			count++
		}
	}
	return count
}
