package accounts

import (
	"net/http"
	"net/url"

	"github.com/labstack/echo/v4"

	"basalt/auth"
)

// pkceGrant answers POST /token?grant_type=pkce: a session for the code of a link or a provider.
func (f *face) pkceGrant(c echo.Context) error {
	var in struct {
		AuthCode     string `json:"auth_code"`
		CodeVerifier string `json:"code_verifier"`
	}
	if err := read(c, &in); err != nil {
		return err
	}
	session, err := f.service.ExchangeCode(c.Request().Context(), f.caller(c), auth.Secret(in.AuthCode), auth.Secret(in.CodeVerifier))
	if err != nil {
		return err
	}
	return c.JSONBlob(http.StatusOK, sessionBody(session))
}

// redirectTo is where a flow leads back to: what the query or the header redirect_to asks for, else the page that the
// request comes from, if these are listed, else the site. Of that page neither query nor fragment is kept.
func (f *face) redirectTo(c echo.Context) string {
	asked := c.QueryParam("redirect_to")
	if asked == "" {
		asked = c.Request().Header.Get("redirect_to")
	}
	page := ""
	if u, err := url.Parse(c.Request().Referer()); err == nil && u.Host != "" {
		u.RawQuery, u.ForceQuery, u.Fragment, u.RawFragment = "", false, "", ""
		page = u.String()
	}
	return f.service.RedirectTarget(asked, page)
}
