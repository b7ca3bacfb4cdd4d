package storetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"basalt/store/managed"
)

const (
	readyLine = "ready\n"
	// reportFile is the pipe on which the keeper says that the server is ready, or why not.
	reportFile = 3
	// settings are for a server whose data nobody will miss, and that the tests of many packages share.
	settings = `# Of a server for tests: its data are gone with them.
fsync = off
full_page_writes = off
max_wal_size = 256MB
shared_buffers = 128MB
max_connections = 500
`
)

func keeperMain(args []string) int {
	report := os.NewFile(reportFile, "report")
	r := room{dir: args[0], shared: len(args) > 1}
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer cancel()
	if err := r.keep(ctx, report); err != nil {
		fmt.Fprintln(report, err)
		return 1
	}
	return 0
}

// keep runs the server until nobody uses it, the server fails or the context ends.
func (r room) keep(ctx context.Context, report *os.File) error {
	kept, err := waitLock(ctx, r.keeper(), syscall.LOCK_EX)
	if err != nil {
		return err
	}
	defer kept.Close()
	if err := r.inherit(); err != nil {
		return err
	}
	s, err := r.startServer(ctx)
	if err != nil {
		return errors.Join(err, r.remove())
	}
	var empty *os.File
	if err = r.announce(s.URL(), report); err == nil {
		empty, err = r.awaitEmpty(ctx, s)
	}
	// Those who come now wait for the users' lock, and then start a new server.
	err = errors.Join(err, stop(s), r.remove())
	if empty != nil {
		err = errors.Join(err, empty.Close())
	}
	return err
}

// announce tells that the server is ready: those who come later by the file, the one who started this keeper by the
// pipe. That one may be gone already; the server is there for the next.
func (r room) announce(url string, report *os.File) error {
	draft := r.url() + ".new"
	if err := os.WriteFile(draft, []byte(url), 0o600); err != nil {
		return err
	}
	if err := os.Rename(draft, r.url()); err != nil {
		return err
	}
	_, _ = report.WriteString(readyLine)
	return nil
}

// awaitEmpty returns the users' lock when nobody has held it for a while.
func (r room) awaitEmpty(ctx context.Context, s *managed.Server) (*os.File, error) {
	var since time.Time
	for {
		empty, err := tryLock(r.users(), syscall.LOCK_EX)
		if err != nil {
			return nil, err
		}
		switch {
		case empty == nil:
			since = time.Time{}
		case !r.shared:
			return empty, nil
		case since.IsZero():
			since = time.Now()
		case time.Since(since) > linger:
			return empty, nil
		}
		if empty != nil {
			empty.Close()
		}
		select {
		case <-s.Done():
			return nil, s.Err()
		case <-ctx.Done():
			return nil, nil
		case <-time.After(10 * pollInterval):
		}
	}
}

// startServer makes the cluster and starts it with the settings for tests, some of which need a second start.
func (r room) startServer(ctx context.Context) (*managed.Server, error) {
	o := managed.Options{DataDir: r.data(), Log: zerolog.Nop()}
	s, err := managed.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	err = os.WriteFile(filepath.Join(r.data(), "postgres", "custom.conf"), []byte(settings), 0o600)
	if err := errors.Join(err, stop(s)); err != nil {
		return nil, err
	}
	return managed.Start(ctx, o)
}

// inherit removes what an earlier keeper that was killed has left, its server included.
func (r room) inherit() error {
	if _, err := os.Stat(r.data()); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	// The start ends a server that still runs there. Where the folder is too broken for that, the server notices within
	// a minute that its folder is gone.
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	if s, err := managed.Start(ctx, managed.Options{DataDir: r.data(), NoFetch: true, Log: zerolog.Nop()}); err == nil {
		_ = stop(s)
	}
	return os.RemoveAll(r.data())
}

// remove removes all that a server has had. The folder of a shared one stays: a lock file must not be removed while
// others may be waiting for it.
func (r room) remove() error {
	if r.shared {
		return errors.Join(os.RemoveAll(r.url()), os.RemoveAll(r.data()))
	}
	return os.RemoveAll(r.dir)
}

func stop(s *managed.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	return s.Stop(ctx)
}
