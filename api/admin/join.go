package admin

import (
	"github.com/labstack/echo/v4"

	"basalt/auth"
)

// JoinRequest is the body of POST /join.
type JoinRequest struct {
	// Token is from a link that an owner has made.
	Token    auth.Secret `json:"token" tstype:"string"`
	Password auth.Secret `json:"password" tstype:"string"`
}

// join answers POST /join: it sets the password of whom the link was made for and signs them in. Who has a second factor is
// answered second_factor_needed when the password is set, and signs in with both.
func (o *Options) join(c echo.Context) error {
	var in JoinRequest
	if err := readJSON(c, &in); err != nil {
		return err
	}
	opened, err := o.Administrators.Join(c.Request().Context(), callerOf(c), in.Token, in.Password, o.token(c.Request()))
	if err != nil {
		return err
	}
	return o.welcome(c, opened)
}
