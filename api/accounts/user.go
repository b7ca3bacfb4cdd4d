package accounts

import (
	"encoding/json"
	"net/http"

	"github.com/labstack/echo/v4"

	"basalt/auth"
)

func (f *face) userRoutes() routes {
	return routes{
		"/user": {http.MethodGet: f.getUser, http.MethodPut: f.putUser},
	}
}

type userRequest struct {
	Email           string          `json:"email"`
	Phone           string          `json:"phone"`
	Password        string          `json:"password"`
	CurrentPassword string          `json:"current_password"`
	Data            json.RawMessage `json:"data"`
	AppMetadata     json.RawMessage `json:"app_metadata"`
	Nonce           string          `json:"nonce"`
	Channel         string          `json:"channel"`
	challengeRequest
}

// getUser answers GET /user: the account as it is now, not as the token remembers it.
func (f *face) getUser(c echo.Context) error {
	p, err := f.holder(c)
	if err != nil {
		return err
	}
	u, err := f.service.User(c.Request().Context(), p)
	if err != nil {
		return err
	}
	return c.JSONBlob(http.StatusOK, userBody(u))
}

// putUser answers PUT /user.
func (f *face) putUser(c echo.Context) error {
	p, err := f.principal(c)
	if err != nil {
		return err
	}
	var in userRequest
	if err := read(c, &in); err != nil {
		return err
	}
	u, err := f.service.UpdateUser(c.Request().Context(), f.caller(c), p, auth.UserChange{
		Email: in.Email, Phone: in.Phone, Password: auth.Secret(in.Password), CurrentPassword: auth.Secret(in.CurrentPassword),
		Data: in.Data, AppMetadata: in.AppMetadata,
		Nonce: auth.Secret(in.Nonce), Channel: in.Channel, Return: f.wayBack(c, in.challengeRequest),
	})
	if err != nil {
		return err
	}
	return c.JSONBlob(http.StatusOK, userBody(u))
}
