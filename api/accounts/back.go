package accounts

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"basalt/auth"
)

// leadBack leads a browser back to the app. What it takes along must not reach a third site by the header Referer.
func leadBack(c echo.Context, to string) error {
	c.Response().Header().Set("Referrer-Policy", "no-referrer")
	return c.Redirect(http.StatusSeeOther, to)
}

// withFragment adds to the part of a URL that no server sees. Apps that keep their own place there find it in front.
func withFragment(to string, values url.Values) string {
	address, fragment, found := strings.Cut(to, "#")
	if found && fragment != "" {
		fragment += "&"
	}
	return address + "#" + fragment + values.Encode()
}

// withQuery adds to the query of a URL.
func withQuery(to string, values url.Values) string {
	address, fragment, found := strings.Cut(to, "#")
	divider := "?"
	if strings.Contains(address, "?") {
		divider = "&"
	}
	address = strings.TrimRight(address, "?&") + divider + values.Encode()
	if found {
		address += "#" + fragment
	}
	return address
}

// sessionReturn is where a session is led to, as Supabase's clients find it.
func sessionReturn(to string, session *auth.Session, more url.Values) string {
	values := url.Values{
		"access_token":  {session.AccessToken.Reveal()},
		"token_type":    {"bearer"},
		"expires_in":    {strconv.Itoa(int(session.ExpiresIn / time.Second))},
		"expires_at":    {strconv.FormatInt(session.ExpiresAt.Unix(), 10)},
		"refresh_token": {session.RefreshToken.Reveal()},
	}
	if session.ProviderToken != "" {
		values.Set("provider_token", session.ProviderToken.Reveal())
	}
	if session.ProviderRefreshToken != "" {
		values.Set("provider_refresh_token", session.ProviderRefreshToken.Reveal())
	}
	for name, value := range more {
		values[name] = value
	}
	return withFragment(to, values)
}

// outcomeReturn is where the outcome of a sign-in at another server is led to.
func outcomeReturn(out *auth.SignedInElsewhere) string {
	if out.Session == nil {
		return codeReturn(out.Redirect, out.Code)
	}
	return sessionReturn(out.Redirect, out.Session, nil)
}

// codeReturn is where a code is led to.
func codeReturn(to string, code auth.Secret) string {
	return withQuery(to, url.Values{"code": {code.Reveal()}})
}

// refusalReturn is where a refusal is led to: in the fragment, and for apps that take codes in the query too.
func (f *face) refusalReturn(c echo.Context, to string, err error, pkce bool) string {
	values := f.refusalValues(c, err)
	if pkce {
		to = withQuery(to, values)
	}
	return withFragment(to, values)
}

// refusalValues tell an app why somebody comes back without a session. The names are those of RFC 6749 §4.1.2.1.
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
