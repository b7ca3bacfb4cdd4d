package rest

import (
	"encoding/binary"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"basalt/query"
	"basalt/query/catalog"
	"basalt/query/pgjson"
	"basalt/query/plan"
	"basalt/query/sql"
	"basalt/store"
)

// A planner remembers so many statements, and so many bytes of them, for a client may invent shapes and one may be a
// megabyte of SQL with a thousand columns. Beyond either some are forgotten.
const (
	maxCompiled      = 4096
	maxCompiledBytes = 64 << 20
	// What a statement, a parameter and a column of its result take beside their texts.
	statementBytes = 1 << 10
	paramBytes     = 96
	columnBytes    = 256
)

// Planner is a catalog with the statements compiled against it. A new catalog brings a new, empty planner.
type Planner struct {
	catalog  *catalog.Catalog
	mu       sync.RWMutex
	compiled map[string]*compiled // by the shape of their requests
	bytes    int                  // of them, roughly

	descriptions descriptions
}

// NewPlanner makes a planner that remembers nothing yet.
func NewPlanner(c *catalog.Catalog) *Planner {
	return &Planner{catalog: c, compiled: map[string]*compiled{}}
}

// compiled is a statement with the encoder that its result columns were last found to need.
type compiled struct {
	*sql.Statement
	relation *catalog.Relation // of reads and writes
	routine  *catalog.Routine  // of calls
	handled  bool              // an aggregate of the database's own is called
	encoder  atomic.Pointer[boundEncoder]
}

// reads says that a request's transaction is a read-only one.
func (c *compiled) reads(request *query.Request, method string) bool {
	return request.Action == query.Read || c.ReadOnly || request.Action == query.Call && method != http.MethodPost
}

// bytes is roughly the memory that a statement takes.
func (c *compiled) bytes() int {
	size := statementBytes
	for _, statement := range [...]*sql.Statement{c.Statement, c.Count, c.Plan} {
		if statement != nil {
			size += len(statement.SQL) + paramBytes*len(statement.Params)
		}
	}
	if c.Layout != nil {
		size += columnsBytes(c.Layout.Columns)
	}
	return size
}

func columnsBytes(columns []pgjson.Column) int {
	size := columnBytes * len(columns)
	for i := range columns {
		size += len(columns[i].Key) + len(columns[i].Name) + columnsBytes(columns[i].Members)
	}
	return size
}

// boundEncoder is an encoder with the column types and session settings that it was made for.
type boundEncoder struct {
	*pgjson.Encoder
	columns store.Columns
}

// current gives the planner of the current catalog.
func (h *Handler) current() (*Planner, error) {
	for {
		c := h.catalogs.Current()
		if c == nil {
			e := failure(http.StatusServiceUnavailable, "PGRST002", "Could not query the database for the schema cache. Retrying.")
			return nil, e.retryAfter()
		}
		p := h.planner.Load()
		if p != nil && p.catalog == c {
			return p, nil
		}
		next := NewPlanner(c)
		if h.planner.CompareAndSwap(p, next) {
			return next, nil
		}
	}
}

// compile finds or makes the statement of a request's shape.
func (h *Handler) compile(p *Planner, request *query.Request) (*compiled, error) {
	statement, remembered, err := p.statement(request)
	if remembered {
		h.PlanHits.Add(1)
	} else {
		h.PlanMisses.Add(1)
	}
	return statement, err
}

// Statement finds or makes the statement of a request's shape, and tells whether it was there.
func (p *Planner) Statement(request *query.Request) (statement *sql.Statement, remembered bool, err error) {
	c, remembered, err := p.statement(request)
	if err != nil {
		return nil, false, err
	}
	return c.Statement, remembered, nil
}

func (p *Planner) statement(request *query.Request) (statement *compiled, remembered bool, err error) {
	key := request.AppendShape(make([]byte, 0, 512))
	if statement := p.find(key); statement != nil {
		return statement, true, nil
	}
	if statement, err = p.compile(request, nil); err != nil {
		return nil, false, err
	}
	return p.remember(string(key), statement), false, nil
}

// compileThrough finds or makes the statement of a request's shape whose rows go through a function.
func (h *Handler) compileThrough(p *Planner, request *query.Request, f *format) (*compiled, error) {
	if request.Action == query.Read && request.Prefer.Page != query.PageUnset {
		return nil, failure(http.StatusBadRequest, query.CodeSyntax, "Prefer: page=keyset cannot be combined with a media type of the database's own")
	}
	inner := format{through: f.through}
	key := request.AppendShape(inner.appendKey(make([]byte, 0, 512)))
	if statement := p.find(key); statement != nil {
		return statement, nil
	}
	statement, err := p.compile(request, f.through.Media)
	if err != nil {
		return nil, err
	}
	statement.handled = f.through.id > pastHandlers
	return p.remember(string(key), statement), nil
}

// appendKey writes what tells the statement of a format from that of the request's shape alone, which begins with a
// small number.
func (f *format) appendKey(dst []byte) []byte {
	if f.plan != nil {
		dst = append(dst, 'e')
		o := &f.plan.options
		for _, set := range [...]bool{o.JSON, o.Analyze, o.Verbose, o.Settings, o.Buffers, o.WAL} {
			dst = strconv.AppendBool(dst, set)
		}
	}
	if f.through != nil {
		dst = binary.BigEndian.AppendUint32(append(dst, 't'), f.through.id)
	}
	return dst
}

// compile plans a request and writes its statement, whose rows go through a function when there is one.
func (p *Planner) compile(request *query.Request, through *sql.Media) (*compiled, error) {
	switch request.Action {
	case query.Read:
		planned, err := plan.NewRead(p.catalog, request)
		if err != nil {
			return nil, err
		}
		statement := &compiled{relation: planned.Root.Source.Relation}
		if through != nil {
			statement.Statement = sql.CompileReadAs(planned, through)
		} else {
			statement.Statement = sql.CompileRead(planned)
		}
		return statement, nil
	case query.Call:
		planned, err := plan.NewCall(p.catalog, request)
		if err != nil {
			return nil, err
		}
		statement := &compiled{routine: planned.Routine}
		if through != nil {
			statement.Statement = sql.CompileCallAs(planned, through)
		} else {
			statement.Statement = sql.CompileCall(planned)
		}
		return statement, nil
	default:
		planned, err := plan.NewWrite(p.catalog, request)
		if err != nil {
			return nil, err
		}
		statement := &compiled{relation: planned.Relation}
		if through != nil {
			statement.Statement = sql.CompileWriteAs(planned, through)
		} else {
			statement.Statement = sql.CompileWrite(planned)
		}
		return statement, nil
	}
}

// find gives the statement of a key, nil when none is remembered.
func (p *Planner) find(key []byte) *compiled {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.compiled[string(key)]
}

// remember keeps a statement and gives the one to use: requests that compiled it at the same time share it.
func (p *Planner) remember(key string, statement *compiled) *compiled {
	p.mu.Lock()
	defer p.mu.Unlock()
	if other := p.compiled[key]; other != nil {
		return other
	}
	size := len(key) + statement.bytes()
	if len(p.compiled) == maxCompiled || p.bytes+size > maxCompiledBytes {
		p.forget()
	}
	p.compiled[key] = statement
	p.bytes += size
	return statement
}

// forget drops an eighth of the statements and of their bytes.
func (p *Planner) forget() {
	for key, statement := range p.compiled {
		if len(p.compiled) <= maxCompiled*7/8 && p.bytes <= maxCompiledBytes*7/8 {
			return
		}
		delete(p.compiled, key)
		p.bytes -= len(key) + statement.bytes()
	}
}

// bind gives the encoder for the columns that PostgreSQL describes, which may differ from what the catalog said.
func (c *compiled) bind(p *Planner, columns store.Columns, zones *zones) (*pgjson.Encoder, error) {
	if bound := c.encoder.Load(); bound != nil && bound.columns.TimeZone == columns.TimeZone &&
		bound.columns.IntervalStyle == columns.IntervalStyle && slices.Equal(bound.columns.Types, columns.Types) {
		return bound.Encoder, nil
	}
	zone, err := zones.load(columns.TimeZone)
	if err != nil {
		return nil, err
	}
	encoder, err := pgjson.NewEncoder(c.Layout, columns.Types[len(c.Hidden):], p.catalog, zone, columns.IntervalStyle)
	if err != nil {
		return nil, err
	}
	columns.Types = slices.Clone(columns.Types)
	c.encoder.Store(&boundEncoder{encoder, columns})
	return encoder, nil
}

// zones remembers time zones by the names that PostgreSQL reports.
type zones struct {
	mu     sync.RWMutex
	loaded map[string]*time.Location
}

// maxZones bounds the remembered zones: clients may name any in Prefer: timezone.
const maxZones = 1024

func (z *zones) load(name string) (*time.Location, error) {
	z.mu.RLock()
	zone, ok := z.loaded[name]
	z.mu.RUnlock()
	if ok {
		return zone, nil
	}
	zone, err := pgjson.LoadZone(name)
	if err != nil {
		return nil, err
	}
	z.mu.Lock()
	defer z.mu.Unlock()
	if len(z.loaded) >= maxZones {
		clear(z.loaded)
	}
	z.loaded[name] = zone
	return zone, nil
}
