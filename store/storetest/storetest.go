// Package storetest gives a test its own PostgreSQL database with Basalt's system schema in it.
package storetest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"basalt/migrations"
)

// EnvURL names the environment variable with the URL of a server that tests may
// make databases on, as a superuser. Without it the test processes of
// this user share one, which is started for them and gone soon after the last of them.
const EnvURL = "BASALT_TEST_DATABASE_URL"

// templateLock orders test processes that want the same template.
const templateLock int64 = 0x626173616c7403

// Database is a database that lives as long as its test.
type Database struct {
	// URL connects as the superuser.
	URL string
	// Pool is connected as the superuser.
	Pool *pgxpool.Pool
}

// New makes a database with the system schema, and drops it when t ends.
func New(t testing.TB) *Database {
	t.Helper()
	return fresh(t, true)
}

// NewEmpty makes a database without anything of Basalt in it.
func NewEmpty(t testing.TB) *Database {
	t.Helper()
	return fresh(t, false)
}

// Exec runs statements and fails the test if one fails.
func (d *Database) Exec(t testing.TB, sql string) {
	t.Helper()
	conn, err := d.Pool.Acquire(t.Context())
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	defer conn.Release()
	if err := conn.Conn().PgConn().Exec(t.Context(), sql).Close(); err != nil {
		t.Fatalf("run %q: %v", sql, err)
	}
}

func fresh(t testing.TB, withSchema bool) *Database {
	t.Helper()
	server := useServer(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	admin, err := pgx.Connect(ctx, server.url.String())
	if err != nil {
		t.Fatalf("connect to the test server: %v", err)
	}
	defer admin.Close(ctx)

	template := "template0"
	if withSchema {
		if template, err = ensureTemplate(ctx, admin, server); err != nil {
			t.Fatalf("make the template database: %v", err)
		}
	}
	name := "basalt_test_" + randomHex()
	if _, err := admin.Exec(ctx, fmt.Sprintf(`create database %s template %s`, name, template)); err != nil {
		t.Fatalf("create database: %v", err)
	}
	t.Cleanup(func() { drop(t, server, name) })

	db := &Database{URL: server.database(name)}
	if db.Pool, err = pgxpool.New(ctx, db.URL); err != nil {
		t.Fatalf("connect to the test database: %v", err)
	}
	t.Cleanup(db.Pool.Close)
	return db
}

func drop(t testing.TB, server server, name string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	admin, err := pgx.Connect(ctx, server.url.String())
	if err != nil {
		t.Errorf("connect to drop %s: %v", name, err)
		return
	}
	defer admin.Close(ctx)
	if _, err := admin.Exec(ctx, fmt.Sprintf(`drop database if exists %s with (force)`, name)); err != nil {
		t.Errorf("drop %s: %v", name, err)
	}
}

// ensureTemplate returns the name of a database that holds the system schema of
// this source tree. It gets its final name last, so that a name that exists is a
// template that is complete, whenever its maker was killed.
func ensureTemplate(ctx context.Context, admin *pgx.Conn, server server) (string, error) {
	fingerprint, err := migrations.Fingerprint()
	if err != nil {
		return "", err
	}
	name := "basalt_template_" + fingerprint
	if _, err := admin.Exec(ctx, `select pg_advisory_lock($1)`, templateLock); err != nil {
		return "", err
	}
	defer func() { _, _ = admin.Exec(ctx, `select pg_advisory_unlock($1)`, templateLock) }()

	var exists bool
	err = admin.QueryRow(ctx, `select exists (select from pg_database where datname = $1)`, name).Scan(&exists)
	if err != nil || exists {
		return name, err
	}
	draft := name + "_draft"
	if _, err := admin.Exec(ctx, fmt.Sprintf(`drop database if exists %s with (force)`, draft)); err != nil {
		return "", err
	}
	if _, err := admin.Exec(ctx, fmt.Sprintf(`create database %s template template0`, draft)); err != nil {
		return "", err
	}
	if err := fill(ctx, server.database(draft)); err != nil {
		return "", err
	}
	// Nobody may connect: a session on a template makes "create database" fail.
	if _, err := admin.Exec(ctx, fmt.Sprintf(`alter database %s with allow_connections false`, draft)); err != nil {
		return "", err
	}
	_, err = admin.Exec(ctx, fmt.Sprintf(`alter database %s rename to %s`, draft, name))
	return name, err
}

func fill(ctx context.Context, url string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	report, err := migrations.Up(ctx, conn, migrations.Options{})
	if err != nil {
		return err
	}
	for _, missing := range report.Missing {
		if !missing.Optional {
			return fmt.Errorf("the test server's user must be a superuser: %s: %s", missing.What, missing.Why)
		}
	}
	return nil
}

func randomHex() string {
	raw := make([]byte, 6)
	_, _ = rand.Read(raw)
	return hex.EncodeToString(raw)
}
