package admin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"basalt/auth/administrator"
	"basalt/auth/outbox"
)

// listedByDefault is how many messages are listed when no number is asked for.
const listedByDefault = 100

// messageBody is a message as an administrator reads it. What is secret about it is shown: it is here to be used.
type messageBody struct {
	ID         uuid.UUID      `json:"id"`
	Channel    outbox.Channel `json:"channel"`
	Kind       string         `json:"kind"`
	State      outbox.State   `json:"state"`
	UserID     *uuid.UUID     `json:"user_id"`
	To         string         `json:"to"`
	NewEmail   string         `json:"new_email,omitempty"`
	Link       string         `json:"link,omitempty"`
	Token      string         `json:"token,omitempty"`
	TokenHash  string         `json:"token_hash,omitempty"`
	LinkNew    string         `json:"link_new,omitempty"`
	TokenNew   string         `json:"token_new,omitempty"`
	HashNew    string         `json:"token_hash_new,omitempty"`
	RedirectTo string         `json:"redirect_to,omitempty"`
	CreatedAt  time.Time      `json:"created_at"`
	ExpiresAt  time.Time      `json:"expires_at"`
	DueAt      *time.Time     `json:"due_at,omitempty"`
	Attempts   int            `json:"attempts"`
	Failure    string         `json:"failure,omitempty"`
	Unreadable bool           `json:"unreadable,omitempty"`
}

func bodyOf(e *outbox.Entry) messageBody {
	body := messageBody{
		ID: e.ID, Channel: e.Channel, Kind: e.Kind, State: e.State,
		CreatedAt: e.CreatedAt.UTC(), ExpiresAt: e.ExpiresAt.UTC(), Attempts: e.Attempts, Failure: e.Failure, Unreadable: e.Unreadable,
	}
	if e.UserID != uuid.Nil {
		body.UserID = &e.UserID
	}
	if e.State == outbox.Queued {
		due := e.DueAt.UTC()
		body.DueAt = &due
	}
	if e.Channel != outbox.Email {
		body.To, body.Token = e.SMS.To, e.SMS.Code.Reveal()
		return body
	}
	m := e.Mail
	body.To, body.NewEmail, body.RedirectTo = m.To, m.NewEmail, m.RedirectTo
	body.Link, body.Token, body.TokenHash = m.Link.Reveal(), m.Token.Reveal(), m.TokenHash.Reveal()
	body.LinkNew, body.TokenNew, body.HashNew = m.LinkNew.Reveal(), m.TokenNew.Reveal(), m.TokenHashNew.Reveal()
	return body
}

// listOutbox answers GET /outbox?limit=: mails and text messages that wait, or that could not be sent, newest first.
func (o *Options) listOutbox(c echo.Context) error {
	most := listedByDefault
	if text := c.QueryParam("limit"); text != "" {
		var err error
		if most, err = strconv.Atoi(text); err != nil || most < 1 || most > outbox.MostListed {
			return echo.NewHTTPError(http.StatusBadRequest, fmt.Sprintf("limit must be a number from 1 to %d", outbox.MostListed))
		}
	}
	entries, err := o.Outbox.List(c.Request().Context(), most)
	if err != nil {
		return err
	}
	bodies := make([]messageBody, len(entries))
	for i := range entries {
		bodies[i] = bodyOf(&entries[i])
	}
	c.Response().Header().Set(echo.HeaderContentType, echo.MIMEApplicationJSON)
	c.Response().WriteHeader(http.StatusOK)
	encoder := json.NewEncoder(c.Response())
	encoder.SetEscapeHTML(false) // links are to be copied as they stand
	return encoder.Encode(struct {
		Messages []messageBody `json:"messages"`
	}{bodies})
}

// clearOutbox answers DELETE /outbox: all messages go that are not to be sent any more.
func (o *Options) clearOutbox(c echo.Context) error {
	removed, err := o.Outbox.RemoveKept(c.Request().Context())
	if err != nil {
		return err
	}
	if err := o.audit(c, o.DB, administrator.Change{Action: "outbox.clear", Target: "outbox", Before: map[string]int64{"messages": removed}}); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, struct {
		Removed int64 `json:"removed"`
	}{removed})
}

// removeMessage answers DELETE /outbox/{id}, of any message.
func (o *Options) removeMessage(c echo.Context) error {
	id, err := uuid.Parse(c.Param("id"))
	if err != nil {
		return echo.NewHTTPError(http.StatusBadRequest, "the id of a message is a UUID")
	}
	found, err := o.Outbox.Remove(c.Request().Context(), id)
	switch {
	case err != nil:
		return err
	case !found:
		return echo.NewHTTPError(http.StatusNotFound, "there is no such message")
	}
	if err := o.audit(c, o.DB, administrator.Change{Action: "outbox.remove", Target: id.String()}); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
