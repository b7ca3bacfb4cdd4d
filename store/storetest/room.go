package storetest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	pollInterval = 10 * time.Millisecond
	// keeperName is what the keeper is called in a list of processes, and how it knows itself.
	keeperName = "basalt-storetest-keeper"
)

// room is a folder with a PostgreSQL in it that lives as long as a process uses it.
//
// Each user holds a shared lock on one of its files, so a user that is killed has left. A keeper, which is a process of
// its own because users come and go, starts the server, waits until it gets that lock alone, stops the server and
// removes all that it had. Locks are the kernel's: nothing that a killed run leaves can block the next one.
type room struct {
	dir    string
	shared bool // there will be users after the last one: the server lingers, and the folder stays for its locks
}

func (r room) users() string  { return filepath.Join(r.dir, "users.lock") }
func (r room) start() string  { return filepath.Join(r.dir, "start.lock") }
func (r room) keeper() string { return filepath.Join(r.dir, "keeper.lock") }
func (r room) url() string    { return filepath.Join(r.dir, "url") }
func (r room) data() string   { return filepath.Join(r.dir, "data") }

// stay is the use of a room's server by this process.
type stay struct {
	url    string
	user   *os.File
	keeper *exec.Cmd // nil when another process started it
}

// shared enters the room of all test processes of this user, once in a process and until the process ends. The testing
// package knows no state that spans the tests of a process, so this is the one variable of its kind; and since the
// keeper is this same program started again, its making is where a keeper turns off before any test begins.
var shared = newShared(os.Args)

func newShared(args []string) func() (string, error) {
	if len(args) > 0 && args[0] == keeperName {
		os.Exit(keeperMain(args[1:]))
	}
	enter := sync.OnceValues(func() (*stay, error) {
		ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
		defer cancel()
		r := room{dir: filepath.Join(scratch(), fmt.Sprintf("basalt-storetest-%d", os.Geteuid())), shared: true}
		return r.enter(ctx)
	})
	return func() (string, error) {
		s, err := enter()
		if err != nil {
			return "", err
		}
		return s.url, nil
	}
}

// scratch is a folder in memory where there is room for the databases of all tests, else the usual temporary folder: a
// new database is some 300 files, which disks make twenty times slower.
func scratch() string {
	const inMemory, room = "/dev/shm", 2 << 30
	var fs syscall.Statfs_t
	if err := syscall.Statfs(inMemory, &fs); err == nil && uint64(fs.Bavail)*uint64(fs.Bsize) > room {
		return inMemory
	}
	return os.TempDir()
}

// enter makes this process a user of the room, and starts the room's server unless it runs.
func (r room) enter(ctx context.Context) (*stay, error) {
	if err := r.make(); err != nil {
		return nil, err
	}
	user, err := waitLock(ctx, r.users(), syscall.LOCK_SH)
	if err != nil {
		return nil, err
	}
	s := &stay{user: user}
	if s.keeper, err = r.serve(ctx); err == nil {
		s.url, err = r.readURL()
	}
	if err != nil {
		return nil, errors.Join(err, user.Close())
	}
	if s.keeper != nil && r.shared {
		// It outlives this process, so nobody here waits for it.
		err, s.keeper = s.keeper.Process.Release(), nil
	}
	return s, err
}

// leave ends the use, and waits until the server is gone when nobody else can be using it.
func (s *stay) leave() error {
	err := s.user.Close()
	if s.keeper != nil {
		err = errors.Join(err, s.keeper.Wait())
	}
	return err
}

// make makes the folder. Others may write beside it, so one that is there must be this user's own.
func (r room) make() error {
	err := os.Mkdir(r.dir, 0o700)
	if !errors.Is(err, os.ErrExist) {
		return err
	}
	info, err := os.Lstat(r.dir)
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || !ok || int(stat.Uid) != os.Geteuid() {
		return fmt.Errorf("%s is not a folder of this user", r.dir)
	}
	return nil
}

// serve returns when a keeper has the server ready: one that is there, or a new one, which is returned.
func (r room) serve(ctx context.Context) (*exec.Cmd, error) {
	starter, err := waitLock(ctx, r.start(), syscall.LOCK_EX)
	if err != nil {
		return nil, err
	}
	defer starter.Close()
	for {
		free, err := tryLock(r.keeper(), syscall.LOCK_EX)
		if err != nil {
			return nil, err
		}
		if free != nil {
			err := errors.Join(free.Close(), os.RemoveAll(r.url()))
			if err != nil {
				return nil, err
			}
			return r.startKeeper(ctx)
		}
		// The one who started this keeper may have been killed before it was ready.
		if _, err := os.Stat(r.url()); err == nil {
			return nil, nil
		}
		if err := pause(ctx); err != nil {
			return nil, err
		}
	}
}

// startKeeper starts this program again as the keeper and returns when the server is ready.
func (r room) startKeeper(ctx context.Context) (*exec.Cmd, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	cmd := exec.Command(program)
	cmd.Args = []string{keeperName, r.dir}
	if r.shared {
		cmd.Args = append(cmd.Args, "shared")
	}
	cmd.Dir = "/"
	cmd.Stderr, cmd.ExtraFiles = writer, []*os.File{writer}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // Ctrl-C ends the tests; the keeper must tidy up after them
	err = cmd.Start()
	writer.Close()
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { cmd.Process.Signal(syscall.SIGTERM) })
	defer stop()
	report := bufio.NewReader(reader)
	line, _ := report.ReadString('\n')
	if line == readyLine {
		return cmd, nil
	}
	rest, _ := io.ReadAll(report)
	return nil, fmt.Errorf("%s (%w)", strings.TrimSpace(line+string(rest)), cmd.Wait())
}

func (r room) readURL() (string, error) {
	text, err := os.ReadFile(r.url())
	return string(text), err
}

// waitLock takes a lock as soon as it is to be had; closing the file gives it back.
func waitLock(ctx context.Context, path string, how int) (*os.File, error) {
	for {
		file, err := tryLock(path, how)
		if file != nil || err != nil {
			return file, err
		}
		if err := pause(ctx); err != nil {
			return nil, fmt.Errorf("wait for %s: %w", path, err)
		}
	}
}

// tryLock takes a lock, or gives nil when others hold it.
func tryLock(path string, how int) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(file.Fd()), how|syscall.LOCK_NB)
	if err == nil {
		return file, nil
	}
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		return nil, file.Close()
	}
	return nil, errors.Join(err, file.Close())
}

func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(pollInterval):
		return nil
	}
}
