package managed

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestAClusterOfAnotherMajorVersionIsRefusedWithTheUpgrade(t *testing.T) {
	t.Parallel()
	b := needPostgres(t)
	cases := map[string]struct {
		version string
		want    []string
	}{
		"older than Basalt supports": {"13", []string{"holds PostgreSQL 13", "pg_upgrade", "/usr/lib/postgresql/13/bin", b.BinDir}},
		"of the time of two parts":   {"9.6", []string{"holds PostgreSQL 9", "pg_upgrade"}},
		"of the future":              {"99", []string{"holds PostgreSQL 99, newer than the " + b.Version, "install PostgreSQL 99"}},
		"unreadable":                 {"fifteen", []string{"PG_VERSION does not name a PostgreSQL version"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := dataDir(t)
			cluster := at(dir).cluster()
			if err := os.MkdirAll(filepath.Join(cluster, "global"), 0o700); err != nil {
				t.Fatal(err)
			}
			for name, text := range map[string]string{"PG_VERSION": c.version + "\n", "global/pg_control": "control"} {
				if err := os.WriteFile(filepath.Join(cluster, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			o := options(dir)
			if b.Fetched { // what the cache holds is not offered for another version
				mustRefuse(t, o, "PostgreSQL")
			} else {
				mustRefuse(t, o, c.want...)
			}
			o.BinDir = b.BinDir
			mustRefuse(t, o, c.want...)
		})
	}
}

func TestTheCommandOfTheUpgradeUpgrades(t *testing.T) {
	t.Parallel()
	b := needPostgres(t)
	if !isProgram(b.program("pg_upgrade")) {
		t.Skip("no pg_upgrade on this machine")
	}
	dir := usedDir(t)
	s := mustStart(t, options(dir))
	execSQL(t, s.URL(), `create table kept as select 'kept' as word`)
	runAs := s.launcher.runAs
	mustStop(t, s)

	// From a version to itself: the same steps, and only one version has to be installed.
	command := upgradeCommand(dir, b, b, runAs)
	sh := exec.Command("sh", "-c", command)
	sh.Env = serverEnvironment() // pg_upgrade refuses to work beside a PGHOST
	if out, err := sh.CombinedOutput(); err != nil {
		t.Fatalf("%s\n%v\n%s", command, err, out)
	}
	if old := at(dir).cluster() + "." + itoa(b.Major); !exists(filepath.Join(old, "PG_VERSION")) {
		t.Errorf("the earlier cluster is not at %s", old)
	}
	s = mustStart(t, options(dir))
	if got := queryText(t, s.URL(), `select word from kept`); got != "kept" {
		t.Errorf("read %q", got)
	}
}

func TestAFolderThatIsOpenToOthersOrSomebodyElsesIsRefused(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	lock, err := LockDataDir(dir)
	if err != nil {
		t.Fatalf("an empty folder should be taken over: %v", err)
	}
	if got := mode(t, dir); got != 0o700 {
		t.Errorf("mode %04o, want 0700", got)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}

	if err := os.Chmod(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	mustRefuse(t, options(dir), "is open to other users (mode 0750)", "chmod 700 "+dir)

	if os.Geteuid() == 0 {
		if err := os.Chown(dir, 65534, 65534); err != nil {
			t.Fatal(err)
		}
		mustRefuse(t, options(dir), "belongs to user", "not to root", "--data")
	}
	file := filepath.Join(filepath.Dir(dir), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	mustRefuse(t, options(file), "is not a folder")
}

func TestAnInUseErrorCarriesTheOwner(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	lock, err := LockDataDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	_, err = LockDataDir(dir)
	var inUse *InUseError
	if !errors.As(err, &inUse) || inUse.PID != os.Getpid() || inUse.Dir != dir {
		t.Errorf("got %#v", err)
	}
}

func TestWithoutBinariesAndNetworkTheRefusalSaysWhatToInstall(t *testing.T) {
	t.Parallel()
	o := options(dataDir(t))
	o.NoSystem, o.CacheDir = true, filepath.Join(filepath.Dir(o.DataDir), "cache")
	mustRefuse(t, o, "no PostgreSQL 14 or newer is installed", "install PostgreSQL", "--database-url")

	o.BinDir = t.TempDir()
	mustRefuse(t, o, "does not hold a working PostgreSQL")
}

func TestAStartThatFailsGivesPostgreSQLsOwnWords(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	dir := usedDir(t)
	if err := os.Chmod(at(dir).cluster(), 0o755); err != nil {
		t.Fatal(err)
	}
	mustRefuse(t, options(dir), "is open to other users (mode 0755)", "chmod 700 "+at(dir).cluster())
	if err := os.Chmod(at(dir).cluster(), 0o700); err != nil {
		t.Fatal(err)
	}
	custom := filepath.Join(at(dir).cluster(), customConfig)
	if err := os.WriteFile(custom, []byte("shared_preload_libraries = 'no_such_library'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	mustRefuse(t, options(dir), "PostgreSQL cannot start", "no_such_library", at(dir).log())
	if pids, err := serverProcesses(at(dir).cluster()); err != nil || len(pids) > 0 {
		t.Errorf("processes %v are left (%v)", pids, err)
	}
}

func TestLastComplaint(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ log, want string }{
		"the last fatal message": {
			"2026-01-01 UTC [1] FATAL:  first\n2026-01-01 UTC [1] FATAL:  second\n2026-01-01 UTC [1] LOG:  database system is shut down\n", "second"},
		"not one of a server that starts": {
			"2026-01-01 UTC [1] PANIC:  lost\n2026-01-01 UTC [2] FATAL:  the database system is starting up\n", "lost"},
		"a program that cannot be loaded": {
			"postgres: error while loading shared libraries: libicu.so\n", "postgres: error while loading shared libraries: libicu.so"},
		"nothing": {"\n", "otherwise"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := lastComplaint(c.log, "otherwise"); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestParseVersion(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		text         string
		major, minor int
		ok           bool
	}{
		"a build from source":  {"postgres (PostgreSQL) 18.3\n", 18, 3, true},
		"a package":            {"postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)\n", 15, 14, true},
		"a beta":               {"postgres (PostgreSQL) 19beta1\n", 0, 0, false},
		"a development branch": {"postgres (PostgreSQL) 19devel\n", 0, 0, false},
		"another program":      {"postgres 3.1\n", 0, 0, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			major, minor, ok := parseVersion(c.text)
			if major != c.major || minor != c.minor || ok != c.ok {
				t.Errorf("got %d %d %t", major, minor, ok)
			}
		})
	}
}

func TestMemoryIsSharedByTheSizeOfTheMachine(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		total uint64
		cpus  int
		want  memory
	}{
		"a tiny container": {256 * mib, 1, memory{32 * mib, 128 * mib, 4 * mib, 16 * mib, 100}},
		"a small machine":  {2 * gib, 2, memory{256 * mib, gib, 4 * mib, 64 * mib, 100}},
		"a large machine":  {64 * gib, 32, memory{gib, 32 * gib, 32 * mib, 256 * mib, 296}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := memoryFor(c.total, c.cpus); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
	if got := machineMemory(); got < 64*mib {
		t.Errorf("this machine has %d bytes", got)
	}
}

func TestShellQuote(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"/a/b-c.d": "/a/b-c.d", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$(x)": "'$(x)'"} {
		if got := shellQuote(in); got != want {
			t.Errorf("%q becomes %s, want %s", in, got, want)
		}
		if out, err := exec.Command("sh", "-c", "printf %s "+shellQuote(in)).Output(); err != nil || strings.TrimSpace(string(out)) != strings.TrimSpace(in) {
			t.Errorf("the shell reads %q (%v)", out, err)
		}
	}
}
