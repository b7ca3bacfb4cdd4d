package oracle_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// inSQL makes a request in SQL and undoes it, maybe with the right to read everything. It gives the SQL that was run
// too; ok is false for a request that is broken.
func (w *world) inSQL(t *testing.T, r *request, allowed bool) (o outcome, script string, ok bool) {
	t.Helper()
	translated := &translator{schema: w.schema}
	reads := r.method == "GET" || r.method == "HEAD" || r.call != nil && !r.call.volatile
	options := pgx.TxOptions{}
	if reads && !allowed {
		options.AccessMode = pgx.ReadOnly
	}
	if !reads {
		w.resetSequences(t)
	}
	tx, err := w.conn.BeginTx(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	p := w.people[r.who]
	if allowed {
		for _, right := range []string{"select on all tables", "execute on all functions"} {
			if _, err := tx.Exec(t.Context(), "grant "+right+" in schema "+identifier(w.name)+" to "+p.role); err != nil {
				t.Fatal(err)
			}
		}
	}
	claims := fmt.Sprintf(`{"role":%q}`, p.role)
	if p.more != "" {
		claims = fmt.Sprintf(`{"role":%q,%s}`, p.role, p.more)
	}
	_, err = tx.Exec(t.Context(), `select set_config('request.jwt.claims', $1, true), set_config('search_path', $2, true), set_config('role', $3, true)`,
		claims, identifier(w.name)+", public, extensions", p.role)
	if err != nil {
		t.Fatal(err)
	}
	run := func(sql string, into ...any) bool {
		script += sql + ";\n"
		if err := tx.QueryRow(t.Context(), sql, pgx.QueryExecModeSimpleProtocol).Scan(into...); err != nil {
			o.code = refused(t, sql, err)
			return false
		}
		return true
	}
	switch {
	case r.call != nil && r.call.void:
		var nothing any
		if run("select "+translated.called(r), &nothing) {
			o.status, o.ordered, o.ranges = 204, true, "0-0/*"
		}
	case r.call != nil && r.call.rows == nil:
		var body *string
		if run(translated.scalars(r), &body) {
			o.status, o.ordered, o.body, o.ranges = 200, true, "null", "0-0/*"
			if body != nil {
				o.body = *body
			}
			if r.call.set {
				o.ranges = contentRange(0, len(elements(t, o.body)), -1)
			}
		}
	case reads || r.call != nil:
		w.readInSQL(t, r, translated, run, &o)
	case r.method == "PUT" && r.level.groups():
		// As in PostgREST, no group may stand beside the filters of PUT, not even one of an embed.
		o = outcome{code: "PGRST105", status: 405}
	default:
		change, counted, rows := translated.write(r)
		w.writeInSQL(t, r, tx, change, counted, rows, &script, &o)
	}
	return o, script, !translated.broken
}

func (w *world) readInSQL(t *testing.T, r *request, translated *translator, run func(string, ...any) bool, o *outcome) {
	t.Helper()
	rows, total := translated.read(r)
	known, all := -1, 0
	if !run(rows, &o.body) {
		return
	}
	list := o.body
	if r.accept == "text/csv" {
		plain, _ := (&translator{schema: w.schema}).read(&request{method: r.method, call: r.call, given: r.given, level: r.level})
		if !run(plain, &list) {
			return
		}
	}
	if r.count {
		if !run(total, &all) {
			return
		}
		known = all
	}
	shown := len(elements(t, list))
	o.ordered = r.level.fixed()
	offset := max(r.level.offset, 0)
	o.status = 200
	switch {
	case r.accept == "application/vnd.pgrst.object+json" && shown != 1:
		*o = outcome{code: "PGRST116", status: 406}
		return
	case r.count && offset > all:
		*o = outcome{code: "PGRST103", status: 416, ranges: fmt.Sprintf("*/%d", all)}
		return
	case r.count && shown < all:
		o.status = 206
	}
	o.ranges = contentRange(offset, shown, known)
	switch r.accept {
	case "application/vnd.pgrst.object+json":
		o.body = elements(t, o.body)[0]
	case "application/x-ndjson":
		o.body = strings.Join(elements(t, o.body), "\n")
	case "text/csv":
		o.body = csvAnswer(r.level, list, o.body)
	}
	if r.method == "HEAD" {
		o.body = ""
	}
}

func contentRange(offset, rows, total int) string {
	known := "*"
	if total >= 0 {
		known = fmt.Sprint(total)
	}
	if rows == 0 || total == 0 {
		return "*/" + known
	}
	return fmt.Sprintf("%d-%d/%s", offset, offset+rows-1, known)
}

// csvAnswer puts the header before the rows, of which there is none when there are no rows.
func csvAnswer(l *level, list, rows string) string {
	if strings.TrimSpace(list) == "[]" {
		return ""
	}
	var names []string
	for _, s := range (&translator{schema: &schema{}}).items(l, "x") {
		name := s.name
		if strings.ContainsAny(name, ",\"\r\n") {
			name = `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
		}
		names = append(names, name)
	}
	return strings.Join(names, ",") + "\n" + rows
}

func (w *world) writeInSQL(t *testing.T, r *request, tx pgx.Tx, change, counted, rows string, script *string, o *outcome) {
	t.Helper()
	changed, shown := 0, 0
	sql := change
	if rows != "" {
		sql = "with w as (" + change + ") select (select count(*) from w), (select count(*) from (" + counted + ") _r), (" + rows + ")"
		*script += sql + ";\n"
		if err := tx.QueryRow(t.Context(), sql, pgx.QueryExecModeSimpleProtocol).Scan(&changed, &shown, &o.body); err != nil {
			o.code = refused(t, sql, err)
			return
		}
	} else {
		*script += sql + ";\n"
		tag, err := tx.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol)
		if err != nil {
			o.code = refused(t, sql, err)
			return
		}
		changed = int(tag.RowsAffected())
		shown = changed
	}
	if _, err := tx.Exec(t.Context(), "reset role"); err != nil {
		t.Fatal(err)
	}
	o.state = w.look(t, tx)
	o.ordered = r.level.fixed()
	inserted := 0
	if r.resolution == "merge" || r.method == "PUT" {
		if err := tx.QueryRow(t.Context(), "select count(*) from "+w.of(r.rel.base().name)).Scan(&inserted); err != nil {
			t.Fatal(err)
		}
		inserted -= len(r.rel.base().rows)
	}
	w.written(t, r, changed, shown, inserted, o)
	if o.code != "" {
		o.state = w.state
	}
	// A constraint that is checked at the end is checked now.
	if _, err := tx.Exec(t.Context(), "set constraints all immediate"); err != nil {
		*o = outcome{code: refused(t, sql, err)}
	}
}

// written fills in what is answered to a write that changed so many rows, of which so many are shown.
func (w *world) written(t *testing.T, r *request, changed, rows, inserted int, o *outcome) {
	t.Helper()
	list := o.body
	full := r.returning == "representation"
	if !full {
		o.body = ""
	}
	known := -1
	if r.count {
		known = rows
	}
	object := r.accept == "application/vnd.pgrst.object+json" && full
	switch {
	case r.affected >= 0 && changed > r.affected:
		*o = outcome{code: "PGRST124", status: 400}
		return
	case r.method == "PUT" && changed != 1:
		*o = outcome{code: "PGRST115", status: 400}
		return
	case object && rows != 1:
		*o = outcome{code: "PGRST116", status: 406}
		return
	case object:
		o.body = elements(t, list)[0]
	case r.accept == "text/csv" && full:
		o.body = csvAnswer(r.level, map[bool]string{true: "[]", false: ""}[rows == 0], list)
	}
	switch r.method {
	case "POST":
		o.status, o.ranges = 201, contentRange(0, 0, known)
		if r.resolution == "merge" && inserted == 0 && changed > 0 && len(r.columns) > 0 {
			o.status = 200
		}
	case "PUT":
		o.status = 204
		if full {
			o.status = 200
			if inserted > 0 {
				o.status = 201
			}
		}
	default:
		o.ranges = contentRange(0, 0, known)
		if r.method == "PATCH" {
			o.ranges = contentRange(0, rows, known)
		}
		o.status = 204
		if full {
			o.status = 200
		}
	}
}

// groups says that some embed has and or or.
func (l *level) groups() bool {
	return slices.ContainsFunc(l.items, func(i *item) bool {
		return i.level != nil && (i.level.groups() || slices.ContainsFunc(i.level.where, func(c *condition) bool { return c.logic != "" }))
	})
}

// fixed says that the order of all rows that are shown is no accident.
func (l *level) fixed() bool {
	g := &generator{}
	if !g.settled(l) {
		return false
	}
	for _, i := range l.items {
		if i.link != nil && !i.level.fixed() {
			return false
		}
	}
	return true
}

// overHTTP makes a request for good.
func (w *world) overHTTP(t *testing.T, r *request) outcome {
	t.Helper()
	sent := r.wire(w.name)
	reads := r.method == "GET" || r.method == "HEAD"
	if !reads {
		w.resetSequences(t)
	}
	headers := sent.headers
	if p := w.people[r.who]; p.header != "" {
		headers = append(headers, p.header)
	}
	answer := w.server.Do(t, sent.method, sent.path, sent.body, headers...)
	o := outcome{status: answer.Status, ranges: answer.Header.Get("Content-Range"), body: answer.Body}
	if answer.Status >= 300 {
		o.body = ""
		_, code, _ := strings.Cut(answer.Header.Get("Proxy-Status"), "error=")
		o.code, _, _ = strings.Cut(code, ",")
	}
	if !reads {
		o.state = w.look(t, w.conn)
		if o.state != w.state {
			w.exec(t, w.saved)
		}
	}
	return o
}
