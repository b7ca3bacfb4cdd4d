package rest

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/rs/zerolog"

	"basalt/auth"
	"basalt/query"
	"basalt/query/catalog"
	"basalt/query/sql"
	"basalt/store"
)

// Options are what an operator decides about the dialect.
type Options struct {
	Schemas           []string // exposed, the first is the default
	ExtraSearchPath   []string
	MaxRows           int64
	Aggregates        bool
	LegacyTargetNames bool
	RequireFilters    bool  // refuse PATCH and DELETE without a filter for the anonymous role
	AnswerMemory      int64 // most bytes of an answer held back until its transaction has committed
	Prefix            string
	Plans             bool // let clients see PostgreSQL's plans of their requests
	// TransactionTimeout bounds the whole of a transaction that takes several exchanges, 0 for not at all.
	TransactionTimeout time.Duration
	// IdempotencyRetention is how long the answers to requests with an Idempotency-Key are kept; 0 ignores the header.
	IdempotencyRetention time.Duration
	// AnyRole leaves it to PostgreSQL which roles there are, and takes no role for the one that connects: whoever is let in
	// is the owner of the database or chosen by them.
	AnyRole bool
	// AnonymousRole is the role of requests without a token, "" when there must be one.
	AnonymousRole string
	End           TransactionEnd
	// PreRequest is the function that each request runs before its statement, "" for none. Without a schema it is
	// found by the search path.
	PreRequest catalog.Name
	// AppSettings are set for each request; Hoisted are the settings of a function that hold from the beginning of its
	// transaction rather than in its body alone.
	AppSettings []store.Setting
	Hoisted     []string
	// ServerTiming has answers tell what took how long.
	ServerTiming bool
	Root         Root
}

// Handler serves requests under one prefix.
type Handler struct {
	db          *store.DB
	catalogs    *store.CatalogWatcher
	identify    func(*http.Request) (*auth.Principal, error)
	options     Options
	log         zerolog.Logger
	searchPaths map[string]string // by exposed schema
	preRequest  *sql.Statement    // nil for none
	planner     atomic.Pointer[Planner]
	zones       zones
	queries     sync.Pool // *query.Query
	answers     sync.Pool // *answer
	// buffers are taken when rows begin to arrive: requests that wait for a connection hold none.
	buffers sync.Pool // *[]byte
	// PlanHits and PlanMisses count requests whose statement was and was not compiled before.
	PlanHits, PlanMisses atomic.Uint64
}

// New makes a handler. Identify says who a request comes from.
func New(db *store.DB, catalogs *store.CatalogWatcher, identify func(*http.Request) (*auth.Principal, error), log zerolog.Logger, options Options) *Handler {
	h := &Handler{db: db, catalogs: catalogs, identify: identify, options: options, log: log, searchPaths: map[string]string{}}
	for _, schema := range options.Schemas {
		path := []string{sql.QuoteIdentifier(schema)}
		for _, extra := range options.ExtraSearchPath {
			if extra != schema {
				path = append(path, sql.QuoteIdentifier(extra))
			}
		}
		h.searchPaths[schema] = strings.Join(path, ", ")
	}
	if options.PreRequest.Name != "" {
		h.preRequest = sql.CompileBefore(options.PreRequest)
	}
	h.zones.loaded = map[string]*time.Location{}
	h.queries.New = func() any { return new(query.Query) }
	h.answers.New = func() any { return new(answer) }
	h.buffers.New = func() any { buffer := make([]byte, 0, 4<<10); return &buffer }
	return h
}

// A RoleNoter is a context that wants to know the role of its request.
type RoleNoter interface{ NoteRole(string) }

// Serve answers one request.
func (h *Handler) Serve(c echo.Context) error {
	r := c.Request()
	times := h.startClock(c)
	principal, err := h.identify(r)
	if err != nil {
		return h.refuse(c, err, true)
	}
	times.lap(lapToken)
	if noter, ok := c.(RoleNoter); ok {
		noter.NoteRole(principal.Role)
	}
	path, err := decodePath(strings.TrimPrefix(r.URL.EscapedPath(), h.options.Prefix))
	if err == nil {
		err = h.serve(c, path, principal)
	}
	if err != nil {
		return h.refuse(c, err, h.anonymous(principal))
	}
	return nil
}

func (h *Handler) serve(c echo.Context, path string, principal *auth.Principal) error {
	r := c.Request()
	p, err := h.current()
	if err != nil {
		return err
	}
	if r.Method == http.MethodOptions {
		return h.answerOptions(c, p.catalog, path)
	}
	if isBatch(r, path) {
		return h.serveBatch(c, p, principal)
	}
	if isRoot(path) {
		if path = h.rootTarget(r.Method, path); isRoot(path) {
			return h.answerRoot(c, p, principal)
		}
	}
	if h.options.IdempotencyRetention > 0 && r.Header[idempotencyKey] != nil && writes(r.Method) {
		return h.serveOnce(c, p, path, principal)
	}
	q := h.queries.Get().(*query.Query)
	defer h.queries.Put(q)
	request, formats, err := h.readRequest(r, path, p.catalog, q)
	if err != nil {
		return err
	}
	h.clock(c).lap(lapParse)
	if err := h.permit(request, principal, p.catalog); err != nil {
		return err
	}
	for plans := 1; ; plans++ {
		err = h.run(c, p, path, request, formats, principal)
		if err == nil || plans == mostPlans || c.Response().Committed {
			return err
		}
		if p = h.replanner(r.Context(), p, plans, err, request); p == nil {
			return err
		}
	}
}

// permit refuses what the server itself forbids.
func (h *Handler) permit(request *query.Request, principal *auth.Principal, c *catalog.Catalog) error {
	if c.Role(principal.Role) == nil && !h.options.AnyRole {
		e := failure(http.StatusUnauthorized, "22023", `role "`+principal.Role+`" does not exist`)
		return e.header("WWW-Authenticate", "Bearer")
	}
	if h.options.RequireFilters && h.anonymous(principal) && len(request.Query.Where) == 0 && changesAll(request) {
		e := failure(http.StatusBadRequest, "21000", "A request that changes rows must name them")
		e.Hint = text("Add a filter such as id=eq.1")
		return e
	}
	return nil
}

// anonymous says that a request has a role that anybody may have: that of requests without a token, or that of the
// public key.
func (h *Handler) anonymous(principal *auth.Principal) bool {
	return !h.options.AnyRole && (principal.Role == h.options.AnonymousRole || principal.Role == auth.RoleAnon)
}

// changesAll says that a request without filters changes every row. An update by an empty body changes none.
func changesAll(request *query.Request) bool {
	return request.Action == query.Delete || request.Action == query.Update && len(request.Payload.Keys) > 0
}

// run compiles, asks the database and answers.
func (h *Handler) run(c echo.Context, p *Planner, path string, request *query.Request, formats []accepted, principal *auth.Principal) error {
	statement, f, err := h.resolve(c.Request(), p, request, formats)
	if err != nil {
		return err
	}
	if f.plan != nil {
		return h.explain(c, p, path, statement, request, &f, principal)
	}
	a := h.answers.Get().(*answer)
	defer h.answers.Put(a)
	a.reset(h, c, p, statement, request, f)
	defer a.release()
	if statement.Nothing {
		return a.finishEmpty()
	}
	flight := h.flight(c.Request(), p, path, statement, request, principal)
	flight.Check = a.check()
	if flight.Steps, err = a.steps(p.catalog); err != nil {
		return err
	}
	times := h.clock(c)
	times.lap(lapPlan)
	flight.Boarded = times.boarding()
	if err := h.db.Run(c.Request().Context(), &flight); err != nil {
		return a.refusal(err)
	}
	times.lap(lapTransaction)
	return a.finish()
}

// resolve gives a request's statement and the format that its answer is written in.
func (h *Handler) resolve(r *http.Request, p *Planner, request *query.Request, formats []accepted) (*compiled, format, error) {
	statement, err := h.compile(p, request)
	if err != nil {
		return nil, format{}, err
	}
	f, err := h.choose(p, formats, statement, request, r.Header["Accept"])
	if err != nil {
		return nil, format{}, err
	}
	if writesOne(request, &f) {
		request.One = true
		if statement, err = h.compile(p, request); err != nil {
			return nil, format{}, err
		}
	}
	if f.through != nil && request.Returning == query.ReturnRows {
		if statement, err = h.compileThrough(p, request, &f); err != nil {
			return nil, format{}, err
		}
	}
	return statement, f, nil
}

// flight is what all statements of a request are sent in.
func (h *Handler) flight(r *http.Request, p *Planner, path string, statement *compiled, request *query.Request, principal *auth.Principal) store.Flight {
	flight := store.Flight{
		Session:  h.session(r, path, principal, request, p.catalog, statement.routine),
		Rollback: h.options.End.rollsBack(&request.Prefer),
		Calls:    request.Action == query.Call || statement.handled,
	}
	flight.Session.ReadOnly = statement.reads(request, r.Method)
	return flight
}

// refuse writes an error's answer.
func (h *Handler) refuse(c echo.Context, err error, anonymous bool) error {
	gone := c.Request().Context().Err() != nil && errors.Is(err, context.Canceled)
	if c.Response().Committed || gone {
		// Part of a streamed answer has left, or nobody is there to read one: the only honest end is to break the
		// connection.
		panic(http.ErrAbortHandler)
	}
	e := translate(err, anonymous)
	if e.Code == "22023" && h.options.AnyRole {
		e.Status, e.Header = http.StatusBadRequest, nil // a role that was chosen is not there: signing in anew does not help
	}
	if e.Cause != nil && e.Status >= 500 {
		event := h.log.Error()
		if e.Status == http.StatusServiceUnavailable {
			event = h.log.Debug() // that PostgreSQL is away is said once, not by each request
		}
		event.Err(e.Cause).Str("request_id", c.Response().Header().Get(echo.HeaderXRequestID)).Str("code", e.Code).Msg("request failed")
	}
	return e.write(c.Response(), c.Request().Method)
}
