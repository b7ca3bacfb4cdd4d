package admin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/labstack/echo/v4"

	"basalt/auth"
	"basalt/auth/administrator"
	"basalt/migrations"
	"basalt/store/console"
)

const (
	// sqlTimeout bounds a statement where the request says nothing, longestTimeout where it does.
	sqlTimeout     = time.Minute
	longestTimeout = time.Hour
	// rowsByDefault and mostRows are how many rows of a statement are sent.
	rowsByDefault = 1000
	mostRows      = 10_000_000
	// sessionCheck is how often long work looks whether the administrator is still signed in.
	sessionCheck = 2 * time.Second
)

// SQLBody asks for statements to be run, one after the other, until one fails. Each is a transaction of its own where the
// text does not say begin; one that is left open is rolled back.
type SQLBody struct {
	// ID is a UUID by which the run can be cancelled.
	ID   uuid.UUID `json:"id"`
	SQL  string    `json:"sql"`
	Role string    `json:"role,omitempty"` // to run as; the owner of the database when it is empty
	User string    `json:"user,omitempty"` // whose claims the session has
	// TimeoutMS bounds each statement, in milliseconds; 0 for a minute.
	TimeoutMS int64 `json:"timeout_ms,omitempty"`
	// MaxRows are sent of each result; 0 for 1000.
	MaxRows  int  `json:"max_rows,omitempty"`
	ReadOnly bool `json:"read_only,omitempty"`
	// Explain asks for plans instead: "plan" for that of the planner, "analyze" to carry the statement out, measure it and
	// roll it back.
	Explain string `json:"explain,omitempty"`
}

// SQLLine is a line of the answer: one of its members is there.
type SQLLine struct {
	Statement *SQLStatement `json:"statement,omitempty"`
	Columns   []SQLColumn   `json:"columns,omitempty"`
	Rows      [][]*string   `json:"rows,omitempty"`
	Plan      []any         `json:"plan,omitempty"` // what EXPLAIN (format json) says
	Notice    *SQLNotice    `json:"notice,omitempty"`
	Complete  *SQLComplete  `json:"complete,omitempty"`
	Error     *ErrorBody    `json:"error,omitempty"`
	Finished  *SQLFinished  `json:"finished,omitempty"`
}

// SQLStatement begins the lines about a statement. Start and End are where it stands in the text, in characters from 0.
type SQLStatement struct {
	Index int    `json:"index"`
	SQL   string `json:"sql"`
	Start int    `json:"start"`
	End   int    `json:"end"`
}

// SQLColumn is a column of a result. Schema, table and source are where its values come from, if from a table.
type SQLColumn struct {
	Name   string `json:"name"`
	Type   string `json:"type"`
	Schema string `json:"schema,omitempty"`
	Table  string `json:"table,omitempty"`
	Source string `json:"source,omitempty"`
}

// SQLNotice is what PostgreSQL has to say beside the result.
type SQLNotice struct {
	Severity string `json:"severity"`
	Code     string `json:"code"`
	Message  string `json:"message"`
	Details  string `json:"details,omitempty"`
	Hint     string `json:"hint,omitempty"`
}

// SQLComplete ends the lines about a statement that has succeeded.
type SQLComplete struct {
	Tag        string  `json:"tag"`
	DurationMS float64 `json:"duration_ms"`
	// Rows are those that were sent. Truncated says that there were more.
	Rows      int64 `json:"rows"`
	Truncated bool  `json:"truncated"`
}

// SQLFinished is the last line. Without it the answer was cut.
type SQLFinished struct {
	DurationMS float64 `json:"duration_ms"`
	OK         bool    `json:"ok"`
	// RolledBack says that the text has left a transaction open.
	RolledBack bool `json:"rolled_back"`
}

// runs are those under way on this process, by administrator and id.
type runs struct {
	mu      sync.Mutex
	cancels map[string]context.CancelFunc
}

// begin notes a run. It gives false when there is one of that name.
func (r *runs) begin(name string, cancel context.CancelFunc) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cancels[name] != nil {
		return false
	}
	r.cancels[name] = cancel
	return true
}

func (r *runs) end(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.cancels, name)
}

// cancel ends a run of this process, if it is one.
func (r *runs) cancel(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	cancel := r.cancels[name]
	if cancel != nil {
		cancel()
	}
	return cancel != nil
}

// runName is what a run's session is called in pg_stat_activity, so that each process finds it. Nobody can make up that of
// another administrator.
func runName(whose, id uuid.UUID) string {
	sum := sha256.Sum256(append(whose[:], id[:]...))
	return "basalt sql " + hex.EncodeToString(sum[:16])
}

var errCancelled = errors.New("cancelled by its administrator")

// runSQL answers POST /sql by a stream of lines.
func (d *Data) runSQL(c echo.Context) error {
	var body SQLBody
	if err := decode(c, &body); err != nil {
		return err
	}
	who := administratorOf(c)
	if err := body.check(who.Role); err != nil {
		return err
	}
	v, err := d.view(c, body.Role, body.User)
	if err != nil {
		return err
	}
	session := v.session()
	if who.Role == viewer {
		// Planning evaluates functions that are not volatile, and its errors and estimates tell of what they give: they
		// may read what viewers may.
		session.Role, session.ReadOnly = auth.RoleService, true
	}
	statements, err := migrations.Split(body.SQL)
	if syntax, ok := errors.AsType[*migrations.SyntaxError](err); ok {
		refused := refusedf(http.StatusBadRequest, "42601", "%s", syntax.Error())
		if syntax.Open == migrations.CopyData {
			refused = refuseCopy()
		}
		refused.Position = int32(utf8.RuneCountInString(body.SQL[:syntax.Offset])) + 1
		return refused
	}
	if err != nil {
		return err
	}
	if body.Explain != "plan" { // which carries nothing out
		err := d.record(c, administrator.Change{Action: "sql.run", Target: v.role, After: body.recorded()})
		if err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancelCause(c.Request().Context())
	defer cancel(nil)
	name := runName(who.ID, body.ID)
	if !d.runs.begin(name, func() { cancel(errCancelled) }) {
		return refusedf(http.StatusConflict, "in_use", "A run with this id is under way")
	}
	defer d.runs.end(name)
	session.Name, session.Long = name, true
	session.ReadOnly = session.ReadOnly || body.ReadOnly
	session.StatementTimeout, session.LockTimeout = body.timeout(), 0
	run := &sqlRun{body: &body, out: newLines(c), began: time.Now(), confined: who.Role == viewer}
	stopWatch := d.watchSession(c, cancel)
	defer stopWatch()
	err = d.pool.Use(ctx, session, func(conn *pgx.Conn) error {
		run.conn = conn
		return run.all(ctx, statements)
	})
	if cause := context.Cause(ctx); err != nil && cause != nil && c.Request().Context().Err() == nil {
		err = cause
	}
	if err != nil && !run.out.begun {
		if err == errCancelled {
			return refusedf(http.StatusConflict, "57014", "The run was cancelled")
		}
		return err
	}
	finished := run.finish(err)
	d.remember(c, &body, time.Since(run.began), err)
	return finished
}

func (b *SQLBody) check(role administrator.Role) error {
	switch {
	case b.ID == uuid.Nil:
		return refusedf(http.StatusBadRequest, "bad_id", "A run needs an id, a UUID")
	case b.Explain != "" && b.Explain != "plan" && b.Explain != "analyze":
		return refusedf(http.StatusBadRequest, "bad_explain", "explain is plan or analyze, not %q", b.Explain)
	case role == viewer && b.Explain != "plan":
		return refusedf(http.StatusForbidden, "forbidden", "A viewer can see plans only")
	case b.TimeoutMS < 0 || b.TimeoutMS > longestTimeout.Milliseconds():
		return refusedf(http.StatusBadRequest, "bad_timeout", "timeout_ms is a number from 1 to %d", longestTimeout.Milliseconds())
	case b.MaxRows < 0 || b.MaxRows > mostRows:
		return refusedf(http.StatusBadRequest, "bad_rows", "max_rows is a number from 1 to %d", mostRows)
	case strings.ContainsRune(b.SQL, 0):
		return refusedf(http.StatusBadRequest, "22021", "SQL has no NUL character")
	}
	return nil
}

// recordedSQL is a run in the audit log.
type recordedSQL struct {
	SQL      string `json:"sql"`
	Role     string `json:"role,omitempty"`
	User     string `json:"user,omitempty"`
	ReadOnly bool   `json:"read_only,omitempty"`
	Explain  string `json:"explain,omitempty"`
}

func (b *SQLBody) recorded() recordedSQL {
	return recordedSQL{SQL: recordable(b.SQL), Role: b.Role, User: b.User, ReadOnly: b.ReadOnly, Explain: b.Explain}
}

func (b *SQLBody) timeout() time.Duration {
	if b.TimeoutMS == 0 {
		return sqlTimeout
	}
	return time.Duration(b.TimeoutMS) * time.Millisecond
}

func (b *SQLBody) rows() int {
	if b.MaxRows == 0 {
		return rowsByDefault
	}
	return b.MaxRows
}

const cancelRun = `
select pg_catalog.count(pg_catalog.pg_cancel_backend(a.pid))
from pg_catalog.pg_stat_activity a
where a.application_name = $1
  and a.datname = current_database()
  and a.usename = session_user`

// cancelSQL answers DELETE /sql/{id}: the run ends, on whatever process it is.
func (d *Data) cancelSQL(c echo.Context) error {
	id, err := uuid.Parse(c.Param("id"))
	if err != nil {
		return refusedf(http.StatusBadRequest, "bad_id", "The id of a run is a UUID")
	}
	name := runName(administratorOf(c).ID, id)
	if d.runs.cancel(name) {
		return c.NoContent(http.StatusNoContent)
	}
	found := 0
	err = d.pool.Use(c.Request().Context(), console.Session{StatementTimeout: writeTimeout}, func(conn *pgx.Conn) error {
		return conn.QueryRow(c.Request().Context(), cancelRun, name).Scan(&found)
	})
	if err != nil {
		return err
	}
	if found == 0 {
		return refusedf(http.StatusNotFound, "not_found", "There is no such run under way")
	}
	return c.NoContent(http.StatusNoContent)
}

var errSignedOut = refuse(http.StatusUnauthorized, "signed_out", "Your session has ended; what was under way was cancelled")

// watchSession cancels long work when the session that began it ends. It gives what stops the watch.
func (d *Data) watchSession(c echo.Context, cancel context.CancelCauseFunc) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(sessionCheck)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				if !d.signedIn(c) {
					cancel(errSignedOut)
					return
				}
			}
		}
	}()
	return func() { close(done); <-ended }
}

// place adds where a statement stands in the whole text to where an error points within it.
func place(err error, before int) error {
	if database, ok := errors.AsType[*pgconn.PgError](err); ok && database.Position > 0 {
		moved := *database
		moved.Position = max(1, moved.Position+int32(before))
		return &moved
	}
	return err
}
