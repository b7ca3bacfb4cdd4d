package rest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"basalt/api/apitest"
)

// identity is somebody who asks: a role with claims, and the header that stands for both.
type identity struct{ role, claims, header string }

// world is a random schema with random policies, and those who ask there.
type world struct {
	server  *apitest.Server
	random  *rand.Rand
	tables  []string // each refers to the one before it
	readers []string // views and functions over them, as the dialect and as SQL name them
	people  []identity
	nextID  int
}

const (
	ann = "00000000-0000-4000-8000-00000000000a"
	bob = "00000000-0000-4000-8000-00000000000b"
)

// randomPolicies gives the policies of a table. What they speak of is all that requests may depend on: the user, the
// claims, the role, the row and other rows that are under policies themselves.
func randomPolicies(r *rand.Rand, name, before string) string {
	conditions := []string{
		"owner = auth.uid()", "owner = (select auth.uid())", "flag", "flag or owner = auth.uid()", "n % 2 = 0", "auth.role() = 'authenticated'",
		"coalesce((auth.jwt() ->> 'level')::int, 0) > n", "true", "owner is not null and n < 9", "current_user = 'anon'",
	}
	if before != "" {
		conditions = append(conditions, "exists (select from "+before+" b where b.id = ref and b.owner = auth.uid())", "ref in (select id from "+before+")")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "alter table %s enable row level security;\n", name)
	for i := range 2 + r.IntN(4) {
		command := pick(r, "all", "select", "insert", "update", "delete", "select")
		kind := pick(r, "permissive", "permissive", "permissive", "restrictive")
		fmt.Fprintf(&b, "create policy p%d on %s as %s for %s to %s", i, name, kind, command, pick(r, "public", "anon", "authenticated", "anon, authenticated"))
		if command != "insert" {
			fmt.Fprintf(&b, " using (%s)", pick(r, conditions...))
		}
		if command == "insert" || command == "update" && r.IntN(2) == 0 {
			fmt.Fprintf(&b, " with check (%s)", pick(r, conditions...))
		}
		b.WriteString(";\n")
	}
	return b.String()
}

// since15 runs a statement where PostgreSQL knows views with the rights of their reader.
func since15(sql string) string {
	return `do $do$
begin
  if current_setting('server_version_num')::int >= 150000 then
    execute $sql$` + sql + `$sql$;
  end if;
end
$do$;
`
}

func newWorld(t *testing.T, seed uint64) *world {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 99))
	w := &world{random: r, nextID: 1000}
	var setup strings.Builder
	before := ""
	for i := range 2 + r.IntN(3) {
		name := fmt.Sprintf("t%d", i)
		setup.WriteString(table(name, before))
		setup.WriteString(fill(r, name, 12, []string{ann, bob}, before))
		w.tables = append(w.tables, name)
		before = name
	}
	for i, name := range w.tables {
		if r.IntN(8) > 0 {
			before := ""
			if i > 0 {
				before = w.tables[i-1]
			}
			setup.WriteString(randomPolicies(r, name, before))
		}
		invoker, definer := pick(r, "true", "false"), pick(r, "security invoker", "security definer")
		fmt.Fprintf(&setup, "create view v%d as select * from %s where n is distinct from 3;\n", i, name)
		setup.WriteString(since15(fmt.Sprintf("alter view v%d set (security_invoker = %s)", i, invoker)))
		fmt.Fprintf(&setup, "create function f%d() returns setof %s language sql stable %s as 'select * from %s where n is distinct from 4';\n", i, name, definer, name)
		w.readers = append(w.readers, fmt.Sprintf("v%d", i), fmt.Sprintf("rpc/f%d", i))
	}
	setup.WriteString(open)
	// Some columns and rows are nobody's business whatever the policies say.
	if r.IntN(2) == 0 {
		fmt.Fprintf(&setup, "\nrevoke select on %[1]s from anon; grant select (id, n, ref) on %[1]s to anon;", pick(r, w.tables...))
	}
	w.server = apitest.Start(t, setup.String(), onePooled)
	w.people = []identity{{role: "anon", claims: `{"role":"anon"}`}}
	for _, user := range []string{ann, bob} {
		more := fmt.Sprintf(`"sub":%q,"level":%d`, user, 1+r.IntN(10))
		header := w.server.As(t, "authenticated", more)
		w.people = append(w.people, identity{"authenticated", `{"role":"authenticated",` + more + `}`, header})
	}
	w.people = append(w.people, identity{"service_role", `{"role":"service_role"}`, w.server.Service()})
	return w
}

// request is one that can be made through HTTP and in SQL.
type request struct {
	method, path, body string
	headers            []string
	sql                string // gives one row: the answer as JSON, the total
	writes             bool
}

// made is what comes of a request.
type made struct {
	code  string // of the error, "" for none
	rows  any
	total string
	state string // of all tables afterwards
}

func (w *world) next() request {
	r := w.random
	name := pick(r, w.tables...)
	c := randomCondition(r, 2)
	switch r.IntN(10) {
	case 0, 1, 2:
		return w.read(name, name, c)
	case 3:
		reader := pick(r, w.readers...)
		source := reader
		if called, ok := strings.CutPrefix(reader, "rpc/"); ok {
			source = called + "()"
		}
		return w.read(reader, source, c)
	case 4, 5:
		return w.embed(c)
	case 6:
		return w.insert(name)
	case 7:
		return w.change("PATCH", name, c)
	case 8:
		return w.change("DELETE", name, c)
	default:
		return w.upsert(name)
	}
}

func (w *world) read(path, source string, c condition) request {
	r := w.random
	columns := pick(r, "*", "id,n", "id,s,owner", "id,flag,j")
	limit := 1 + r.IntN(20)
	accept := "Accept: application/json"
	return request{
		method: "GET", path: fmt.Sprintf("%s?select=%s&%s&order=id&limit=%d", path, columns, c.parameter(), limit), headers: []string{"Prefer: count=exact", accept},
		sql: fmt.Sprintf(`
			select
			  (select coalesce(json_agg(x), '[]') from (select %[1]s from %[2]s where %[3]s order by id limit %[4]d) x),
			  (select count(*)::text from %[2]s where %[3]s)`, columns, source, c.sql, limit),
	}
}

// embed reads rows with those that they refer to, or that refer to them.
func (w *world) embed(c condition) request {
	r := w.random
	at := 1 + r.IntN(len(w.tables)-1)
	child, parent := w.tables[at], w.tables[at-1]
	if r.IntN(2) == 0 {
		kids := `coalesce((select json_agg(k order by k.id) from (select id, n from ` + child + ` where ref = x.id) k), '[]')`
		return request{
			method: "GET", path: fmt.Sprintf("%s?select=id,kids:%s(id,n)&kids.order=id&%s&order=id", parent, child, c.parameter()), headers: []string{"Prefer: count=exact"},
			sql: fmt.Sprintf(`
				select
				  (select coalesce(json_agg(y), '[]') from (select id, %[3]s as kids from %[1]s x where %[2]s order by id) y),
				  (select count(*)::text from %[1]s x where %[2]s)`, parent, c.sql, kids),
		}
	}
	n := r.IntN(12)
	return request{
		method: "GET", path: fmt.Sprintf("%s?select=id,up:%s!inner(id,n)&up.n=gte.%d&%s&order=id", child, parent, n, c.parameter()), headers: []string{"Prefer: count=exact"},
		sql: fmt.Sprintf(`
			select
			  (
			    select coalesce(json_agg(y), '[]')
			    from (
			      select x.id, (select row_to_json(u) from (select id, n from %[2]s where id = x.ref and n >= %[3]d) u) as up
			      from (select id, ref from %[1]s where %[4]s) x
			      where exists (select from %[2]s where id = x.ref and n >= %[3]d)
			      order by x.id
			    ) y
			  ),
			  (select count(*)::text from (select id, ref from %[1]s where %[4]s) x where exists (select from %[2]s where id = x.ref and n >= %[3]d))`, child, parent, n, c.sql),
	}
}

func (w *world) insert(name string) request {
	r := w.random
	w.nextID++
	id := pick(r, w.nextID, w.nextID, r.IntN(12))
	owner, n := pick(r, ann, bob), r.IntN(12)
	insert := fmt.Sprintf("insert into %s (id, owner, n, flag) values (%d, %s, %d, true)", name, id, literal(owner), n)
	body := fmt.Sprintf(`{"id":%d,"owner":%q,"n":%d,"flag":true}`, id, owner, n)
	return w.write("POST", name, "", body, insert, nil)
}

func (w *world) upsert(name string) request {
	r := w.random
	id, n := r.IntN(14), r.IntN(12)
	insert := fmt.Sprintf("insert into %s (id, n) values (%d, %d) on conflict (id) do update set id = excluded.id, n = excluded.n", name, id, n)
	resolution := "merge-duplicates"
	if r.IntN(3) == 0 {
		resolution = "ignore-duplicates"
		insert = fmt.Sprintf("insert into %s (id, n) values (%d, %d) on conflict (id) do nothing", name, id, n)
	}
	return w.write("POST", name, "", fmt.Sprintf(`{"id":%d,"n":%d}`, id, n), insert, []string{"resolution=" + resolution})
}

func (w *world) change(method, name string, c condition) request {
	command, body := fmt.Sprintf("delete from %s where %s", name, c.sql), ""
	if method == "PATCH" {
		owner, n := pick(w.random, ann, bob), w.random.IntN(12)
		set := fmt.Sprintf("n = %d", n)
		body = fmt.Sprintf(`{"n":%d}`, n)
		if w.random.IntN(3) == 0 {
			set, body = "owner = "+literal(owner), fmt.Sprintf(`{"owner":%q}`, owner)
		}
		command = fmt.Sprintf("update %s set %s where %s", name, set, c.sql)
	}
	return w.write(method, name, c.parameter(), body, command, nil)
}

func (w *world) write(method, name, parameters, body, command string, prefer []string) request {
	made := request{method: method, body: body, writes: true}
	path := name + "?"
	if w.random.IntN(2) == 0 {
		prefer = append(prefer, "return=representation")
		path += "select=id,n,owner&"
		made.sql = "with w as (" + command + " returning id, n, owner) select coalesce(json_agg(w order by id), '[]'), '' from w"
	} else {
		made.sql = "with w as (" + command + ") select null::json, ''"
	}
	if prefer != nil {
		made.headers = []string{"Prefer: " + strings.Join(prefer, ", ")}
	}
	made.path = strings.TrimRight(path+parameters, "&?")
	return made
}

// state is everything that is stored, as the superuser sees it.
func (w *world) state(t *testing.T, q interface {
	QueryRow(context.Context, string, ...any) pgx.Row
}) string {
	t.Helper()
	parts := make([]string, len(w.tables))
	for i, name := range w.tables {
		parts[i] = "(select string_agg(x::text, '|' order by id) from " + name + " x)"
	}
	var state string
	if err := q.QueryRow(t.Context(), "select concat_ws('#', "+strings.Join(parts, ", ")+")").Scan(&state); err != nil {
		t.Fatal(err)
	}
	return state
}

// inSQL makes a request as the superuser who has put on somebody's role and claims, and undoes it.
func (w *world) inSQL(t *testing.T, conn *pgx.Conn, who identity, r request) made {
	t.Helper()
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	if _, err := tx.Exec(t.Context(), `select set_config('request.jwt.claims', $1, true), set_config('role', $2, true)`, who.claims, who.role); err != nil {
		t.Fatal(err)
	}
	var m made
	var rows []byte
	err = tx.QueryRow(t.Context(), r.sql).Scan(&rows, &m.total)
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		m.code = refused.Code
		return m
	}
	if err != nil {
		t.Fatalf("%s: %v", r.sql, err)
	}
	m.rows = parsed(t, string(rows))
	if r.writes {
		if _, err := tx.Exec(t.Context(), `reset role`); err != nil {
			t.Fatal(err)
		}
		m.state = w.state(t, tx)
	}
	return m
}

// overHTTP makes a request for good.
func (w *world) overHTTP(t *testing.T, who identity, r request) (made, *apitest.Answer) {
	t.Helper()
	headers := r.headers
	if who.header != "" {
		headers = append(slices.Clone(headers), who.header)
	}
	answer := w.send(t, r, headers)
	if answer.Status >= 400 {
		var refusal struct{ Code string }
		answer.JSON(t, &refusal)
		return made{code: refusal.Code}, answer
	}
	m := made{rows: parsed(t, answer.Body)}
	if r.writes {
		m.state = w.state(t, w.server.Database.Pool)
		if list, ok := m.rows.([]any); ok {
			slices.SortFunc(list, func(a, b any) int { return idOf(a) - idOf(b) })
		}
	} else if _, total, ok := strings.Cut(answer.Header.Get("Content-Range"), "/"); ok {
		m.total = total
	}
	return m, answer
}

// send makes a request by itself, or as a part of a batch.
func (w *world) send(t *testing.T, r request, headers []string) *apitest.Answer {
	t.Helper()
	if w.random.IntN(3) > 0 {
		return w.server.Do(t, r.method, "/rest/v1/"+r.path, r.body, headers...)
	}
	before, behind := readAround(w.random, w.tables), readAround(w.random, w.tables)
	return inBatch(t, w.server, r.method, r.path, r.body, headers, before, behind)
}

// readAround gives operations that read tables.
func readAround(r *rand.Rand, tables []string) []string {
	operations := make([]string, r.IntN(2))
	for i := range operations {
		operations[i] = fmt.Sprintf(`{"method":"GET","path":"/%s?select=id"}`, pick(r, tables...))
	}
	return operations
}

// inBatch makes a request as a part of a batch, between other operations, and gives the answer to it. A refusal of one
// of the others is taken for its own.
func inBatch(t testing.TB, s *apitest.Server, method, path, body string, headers, before, behind []string) *apitest.Answer {
	t.Helper()
	operation := map[string]any{"method": method, "path": "/" + path}
	if body != "" {
		operation["body"] = json.RawMessage(body)
	}
	own, outer := map[string]string{}, []string{"Content-Type: " + batchType}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		switch name {
		case "Prefer", "Accept":
			own[name] = value
		default:
			outer = append(outer, header)
		}
	}
	operation["headers"] = own
	text, err := json.Marshal(operation)
	if err != nil {
		t.Fatal(err)
	}
	list := slices.Concat(before, []string{string(text)}, behind)
	answer, answers := batch(t, s, "["+strings.Join(list, ",")+"]", outer...)
	if answers == nil {
		return answer
	}
	got := answers[len(before)]
	of := &apitest.Answer{Status: got.Status, Header: http.Header{}, Body: string(got.Body)}
	if of.Body == "null" {
		of.Body = ""
	}
	for name, value := range got.Headers {
		of.Header.Set(name, value)
	}
	return of
}

func idOf(row any) int {
	id, _ := strconv.Atoi(fmt.Sprint(row.(map[string]any)["id"]))
	return id
}

func parsed(t *testing.T, text string) any {
	t.Helper()
	if text == "" {
		return nil
	}
	var value any
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		t.Fatalf("no JSON: %v: %s", err, text)
	}
	return value
}
