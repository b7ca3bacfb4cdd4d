package auth

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/rs/zerolog"

	"basalt/auth/limit"
	"basalt/auth/token"
)

const (
	sessionChannel = "basalt_sessions"

	// sessionAge is how long a session is believed to be alive without another look: limits end sessions without a
	// notice.
	sessionAge = 30 * time.Second
	// watchBeat is the time between two signs of life of the connection that notices come by.
	watchBeat = 2 * time.Second
	// watchPatience bounds the wait for a server that does not answer.
	watchPatience = 5 * time.Second
	// watchRetry is the wait before the next attempt to connect.
	watchRetry = 250 * time.Millisecond
	// mostWatched bounds the sessions that are remembered in each shard.
	mostWatched = 1024

	// haveNotices makes the triggers that send them, unless they are there.
	haveNotices = `select basalt.watch_sessions()`

	// keepWatch lets the database send notices for the next time.
	keepWatch = `
insert into basalt.session_watch (until)
values (clock_timestamp() + interval '1 minute')
on conflict (only_row) do update
set until = excluded.until
where session_watch.until < clock_timestamp() + interval '30 seconds'`

	sessionLives = `
select exists (
    select
    from auth.sessions s
    join auth.users u on u.id = s.user_id
    where s.id = $1
    and u.id = $2
    and u.deleted_at is null
    and (u.banned_until is null or u.banned_until <= now())
    and (` + sessionEnd + `) is null
)`
)

// SessionWatchOptions say what a SessionWatch watches.
type SessionWatchOptions struct {
	// Connection is opened once more, for the notices alone. It must lead to PostgreSQL itself or to a pooler in session
	// mode.
	Connection *pgconn.Config
	// DB is asked about sessions that are seen first.
	DB limit.Sender
	// Limits are those of the project's sessions.
	Limits SessionLimits
	Log    zerolog.Logger
}

// SessionWatch tells whether the sessions of tokens are still alive, for those who want more than a token that has not
// expired: a session that was ended, a user who was banned or deleted is refused within a second. A session is looked up
// when it is seen first and then believed to be alive until the database notifies of its end. While the notices do not
// come, each request looks.
type SessionWatch struct {
	options SessionWatchOptions
	shards  [shardCount]watchShard
	// heard counts notices and interruptions: what was asked before one of them is not remembered after it.
	heard     atomic.Uint64
	listening atomic.Bool
}

// watchShard keeps two generations, as the verifier's shards do.
type watchShard struct {
	mu         sync.RWMutex
	young, old map[uuid.UUID]watched
}

type watched struct {
	user  uuid.UUID
	until time.Time
}

// NewSessionWatch makes a watch; Run makes it listen.
func NewSessionWatch(o SessionWatchOptions) *SessionWatch { return &SessionWatch{options: o} }

// Check refuses a token whose session is over, with a *TokenError. Tokens without a session pass: the API keys, and those
// of other issuers.
func (w *SessionWatch) Check(ctx context.Context, p *Principal) error {
	if p.SessionID == uuid.Nil || p.Foreign {
		return nil
	}
	s := &w.shards[p.SessionID[15]%shardCount]
	if w.listening.Load() && s.alive(p.SessionID, p.UserID) {
		return nil
	}
	heard := w.heard.Load()
	alive := false
	batch := &pgx.Batch{}
	batch.Queue(sessionLives, append([]any{p.SessionID, p.UserID}, w.options.Limits.parameters()...)...).
		QueryRow(func(row pgx.Row) error { return row.Scan(&alive) })
	if err := w.options.DB.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("look up a session: %w", err)
	}
	if !alive {
		return token.Ended()
	}
	s.put(p.SessionID, watched{user: p.UserID, until: time.Now().Add(sessionAge)})
	// A notice that came since may have been about this session, and found nothing to forget.
	if w.heard.Load() != heard {
		s.forget(p.SessionID)
	}
	return nil
}

// Run listens until ctx ends.
func (w *SessionWatch) Run(ctx context.Context) error {
	told := false // an outage is said once
	for {
		err := w.listen(ctx)
		if heard := w.interrupt(); heard {
			told = false
		}
		if ctx.Err() != nil {
			return nil
		}
		if !told {
			w.options.Log.Warn().Err(err).Msg("ended sessions are not notified of: each request looks until they are")
		}
		told = true
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(watchRetry):
		}
	}
}

// interrupt forgets all: what happens from now on may go unnoticed. It tells whether notices came before.
func (w *SessionWatch) interrupt() bool {
	heard := w.listening.Swap(false)
	w.forgetAll()
	return heard
}

// listen takes notices until the connection is lost.
func (w *SessionWatch) listen(ctx context.Context) error {
	config := w.options.Connection.Copy()
	// Waiting ends by contexts all the time: that must not send cancel requests, which may hit what is run next.
	config.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.DeadlineContextWatcherHandler{Conn: conn.Conn()}
	}
	config.OnNotification = func(_ *pgconn.PgConn, n *pgconn.Notification) { w.notice(n.Payload) }
	connecting, cancel := context.WithTimeout(ctx, watchPatience)
	defer cancel()
	conn, err := pgconn.ConnectConfig(connecting, config)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer conn.Close(context.WithoutCancel(connecting))
	for _, statement := range []string{haveNotices, `listen ` + sessionChannel} {
		if err := run(connecting, conn, statement); err != nil {
			return err
		}
	}
	for {
		if err := w.beat(ctx, conn); err != nil {
			return err
		}
		w.listening.Store(true)
		wait, cancel := context.WithTimeout(ctx, watchBeat)
		for err = error(nil); err == nil; {
			err = conn.WaitForNotification(wait)
		}
		cancel()
		if ctx.Err() != nil || !pgconn.Timeout(err) {
			return err
		}
	}
}

// beat shows that the connection lives, and that somebody listens.
func (w *SessionWatch) beat(ctx context.Context, conn *pgconn.PgConn) error {
	ctx, cancel := context.WithTimeout(ctx, watchPatience)
	defer cancel()
	return run(ctx, conn, keepWatch)
}

func run(ctx context.Context, conn *pgconn.PgConn, sql string) error {
	if err := conn.Exec(ctx, sql).Close(); err != nil {
		return fmt.Errorf("watch sessions: %w", err)
	}
	return nil
}

// notice takes what a trigger has sent.
func (w *SessionWatch) notice(payload string) {
	what, text, _ := strings.Cut(payload, " ")
	id, err := uuid.Parse(text)
	switch {
	case what == "session" && err == nil:
		w.heard.Add(1)
		w.shards[id[15]%shardCount].forget(id)
	case what == "user" && err == nil:
		w.heard.Add(1)
		for i := range w.shards {
			w.shards[i].forgetUser(id)
		}
	default:
		w.forgetAll()
	}
}

func (w *SessionWatch) forgetAll() {
	w.heard.Add(1)
	for i := range w.shards {
		s := &w.shards[i]
		s.mu.Lock()
		s.young, s.old = nil, nil
		s.mu.Unlock()
	}
}

func (s *watchShard) alive(session, user uuid.UUID) bool {
	s.mu.RLock()
	known, found := s.young[session]
	if !found {
		known, found = s.old[session]
	}
	s.mu.RUnlock()
	return found && known.user == user && time.Now().Before(known.until)
}

func (s *watchShard) put(session uuid.UUID, known watched) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.young == nil || len(s.young) >= mostWatched {
		s.young, s.old = make(map[uuid.UUID]watched, 8), s.young
	}
	s.young[session] = known
}

func (s *watchShard) forget(session uuid.UUID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.young, session)
	delete(s.old, session)
}

func (s *watchShard) forgetUser(user uuid.UUID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, generation := range []map[uuid.UUID]watched{s.young, s.old} {
		for session, known := range generation {
			if known.user == user {
				delete(generation, session)
			}
		}
	}
}
