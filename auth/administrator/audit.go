package administrator

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"basalt/auth"
)

// Actor is who changes something.
type Actor struct {
	// ID is uuid.Nil for the command line and for who is not known yet.
	ID    uuid.UUID
	Email string
	// IP is where the request comes from, nil where there is none.
	IP        *netip.Addr
	RequestID string
}

// Shell is the actor of the command line.
func Shell() Actor { return Actor{Email: "command line"} }

// Change is one thing that was changed. Before and After are written as JSON, nil is nothing; secrets never go there.
type Change struct {
	// Action is what was done, such as `user.ban`.
	Action string
	// Target is what it was done to, such as an id or `schema.table`.
	Target        string
	Before, After any
}

const (
	// mostKept is how many bytes of a state before or after are kept; of larger ones only the size is.
	mostKept = 256 << 10
	// mostTarget bounds the name of what was changed, in bytes.
	mostTarget = 1 << 10

	insertAudit = `
insert into basalt.administrator_audit (administrator_id, email, action, target, before, after, ip, request_id)
values ($1, $2, $3, $4, $5, $6, $7, $8)`

	pageOfAudit = `
select id, at, administrator_id, email, action, target, before, after, ip, request_id
from basalt.administrator_audit
where ($1::bigint is null or id < $1)
and ($2::uuid is null or administrator_id = $2)
and ($3 = '' or action = $3 or action like $4)
and ($5 = '' or target = $5)
order by id desc
limit $6`

	// The ids follow the times: no entry behind the oldest ones need be looked at.
	pruneAudit = `
delete from basalt.administrator_audit
where at < $1
and id in (
    select id
    from basalt.administrator_audit
    order by id
    limit $2
)`
)

// Execer is a connection, a pool or a transaction.
type Execer interface {
	Exec(ctx context.Context, sql string, arguments ...any) (pgconn.CommandTag, error)
}

// Record writes a change to the audit log, in the transaction that makes it where there is one.
func Record(ctx context.Context, db Execer, actor Actor, change Change) error {
	before, err := kept(change.Before)
	if err != nil {
		return fmt.Errorf("record %s: %w", change.Action, err)
	}
	after, err := kept(change.After)
	if err != nil {
		return fmt.Errorf("record %s: %w", change.Action, err)
	}
	var id *uuid.UUID
	if actor.ID != uuid.Nil {
		id = &actor.ID
	}
	target := plain(change.Target, mostTarget)
	if _, err := db.Exec(ctx, insertAudit, id, actor.Email, change.Action, target, before, after, actor.IP, plain(actor.RequestID, mostTarget)); err != nil {
		return fmt.Errorf("record %s: %w", change.Action, err)
	}
	return nil
}

// kept gives a state as jsonb takes it.
func kept(state any) (*string, error) {
	if state == nil {
		return nil, nil
	}
	text, err := json.Marshal(state)
	if err != nil {
		return nil, err
	}
	if len(text) > mostKept {
		text = fmt.Appendf(nil, `{"too_large":%d}`, len(text))
	}
	written := withoutNUL(string(text))
	return &written, nil
}

// PruneAudit removes entries that are older than the options say, some at a time: nobody has to wait for it.
func (s *Service) PruneAudit(ctx context.Context) {
	if s.options.AuditRetention <= 0 {
		return
	}
	if err := auth.Prune(ctx, s.db.Exec, pruneAudit, time.Now().Add(-s.options.AuditRetention)); err != nil && ctx.Err() == nil {
		s.options.Log.Warn().Err(err).Msg("old entries of the administrators' audit log could not be removed")
	}
}

// Entry is a change as it is listed.
type Entry struct {
	ID              int64
	At              time.Time
	AdministratorID *uuid.UUID
	Email           string
	Action          string
	Target          string
	Before, After   json.RawMessage
	IP              *netip.Addr
	RequestID       string
}

// AuditFilter is which entries are asked for.
type AuditFilter struct {
	// BeforeID asks for older entries than that one; 0 begins with the newest.
	BeforeID int64
	// Limit is the most entries.
	Limit int
	// Administrator is who made the changes; uuid.Nil is anybody.
	Administrator uuid.UUID
	// Action is what was done, or its first words: `user` finds `user.ban`. Empty is anything.
	Action string
	// Target is what it was done to; empty is anything.
	Target string
}

// Audit lists entries, newest first.
func (s *Service) Audit(ctx context.Context, f AuditFilter) ([]Entry, error) {
	var before *int64
	if f.BeforeID != 0 {
		before = &f.BeforeID
	}
	var by *uuid.UUID
	if f.Administrator != uuid.Nil {
		by = &f.Administrator
	}
	rows, err := s.db.Query(ctx, pageOfAudit, before, by, f.Action, literalLike(f.Action)+".%", f.Target, f.Limit)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (Entry, error) {
		var e Entry
		err := row.Scan(&e.ID, &e.At, &e.AdministratorID, &e.Email, &e.Action, &e.Target, &e.Before, &e.After, &e.IP, &e.RequestID)
		return e, err
	})
}
