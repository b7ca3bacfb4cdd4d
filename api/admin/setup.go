package admin

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"basalt/auth"
)

// setups puts the routes by which the first administrator is made on the group.
func (o *Options) setups(g *echo.Group) {
	o.open(g, "GET", "/setup", o.setupNeeded)
	o.open(g, "POST", "/setup", o.setUp)
}

// SetupState is the answer of GET /setup.
type SetupState struct {
	// Needed tells that there is no administrator yet.
	Needed bool `json:"needed"`
}

// setupNeeded answers GET /setup.
func (o *Options) setupNeeded(c echo.Context) error {
	needed, err := o.Administrators.SetupNeeded(c.Request().Context())
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, SetupState{needed})
}

// SetupRequest is the body of POST /setup.
type SetupRequest struct {
	// Token is from the link that the server has printed.
	Token    auth.Secret `json:"token" tstype:"string"`
	Email    string      `json:"email"`
	Password auth.Secret `json:"password" tstype:"string"`
}

// setUp answers POST /setup: it makes the first administrator and signs them in.
func (o *Options) setUp(c echo.Context) error {
	var in SetupRequest
	if err := readJSON(c, &in); err != nil {
		return err
	}
	opened, err := o.Administrators.SetUp(c.Request().Context(), callerOf(c), in.Token, in.Email, in.Password, o.token(c.Request()))
	if err != nil {
		return err
	}
	return o.welcome(c, opened)
}
