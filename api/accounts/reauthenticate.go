package accounts

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

func (f *face) reauthenticateRoutes() routes {
	return routes{"/reauthenticate": {http.MethodGet: f.reauthenticate}}
}

// reauthenticate answers GET /reauthenticate: a nonce goes to the user's address.
func (f *face) reauthenticate(c echo.Context) error {
	p, err := f.principal(c)
	if err != nil {
		return err
	}
	if err := f.service.Reauthenticate(c.Request().Context(), f.caller(c), p); err != nil {
		return err
	}
	return done(c)
}
