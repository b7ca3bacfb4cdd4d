package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"basalt/store"
	"basalt/store/storetest"
)

// sessionState is all that a flight could leave behind, as one line of text.
const sessionState = `
select format(
	'user %s %s, path %s, zone %s, claims <%s>, mem %s, timeout %s, reads %s, listens %s, locks %s, temp %s, cursors %s, statements %s',
	session_user, current_user,
	current_setting('search_path'),
	current_setting('timezone'),
	current_setting('request.jwt.claims', true),
	current_setting('work_mem'),
	current_setting('statement_timeout'),
	current_setting('default_transaction_read_only'),
	(select count(*) from pg_listening_channels()),
	(select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()),
	(select count(*) from pg_class where relnamespace = pg_my_temp_schema() and pg_my_temp_schema() <> 0),
	(select count(*) from pg_cursors where is_holdable),
	(select count(*) from pg_prepared_statements where from_sql)
)`

const messySchema = `
create schema mess;
grant usage on schema mess to public;
create sequence mess.numbers;
create table mess.rows (id int);
grant all on mess.rows, mess.numbers to public;
create function mess.settings() returns int language plpgsql as $$ begin
	perform set_config('request.jwt.claims', 'left over', false);
	perform set_config('work_mem', '1MB', false);
	perform set_config('search_path', 'mess', false);
	perform set_config('timezone', 'Asia/Kathmandu', false);
	perform set_config('statement_timeout', '1234', false);
	return 1;
end $$;
create function mess.role() returns int language plpgsql as $$ begin
	set role service_role;
	return 1;
end $$;
create function mess.session_user() returns int language plpgsql as $$ begin
	set session authorization service_role;
	return 1;
end $$;
create function mess.read_only() returns int language plpgsql as $$ begin
	set session characteristics as transaction read only;
	return 1;
end $$;
create function mess.lock() returns int language plpgsql as $$ begin
	perform pg_advisory_lock(42);
	return 1;
end $$;
create function mess.listen() returns int language plpgsql as $$ begin
	execute 'listen gossip';
	return 1;
end $$;
create function mess.prepare() returns int language plpgsql as $$ begin
	execute 'prepare left_over as select 1';
	return 1;
end $$;
create function mess.deallocate() returns int language plpgsql as $$ begin
	execute 'deallocate all';
	return 1;
end $$;
create function mess.temporary() returns int language plpgsql as $$ begin
	create temporary table left_over (id int);
	return 1;
end $$;
create function mess.sequence() returns bigint language sql as $$ select nextval('mess.numbers') $$;
create function mess.lock_and_fail() returns int language plpgsql as $$ begin
	perform pg_advisory_lock(43);
	raise exception 'failed';
end $$;
create function mess.prepare_and_fail() returns int language plpgsql as $$ begin
	execute 'prepare left_over as select 1';
	raise exception 'failed';
end $$;
create function mess.lock_and_sleep() returns int language plpgsql as $$ begin
	perform pg_advisory_lock(44);
	perform pg_sleep(60);
	return 1;
end $$;
create function mess.on_insert() returns trigger language plpgsql as $$ begin
	perform mess.settings(), mess.lock(), mess.listen();
	return new;
end $$;
create trigger on_insert after insert on mess.rows for each row execute function mess.on_insert();
`

// TestASessionIsAsFreshAfterEachFlight compares what a flight sees on a fresh connection with what it sees on one
// where routines have left whatever they can.
func TestASessionIsAsFreshAfterEachFlight(t *testing.T) {
	database := storetest.New(t)
	database.Exec(t, messySchema)
	reading := store.Session{ReadOnly: true}
	roles := []string{"", "anon", "service_role"}
	tests := []struct {
		text    string
		session store.Session
		calls   bool
		fails   bool
	}{
		// Settings and roles are clean behind every flight.
		{text: `select mess.settings()`},
		{text: `select mess.settings()`, session: reading},
		{text: `select mess.settings()`, session: store.Session{Isolation: "serializable"}},
		{text: `select mess.settings() / 0`, session: reading, fails: true},
		{text: `select mess.role()`},
		{text: `select mess.role()`, session: reading},
		{text: `select mess.session_user()`},
		{text: `select mess.session_user()`, session: reading},
		{text: `select mess.read_only()`},
		{text: `select mess.read_only()`, session: reading},
		{text: `select mess.lock()`},
		{text: `select mess.lock()`, session: reading},
		{text: `select mess.lock_and_fail()`, fails: true},
		{text: `select mess.lock_and_fail()`, session: reading, fails: true},
		{text: `select mess.lock_and_fail()`, session: store.Session{Isolation: "repeatable read"}, fails: true},
		{text: `select mess.listen()`},
		{text: `select mess.temporary()`},
		{text: `select mess.temporary()`, session: store.Session{Isolation: "repeatable read"}},
		{text: `select mess.temporary()`, session: reading, fails: true},
		{text: `insert into mess.rows values (1)`},
		{text: `insert into mess.rows values (1) returning 1 / 0`, fails: true},
		// All is, behind a flight that calls a routine.
		{text: `select mess.listen()`, session: reading, calls: true},
		{text: `select mess.prepare()`, calls: true},
		{text: `select mess.prepare()`, session: reading, calls: true},
		{text: `select mess.prepare_and_fail()`, calls: true, fails: true},
		{text: `select mess.prepare_and_fail()`, session: reading, calls: true, fails: true},
		{text: `select mess.deallocate()`, calls: true},
		{text: `select mess.deallocate()`, session: reading, calls: true},
	}
	for _, test := range tests {
		for _, role := range roles {
			session := test.session
			session.Role = role
			if session.Role != "" && (test.text == `select mess.session_user()` || test.text == `select mess.role()`) {
				session.Role = "" // others may not
			}
			name := fmt.Sprintf("%s as %q, read only %v, isolation %q", test.text, session.Role, session.ReadOnly, session.Isolation)
			t.Run(name, func(t *testing.T) {
				db := openOne(t, database)
				want := read(t, db, "", sessionState).value(t)
				for range 3 {
					err := db.Run(t.Context(), &store.Flight{
						Session: session, Calls: test.calls, Steps: []store.Step{statement(test.text, nil)},
					})
					if (err != nil) != test.fails {
						t.Fatalf("got error %v, want one: %v", err, test.fails)
					}
					if got := read(t, db, "", sessionState).value(t); got != want {
						t.Fatalf("a session is not as fresh:\n got %s\nwant %s", got, want)
					}
				}
				if test.text == `select mess.deallocate()` {
					return // who does that cannot be followed by anything in the same transaction
				}
				// The same in a transaction of several flights, whose COMMIT rides along or not.
				for i := range 4 {
					f := &store.Flight{Session: session, Calls: test.calls, Steps: []store.Step{statement(test.text, nil)}}
					options := store.Transaction{Isolation: session.Isolation, ReadOnly: session.ReadOnly}
					err := db.Transact(t.Context(), options, func(tx *store.Tx) error {
						if i%2 == 0 {
							return tx.Run(f)
						}
						return tx.Commit(f, flight(session.Role, `select 1`, nil))
					})
					if (err != nil) != test.fails {
						t.Fatalf("got error %v in a transaction, want one: %v", err, test.fails)
					}
					if got := read(t, db, "", sessionState).value(t); got != want {
						t.Fatalf("a session is not as fresh after a transaction:\n got %s\nwant %s", got, want)
					}
				}
			})
		}
	}
}

// TestReadsAreCleanedSoon leaves behind a read of relations what is not cleaned at once there.
func TestReadsAreCleanedSoon(t *testing.T) {
	database := storetest.New(t)
	database.Exec(t, messySchema)
	const held = `
		select count(*)
		from pg_locks
		where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`
	t.Run("when the connection is idle", func(t *testing.T) {
		db := openOne(t, database)
		read(t, db, "", `select mess.lock()`)
		eventually(t, "the lock is free", func() bool { return queryInt(t, database, held) == 0 })
	})
	for _, what := range []string{"listen", "prepare"} {
		t.Run("when it is busy: "+what, func(t *testing.T) {
			db := openOne(t, database)
			want := read(t, db, "", sessionState).value(t)
			read(t, db, "", `select mess.`+what+`()`)
			state := statement(sessionState, nil)
			for range 50 {
				r := &result{}
				state.Sink = r
				err := db.Run(t.Context(), &store.Flight{Session: store.Session{ReadOnly: true}, Steps: []store.Step{state}})
				if err != nil {
					t.Fatal(err)
				}
				if r.value(t) == want {
					return
				}
			}
			t.Error("it is still there after 50 reads")
		})
	}
}

// TestReplacedStatementsAreFound has a routine put statements of its own in the place of ours, the look for such ones
// among them. No flight may be served by them for long.
func TestReplacedStatementsAreFound(t *testing.T) {
	database := storetest.New(t)
	database.Exec(t, messySchema+`
create function mess.replace() returns int language plpgsql as $$
declare
	ours record;
begin
	for ours in select name, statement from pg_prepared_statements where not from_sql loop
		if ours.statement like '%from_sql%' then
			execute format('deallocate %I', ours.name);
			execute format('prepare %I as select where false', ours.name);
		elsif ours.statement like '%untouched%' then
			execute format('deallocate %I', ours.name);
			execute format('prepare %I as select %L::text', ours.name, 'replaced');
		end if;
	end loop;
	return 1;
end $$;`)
	for _, session := range []store.Session{{}, {ReadOnly: true}} {
		for _, calls := range []bool{false, true} {
			t.Run(fmt.Sprintf("read only %v, calls %v", session.ReadOnly, calls), func(t *testing.T) {
				db := openOne(t, database)
				victim, replace := statement(`select 'untouched'::text`, nil), statement(`select mess.replace()`, nil)
				run := func(step store.Step) string {
					r := &result{}
					step.Sink = r
					if err := db.Run(t.Context(), &store.Flight{Session: session, Calls: calls, Steps: []store.Step{step}}); err != nil {
						t.Fatal(err)
					}
					return r.rows[0][0]
				}
				for range 40 { // until the look is one of the statements
					run(victim)
				}
				run(replace)
				for range 100 {
					run(victim)
				}
				if got := run(victim); got != "untouched" {
					t.Errorf("the answer is still %q after 100 flights", got)
				}
			})
		}
	}
}

// A routine may take names that ours would have next.
func TestAReadPassesOverNamesOfStatementsThatAreTaken(t *testing.T) {
	database := storetest.New(t)
	database.Exec(t, `
create function squat() returns int language plpgsql as $$ begin
	for i in 10..99 loop
		execute format('prepare basalt_%s as select 1', i);
	end loop;
	return 1;
end $$;`)
	db := openOne(t, database)
	want := read(t, db, "", `select 'one'`).value(t)
	read(t, db, "", `select squat()`)
	for i := range 60 { // the names count in base 36: the first that is taken comes after 27 others
		if got := read(t, db, "", fmt.Sprintf(`select 'one' -- %d`, i)).value(t); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
}

func TestTheLastValueOfASequenceIsForgotten(t *testing.T) {
	database := storetest.New(t)
	database.Exec(t, messySchema)
	db := openOne(t, database)
	if err := db.Run(t.Context(), &store.Flight{Steps: []store.Step{statement(`select mess.sequence()`, nil)}}); err != nil {
		t.Fatal(err)
	}
	err := db.Run(t.Context(), &store.Flight{Steps: []store.Step{statement(`select lastval()`, nil)}})
	if pgErr, ok := err.(*pgconn.PgError); !ok || pgErr.Code != "55000" {
		t.Errorf("got %v, want 55000", err)
	}
}

func TestALockIsFreeWhenItsFlightIsCancelled(t *testing.T) {
	database := storetest.New(t)
	database.Exec(t, messySchema)
	db := openOne(t, database)
	const held = `select count(*) from pg_locks where locktype = 'advisory' and objid = 44`
	for _, session := range []store.Session{{}, {ReadOnly: true}, {Isolation: "serializable"}} {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		done := make(chan error, 1)
		go func() {
			done <- db.Run(ctx, &store.Flight{Session: session, Steps: []store.Step{statement(`select mess.lock_and_sleep()`, nil)}})
		}()
		eventually(t, "the lock is held", func() bool { return queryInt(t, database, held) == 1 })
		cancel()
		if err := <-done; err != context.Canceled {
			t.Errorf("got %v, want %v", err, context.Canceled)
		}
		eventually(t, "the lock is free", func() bool { return queryInt(t, database, held) == 0 })
	}
}

// TestSessionsStayFreshThroughAMixture flies random flights that leave what they can and end in every way, on one
// connection, and looks at the session behind each.
func TestSessionsStayFreshThroughAMixture(t *testing.T) {
	database := storetest.New(t)
	database.Exec(t, messySchema)
	db := openOne(t, database)
	want := read(t, db, "", sessionState).value(t)
	random := rand.New(rand.NewPCG(7, 7))
	routines := []string{
		"settings", "role", "session_user", "read_only", "lock", "listen", "prepare", "deallocate", "temporary",
		"lock_and_fail", "prepare_and_fail", "lock_and_sleep", "sequence",
	}
	roles := []string{"", "", "anon", "authenticated", "service_role"}
	for i := range 100 {
		var steps []store.Step
		for range 1 + random.IntN(3) {
			steps = append(steps, statement(`select mess.`+routines[random.IntN(len(routines))]+`()`, &result{}))
		}
		flight := store.Flight{
			Session: store.Session{Role: roles[random.IntN(len(roles))], ReadOnly: random.IntN(2) == 0},
			Calls:   true,
			Steps:   steps,
		}
		switch random.IntN(5) {
		case 0:
			flight.Session.Isolation = "serializable"
		case 1:
			flight.Check = func() error { return errors.New("refused") }
		case 2:
			flight.Rollback = true
		case 3:
			steps[len(steps)-1].Sink = panicking{}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+random.IntN(10))*time.Millisecond)
		func() {
			defer func() { recover() }()
			db.Run(ctx, &flight)
		}()
		cancel()
		if got := read(t, db, "", sessionState).value(t); got != want {
			t.Fatalf("flight %d, %+v, left a session that is not fresh:\n got %s\nwant %s", i, flight, got, want)
		}
	}
}
