package admin

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/labstack/echo/v4"

	"basalt/store/console"
)

// OverviewBody is the server at a glance.
type OverviewBody struct {
	Parts []Part   `json:"parts"`
	Pool  PoolBody `json:"pool"`
	// Database is null while PostgreSQL does not answer; DatabaseError says why.
	Database      *DatabaseBody  `json:"database"`
	DatabaseError string         `json:"database_error"`
	Errors        []RequestEntry `json:"errors"` // the newest first
	Steps         []StepBody     `json:"steps"`
}

// PoolBody are the connections that requests share.
type PoolBody struct {
	Max     int32 `json:"max"`
	Open    int32 `json:"open"`
	InUse   int32 `json:"in_use"`
	Waiting int   `json:"waiting"`
	Refused int64 `json:"refused"` // requests that got none in time, since the start
}

// DatabaseBody is the database at a glance.
type DatabaseBody struct {
	Name           string    `json:"name"`
	Version        string    `json:"version"`
	StartedAt      time.Time `json:"started_at"`
	Bytes          int64     `json:"bytes"`
	Connections    int       `json:"connections"`
	MaxConnections int       `json:"max_connections"`
	// CacheHitRate is null before anything was read.
	CacheHitRate *float64 `json:"cache_hit_rate"`
}

// StepBody is something to do before people come.
type StepBody struct {
	Key  string `json:"key"` // table, user, policies, mail
	Done bool   `json:"done"`
	// Count is of what is still in the way, such as tables without row level security.
	Count int64 `json:"count"`
}

const (
	databaseGlance = `
select
  current_database()::text,
  current_setting('server_version'),
  pg_postmaster_start_time(),
  pg_database_size(current_database()),
  (select count(*) from pg_stat_activity where backend_type = 'client backend')::int,
  current_setting('max_connections')::int,
  (
    select blks_hit::float8 / nullif(blks_hit + blks_read, 0)
    from pg_stat_database
    where datname = current_database()
  )`

	firstSteps = `
with t as (
  select c.relrowsecurity
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = any ($1)
  and c.relkind in ('r', 'p')
  and not exists (
    select
    from pg_depend d
    where d.classid = 'pg_class'::regclass
    and d.objid = c.oid
    and d.deptype = 'e'
  )
)
select
  (select count(*) from t),
  (select count(*) from t where not relrowsecurity),
  exists (select from auth.users)`
)

// undelivered counts the messages whose delivery was tried in vain, and that are tried again or were given up of late.
const undelivered = `
select count(*)
from basalt.outbox
where failure is not null
and (state = 'queued' or state = 'failed' and created_at > now() - interval '1 hour')`

// overview answers GET /overview.
func (o *Options) overview(c echo.Context) error {
	pool := o.Running.Pool()
	body := OverviewBody{
		Parts:  append([]Part{}, o.Running.Parts()...),
		Pool:   PoolBody{pool.Max, pool.Open, pool.InUse, pool.Waiting, pool.Refused},
		Errors: []RequestEntry{}, Steps: []StepBody{},
	}
	filter := requestFilter{least: http.StatusBadRequest, limit: 8}
	filter.newest(o.Running.Requests, 0, func(e RequestEntry) { body.Errors = append(body.Errors, e) })
	ctx, stop := context.WithTimeout(c.Request().Context(), glancePatience)
	defer stop()
	if err := o.Data.glance(ctx, &body, o.Running.Schemas); err != nil {
		if c.Request().Context().Err() != nil {
			return err
		}
		body.DatabaseError = explain(err).Message
	}
	if body.Database != nil {
		mails, _ := o.Outbox.Ways()
		body.Steps = append(body.Steps, StepBody{Key: "mail", Done: mails})
	}
	return c.JSON(http.StatusOK, body)
}

// glancePatience bounds what the first screen asks of PostgreSQL: it is to say soon that that is away.
const glancePatience = 5 * time.Second

// glance fills in what the database says.
func (d *Data) glance(ctx context.Context, body *OverviewBody, schemas []string) error {
	return d.pool.Use(ctx, performanceSession(), func(conn *pgx.Conn) error {
		var seen DatabaseBody
		err := conn.QueryRow(ctx, databaseGlance).Scan(&seen.Name, &seen.Version, &seen.StartedAt, &seen.Bytes,
			&seen.Connections, &seen.MaxConnections, &seen.CacheHitRate)
		if err != nil {
			return err
		}
		seen.StartedAt = seen.StartedAt.UTC()
		var tables, open int64
		var users bool
		if err := conn.QueryRow(ctx, firstSteps, schemas).Scan(&tables, &open, &users); err != nil {
			return err
		}
		var late int64
		if err := conn.QueryRow(ctx, undelivered).Scan(&late); err != nil {
			return err
		}
		if late > 0 {
			body.Parts = append(body.Parts, Part{Name: "messages", Reason: fmt.Sprintf("%d could not be delivered: the outbox says why", late)})
		}
		body.Database = &seen
		body.Steps = append(body.Steps,
			StepBody{Key: "table", Done: tables > 0}, StepBody{Key: "user", Done: users},
			StepBody{Key: "policies", Done: tables > 0 && open == 0, Count: open})
		return nil
	})
}

// performanceSession is for reading what PostgreSQL says of itself.
func performanceSession() console.Session {
	return console.Session{ReadOnly: true, StatementTimeout: writeTimeout, LockTimeout: time.Second}
}
