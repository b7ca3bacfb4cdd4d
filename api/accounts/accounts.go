package accounts

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/rs/zerolog"

	"basalt/auth"
)

// Options are what the face needs beside the service.
type Options struct {
	// Version is shown by /health; empty shows none.
	Version string
	// Patience is the longest time for a request; 0 is ten seconds. Triggers of the project's owner run in
	// sign-ups, and what they wait for may never come.
	Patience time.Duration
	// Log takes failures that callers are not told about.
	Log zerolog.Logger
}

const defaultPatience = 10 * time.Second

func (o Options) filled() Options {
	if o.Patience <= 0 {
		o.Patience = defaultPatience
	}
	return o
}

// face answers the routes of one project's accounts.
type face struct {
	service  *auth.Service
	verifier *auth.Verifier
	options  Options
}

// handler is a route's work. What it returns as an error is written by the one translator.
type handler func(echo.Context) error

// routes is a table of endpoints: path, method, handler. A flow has one in its file.
type routes map[string]map[string]handler

// tables are those of all flows.
func (f *face) tables() []routes {
	return []routes{
		f.settingsRoutes(),
		f.signUpRoutes(),
		f.tokenRoutes(),
		f.logoutRoutes(),
		f.userRoutes(),
		f.factorRoutes(),
		f.oauthRoutes(),
		f.customProviderRoutes(),
		f.otpRoutes(),
		f.verifyRoutes(),
		f.reauthenticateRoutes(),
		f.inviteRoutes(),
		f.adminRoutes(),
		f.auditRoutes(),
		f.passkeyRoutes(),
		f.ssoRoutes(),
		f.adminFactorRoutes(),
		f.sessionRoutes(),
		f.discoveryRoutes(),
		f.oauthServerRoutes(),
		f.oauthConsentRoutes(),
		f.oauthClientRoutes(),
	}
}

// Register puts the API on a group, which is the one for /auth/v1. The client's address is
// what the echo server takes it for.
func Register(g *echo.Group, s *auth.Service, v *auth.Verifier, o Options) {
	f := &face{service: s, verifier: v, options: o.filled()}
	for _, table := range f.tables() {
		table.register(g, f)
	}
	g.RouteNotFound("", f.answer(notFound))
	g.RouteNotFound("/*", f.answer(notFound))
}

// register puts the endpoints on a group. Other methods are refused with the list of those that there are.
func (table routes) register(g *echo.Group, f *face) {
	for path, methods := range table {
		var allowed []string
		for method, h := range methods {
			g.Add(method, path, f.answer(h))
			allowed = append(allowed, method)
		}
		slices.Sort(allowed)
		refuse := f.answer(notAllowed(allowed))
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
			if _, taken := methods[method]; !taken {
				g.Add(method, path, refuse)
			}
		}
	}
}

// answer runs a handler and writes its error. Answers hold tokens and personal data: no
// cache may keep them (RFC 6749 §5.1).
func (f *face) answer(h handler) echo.HandlerFunc {
	return func(c echo.Context) error {
		c.Response().Header().Set("Cache-Control", "no-store")
		ctx, cancel := context.WithTimeout(c.Request().Context(), f.options.Patience)
		defer cancel()
		c.SetRequest(c.Request().WithContext(ctx))
		if err := h(c); err != nil {
			return f.fail(c, err)
		}
		return nil
	}
}

func notFound(echo.Context) error {
	return &problem{status: http.StatusNotFound, code: "not_found", message: "No such endpoint"}
}

func notAllowed(allowed []string) handler {
	return func(c echo.Context) error {
		c.Response().Header().Set("Allow", strings.Join(allowed, ", "))
		return &problem{status: http.StatusMethodNotAllowed, code: "method_not_allowed", message: "This endpoint does not take the method " + c.Request().Method}
	}
}
