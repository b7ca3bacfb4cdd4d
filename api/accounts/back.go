package accounts

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"basalt/auth"
)

// leadBack leads a browser back to the app. What it takes along must not reach a third site by the header Referer.
func leadBack(c echo.Context, to string) error {
	c.Response().Header().Set("Referrer-Policy", "no-referrer")
	return c.Redirect(http.StatusSeeOther, to)
}

// refusalValues tell an app why somebody comes back without a session.
func (f *face) refusalValues(c echo.Context, err error) url.Values {
	var refusal *auth.OAuthRefusal
	if errors.As(err, &refusal) {
		return url.Values{"error": {short(refusal.Name)}, "error_description": {short(refusal.Description)}}
	}
	p := translate(err)
	f.report(c, p)
	return url.Values{"error": {kindOf(p)}, "error_code": {string(p.code)}, "error_description": {p.message}}
}

const maxRefusal = 512

// short bounds what another server says.
func short(text string) string {
	if len(text) > maxRefusal {
		text = strings.ToValidUTF8(text[:maxRefusal], "")
	}
	return text
}
