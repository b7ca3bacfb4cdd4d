package managed

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestAFreshFolderBecomesARunningServerWithTheSettingsOfDurability(t *testing.T) {
	t.Parallel()
	b := needPostgres(t)
	dir := dataDir(t)
	s := mustStart(t, options(dir))

	if s.Version() != b.Version {
		t.Errorf("version %s, want %s", s.Version(), b.Version)
	}
	settings := map[string]string{
		"fsync":               "on",
		"full_page_writes":    "on",
		"synchronous_commit":  "on",
		"data_checksums":      "on",
		"wal_level":           "logical",
		"listen_addresses":    "",
		"password_encryption": "scram-sha-256",
		"server_encoding":     "UTF8",
		"TimeZone":            "UTC",
	}
	conn := connect(t, s.URL())
	for name, want := range settings {
		var got string
		err := conn.QueryRow(testContext(t), `select setting from pg_settings where name = $1`, name).Scan(&got)
		if err != nil || got != want {
			t.Errorf("%s is %q (%v), want %q", name, got, err, want)
		}
	}
	if got := queryText(t, s.URL(), `select datcollate from pg_database where datname = current_database()`); got != "C" {
		t.Errorf("collation %q, want C", got)
	}
	if hasStatStatements(b) {
		execSQL(t, s.URL(), `create extension pg_stat_statements; select count(*) from pg_stat_statements`)
	}
	for path, want := range map[string]os.FileMode{
		dir:                                0o700,
		at(dir).password():                 0o600,
		at(dir).cluster():                  0o700,
		at(dir).log():                      0o600,
		filepath.Join(dir, lockName):       0o600,
		at(dir).cluster() + "/basalt.conf": 0o600,
	} {
		if got := mode(t, path); got != want {
			t.Errorf("%s has mode %04o, want %04o", path, got, want)
		}
	}
	if exists(at(dir).staging()) {
		t.Error("the staging folder is left")
	}
	if text, err := os.ReadFile(at(dir).log()); err != nil || strings.Contains(string(text), s.launcher.password) {
		t.Errorf("the log cannot be read or holds the password (%v)", err)
	}
}

func TestASecondStartFindsTheDataOfTheFirst(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	dir := usedDir(t)
	s := mustStart(t, options(dir))
	execSQL(t, s.URL(), `create table kept as select 'kept' as word`)
	pid := postmasterPID(t, dir)
	mustStop(t, s)
	if alive(pid) {
		t.Error("PostgreSQL outlived Stop")
	}
	mustStop(t, s)

	s = mustStart(t, options(dir))
	if got := queryText(t, s.URL(), `select word from kept`); got != "kept" {
		t.Errorf("read %q", got)
	}
}

func TestStopEndsOpenTransactionsAndObeysAnEndedContext(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	dir := usedDir(t)
	s := mustStart(t, options(dir))
	conn := connect(t, s.URL())
	if _, err := conn.Exec(testContext(t), `begin; create table lost (id int)`); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Stop(ended); err != nil {
		t.Fatal(err)
	}
	if pids, err := serverProcesses(at(dir).cluster()); err != nil || len(pids) > 0 {
		t.Errorf("processes %v are left (%v)", pids, err)
	}
	s = mustStart(t, options(dir))
	if got := queryText(t, s.URL(), `select coalesce(to_regclass('lost')::text, 'none')`); got != "none" {
		t.Errorf("the table of an open transaction is there: %s", got)
	}
}

func TestOneProcessOwnsADataFolder(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	dir := usedDir(t)
	cmd, out := startChild(t, dir, nil)
	awaitLine(t, out, "ready")
	mustRefuse(t, options(dir), "is in use by process", itoa(cmd.Process.Pid))

	url, running, err := AttachURL(dir)
	if err != nil || !running {
		t.Fatalf("running is %t (%v)", running, err)
	}
	if got := queryText(t, url, `select current_user::text`); got != superuser {
		t.Errorf("attached as %q", got)
	}
}

func TestAttachURLTellsThatNothingRuns(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	dir := filepath.Join(t.TempDir(), "none")
	if url, running, err := AttachURL(dir); url != "" || running || err != nil {
		t.Errorf("without a folder: %q %t %v", url, running, err)
	}
	dir = usedDir(t)
	mustStop(t, mustStart(t, options(dir)))
	if url, running, err := AttachURL(dir); url != "" || running || err != nil {
		t.Errorf("after Stop: %q %t %v", url, running, err)
	}
}

func TestACallerMayHoldTheLockItself(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	dir := usedDir(t)
	lock, err := LockDataDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	o := options(dir)
	o.Lock = lock
	mustStop(t, mustStart(t, o))
	mustRefuse(t, options(dir), "is in use by process", itoa(os.Getpid()))
	if err := lock.Release(); err != nil {
		t.Error(err)
	}
}

func TestTheUsersOwnSettingsWinAndStay(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	dir := usedDir(t)
	custom := filepath.Join(at(dir).cluster(), customConfig)
	file, err := os.OpenFile(custom, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString("work_mem = '7MB'\nport = 1\n"); err != nil {
		t.Fatal(err)
	}
	file.Close()
	s := mustStart(t, options(dir))
	if got := queryText(t, s.URL(), `select current_setting('work_mem')`); got != "7MB" {
		t.Errorf("work_mem is %s", got)
	}
}

func TestATCPPortIsOpenedOnLoopbackOnlyWhenAsked(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	dir := usedDir(t)
	port, free := freePort(t)
	free()
	o := options(dir)
	o.TCPPort = port
	s := mustStart(t, o)
	overTCP := strings.Replace(s.URL(), "host=", "host=127.0.0.1&socket=", 1)
	overTCP = overTCP[:strings.Index(overTCP, "&socket=")] + "&port=" + itoa(port)
	if got := queryText(t, overTCP, `select host(inet_server_addr())`); got != "127.0.0.1" {
		t.Errorf("connected to %s", got)
	}
	mustStop(t, s)

	_, free = holdPort(t, port)
	defer free()
	mustRefuse(t, o, "port "+itoa(port), "taken by another program")
}

func TestALongPathAndACommaMoveTheSocketToAShortFolder(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	for name, part := range map[string]string{
		"a path longer than a socket's name": strings.Repeat("long", 30),
		"a path with a comma":                "a,b",
		"a path with blanks and quotes":      `it's "here" now`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(filepath.Dir(usedDir(t)), part)
			if err := os.Rename(filepath.Join(filepath.Dir(dir), "data"), dir); err != nil {
				t.Fatal(err)
			}
			s := mustStart(t, options(dir))
			if got := queryText(t, s.URL(), `select 'here'`); got != "here" {
				t.Errorf("read %q", got)
			}
			url, running, err := AttachURL(dir)
			if err != nil || !running || url != s.URL() {
				t.Errorf("attached to %q, want %q (%v)", url, s.URL(), err)
			}
			mustStop(t, s)
			if s.launcher.endpoint.dir != s.launcher.folder.cluster() && exists(s.launcher.endpoint.dir) {
				t.Error("the folder of the socket is left")
			}
		})
	}
}

func TestALostPasswordIsReplaced(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	dir := usedDir(t)
	if err := os.Remove(at(dir).password()); err != nil {
		t.Fatal(err)
	}
	mustStop(t, mustStart(t, options(dir)))

	if err := os.WriteFile(at(dir).password(), []byte("another\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	mustRefuse(t, options(dir), "is not the one of this cluster", "delete it")
	if err := os.Chmod(at(dir).password(), 0o644); err != nil {
		t.Fatal(err)
	}
	mustRefuse(t, options(dir), "can be read by other users", "chmod 600")
}

func TestTheServersLogIsBounded(t *testing.T) {
	t.Parallel()
	f := at(t.TempDir())
	file, _, err := openLog(f)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	line := strings.Repeat("x", 1023) + "\n"
	for range maxLog/len(line) + 2 {
		if _, err := file.WriteString(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := trimLog(f); err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString("after\n"); err != nil {
		t.Fatal(err)
	}
	now, err := os.ReadFile(f.log())
	if err != nil || string(now) != "after\n" {
		t.Errorf("the log holds %d bytes (%v)", len(now), err)
	}
	if old, err := os.Stat(f.log() + ".1"); err != nil || old.Size() != maxLog {
		t.Errorf("the earlier log: %v %v", old, err)
	}
}

func TestStartObeysItsContext(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	dir := dataDir(t)
	for _, after := range []time.Duration{0, 50 * time.Millisecond, 400 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(context.Background(), after)
		s, err := Start(ctx, options(dir))
		cancel()
		if err == nil {
			mustStop(t, s) // a fast machine
		}
	}
	mustStart(t, options(dir))
}
