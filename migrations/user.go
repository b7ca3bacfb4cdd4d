package migrations

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

const userLock int64 = 0x626173616c7402 // "basalt" and a 2

// Stage is what an Event tells of.
type Stage string

// The stages of a run.
const (
	Waiting Stage = "waiting" // for another run on the same database
	Ignored Stage = "ignored" // a .sql file whose name is none of a migration
	Started Stage = "started"
	Skipped Stage = "skipped" // a statement that means nothing on this server
	Done    Stage = "done"
)

// Event is a moment of a run that a person may want to see.
type Event struct {
	Stage Stage
	// File is empty while waiting.
	File string
	// Note says what was skipped and why.
	Note string
	// Took is set when a file is done.
	Took time.Duration
}

// UserOptions tune UserUp. The zero value works.
type UserOptions struct {
	// Progress, when set, hears each event as it happens.
	Progress func(Event)
}

// State is how a migration stands in a database.
type State string

// The states of a migration.
const (
	Applied State = "applied"
	Pending State = "pending"
	Changed State = "changed" // applied with another content than the file has now
	Partial State = "partial" // runs statement by statement and did not reach its end
	Absent  State = "absent"  // applied, but no longer in the folder
)

// UserFile is a migration as UserStatus sees it.
type UserFile struct {
	Version string
	Name    string
	// File is empty when it is absent.
	File  string
	State State
	// AppliedAt is zero when the migration was not applied by Basalt.
	AppliedAt time.Time
	// Statements that are done, of a partial migration.
	Statements int
}

// progress is a row of basalt.user_migrations.
type progress struct {
	sum        string
	done       int
	doneSum    string
	begun      *int
	finishedAt *time.Time
}

// history is what the database remembers.
type history struct {
	// applied maps versions to names.
	applied map[string]string
	// progress has no entry for what Supabase's command line applied.
	progress map[string]progress
}

// UserUp applies the migrations of dir that the database lacks, in the order of
// their file names, each in one transaction. It returns the files it applied. The
// database needs the system schema (Up) first, and conn must be free of settings
// that have to outlive the run.
//
// A *ChangedError, *ScriptError or *StatementError says which file is in the way;
// what came before it stays applied.
func UserUp(ctx context.Context, conn *pgx.Conn, dir string, o UserOptions) ([]string, error) {
	if o.Progress == nil {
		o.Progress = func(Event) {}
	}
	files, others, err := readFolder(dir)
	if err != nil {
		return nil, err
	}
	for _, other := range others {
		o.Progress(Event{Stage: Ignored, File: other, Note: "a migration is named <version>_<name>.sql, with a version of digits"})
	}
	unlock, err := lock(ctx, conn, userLock, func() { o.Progress(Event{Stage: Waiting}) })
	if err != nil {
		return nil, err
	}
	defer unlock()

	past, err := readHistory(ctx, conn)
	if err != nil {
		return nil, err
	}
	// Nothing runs while anything is wrong with any file.
	scripts := make(map[string]*script)
	for _, file := range files {
		switch state := past.state(file); state {
		case Applied:
			continue
		case Changed:
			return nil, &ChangedError{File: file.file}
		}
		if scripts[file.version], err = parseScript(file); err != nil {
			return nil, err
		}
	}
	server, err := readServer(ctx, conn)
	if err != nil {
		return nil, err
	}
	var done []string
	for _, file := range files {
		s, ok := scripts[file.version]
		if !ok {
			continue
		}
		o.Progress(Event{Stage: Started, File: file.file})
		started := time.Now()
		r := &run{conn: conn, file: file, script: s, server: server, progress: o.Progress}
		if err := r.do(ctx, past.progress[file.version]); err != nil {
			return done, err
		}
		done = append(done, file.file)
		o.Progress(Event{Stage: Done, File: file.file, Took: time.Since(started)})
	}
	return done, nil
}

// UserStatus tells how every migration of dir, and every one that the database
// knows of, stands.
func UserStatus(ctx context.Context, conn *pgx.Conn, dir string) ([]UserFile, error) {
	files, _, err := readFolder(dir)
	if err != nil {
		return nil, err
	}
	past, err := readHistory(ctx, conn)
	if err != nil {
		return nil, err
	}
	var all []UserFile
	for _, file := range files {
		row := past.progress[file.version]
		entry := UserFile{Version: file.version, Name: file.name, File: file.file, State: past.state(file)}
		if row.finishedAt != nil {
			entry.AppliedAt = *row.finishedAt
		}
		if entry.State == Partial {
			entry.Statements = row.done
		}
		all = append(all, entry)
		delete(past.applied, file.version)
	}
	for version, name := range past.applied {
		all = append(all, UserFile{Version: version, Name: name, State: Absent})
	}
	sortByVersion(all)
	return all, nil
}

func (h history) state(file userFile) State {
	row, known := h.progress[file.version]
	_, applied := h.applied[file.version]
	switch {
	case applied && known && row.sum != file.sum:
		return Changed
	case applied:
		return Applied
	case known && row.finishedAt == nil:
		return Partial
	}
	return Pending
}

func readHistory(ctx context.Context, conn *pgx.Conn) (history, error) {
	h := history{applied: map[string]string{}, progress: map[string]progress{}}
	rows, err := conn.Query(ctx, `select version, coalesce(name, '') from supabase_migrations.schema_migrations`)
	if err != nil {
		return h, fmt.Errorf("read the applied migrations: %w", err)
	}
	var version, name string
	if _, err = pgx.ForEachRow(rows, []any{&version, &name}, func() error {
		h.applied[version] = name
		return nil
	}); err != nil {
		return h, fmt.Errorf("read the applied migrations: %w", err)
	}
	rows, err = conn.Query(ctx, `
		select version, checksum, done, done_checksum, begun, finished_at
		from basalt.user_migrations`)
	if err != nil {
		return h, fmt.Errorf("read the applied migrations: %w", err)
	}
	var p progress
	if _, err = pgx.ForEachRow(rows, []any{&version, &p.sum, &p.done, &p.doneSum, &p.begun, &p.finishedAt}, func() error {
		h.progress[version] = p
		p = progress{}
		return nil
	}); err != nil {
		return h, fmt.Errorf("read the applied migrations: %w", err)
	}
	return h, nil
}

func sortByVersion(files []UserFile) {
	slices.SortStableFunc(files, func(a, b UserFile) int {
		return cmp.Compare(cmp.Or(a.File, a.Version), cmp.Or(b.File, b.Version))
	})
}
