package auth

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	// userOfToken reads an account, whether the token's session is alive, and its assurance level. The session is found
	// by its key, not among those of its user: a user may have thousands.
	userOfToken = userWhile + userOfSession

	// userOfLimitedToken is userOfToken where sessions have limits.
	userOfLimitedToken = userWhile + ` and (` + sessionEnd + `) is null` + userOfSession

	userWhile = `
select` + userColumns + `,
    $2 = '00000000-0000-0000-0000-000000000000' or (s.user_id = u.id and coalesce(s.not_after > now(), true)`

	userOfSession = `),
    coalesce(s.aal, 'aal1')
from auth.users u
left join auth.sessions s on s.id = $2
where u.id = $1
and u.deleted_at is null`

	// mostTogether bounds the accounts that one flight reads.
	mostTogether = 64
	// lookupPatience bounds a flight, with the wait for a connection.
	lookupPatience = 10 * time.Second
)

// errLookupBroken is the answer to callers whose flight ended before their turn.
var errLookupBroken = errors.New("the flight that read the account broke off")

// lookups reads the accounts behind tokens, which is what clients ask for most. Under load callers would wait for a
// connection one by one; here those that wait anyway are read in the next flight together, so that a connection, its
// write and its read are spent once on all of them. Who finds a flight free flies at once. A flight carries nobody
// who comes after it has begun: what was acknowledged before a caller came, a sign-out say, is what the caller sees.
type lookups struct {
	pool *pgxpool.Pool
	// most is how many flights there may be at once: half of the connections, the others are for everybody else.
	most int
	// limits are parameters of userOfLimitedToken; without any userOfToken is asked.
	limits []any

	mu      sync.Mutex
	flying  int
	waiting []*lookup
}

// lookup is one caller's question, then its answer.
type lookup struct {
	principal *Principal
	// lead is sent to when it is the caller's turn to fly, done is closed when there is an answer.
	lead, done chan struct{}

	user  *User
	alive bool
	level string
	err   error
}

func newLookups(pool *pgxpool.Pool) *lookups {
	return &lookups{pool: pool, most: max(1, int(pool.Config().MaxConns)/2)}
}

// limited has sessions looked at that have limits.
func (ls *lookups) limited(l SessionLimits) *lookups {
	if l != (SessionLimits{}) {
		ls.limits = l.parameters()
	}
	return ls
}

// of reads the account behind a token. The error of one that does not exist is pgx.ErrNoRows.
func (ls *lookups) of(ctx context.Context, p *Principal) (*lookup, error) {
	l := &lookup{principal: p, lead: make(chan struct{}, 1), done: make(chan struct{})}
	if ls.board(l) {
		ls.fly(ctx, l)
		return l, l.err
	}
	select {
	case <-l.lead:
		ls.fly(ctx, l)
	case <-l.done:
	case <-ctx.Done():
		ls.leave(l)
		return nil, ctx.Err()
	}
	return l, l.err
}

// board tells whether the caller flies itself. Otherwise it waits to be taken along or to be told to.
func (ls *lookups) board(l *lookup) bool {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if ls.flying < ls.most {
		ls.flying++
		return true
	}
	ls.waiting = append(ls.waiting, l)
	return false
}

// leave is for a caller who waits no longer.
func (ls *lookups) leave(l *lookup) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if i := slices.Index(ls.waiting, l); i >= 0 {
		ls.waiting = slices.Delete(ls.waiting, i, i+1)
		return
	}
	select {
	case <-l.lead:
		ls.passOn()
	default: // a flight has taken it along
	}
}

// passOn lets the first who waits fly, when a flight has ended.
func (ls *lookups) passOn() {
	if len(ls.waiting) == 0 {
		ls.flying--
		return
	}
	ls.waiting[0].lead <- struct{}{}
	ls.waiting = slices.Delete(ls.waiting, 0, 1)
}

// takeAlong gives the lookups of a flight: its leader's and those that wait.
func (ls *lookups) takeAlong(leader *lookup) []*lookup {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	n := min(mostTogether-1, len(ls.waiting))
	together := append([]*lookup{leader}, ls.waiting[:n]...)
	ls.waiting = slices.Delete(ls.waiting, 0, n)
	return together
}

// fly answers the leader's lookup and those that it takes along.
func (ls *lookups) fly(ctx context.Context, leader *lookup) {
	together := ls.takeAlong(leader)
	answered := 0
	defer func() {
		for _, l := range together[answered:] {
			l.err = errLookupBroken
			close(l.done)
		}
		ls.mu.Lock()
		defer ls.mu.Unlock()
		ls.passOn()
	}()
	if len(together) > 1 {
		ctx = context.WithoutCancel(ctx) // the others are still there when the leader's client leaves
	}
	ctx, cancel := context.WithTimeout(ctx, lookupPatience)
	defer cancel()
	batch := &pgx.Batch{}
	for _, l := range together {
		ls.ask(batch, l.principal)
	}
	results := ls.pool.SendBatch(ctx, batch)
	defer results.Close()
	for ; answered < len(together); answered++ {
		l := together[answered]
		l.err = l.scan(results.QueryRow())
		close(l.done)
	}
}

// ask adds the question for the account behind a token to a batch. Flows that ask in a batch of their own scan the answer.
func (ls *lookups) ask(batch *pgx.Batch, p *Principal) *pgx.QueuedQuery {
	statement := userOfToken
	if ls.limits != nil {
		statement = userOfLimitedToken
	}
	return batch.Queue(statement, append([]any{[16]byte(p.UserID), [16]byte(p.SessionID)}, ls.limits...)...)
}

// scan reads a row of userOfToken.
func (l *lookup) scan(found pgx.Row) error {
	return found.Scan(reader(func(r *row) { l.user, l.alive, l.level = r.user(), r.flag(), r.text() }))
}
