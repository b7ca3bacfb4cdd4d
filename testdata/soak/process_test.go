//go:build linux

package soak_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// serving says how `basalt serve` is run.
type serving struct {
	data        string // of the managed PostgreSQL; used when databaseURL is empty
	databaseURL string
	port        int // 0: any
	flags       []string
	as          *syscall.Credential
	stderr      *os.File // instead of being read by the harness
}

// process is one run of `basalt serve`.
type process struct {
	port    int
	started time.Time
	cmd     *exec.Cmd
	exited  chan struct{} // closed when it has ended and its log is read
	ready   chan struct{} // closed when it has said that it is ready

	mu      sync.Mutex
	lines   []string
	apiURL  string
	anonKey string
	readyAt time.Time
}

// dataFolder is a folder for a managed PostgreSQL. Whatever of it still runs when the test ends is killed.
func dataFolder(t *testing.T) string {
	t.Helper()
	root, err := os.MkdirTemp(scratch(), "basalt-soak-data-")
	if err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(root, "data")
	t.Cleanup(func() {
		killAll(t, data)
		if err := os.RemoveAll(root); err != nil {
			t.Errorf("remove the data folder: %v", err)
		}
	})
	return data
}

// scratch is where data folders are: on the disk in a full run, else in memory where there is room. The kills hit
// processes and not the machine, so nothing is proved by waiting for the disk.
func scratch() string {
	const inMemory, room = "/dev/shm", 2 << 30
	var fs syscall.Statfs_t
	if err := syscall.Statfs(inMemory, &fs); !all() && err == nil && fs.Bavail*uint64(fs.Bsize) > room {
		return inMemory
	}
	return ""
}

// freePort finds a port that nobody listens on.
func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

// serve starts Basalt and waits until it is ready.
func serve(t *testing.T, s serving) *process {
	t.Helper()
	p := launch(t, s)
	p.awaitReady(t)
	return p
}

func (p *process) awaitReady(t *testing.T) {
	t.Helper()
	select {
	case <-p.ready:
	case <-p.exited:
		t.Fatalf("basalt ended before it was ready: %v\n%s", p.cmd.ProcessState, p.log())
	case <-time.After(2 * time.Minute):
		t.Fatalf("basalt is not ready after two minutes\n%s", p.log())
	}
}

// launch starts Basalt in a process group of its own, which ends with the test.
func launch(t *testing.T, s serving) *process {
	t.Helper()
	if s.port == 0 {
		s.port = freePort(t)
	}
	args := []string{"serve", "--listen", fmt.Sprintf("127.0.0.1:%d", s.port), "--log-format", "json", "--limits", "off"}
	if s.databaseURL == "" {
		args = append(args, "--data", s.data)
	} else {
		args = append(args, "--autoconfirm", "true")
	}
	p := &process{
		port:    s.port,
		cmd:     exec.Command(os.Getenv(binaryEnv), append(args, s.flags...)...),
		exited:  make(chan struct{}),
		ready:   make(chan struct{}),
		started: time.Now(),
	}
	p.cmd.Env = environment(t, s.databaseURL)
	p.cmd.Dir = "/"
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: s.as, Pdeathsig: syscall.SIGKILL}
	var logs *os.File
	if p.cmd.Stderr = s.stderr; s.stderr == nil {
		var write *os.File
		var err error
		if logs, write, err = os.Pipe(); err != nil {
			t.Fatal(err)
		}
		defer write.Close()
		p.cmd.Stderr = write
	}
	if err := startChild(p.cmd); err != nil {
		t.Fatalf("start basalt: %v", err)
	}
	go func() {
		if logs != nil {
			p.read(logs)
		}
		_ = p.cmd.Wait() // how it ended is in its ProcessState
		close(p.exited)
	}()
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("log of basalt %d:\n%s", p.cmd.Process.Pid, p.tail(60))
		}
	})
	return p
}

// startChild starts a program that the kernel kills when this process dies. It does so when the thread that started it
// ends, so one thread that lives as long as the process starts them all.
func startChild(cmd *exec.Cmd) error {
	done := make(chan error)
	starter()(func() { done <- cmd.Start() })
	return <-done
}

var starter = sync.OnceValue(func() func(func()) {
	jobs := make(chan func())
	go func() {
		runtime.LockOSThread()
		for job := range jobs {
			job()
		}
	}()
	return func(job func()) { jobs <- job }
})

// environment is what Basalt is started with: nothing of the settings of whoever runs the tests, and a place for the
// race detector's reports, which fail the test.
func environment(t *testing.T, databaseURL string) []string {
	t.Helper()
	var env []string
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(name, "BASALT_") || strings.HasPrefix(name, "PG") || name == "DATABASE_URL" || name == "JWT_SECRET" {
			continue
		}
		env = append(env, pair)
	}
	if databaseURL != "" {
		env = append(env, "DATABASE_URL="+databaseURL)
	}
	if !raced {
		return env
	}
	folder, err := os.MkdirTemp("", "basalt-soak-race-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		reports, err := filepath.Glob(filepath.Join(folder, "*"))
		if err != nil {
			t.Error(err)
		}
		for _, report := range reports {
			text, err := os.ReadFile(report)
			t.Errorf("the race detector reports: %s %v", text, err)
		}
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	return append(env, "GORACE=log_path="+filepath.Join(folder, "report"))
}

// read keeps the log and looks for the line that says that the server is ready.
func (p *process) read(logs *os.File) {
	defer logs.Close()
	lines := bufio.NewScanner(logs)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line struct {
			Msg     string `json:"msg"`
			APIURL  string `json:"api_url"`
			AnonKey string `json:"anon_key"`
		}
		isJSON := json.Unmarshal(lines.Bytes(), &line) == nil
		if isJSON && strings.Contains(lines.Text(), `"path":"/rest/v1/`) {
			continue // one line a request would drown the rest
		}
		p.mu.Lock()
		p.lines = append(p.lines, lines.Text())
		if line.Msg == "ready" {
			p.apiURL, p.anonKey, p.readyAt = line.APIURL, line.AnonKey, time.Now()
			close(p.ready)
		}
		p.mu.Unlock()
	}
}

func (p *process) log() string { return p.tail(1 << 30) }

func (p *process) tail(lines int) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.lines[max(0, len(p.lines)-lines):], "\n")
}

// said tells whether the log holds a text.
func (p *process) said(text string) bool { return strings.Contains(p.log(), text) }

// url is where it answers, known before it is ready.
func (p *process) url() string { return fmt.Sprintf("http://127.0.0.1:%d", p.port) }

// startTook is the time from the start to ready.
func (p *process) startTook() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.readyAt.Sub(p.started)
}

func (p *process) running() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// kill ends it as a power cut would, with whatever it has in its group.
func (p *process) kill() {
	if p.running() {
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // it may have ended just now
	}
	<-p.exited
}

// terminate asks it to stop and waits for its exit code.
func (p *process) terminate(t *testing.T) int {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatalf("SIGTERM: %v\n%s", err, p.tail(40))
	}
	return p.exitCode(t)
}

func (p *process) exitCode(t *testing.T) int {
	t.Helper()
	select {
	case <-p.exited:
	case <-time.After(2 * time.Minute):
		t.Fatalf("basalt does not end\n%s", p.tail(40))
	}
	return p.cmd.ProcessState.ExitCode()
}

// basalt runs one of the other commands to its end.
func basalt(t *testing.T, databaseURL string, args ...string) (out string, err error) {
	t.Helper()
	cmd := exec.Command(os.Getenv(binaryEnv), args...)
	cmd.Env = environment(t, databaseURL)
	cmd.Dir = t.TempDir()
	text, err := cmd.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		err = fmt.Errorf("%w: %s", err, failed.Stderr)
	}
	return string(text), err
}

// processesIn lists PostgreSQL's processes (and Basalt's helpers) that stand in a folder or below it.
func processesIn(t *testing.T, folder string) []int {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		at, err := os.Readlink(filepath.Join("/proc", entry.Name(), "cwd"))
		at = strings.TrimSuffix(at, " (deleted)")
		if err == nil && (at == folder || strings.HasPrefix(at, folder+"/")) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// killAll ends all of a folder's PostgreSQL as a power cut would.
func killAll(t *testing.T, folder string) {
	t.Helper()
	killed := within(patience, func() bool {
		pids := processesIn(t, folder)
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended just now
		}
		return len(pids) == 0
	})
	if !killed {
		t.Errorf("processes in %s do not end: %v", folder, processesIn(t, folder))
	}
}

// postmaster is the process id that a managed PostgreSQL notes in its folder.
func postmaster(data string) (int, error) {
	text, err := os.ReadFile(filepath.Join(data, "postgres", "postmaster.pid"))
	if err != nil {
		return 0, err
	}
	first, _, _ := strings.Cut(string(text), "\n")
	return strconv.Atoi(first)
}
