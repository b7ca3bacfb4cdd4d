package admin

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/labstack/echo/v4"
	"github.com/rs/zerolog"

	"basalt/store/console"
)

// Least is the least role of an administrator that a route needs.
type Least string

// What administrators may do, each more than the one before.
const (
	Viewer Least = "viewer" // read
	Editor Least = "editor" // change data and definitions
)

// DataOptions are what the resources over the database work on.
type DataOptions struct {
	// DatabaseURL names the database as its owner.
	DatabaseURL string
	// Claims gives the claims of an access token of a user, and the role in them.
	Claims func(context.Context, uuid.UUID) (claims json.RawMessage, role string, err error)
	// MigrationsDir is the folder that changes of the structure are saved to, "" for none.
	MigrationsDir string
	// MostBody bounds the bodies that are read whole, in bytes.
	MostBody int64
	// Who says which administrator a request comes from and what they may do.
	Who func(echo.Context) (id uuid.UUID, role Least)
	// SignedIn says whether the session that a request came with still stands: long work looks now and then.
	SignedIn func(echo.Context) bool
	// Audit notes a change, in its transaction.
	Audit func(echo.Context, pgx.Tx, DataChange) error
	Log   zerolog.Logger
}

// DataChange is a change of data or definitions for the audit log.
type DataChange struct {
	Action, Target string
	Before, After  any
}

// Data are the resources of the dashboard that show and change what is in the database.
type Data struct {
	options DataOptions
	pool    *console.Pool
	rest    restMount
	runs    runs
}

// OpenData makes the resources. They connect when they are used.
func OpenData(ctx context.Context, options DataOptions) (*Data, error) {
	pool, err := console.Open(ctx, console.Options{URL: options.DatabaseURL})
	if err != nil {
		return nil, err
	}
	d := &Data{options: options, pool: pool}
	d.runs.cancels = map[string]context.CancelFunc{}
	return d, nil
}

// Close ends what the resources have opened.
func (d *Data) Close() {
	d.rest.close()
	d.pool.Close()
}

// Route is one address with what answers it.
type Route struct {
	Method, Path string
	Least        Least
	Handle       echo.HandlerFunc
}

// Routes are the addresses below /admin/api.
func (d *Data) Routes() []Route {
	routes := []Route{
		{http.MethodGet, "/catalog", Viewer, d.catalog},
		{http.MethodPost, "/rows/:schema/:table", Editor, d.changeRows},
		{http.MethodPost, "/sql", Viewer, d.runSQL},
		{http.MethodDelete, "/sql/:id", Viewer, d.cancelSQL},
	}
	for i := range routes {
		routes[i].Handle = d.answered(routes[i].Handle)
	}
	for _, path := range []string{"/rest", "/rest/*"} {
		for method, least := range restMethods() {
			routes = append(routes, Route{method, path, least, d.serveREST})
		}
	}
	return routes
}

// answered writes what went wrong in a handler in the form of this API.
func (d *Data) answered(handle echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		err := handle(c)
		if err == nil {
			return nil
		}
		return d.refuse(c, err)
	}
}

const (
	// writeTimeout bounds each statement of a change, lockPatience each wait for who holds a row or a table.
	writeTimeout = 30 * time.Second
	lockPatience = 5 * time.Second
)
