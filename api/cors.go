package api

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// exposedHeaders are the response headers that scripts of other origins may read.
const exposedHeaders = "Content-Encoding, Content-Location, Content-Range, Content-Type, Date, Idempotency-Replayed, Link, Location, " +
	"Preference-Applied, Proxy-Status, Range-Unit, Retry-After, X-Request-Id, X-Sb-Error-Code, " +
	"X-Supabase-Api-Version, X-Total-Count"

// allowedHeaders are the request headers that the client libraries send; a preflight's own list is echoed instead.
const allowedHeaders = "authorization, apikey, x-client-info, content-type, prefer, range, range-unit, " +
	"accept-profile, content-profile, idempotency-key, x-supabase-api-version, x-upsert, cache-control"

// cors lets scripts of any origin call the API. That is safe because identity never comes from a cookie
// (no credentials are allowed); the dashboard's own API is not among the paths.
func cors(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		request, header := c.Request(), c.Response().Header()
		if len(request.Header["Origin"]) == 0 {
			return next(c)
		}
		header.Set("Access-Control-Allow-Origin", "*")
		if request.Method != http.MethodOptions || request.Header.Get("Access-Control-Request-Method") == "" {
			header.Set("Access-Control-Expose-Headers", exposedHeaders)
			return next(c)
		}
		wanted := request.Header.Get("Access-Control-Request-Headers")
		if wanted == "" {
			wanted = allowedHeaders
		}
		header.Set("Access-Control-Allow-Headers", wanted)
		header.Set("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")
		header.Set("Access-Control-Max-Age", "86400")
		header.Add("Vary", "Access-Control-Request-Headers")
		return c.NoContent(http.StatusNoContent)
	}
}
