package managed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

const (
	firstDelay = 100 * time.Millisecond
	maxDelay   = 5 * time.Second
	// startsAllowed is how many starts in a row may fail after a crash: about a minute and a half.
	startsAllowed = 20
	// steady is how long a server must live for its next crash to count as the first again.
	steady       = 30 * time.Second
	trimInterval = 30 * time.Second
)

// Server is a PostgreSQL that Basalt has started and keeps running.
//
// Its process does not end when Basalt is killed; the next Start on the same data folder stops it cleanly and takes its
// place. When the postmaster itself dies, it is started again, after its orphans are gone.
type Server struct {
	launcher launcher
	starts   int   // allowed to fail in a row after a crash
	lock     *Lock // nil when the caller holds it

	stopping context.Context // ended by Stop
	stop     context.CancelFunc
	stopOnce sync.Once
	stopCtx  context.Context // set before stop is called

	failed  chan struct{}
	err     error // why failed is closed
	stopped chan struct{}
	leftErr error // what could not be put in order before stopped was closed
}

// Start brings up the PostgreSQL of a data folder: finds or fetches the binaries, makes the cluster at the first time,
// and returns when the server answers. The context bounds the start, not the life of the server.
func Start(ctx context.Context, o Options) (*Server, error) {
	lock := o.Lock
	if lock == nil {
		var err error
		if lock, err = LockDataDir(o.DataDir); err != nil {
			return nil, err
		}
	}
	s, err := start(ctx, o)
	if err != nil {
		if o.Lock == nil {
			err = errors.Join(err, lock.Release())
		}
		return nil, err
	}
	if o.Lock == nil {
		s.lock = lock
	}
	return s, nil
}

func start(ctx context.Context, o Options) (*Server, error) {
	f, err := newFolder(o.DataDir)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	l, first, err := prepare(ctx, f, o)
	if err != nil {
		return nil, err
	}
	p, err := l.launch(ctx)
	if err != nil {
		return nil, err
	}
	if known := knownMinor(l.binaries.Major); l.binaries.Minor < known {
		l.log.Warn().Str("version", l.binaries.Version).Str("known", fmt.Sprintf("%d.%d", l.binaries.Major, known)).
			Msg("this PostgreSQL lacks the fixes of a later minor release: update it")
	}
	l.log.Info().Str("version", l.binaries.Version).Bool("first", first).Str("user", l.runAs.name).
		Int64("duration_ms", time.Since(began).Milliseconds()).Msg("PostgreSQL is ready")

	s := newServer(l, startsAllowed)
	go s.supervise(p)
	return s, nil
}

func newServer(l launcher, starts int) *Server {
	s := &Server{launcher: l, starts: starts, failed: make(chan struct{}), stopped: make(chan struct{})}
	s.stopping, s.stop = context.WithCancel(context.Background())
	return s
}

// prepare does all that comes before the server is started; first says that the cluster was made just now.
func prepare(ctx context.Context, f folder, o Options) (l launcher, first bool, err error) {
	exists, err := clusterExists(f)
	if err != nil {
		return launcher{}, false, err
	}
	runAs, err := chooseAccount(f.cluster())
	if err != nil {
		return launcher{}, false, err
	}
	major, err := clusterMajor(f.cluster())
	if err != nil {
		return launcher{}, false, err
	}
	binaries, err := findBinaries(ctx, o, runAs, f.cluster(), major)
	if err != nil {
		return launcher{}, false, err
	}
	if exists {
		if err := runAs.checkCluster(f.cluster()); err != nil {
			return launcher{}, false, err
		}
	}
	if err := clearStaging(ctx, f); err != nil {
		return launcher{}, false, err
	}
	if !exists {
		if err := initCluster(ctx, f, binaries, runAs); err != nil {
			return launcher{}, false, err
		}
	}
	password, err := ensurePassword(ctx, f, binaries, runAs)
	if err != nil {
		return launcher{}, false, err
	}
	at, err := chooseEndpoint(f, runAs, o.TCPPort)
	if err != nil {
		return launcher{}, false, err
	}
	return launcher{
		folder:   f,
		binaries: binaries,
		runAs:    runAs,
		endpoint: at,
		password: password,
		log:      o.Log,
	}, !exists, nil
}

// URL is where the server is reached, with the superuser's password: not for logs.
func (s *Server) URL() string { return s.launcher.url() }

// Version is the release that runs, as 15.14.
func (s *Server) Version() string { return s.launcher.binaries.Version }

// Done is closed when the server has died and could not be brought back. Stop does not close it.
func (s *Server) Done() <-chan struct{} { return s.failed }

// Err says why the server could not be brought back; nil before Done is closed.
func (s *Server) Err() error {
	select {
	case <-s.failed:
		return s.err
	default:
		return nil
	}
}

// Stop ends the server and returns when it is gone: a fast shutdown with a checkpoint, or an immediate one when the
// context ends before. Further calls wait for the first.
func (s *Server) Stop(ctx context.Context) error {
	s.stopOnce.Do(func() {
		s.stopCtx = ctx
		s.stop()
	})
	<-s.stopped
	return s.leftErr
}

// supervise owns the postmaster until Stop or until it cannot be brought back.
func (s *Server) supervise(p *postmaster) {
	defer close(s.stopped)
	defer s.release()
	trim := time.NewTicker(trimInterval)
	defer trim.Stop()
	var delay time.Duration
	for {
		select {
		case <-s.stopping.Done():
			p.shutdown(s.stopCtx)
			s.launcher.log.Info().Msg("PostgreSQL is stopped")
			return
		case <-trim.C:
			if err := trimLog(s.launcher.folder); err != nil {
				s.launcher.log.Warn().Err(err).Msg("the log of PostgreSQL could not be trimmed")
			}
			continue
		case <-p.exited:
		}
		s.launcher.log.Error().AnErr("error", p.err).Msg("PostgreSQL ended by itself and is started again")
		if time.Since(p.started) > steady {
			delay = 0
		}
		var err error
		if p, delay, err = s.relaunch(delay); err != nil {
			if s.stopping.Err() == nil {
				s.launcher.log.Error().Err(err).Msg("PostgreSQL could not be started again")
				s.err = err
				close(s.failed)
			}
			return
		}
		s.launcher.log.Info().Msg("PostgreSQL is ready again")
	}
}

// relaunch starts the server again, waiting longer after each failure. It gives the delay that a next crash begins with,
// so that a server which dies as soon as it is up is not started in a tight loop.
func (s *Server) relaunch(delay time.Duration) (*postmaster, time.Duration, error) {
	var last error
	for range s.starts {
		select {
		case <-s.stopping.Done():
			return nil, 0, s.stopping.Err()
		case <-time.After(delay):
		}
		delay = min(max(2*delay, firstDelay), maxDelay)
		p, err := s.launcher.launch(s.stopping)
		if err == nil {
			return p, delay, nil
		}
		if s.stopping.Err() != nil {
			return nil, 0, err
		}
		s.launcher.log.Warn().Err(err).Int64("again_in_ms", delay.Milliseconds()).Msg("PostgreSQL could not be started again yet")
		last = err
	}
	return nil, 0, last
}

// release leaves the folder as the next owner wants it: no process, no folder of the socket, no lock.
func (s *Server) release() {
	l := s.launcher
	err := evict(context.Background(), l.folder.cluster())
	if l.endpoint.dir != l.folder.cluster() {
		err = errors.Join(err, os.Remove(l.endpoint.dir))
	}
	if s.lock != nil {
		err = errors.Join(err, s.lock.Release())
	}
	if err != nil {
		s.leftErr = fmt.Errorf("after the stop of PostgreSQL: %w", err)
	}
}
