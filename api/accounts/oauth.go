package accounts

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"basalt/auth"
)

// oauthRoutes sign users in at other servers, and keep the identities that come of it.
func (f *face) oauthRoutes() routes {
	return routes{
		"/authorize":                 {http.MethodGet: f.authorize},
		"/callback":                  {http.MethodGet: f.callback, http.MethodPost: f.callback},
		"/user/identities/authorize": {http.MethodGet: f.linkIdentity},
		"/user/identities/:id":       {http.MethodDelete: f.unlinkIdentity},
	}
}

// ownParams are those of the request itself; the others are the provider's.
var ownParams = [...]string{
	"provider", "redirect_to", "scopes", "code_challenge", "code_challenge_method", "skip_http_redirect", "apikey", "invite_token",
}

// authorize answers GET /authorize: it leads to the provider, or tells the address for skip_http_redirect.
func (f *face) authorize(c echo.Context) error { return f.depart(c, nil) }

// linkIdentity answers GET /user/identities/authorize: as authorize, for the account of the caller.
func (f *face) linkIdentity(c echo.Context) error {
	p, err := f.principal(c)
	if err != nil {
		return err
	}
	return f.depart(c, p)
}

func (f *face) depart(c echo.Context, linkTo *auth.Principal) error {
	query := c.QueryParams()
	params := url.Values{}
	for name, values := range query {
		params[name] = values
	}
	for _, own := range ownParams {
		params.Del(own)
	}
	in := auth.Authorize{
		Provider: query.Get("provider"), RedirectTo: f.redirectTo(c), Scopes: query.Get("scopes"), Params: params, LinkTo: linkTo,
		Challenge: query.Get("code_challenge"), ChallengeMethod: query.Get("code_challenge_method"),
	}
	skip := query.Get("skip_http_redirect") == "true"
	if !skip {
		in.Browser = f.browser(c)
	}
	out, err := f.service.Authorize(c.Request().Context(), f.caller(c), in)
	switch {
	case err != nil:
		return err
	case skip:
		return c.JSON(http.StatusOK, map[string]string{"url": out.URL})
	}
	c.SetCookie(f.browserCookie(in.Browser, out.Posted))
	c.Response().Header().Set("Referrer-Policy", "no-referrer")
	return c.Redirect(http.StatusFound, out.URL)
}

// callback answers GET and POST /callback: the provider leads the user back, and they are led on to the app.
func (f *face) callback(c echo.Context) error {
	value := c.QueryParam
	if c.Request().Method == http.MethodPost {
		form, err := readForm(c)
		if err != nil {
			return err
		}
		value = form.Get
	}
	out, err := f.service.ComeBack(c.Request().Context(), f.caller(c), auth.Callback{
		State: value("state"), Code: value("code"), Issuer: value("iss"), User: value("user"),
		Error: value("error"), ErrorDescription: value("error_description"), Browsers: f.browsers(c),
	})
	switch {
	case err != nil:
		return leadBack(c, f.refusalReturn(c, out.Redirect, err, out.PKCE))
	case out.Session == nil:
		return leadBack(c, codeReturn(out.Redirect, out.Code))
	}
	return leadBack(c, sessionReturn(out.Redirect, out.Session, nil))
}

// unlinkIdentity answers DELETE /user/identities/{id}.
func (f *face) unlinkIdentity(c echo.Context) error {
	p, err := f.principal(c)
	if err != nil {
		return err
	}
	id, err := uuid.Parse(c.Param("id"))
	if err != nil {
		return &problem{status: http.StatusNotFound, code: auth.CodeValidationFailed, message: "identity_id must be an UUID"}
	}
	if err := f.service.Unlink(c.Request().Context(), f.caller(c), p, id); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, struct{}{})
}

// idTokenGrant answers POST /token?grant_type=id_token. With link_identity the token's identity is added to the account
// of the caller.
func (f *face) idTokenGrant(c echo.Context) error {
	var in struct {
		Provider     string `json:"provider"`
		Issuer       string `json:"issuer"`
		IDToken      string `json:"id_token"`
		AccessToken  string `json:"access_token"`
		Nonce        string `json:"nonce"`
		LinkIdentity bool   `json:"link_identity"`
	}
	if err := read(c, &in); err != nil {
		return err
	}
	grant := auth.IDTokenGrant{
		Provider: in.Provider, Issuer: in.Issuer, IDToken: auth.Secret(in.IDToken), AccessToken: auth.Secret(in.AccessToken),
		Nonce: auth.Secret(in.Nonce),
	}
	if in.LinkIdentity {
		var err error
		if grant.LinkTo, err = f.principal(c); err != nil {
			return err
		}
	}
	session, err := f.service.SignInWithIDToken(c.Request().Context(), f.caller(c), grant)
	if err != nil {
		return err
	}
	return c.JSONBlob(http.StatusOK, sessionBody(session))
}

const (
	browserCookieName = "basalt-oauth"
	// postedSuffix marks the cookie that comes along with a form of another site too.
	postedSuffix = "-posted"
	// browserAge is longer than a sign-in at a provider may take.
	browserAge = 10 * time.Minute
)

// cookieName has, where the API is reached by https, the prefix that keeps other hosts of the domain and plain
// connections from setting it (RFC 6265bis §4.1.3.2).
func (f *face) cookieName(posted bool) string {
	name := browserCookieName
	if posted {
		name += postedSuffix
	}
	if f.secure() {
		name = "__Host-" + name
	}
	return name
}

func (f *face) secure() bool { return strings.HasPrefix(f.service.Issuer(), "https:") }

// browser is the secret by which a browser is known when it comes back: the one that it has, so that sign-ins in
// several tabs do not end each other, else a new one.
func (f *face) browser(c echo.Context) auth.Secret {
	for _, known := range f.browsers(c) {
		if len(known) == base64.RawURLEncoding.EncodedLen(browserLength) {
			return known
		}
	}
	return auth.DrawSecret(browserLength)
}

const browserLength = 24

// browsers are the secrets that a browser has.
func (f *face) browsers(c echo.Context) (found []auth.Secret) {
	for _, posted := range []bool{false, true} {
		if cookie, err := c.Cookie(f.cookieName(posted)); err == nil && cookie.Value != "" {
			found = append(found, auth.Secret(cookie.Value))
		}
	}
	return found
}

// browserCookie leaves the secret with a browser. A provider that leads back by a form of its own site needs SameSite=None,
// which browsers take with Secure alone.
func (f *face) browserCookie(secret auth.Secret, posted bool) *http.Cookie {
	cookie := &http.Cookie{
		Name: f.cookieName(posted), Value: secret.Reveal(), Path: "/", MaxAge: int(browserAge / time.Second),
		HttpOnly: true, Secure: f.secure() || posted, SameSite: http.SameSiteLaxMode,
	}
	if posted {
		cookie.SameSite = http.SameSiteNoneMode
	}
	return cookie
}
