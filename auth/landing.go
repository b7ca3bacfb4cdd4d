package auth

import (
	"net/url"
	"strconv"
	"strings"
	"time"
)

// URL is where the browser goes: the code in the query, where a server may read it, or the tokens behind the #, which
// browsers do not send (RFC 6749 §4.1.2, §4.2.2).
func (o *SignedInElsewhere) URL() string {
	if o.Session == nil {
		return withQuery(o.Redirect, url.Values{"code": {o.Code.Reveal()}})
	}
	address, _, _ := strings.Cut(o.Redirect, "#")
	return address + "#" + url.Values{
		"access_token":  {o.Session.AccessToken.Reveal()},
		"token_type":    {"bearer"},
		"expires_in":    {strconv.FormatInt(int64(o.Session.ExpiresIn/time.Second), 10)},
		"expires_at":    {strconv.FormatInt(o.Session.ExpiresAt.Unix(), 10)},
		"refresh_token": {o.Session.RefreshToken.Reveal()},
	}.Encode()
}

// withQuery adds parameters to a URL.
func withQuery(address string, parameters url.Values) string {
	address, fragment, found := strings.Cut(address, "#")
	divider := "?"
	if strings.Contains(address, "?") {
		divider = "&"
	}
	address = strings.TrimRight(address, "?&") + divider + parameters.Encode()
	if found {
		address += "#" + fragment
	}
	return address
}

// FailureURL is the site with what went wrong in its query, for browsers that come from another server.
func (s *Service) FailureURL(kind string, code Code, description string) string {
	return withQuery(s.options.SiteURL, url.Values{
		"error": {kind}, "error_code": {string(code)}, "error_description": {description},
	})
}
