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
	return address + "#" + o.Session.values().Encode()
}

// values are a session as it stands behind a URL's #.
func (o *Session) values() url.Values {
	return url.Values{
		"access_token":  {o.AccessToken.Reveal()},
		"token_type":    {"bearer"},
		"expires_in":    {strconv.FormatInt(int64(o.ExpiresIn/time.Second), 10)},
		"expires_at":    {strconv.FormatInt(o.ExpiresAt.Unix(), 10)},
		"refresh_token": {o.RefreshToken.Reveal()},
	}
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

// withFragment adds values behind a URL's #. One that is there already, of a router in the browser say, stays in front.
func withFragment(address string, values url.Values) string {
	if strings.Contains(address, "#") {
		return address + "&" + values.Encode()
	}
	return address + "#" + values.Encode()
}

// URL is where somebody goes who has followed a link, from where it leads back to.
func (o *Verified) URL(in Verify, redirect string) string {
	switch {
	case o.Session != nil:
		values := o.Session.values()
		values.Set("type", string(in.Type))
		return withFragment(redirect, values)
	case o.Code != "":
		return withQuery(redirect, url.Values{"code": {o.Code.Reveal()}})
	}
	return in.told(redirect, url.Values{"message": {SingleConfirmation}})
}

// FailureURL is where somebody goes whose link is refused.
func (in Verify) FailureURL(redirect, kind string, code Code, description string) string {
	return in.told(redirect, url.Values{"error": {kind}, "error_code": {string(code)}, "error_description": {description}})
}

// told adds what somebody is told: where browsers keep it to themselves and, for an app that waits for a code, where it
// looks for that.
func (in Verify) told(redirect string, values url.Values) string {
	if in.PKCE() {
		redirect = withQuery(redirect, values)
	}
	return withFragment(redirect, values)
}
