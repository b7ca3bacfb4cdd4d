package accounts

import (
	"bytes"
	"io"

	"github.com/labstack/echo/v4"
)

// human lets only people through, where captchas are asked for: the request's body has to hold a captcha's token.
func (f *face) human(h handler) handler {
	return func(c echo.Context) error {
		if !f.service.CaptchaRequired() {
			return h(c)
		}
		caller := f.caller(c)
		if caller.Trusted {
			return h(c)
		}
		text, err := body(c)
		if err != nil {
			return err
		}
		var in struct {
			Security struct {
				Token string `json:"captcha_token"`
			} `json:"gotrue_meta_security"`
		}
		if len(text) > 0 {
			if err := parse(text, &in); err != nil {
				return err
			}
		}
		if err := f.service.CheckCaptcha(c.Request().Context(), caller, in.Security.Token); err != nil {
			return err
		}
		c.Request().Body = io.NopCloser(bytes.NewReader(text))
		return h(c)
	}
}

// humanGrant is human for the grants that are not themselves the fruit of one: what was solved once need not be solved
// again at each refresh.
func (f *face) humanGrant(h handler) handler {
	asked := f.human(h)
	return func(c echo.Context) error {
		switch c.QueryParam("grant_type") {
		case "refresh_token", "pkce", "id_token":
			return h(c)
		}
		return asked(c)
	}
}
