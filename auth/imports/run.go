package imports

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"basalt/auth"
)

// Options say how an import is carried out.
type Options struct {
	// DryRun does all that an import does and takes it back.
	DryRun bool
	// Confirm counts every e-mail address as confirmed.
	Confirm bool
	// Refused is told of each row that is refused, those that PostgreSQL refuses when their batch is written.
	Refused func(Refusal)
	// Progress is told how far the import has come, in units of which there are total.
	Progress func(done, total int64)
}

// Refusal is why a row was not imported.
type Refusal struct {
	// Place is where the row stands, and whose it is: no address, for it goes to logs.
	Place  string
	Reason string
}

// Report is what has become of a file's rows.
type Report struct {
	// Imported accounts are new, Skipped ones had been imported before, Refused ones were told of.
	Imported, Skipped, Refused int
	// Identities and Factors are rows of those tables that were added beside the accounts.
	Identities, Factors int
}

// Run imports a file's accounts. Each batch is a transaction: an import that is broken off is taken up by running it
// again, as accounts that are there are skipped. It takes as much memory for a million accounts as for a thousand. The
// triggers of the project's owner run, as at a sign-up.
func Run(ctx context.Context, conn *pgx.Conn, source Source, o Options) (Report, error) {
	var report Report
	var db beginner = conn
	if o.DryRun {
		tx, err := conn.Begin(ctx)
		if err != nil {
			return report, err
		}
		defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // the connection is closed next
		db = tx
	}
	if o.Progress == nil {
		o.Progress = func(int64, int64) {}
	}
	if err := begin(ctx, conn); err != nil {
		return report, err
	}
	w := &writer{db: db, report: &report, refused: o.Refused}
	err := source.each(ctx, o.Progress, func(r row) error {
		if r.account != nil && r.refused == "" {
			r.refused = r.account.complete(o.Confirm)
		}
		if r.refused != "" {
			w.refuse(r, r.refused)
			return nil
		}
		return w.add(ctx, r)
	})
	if err != nil {
		return report, err
	}
	if err := w.flush(ctx); err != nil {
		return report, err
	}
	if o.DryRun || report.Imported == 0 {
		return report, nil
	}
	return report, auth.ForgetPasswordSurvey(ctx, conn)
}

// begin makes the note of what is imported, of which the connection keeps one.
func begin(ctx context.Context, conn *pgx.Conn) error {
	for _, statement := range []string{makeNote, clearNote} {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return fmt.Errorf("begin the import: %w", err)
		}
	}
	return nil
}
