package migrations

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// run is one file on its way into the database.
type run struct {
	conn     *pgx.Conn
	file     userFile
	script   *script
	server   server
	progress func(Event)
}

// searchPath is what Supabase gives the role that runs migrations: theirs call the
// functions of extensions without a schema. A path that was chosen is left alone.
const searchPath = `
select pg_catalog.num_nulls(pg_catalog.set_config('search_path', '"$user", public, extensions', false))
where current_setting('search_path') = '"$user", public'`

// settle takes back what a file set in its session, dumps set much.
const settle = `reset session authorization; reset role; reset all`

// asOurselves makes the rest of a transaction run as the connecting user, whatever
// the file has set, and leaves what it has set for its next statements.
const asOurselves = `set local session authorization default; set local role none`

func (r *run) do(ctx context.Context, past progress) error {
	if _, err := r.conn.Exec(ctx, searchPath); err != nil {
		return err
	}
	var err error
	if r.script.separate || past.done > 0 || past.begun != nil {
		err = r.separately(ctx, past)
	} else {
		err = r.atOnce(ctx)
	}
	if !r.conn.IsClosed() {
		err = errors.Join(err, exec(context.WithoutCancel(ctx), r.conn, settle))
	}
	return r.named(err)
}

// named puts the file's name before an error that does not hold it.
func (r *run) named(err error) error {
	var refused *StatementError
	var changed *ChangedError
	if err == nil || errors.As(err, &refused) || errors.As(err, &changed) {
		return err
	}
	return fmt.Errorf("%s: %w", r.file.file, err)
}

// atOnce runs the file and its record in one transaction.
func (r *run) atOnce(ctx context.Context) error {
	return pgx.BeginFunc(ctx, r.conn, func(pgx.Tx) error {
		for _, step := range r.script.steps {
			if err := r.send(ctx, step); err != nil {
				return err
			}
		}
		return r.finish(ctx)
	})
}

// separately runs the file step by step. Each step and its record are one
// transaction, so that a run that was cut off goes on where it ended; only what
// PostgreSQL refuses inside a transaction runs on its own, after a note that it was
// begun.
func (r *run) separately(ctx context.Context, past progress) error {
	steps := r.script.steps
	if past.finishedAt != nil {
		past = progress{} // its record of being applied was taken away on purpose
	}
	if past.done > len(steps) || past.done > 0 && progressSum(steps[:past.done]) != past.doneSum {
		return &ChangedError{File: r.file.file}
	}
	for _, step := range steps[:past.done] {
		if setsSession(keywords(step[0].Text)) {
			if err := r.send(ctx, step); err != nil {
				return err
			}
		}
	}
	if err := r.record(ctx, past.done, past.begun); err != nil {
		return err
	}
	for i := past.done; i < len(steps); i++ {
		err := r.inTransaction(ctx, i)
		if mustBeAlone(err) && len(steps[i]) == 1 {
			err = r.alone(ctx, i, past.begun != nil && *past.begun == i)
		}
		if err != nil {
			var refused *StatementError
			if errors.As(err, &refused) {
				refused.Advice = fmt.Sprintf("%d of %d steps of this file are done and stay; correct the rest and run again", i, len(steps))
			}
			return err
		}
	}
	return pgx.BeginFunc(ctx, r.conn, func(pgx.Tx) error {
		return r.finish(ctx)
	})
}

func (r *run) inTransaction(ctx context.Context, i int) error {
	return pgx.BeginFunc(ctx, r.conn, func(pgx.Tx) error {
		if err := r.send(ctx, r.script.steps[i]); err != nil {
			return err
		}
		return r.note(ctx, i+1, nil)
	})
}

// alone runs a step outside of a transaction. again says that an earlier run began
// it and PostgreSQL may have done it, in part or whole.
func (r *run) alone(ctx context.Context, i int, again bool) error {
	statement := r.script.steps[i][0]
	if err := r.record(ctx, i, &i); err != nil {
		return err
	}
	if again {
		if err := r.dropInvalid(ctx, statement); err != nil {
			return err
		}
	}
	err := r.send(ctx, r.script.steps[i])
	var refused *StatementError
	if again && errors.As(err, &refused) && alreadyDone(statement, refused.Refusal) {
		err = nil
	}
	if err != nil {
		return err
	}
	return r.record(ctx, i+1, nil)
}

// mustBeAlone tells PostgreSQL's refusals to work inside a transaction: of a command
// (active_sql_transaction), and of a procedure that commits.
func mustBeAlone(err error) bool {
	var refused *StatementError
	return errors.As(err, &refused) && (refused.Refusal.Code == "25001" || refused.Refusal.Code == "2D000")
}

// alreadyDone tells refusals that mean that the earlier run had got through.
func alreadyDone(statement Statement, refusal *pgconn.PgError) bool {
	switch keywords(statement.Text)[0] {
	case "create":
		return refusal.Code == "42P07" || refusal.Code == "42710" || refusal.Code == "42P04"
	case "drop":
		return refusal.Code == "42704" || refusal.Code == "42P01" || refusal.Code == "3D000"
	}
	return false
}

// dropInvalid drops the index that a "create index concurrently" which was cut off
// or failed leaves behind: it takes the name and serves no query.
func (r *run) dropInvalid(ctx context.Context, statement Statement) error {
	name, ok := concurrentIndex(statement.Text)
	if !ok {
		return nil
	}
	rows, err := r.conn.Query(ctx, `
		select format('drop index concurrently if exists %I.%I', n.nspname, c.relname)
		from pg_index i
		join pg_class c on c.oid = i.indexrelid
		join pg_namespace n on n.oid = c.relnamespace
		where c.relname = $1
		  and not i.indisvalid`, name)
	if err != nil {
		return err
	}
	drops, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, drop := range drops {
		if err := exec(ctx, r.conn, drop); err != nil {
			return err
		}
	}
	return nil
}

// send runs statements and places a refusal in the file.
func (r *run) send(ctx context.Context, step []Statement) error {
	for _, statement := range step {
		if note := r.server.without(statement); note != "" {
			r.progress(Event{Stage: Skipped, File: r.file.file, Note: note})
			continue
		}
		var err error
		if isCopyFromStdin(statement.Text) {
			_, err = r.conn.PgConn().CopyFrom(ctx, strings.NewReader(statement.Data), statement.Text)
		} else {
			err = exec(ctx, r.conn, statement.Text)
		}
		var refusal *pgconn.PgError
		if errors.As(err, &refusal) {
			return statementError(r.script, statement, refusal)
		}
		if err != nil {
			line, _ := place(r.script.text, statement.Offset)
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
	return nil
}

// record notes, in a transaction of its own, how far the file has come.
func (r *run) record(ctx context.Context, done int, begun *int) error {
	return pgx.BeginFunc(ctx, r.conn, func(pgx.Tx) error {
		return r.note(ctx, done, begun)
	})
}

func (r *run) note(ctx context.Context, done int, begun *int) error {
	if err := exec(ctx, r.conn, asOurselves); err != nil {
		return err
	}
	_, err := r.conn.Exec(ctx, `
		insert into basalt.user_migrations (version, file, checksum, done, done_checksum, begun)
		values ($1, $2, $3, $4, $5, $6)
		on conflict (version) do update
		set file = excluded.file,
		    checksum = excluded.checksum,
		    done = excluded.done,
		    done_checksum = excluded.done_checksum,
		    begun = excluded.begun,
		    finished_at = null`,
		r.file.version, r.file.file, r.file.sum, done, progressSum(r.script.steps[:done]), begun)
	return err
}

// finish records the file as applied, in the transaction that is open.
func (r *run) finish(ctx context.Context) error {
	if err := exec(ctx, r.conn, asOurselves); err != nil {
		return err
	}
	_, err := r.conn.Exec(ctx, `
		insert into basalt.user_migrations (version, file, checksum, finished_at)
		values ($1, $2, $3, now())
		on conflict (version) do update
		set file = excluded.file,
		    checksum = excluded.checksum,
		    begun = null,
		    finished_at = excluded.finished_at`,
		r.file.version, r.file.file, r.file.sum)
	if err != nil {
		return err
	}
	texts := []string{}
	for _, statement := range slices.Concat(r.script.steps...) {
		texts = append(texts, statement.Text)
	}
	_, err = r.conn.Exec(ctx, `
		insert into supabase_migrations.schema_migrations (version, statements, name)
		values ($1, $2, $3)`,
		r.file.version, texts, r.file.name)
	return err
}
