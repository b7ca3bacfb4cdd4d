package admin

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"basalt/auth"
	"basalt/auth/administrator"
)

// LinkRequest is the body of POST /join/link. The token is in the body, not in the address, which logs keep.
type LinkRequest struct {
	Token auth.Secret `json:"token" tstype:"string"`
}

// LinkBody is the answer of POST /join/link.
type LinkBody struct {
	Purpose string             `json:"purpose" tstype:"'invite' | 'reset'"`
	Email   string             `json:"email"`
	Role    administrator.Role `json:"role"`
	// InvitedBy is the address of who invited them, empty when that is not known or was done by the command line.
	InvitedBy string `json:"invited_by"`
}

// seeLink answers POST /join/link: it tells who holds a link whom it is for, and leaves it good.
func (o *Options) seeLink(c echo.Context) error {
	var in LinkRequest
	if err := readJSON(c, &in); err != nil {
		return err
	}
	link, err := o.Administrators.SeeLink(c.Request().Context(), callerOf(c), in.Token)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, LinkBody(*link))
}

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
