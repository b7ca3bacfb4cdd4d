package api

import (
	"net/http"

	"github.com/labstack/echo/v4"
	"golang.org/x/sync/semaphore"
)

// freeBody is the size up to which a body is not counted against the memory for bodies: connections are bounded.
const freeBody = 64 << 10

// bodies bounds request bodies: each by a limit, all that are read at once by the memory for them.
type bodies struct {
	limit  int64
	memory *semaphore.Weighted
}

func (b *bodies) middleware(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if r.Body == nil || r.Body == http.NoBody {
			return next(c)
		}
		if r.ContentLength > b.limit {
			r.Header.Del("Expect") // no "100 Continue" for a body that is refused
		}
		r.Body = http.MaxBytesReader(c.Response().Writer, r.Body, b.limit)
		size := r.ContentLength
		if size < 0 || size > b.limit {
			size = b.limit
		}
		if size <= freeBody {
			return next(c)
		}
		if !b.memory.TryAcquire(size) {
			c.Response().Header().Set("Retry-After", "1")
			return echo.NewHTTPError(http.StatusServiceUnavailable, "too many large request bodies at once")
		}
		defer b.memory.Release(size)
		return next(c)
	}
}
