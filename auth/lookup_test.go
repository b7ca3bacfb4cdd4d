package auth

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"basalt/store/storetest"
)

// someUsers makes accounts with a session each, whose ids are their users'.
func someUsers(t *testing.T, db *storetest.Database, n int) []*Principal {
	t.Helper()
	db.Exec(t, fmt.Sprintf(`
		insert into auth.users (id, email)
		select gen_random_uuid(), 'u' || n || '@example.com'
		from generate_series(1, %d) n;
		insert into auth.sessions (id, user_id, aal)
		select id, id, 'aal1'
		from auth.users`, n))
	rows, err := db.Pool.Query(t.Context(), `select id::text from auth.users`)
	if err != nil {
		t.Fatal(err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	var principals []*Principal
	for _, id := range ids {
		principals = append(principals, &Principal{UserID: uuid.MustParse(id), SessionID: uuid.MustParse(id)})
	}
	return principals
}

// grounded fails the test unless nothing flies and nobody waits.
func grounded(t *testing.T, ls *lookups) {
	t.Helper()
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if ls.flying != 0 || len(ls.waiting) != 0 {
		t.Errorf("%d flights are under way and %d callers wait", ls.flying, len(ls.waiting))
	}
}

// until waits for a condition under the lock.
func (ls *lookups) until(t *testing.T, what string, condition func() bool) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		ls.mu.Lock()
		ok := condition()
		ls.mu.Unlock()
		if ok {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("not within a minute: %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

// aloft waits until a flight has reached the locked table: whoever comes now is not taken along by it.
func aloft(t *testing.T, db *storetest.Database) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for flying := false; !flying; {
		if err := db.Pool.QueryRow(t.Context(), `
			select exists (
			  select
			  from pg_stat_activity
			  where datname = current_database()
			  and wait_event_type = 'Lock')`).Scan(&flying); err != nil {
			t.Fatal(err)
		}
		if time.Now().After(deadline) {
			t.Fatal("no flight is under way after a minute")
		}
	}
}

func TestEachCallerGetsTheirOwnAccount(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	ls := newLookups(db.Pool)
	principals := someUsers(t, db, 40)
	var group sync.WaitGroup
	for caller := range 60 {
		group.Go(func() {
			for i := range 20 {
				p := principals[(caller+i)%len(principals)]
				switch (caller + i) % 3 {
				case 0:
					nobody := &Principal{UserID: uuid.New()}
					if _, err := ls.of(t.Context(), nobody); !errors.Is(err, pgx.ErrNoRows) {
						t.Errorf("an account that is none gives %v", err)
					}
				case 1:
					other := &Principal{UserID: p.UserID, SessionID: principals[(caller+i+1)%len(principals)].SessionID}
					if l, err := ls.of(t.Context(), other); err != nil || l.alive {
						t.Errorf("somebody else's session is alive: %v", err)
					}
				case 2:
					if l, err := ls.of(t.Context(), p); err != nil || l.user.ID != p.UserID || !l.alive || l.level != "aal1" {
						t.Errorf("the answer is %+v, %v", l, err)
					}
				}
			}
		})
	}
	group.Wait()
	grounded(t, ls)
}

func TestCallersWhoLeaveDoNotKeepOthersWaiting(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	ls := newLookups(db.Pool)
	ls.most = 1
	p := someUsers(t, db, 1)[0]
	lock, err := db.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Rollback(context.WithoutCancel(t.Context()))
	if _, err := lock.Exec(t.Context(), `lock table auth.users`); err != nil {
		t.Fatal(err)
	}
	leaving, leave := context.WithCancel(t.Context())
	var left, stayed sync.WaitGroup
	ask := func(ctx context.Context, group *sync.WaitGroup, wantLeft bool) {
		group.Go(func() {
			_, err := ls.of(ctx, p)
			if (err != nil) != wantLeft || wantLeft && !errors.Is(err, context.Canceled) {
				t.Errorf("the answer is %v", err)
			}
		})
	}
	ask(leaving, &left, true)
	aloft(t, db)
	for n := range 30 {
		if n%3 == 0 {
			ask(t.Context(), &stayed, false)
		} else {
			ask(leaving, &left, true)
		}
		ls.until(t, "the next waits", func() bool { return len(ls.waiting) == n+1 })
	}
	leave()
	left.Wait()
	if err := lock.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	stayed.Wait()
	grounded(t, ls)
	if _, err := ls.of(t.Context(), p); err != nil {
		t.Error(err)
	}
}

func TestWhoIsToldToFlyAndHasLeftPassesItOn(t *testing.T) {
	t.Parallel()
	ls := &lookups{most: 1, flying: 1}
	first := &lookup{lead: make(chan struct{}, 1), done: make(chan struct{})}
	second := &lookup{lead: make(chan struct{}, 1), done: make(chan struct{})}
	for _, l := range []*lookup{first, second} {
		if ls.board(l) {
			t.Fatal("there are two flights")
		}
	}
	ls.passOn()
	ls.leave(first)
	select {
	case <-second.lead:
	default:
		t.Error("nobody flies")
	}
	ls.passOn()
	grounded(t, ls)
}

func TestABrokenFlightIsAnAnswerToAllOnBoard(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	ls := newLookups(db.Pool)
	ls.most = 1
	p := someUsers(t, db, 1)[0]
	lock, err := db.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Rollback(context.WithoutCancel(t.Context()))
	if _, err := lock.Exec(t.Context(), `lock table auth.users`); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	ask := func() {
		if _, err := ls.of(t.Context(), p); err == nil {
			t.Error("a broken flight gives an answer")
		}
	}
	group.Go(ask)
	aloft(t, db)
	for range 9 {
		group.Go(ask)
	}
	ls.until(t, "nine wait", func() bool { return len(ls.waiting) == 9 })
	stop := make(chan struct{})
	var breaker sync.WaitGroup
	breaker.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			_, _ = lock.Exec(t.Context(), `
				select pg_terminate_backend(pid)
				from pg_stat_activity
				where datname = current_database()
				and wait_event_type = 'Lock'`)
		}
	})
	group.Wait()
	close(stop)
	breaker.Wait()
	grounded(t, ls)
	if err := lock.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := ls.of(t.Context(), p); err != nil {
		t.Error(err)
	}
}
