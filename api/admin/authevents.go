package admin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/labstack/echo/v4"

	"basalt/api/requests"
)

// AuthEvent is an entry of the audit log of accounts.
type AuthEvent struct {
	ID      uuid.UUID       `json:"id"`
	At      time.Time       `json:"at"`
	Action  string          `json:"action"`
	Kind    string          `json:"kind"`
	ActorID string          `json:"actor_id"`
	Actor   string          `json:"actor"` // an address or a number
	IP      string          `json:"ip"`
	Payload json.RawMessage `json:"payload" tstype:"unknown"`
}

// AuthEventsBody is the answer of GET /auth-events.
type AuthEventsBody struct {
	Events []AuthEvent `json:"events"` // the newest first
	// Next is what `before` asks for the next page with; null is the end.
	Next *string `json:"next"`
}

const authEvents = `
select
  id,
  created_at,
  coalesce(payload ->> 'action', ''),
  coalesce(payload ->> 'log_type', ''),
  coalesce(payload ->> 'actor_id', ''),
  coalesce(payload ->> 'actor_username', ''),
  coalesce(ip_address, ''),
  coalesce(payload, 'null')
from auth.audit_log_entries
where created_at is not null
and ($1::timestamptz is null or (created_at, id) < ($1, $2))
and ($3 = '' or payload ->> 'action' = $3)
and ($4 = '' or strpos(lower(payload ->> 'actor_username'), lower($4)) > 0 or payload ->> 'actor_id' = $4 or ip_address = $4
  or payload -> 'traits' ->> 'user_id' = $4)
order by created_at desc, id desc
limit $5`

// listAuthEvents answers GET /auth-events?before=&action=&text=&limit=.
func (d *Data) listAuthEvents(c echo.Context) error {
	action, text, limit := c.QueryParam("action"), c.QueryParam("text"), 100
	for name, value := range map[string]string{"action": action, "text": text} {
		if len(value) > mostLogText || value != requests.Clean(value) {
			return badParameter(name, fmt.Sprintf("text of at most %d bytes", mostLogText))
		}
	}
	var err error
	if given := c.QueryParam("limit"); given != "" {
		if limit, err = strconv.Atoi(given); err != nil || limit < 1 || limit > mostLogged {
			return badParameter("limit", fmt.Sprintf("a number from 1 to %d", mostLogged))
		}
	}
	var before *time.Time
	var beforeID uuid.UUID
	if given := c.QueryParam("before"); given != "" {
		at, id, _ := strings.Cut(given, "_")
		parsed, timeErr := time.Parse(time.RFC3339Nano, at)
		if beforeID, err = uuid.Parse(id); err != nil || timeErr != nil {
			return badParameter("before", "what an earlier page gave")
		}
		before = &parsed
	}
	ctx, body := c.Request().Context(), AuthEventsBody{Events: []AuthEvent{}}
	err = d.pool.Use(ctx, performanceSession(), func(conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, authEvents, before, beforeID, action, text, limit+1)
		if err != nil {
			return err
		}
		body.Events, err = pgx.AppendRows(body.Events, rows, func(row pgx.CollectableRow) (e AuthEvent, err error) {
			err = row.Scan(&e.ID, &e.At, &e.Action, &e.Kind, &e.ActorID, &e.Actor, &e.IP, &e.Payload)
			e.At = e.At.UTC()
			return e, err
		})
		return err
	})
	if err != nil {
		return err
	}
	if len(body.Events) > limit {
		body.Events = body.Events[:limit]
		last := body.Events[limit-1]
		next := last.At.Format(time.RFC3339Nano) + "_" + last.ID.String()
		body.Next = &next
	}
	return c.JSON(http.StatusOK, body)
}
