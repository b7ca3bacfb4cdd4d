package accounts

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"basalt/auth"
)

func (f *face) tokenRoutes() routes {
	return routes{
		"/token": {http.MethodPost: f.humanGrant(f.token)},
	}
}

// token answers POST /token?grant_type=…: a session for a proof. Each grant has its own body.
func (f *face) token(c echo.Context) error {
	switch c.QueryParam("grant_type") {
	case "password":
		return f.passwordGrant(c)
	case "refresh_token":
		return f.refreshGrant(c)
	case "id_token":
		return f.idTokenGrant(c)
	case "pkce":
		return f.pkceGrant(c)
	}
	return &problem{status: http.StatusBadRequest, code: auth.CodeInvalidCredentials, message: "unsupported_grant_type"}
}

func (f *face) passwordGrant(c echo.Context) error {
	var in struct {
		Email    string `json:"email"`
		Phone    string `json:"phone"`
		Password string `json:"password"`
	}
	if err := read(c, &in); err != nil {
		return err
	}
	session, err := f.service.SignIn(c.Request().Context(), f.caller(c), auth.Credentials{
		Email: in.Email, Phone: in.Phone, Password: auth.Secret(in.Password),
	})
	if err != nil {
		return err
	}
	return c.JSONBlob(http.StatusOK, sessionBody(session))
}

func (f *face) refreshGrant(c echo.Context) error {
	var in struct {
		RefreshToken string `json:"refresh_token"`
	}
	if err := read(c, &in); err != nil {
		return err
	}
	session, err := f.service.Refresh(c.Request().Context(), f.caller(c), auth.Secret(in.RefreshToken))
	if err != nil {
		return err
	}
	return c.JSONBlob(http.StatusOK, sessionBody(session))
}
