package accounts

import (
	"errors"
	"net/http"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"basalt/auth"
)

// sessionRoutes are Basalt's own: Supabase's API can end sessions by scope, and tells of none.
func (f *face) sessionRoutes() routes {
	return routes{
		"/user/sessions":                     {http.MethodGet: f.listSessions},
		"/user/sessions/:session":            {http.MethodDelete: f.endSession},
		"/admin/users/:id/sessions":          {http.MethodGet: f.admin(f.adminListSessions), http.MethodDelete: f.admin(f.adminEndSessions)},
		"/admin/users/:id/sessions/:session": {http.MethodDelete: f.admin(f.adminEndSession)},
	}
}

// listSessions answers GET /user/sessions.
func (f *face) listSessions(c echo.Context) error {
	p, err := f.principal(c)
	if err != nil {
		return err
	}
	found, err := f.service.Sessions(c.Request().Context(), p)
	if err != nil {
		return err
	}
	return c.JSONBlob(http.StatusOK, sessionsBody(found))
}

// endSession answers DELETE /user/sessions/{session}.
func (f *face) endSession(c echo.Context) error {
	p, err := f.principal(c)
	if err != nil {
		return err
	}
	id, err := sessionID(c)
	if err != nil {
		return err
	}
	if err := f.service.EndSession(c.Request().Context(), f.caller(c), p, id); err != nil {
		return missingSession(err)
	}
	return c.NoContent(http.StatusNoContent)
}

// adminListSessions answers GET /admin/users/{id}/sessions.
func (f *face) adminListSessions(c echo.Context) error {
	user, err := userID(c)
	if err != nil {
		return err
	}
	found, err := f.service.AdminSessions(c.Request().Context(), user)
	if err != nil {
		return err
	}
	return c.JSONBlob(http.StatusOK, sessionsBody(found))
}

// adminEndSessions answers DELETE /admin/users/{id}/sessions.
func (f *face) adminEndSessions(c echo.Context) error {
	user, err := userID(c)
	if err != nil {
		return err
	}
	if err := f.service.AdminEndSessions(c.Request().Context(), f.caller(c), user, nil); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// adminEndSession answers DELETE /admin/users/{id}/sessions/{session}.
func (f *face) adminEndSession(c echo.Context) error {
	user, err := userID(c)
	if err != nil {
		return err
	}
	id, err := sessionID(c)
	if err != nil {
		return err
	}
	if err := f.service.AdminEndSession(c.Request().Context(), f.caller(c), user, id, nil); err != nil {
		return missingSession(err)
	}
	return c.NoContent(http.StatusNoContent)
}

func sessionID(c echo.Context) (uuid.UUID, error) {
	text := c.Param("session")
	id, err := uuid.Parse(text)
	if err != nil || len(text) != 36 {
		return uuid.Nil, &problem{status: http.StatusNotFound, code: auth.CodeValidationFailed, message: "session_id must be an UUID"}
	}
	return id, nil
}

// missingSession answers 404 where the path names the session; where the token does, its lack is 403.
func missingSession(err error) error {
	var refusal *auth.Error
	if errors.As(err, &refusal) && refusal.Code == auth.CodeSessionNotFound && !refusal.Denied {
		return &problem{status: http.StatusNotFound, code: refusal.Code, message: refusal.Message}
	}
	return err
}

func sessionsBody(found []auth.SessionInfo) []byte {
	s := make(shape, 0, 256+512*len(found))
	s.open()
	s.list("sessions", len(found), func(i int) { s.sessionInfo(&found[i]) })
	s.close()
	return s
}

func (s *shape) sessionInfo(i *auth.SessionInfo) {
	s.id("id", i.ID)
	s.instant("created_at", i.CreatedAt)
	s.instant("updated_at", i.UpdatedAt)
	s.instantIf("refreshed_at", i.RefreshedAt)
	s.instantIf("not_after", i.NotAfter)
	s.text("aal", i.Level)
	s.list("amr", len(i.Methods), func(at int) {
		s.text("method", i.Methods[at].Method)
		s.instantIf("at", i.Methods[at].At)
	})
	s.text("user_agent", i.UserAgent)
	s.text("ip", i.IP)
	if i.ClientID != uuid.Nil {
		s.id("client_id", i.ClientID)
		s.textIf("client_name", i.ClientName)
		s.textIf("scope", i.Scopes)
	}
	s.flag("current", i.Current)
}
