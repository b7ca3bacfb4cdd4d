package managed

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/rs/zerolog"
)

// childEnv makes the test binary a small Basalt: it starts the server of the data folder named there, says "ready" and
// waits to be killed.
const childEnv = "BASALT_MANAGED_TEST_CHILD"

const deadline = 60 * time.Second

func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		os.Exit(child(dir))
	}
	base, err := os.MkdirTemp(scratch(), "managed")
	if err != nil {
		panic(err)
	}
	usedTemplate = sync.OnceValues(func() (string, error) {
		dir := filepath.Join(base, "data")
		s, err := Start(context.Background(), options(dir))
		if err != nil {
			return "", err
		}
		return dir, s.Stop(context.Background())
	})
	code := m.Run()
	os.RemoveAll(base)
	os.Exit(code)
}

// scratch is a folder in memory where there is room for the clusters of all tests, else the usual temporary folder: the
// tests make and delete some ten thousand files.
func scratch() string {
	const inMemory, room = "/dev/shm", 2 * gib
	var fs syscall.Statfs_t
	if err := syscall.Statfs(inMemory, &fs); err == nil && uint64(fs.Bavail)*uint64(fs.Bsize) > room {
		return inMemory
	}
	return ""
}

func child(dir string) int {
	s, err := Start(context.Background(), Options{DataDir: dir, NoFetch: true, Log: zerolog.Nop()})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("ready")
	<-s.Done()
	return 1
}

// usedTemplate makes a data folder that has been started once, to be copied by tests that are not about the first start.
var usedTemplate func() (dir string, err error)

// startChild runs a child Basalt as the given credential (nil: as this process) and gives its output line by line.
func startChild(t *testing.T, dir string, as *syscall.Credential) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	program := "/proc/self/exe" // can be run by every user, unlike its path
	if !exists(program) {
		program = os.Args[0]
	}
	cmd := exec.Command(program)
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), childEnv+"="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return cmd, bufio.NewScanner(out)
}

func awaitLine(t *testing.T, out *bufio.Scanner, want string) {
	t.Helper()
	if !out.Scan() || out.Text() != want {
		t.Fatalf("the child says %q, want %q", out.Text(), want)
	}
}

// needPostgres skips where no PostgreSQL is installed; the fetched one has its own test.
func needPostgres(t *testing.T) Binaries {
	t.Helper()
	b, err := FindBinaries(t.Context(), Options{DataDir: filepath.Join(t.TempDir(), "none"), NoFetch: true})
	if err != nil {
		t.Skipf("no PostgreSQL on this machine: %v", err)
	}
	return b
}

// dataDir is a data folder with a path that is short enough for a socket; whatever runs there is ended with the test.
func dataDir(t *testing.T) string {
	t.Helper()
	base, err := os.MkdirTemp(scratch(), "managed")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(base, 0o711); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(base, "data")
	t.Cleanup(func() {
		for _, cluster := range []string{at(dir).cluster(), filepath.Join(at(dir).staging(), clusterName)} {
			if err := evict(context.Background(), cluster); err != nil {
				t.Error(err)
			}
		}
		if err := os.RemoveAll(base); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// usedDir is a data folder as dataDir gives it, after its first start.
func usedDir(t *testing.T) string {
	t.Helper()
	template, err := usedTemplate()
	if err != nil {
		t.Fatal(err)
	}
	dir := dataDir(t)
	if out, err := exec.Command("cp", "-a", template, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	t.Cleanup(cancel)
	return ctx
}

func options(dir string) Options {
	return Options{DataDir: dir, NoFetch: true, Log: zerolog.Nop()}
}

func mustStart(t *testing.T, o Options) *Server {
	t.Helper()
	s, err := Start(testContext(t), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop(testContext(t)) })
	return s
}

func mustStop(t *testing.T, s *Server) {
	t.Helper()
	if err := s.Stop(testContext(t)); err != nil {
		t.Fatal(err)
	}
}

// mustRefuse starts and wants a refusal of one line that holds all the given parts.
func mustRefuse(t *testing.T, o Options, parts ...string) {
	t.Helper()
	s, err := Start(testContext(t), o)
	if err == nil {
		s.Stop(testContext(t))
		t.Fatalf("started, want a refusal with %q", parts)
	}
	wantError(t, err, parts...)
}

func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("more than one line: %v", err)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q lacks %q", err, part)
		}
	}
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(testContext(t), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

func execSQL(t *testing.T, url, sql string) {
	t.Helper()
	conn := connect(t, url)
	defer conn.Close(context.Background())
	if _, err := conn.Exec(testContext(t), sql); err != nil {
		t.Fatal(err)
	}
}

func queryText(t *testing.T, url, sql string) string {
	t.Helper()
	conn := connect(t, url)
	defer conn.Close(context.Background())
	var text string
	if err := conn.QueryRow(testContext(t), sql).Scan(&text); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return text
}

// await waits for a condition, without judging how long it took.
func await(t *testing.T, what string, condition func() bool) {
	t.Helper()
	err := poll(testContext(t), func() (bool, error) { return condition(), nil })
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func postmasterPID(t *testing.T, dir string) int {
	t.Helper()
	state, err := readPIDFile(at(dir).cluster())
	if err != nil {
		t.Fatal(err)
	}
	return state.pid
}

func mode(t *testing.T, path string) os.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, os.ErrNotExist)
}

func at(dir string) folder { return folder{dir} }
