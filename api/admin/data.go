package admin

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
	"github.com/rs/zerolog"

	"basalt/auth/administrator"
	"basalt/store/console"
)

// DataOptions are what the resources over the database work on.
type DataOptions struct {
	// DatabaseURL names the database as its owner.
	DatabaseURL string
	// Claims gives the claims of an access token of a user, and the role in them.
	Claims func(context.Context, uuid.UUID) (claims json.RawMessage, role string, err error)
	// MigrationsDir is the folder that changes of the structure are saved to, "" for none.
	MigrationsDir string
	// Exposed are the schemas that the API shows.
	Exposed []string
	// REST is what apps are offered.
	REST RESTOffer
	// Log takes failures of the server's own.
	Log zerolog.Logger
}

// Data are the resources of the dashboard that show and change what is in the database.
type Data struct {
	options DataOptions
	pool    *console.Pool
	rest    restMount
	runs    runs
	// signedIn tells whether the session that a request came with still stands: long work looks now and then.
	signedIn func(echo.Context) bool
	// record writes to the audit log what is about to be done in transactions that are not ours to add to.
	record func(echo.Context, administrator.Change) error
}

// OpenData makes the resources. They connect when they are used.
func OpenData(ctx context.Context, options DataOptions) (*Data, error) {
	pool, err := console.Open(ctx, console.Options{URL: options.DatabaseURL})
	if err != nil {
		return nil, err
	}
	d := &Data{options: options, pool: pool}
	d.rest.looking = make(chan struct{}, 1)
	d.runs.cancels = map[string]context.CancelFunc{}
	return d, nil
}

// Close ends what the resources have opened.
func (d *Data) Close() {
	d.rest.close()
	d.pool.Close()
}

// dataRoute is one address with what answers it.
type dataRoute struct {
	method, path string
	least        administrator.Role
	handle       echo.HandlerFunc
	accepts      []string // types of bodies, JSON alone when there are none
}

// routes are the addresses of the resources.
func (d *Data) routes() []dataRoute {
	routes := []dataRoute{
		{"GET", "/catalog", viewer, d.catalog, nil},
		{"GET", "/explore", viewer, d.explore, nil},
		{"POST", "/rest-sql", viewer, d.compileREST, nil},
		{"POST", "/rows/:schema/:table", editor, d.changeRows, nil},
		{"POST", "/import/:schema/:table", editor, d.importRows, []string{"text/csv", "application/json", "application/x-ndjson"}},
		{"GET", "/rungs/:schema/:table", viewer, d.rungs, nil},
		{"GET", "/export/:schema/:table", viewer, d.exportRows, nil},
		{"POST", "/sql", viewer, d.runSQL, nil}, // of viewers it takes what is to be explained alone
		{"DELETE", "/sql/:id", viewer, d.cancelSQL, nil},
		{"GET", "/queries", viewer, d.listQueries, nil},
		{"POST", "/queries", viewer, d.saveQuery, nil},
		{"DELETE", "/queries/history", viewer, d.forgetHistory, nil},
		{"PATCH", "/queries/:id", viewer, d.changeQuery, nil},
		{"DELETE", "/queries/:id", viewer, d.forgetQuery, nil},
		{"POST", "/ddl", editor, d.changeStructure, nil},
		{"GET", "/ddl/impact", viewer, d.impact, nil},
		{"GET", "/auth-events", viewer, d.listAuthEvents, nil},
		{"GET", "/performance/statements", viewer, d.statements, nil},
		{"GET", "/performance/indexes", viewer, d.indexes, nil},
		{"POST", "/performance/hypothetical", viewer, d.hypothetical, nil},
		{"POST", "/performance/advice", editor, d.advice, nil}, // it plans what others have written
		{"GET", "/performance/tables", viewer, d.tables, nil},
		{"GET", "/performance/activity", viewer, d.activity, nil},
		{"POST", "/performance/activity/:pid/cancel", editor, d.cancelBackend, nil},
		{"POST", "/performance/activity/:pid/terminate", editor, d.terminateBackend, nil},
		{"GET", "/policies", viewer, d.policies, nil},
		{"GET", "/policies/findings", viewer, d.findings, nil},
		{"GET", "/policies/claims", editor, d.policyClaims, nil}, // they are a user's own
		{"POST", "/policies/check", editor, d.checkPolicies, nil},
		{"POST", "/policies/test", editor, d.testPolicies, nil},
	}
	for _, path := range []string{"/rest", "/rest/*"} {
		for method, least := range restMethods() {
			routes = append(routes, dataRoute{method, path, least, d.serveREST, restBodyTypes()})
		}
	}
	return routes
}

// data puts the routes of the resources over the database on the group.
func (o *Options) data(g *echo.Group) {
	for _, r := range o.Data.routes() {
		o.route(g, r.method, r.path, r.least, r.handle, r.accepts...)
	}
	if o.Data == nil {
		return // nothing will be asked: the routes alone are wanted
	}
	o.Data.signedIn = func(c echo.Context) bool {
		_, err := o.Administrators.Session(c.Request().Context(), o.token(c.Request()))
		refused, ok := errors.AsType[*administrator.Error](err)
		return !ok || refused.Code != administrator.CodeSignedOut
	}
	o.Data.record = func(c echo.Context, change administrator.Change) error { return o.audit(c, o.DB, change) }
}

const (
	// writeTimeout bounds each statement of a change, lockPatience each wait for who holds a row or a table.
	writeTimeout = 30 * time.Second
	lockPatience = 5 * time.Second
)
