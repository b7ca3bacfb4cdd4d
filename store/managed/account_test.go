package managed

import (
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// nobody gives the credential of an unprivileged user, to run a child as.
func nobody(t *testing.T) *syscall.Credential {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root may become another user")
	}
	u, err := user.Lookup("nobody")
	if err != nil {
		t.Skip(err)
	}
	uid, uidErr := strconv.Atoi(u.Uid)
	gid, gidErr := strconv.Atoi(u.Gid)
	if uidErr != nil || gidErr != nil {
		t.Fatal(uidErr, gidErr)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

func TestAnOrdinaryUserRunsTheServerAsItself(t *testing.T) {
	t.Parallel()
	if needPostgres(t).Fetched {
		t.Skip("the fetched PostgreSQL is in root's cache folder")
	}
	as := nobody(t)
	dir := dataDir(t)
	if err := os.Chown(filepath.Dir(dir), int(as.Uid), int(as.Gid)); err != nil {
		t.Fatal(err)
	}
	cmd, out := startChild(t, dir, as)
	awaitLine(t, out, "ready")
	for _, path := range []string{dir, at(dir).cluster(), at(dir).password()} {
		info, err := os.Stat(path)
		if err != nil || ownerOf(info) != int(as.Uid) {
			t.Errorf("%s belongs to somebody else (%v)", path, err)
		}
	}
	url, running, err := AttachURL(dir)
	if err != nil || !running {
		t.Fatalf("running is %t (%v)", running, err)
	}
	if got := queryText(t, url, `select current_setting('data_directory')`); got != at(dir).cluster() {
		t.Errorf("data folder is %s", got)
	}
	kill(t, cmd.Process.Pid)
	cmd.Wait()

	// The same folder under root: refused, until it is root's; then the server still runs as the cluster's owner.
	mustRefuse(t, options(dir), "belongs to user nobody, not to root", "chown -R root "+dir)
	for _, path := range []string{dir, at(dir).password()} {
		if err := os.Chown(path, 0, 0); err != nil {
			t.Fatal(err)
		}
	}
	s := mustStart(t, options(dir))
	if got := s.launcher.runAs.uid; got != int(as.Uid) {
		t.Errorf("runs as %d, want %d", got, as.Uid)
	}
	if got := queryText(t, s.URL(), `select 'here'`); got != "here" {
		t.Errorf("read %q", got)
	}
}

func TestRootsServerRunsUnprivilegedBelowAFolderThatOnlyRootMayEnter(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	if os.Geteuid() != 0 {
		t.Skip("only for root")
	}
	dir := dataDir(t)
	if err := os.Chmod(filepath.Dir(dir), 0o700); err != nil {
		t.Fatal(err)
	}
	s := mustStart(t, options(dir))
	if !s.launcher.runAs.switched {
		t.Error("the server runs as root")
	}
	execSQL(t, s.URL(), `create table t as select generate_series(1, 1000) as id; create index on t (id); checkpoint`)
	// A parallel worker and a reload open the files again.
	execSQL(t, s.URL(), `alter system set work_mem = '5MB'`)
	execSQL(t, s.URL(), `select pg_reload_conf()`)
	await(t, "the new setting", func() bool {
		return queryText(t, s.URL(), `select current_setting('work_mem')`) == "5MB"
	})
	for path, want := range map[string]int{dir: 0, at(dir).password(): 0, at(dir).cluster(): s.launcher.runAs.uid} {
		info, err := os.Stat(path)
		if err != nil || ownerOf(info) != want {
			t.Errorf("%s does not belong to %d (%v)", path, want, err)
		}
	}
	mustStop(t, s)

	if err := os.Chown(at(dir).cluster(), 0, 0); err != nil {
		t.Fatal(err)
	}
	mustRefuse(t, options(dir), "belongs to root", "chown -R "+s.launcher.runAs.name)
}

func TestReachesFollowsEveryFolderOnTheWay(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	deep := filepath.Join(base, "a", "b")
	if err := os.MkdirAll(deep, 0o711); err != nil {
		t.Fatal(err)
	}
	stranger := account{uid: 54321, gid: 54321, switched: true}
	for dir := base; dir != "/" && dir != os.TempDir(); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o711); err != nil {
			t.Fatal(err)
		}
	}
	if !stranger.reaches(deep) || !stranger.reachesOnceMade(filepath.Join(deep, "c", "d")) {
		t.Error("cannot reach an open folder")
	}
	if err := os.Chmod(filepath.Dir(deep), 0o700); err != nil {
		t.Fatal(err)
	}
	if stranger.reaches(deep) || stranger.reachesOnceMade(filepath.Join(deep, "c")) {
		t.Error("reaches through a closed folder")
	}
}
