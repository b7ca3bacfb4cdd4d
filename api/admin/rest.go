package admin

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/labstack/echo/v4"

	"basalt/api/body"
	"basalt/api/rest"
	"basalt/api/rest/openapi"
	"basalt/auth"
	"basalt/auth/administrator"
	"basalt/migrations"
	"basalt/store"
	"basalt/store/console"
)

const (
	// restPrefix is where the REST API over all schemas is.
	restPrefix = "/admin/api/rest"
	// restConnections are the most for its requests, restWaiting how many more may wait for one.
	restConnections = 4
	restWaiting     = 64
	restPatience    = 5 * time.Second
	// restTimeout bounds a statement with its answer: an export lasts as long as its reader takes.
	restTimeout = 10 * time.Minute
	// restAnswer bounds what is held back of an answer until its transaction has committed, restBodies all bodies at once.
	restAnswer = 64 << 20
	restBodies = 256 << 20
	// schemasSpacing is the time between two looks for schemas that have come or gone.
	schemasSpacing = time.Second
	// firstCatalog bounds the wait for the catalog at the first use.
	firstCatalog = 20 * time.Second
)

// restMethods are the methods of the REST API with who may use them.
func restMethods() map[string]administrator.Role {
	return map[string]administrator.Role{
		http.MethodGet: viewer, http.MethodOptions: viewer, // and HEAD, with GET
		http.MethodPost: editor, http.MethodPut: editor, http.MethodPatch: editor, http.MethodDelete: editor,
	}
}

// restBodyTypes are the types of bodies that the REST API reads.
func restBodyTypes() []string {
	return []string{
		"application/json", "application/vnd.pgrst.object+json", "application/vnd.pgrst.array+json", "application/x-www-form-urlencoded",
		"text/csv", "text/plain", "text/xml", "application/octet-stream",
	}
}

// restMount is the REST API over all schemas, once it is used. It is made anew when the set of schemas has changed,
// whereupon requests under way end on the old one.
type restMount struct {
	// looking holds a token while somebody looks for schemas, and makes the handler anew: the lock is not held over that.
	looking chan struct{}
	mu      sync.Mutex // of what follows
	current *mounted
	looked  time.Time
	closed  bool
	closing sync.WaitGroup
}

// mounted is a handler with what it works on.
type mounted struct {
	schemas []string
	owner   string
	db      *store.DB
	handler *rest.Handler
	bodies  *body.Limits
	stop    context.CancelFunc
	watched chan struct{} // closed when the catalog is no longer watched
	users   sync.WaitGroup
}

const allSchemas = `
select
  current_user::text,
  array(
    select n.nspname::text
    from pg_catalog.pg_namespace n
    where n.nspname !~ '^pg_'
      and n.nspname not in ('information_schema', 'basalt')
    order by n.nspname <> 'public', n.nspname
  )`

// principalKey is where a request's context holds as whom it is to be carried out.
type principalKey struct{}

// serveREST answers /rest and all below it.
func (d *Data) serveREST(c echo.Context) error {
	if calls(c.Request().URL) { // with GET too: a read-only transaction keeps no function from what is outside of it
		if err := marked(c.Request()); err != nil {
			return err
		}
	}
	m, err := d.mount(c.Request().Context())
	if err != nil {
		return err
	}
	defer m.users.Done()
	principal, err := d.principal(c, m)
	if err != nil {
		return err
	}
	if method := c.Request().Method; restMethods()[method] == editor {
		err := d.record(c, administrator.Change{Action: "rest." + strings.ToLower(method), Target: strings.TrimPrefix(c.Request().URL.Path, restPrefix), After: recordedREST{
			Query: c.Request().URL.RawQuery, Prefer: strings.Join(c.Request().Header.Values("Prefer"), ", "), Schema: c.Request().Header.Get(schemaHeader), Role: principal.Role,
		}})
		if err != nil {
			return err
		}
	}
	r := c.Request().WithContext(context.WithValue(c.Request().Context(), principalKey{}, principal))
	// Functions see the headers of requests: the administrator's session is none of their business.
	r.Header = r.Header.Clone()
	r.Header.Del("Cookie")
	if name, err := url.PathUnescape(r.Header.Get(schemaHeader)); err == nil && name != "" {
		r.Header.Set("Accept-Profile", name)
		r.Header.Set("Content-Profile", name)
	}
	r, release := m.bodies.Bound(r)
	defer release()
	c.SetRequest(r)
	return m.handler.Serve(c)
}

// recordedREST is a request that may change something in the audit log, without its body.
type recordedREST struct {
	Query  string `json:"query,omitempty"`
	Prefer string `json:"prefer,omitempty"`
	Schema string `json:"schema,omitempty"`
	Role   string `json:"role,omitempty"`
}

// readerOf is as whom rows are read for an administrator. Viewers never act as the owner, who is as a rule a superuser:
// they read as the service role.
func (d *Data) readerOf(c echo.Context) (view, error) {
	v, err := d.viewOf(c)
	if err != nil || administratorOf(c).Role != viewer {
		return v, err
	}
	switch v.role {
	case "":
		return view{auth.RoleService, auth.Nobody(auth.RoleService).Claims}, nil
	case auth.RoleAnon, auth.RoleAuthenticated, auth.RoleService:
		return v, nil
	}
	return v, refusedf(http.StatusForbidden, "forbidden", "A viewer can see the database as anon, authenticated or service_role only")
}

// principal is as whom a request is carried out. Viewers call functions through the API of apps alone: an argument can be
// a statement, which takes back the role that is set here and is the owner's then. That the transaction is read-only keeps
// none from reading all.
func (d *Data) principal(c echo.Context, m *mounted) (*auth.Principal, error) {
	v, err := d.readerOf(c)
	if err != nil {
		return nil, err
	}
	if administratorOf(c).Role == viewer && calls(c.Request().URL) {
		r := refusedf(http.StatusForbidden, "forbidden", "A viewer cannot call functions from the dashboard")
		r.Hint = "Call it through /rest/v1, with the key of an app, or ask an editor"
		return nil, r
	}
	if v.role == "" {
		return &auth.Principal{Claims: auth.Nobody(m.owner).Claims}, nil
	}
	return &auth.Principal{Role: v.role, Claims: v.claims}, nil
}

// calls says that a path of the REST API, or of its root where a function may answer, is none of a relation.
func calls(u *url.URL) bool {
	path, err := url.PathUnescape(strings.TrimPrefix(u.EscapedPath(), restPrefix))
	return err != nil || strings.HasPrefix(strings.TrimLeft(path, "/"), "rpc/")
}

// mount gives the handler over the schemas there are. The caller is one of its users.
func (d *Data) mount(ctx context.Context) (*mounted, error) {
	m := &d.rest
	if current, err := m.use(); current != nil || err != nil {
		return current, err
	}
	select {
	case m.looking <- struct{}{}:
		defer func() { <-m.looking }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if current, err := m.use(); current != nil || err != nil { // somebody has looked meanwhile
		return current, err
	}
	var owner string
	var schemas []string
	err := d.pool.Use(ctx, console.Session{StatementTimeout: catalogTimeout}, func(conn *pgx.Conn) error {
		return conn.QueryRow(ctx, allSchemas).Scan(&owner, &schemas)
	})
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	old := m.current
	m.mu.Unlock()
	if old != nil && old.owner == owner && slices.Equal(old.schemas, schemas) {
		return m.replace(old)
	}
	next, err := d.open(ctx, owner, schemas)
	if err != nil {
		return nil, err
	}
	current, err := m.replace(next)
	if err != nil {
		next.close()
	}
	return current, err
}

// use gives the handler with one user more, nil when it is time to look for schemas.
func (m *restMount) use() (*mounted, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.closed:
		return nil, stopping()
	case m.current == nil || time.Since(m.looked) > schemasSpacing:
		return nil, nil
	}
	m.current.users.Add(1)
	return m.current, nil
}

// replace makes a handler the current one, if it is not, and gives it with one user more.
func (m *restMount) replace(next *mounted) (*mounted, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, stopping()
	}
	m.looked = time.Now()
	if m.current != next {
		m.retire()
		m.current = next
	}
	next.users.Add(1)
	return next, nil
}

func stopping() error {
	return refusedf(http.StatusServiceUnavailable, "stopping", "The server is stopping")
}

// open makes a handler and waits for its catalog.
func (d *Data) open(ctx context.Context, owner string, schemas []string) (*mounted, error) {
	if len(schemas) == 0 {
		return nil, refusedf(http.StatusNotFound, "no_schema", "The database has no schema")
	}
	connection, err := pgconn.ParseConfig(d.options.DatabaseURL)
	if err != nil {
		return nil, errors.New("the database's URL cannot be read")
	}
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	m := &mounted{schemas: schemas, owner: owner, stop: stop, watched: make(chan struct{}), bodies: body.NewLimits(mostBody, restBodies)}
	m.db, err = store.Open(life, store.Options{
		URL: d.options.DatabaseURL, PoolSize: restConnections, SidePoolSize: 1, MaxWaiting: restWaiting, AcquireTimeout: restPatience,
		StatementTimeout: restTimeout, MaxRow: restAnswer, ApplicationName: console.ApplicationName, Log: d.options.Log,
	})
	if err != nil {
		stop()
		return nil, err
	}
	connection.RuntimeParams["application_name"] = console.ApplicationName + " catalog"
	catalogs := store.NewCatalogWatcher(store.WatchOptions{
		Connection: connection, Catalog: store.CatalogOptions{Schemas: schemas, ExtraSearchPath: []string{"public", "extensions"}},
		VersionSQL: migrations.CatalogVersion, Logger: d.options.Log,
	})
	go func() {
		defer close(m.watched)
		_ = catalogs.Run(life) // it ends with life, without an error
	}()
	m.handler = rest.New(m.db, catalogs, identify, d.options.Log, rest.Options{
		Schemas: schemas, ExtraSearchPath: []string{"public", "extensions"}, Aggregates: true, Prefix: restPrefix,
		AnswerMemory: restAnswer, Plans: true, TransactionTimeout: restTimeout, AnyRole: true,
		End:  rest.TransactionEnd{Override: true}, // a write is tried with Prefer: tx=rollback
		Root: rest.Root{Mode: rest.IgnorePrivileges, Options: openapi.Options{Server: &url.URL{Path: restPrefix}}},
	})
	wait, done := context.WithTimeout(ctx, firstCatalog)
	defer done()
	if err := catalogs.Reload(wait); err != nil {
		m.close()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, &store.UnavailableError{Connecting: true, Err: err}
	}
	return m, nil
}

func identify(r *http.Request) (*auth.Principal, error) {
	return r.Context().Value(principalKey{}).(*auth.Principal), nil
}

// retire closes the current handler when its last user has left.
func (m *restMount) retire() {
	if old := m.current; old != nil {
		m.current = nil
		m.closing.Go(func() {
			old.users.Wait()
			old.close()
		})
	}
}

func (m *restMount) close() {
	m.mu.Lock()
	m.closed = true
	m.retire()
	m.mu.Unlock()
	m.closing.Wait()
}

func (m *mounted) close() {
	m.stop()
	<-m.watched
	m.db.Close()
}
