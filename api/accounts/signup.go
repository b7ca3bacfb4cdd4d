package accounts

import (
	"encoding/json"
	"net/http"

	"github.com/labstack/echo/v4"

	"basalt/auth"
)

func (f *face) signUpRoutes() routes {
	return routes{
		"/signup": {http.MethodPost: f.human(f.signUp)},
	}
}

type signUpRequest struct {
	Email    string          `json:"email"`
	Phone    string          `json:"phone"`
	Password string          `json:"password"`
	Data     json.RawMessage `json:"data"`
	Channel  string          `json:"channel"`
	challengeRequest
}

// signUp answers POST /signup: a session when the account is good at once, else the bare user.
func (f *face) signUp(c echo.Context) error {
	var in signUpRequest
	if err := read(c, &in); err != nil {
		return err
	}
	out, err := f.service.SignUp(c.Request().Context(), f.caller(c), auth.SignUp{
		Email: in.Email, Phone: in.Phone, Password: auth.Secret(in.Password), Data: in.Data,
		Channel: in.Channel, Return: f.wayBack(c, in.challengeRequest),
	})
	switch {
	case err != nil:
		return err
	case out.Session != nil:
		return c.JSONBlob(http.StatusOK, sessionBody(out.Session))
	}
	return c.JSONBlob(http.StatusOK, userBody(out.User))
}
