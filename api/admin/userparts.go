package admin

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/labstack/echo/v4"

	"basalt/auth"
	"basalt/auth/administrator"
)

// UserSessionRow is a living session of a user.
type UserSessionRow struct {
	ID          uuid.UUID  `json:"id"`
	CreatedAt   *time.Time `json:"created_at"`
	RefreshedAt *time.Time `json:"refreshed_at"`
	NotAfter    *time.Time `json:"not_after"`
	Level       string     `json:"level"`
	UserAgent   string     `json:"user_agent"`
	IP          string     `json:"ip"`
	Client      string     `json:"client"`
	Methods     []string   `json:"methods"`
}

// UserSessions is the answer of GET /users/{id}/sessions.
type UserSessions struct {
	Sessions []UserSessionRow `json:"sessions"`
}

// listUserSessions answers GET /users/{id}/sessions, the newest first.
func (o *Options) listUserSessions(c echo.Context) error {
	id, err := idOf(c, "a user")
	if err != nil {
		return err
	}
	found, err := o.Accounts.AdminSessions(c.Request().Context(), id)
	if err != nil {
		return err
	}
	out := UserSessions{Sessions: make([]UserSessionRow, len(found))}
	for i, s := range found {
		row := UserSessionRow{
			ID: s.ID, CreatedAt: s.CreatedAt, RefreshedAt: s.RefreshedAt, NotAfter: s.NotAfter, Level: s.Level,
			UserAgent: s.UserAgent, IP: s.IP, Client: s.ClientName, Methods: []string{},
		}
		for _, m := range s.Methods {
			row.Methods = append(row.Methods, m.Method)
		}
		out.Sessions[i] = row
	}
	return c.JSON(http.StatusOK, out)
}

// endUserSessions answers DELETE /users/{id}/sessions.
func (o *Options) endUserSessions(c echo.Context) error {
	id, err := idOf(c, "a user")
	if err != nil {
		return err
	}
	if err := o.Accounts.AdminEndSessions(c.Request().Context(), trustedOf(c), id, o.record(c, "user.sessions.end", nil, nil)); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// endUserSession answers DELETE /users/{id}/sessions/{session}.
func (o *Options) endUserSession(c echo.Context) error {
	id, err := idOf(c, "a user")
	if err != nil {
		return err
	}
	session, err := partOf(c, "session")
	if err != nil {
		return err
	}
	record := o.record(c, "user.session.end", map[string]uuid.UUID{"session": session}, nil)
	if err := o.Accounts.AdminEndSession(c.Request().Context(), trustedOf(c), id, session, record); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// removeUserFactor answers DELETE /users/{id}/factors/{factor}.
func (o *Options) removeUserFactor(c echo.Context) error {
	id, err := idOf(c, "a user")
	if err != nil {
		return err
	}
	factor, err := partOf(c, "factor")
	if err != nil {
		return err
	}
	_, err = o.Accounts.AdminDeleteFactor(c.Request().Context(), trustedOf(c), id, factor, func(tx pgx.Tx, gone *auth.Factor) error {
		before := map[string]string{"factor": factor.String(), "type": gone.Type, "name": gone.FriendlyName}
		return o.audit(c, tx, administrator.Change{Action: "user.factor.remove", Target: id.String(), Before: before})
	})
	if err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// UserAuditRow is something that has happened to an account.
type UserAuditRow struct {
	ID uuid.UUID  `json:"id"`
	At *time.Time `json:"at"`
	// By is who has done it; Action is what, in the words of the audit log.
	By       string `json:"by"`
	Action   string `json:"action"`
	Provider string `json:"provider"`
	IP       string `json:"ip"`
}

// UserAudit is the answer of GET /users/{id}/audit.
type UserAudit struct {
	Entries []UserAuditRow `json:"entries"`
}

// auditOfUser answers GET /users/{id}/audit, the newest entries first.
func (o *Options) auditOfUser(c echo.Context) error {
	id, err := idOf(c, "a user")
	if err != nil {
		return err
	}
	entries, err := o.Accounts.AdminUserAudit(c.Request().Context(), id)
	if err != nil {
		return err
	}
	out := UserAudit{Entries: make([]UserAuditRow, len(entries))}
	for i := range entries {
		var payload struct {
			Action string `json:"action"`
			Actor  string `json:"actor_username"`
			Traits struct {
				Provider string `json:"provider"`
			} `json:"traits"`
		}
		// Entries that another server has left may have any form: what is not understood is left out.
		_ = json.Unmarshal(entries[i].Payload, &payload)
		out.Entries[i] = UserAuditRow{
			ID: entries[i].ID, At: entries[i].CreatedAt, By: payload.Actor, Action: payload.Action, Provider: payload.Traits.Provider, IP: entries[i].IPAddress,
		}
	}
	return c.JSON(http.StatusOK, out)
}
