// Package admin is what the dashboard asks of a server, and no app may.
package admin

import (
	"context"
	"net/http"
	"net/url"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/labstack/echo/v4"
	"github.com/rs/zerolog"

	"basalt/auth"
	"basalt/auth/administrator"
	"basalt/auth/mail"
	"basalt/auth/outbox"
	"basalt/auth/seal"
	"basalt/query/catalog"
	"basalt/query/typescript"
)

// Options are what the routes work on.
type Options struct {
	// DB is the project's pool, as the owner of the system's schemas.
	DB *pgxpool.Pool
	// Administrators holds the rules of who may use the dashboard.
	Administrators *administrator.Service
	// Secure tells whether a request came over TLS, as far as that can be known.
	Secure func(*http.Request) bool
	// URL is where the API is reached from outside; Public tells that it was set, so that pages of that origin may ask
	// although a proxy has changed the Host.
	URL    *url.URL
	Public bool
	// SiteURL is where links in mails lead back to.
	SiteURL string
	// Version is of the server.
	Version string
	// Catalog gives the current catalog, nil while none was loaded yet.
	Catalog func() *catalog.Catalog
	// Accounts holds the rules of the app's users.
	Accounts *auth.Service
	// Templates are those that mails are written by.
	Templates *mail.Stored
	// Outbox keeps the messages to people.
	Outbox *outbox.Outbox
	// Data are the resources over the database.
	Data *Data
	// Running is the server that runs.
	Running Running
	// Vault seals the keys that tokens are signed with, and secrets among the settings.
	Vault *seal.Vault
	// Settings describes the settings, with those that are stored. Its error is a *SettingError when they do not go
	// with those that the server was given.
	Settings func(stored Stored) ([]SettingBody, error)
	// Mailer makes what sends mails with these settings stored, nil when nothing does. Its error is that of Settings.
	Mailer func(stored Stored) (*mail.Mailer, error)
	// TakeMailServer has the mail server count that is stored now, and MailServer tells of it.
	TakeMailServer func(context.Context) error
	MailServer     func() *MailServerBody
	// Providers tells of the servers that sign users in as far as flags and variables name them.
	Providers func() ([]ProviderBody, error)
	// SAML tells that there is a key for single sign-on.
	SAML bool
	// Log takes failures of the server's own.
	Log zerolog.Logger

	origins *http.CrossOriginProtection
	routes  []Route
}

// The least roles of routes.
const (
	viewer = administrator.Viewer
	editor = administrator.Editor
	owner  = administrator.Owner
)

// Register puts the routes on a group, which is the one for /admin/api, and tells what they are.
func Register(g *echo.Group, o Options) []Route {
	o.prepare()
	o.sessions(g)
	o.setups(g)
	o.data(g)
	o.totps(g)
	o.passkeys(g)
	o.administrators(g)
	o.serverSettings(g)
	o.signingKeys(g)
	o.mailTemplates(g)
	o.providers(g)
	o.samlProviders(g)
	o.open(g, "POST", "/join", o.join)
	o.open(g, "POST", "/join/link", o.seeLink)
	o.brief(g, "GET", "/audit", owner, o.listAudit)

	o.brief(g, "GET", "/overview", viewer, o.overview)
	o.brief(g, "GET", "/traffic", viewer, o.traffic)
	o.brief(g, "GET", "/keys", viewer, o.keys)
	o.brief(g, "POST", "/keys/service", owner, elevated(o.serviceKey))
	o.brief(g, "GET", "/logs", viewer, o.listRequests)
	o.route(g, "GET", "/logs/live", viewer, o.followRequests)

	o.brief(g, "GET", "/about", viewer, o.about)
	o.brief(g, "GET", "/types.ts", viewer, o.types)
	o.brief(g, "GET", "/openapi.json", viewer, o.openAPI)
	o.users(g)
	o.outbox(g)
	g.RouteNotFound("/*", o.guard(viewer, nil, func(c echo.Context) error {
		return refuse(http.StatusNotFound, "not_found", "There is no such route")
	}))
	return o.routes
}

// types answers GET /types.ts: what `basalt types --lang ts` prints of the exposed schemas.
func (o *Options) types(c echo.Context) error {
	current := o.Catalog()
	if current == nil {
		return refuse(http.StatusServiceUnavailable, "catalog_missing", "The database's schema has not been read yet")
	}
	return c.Blob(http.StatusOK, "application/typescript; charset=utf-8", []byte(typescript.Generate(current)))
}
