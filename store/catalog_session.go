package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"

	"basalt/query/catalog"
)

// listenStatement names the channels: PostgREST's own, by which clients ask for a reload, and the one on which the
// database's event triggers tell of changes.
const listenStatement = `listen pgrst; listen basalt_ddl`

// catalogWatch is a CatalogWatcher's work over one connection. One goroutine does all of it; notifications arrive
// while it waits for them or for anything else from the server.
type catalogWatch struct {
	watcher *CatalogWatcher
	conn    *pgconn.PgConn
	noticed bool      // a change was told or found that no load has seen
	state   string    // what the last look gave
	loadAt  time.Time // no load before
	pollAt  time.Time
}

func (c *catalogWatch) connect(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	config := c.watcher.options.Connection.Copy()
	// Waiting ends by contexts many times: that must not send cancel requests, which may hit what is run next.
	config.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.DeadlineContextWatcherHandler{Conn: conn.Conn()}
	}
	config.OnNotification = func(_ *pgconn.PgConn, n *pgconn.Notification) { c.notice(n) }
	conn, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("connect to watch the catalog: %w", err)
	}
	c.conn = conn
	if _, err := conn.Exec(ctx, listenStatement).ReadAll(); err != nil {
		_ = conn.Close(ctx) // The first error is the one that counts.
		return fmt.Errorf("listen for changes of the catalog: %w", err)
	}
	return nil
}

// notice takes a notification. The settings of roles belong to the catalog: reload config reloads it too.
func (c *catalogWatch) notice(n *pgconn.Notification) {
	if n.Channel == "pgrst" && n.Payload != "" && n.Payload != "reload schema" && n.Payload != "reload config" {
		return
	}
	c.noticed = true
}

// run loads, looks and waits in turn until the connection is lost or the context ends.
func (c *catalogWatch) run(ctx context.Context) error {
	for {
		now := time.Now()
		stale := c.noticed || c.watcher.hasWaiters()
		var err error
		switch {
		case stale && !now.Before(c.loadAt):
			err = c.load(ctx)
		case !now.Before(c.pollAt):
			err = c.poll(ctx)
		case stale && c.loadAt.Before(c.pollAt):
			err = c.wait(ctx, c.loadAt, stale)
		default:
			err = c.wait(ctx, c.pollAt, stale)
		}
		if err != nil {
			return err
		}
	}
}

// wait takes notifications until a time, or until Reload asks for the first time for a load.
func (c *catalogWatch) wait(ctx context.Context, until time.Time, stale bool) error {
	waitCtx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	asked := c.watcher.waiting(cancel)
	defer c.watcher.waiting(nil)
	if asked && !stale {
		return nil
	}
	err := c.conn.WaitForNotification(waitCtx)
	if err == nil || waitCtx.Err() != nil && ctx.Err() == nil && !c.conn.IsClosed() {
		return nil
	}
	return err
}

// poll looks whether something changed that nobody notifies of.
func (c *catalogWatch) poll(ctx context.Context) error {
	start := time.Now()
	state, err := c.look(ctx)
	switch {
	case err != nil && c.conn.IsClosed():
		return err
	case err != nil:
		c.watcher.options.Logger.Warn().Err(err).Msg("cannot see whether the catalog changed")
	case state != c.state:
		c.noticed = true
	}
	c.pollAt = time.Now().Add(max(pollSpacing, pollShare*time.Since(start)))
	return nil
}

// look gives a text that differs when the roles, their settings or, where no event triggers tell of it, the schema
// changed.
func (c *catalogWatch) look(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	query, err := catalogSQL.ReadFile("catalog_sql/watch.sql")
	if err != nil {
		return "", err
	}
	row, err := c.row(ctx, string(query))
	if err != nil {
		return "", fmt.Errorf("look for changes of the catalog: %w", err)
	}
	state := strings.Join(row, " ")
	if row[0] == "t" || c.watcher.options.VersionSQL == "" {
		return state, nil
	}
	version, err := c.row(ctx, c.watcher.options.VersionSQL)
	if err != nil {
		return "", fmt.Errorf("ask for the version of the schema: %w", err)
	}
	return state + " " + strings.Join(version, " "), nil
}

// row gives the one row of a query as text.
func (c *catalogWatch) row(ctx context.Context, query string) ([]string, error) {
	result := c.conn.ExecParams(ctx, query, nil, nil, nil, nil).Read()
	if result.Err != nil {
		return nil, result.Err
	}
	if len(result.Rows) != 1 || len(result.Rows[0]) == 0 {
		return nil, fmt.Errorf("%d rows in place of one", len(result.Rows))
	}
	values := make([]string, len(result.Rows[0]))
	for i, value := range result.Rows[0] {
		values[i] = string(value)
	}
	return values, nil
}

// load loads the catalog for what was noticed and for all who asked for it before. It gives an error only when the
// connection is lost: any other leaves the old catalog in place, and the load is tried again.
func (c *catalogWatch) load(ctx context.Context) error {
	w := c.watcher
	c.noticed = false
	waiters := w.takeWaiters()
	start := time.Now()
	next, err := c.read(ctx)
	took := time.Since(start)
	c.pollAt = time.Now().Add(pollSpacing)
	if err != nil {
		defer answer(waiters, err)
		if c.conn.IsClosed() {
			return err
		}
		c.noticed = true
		c.loadAt = time.Now().Add(retrySpacing)
		w.failed(err)
		w.options.Logger.Warn().Err(err).Msg("cannot load the catalog; the last one serves on")
		return nil
	}
	c.loadAt = time.Now().Add(max(reloadSpacing, took))
	w.loaded(next, took)
	answer(waiters, nil)
	if next != nil {
		w.options.Logger.Info().
			Uint64("catalog_version", next.Version).
			Int64("duration_ms", took.Milliseconds()).
			Msg("loaded the catalog")
		if w.options.Changed != nil {
			ctx, cancel := context.WithTimeout(ctx, pollTimeout)
			defer cancel()
			w.options.Changed(ctx, c.conn)
		}
	}
	return nil
}

// read gives the catalog as it is now, nil when it is the current one. The look comes first: what changes between
// it and the snapshot costs one load too many, never one too few. A look that fails makes the next one differ.
func (c *catalogWatch) read(ctx context.Context) (*catalog.Catalog, error) {
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	state, err := c.look(ctx)
	if err != nil && c.conn.IsClosed() {
		return nil, err
	}
	c.state = state
	w := c.watcher
	raw, digest, err := readCatalog(ctx, c.conn, w.options.Catalog, w.seed)
	if err != nil {
		return nil, err
	}
	current := w.current.Load()
	if current != nil && digest == w.digest {
		return nil, nil
	}
	version := uint64(1)
	if current != nil {
		version = current.Version + 1
	}
	next, err := catalog.Build(raw, version)
	if err != nil {
		return nil, fmt.Errorf("build catalog: %w", err)
	}
	w.digest = digest
	return next, nil
}
