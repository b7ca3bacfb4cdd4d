package requests

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"
)

const (
	// keepEvery is how often requests are written, pruneEvery how often those that are too old are taken away.
	keepEvery  = time.Second
	pruneEvery = time.Minute
	// pruneFlight is how many one statement takes away; a round ends when there are no more, or after pruneFlights.
	pruneFlight  = 5000
	pruneFlights = 100
	// keepPatience bounds each exchange with the database, also of the last one at the end.
	keepPatience = 10 * time.Second
)

const pruneRequests = `
delete from basalt.requests
where id in (
  select id
  from basalt.requests
  where at < $1
  order by at
  limit $2
  for update skip locked
)`

// Keep writes the requests to basalt.requests until ctx ends, and takes away those that are older than so long. What
// comes faster than the database takes it is not kept: that is counted in the log, requests never wait.
func (l *Log) Keep(ctx context.Context, db *pgxpool.Pool, age time.Duration, log zerolog.Logger) error {
	write, prune := time.NewTicker(keepEvery), time.NewTicker(pruneEvery)
	defer write.Stop()
	defer prune.Stop()
	kept := uint64(0)
	flight := func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, keepPatience)
		defer cancel()
		var rows [][]any
		reached, dropped := l.After(kept, func(r *Request) { rows = append(rows, rowOf(r)) })
		if dropped > 0 {
			kept += dropped
			log.Warn().Uint64("requests", dropped).Msg("requests are not in basalt.requests: more came than the database took")
		}
		if len(rows) > 0 {
			if _, err := db.CopyFrom(ctx, pgx.Identifier{"basalt", "requests"}, requestColumns(), pgx.CopyFromRows(rows)); err != nil {
				log.Debug().Err(err).Msg("requests were not written")
				return // tried again with those that come
			}
		}
		kept = reached
	}
	for {
		select {
		case <-write.C:
			flight(ctx)
		case <-prune.C:
			if err := pruneOld(ctx, db, time.Now().Add(-age)); err != nil && ctx.Err() == nil {
				log.Debug().Err(err).Msg("old requests were not taken away")
			}
		case <-ctx.Done():
			flight(context.WithoutCancel(ctx))
			return nil
		}
	}
}

func pruneOld(ctx context.Context, db *pgxpool.Pool, before time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, keepPatience)
	defer cancel()
	for range pruneFlights {
		tag, err := db.Exec(ctx, pruneRequests, before, pruneFlight)
		if err != nil || tag.RowsAffected() < pruneFlight {
			return err
		}
	}
	return nil
}

func requestColumns() []string {
	return []string{"at", "duration_us", "status", "bytes", "method", "path", "route", "ip", "role", "request_id", "code"}
}

// rowOf gives the row of a request. PostgreSQL takes neither NUL nor what is no UTF-8, and clients send both.
func rowOf(r *Request) []any {
	return []any{r.At, r.Duration.Microseconds(), int16(r.Status), r.Bytes, r.Method, Clean(r.Path), Clean(r.Route), r.IP, Clean(r.Role), r.RequestID, Clean(r.Code)}
}

// Clean gives text as PostgreSQL and JSON take it.
func Clean(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}
