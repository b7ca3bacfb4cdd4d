package oracle_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"basalt/api"
	"basalt/api/apitest"
)

// identity is somebody who asks: a role with claims, and the header that stands for both.
type identity struct{ role, more, header string }

// world is a schema on a server, with what it takes to ask there in both ways.
type world struct {
	*schema
	server *apitest.Server
	conn   *pgx.Conn // the superuser's
	people []identity
	state  string // of all tables at the beginning
	saved  string // statements that bring it back
}

// outcome is what comes of a request.
type outcome struct {
	code    string // of the error, "" for none
	status  int
	ranges  string // Content-Range
	body    string
	ordered bool // the order of the rows is no accident
	state   string
}

// withoutJIT keeps PostgreSQL from compiling statements that are run once over a dozen rows.
const withoutJIT = `do $do$
begin
  execute format('alter database %I set jit = off', current_database());
end
$do$;
`

// startWorlds makes a number of schemas and starts one server over all of them.
func startWorlds(t *testing.T, seed uint64, number int) []*world {
	t.Helper()
	var setup strings.Builder
	setup.WriteString(withoutJIT)
	schemas := make([]*schema, number)
	names := make([]string, number)
	for i := range schemas {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		names[i] = pick(r, "w", "W ", `w"`, "ä.") + fmt.Sprint(i)
		schemas[i] = newSchema(r, names[i])
		schemas[i].addRights(r)
		setup.WriteString(schemas[i].ddl.String())
	}
	server := apitest.Start(t, setup.String(), func(s *api.Settings) {
		s.Schemas, s.RestAggregates, s.PoolSize = names, true, 2*number
		s.RequireFilters = false
	})
	worlds := make([]*world, number)
	for i, s := range schemas {
		conn, err := pgx.Connect(t.Context(), server.Database.URL)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close(context.WithoutCancel(t.Context())) })
		worlds[i] = &world{schema: s, server: server, conn: conn, people: who()}
		for n := range worlds[i].people {
			if p := &worlds[i].people[n]; p.role != "anon" {
				p.header = server.As(t, p.role, p.more)
			}
		}
		worlds[i].save(t)
	}
	return worlds
}

func (w *world) tables() []*relation {
	var tables []*relation
	for _, r := range w.relations {
		if r.over == nil {
			tables = append(tables, r)
		}
	}
	return tables
}

// save keeps the rows of all tables aside.
func (w *world) save(t *testing.T) {
	t.Helper()
	var keep, back strings.Builder
	keep.WriteString("create schema " + identifier(w.name+" saved") + ";\n")
	back.WriteString("begin; set local session_replication_role = replica;\n")
	for _, r := range w.tables() {
		saved := identifier(w.name+" saved") + "." + identifier(r.name)
		var stored []*column
		for _, c := range r.columns {
			if !c.generated {
				stored = append(stored, c)
			}
		}
		fmt.Fprintf(&keep, "create table %s as select * from %s;\n", saved, w.of(r.name))
		fmt.Fprintf(&back, "delete from %s;\ninsert into %[1]s (%s) overriding system value select %[2]s from %s;\n", w.of(r.name), identifiers(stored), saved)
	}
	back.WriteString("commit;\n")
	w.exec(t, keep.String())
	w.saved = back.String()
	w.state = w.look(t, w.conn)
}

func (w *world) exec(t *testing.T, sql string) {
	t.Helper()
	if err := w.conn.PgConn().Exec(t.Context(), sql).Close(); err != nil {
		t.Fatalf("%v\n%s", err, sql)
	}
}

// look gives what all tables hold.
func (w *world) look(t *testing.T, q interface {
	QueryRow(context.Context, string, ...any) pgx.Row
}) string {
	t.Helper()
	parts := []string{"'tables'"}
	for _, r := range w.tables() {
		parts = append(parts, "(select string_agg(x::text, '|' order by x::text) from "+w.of(r.name)+" x)")
	}
	var state string
	if err := q.QueryRow(t.Context(), "select concat_ws(e'\\n', "+strings.Join(parts, ", ")+")").Scan(&state); err != nil {
		t.Fatal(err)
	}
	return state
}

// resetSequences lets identity columns begin at the same number again.
func (w *world) resetSequences(t *testing.T) {
	t.Helper()
	for _, r := range w.tables() {
		for _, c := range r.columns {
			if c.identity {
				w.exec(t, fmt.Sprintf("select setval(pg_get_serial_sequence(%s, %s), 1000, false)", literal(w.of(r.name)), literal(c.name)))
			}
		}
	}
}

// refused gives the code of an error of PostgreSQL; any other ends the test.
func refused(t *testing.T, sql string, err error) string {
	t.Helper()
	var database *pgconn.PgError
	if !errors.As(err, &database) {
		t.Fatalf("%v\n%s", err, sql)
	}
	return database.Code
}
