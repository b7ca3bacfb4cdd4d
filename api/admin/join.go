package admin

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"basalt/auth"
)

// JoinRequest is the body of POST /join.
type JoinRequest struct {
	// Token is from a link that an owner has made.
	Token    auth.Secret `json:"token" tstype:"string"`
	Password auth.Secret `json:"password" tstype:"string"`
}

// join answers POST /join: it sets the password of whom the link was made for, who then signs in with it, and with the
// second factor where there is one.
func (o *Options) join(c echo.Context) error {
	var in JoinRequest
	if err := readJSON(c, &in); err != nil {
		return err
	}
	if err := o.Administrators.Join(c.Request().Context(), callerOf(c), in.Token, in.Password); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
