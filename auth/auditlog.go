package auth

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// mostAudits is how many entries wait to be written. What comes beyond them is lost to the audit log, though not to
	// the server's own, and that is said.
	mostAudits = 4096
	// auditFlight is how many entries one flight writes.
	auditFlight = 100
	// auditAttempts is how often a flight is tried before its entries are given up.
	auditAttempts = 10

	auditPatience = 10 * time.Second
	pruneEvery    = time.Hour
	pruneFlight   = 1000
)

const (
	pruneAudits = `
delete from auth.audit_log_entries
where id in (
    select id
    from auth.audit_log_entries
    where created_at < $1
    order by created_at
    limit $2
    for update skip locked
)`

	countAudits = `
select count(*)
from auth.audit_log_entries` + auditCondition

	pageOfAudits = `
select id, coalesce(payload, 'null'), created_at, ip_address
from auth.audit_log_entries` + auditCondition + `
order by created_at desc nulls last, id
limit $3
offset $4`

	auditCondition = `
where $1::text[] is null
or exists (
    select
    from unnest($1::text[]) as field (name)
    where payload ->> field.name ilike $2
)`
)

// audits are entries that wait to be written behind what they tell of.
type audits struct {
	queue chan auditEntry
	lost  atomic.Int64
}

// auditLater keeps an entry until RunAudit writes it.
func (s *Service) auditLater(e auditEntry) {
	if s.options.Audit.Off || e.user == uuid.Nil {
		return
	}
	e.at = now()
	select {
	case s.audits.queue <- e:
	default:
		s.audits.lost.Add(1)
	}
}

// RunAudit writes the entries that wait and removes those that are too old, until the context ends and all are written.
// Beside its own it has those of other audit logs removed.
func (s *Service) RunAudit(ctx context.Context, others ...func(context.Context)) error {
	prune := time.NewTicker(pruneEvery)
	defer prune.Stop()
	pruneAll := func() {
		s.pruneAudits(ctx)
		for _, prune := range others {
			prune(ctx)
		}
	}
	pruneAll()
	for {
		select {
		case e := <-s.audits.queue:
			s.writeAudits(ctx, e)
		case <-prune.C:
			pruneAll()
		case <-ctx.Done():
			for {
				select {
				case e := <-s.audits.queue:
					s.writeAudits(ctx, e)
				default:
					return nil
				}
			}
		}
	}
}

// writeAudits writes an entry with those that wait behind it. After the context's end it tries once.
func (s *Service) writeAudits(ctx context.Context, first auditEntry) {
	entries := []auditEntry{first}
	for len(entries) < auditFlight {
		select {
		case e := <-s.audits.queue:
			entries = append(entries, e)
			continue
		default:
		}
		break
	}
	if lost := s.audits.lost.Swap(0); lost > 0 {
		s.log.Warn().Int64("entries", lost).Msg("the audit log has lost entries: more came than the database took")
	}
	for attempt := 1; ; attempt++ {
		err := s.sendAudits(ctx, entries)
		switch {
		case err == nil:
			return
		case attempt == auditAttempts || ctx.Err() != nil:
			s.log.Error().Err(err).Int("entries", len(entries)).Msg("entries of the audit log could not be written")
			return
		}
		_ = rest(ctx, min(time.Duration(attempt)*100*time.Millisecond, time.Second)) // its error is the context's
	}
}

func (s *Service) sendAudits(ctx context.Context, entries []auditEntry) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), auditPatience)
	defer cancel()
	batch := &pgx.Batch{}
	for _, e := range entries {
		e.queue(batch)
	}
	return s.send(ctx, batch)
}

// pruneAudits removes entries that are too old, some at a time: nobody has to wait for it.
func (s *Service) pruneAudits(ctx context.Context) {
	if s.options.Audit.Retention <= 0 {
		return
	}
	if err := Prune(ctx, s.pool.Exec, pruneAudits, now().Add(-s.options.Audit.Retention)); err != nil && ctx.Err() == nil {
		s.log.Warn().Err(err).Msg("old entries of the audit log could not be removed")
	}
}

// Prune repeats a statement that removes at most $2 rows older than $1, until no more are found.
func Prune(ctx context.Context, exec func(context.Context, string, ...any) (pgconn.CommandTag, error), statement string, border time.Time) error {
	for {
		tag, err := exec(ctx, statement, border, pruneFlight)
		if err != nil || tag.RowsAffected() < pruneFlight {
			return err
		}
	}
}

// AuditEntry is an entry of the audit log.
type AuditEntry struct {
	ID uuid.UUID
	// Payload is a JSON object: actor_id, actor_username, action, log_type, traits …
	Payload   []byte
	CreatedAt *time.Time
	IPAddress string
}

// AuditPage is a page of the audit log.
type AuditPage struct {
	Entries []AuditEntry
	Total   int
}

// AdminAudit gives a page of the audit log, newest first. A query is `author:text`, `action:text` or `type:text`, and
// finds entries that hold the text there; an empty one finds all. Pages begin at 1.
func (s *Service) AdminAudit(ctx context.Context, query string, page, perPage int) (*AuditPage, error) {
	var fields []string
	scope, text, scoped := strings.Cut(query, ":")
	switch scope {
	case "author":
		fields = []string{"actor_username", "actor_name"}
	case "action":
		fields = []string{"action"}
	case "type":
		fields = []string{"log_type"}
	}
	if query != "" && (!scoped || fields == nil) || !isText(text) {
		return nil, refuse(CodeValidationFailed, fmt.Sprintf("Invalid query scope: %q is none of author:…, action:…, type:…", query))
	}
	pattern := "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(text) + "%"
	out := &AuditPage{}
	batch := &pgx.Batch{}
	batch.Queue(countAudits, fields, pattern).QueryRow(func(row pgx.Row) error { return row.Scan(&out.Total) })
	batch.Queue(pageOfAudits, fields, pattern, perPage, int64(page-1)*int64(perPage)).Query(func(rows pgx.Rows) error {
		var e AuditEntry
		_, err := pgx.ForEachRow(rows, []any{&e.ID, &e.Payload, &e.CreatedAt, &e.IPAddress}, func() error {
			out.Entries = append(out.Entries, e)
			e.Payload, e.CreatedAt = nil, nil
			return nil
		})
		return err
	})
	return out, s.send(ctx, batch)
}
