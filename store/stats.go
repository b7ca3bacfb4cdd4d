package store

import (
	"sync/atomic"
	"time"
)

// counters count what happened to flights since the start.
type counters struct {
	flights     atomic.Int64
	repeated    atomic.Int64
	reprepared  atomic.Int64
	unavailable atomic.Int64
	destroyed   atomic.Int64
	landed      atomic.Int64 // flights that PostgreSQL answered
	watched     atomic.Int64 // landed, when the heartbeat last looked
}

// Stats is a picture of the pool. Counters run from the start of the process.
type Stats struct {
	Max      int32 // most connections for flights
	Open     int32
	InUse    int32
	Idle     int32
	SideOpen int32 // connections of the side pool
	Waiting  int   // flights that wait for a connection

	Flights     int64         // flights that were given a place
	Waited      int64         // flights that had to wait
	WaitTime    time.Duration // of all that waited
	Refused     int64         // flights that got no connection in time
	Repeated    int64         // reads flown again because their connection broke
	Reprepared  int64         // flights flown again because the database's definitions changed
	Unavailable int64         // flights that PostgreSQL was not there for
	Destroyed   int64         // connections closed because of how a flight ended
	Connected   int64         // connections made
}

// Stats takes a picture of the pool.
func (db *DB) Stats() Stats {
	pool := db.flights.Stat()
	return Stats{
		Max:      pool.MaxConns(),
		Open:     pool.TotalConns(),
		InUse:    pool.AcquiredConns(),
		Idle:     pool.IdleConns(),
		SideOpen: db.side.Stat().TotalConns(),
		Waiting:  db.gate.queueLength(),

		Flights:     db.counts.flights.Load(),
		Waited:      db.gate.waited.Load(),
		WaitTime:    time.Duration(db.gate.waitTime.Load()),
		Refused:     db.gate.refused.Load(),
		Repeated:    db.counts.repeated.Load(),
		Reprepared:  db.counts.reprepared.Load(),
		Unavailable: db.counts.unavailable.Load(),
		Destroyed:   db.counts.destroyed.Load(),
		Connected:   pool.NewConnsCount(),
	}
}
