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
	if strings.Contains(address, "?") {
		address += "&" + values.Encode()
	} else {
		address += "?" + values.Encode()
	}
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

// codeReturn is where a code is led to.
func codeReturn(to string, code auth.Secret) string {
	return withQuery(to, url.Values{"code": {code.Reveal()}})
}

// refusalReturn is where a refusal is led to: in the fragment, and for apps that take codes in the query too.
func (f *face) refusalReturn(c echo.Context, to string, err error, pkce bool) string {
	p := translate(err)
	values := url.Values{"error": {oauthError(p.status)}, "error_code": {string(p.code)}, "error_description": {p.message}}
	var refusal *auth.OAuthRefusal
	if errors.As(err, &refusal) {
		values = url.Values{"error": {short(refusal.Name)}, "error_description": {short(refusal.Description)}}
	} else {
		f.report(c, p)
	}
	if pkce {
		to = withQuery(to, values)
	}
	return withFragment(to, values)
}

// oauthError is a status by the names of RFC 6749 §4.1.2.1.
func oauthError(status int) string {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusUnprocessableEntity:
		return "access_denied"
	case status == http.StatusServiceUnavailable, status == http.StatusTooManyRequests, status == http.StatusGatewayTimeout:
		return "temporarily_unavailable"
	case status >= http.StatusInternalServerError:
		return "server_error"
	}
	return "invalid_request"
}

const maxRefusal = 512

// short bounds what another server says.
func short(text string) string {
	if len(text) > maxRefusal {
		text = strings.ToValidUTF8(text[:maxRefusal], "")
	}
	return text
}
