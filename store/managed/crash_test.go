package managed

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

func itoa(n int) string { return strconv.Itoa(n) }

func freePort(t *testing.T) (port int, free func()) {
	t.Helper()
	return holdPort(t, 0)
}

func holdPort(t *testing.T, want int) (port int, free func()) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:"+itoa(want))
	if err != nil {
		t.Fatal(err)
	}
	return listener.Addr().(*net.TCPAddr).Port, func() { listener.Close() }
}

func kill(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

func TestAKilledPostmasterComesBackWithAllThatWasCommitted(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	dir := usedDir(t)
	s := mustStart(t, options(dir))
	execSQL(t, s.URL(), `create table rows (id int primary key)`)
	for round := range 3 {
		// A backend that computes does not notice that its postmaster is gone: it must be ended.
		busy := connect(t, s.URL())
		go busy.Exec(context.Background(), `select count(*) from generate_series(1, 10000000000)`)
		await(t, "the busy backend", func() bool {
			return queryText(t, s.URL(), `select count(*)::text from pg_stat_activity where query like '%10000000000)' and state = 'active' and pid <> pg_backend_pid()`) == "1"
		})
		execSQL(t, s.URL(), `insert into rows values (`+itoa(round)+`)`)
		old := postmasterPID(t, dir)
		kill(t, old)
		await(t, "a new postmaster", func() bool {
			url, running, err := AttachURL(dir)
			return err == nil && running && url == s.URL() && postmasterPID(t, dir) != old
		})
		if got := queryText(t, s.URL(), `select count(*)::text from rows`); got != itoa(round+1) {
			t.Errorf("%s rows after round %d", got, round)
		}
	}
	select {
	case <-s.Done():
		t.Errorf("given up: %v", s.Err())
	default:
	}
}

func TestAKilledBackendCostsNoCommittedRow(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	dir := usedDir(t)
	s := mustStart(t, options(dir))
	execSQL(t, s.URL(), `create table kept as select 'kept' as word`)
	pid := postmasterPID(t, dir)
	victim := connect(t, s.URL())
	kill(t, int(victim.PgConn().PID()))
	// The postmaster notices in its own time; then every session ends and recovery begins.
	var word string
	await(t, "an end of the recovery", func() bool {
		if victim.Ping(testContext(t)) == nil {
			return false
		}
		conn, err := pgx.Connect(testContext(t), s.URL())
		if err != nil {
			return false
		}
		defer conn.Close(context.Background())
		return conn.QueryRow(testContext(t), `select word from kept`).Scan(&word) == nil
	})
	if word != "kept" {
		t.Errorf("read %q", word)
	}
	if got := postmasterPID(t, dir); got != pid {
		t.Errorf("the postmaster was %d and is %d", pid, got)
	}
}

func TestAServerThatCannotComeBackIsGivenUp(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	dir := usedDir(t)
	l, _, err := prepare(testContext(t), at(dir), options(dir))
	if err != nil {
		t.Fatal(err)
	}
	p, err := l.launch(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(l, 2)
	go s.supervise(p)
	custom := filepath.Join(at(dir).cluster(), customConfig)
	if err := os.WriteFile(custom, []byte("shared_preload_libraries = 'no_such_library'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Err(); err != nil {
		t.Errorf("given up before the crash: %v", err)
	}
	kill(t, postmasterPID(t, dir))
	<-s.Done()
	wantError(t, s.Err(), "no_such_library")
	mustStop(t, s)
}

func TestAServerThatOutlivedBasaltIsTakenOver(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	for name, both := range map[string]bool{
		"Basalt killed":                    false,
		"Basalt and the postmaster killed": true,
	} {
		t.Run(name, func(t *testing.T) {
			dir := usedDir(t)
			cmd, out := startChild(t, dir, nil)
			awaitLine(t, out, "ready")
			url, running, err := AttachURL(dir)
			if err != nil || !running {
				t.Fatalf("running is %t (%v)", running, err)
			}
			execSQL(t, url, `create table kept as select 'kept' as word`)
			open := connect(t, url)
			if _, err := open.Exec(testContext(t), `begin; lock table kept`); err != nil {
				t.Fatal(err)
			}
			old := postmasterPID(t, dir)
			kill(t, cmd.Process.Pid)
			cmd.Wait()
			if both {
				kill(t, old)
			}
			s := mustStart(t, options(dir))
			if postmasterPID(t, dir) == old {
				t.Error("the earlier postmaster still runs")
			}
			if got := queryText(t, s.URL(), `select word from kept`); got != "kept" {
				t.Errorf("read %q", got)
			}
		})
	}
}

// TestAnUnloggedTableOfALostAbortKeepsNoServerFromStarting kills all of PostgreSQL when the removal of the table's files
// has reached the disk but the record of the abort has not.
func TestAnUnloggedTableOfALostAbortKeepsNoServerFromStarting(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	dir := usedDir(t)
	custom := filepath.Join(at(dir).cluster(), customConfig)
	if err := os.WriteFile(custom, []byte("wal_writer_delay = '10s'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	child, out := startChild(t, dir, nil)
	awaitLine(t, out, "ready")
	url, running, err := AttachURL(dir)
	if err != nil || !running {
		t.Fatalf("running is %t (%v)", running, err)
	}
	aborted := connect(t, url)
	if _, err := aborted.Exec(testContext(t), `begin; create unlogged table lost (id int)`); err != nil {
		t.Fatal(err)
	}
	execSQL(t, url, `create table kept as select 'kept' as word`) // its commit flushes the log so far
	if _, err := aborted.Exec(testContext(t), `rollback`); err != nil {
		t.Fatal(err)
	}
	pids, err := serverProcesses(at(dir).cluster())
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range append(pids, child.Process.Pid) {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Fatal(err)
		}
	}
	child.Wait()

	s := mustStart(t, options(dir))
	if got := queryText(t, s.URL(), `select word from kept`); got != "kept" {
		t.Errorf("read %q", got)
	}
	log, err := os.ReadFile(at(dir).log())
	if err != nil {
		t.Fatal(err)
	}
	if !leftFork.Match(log) {
		t.Error("nothing was left of the aborted transaction: the test has tried nothing")
	}
}

func TestAFirstStartKilledAtAnyPointIsFinishedByTheNext(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	dir := dataDir(t)
	whole := time.Now()
	mustStop(t, mustStart(t, options(dir)))
	took := time.Since(whole)

	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 2 {
		dir := dataDir(t)
		// Several kills in a row on one folder: each begins on what the one before has left.
		for range 3 {
			cmd, _ := startChild(t, dir, nil)
			time.Sleep(time.Duration(random.Int64N(int64(took)))) // the fault itself, not a wait for anything
			kill(t, cmd.Process.Pid)
			cmd.Wait()
			if pid, err := readPIDFile(at(dir).cluster()); err == nil && random.IntN(2) == 0 {
				syscall.Kill(pid.pid, syscall.SIGKILL)
			}
		}
		s := mustStart(t, options(dir))
		execSQL(t, s.URL(), `create table t (id int)`)
		mustStop(t, s)
		if exists(at(dir).staging()) {
			t.Error("the staging folder is left")
		}
	}
}

func TestAHalfMadeClusterIsMadeAnew(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	dir := dataDir(t)
	half := filepath.Join(at(dir).staging(), clusterName, "base", "1")
	if err := os.MkdirAll(half, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(half, "1259"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	mustStart(t, options(dir))
	if exists(at(dir).staging()) {
		t.Error("the half-made cluster is left")
	}
}

func TestAFolderWithDataIsNeverDeleted(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	cases := map[string]struct {
		file string
		want []string
	}{
		"a cluster that lacks its control file": {"postgres/PG_VERSION", []string{"not a whole PostgreSQL cluster", "global/pg_control is missing", "mv "}},
		"a cluster that lacks its version":      {"postgres/global/pg_control", []string{"not a whole PostgreSQL cluster", "PG_VERSION is missing", "mv "}},
		"a folder of other things":              {"postgres/letters.txt", []string{"not a whole PostgreSQL cluster", "mv "}},
		"a staging folder with a user's table":  {"postgres.new/postgres/base/5/16385", []string{"holds data", "16385", "mv "}},
		"a staging folder with a segment of it": {"postgres.new/postgres/base/5/16385.1", []string{"holds data", "16385", "mv "}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := dataDir(t)
			path := filepath.Join(dir, c.file)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte("15\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			mustRefuse(t, options(dir), c.want...)
			if text, err := os.ReadFile(path); err != nil || string(text) != "15\n" {
				t.Errorf("the file is %q now (%v)", text, err)
			}
		})
	}
}

func TestALockFileThatNamesAStrangersProcessIsPassedOver(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	dir := usedDir(t)
	s := mustStart(t, options(dir))
	cluster := at(dir).cluster()
	text, err := os.ReadFile(filepath.Join(cluster, pidFileName))
	if err != nil {
		t.Fatal(err)
	}
	mustStop(t, s)

	// A process that lives and is no PostgreSQL, under the server's own user, as after a reboot.
	runAs, err := chooseAccount(cluster)
	if err != nil {
		t.Fatal(err)
	}
	stranger, handle, err := runAs.command("/bin/sleep", cluster, func(string) []string { return []string{"60"} })
	if err != nil {
		t.Fatal(err)
	}
	defer handle.Close()
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	defer stranger.Wait()
	defer stranger.Process.Kill()
	_, rest, _ := strings.Cut(string(text), "\n")
	for _, lock := range []string{pidFileName, socketName(socketOnlyPort) + ".lock"} {
		if err := runAs.writeFile(filepath.Join(cluster, lock), []byte(itoa(stranger.Process.Pid)+"\n"+rest)); err != nil {
			t.Fatal(err)
		}
	}
	mustStart(t, options(dir))
	if !alive(stranger.Process.Pid) {
		t.Error("the stranger's process was ended")
	}
}
