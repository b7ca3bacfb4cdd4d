package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"basalt/migrations"
	"basalt/query/catalog"
	"basalt/store"
	"basalt/store/storetest"
)

func watcherConfig(t *testing.T, db *storetest.Database) *pgconn.Config {
	t.Helper()
	config, err := pgconn.ParseConfig(db.URL)
	if err != nil {
		t.Fatal(err)
	}
	config.RuntimeParams["application_name"] = "catalog watcher"
	return config
}

// watch runs a watcher until the test ends.
func watch(t *testing.T, o store.WatchOptions) *store.CatalogWatcher {
	t.Helper()
	if o.Catalog.Schemas == nil {
		o.Catalog = richOptions
	}
	w := store.NewCatalogWatcher(o)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the watcher ended: %v", err)
		}
	})
	return w
}

func has(w *store.CatalogWatcher, relation string) func() bool {
	return func() bool {
		c := w.Current()
		return c != nil && c.Relation(public(relation)) != nil
	}
}

func TestWatcherSeesChanges(t *testing.T) {
	t.Parallel()
	t.Run("of the schema, by the event triggers", func(t *testing.T) {
		t.Parallel()
		db := storetest.New(t)
		w := watch(t, store.WatchOptions{Connection: watcherConfig(t, db)})
		if w.Current() != nil && w.Current().Relation(public("fresh")) != nil {
			t.Fatal("the database is not fresh")
		}
		eventually(t, "the first catalog", func() bool { return w.Current() != nil })
		db.Exec(t, "create table fresh (id int)")
		start := time.Now()
		eventually(t, "the new table", has(w, "fresh"))
		t.Logf("seen after %v", time.Since(start))
		db.Exec(t, "drop table fresh")
		eventually(t, "the end of the table", func() bool { return !has(w, "fresh")() })
	})

	t.Run("of the schema, by its version where there are no event triggers", func(t *testing.T) {
		t.Parallel()
		db := storetest.NewEmpty(t)
		w := watch(t, store.WatchOptions{Connection: watcherConfig(t, db), VersionSQL: migrations.CatalogVersion})
		eventually(t, "the first catalog", func() bool { return w.Current() != nil })
		db.Exec(t, "create table fresh (id int)")
		start := time.Now()
		eventually(t, "the new table", has(w, "fresh"))
		t.Logf("seen after %v", time.Since(start))
	})

	t.Run("of the schema, told by hand", func(t *testing.T) {
		t.Parallel()
		db := storetest.NewEmpty(t)
		w := watch(t, store.WatchOptions{Connection: watcherConfig(t, db)})
		for i, payload := range []string{"reload schema", "reload config", ""} {
			eventually(t, "a catalog", func() bool { return w.Current() != nil })
			name := fmt.Sprintf("fresh_%d", i)
			db.Exec(t, "create table "+name+" (id int)")
			db.Exec(t, "select pg_notify('pgrst', '"+payload+"')")
			eventually(t, "the table told with "+payload, has(w, name))
		}
	})

	t.Run("of roles and their settings", func(t *testing.T) {
		t.Parallel()
		db := storetest.New(t)
		w := watch(t, store.WatchOptions{Connection: watcherConfig(t, db)})
		eventually(t, "the first catalog", func() bool { return w.Current() != nil })
		role := storetestRole(t, db)
		db.Exec(t, "grant "+role+" to authenticator")
		eventually(t, "the new role", func() bool { return w.Current().Role(role) != nil })
		db.Exec(t, "alter role "+role+" set statement_timeout = '1s'")
		eventually(t, "its setting", func() bool { return len(w.Current().Role(role).Settings) == 1 })
	})
}

func TestWatcherKeepsTheCatalogWhenNothingChanged(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	db.Exec(t, richSchema)
	w := watch(t, store.WatchOptions{Connection: watcherConfig(t, db)})
	if err := w.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	var before *catalog.Catalog
	// Other tests may make roles, which all databases share, just between.
	eventually(t, "a load that found the same keeps the catalog", func() bool {
		before = w.Current()
		db.Exec(t, "create or replace function add(a text, b text) returns text language sql stable as 'select b || a'")
		if err := w.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		return w.Current() == before
	})
	db.Exec(t, "alter table people add column extra int")
	if err := w.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if w.Current().Version <= before.Version || w.Current().Relation(public("people")).Column("extra") == nil {
		t.Error("a change was not seen")
	}
	if before.Relation(public("people")).Column("extra") != nil {
		t.Error("the old catalog changed")
	}
}

func TestWatcherCoalescesBursts(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	w := watch(t, store.WatchOptions{Connection: watcherConfig(t, db)})
	if err := w.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := w.Stats().Loads
	start := time.Now()
	const tables = 60
	for i := range tables {
		db.Exec(t, fmt.Sprintf("create table burst_%d (id int)", i))
	}
	eventually(t, "the last table of the burst", has(w, fmt.Sprintf("burst_%d", tables-1)))
	// One load at once, one in each tenth of a second, one for the last change.
	most := uint64(time.Since(start)/(100*time.Millisecond)) + 2
	if loads := w.Stats().Loads - before; loads > most {
		t.Errorf("%d loads for %d changes in %v", loads, tables, time.Since(start))
	}
}

func TestWatcherRecovers(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	w := watch(t, store.WatchOptions{Connection: watcherConfig(t, db)})
	eventually(t, "the first catalog", func() bool { return w.Current() != nil && w.Stats().Connected })
	for i := range 3 {
		before := w.Stats()
		name := fmt.Sprintf("after_loss_%d", i)
		// The change is committed in the moment of the loss: nobody is told of it.
		db.Exec(t, "create table "+name+" (id int); select pg_terminate_backend(pid) from pg_stat_activity "+
			"where application_name = 'catalog watcher' and datname = current_database()")
		eventually(t, "the table made while nobody listened", has(w, name))
		if after := w.Stats(); after.Failures == before.Failures {
			t.Error("the loss was not counted")
		}
		eventually(t, "the connection", func() bool { return w.Stats().Connected && w.Stats().Err == nil })
	}
}

func TestWatcherStartsBeforeTheDatabase(t *testing.T) {
	t.Parallel()
	db := storetest.NewEmpty(t)
	config := watcherConfig(t, db)
	name := config.Database
	config.Database += "_later"
	w := watch(t, store.WatchOptions{Connection: config})
	eventually(t, "the first failure", func() bool { return w.Stats().Failures > 0 })
	if w.Current() != nil || w.Stats().Err == nil || w.Stats().Connected {
		t.Error("there is a catalog of a database that does not exist")
	}
	var failure *pgconn.ConnectError
	if err := w.Reload(t.Context()); !errors.As(err, &failure) {
		t.Errorf("Reload gave %v", err)
	}
	admin := connect(t, db.URL)
	if _, err := admin.Exec(t.Context(), "create database "+name+"_later").ReadAll(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		conn, err := pgconn.Connect(context.Background(), db.URL)
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close(context.Background())
		if _, err := conn.Exec(context.Background(), "drop database "+name+"_later with (force)").ReadAll(); err != nil {
			t.Error(err)
		}
	})
	eventually(t, "the catalog of the database that came", func() bool { return w.Current() != nil })
}

func TestAFailedReloadKeepsTheOldCatalog(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	db.Exec(t, "create table kept (id int)")
	role := storetestRole(t, db)
	db.Exec(t, "alter role "+role+" login password 'secret'")
	config := watcherConfig(t, db)
	config.User, config.Password = role, "secret"
	w := watch(t, store.WatchOptions{Connection: config})
	if err := w.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := w.Current()
	db.Exec(t, "revoke select on pg_constraint from public")
	db.Exec(t, "create table later (id int)")
	if err := w.Reload(t.Context()); err == nil || !strings.Contains(err.Error(), "pg_constraint") {
		t.Errorf("Reload gave %v", err)
	}
	if w.Current() != before {
		t.Error("the old catalog is gone")
	}
	db.Exec(t, "grant select on pg_constraint to public")
	eventually(t, "the table, by another try", has(w, "later"))
}

func TestReloadSeesWhatWasCommittedBeforeIt(t *testing.T) {
	t.Parallel()
	db := storetest.NewEmpty(t)
	w := watch(t, store.WatchOptions{Connection: watcherConfig(t, db)})
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for j := range 5 {
				name := fmt.Sprintf("by_%d_%d", i, j)
				if _, err := db.Pool.Exec(t.Context(), "create table "+name+" (id int)"); err != nil {
					t.Error(err)
					return
				}
				if err := w.Reload(t.Context()); err != nil {
					t.Error(err)
				}
				if !has(w, name)() {
					t.Errorf("%s is missing after a reload", name)
				}
				_ = w.Stats()
			}
		})
	}
	group.Wait()
	if loads := w.Stats().Loads; loads > 30 {
		t.Errorf("%d loads for 40 calls", loads)
	}
}

func TestReloadEnds(t *testing.T) {
	t.Parallel()
	t.Run("with its context", func(t *testing.T) {
		w := store.NewCatalogWatcher(store.WatchOptions{})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := w.Reload(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("Reload gave %v", err)
		}
	})
	t.Run("with the watcher, which runs once", func(t *testing.T) {
		w := store.NewCatalogWatcher(store.WatchOptions{Connection: watcherConfig(t, storetest.NewEmpty(t))})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := w.Run(ctx); err != nil {
			t.Errorf("Run gave %v", err)
		}
		if err := w.Reload(t.Context()); !errors.Is(err, store.ErrWatcherStopped) {
			t.Errorf("Reload gave %v", err)
		}
		if err := w.Run(ctx); !errors.Is(err, store.ErrWatcherRunning) {
			t.Errorf("Run gave %v", err)
		}
	})
}
