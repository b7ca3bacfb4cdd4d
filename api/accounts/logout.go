package accounts

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"basalt/auth"
)

func (f *face) logoutRoutes() routes {
	return routes{
		"/logout": {http.MethodPost: f.logout},
	}
}

// logout answers POST /logout?scope=…: 204, also when the session was over already.
func (f *face) logout(c echo.Context) error {
	p, err := f.holder(c)
	if err != nil {
		return err
	}
	if err := f.service.SignOut(c.Request().Context(), f.caller(c), p, auth.Scope(c.QueryParam("scope"))); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
