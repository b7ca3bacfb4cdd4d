package admin

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/labstack/echo/v4"

	"basalt/store/console"
)

const (
	// mostSaved and mostHistory are how many queries an administrator keeps: of saved ones no more are taken, of those that
	// were run the oldest go.
	mostSaved   = 500
	mostHistory = 500
	// mostSavedBytes, mostHistoryBytes and mostQueryName bound one of them.
	mostSavedBytes   = 1 << 20
	mostHistoryBytes = 64 << 10
	mostQueryName    = 200
)

// QueriesBody are the queries of the administrator who asks.
type QueriesBody struct {
	Saved   []SavedQueryBody `json:"saved"`   // by name
	History []PastQueryBody  `json:"history"` // the newest first
}

// SavedQueryBody is a query that somebody keeps.
type SavedQueryBody struct {
	ID        uuid.UUID `json:"id"`
	Name      string    `json:"name"`
	SQL       string    `json:"sql"`
	Role      string    `json:"role"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// PastQueryBody is a query that was run. Of a long text only the beginning is kept.
type PastQueryBody struct {
	ID         int64     `json:"id"`
	SQL        string    `json:"sql"`
	Role       string    `json:"role"`
	RanAt      time.Time `json:"ran_at"`
	DurationMS float64   `json:"duration_ms"`
	Failure    string    `json:"failure"` // "" when all statements have succeeded
}

// SaveQueryBody is what to keep, or what to change of it: what is not there stays.
type SaveQueryBody struct {
	Name *string `json:"name,omitempty"`
	SQL  *string `json:"sql,omitempty"`
	Role *string `json:"role,omitempty"`
}

func (b *SaveQueryBody) check() error {
	switch {
	case b.Name != nil && (strings.TrimSpace(*b.Name) == "" || utf8.RuneCountInString(*b.Name) > mostQueryName):
		return refusedf(http.StatusBadRequest, "bad_name", "A query has a name of at most %d characters", mostQueryName)
	case b.SQL != nil && len(*b.SQL) > mostSavedBytes:
		return refusedf(http.StatusRequestEntityTooLarge, "too_large", "A saved query has at most %d bytes", mostSavedBytes)
	}
	return nil
}

const (
	savedQueries = `
select id, name, sql, role, created_at, updated_at
from basalt.saved_queries
where administrator_id = $1
order by name, id`

	pastQueries = `
select id, sql, role, ran_at, duration_ms, failure
from basalt.query_history
where administrator_id = $1
order by id desc
limit $2`

	lockAdministrator = `
select from basalt.administrators
where id = $1
for no key update`

	saveQuery = `
insert into basalt.saved_queries (id, administrator_id, name, sql, role)
select $1, $2, $3, $4, $5
where (
  select count(*)
  from basalt.saved_queries
  where administrator_id = $2
) < $6
returning id, name, sql, role, created_at, updated_at`

	changeQuery = `
update basalt.saved_queries
set name = coalesce($3, name),
    sql = coalesce($4, sql),
    role = coalesce($5, role),
    updated_at = now()
where id = $1
and administrator_id = $2
returning id, name, sql, role, created_at, updated_at`

	forgetQuery = `
delete from basalt.saved_queries
where id = $1
and administrator_id = $2`

	rememberQuery = `
with added as (
  insert into basalt.query_history (administrator_id, sql, role, duration_ms, failure)
  values ($1, $2, $3, $4, $5)
)
delete from basalt.query_history
where administrator_id = $1
and id <= (
  select id
  from basalt.query_history
  where administrator_id = $1
  order by id desc
  offset $6 - 1
  limit 1
)`

	forgetHistory = `
delete from basalt.query_history
where administrator_id = $1`
)

// noteSession is for what the dashboard itself writes.
func noteSession() console.Session {
	return console.Session{StatementTimeout: writeTimeout, LockTimeout: lockPatience}
}

func scanSaved(row pgx.Row) (q SavedQueryBody, err error) {
	err = row.Scan(&q.ID, &q.Name, &q.SQL, &q.Role, &q.CreatedAt, &q.UpdatedAt)
	q.CreatedAt, q.UpdatedAt = q.CreatedAt.UTC(), q.UpdatedAt.UTC()
	return q, err
}

// listQueries answers GET /queries.
func (d *Data) listQueries(c echo.Context) error {
	ctx, whose := c.Request().Context(), administratorOf(c).ID
	body := QueriesBody{Saved: []SavedQueryBody{}, History: []PastQueryBody{}}
	err := d.pool.Use(ctx, noteSession(), func(conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, savedQueries, whose)
		if err != nil {
			return err
		}
		if body.Saved, err = pgx.AppendRows(body.Saved, rows, func(row pgx.CollectableRow) (SavedQueryBody, error) { return scanSaved(row) }); err != nil {
			return err
		}
		if rows, err = conn.Query(ctx, pastQueries, whose, mostHistory); err != nil {
			return err
		}
		body.History, err = pgx.AppendRows(body.History, rows, func(row pgx.CollectableRow) (q PastQueryBody, err error) {
			err = row.Scan(&q.ID, &q.SQL, &q.Role, &q.RanAt, &q.DurationMS, &q.Failure)
			q.RanAt = q.RanAt.UTC()
			return q, err
		})
		return err
	})
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, body)
}

// saveQuery answers POST /queries.
func (d *Data) saveQuery(c echo.Context) error {
	var body SaveQueryBody
	if err := decode(c, &body); err != nil {
		return err
	}
	if body.Name == nil || body.SQL == nil {
		return refusedf(http.StatusBadRequest, "bad_query", "A query to save has a name and sql")
	}
	if err := body.check(); err != nil {
		return err
	}
	role := ""
	if body.Role != nil {
		role = *body.Role
	}
	ctx, whose := c.Request().Context(), administratorOf(c).ID
	var saved SavedQueryBody
	err := d.pool.Tx(ctx, noteSession(), func(tx pgx.Tx) (err error) {
		if _, err = tx.Exec(ctx, lockAdministrator, whose); err != nil {
			return err
		}
		saved, err = scanSaved(tx.QueryRow(ctx, saveQuery, uuid.New(), whose, *body.Name, *body.SQL, role, mostSaved))
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return refusedf(http.StatusConflict, "too_many", "You keep %d queries already: delete one of them", mostSaved)
	}
	if err != nil {
		return err
	}
	return c.JSON(http.StatusCreated, saved)
}

// changeQuery answers PATCH /queries/{id}.
func (d *Data) changeQuery(c echo.Context) error {
	id, err := idOf(c, "a query")
	if err != nil {
		return err
	}
	var body SaveQueryBody
	if err := decode(c, &body); err != nil {
		return err
	}
	if err := body.check(); err != nil {
		return err
	}
	ctx, whose := c.Request().Context(), administratorOf(c).ID
	var saved SavedQueryBody
	err = d.pool.Use(ctx, noteSession(), func(conn *pgx.Conn) (err error) {
		saved, err = scanSaved(conn.QueryRow(ctx, changeQuery, id, whose, body.Name, body.SQL, body.Role))
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return noQuery()
	}
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, saved)
}

func noQuery() error { return refusedf(http.StatusNotFound, "not_found", "You keep no such query") }

// forgetQuery answers DELETE /queries/{id}.
func (d *Data) forgetQuery(c echo.Context) error {
	id, err := idOf(c, "a query")
	if err != nil {
		return err
	}
	ctx, found := c.Request().Context(), int64(0)
	err = d.pool.Use(ctx, noteSession(), func(conn *pgx.Conn) error {
		tag, err := conn.Exec(ctx, forgetQuery, id, administratorOf(c).ID)
		found = tag.RowsAffected()
		return err
	})
	if err == nil && found == 0 {
		err = noQuery()
	}
	if err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// forgetHistory answers DELETE /queries/history.
func (d *Data) forgetHistory(c echo.Context) error {
	ctx := c.Request().Context()
	err := d.pool.Use(ctx, noteSession(), func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, forgetHistory, administratorOf(c).ID)
		return err
	})
	if err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// historyPatience bounds the wait to note a run: its answer is there.
const historyPatience = 5 * time.Second

// remember notes what was run, also when nobody waits for its answer any more. What may hold a password is not kept.
func (d *Data) remember(c echo.Context, body *SQLBody, took time.Duration, failure error) {
	if strings.TrimSpace(body.SQL) == "" || tellsSecret(body.SQL) {
		return
	}
	said := ""
	if failure != nil {
		said = explain(failure).Message
		if failure == errCancelled || c.Request().Context().Err() != nil {
			said = "cancelled"
		}
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(c.Request().Context()), historyPatience)
	defer stop()
	err := d.pool.Use(ctx, noteSession(), func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, rememberQuery, administratorOf(c).ID, clip(body.SQL, mostHistoryBytes), body.Role, milliseconds(took), clip(said, mostAuditedValue), mostHistory)
		return err
	})
	if err != nil {
		d.options.Log.Warn().Err(err).Msg("what was run is not in the history")
	}
}

// clip gives the beginning of a text, in whole characters.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "")
}

// password finds where SQL may hold one: create role … password '…', set_config('….password', '…'), password => '…'; in a
// connection string; insert into … (…, password) values (…, '…'); crypt('…', …), vault.create_secret('…').
var password = regexp.MustCompile(`(?i)(password|secret|passwd)\w*['"]?\s*(=>?|:=|,|to\s)?\s*(e|u&)?['$]` +
	`|(password|passwd)=\w` +
	`|insert\s+into[^;(]*\([^;)]*(password|secret|passwd)[^;)]*\)[^;]*'` +
	`|(crypt|hmac|(create|update)_secret)\w*"?\s*\([^;]*('|\$[^0-9])`)

// recordable is SQL as the audit log keeps it.
func recordable(sql string) string {
	if tellsSecret(sql) {
		return "-- not kept: there may be a password in it"
	}
	return clip(sql, mostHistoryBytes)
}

// tellsSecret says that SQL may hold a password, so that it is written nowhere.
func tellsSecret(sql string) bool { return password.MatchString(sql) }
