package store

import (
	"strconv"

	"basalt/query/sql"
)

const (
	// maxPreparedText bounds the SQL of a connection's prepared statements: PostgreSQL holds its trees and plans, many
	// times its size, for each connection anew.
	maxPreparedText = 4 << 20
	// leastPrepared are kept whatever their size, so that none is dropped by the flight that needs it.
	leastPrepared = 16
)

// preparedKey names a statement on one connection. PostgreSQL plans a statement under row level security for the role
// that runs it and plans again whenever the role differs, so each role has a prepared statement of its own.
type preparedKey struct {
	statement *sql.Statement
	role      string
}

// prepared is one prepared statement of a connection.
type prepared struct {
	key        preparedKey
	name       string
	text       string
	formats    []int16 // of the parameters
	types      []uint32
	described  bool // the server has it, and types are known
	closing    bool // its name is among those that nobody will use again
	prev, next *prepared
}

// preparedCache holds the statements that one connection has prepared, at most limit of them and maxPreparedText of
// their SQL, the least recently used dropped first.
type preparedCache struct {
	limit   int
	byKey   map[preparedKey]*prepared
	text    int      // bytes of SQL
	recent  prepared // sentinel of a ring: recent.next was used last, recent.prev first
	counter uint64
	closing []string // names that the server still has and that nobody will use again
}

func newPreparedCache(limit int) *preparedCache {
	c := &preparedCache{limit: limit, byKey: make(map[preparedKey]*prepared, 32)}
	c.recent.next, c.recent.prev = &c.recent, &c.recent
	return c
}

// get finds or makes the entry of a statement and marks it as the one last used.
func (c *preparedCache) get(statement *sql.Statement, role string) *prepared {
	key := preparedKey{statement, role}
	entry := c.byKey[key]
	if entry != nil {
		c.unlink(entry)
		c.push(entry)
		return entry
	}
	for len(c.byKey) >= c.limit || len(c.byKey) >= leastPrepared && c.text+len(statement.SQL) > maxPreparedText {
		c.drop(c.recent.prev)
	}
	entry = &prepared{key: key, name: c.newName(), text: statement.SQL, formats: statement.Formats}
	c.byKey[key] = entry
	c.text += len(entry.text)
	c.push(entry)
	return entry
}

// drop forgets an entry; the next flight deallocates it.
func (c *preparedCache) drop(entry *prepared) {
	if c.byKey[entry.key] != entry {
		return
	}
	delete(c.byKey, entry.key)
	c.text -= len(entry.text)
	c.unlink(entry)
	if entry.described {
		c.close(entry)
	}
}

// close lets the server forget a statement with the next flight.
func (c *preparedCache) close(entry *prepared) {
	entry.closing = true
	c.closing = append(c.closing, entry.name)
}

// newName gives a name that this connection has never used, so that a statement whose Parse failed halfway cannot
// stand in the way of the next.
func (c *preparedCache) newName() string {
	c.counter++
	return "basalt_" + strconv.FormatUint(c.counter, 36)
}

func (c *preparedCache) push(entry *prepared) {
	entry.prev, entry.next = &c.recent, c.recent.next
	entry.prev.next, entry.next.prev = entry, entry
}

func (c *preparedCache) unlink(entry *prepared) {
	entry.prev.next, entry.next.prev = entry.next, entry.prev
	entry.prev, entry.next = nil, nil
}
