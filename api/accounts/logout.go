package accounts

import (
	"net/http"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"basalt/auth"
)

func (f *face) logoutRoutes() routes {
	return routes{
		"/logout": {http.MethodPost: f.logout},
	}
}

// logout answers POST /logout?scope=…: 204, also when the session was over already. An OAuth client ends its own session
// and nobody else's.
func (f *face) logout(c echo.Context) error {
	p, err := f.holder(c)
	if err != nil {
		return err
	}
	scope := auth.Scope(c.QueryParam("scope"))
	if p.ClientID != uuid.Nil {
		if scope == auth.ScopeOthers {
			return notForClients()
		}
		scope = auth.ScopeLocal
	}
	if err := f.service.SignOut(c.Request().Context(), f.caller(c), p, scope); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
