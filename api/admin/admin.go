// Package admin is what an administrator's tools ask of a server, and no app may.
package admin

import (
	"net/http"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"basalt/auth"
	"basalt/auth/outbox"
	"basalt/auth/token"
	"basalt/query/catalog"
	"basalt/query/typescript"
)

// Options are what the routes work on.
type Options struct {
	// Identify says who a request comes from.
	Identify func(*http.Request) (*auth.Principal, error)
	// Catalog gives the current catalog, nil while none was loaded yet.
	Catalog func() *catalog.Catalog
	// Outbox keeps the messages to people.
	Outbox *outbox.Outbox
}

// Register puts the routes on a group, which is the one for /admin/api.
func Register(g *echo.Group, o Options) {
	g.Use(o.requireService)
	g.GET("/types.ts", o.types)
	g.GET("/outbox", o.listOutbox)
	g.DELETE("/outbox", o.clearOutbox)
	g.DELETE("/outbox/:id", o.removeMessage)
}

// requireService lets only the service key in.
func (o *Options) requireService(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		c.Response().Header().Set("Cache-Control", "no-store")
		principal, err := o.Identify(c.Request())
		if err != nil {
			return echo.NewHTTPError(http.StatusUnauthorized, err.Error())
		}
		switch {
		case principal.Foreign: // who may administer is not for another issuer to say
			return echo.NewHTTPError(http.StatusUnauthorized, token.Foreign().Error())
		case principal.Role == auth.RoleService && principal.ClientID == uuid.Nil: // not what its user has let an OAuth client do
			return next(c)
		case principal.Role == auth.RoleAnon && !principal.APIKeyOnly: // nobody has said who they are
			c.Response().Header().Set("WWW-Authenticate", "Bearer")
			return echo.NewHTTPError(http.StatusUnauthorized, "this needs the service key")
		}
		return echo.NewHTTPError(http.StatusForbidden, "this needs the service key")
	}
}

// types answers GET /types.ts: what `basalt types --lang ts` prints of the exposed schemas.
func (o *Options) types(c echo.Context) error {
	current := o.Catalog()
	if current == nil {
		return echo.NewHTTPError(http.StatusServiceUnavailable, "the database's schema has not been read yet")
	}
	return c.Blob(http.StatusOK, "application/typescript; charset=utf-8", []byte(typescript.Generate(current)))
}
