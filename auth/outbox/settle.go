package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// A process that has lost its lease finds another number of attempts, and leaves the message alone.
const (
	removeDelivered = `
delete from basalt.outbox
where id = $1
and attempts = $2`

	postpone = `
update basalt.outbox
set due_at = clock_timestamp() + $3,
    failure = $4
where id = $1
and attempts = $2
and state = 'queued'`

	giveUp = `
update basalt.outbox
set state = 'failed',
    failure = $3
where id = $1
and attempts = $2
and state = 'queued'`

	// giveUpExpired is for messages that no process delivers any more.
	giveUpExpired = `
update basalt.outbox
set state = 'failed',
    failure = coalesce(failure, 'it has expired before it could be delivered')
where id in (
    select id
    from basalt.outbox
    where state = 'queued'
    and expires_at < now() - $1::interval
    and due_at < now()
    limit 1000
    for update skip locked
)
returning id, channel, kind, failure`

	removeOld = `
delete from basalt.outbox
where id in (
    select id
    from basalt.outbox
    where state <> 'queued'
    and created_at < now() - $1::interval
    limit 1000
    for update skip locked
)`

	removeMany = `
delete from basalt.outbox
where id in (
    select o.id
    from basalt.outbox as o
    where o.id in (
        select old.id
        from basalt.outbox as old
        where old.state <> 'queued'
        order by old.created_at desc
        offset $1
        limit 1000
    )
    for update skip locked
)`
)

// settle notes in the database how a delivery went. As long as the message is on lease it does not give up: a message
// that was delivered and is not removed is delivered once more when its lease ends. That is the one case in which a
// reader gets it twice: process or database went away between the last word of the other server and this commit.
func (l *lane) settle(ctx context.Context, t *taken, failure error) {
	ctx, cancel := outlast(ctx, l.box.options.Pace.Grace, t.until)
	defer cancel()
	note := l.outcome(t, failure)
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		err := note(ctx)
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			l.box.line(l.box.log.Error(), &t.Message).Err(err).
				Msg("the outcome of a delivery could not be noted; if it was delivered it is delivered again")
			return
		case <-time.After(wait):
		}
	}
}

// outcome gives the statement that a delivery ends with.
func (l *lane) outcome(t *taken, failure error) func(context.Context) error {
	exec := func(sql string, parameters ...any) func(context.Context) error {
		return func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, databasePatience)
			defer cancel()
			_, err := l.box.pool.Exec(ctx, sql, parameters...)
			return err
		}
	}
	if failure == nil {
		l.box.counts.sent.Add(1)
		l.box.line(l.box.log.Debug(), &t.Message).Int("attempts", t.Attempts).Msg("message delivered")
		return exec(removeDelivered, t.ID, t.Attempts)
	}
	why := t.scrub(failure)
	delay := l.box.options.Pace.retry(t.Attempts)
	if isRefused(failure) || t.Attempts >= l.box.options.Pace.Attempts || time.Now().Add(delay).After(t.ExpiresAt) {
		l.box.counts.failed.Add(1)
		l.box.line(l.box.log.Error(), &t.Message).Int("attempts", t.Attempts).Str("error", why).
			Msg("a message was given up; it is kept in the outbox for a while, which the dashboard shows")
		return exec(giveUp, t.ID, t.Attempts, why)
	}
	l.box.line(l.box.log.Debug(), &t.Message).Int("attempts", t.Attempts).Str("error", why).Dur("retry_after", delay).
		Msg("a message could not be delivered and is tried again")
	return exec(postpone, t.ID, t.Attempts, delay, why)
}

// tidyEvery is the time between two looks for what is too old.
const tidyEvery = time.Minute

// tidy removes what is kept for too long or is too much, and gives up what no process delivers.
func (o *Outbox) tidy(ctx context.Context) {
	ticker := time.NewTicker(tidyEvery)
	defer ticker.Stop()
	for {
		if err := o.tidyOnce(ctx); err != nil && ctx.Err() == nil {
			o.log.Debug().Err(err).Msg("tidy the outbox")
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (o *Outbox) tidyOnce(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, databasePatience)
	defer cancel()
	batch := &pgx.Batch{}
	batch.Queue(giveUpExpired, tidyEvery).Query(func(rows pgx.Rows) error {
		var m Message
		var why string
		_, err := pgx.ForEachRow(rows, []any{&m.ID, &m.Channel, &m.Kind, &why}, func() error {
			o.counts.failed.Add(1)
			o.line(o.log.Error(), &m).Str("error", why).Msg("a message was given up: nobody has delivered it in time")
			return nil
		})
		return err
	})
	batch.Queue(removeOld, keptFor)
	batch.Queue(removeMany, mostKept)
	if err := o.pool.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("tidy the outbox: %w", err)
	}
	return nil
}
