package api

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/labstack/echo/v4"
)

// exposedHeaders are the response headers that scripts of other origins may read.
const exposedHeaders = "Content-Encoding, Content-Location, Content-Range, Content-Type, Date, Idempotency-Replayed, Link, Location, " +
	"Preference-Applied, Proxy-Status, Range-Unit, Retry-After, X-Request-Id, X-Sb-Error-Code, " +
	"X-Supabase-Api-Version, X-Total-Count"

// allowedHeaders are the request headers that the client libraries send; a preflight's own list is echoed instead.
const allowedHeaders = "authorization, apikey, x-client-info, content-type, prefer, range, range-unit, " +
	"accept-profile, content-profile, idempotency-key, x-supabase-api-version, x-upsert, cache-control"

// cors lets scripts of other origins call the API: of any, or of those that are listed. Any is safe because identity
// never comes from a cookie (no credentials are allowed then); the dashboard's own API is not among the paths. Scripts of
// an origin that is not listed are answered as if they had none, so that their browser refuses them the answer.
func cors(origins []string) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			request, header := c.Request(), c.Response().Header()
			origin := request.Header.Get("Origin")
			if len(origins) > 0 {
				listed := slices.Contains(origins, origin)
				c.Response().Before(func() { allowListed(header, origin, listed) })
				if !listed {
					return next(c)
				}
			} else if origin == "" {
				return next(c)
			}
			header.Set("Access-Control-Allow-Origin", "*")
			if request.Method != http.MethodOptions || request.Header.Get("Access-Control-Request-Method") == "" {
				header.Set("Access-Control-Expose-Headers", exposedHeaders)
				return next(c)
			}
			return answerPreflight(c)
		}
	}
}

// allowListed has the last word about who may read an answer, where that is not everybody.
func allowListed(header http.Header, origin string, listed bool) {
	header.Add("Vary", "Origin")
	if !listed {
		header.Del("Access-Control-Allow-Origin")
		return
	}
	header.Set("Access-Control-Allow-Origin", origin)
	header.Set("Access-Control-Allow-Credentials", "true")
}

// answerPreflight allows what a script asks to do (Fetch, CORS protocol).
func answerPreflight(c echo.Context) error {
	header := c.Response().Header()
	wanted := c.Request().Header.Get("Access-Control-Request-Headers")
	if wanted == "" {
		wanted = allowedHeaders
	}
	header.Set("Access-Control-Allow-Headers", wanted)
	header.Set("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")
	header.Set("Access-Control-Max-Age", "86400")
	header.Add("Vary", "Access-Control-Request-Headers")
	return c.NoContent(http.StatusNoContent)
}

// isOrigin says that a text is an origin as browsers send it (RFC 6454 §6.2): scheme, host and port, and nothing more.
func isOrigin(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Scheme != "" && u.Host != "" && u.Scheme+"://"+u.Host == text
}
