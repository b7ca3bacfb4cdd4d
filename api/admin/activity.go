package admin

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/labstack/echo/v4"

	"basalt/auth/administrator"
)

// ActivityBody is what runs in the database.
type ActivityBody struct {
	// Sessions are those that run or hold a transaction open, the oldest transaction first.
	Sessions []SessionBody `json:"sessions"`
	// Idle counts the others.
	Idle int64 `json:"idle"`
	// Locks are what is held or waited for, by mode: of relations of the database.
	Locks []LockBody `json:"locks"`
}

// SessionBody is a session of PostgreSQL.
type SessionBody struct {
	PID int32 `json:"pid"`
	// Started tells it from a later one of the same number.
	Started         string `json:"started"`
	Role            string `json:"role"`
	ApplicationName string `json:"application_name"`
	Client          string `json:"client"`
	State           string `json:"state"`
	// WaitsFor is the kind of what it waits for and its name, "" when it does not.
	WaitsFor string `json:"waits_for"`
	// Lock is what it waits to lock and how, "" when it waits for none.
	Lock          string  `json:"lock"`
	TransactionMS float64 `json:"transaction_ms"`
	StatementMS   float64 `json:"statement_ms"`
	Query         string  `json:"query"` // not shown to viewers: it may hold anything
	BlockedBy     []int32 `json:"blocked_by"`
	// Own says that it is one of the server's: of requests, or of the dashboard.
	Own bool `json:"own"`
}

// LockBody counts the locks of a mode on a relation.
type LockBody struct {
	Relation string `json:"relation"`
	Mode     string `json:"mode"`
	Held     int64  `json:"held"`
	Waiting  int64  `json:"waiting"`
}

// EndSessionBody says which session is meant, and tells it from a later one of the same number.
type EndSessionBody struct {
	Started string `json:"started"`
}

const (
	activitySessions = `
select
  a.pid,
  a.backend_start::text,
  coalesce(a.usename::text, ''),
  coalesce(a.application_name, ''),
  coalesce(host(a.client_addr), 'local'),
  coalesce(a.state, ''),
  case when a.wait_event_type is null or a.wait_event_type = 'Client' then '' else a.wait_event_type || ': ' || a.wait_event end,
  coalesce((
    select l.mode || ' on ' || coalesce(l.relation::regclass::text, l.locktype)
    from pg_locks l
    where l.pid = a.pid
    and not l.granted
    limit 1
  ), ''),
  coalesce(extract(epoch from clock_timestamp() - a.xact_start) * 1000, 0)::float8,
  coalesce(case when a.state = 'active' then extract(epoch from clock_timestamp() - a.query_start) * 1000 end, 0)::float8,
  coalesce(left(a.query, 4000), ''),
  case when a.wait_event_type = 'Lock' then pg_blocking_pids(a.pid) else '{}' end,
  coalesce(a.application_name, '') like 'basalt%'
from pg_stat_activity a
where a.datname = current_database()
and a.backend_type = 'client backend'
and a.pid <> pg_backend_pid()
and (a.xact_start is not null or a.state = 'active')
order by a.xact_start nulls last
limit 200`

	activityIdle = `
select count(*)
from pg_stat_activity
where datname = current_database()
and backend_type = 'client backend'
and pid <> pg_backend_pid()
and xact_start is null
and state is distinct from 'active'`

	activityLocks = `
select
  l.relation::regclass::text,
  l.mode,
  count(*) filter (where l.granted),
  count(*) filter (where not l.granted)
from pg_locks l
join pg_class c on c.oid = l.relation
join pg_namespace n on n.oid = c.relnamespace
where l.locktype = 'relation'
and l.database = (select oid from pg_database where datname = current_database())
and l.pid <> pg_backend_pid()
and n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast')
and c.relkind in ('r', 'p', 'm', 'v')
group by 1, 2
order by 4 desc, 3 desc, 1
limit 100`

	sessionMeant = `
select coalesce(usename::text, ''), coalesce(application_name, '')
from pg_stat_activity
where pid = $1
and backend_start::text = $2
and datname = current_database()
and backend_type = 'client backend'
and pid <> pg_backend_pid()`

	cancelSession = `
select pg_cancel_backend(pid)
from pg_stat_activity
where pid = $1
and backend_start::text = $2`

	terminateSession = `
select pg_terminate_backend(pid)
from pg_stat_activity
where pid = $1
and backend_start::text = $2`
)

// activity answers GET /performance/activity.
func (d *Data) activity(c echo.Context) error {
	ctx := c.Request().Context()
	body := ActivityBody{Sessions: []SessionBody{}, Locks: []LockBody{}}
	err := d.pool.Use(ctx, performanceSession(), func(conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, activitySessions)
		if err != nil {
			return err
		}
		if body.Sessions, err = pgx.AppendRows(body.Sessions, rows, pgx.RowToStructByPos[SessionBody]); err != nil {
			return err
		}
		if err := conn.QueryRow(ctx, activityIdle).Scan(&body.Idle); err != nil {
			return err
		}
		if rows, err = conn.Query(ctx, activityLocks); err != nil {
			return err
		}
		body.Locks, err = pgx.AppendRows(body.Locks, rows, pgx.RowToStructByPos[LockBody])
		return err
	})
	if err != nil {
		return err
	}
	for i := range body.Sessions {
		if s := &body.Sessions[i]; administratorOf(c).Role == viewer {
			s.Query = ""
		} else if tellsSecret(s.Query) {
			s.Query = "(hidden: it may hold a password)"
		}
	}
	return c.JSON(http.StatusOK, body)
}

// cancelBackend answers POST /performance/activity/{pid}/cancel: the statement ends, the session stays.
func (d *Data) cancelBackend(c echo.Context) error {
	return d.endBackend(c, "session.cancel", cancelSession)
}

// terminateBackend answers POST /performance/activity/{pid}/terminate: the session ends, its transaction is undone.
func (d *Data) terminateBackend(c echo.Context) error {
	return d.endBackend(c, "session.terminate", terminateSession)
}

func (d *Data) endBackend(c echo.Context, action, statement string) error {
	pid, err := strconv.ParseInt(c.Param("pid"), 10, 32)
	if err != nil || pid < 1 {
		return refusedf(http.StatusBadRequest, "bad_pid", "The number of a session is expected")
	}
	var in EndSessionBody
	if err := readJSON(c, &in); err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(c.Request().Context(), lockPatience)
	defer stop()
	err = d.pool.Tx(ctx, noteSession(), func(tx pgx.Tx) error {
		var role, application string
		err := tx.QueryRow(ctx, sessionMeant, pid, in.Started).Scan(&role, &application)
		if errors.Is(err, pgx.ErrNoRows) {
			return refusedf(http.StatusNotFound, "not_found", "That session has ended already")
		}
		if err != nil {
			return err
		}
		change := administrator.Change{Action: action, Target: strconv.FormatInt(pid, 10), Before: map[string]string{"role": role, "application_name": application, "started": in.Started}}
		if err := administrator.Record(ctx, tx, actorOf(c), change); err != nil {
			return err
		}
		sent := false
		if err = tx.QueryRow(ctx, statement, pid, in.Started).Scan(&sent); errors.Is(err, pgx.ErrNoRows) || err == nil && !sent {
			return refusedf(http.StatusNotFound, "not_found", "That session has ended already")
		}
		return err
	})
	if err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
