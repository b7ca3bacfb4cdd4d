package store

import (
	"context"
	"errors"
	"hash/maphash"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/rs/zerolog"

	"basalt/query/catalog"
)

const (
	// reloadSpacing is the least time between the end of a load and the next, so that a burst of changes costs few
	// loads. Slow loads are spaced by their own duration: they take at most half of a backend's time.
	reloadSpacing = 100 * time.Millisecond
	// pollSpacing is the time between looks at what nobody notifies of. A look that takes long is repeated less often.
	pollSpacing = time.Second
	pollShare   = 20
	// retrySpacing is the time after which a load that failed is tried again.
	retrySpacing = time.Second
	// loadTimeout and pollTimeout bound the wait for a server that does not answer.
	loadTimeout    = time.Minute
	pollTimeout    = 10 * time.Second
	connectTimeout = 10 * time.Second
	// The first attempt to connect again comes after firstBackoff, later ones after twice the time before.
	firstBackoff = 50 * time.Millisecond
	lastBackoff  = 2 * time.Second
)

// Errors of CatalogWatcher.
var (
	ErrWatcherStopped = errors.New("the catalog is no longer watched")
	ErrWatcherRunning = errors.New("the catalog is already watched")
)

// WatchOptions says what a CatalogWatcher watches.
type WatchOptions struct {
	// Connection is opened once more for the watcher alone. It must lead to PostgreSQL itself or to a pooler in
	// session mode: notifications do not pass through the others.
	Connection *pgconn.Config
	Catalog    CatalogOptions
	// VersionSQL gives one value that differs after each change of the schema. It is asked each second while the
	// database has no event triggers that notify; "" leaves that out.
	VersionSQL string
	// Changed, unless nil, is called with the watcher's connection when a catalog has come into its place, one call after
	// the other. Meanwhile nothing is noticed.
	Changed func(ctx context.Context, conn *pgconn.PgConn)
	Logger  zerolog.Logger
}

// CatalogWatcher keeps the catalog of one database up to date.
//
// It owns one connection, which listens for notices of changes and loads the catalog aside; readers take the
// newest complete one from an atomic pointer and never wait. A load that finds nothing changed leaves the catalog
// in place, and with it what was compiled for it. While the connection is down the last catalog serves on; since
// notices may be missed then, each new connection begins with a load.
type CatalogWatcher struct {
	options WatchOptions
	seed    maphash.Seed
	current atomic.Pointer[catalog.Catalog]
	digest  uint64 // of the current catalog's rows; of Run alone

	mu        sync.Mutex
	running   bool
	stopped   bool
	waiters   []chan error
	interrupt context.CancelFunc // ends the wait for notifications in progress
	stats     CatalogStats
}

// CatalogStats tells how the catalog is kept.
type CatalogStats struct {
	Version   uint64        // of the current catalog, 0 while there is none
	Connected bool          // whether notices arrive
	Loads     uint64        // that succeeded
	Failures  uint64        // of loads and connections
	Loaded    time.Time     // when the last load ended that succeeded
	Duration  time.Duration // of that load
	Err       error         // of the last load or connection, nil when it succeeded
}

// NewCatalogWatcher makes a watcher. It does nothing until Run.
func NewCatalogWatcher(o WatchOptions) *CatalogWatcher {
	return &CatalogWatcher{options: o, seed: maphash.MakeSeed()}
}

// Current gives the newest catalog, nil while none was loaded yet.
func (w *CatalogWatcher) Current() *catalog.Catalog { return w.current.Load() }

// Stats tells how the catalog is kept.
func (w *CatalogWatcher) Stats() CatalogStats {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stats
}

// Reload waits for a load that begins after the call, and gives its error. Calls at the same time share one.
func (w *CatalogWatcher) Reload(ctx context.Context) error {
	done := make(chan error, 1)
	w.mu.Lock()
	if w.stopped {
		w.mu.Unlock()
		return ErrWatcherStopped
	}
	w.waiters = append(w.waiters, done)
	if w.interrupt != nil {
		w.interrupt()
	}
	w.mu.Unlock()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Run watches until the context ends, and then gives nil. It can run once.
func (w *CatalogWatcher) Run(ctx context.Context) error {
	w.mu.Lock()
	if w.running {
		w.mu.Unlock()
		return ErrWatcherRunning
	}
	w.running = true
	w.mu.Unlock()
	defer w.stop()

	backoff := firstBackoff
	for {
		loads := w.Stats().Loads
		err := w.serve(ctx)
		if ctx.Err() != nil {
			return nil
		}
		w.failed(err)
		answer(w.takeWaiters(), err)
		w.options.Logger.Warn().Err(err).Msg("lost the connection that watches the catalog")
		if w.Stats().Loads > loads {
			backoff = firstBackoff
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(backoff/2 + rand.N(backoff/2)):
		}
		backoff = min(2*backoff, lastBackoff)
	}
}

func (w *CatalogWatcher) stop() {
	w.mu.Lock()
	w.stopped = true
	w.mu.Unlock()
	answer(w.takeWaiters(), ErrWatcherStopped)
}

// serve watches over one connection until it is lost.
func (w *CatalogWatcher) serve(ctx context.Context) error {
	watch := catalogWatch{watcher: w, noticed: true}
	if err := watch.connect(ctx); err != nil {
		return err
	}
	w.setConnected(true)
	defer func() {
		w.setConnected(false)
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = watch.conn.Close(closing) // It is given up, whatever it says.
	}()
	return watch.run(ctx)
}

func (w *CatalogWatcher) setConnected(connected bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stats.Connected = connected
}

func (w *CatalogWatcher) hasWaiters() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.waiters) > 0
}

func (w *CatalogWatcher) takeWaiters() []chan error {
	w.mu.Lock()
	defer w.mu.Unlock()
	waiters := w.waiters
	w.waiters = nil
	return waiters
}

// waiting arms Reload to end a wait for notifications, and says whether somebody already asked for a load.
func (w *CatalogWatcher) waiting(interrupt context.CancelFunc) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.interrupt = interrupt
	return len(w.waiters) > 0
}

// answer tells those who wait in Reload how it went. Each channel has room for its one answer.
func answer(waiters []chan error, err error) {
	for _, done := range waiters {
		done <- err
	}
}

func (w *CatalogWatcher) failed(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stats.Failures++
	w.stats.Err = err
}

// loaded records a load and puts its catalog in place of the old one, unless it is nil: then nothing had changed.
func (w *CatalogWatcher) loaded(next *catalog.Catalog, took time.Duration) {
	if next != nil {
		w.current.Store(next)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stats.Loads++
	w.stats.Err = nil
	w.stats.Loaded = time.Now()
	w.stats.Duration = took
	if next != nil {
		w.stats.Version = next.Version
	}
}
