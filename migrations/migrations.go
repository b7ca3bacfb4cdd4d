// Package migrations brings a database to the schema that Basalt and its users' own migration folder ask for.
package migrations

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"time"

	"github.com/jackc/pgx/v5"
)

//go:embed system/*.sql
var systemFiles embed.FS

// systemLock is the advisory lock that orders processes which start at once. It
// is held by the session, so that PostgreSQL lets go of it when a process dies.
const systemLock int64 = 0x626173616c7401 // "basalt" and a 1

const bootstrap = `
create schema if not exists basalt;

create table if not exists basalt.migrations (
  name text primary key,
  checksum text not null,
  applied_at timestamptz not null default now()
);
`

// Options tune Up. The zero value is what a server wants.
type Options struct {
	// Progress, when set, hears the name of each file just before it is applied.
	Progress func(name string)
}

// Report says what Up did and what it could not do.
type Report struct {
	// Applied names the system files that this run applied, in order.
	Applied []string
	// Missing lists what the connecting user has no right to do.
	Missing []Missing
}

// Missing is one thing that only a more powerful user can do for Basalt.
type Missing struct {
	// What names the thing, in the words of an administrator.
	What string
	// Why holds PostgreSQL's own reason.
	Why string
	// SQL is what that user has to run in this database.
	SQL string
	// Optional means that the API works without it: only the service key's view, the
	// restoring of dumps, or the speed of noticing DDL suffers.
	Optional bool
}

// ChangedError means that a file was applied with another content than it has now.
type ChangedError struct {
	File string
}

func (e *ChangedError) Error() string {
	return fmt.Sprintf("migration %s has changed since it was applied: put the applied content back and write the change as a new file", e.File)
}

// Up applies the system migrations that the database lacks and whatever standing
// step (roles, grants, event triggers) the connecting user has the right to do.
// It is safe to run from many processes at once.
func Up(ctx context.Context, conn *pgx.Conn, o Options) (Report, error) {
	var report Report
	unlock, err := lock(ctx, conn, systemLock, nil)
	if err != nil {
		return report, err
	}
	defer unlock()

	files, err := readSystem()
	if err != nil {
		return report, err
	}
	if missing, err := mayCreateSchemas(ctx, conn); err != nil || missing != nil {
		report.Missing = missing
		return report, err
	}
	if err := exec(ctx, conn, bootstrap); err != nil {
		return report, fmt.Errorf("create schema basalt: %w", err)
	}
	applied, err := appliedSystem(ctx, conn)
	if err != nil {
		return report, err
	}
	for _, file := range files {
		switch sum, ok := applied[file.name]; {
		case ok && sum != file.sum:
			return report, &ChangedError{File: file.name}
		case ok:
			continue
		}
		if o.Progress != nil {
			o.Progress(file.name)
		}
		if err := applySystem(ctx, conn, file); err != nil {
			return report, fmt.Errorf("apply system migration %s: %w", file.name, err)
		}
		report.Applied = append(report.Applied, file.name)
	}
	report.Missing, err = stand(ctx, conn)
	return report, err
}

// Fingerprint names the system schema that this binary carries: it differs when
// any system file or standing step differs.
func Fingerprint() (string, error) {
	files, err := readSystem()
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, file := range files {
		fmt.Fprintln(h, file.name, file.sum)
	}
	for _, s := range steps("") {
		fmt.Fprintln(h, s.apply)
	}
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}

type systemFile struct {
	name, sum, sql string
}

// readSystem returns the embedded files by name, which is by number.
func readSystem() ([]systemFile, error) {
	entries, err := fs.ReadDir(systemFiles, "system")
	if err != nil {
		return nil, fmt.Errorf("read embedded migrations: %w", err)
	}
	files := make([]systemFile, 0, len(entries))
	for _, entry := range entries {
		text, err := systemFiles.ReadFile("system/" + entry.Name())
		if err != nil {
			return nil, fmt.Errorf("read embedded migrations: %w", err)
		}
		files = append(files, systemFile{name: entry.Name(), sum: checksum(text), sql: string(text)})
	}
	return files, nil
}

func checksum(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func appliedSystem(ctx context.Context, conn *pgx.Conn) (map[string]string, error) {
	rows, err := conn.Query(ctx, `select name, checksum from basalt.migrations`)
	if err != nil {
		return nil, fmt.Errorf("read applied migrations: %w", err)
	}
	applied := map[string]string{}
	var name, sum string
	_, err = pgx.ForEachRow(rows, []any{&name, &sum}, func() error {
		applied[name] = sum
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read applied migrations: %w", err)
	}
	return applied, nil
}

func applySystem(ctx context.Context, conn *pgx.Conn, file systemFile) error {
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if err := exec(ctx, conn, file.sql); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `insert into basalt.migrations (name, checksum) values ($1, $2)`, file.name, file.sum)
		return err
	})
}

// exec sends text as one simple query: several statements, no parameters.
func exec(ctx context.Context, conn *pgx.Conn, text string) error {
	return conn.PgConn().Exec(ctx, text).Close()
}

// lock takes a session-level advisory lock. It asks again and again instead of
// waiting inside PostgreSQL: a waiting statement holds a snapshot, for which a
// "create index concurrently" of the lock's owner would wait in turn. waiting, when
// set, is told once. The returned function lets go even when ctx has ended.
func lock(ctx context.Context, conn *pgx.Conn, key int64, waiting func()) (func(), error) {
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for got := false; ; {
		if err := conn.QueryRow(ctx, `select pg_catalog.pg_try_advisory_lock($1)`, key).Scan(&got); err != nil {
			return nil, fmt.Errorf("take the migration lock: %w", err)
		}
		if got {
			break
		}
		if waiting != nil {
			waiting()
			waiting = nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("another process is migrating this database: %w", ctx.Err())
		case <-ticker.C:
		}
	}
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		if _, err := conn.Exec(ctx, `select pg_catalog.pg_advisory_unlock($1)`, key); err != nil {
			// Closing the session is the other way to give the lock back.
			_ = conn.Close(ctx)
		}
	}, nil
}
