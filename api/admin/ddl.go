package admin

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/jackc/pgx/v5"
	"github.com/labstack/echo/v4"

	"basalt/auth/administrator"
	"basalt/migrations"
	"basalt/store/console"
)

const (
	// ddlTimeout bounds each statement of a change of the structure; ddlLocks the wait for each lock unless the request
	// says otherwise: whoever waits for a table keeps all others from it.
	ddlTimeout   = 10 * time.Minute
	ddlLocks     = 5 * time.Second
	longestLocks = time.Minute
	// mostDDL is how many statements a change may have.
	mostDDL = 500
)

// DDLBody asks for a change of the structure, in one transaction.
type DDLBody struct {
	Statements []string `json:"statements"`
	// Summary says in a few words what is done, for the audit log.
	Summary string `json:"summary"`
	// Migration is the name of a migration to save the change as, "" for none.
	Migration string `json:"migration,omitempty"`
	// Concurrently runs each statement by itself: for those that cannot be in a transaction.
	Concurrently bool `json:"concurrently,omitempty"`
	// LockTimeoutMS bounds the wait for each lock, in milliseconds; 0 for 5 seconds.
	LockTimeoutMS int64 `json:"lock_timeout_ms,omitempty"`
}

// DDLDoneBody tells that the structure was changed.
type DDLDoneBody struct {
	DurationMS float64 `json:"duration_ms"`
	// Migration is the file that the change was saved as, "" for none.
	Migration string `json:"migration"`
}

// changeStructure answers POST /ddl.
func (d *Data) changeStructure(c echo.Context) error {
	var body DDLBody
	if err := decode(c, &body); err != nil {
		return err
	}
	if err := d.checkDDL(&body); err != nil {
		return err
	}
	began, ctx := time.Now(), c.Request().Context()
	session := console.Session{StatementTimeout: ddlTimeout, LockTimeout: ddlLocks, Long: true}
	if body.LockTimeoutMS > 0 {
		session.LockTimeout = time.Duration(body.LockTimeoutMS) * time.Millisecond
	}
	var file string
	err := d.pool.Use(ctx, session, func(conn *pgx.Conn) (err error) {
		if body.Concurrently {
			file, err = d.eachAlone(ctx, c, conn, &body)
		} else {
			file, err = d.together(ctx, c, conn, &body)
		}
		return err
	})
	if err != nil {
		return err
	}
	done := DDLDoneBody{DurationMS: milliseconds(time.Since(began))}
	if file != "" {
		done.Migration = filepath.Base(file)
	}
	return c.JSON(http.StatusOK, done)
}

func (d *Data) checkDDL(body *DDLBody) error {
	switch {
	case len(body.Statements) == 0 || len(body.Statements) > mostDDL:
		return refusedf(http.StatusBadRequest, "bad_statements", "A change has between 1 and %d statements", mostDDL)
	case body.LockTimeoutMS < 0 || body.LockTimeoutMS > longestLocks.Milliseconds():
		return refusedf(http.StatusBadRequest, "bad_timeout", "lock_timeout_ms is a number from 1 to %d", longestLocks.Milliseconds())
	case body.Migration != "" && d.options.MigrationsDir == "":
		refused := refusedf(http.StatusConflict, "no_migrations", "The server has no folder of migrations")
		refused.Hint = "Start it with --migrations-dir"
		return refused
	}
	for i, statement := range body.Statements {
		parts, err := migrations.Split(statement)
		switch {
		case strings.ContainsRune(statement, 0):
			return about(i, refusedf(http.StatusBadRequest, "22021", "SQL has no NUL character"))
		case err != nil:
			return about(i, refusedf(http.StatusBadRequest, "42601", "%v", err))
		case len(parts) != 1:
			return about(i, refusedf(http.StatusBadRequest, "42601", "%d statements stand where one is wanted", len(parts)))
		case parts[0].ReadsData() || strings.HasPrefix(parts[0].Text, `\`) || controlsTransaction(parts[0].Text):
			return about(i, refusedf(http.StatusBadRequest, "bad_statements", "This statement has no place in a change of the structure"))
		}
	}
	return nil
}

// controlsTransaction tells statements that would end the transaction which the change is.
func controlsTransaction(text string) bool {
	word := strings.TrimSpace(text)
	if end := strings.IndexFunc(word, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }); end >= 0 {
		word = word[:end] // a comment may be next, without a space
	}
	switch strings.ToLower(word) {
	case "begin", "start", "commit", "end", "rollback", "abort", "prepare":
		return true
	}
	return false
}

// together runs all statements in one transaction.
func (d *Data) together(ctx context.Context, c echo.Context, conn *pgx.Conn, body *DDLBody) (file string, err error) {
	err = pgx.BeginFunc(ctx, conn, func(pgx.Tx) error {
		for i, statement := range body.Statements {
			if err := runDDL(ctx, conn, statement); err != nil {
				return about(i, withLockHint(err))
			}
		}
		if err := recordDDL(ctx, c, conn, body, body.Statements...); err != nil || body.Migration == "" {
			return err
		}
		file, err = d.saveMigration(ctx, conn, body)
		return err
	})
	if err != nil && file != "" {
		_ = os.Remove(file) // the change it holds was not made
		file = ""
	}
	return file, err
}

// eachAlone runs each statement by itself. What has succeeded stays when a later one fails.
func (d *Data) eachAlone(ctx context.Context, c echo.Context, conn *pgx.Conn, body *DDLBody) (file string, err error) {
	for i, statement := range body.Statements {
		// It is noted before: what cannot be in a transaction cannot be undone where the log has no room.
		if err := recordDDL(ctx, c, conn, body, statement); err != nil {
			return "", err
		}
		if err := runDDL(ctx, conn, statement); err != nil {
			return "", about(i, withLockHint(err))
		}
	}
	if body.Migration == "" {
		return "", nil
	}
	err = pgx.BeginFunc(ctx, conn, func(pgx.Tx) error {
		file, err = d.saveMigration(ctx, conn, body)
		return err
	})
	return file, err
}

// runDDL runs a statement.
func runDDL(ctx context.Context, conn *pgx.Conn, statement string) error {
	_, err := conn.PgConn().Exec(ctx, statement).ReadAll()
	return err
}

// withLockHint says what to do about a lock that somebody else holds.
func withLockHint(err error) error {
	r := explain(err)
	if r.Code != "55P03" {
		return err
	}
	said := *r
	said.Hint = "Somebody else uses the table: wait for them, or cancel what they run, and try again"
	return &said
}

// recordedDDL is a change of the structure in the audit log.
type recordedDDL struct {
	Statements []string `json:"statements"`
	Summary    string   `json:"summary"`
}

// recordDDL notes statements of a change in the audit log.
func recordDDL(ctx context.Context, c echo.Context, conn *pgx.Conn, body *DDLBody, statements ...string) error {
	kept := make([]string, len(statements))
	for i, statement := range statements {
		kept[i] = recordable(statement)
	}
	if _, err := conn.Exec(ctx, `reset role`); err != nil { // a statement may have set one
		return err
	}
	return administrator.Record(ctx, conn, actorOf(c), administrator.Change{
		Action: "structure.change", Target: clip(body.Summary, mostAuditedValue), After: recordedDDL{kept, body.Summary},
	})
}

// saveMigration saves a change among the migrations, in the transaction that is open, and gives its file.
func (d *Data) saveMigration(ctx context.Context, conn *pgx.Conn, body *DDLBody) (file string, err error) {
	return migrations.UserAdopt(ctx, conn, d.options.MigrationsDir, body.Migration, body.Statements, body.Concurrently)
}
