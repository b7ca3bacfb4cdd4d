package accounts

import (
	"encoding/json"
	"net/http"

	"github.com/labstack/echo/v4"

	"basalt/auth"
)

func (f *face) inviteRoutes() routes {
	return routes{
		"/invite":              {http.MethodPost: f.admin(f.invite)},
		"/admin/generate_link": {http.MethodPost: f.admin(f.generateLink)},
	}
}

// invite answers POST /invite.
func (f *face) invite(c echo.Context) error {
	var in struct {
		Email string          `json:"email"`
		Data  json.RawMessage `json:"data"`
	}
	if err := read(c, &in); err != nil {
		return err
	}
	u, err := f.service.Invite(c.Request().Context(), f.caller(c), auth.Invite{Email: in.Email, Data: in.Data, RedirectTo: f.redirectTo(c)}, nil)
	if err != nil {
		return err
	}
	return c.JSONBlob(http.StatusOK, userBody(u))
}

// generateLink answers POST /admin/generate_link: the link, and what it is made of, beside the user's own fields.
func (f *face) generateLink(c echo.Context) error {
	var in struct {
		Type       string          `json:"type"`
		Email      string          `json:"email"`
		NewEmail   string          `json:"new_email"`
		Password   string          `json:"password"`
		Data       json.RawMessage `json:"data"`
		RedirectTo string          `json:"redirect_to"`
	}
	if err := read(c, &in); err != nil {
		return err
	}
	if in.RedirectTo == "" {
		in.RedirectTo = f.redirectTo(c)
	}
	out, err := f.service.GenerateLink(c.Request().Context(), f.caller(c), auth.LinkRequest{
		Type: in.Type, Email: in.Email, NewEmail: in.NewEmail, Password: auth.Secret(in.Password), Data: in.Data, RedirectTo: in.RedirectTo,
	}, nil)
	if err != nil {
		return err
	}
	return c.JSONBlob(http.StatusOK, generatedLinkBody(out))
}

func generatedLinkBody(out *auth.GeneratedLink) []byte {
	s := make(shape, 0, 2*sizeOfUser)
	s.open()
	s.user(out.User)
	s.text("action_link", out.Link.Reveal())
	s.text("email_otp", out.Code.Reveal())
	s.text("hashed_token", out.TokenHash.Reveal())
	s.text("verification_type", out.Type)
	s.text("redirect_to", out.RedirectTo)
	s.close()
	return s
}
