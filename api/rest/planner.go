package rest

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"basalt/query/catalog"
	"basalt/query/pgjson"
	"basalt/query/sql"
	"basalt/store"
)

// maxCompiled bounds the statements that one planner remembers; beyond it some are forgotten. A shape takes a few
// KiB, so a client that invents shapes costs at most some tens of MiB.
const maxCompiled = 4096

// planner is a catalog with the statements compiled against it. A new catalog brings a new, empty planner.
type planner struct {
	catalog  *catalog.Catalog
	mu       sync.RWMutex
	compiled map[string]*compiled
}

// compiled is a statement with the encoder that its result columns were last found to need.
type compiled struct {
	*sql.Statement
	relation *catalog.Relation // of reads and writes
	routine  *catalog.Routine  // of calls
	encoder  atomic.Pointer[boundEncoder]
}

// boundEncoder is an encoder with the column types and session settings that it was made for.
type boundEncoder struct {
	*pgjson.Encoder
	columns store.Columns
}

// find gives the statement of a key, compiling it when it is not remembered. Hit says that it was.
func (p *planner) find(key []byte, compile func() (*compiled, error)) (statement *compiled, hit bool, err error) {
	p.mu.RLock()
	statement, hit = p.compiled[string(key)]
	p.mu.RUnlock()
	if hit {
		return statement, true, nil
	}
	statement, err = compile()
	if err != nil {
		return nil, false, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if other, ok := p.compiled[string(key)]; ok {
		return other, false, nil
	}
	if len(p.compiled) >= maxCompiled {
		forget := maxCompiled / 8
		for key := range p.compiled {
			delete(p.compiled, key)
			if forget--; forget == 0 {
				break
			}
		}
	}
	p.compiled[string(key)] = statement
	return statement, false, nil
}

// bind gives the encoder for the columns that PostgreSQL describes, which may differ from what the catalog said.
func (c *compiled) bind(p *planner, columns store.Columns, zones *zones) (*pgjson.Encoder, error) {
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
