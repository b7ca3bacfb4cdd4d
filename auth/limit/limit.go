// Package limit counts requests in windows that all processes over one database share.
package limit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// Rule is how often something may happen. A window begins with the first hit after the last
// one has ended, so that within a window the count is exact.
type Rule struct {
	Name   string
	Max    int
	Window time.Duration
}

// Hit is one happening under a rule: of an address, of an account.
type Hit struct {
	Rule Rule
	Of   string
}

// key hides what was counted: the table holds neither e-mail nor network addresses.
func (h Hit) key() string {
	digest := sha256.Sum256([]byte(h.Of))
	return h.Rule.Name + ":" + hex.EncodeToString(digest[:16])
}

// Refusal is one rule's no.
type Refusal struct {
	Rule       Rule
	RetryAfter time.Duration
}

// Verdict is the outcome of a count; it is known when the batch has been sent.
type Verdict struct {
	refusals []Refusal
}

// Refused gives the refusal with the longest wait among the given rules, or among all
// when none is given.
func (v *Verdict) Refused(rules ...Rule) *Refusal {
	var worst *Refusal
	for i := range v.refusals {
		r := &v.refusals[i]
		if len(rules) > 0 && !contains(rules, r.Rule.Name) {
			continue
		}
		if worst == nil || r.RetryAfter > worst.RetryAfter {
			worst = r
		}
	}
	return worst
}

func contains(rules []Rule, name string) bool {
	for _, rule := range rules {
		if rule.Name == name {
			return true
		}
	}
	return false
}

// Limiter counts hits. The zero value counts.
type Limiter struct {
	// Off lets everything through and counts nothing.
	Off   bool
	count atomic.Uint64
}

const (
	// sweepEvery is how many counts pass between two removals of windows that have ended.
	sweepEvery = 500

	take = `
with asked as (
    select *
    from unnest($1::text[], $2::int[], $3::float8[]) as a (key, most, seconds)
    order by key
),
taken as (
    insert into basalt.rate_limits as r (key, hits, resets_at)
    select key, 1, now() + make_interval(secs => seconds)
    from asked
    on conflict (key) do update
    set hits = case when r.resets_at <= now() then 1 else r.hits + 1 end,
        resets_at = case when r.resets_at <= now() then excluded.resets_at else r.resets_at end
    where r.resets_at <= now()
    or r.hits < (select most from asked where asked.key = r.key)
    returning key
)
select a.key, greatest(coalesce(extract(epoch from r.resets_at - now()), a.seconds), 1)::float8
from asked a
left join basalt.rate_limits r on r.key = a.key
where a.key not in (select key from taken)`

	forget = `
delete from basalt.rate_limits
where key in (
    select key
    from basalt.rate_limits
    where key = any($1)
    order by key
    for update
)`

	sweep = `
delete from basalt.rate_limits
where key in (
    select key
    from basalt.rate_limits
    where resets_at < now()
    limit 2000
    for update skip locked
)`
)

// Queue adds the count of some hits to a batch, so that it costs no flight of its own.
func (l *Limiter) Queue(batch *pgx.Batch, hits ...Hit) *Verdict {
	verdict := &Verdict{}
	if l.Off || len(hits) == 0 {
		return verdict
	}
	keys := make([]string, len(hits))
	most := make([]int32, len(hits))
	seconds := make([]float64, len(hits))
	byKey := make(map[string]Rule, len(hits))
	for i, hit := range hits {
		keys[i], most[i], seconds[i] = hit.key(), int32(hit.Rule.Max), hit.Rule.Window.Seconds()
		byKey[keys[i]] = hit.Rule
	}
	batch.Queue(take, keys, most, seconds).Query(func(rows pgx.Rows) error {
		var key string
		var wait float64
		_, err := pgx.ForEachRow(rows, []any{&key, &wait}, func() error {
			verdict.refusals = append(verdict.refusals, Refusal{
				Rule:       byKey[key],
				RetryAfter: time.Duration(wait * float64(time.Second)).Round(time.Second),
			})
			return nil
		})
		if err != nil {
			return fmt.Errorf("count hits: %w", err)
		}
		return nil
	})
	if l.count.Add(1)%sweepEvery == 0 {
		batch.Queue(sweep)
	}
	return verdict
}

// Forget adds to a batch that some hits are to count no more.
func (l *Limiter) Forget(batch *pgx.Batch, hits ...Hit) {
	if l.Off || len(hits) == 0 {
		return
	}
	keys := make([]string, len(hits))
	for i, hit := range hits {
		keys[i] = hit.key()
	}
	batch.Queue(forget, keys)
}

// Sender is a connection or a pool of them.
type Sender interface {
	SendBatch(ctx context.Context, batch *pgx.Batch) pgx.BatchResults
}

// Take counts some hits in a flight of its own.
func (l *Limiter) Take(ctx context.Context, db Sender, hits ...Hit) (*Verdict, error) {
	batch := &pgx.Batch{}
	verdict := l.Queue(batch, hits...)
	if batch.Len() == 0 {
		return verdict, nil
	}
	if err := db.SendBatch(ctx, batch).Close(); err != nil {
		return nil, err
	}
	return verdict, nil
}
