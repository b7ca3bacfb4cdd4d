package outbox

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Pace is how deliveries follow each other. The zero value is for production.
type Pace struct {
	// Senders is how many messages of a kind one process delivers at the same time; 0 is 4.
	Senders int
	// Poll is the longest time between two looks for messages that other processes left; 0 is 5 s. After a message of its
	// own a process looks at once.
	Poll time.Duration
	// Timeout is for one delivery; 0 is 60 s.
	Timeout time.Duration
	// Lease is for how long a message belongs to the process that has taken it; 0 is twice the Timeout. It has to be the
	// longer one: else two processes deliver one message.
	Lease time.Duration
	// Grace is how long deliveries under way may take when the process is to end; 0 is 10 s.
	Grace time.Duration
	// FirstRetry is the time before a second attempt; 0 is 1 s. Each further one comes after twice the time before, at
	// most LastRetry, which is 2 min for 0.
	FirstRetry, LastRetry time.Duration
	// Attempts is after how many of them a message is given up; 0 is 50: about an hour and a half.
	Attempts int
}

func (p *Pace) fill() {
	orElse(&p.Senders, 4)
	orElse(&p.Poll, 5*time.Second)
	orElse(&p.Timeout, time.Minute)
	orElse(&p.Lease, 2*p.Timeout)
	orElse(&p.Grace, 10*time.Second)
	orElse(&p.FirstRetry, time.Second)
	orElse(&p.LastRetry, 2*time.Minute)
	orElse(&p.Attempts, 50)
}

func orElse[T int | time.Duration](value *T, otherwise T) {
	if *value <= 0 {
		*value = otherwise
	}
}

// retry is the time before the attempt that follows a number of failed ones. Half of it is chance, so that what failed
// together is not tried again together.
func (p *Pace) retry(failed int) time.Duration {
	delay := p.FirstRetry
	for i := 1; i < failed && delay < p.LastRetry; i++ {
		delay *= 2
	}
	delay = min(delay, p.LastRetry)
	return delay/2 + rand.N(delay/2+1)
}

// firstLook is the time between a message of the process's own and the first look for it, which can come before its
// transaction has ended. Looks that find nothing are repeated after twice the time before.
const firstLook = 5 * time.Millisecond

// lane delivers the messages of some channels by one deliverer.
type lane struct {
	box      *Outbox
	channels []Channel
	by       atomic.Pointer[Deliverer]
	wake     chan struct{}
	slots    chan struct{}

	mu     sync.Mutex
	outage int // failures in a row that were not the messages' own
	until  time.Time
}

func newLane(box *Outbox, channels []Channel, d Deliverer) *lane {
	l := &lane{box: box, channels: channels, wake: make(chan struct{}, 1), slots: make(chan struct{}, box.options.Pace.Senders)}
	l.set(d)
	return l
}

// set puts a deliverer in place of the one before, nil to keep messages. Whether the way was open is forgotten.
func (l *lane) set(d Deliverer) {
	if d == nil {
		l.by.Store(nil)
		return
	}
	l.by.Store(&d)
	l.mu.Lock()
	l.outage, l.until = 0, time.Time{}
	l.mu.Unlock()
	l.awaken()
}

// deliverer is who delivers now, nil where messages are kept.
func (l *lane) deliverer() Deliverer {
	if d := l.by.Load(); d != nil {
		return *d
	}
	return nil
}

// awaken makes the lane look for messages now.
func (l *lane) awaken() {
	select {
	case l.wake <- struct{}{}:
	default: // it is to look already
	}
}

// run takes and delivers messages until the context ends, and then waits for the deliveries under way.
func (l *lane) run(ctx context.Context) {
	var sending sync.WaitGroup
	defer sending.Wait()
	idle := firstLook
	for ctx.Err() == nil {
		free := l.reserve(ctx)
		taken, err := l.take(ctx, free)
		if err != nil && ctx.Err() == nil {
			// That PostgreSQL is away is said elsewhere, once.
			l.box.log.Debug().Err(err).Msg("look for messages to deliver")
		}
		l.release(free - len(taken))
		for _, m := range taken {
			sending.Go(func() {
				defer l.freed()
				l.work(ctx, m)
			})
		}
		if len(taken) > 0 {
			idle = firstLook
		}
		if free == 0 || len(taken) < free {
			idle = l.rest(ctx, idle)
		}
	}
}

// reserve waits for a sender that is free and takes all that are. After an outage it waits for all: one message at a
// time tries whether it is over.
func (l *lane) reserve(ctx context.Context) int {
	outage := l.inOutage()
	for n := 0; n < cap(l.slots); n++ {
		if n > 0 && !outage {
			select {
			case l.slots <- struct{}{}:
				continue
			default:
				return n
			}
		}
		select {
		case l.slots <- struct{}{}:
		case <-ctx.Done():
			l.release(n)
			return 0
		}
	}
	if outage {
		l.release(cap(l.slots) - 1)
		return 1
	}
	return cap(l.slots)
}

func (l *lane) release(n int) {
	for range n {
		<-l.slots
	}
}

// freed gives a sender back. There may be more that is due than there were senders.
func (l *lane) freed() {
	<-l.slots
	l.awaken()
}

// rest waits until there may be something to do, and gives how long to wait the next time when there was not.
func (l *lane) rest(ctx context.Context, idle time.Duration) time.Duration {
	timer := time.NewTimer(max(idle, l.pause()))
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-l.wake:
		if pause := l.pause(); pause > 0 {
			return idle // the pause goes on
		}
		return firstLook
	case <-timer.C:
	}
	return min(2*idle, l.box.options.Pace.Poll)
}

const takeMessages = `
update basalt.outbox as o
set attempts = o.attempts + 1,
    due_at = clock_timestamp() + $3
from (
    select id
    from basalt.outbox
    where state = 'queued'
    and channel = any($1)
    and due_at <= clock_timestamp()
    order by due_at
    limit $2
    for update skip locked
) as due
where o.id = due.id
returning o.id, o.channel, o.kind, o.user_id, o.body, o.created_at, o.expires_at, o.attempts`

// taken is a message on lease.
type taken struct {
	Message
	sealed string
	until  time.Time
}

// take leases messages that are due. The lease begins, for us, before the database has been asked.
func (l *lane) take(ctx context.Context, most int) ([]*taken, error) {
	if most == 0 || l.pause() > 0 || l.deliverer() == nil {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, databasePatience)
	defer cancel()
	until := time.Now().Add(l.box.options.Pace.Lease)
	rows, err := l.box.pool.Query(ctx, takeMessages, l.channels, most, l.box.options.Pace.Lease)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (*taken, error) {
		t := &taken{until: until}
		var owner *uuid.UUID
		err := row.Scan(&t.ID, &t.Channel, &t.Kind, &owner, &t.sealed, &t.CreatedAt, &t.ExpiresAt, &t.Attempts)
		if owner != nil {
			t.UserID = *owner
		}
		return t, err
	})
}

// databasePatience is for one statement of a worker.
const databasePatience = 10 * time.Second

// work delivers a message and notes how that went.
func (l *lane) work(ctx context.Context, t *taken) {
	pace := l.box.options.Pace
	delivery, cancel := outlast(ctx, pace.Grace, t.until.Add(pace.Timeout-pace.Lease))
	defer cancel()
	err := l.deliver(delivery, t)
	l.noteWay(t, err)
	l.settle(ctx, t, err)
}

// outlast gives a context that ends at a deadline, or some time after the given one, whichever is first.
func outlast(ctx context.Context, grace time.Duration, deadline time.Time) (context.Context, context.CancelFunc) {
	lasting, cancel := context.WithDeadline(context.WithoutCancel(ctx), deadline)
	stop := context.AfterFunc(ctx, func() {
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case <-timer.C:
			cancel()
		case <-lasting.Done():
		}
	})
	return lasting, func() { stop(); cancel() }
}

func (l *lane) deliver(ctx context.Context, t *taken) error {
	if !time.Now().Before(t.ExpiresAt) {
		return Refuse(errors.New("it has expired before it could be delivered"))
	}
	keys, err := l.box.options.Keys()
	if err != nil {
		return Unreachable(fmt.Errorf("read the encryption keys: %w", err))
	}
	if err := t.open(keys, t.sealed); err != nil {
		return Refuse(fmt.Errorf("open the message: %w", err))
	}
	by := l.deliverer()
	if by == nil {
		return Unreachable(errors.New("there is no way to send it any more"))
	}
	return by.Deliver(ctx, &t.Message)
}

// pause is how long nothing is to be delivered, because the way was not open.
func (l *lane) pause() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(0, time.Until(l.until))
}

// inOutage tells whether the way was not open when it was tried last.
func (l *lane) inOutage() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.outage > 0
}

// noteWay notes whether the way is open, and says so when that changes.
func (l *lane) noteWay(t *taken, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case isUnreachable(err):
		l.outage++
		l.until = time.Now().Add(min(l.box.options.Pace.retry(l.outage), 30*time.Second))
		if l.outage == 1 {
			l.box.log.Warn().Str("channel", string(t.Channel)).Str("error", t.scrub(err)).
				Msg("messages cannot be delivered now; they wait and are tried again")
		}
	case l.outage > 0:
		l.box.log.Info().Str("channel", string(t.Channel)).Int("failures", l.outage).Msg("messages are delivered again")
		l.outage, l.until = 0, time.Time{}
	}
}
