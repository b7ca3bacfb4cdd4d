package store_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"basalt/query/sql"
	"basalt/store"
	"basalt/store/storetest"
)

// flight makes a flight of one statement as a role.
func flight(role, text string, sink store.Sink) *store.Flight {
	return &store.Flight{Session: store.Session{Role: role}, Steps: []store.Step{statement(text, sink)}}
}

const transactSchema = `
create table rows (id int primary key, note text);
create table late (id int references rows deferrable initially deferred);
grant all on rows, late to anon, service_role;
create function wrote() returns int language sql as $$ insert into rows values (77) returning id $$;
`

func TestATransactionKeepsAllOrNothing(t *testing.T) {
	database := storetest.New(t)
	database.Exec(t, transactSchema)
	db := openOne(t, database)
	const k = 5
	for culprit := range k + 1 {
		for _, exchanges := range []int{1, 2, 3} {
			for _, refusal := range []string{"a statement", "a check", "a setting", "a sink"} {
				name := fmt.Sprintf("%s of flight %d of %d in %d exchanges", refusal, culprit, k, exchanges)
				t.Run(name, func(t *testing.T) {
					database.Exec(t, `truncate rows cascade`)
					refused := errors.New("refused")
					var flights []*store.Flight
					for i := range k {
						f := flight("anon", `insert into rows values (`+strconv.Itoa(i)+`) returning id::text`, &result{})
						if i == culprit {
							switch refusal {
							case "a statement":
								f.Steps = append(f.Steps, statement(`select 1/0`, nil))
							case "a check":
								f.Check = func() error { return refused }
							case "a setting":
								f.Session.Settings = []store.Setting{{Name: "timezone", Value: "Nowhere"}}
							case "a sink":
								// Held by the flights that were never flown as they are here.
								f.Steps[0].Sink = failing{row: refused}
								f.Check = func() error { return nil }
							}
						}
						flights = append(flights, f)
					}
					at := -1
					err := db.Transact(t.Context(), store.Transaction{}, func(tx *store.Tx) error {
						for e := range exchanges {
							first, next := e*k/exchanges, (e+1)*k/exchanges
							run := tx.Run
							if e == exchanges-1 {
								run = tx.Commit
							}
							if err := run(flights[first:next]...); err != nil {
								if failed, ok := errors.AsType[*store.FlightError](err); ok {
									at = first + failed.Flight
								}
								return err
							}
						}
						return nil
					})
					want := k
					if culprit < k {
						want = 0
						if err == nil || at != culprit {
							t.Errorf("error %v of flight %d", err, at)
						}
					} else if err != nil {
						t.Error(err)
					}
					if n := queryInt(t, database, `select count(*) from rows`); n != want {
						t.Errorf("%d rows, want %d", n, want)
					}
				})
			}
		}
	}
	if db.Stats().Destroyed > 0 {
		t.Errorf("%d connections were closed", db.Stats().Destroyed)
	}
}

func TestADeferredConstraintUndoesATransaction(t *testing.T) {
	database := storetest.New(t)
	database.Exec(t, transactSchema)
	db := openOne(t, database)
	for range 3 { // the first time the COMMIT is held, then it rides along
		err := db.Transact(t.Context(), store.Transaction{}, func(tx *store.Tx) error {
			return tx.Commit(flight("anon", `insert into rows values (1)`, nil), flight("anon", `insert into late values (2)`, nil))
		})
		if _, ok := errors.AsType[*store.FlightError](err); ok {
			t.Errorf("%v is named after a flight", err)
		}
		if pgErr, ok := errors.AsType[*pgconn.PgError](err); !ok || pgErr.Code != "23503" {
			t.Errorf("error %v", err)
		}
		if n := queryInt(t, database, `select count(*) from rows`); n != 0 {
			t.Errorf("%d rows", n)
		}
	}
}

func TestFlightsOfATransactionSeeTheirOwnSettings(t *testing.T) {
	database := storetest.New(t)
	database.Exec(t, transactSchema)
	db := openOne(t, database)
	fresh := read(t, db, "", sessionState).value(t)
	const look = `select current_user || ' ' || current_setting('request.path', true) || ' ' || current_setting('timezone')
		|| ' ' || coalesce(current_setting('response.status', true), '') || ' ' || current_setting('transaction_read_only')`
	seen := make([]*result, 4)
	for i := range seen {
		seen[i] = &result{}
	}
	session := func(role, path string, more ...store.Setting) store.Session {
		return store.Session{Role: role, Settings: append([]store.Setting{{Name: "request.path", Value: path}}, more...)}
	}
	reading := session("service_role", "/c")
	reading.ReadOnly = true
	flights := []*store.Flight{
		{Session: session("anon", "/a", store.Setting{Name: "timezone", Value: "Asia/Kathmandu"}),
			Steps: []store.Step{statement(look, seen[0]), statement(`select set_config('response.status', '418', true)`, nil)}},
		{Session: session("service_role", "/b"), Steps: []store.Step{statement(look, seen[1])}},
		{Session: reading, Steps: []store.Step{statement(look, seen[2])}},
		{Session: session("anon", "/d"), Steps: []store.Step{statement(look, seen[3]), statement(`insert into rows values (1)`, nil)}},
	}
	for range 3 {
		database.Exec(t, `truncate rows cascade`)
		err := db.Transact(t.Context(), store.Transaction{Isolation: "serializable"}, func(tx *store.Tx) error {
			if err := tx.Run(flights[:2]...); err != nil {
				return err
			}
			return tx.Commit(flights[2:]...)
		})
		if err != nil {
			t.Fatal(err)
		}
		zone := read(t, db, "", `select current_setting('timezone')`).value(t)
		for i, want := range []string{
			"anon /a Asia/Kathmandu  off", "service_role /b " + zone + "  off", "service_role /c " + zone + "  on", "anon /d " + zone + "  off",
		} {
			if got := seen[i].value(t); got != want {
				t.Errorf("flight %d sees %q, want %q", i, got, want)
			}
		}
		if after := read(t, db, "", sessionState).value(t); after != fresh {
			t.Errorf("the session is left as %s\nfresh it was %s", after, fresh)
		}
	}
}

func TestAReadInATransactionCannotWrite(t *testing.T) {
	database := storetest.New(t)
	database.Exec(t, transactSchema)
	db := openOne(t, database)
	reading := flight("anon", `select wrote()`, nil)
	reading.Session.ReadOnly = true
	err := db.Transact(t.Context(), store.Transaction{}, func(tx *store.Tx) error {
		return tx.Commit(flight("anon", `insert into rows values (1)`, nil), reading)
	})
	if pgErr, ok := errors.AsType[*pgconn.PgError](err); !ok || pgErr.Code != "25006" {
		t.Errorf("error %v", err)
	}
	if n := queryInt(t, database, `select count(*) from rows`); n != 0 {
		t.Errorf("%d rows", n)
	}
}

func TestATransactionCostsOneRoundTripForEachExchange(t *testing.T) {
	database := storetest.New(t)
	database.Exec(t, transactSchema)
	proxy := newProxy(t, database)
	db := open(t, store.Options{URL: proxy.URL, PoolSize: 1})
	insert := &sql.Statement{SQL: `insert into rows select coalesce(max(id), 0) + 1 from rows returning id::text`}
	flights := make([]*store.Flight, 20)
	for i := range flights {
		flights[i] = &store.Flight{Session: store.Session{Role: "anon"}, Steps: []store.Step{{Statement: insert, Sink: &result{}}}}
	}
	run := func(exchanges int) {
		err := db.Transact(t.Context(), store.Transaction{}, func(tx *store.Tx) error {
			for range exchanges - 1 {
				if err := tx.Run(flights...); err != nil {
					return err
				}
			}
			return tx.Commit(flights...)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	run(1)
	for exchanges := 1; exchanges <= 3; exchanges++ {
		read(t, db, "", `select 1`) // behind the cleaning of what ran before
		before := proxy.turns.Load()
		run(exchanges)
		want := int64(exchanges)
		if exchanges > 1 {
			want++ // the cleaning, whose reply nobody waits for
		}
		eventually(t, "the replies have passed", func() bool { return proxy.turns.Load()-before >= want })
		read(t, db, "", `select 1`)
		if trips := proxy.turns.Load() - before - 1; trips != want {
			t.Errorf("%d round trips for %d exchanges, want %d", trips, exchanges, want)
		}
	}
}

func TestATransactionWithMoreStatementsThanAreKept(t *testing.T) {
	db := open(t, store.Options{URL: storetest.NewEmpty(t).URL, PoolSize: 1, StatementCache: 16})
	shapes := make([]*sql.Statement, 60)
	for i := range shapes {
		shapes[i] = &sql.Statement{SQL: "select 'shape " + strconv.Itoa(i) + "'"}
	}
	for round := range 4 {
		var flights []*store.Flight
		var got []*result
		for i := range 200 {
			r := &result{}
			got = append(got, r)
			flights = append(flights, &store.Flight{Steps: []store.Step{{Statement: shapes[i*7%len(shapes)], Sink: r}}})
		}
		err := db.Transact(t.Context(), store.Transaction{ReadOnly: round%2 == 0}, func(tx *store.Tx) error {
			if err := tx.Run(flights[:90]...); err != nil {
				return err
			}
			return tx.Commit(flights[90:]...)
		})
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range got {
			if want := "shape " + strconv.Itoa(i*7%len(shapes)); r.value(t) != want {
				t.Fatalf("got %q, want %q", r.value(t), want)
			}
		}
	}
	read(t, db, "", `select 1`)
	if n := read(t, db, "", `select count(*)::text from pg_prepared_statements where statement like 'select ''shape%'`).value(t); n > "16" && len(n) > 1 {
		t.Errorf("%s statements are left prepared", n)
	}
}

func TestATransactionIsRunAgainAfterDDL(t *testing.T) {
	database := storetest.New(t)
	database.Exec(t, transactSchema)
	db := openOne(t, database)
	insert := &sql.Statement{SQL: `insert into rows values (coalesce((select max(id) from rows), 0) + 1) returning *`}
	run := func() (times int) {
		err := db.Transact(t.Context(), store.Transaction{}, func(tx *store.Tx) error {
			times++
			r := &result{}
			f := &store.Flight{Session: store.Session{Role: "anon"}, Steps: []store.Step{{Statement: insert, Sink: r}}}
			if err := tx.Run(f); err != nil {
				return err
			}
			return tx.Commit(f)
		})
		if err != nil {
			t.Fatal(err)
		}
		return times
	}
	run()
	database.Exec(t, `alter table rows add column more int`)
	if times := run(); times != 2 {
		t.Errorf("work was run %d times", times)
	}
	if n := queryInt(t, database, `select count(*) from rows`); n != 4 {
		t.Errorf("%d rows", n)
	}
}

func TestATransactionEndsWithItsCaller(t *testing.T) {
	database := storetest.New(t)
	database.Exec(t, transactSchema)
	db := openOne(t, database)
	for _, when := range []string{"before it began", "between two exchanges", "within one"} {
		t.Run(when, func(t *testing.T) {
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			if when == "before it began" {
				leave()
			}
			err := db.Transact(ctx, store.Transaction{}, func(tx *store.Tx) error {
				if err := tx.Run(flight("anon", `insert into rows values (1)`, nil)); err != nil {
					return err
				}
				text := `select 1`
				if when == "within one" {
					text = `select pg_sleep(60)`
					go func() {
						for queryInt(t, database, `select count(*) from pg_stat_activity where query like '%pg_sleep(60)%' and pid <> pg_backend_pid()`) == 0 {
						}
						leave()
					}()
				} else {
					leave()
				}
				return tx.Commit(flight("anon", text, nil))
			})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
			if n := queryInt(t, database, `select count(*) from rows`); n != 0 {
				t.Errorf("%d rows", n)
			}
			read(t, db, "anon", `select 1`)
		})
	}
	t.Run("when work panics", func(t *testing.T) {
		func() {
			defer func() { recover() }()
			db.Transact(t.Context(), store.Transaction{}, func(tx *store.Tx) error {
				if err := tx.Run(flight("anon", `insert into rows values (1)`, nil)); err != nil {
					return err
				}
				panic("no")
			})
		}()
		read(t, db, "anon", `select 1`)
		if n := queryInt(t, database, `select count(*) from rows`); n != 0 {
			t.Errorf("%d rows", n)
		}
	})
}
