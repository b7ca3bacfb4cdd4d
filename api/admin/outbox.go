package admin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/labstack/echo/v4"

	"basalt/auth/administrator"
	"basalt/auth/mail"
	"basalt/auth/outbox"
)

// listedByDefault is how many messages are listed when no number is asked for.
const listedByDefault = 100

// MessageBody is a message as an administrator reads it. What is secret about it is shown: it is here to be used.
type MessageBody struct {
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

func bodyOf(e *outbox.Entry) MessageBody {
	body := MessageBody{
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

// outbox puts the routes of the outbox on the group. Its links let their reader in as a user: viewers get none of it.
func (o *Options) outbox(g *echo.Group) {
	o.brief(g, "GET", "/outbox", editor, o.listOutbox)
	o.brief(g, "DELETE", "/outbox", editor, o.clearOutbox)
	o.brief(g, "GET", "/outbox/:id", editor, o.readMessage)
	o.brief(g, "GET", "/outbox/:id/html", editor, o.drawMessage)
	o.brief(g, "POST", "/outbox/:id/retry", editor, o.retryMessage)
	o.brief(g, "DELETE", "/outbox/:id", editor, o.removeMessage)
}

// OutboxList is the answer of GET /outbox.
type OutboxList struct {
	Messages []MessageBody `json:"messages"`
	// Mails and Texts tell whether there is a way to send them.
	Mails bool `json:"mails"`
	Texts bool `json:"texts"`
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
	list := OutboxList{Messages: make([]MessageBody, len(entries))}
	list.Mails, list.Texts = o.Outbox.Ways()
	for i := range entries {
		list.Messages[i] = bodyOf(&entries[i])
	}
	c.Response().Header().Set(echo.HeaderContentType, echo.MIMEApplicationJSON)
	c.Response().WriteHeader(http.StatusOK)
	encoder := json.NewEncoder(c.Response())
	encoder.SetEscapeHTML(false) // links are to be copied as they stand
	return encoder.Encode(list)
}

// MessageLetter is the answer of GET /outbox/{id}: a message as its reader gets it.
type MessageLetter struct {
	Message MessageBody `json:"message"`
	Subject string      `json:"subject"`
	Text    string      `json:"text"`
	// HTML tells that there is one, at /outbox/{id}/html.
	HTML bool `json:"html"`
}

// letter finds a message and writes what its reader gets.
func (o *Options) letter(c echo.Context) (*outbox.Entry, mail.Letter, error) {
	id, err := idOf(c, "a message")
	if err != nil {
		return nil, mail.Letter{}, err
	}
	e, err := o.Outbox.Find(c.Request().Context(), id)
	switch {
	case err != nil:
		return nil, mail.Letter{}, err
	case e == nil:
		return nil, mail.Letter{}, noMessage()
	case e.Unreadable || e.Channel != outbox.Email:
		return e, mail.Letter{}, nil
	}
	templates, err := o.Templates.Current(c.Request().Context())
	if err != nil {
		return nil, mail.Letter{}, err
	}
	letter, err := templates.Write(e.Mail, o.SiteURL)
	if err != nil {
		p := refuse(http.StatusUnprocessableEntity, "template_failed", "The template of this mail does not work")
		p.Details, p.cause = err.Error(), err
		return nil, mail.Letter{}, p
	}
	return e, letter, nil
}

func noMessage() *refusal {
	p := refuse(http.StatusNotFound, "message_not_found", "There is no such message")
	p.Hint = "It was sent, removed, or has become too old meanwhile."
	return p
}

// readMessage answers GET /outbox/{id}.
func (o *Options) readMessage(c echo.Context) error {
	e, letter, err := o.letter(c)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, MessageLetter{Message: bodyOf(e), Subject: letter.Subject, Text: letter.Text, HTML: letter.HTML != ""})
}

// policyOfMails lets a mail look as it does at its reader's, and do nothing: it has an origin of its own and asks nobody.
const policyOfMails = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; " +
	"frame-ancestors 'self'; sandbox"

// drawMessage answers GET /outbox/{id}/html with the mail itself, for a frame.
func (o *Options) drawMessage(c echo.Context) error {
	_, letter, err := o.letter(c)
	if err != nil {
		return err
	}
	if letter.HTML == "" {
		return noMessage()
	}
	return drawMail(c, letter.HTML)
}

// drawMail answers with the HTML of a mail, which does nothing.
func drawMail(c echo.Context, html string) error {
	header := c.Response().Header()
	header.Set("Content-Security-Policy", policyOfMails)
	header.Set("Referrer-Policy", "no-referrer")
	return c.HTML(http.StatusOK, html)
}

// retryMessage answers POST /outbox/{id}/retry of a message that was kept or given up.
func (o *Options) retryMessage(c echo.Context) error {
	id, err := idOf(c, "a message")
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	err = pgx.BeginFunc(ctx, o.DB, func(tx pgx.Tx) error {
		queued, err := o.Outbox.Retry(ctx, tx, id)
		switch {
		case err != nil:
			return err
		case !queued:
			p := refuse(http.StatusConflict, "not_retried", "This message cannot be sent again")
			p.Hint = "It may be on its way already, have expired, or there is no way to send it: set --smtp-url."
			return p
		}
		return o.audit(c, tx, administrator.Change{Action: "outbox.retry", Target: id.String()})
	})
	if err != nil {
		return err
	}
	o.Outbox.Awaken()
	return c.NoContent(http.StatusNoContent)
}

// clearOutbox answers DELETE /outbox: all messages go that are not to be sent any more.
func (o *Options) clearOutbox(c echo.Context) error {
	ctx := c.Request().Context()
	var removed int64
	err := pgx.BeginFunc(ctx, o.DB, func(tx pgx.Tx) (err error) {
		if removed, err = o.Outbox.RemoveKept(ctx, tx); err != nil {
			return err
		}
		return o.audit(c, tx, administrator.Change{Action: "outbox.clear", Target: "outbox", Before: map[string]int64{"messages": removed}})
	})
	if err != nil {
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
	ctx := c.Request().Context()
	err = pgx.BeginFunc(ctx, o.DB, func(tx pgx.Tx) error {
		found, err := o.Outbox.Remove(ctx, tx, id)
		switch {
		case err != nil:
			return err
		case !found:
			return echo.NewHTTPError(http.StatusNotFound, "there is no such message")
		}
		return o.audit(c, tx, administrator.Change{Action: "outbox.remove", Target: id.String()})
	})
	if err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
