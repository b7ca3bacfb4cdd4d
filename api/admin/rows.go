package admin

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/labstack/echo/v4"

	"basalt/auth/administrator"
)

const (
	// mostRowChanges is how many rows one request may change.
	mostRowChanges = 1000
	// mostRowBytes bounds the values of all rows that its answer holds, with those that undo it.
	mostRowBytes = 64 << 20
)

// RowChange is what happens to one row. Values are PostgreSQL's text, null is NULL.
type RowChange struct {
	Op string `json:"op"` // insert, update, delete
	// Key finds the row: the columns of its primary key or, in a relation without one, as many as tell it from all others.
	Key map[string]*string `json:"key,omitempty"`
	// Set are the new values. A column that is not there keeps its value, or takes its default.
	Set map[string]*string `json:"set,omitempty"`
	// Was are values that the row must still have, else somebody else has changed it meanwhile.
	Was map[string]*string `json:"was,omitempty"`
}

// RowChangesBody asks for changes that are made together or not at all.
type RowChangesBody struct {
	Changes []RowChange `json:"changes"`
}

// RowsBody tells what has become of the rows. A row that was deleted is null.
type RowsBody struct {
	Columns []string    `json:"columns"`
	Rows    [][]*string `json:"rows"`
	// Undo are the changes that make it as it was, unless somebody changes the rows meanwhile.
	Undo []RowChange `json:"undo"`
}

// ConflictsBody tells that rows are not what they were thought to be. Nothing was changed.
type ConflictsBody struct {
	Code      string         `json:"code"` // conflict
	Message   string         `json:"message"`
	Conflicts []ConflictBody `json:"conflicts"`
}

// ConflictBody is one row that somebody else has changed.
type ConflictBody struct {
	Index  int                `json:"index"` // of the change
	Key    map[string]*string `json:"key"`
	Theirs map[string]*string `json:"theirs"` // the row as it is, null when it is gone
}

// conflictError ends a transaction whose changes rest on rows that are not any more what they were.
type conflictError struct{ conflicts []ConflictBody }

func (e *conflictError) Error() string { return "rows were changed meanwhile" }

// changeRows answers POST /rows/{schema}/{table}.
func (d *Data) changeRows(c echo.Context) error {
	var body RowChangesBody
	if err := decode(c, &body); err != nil {
		return err
	}
	if n := len(body.Changes); n == 0 || n > mostRowChanges {
		return refusedf(http.StatusBadRequest, "bad_changes", "Between 1 and %d rows can be changed at once, not %d", mostRowChanges, n)
	}
	v, err := d.viewOf(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	var answer RowsBody
	err = d.pool.Tx(ctx, v.session(), func(tx pgx.Tx) error {
		table, err := findTable(ctx, tx, named(c, "schema"), named(c, "table"))
		if err != nil {
			return err
		}
		changing := &rowChanger{ctx: ctx, tx: tx, table: table}
		if err := changing.all(body.Changes); err != nil {
			return err
		}
		answer = changing.answer()
		return d.auditRows(c, tx, v, table, body.Changes, answer.Undo)
	})
	if conflict, ok := err.(*conflictError); ok {
		return c.JSON(http.StatusConflict, ConflictsBody{"conflict", "Rows were changed by somebody else meanwhile; nothing was saved", conflict.conflicts})
	}
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, answer)
}

// auditRows notes who changed which rows, as the owner again: the role of a view may not write there.
func (d *Data) auditRows(c echo.Context, tx pgx.Tx, v view, table *table, changes, undo []RowChange) error {
	if v.role != "" {
		// What waits for the commit is checked as the role that caused it.
		if _, err := tx.Exec(c.Request().Context(), `set constraints all immediate`); err != nil {
			return err
		}
		if _, err := tx.Exec(c.Request().Context(), `reset role`); err != nil {
			return err
		}
	}
	type change struct {
		Role    string      `json:"role,omitempty"`
		Changes []RowChange `json:"changes"`
	}
	before, after := changeSummary(undo), changeSummary(changes)
	if table.secret() {
		before, after = withoutValues(before), withoutValues(after)
	}
	return administrator.Record(c.Request().Context(), tx, actorOf(c), administrator.Change{
		Action: "rows.change", Target: table.schema + "." + table.name, Before: change{v.role, before}, After: change{v.role, after},
	})
}

const (
	// mostAudited and mostAuditedValue bound what an entry of the audit log holds of rows.
	mostAudited      = 100
	mostAuditedValue = 1 << 10
)

// changeSummary is what the audit log keeps of changes: not all of a thousand rows, nor of a large value.
func changeSummary(changes []RowChange) []RowChange {
	kept := slices.Clone(changes[:min(len(changes), mostAudited)])
	for i := range kept {
		kept[i].Key, kept[i].Set, kept[i].Was = clipped(kept[i].Key), clipped(kept[i].Set), nil
	}
	return kept
}

func clipped(values map[string]*string) map[string]*string {
	values = maps.Clone(values)
	for name, value := range values {
		if value != nil && len(*value) > mostAuditedValue {
			short := (*value)[:mostAuditedValue] + "…"
			values[name] = &short
		}
	}
	return values
}

func withoutValues(changes []RowChange) []RowChange {
	for i := range changes {
		for name := range changes[i].Set {
			changes[i].Set[name] = nil
		}
	}
	return changes
}

// rowChanger carries out changes in one transaction.
type rowChanger struct {
	ctx       context.Context
	tx        pgx.Tx
	table     *table
	rows      [][]*string
	undo      []RowChange
	conflicts []ConflictBody
	bytes     int // of all values that were read
}

func (r *rowChanger) answer() RowsBody {
	columns := make([]string, len(r.table.readable))
	for i, column := range r.table.readable {
		columns[i] = column.name
	}
	slices.Reverse(r.undo)
	return RowsBody{columns, r.rows, r.undo}
}

// all makes the changes, and finds all conflicts there are.
func (r *rowChanger) all(changes []RowChange) error {
	for i, change := range changes {
		var err error
		switch change.Op {
		case "insert":
			err = r.insert(change)
		case "update", "delete":
			err = r.change(i, change)
		default:
			err = refusedf(http.StatusBadRequest, "bad_changes", "%q is no change: insert, update or delete", change.Op)
		}
		if err != nil {
			return about(i, err)
		}
	}
	if len(r.conflicts) > 0 {
		return &conflictError{r.conflicts}
	}
	return nil
}

// about says in the details which of several changes was refused.
func about(index int, err error) error {
	r := explain(err)
	if r.status >= 500 {
		return err
	}
	said := *r
	said.Index = &index
	return &said
}

// insert adds a row.
func (r *rowChanger) insert(change RowChange) error {
	if len(change.Key) > 0 || len(change.Was) > 0 {
		return refusedf(http.StatusBadRequest, "bad_changes", "A new row has neither key nor was")
	}
	s := newStatement()
	s.text("insert into " + r.table.sql())
	columns, err := r.table.columnsOf(change.Set)
	if err != nil {
		return err
	}
	if len(columns) == 0 {
		s.text(" default values")
	} else {
		s.text(" (")
		s.list(columns, func(c *tableColumn) { s.text(c.sql()) })
		s.text(")")
		if slices.ContainsFunc(columns, func(c *tableColumn) bool { return c.identity == "always" }) {
			s.text(" overriding system value")
		}
		s.text(" values (")
		s.list(columns, func(c *tableColumn) { s.value(change.Set[c.name]) })
		s.text(")")
	}
	rows, err := r.returning(s)
	if err != nil {
		return err
	}
	if len(rows) == 0 { // a trigger has put it elsewhere, or dropped it
		r.rows = append(r.rows, nil)
		return nil
	}
	r.rows = append(r.rows, rows[0])
	row := r.table.named(rows[0])
	if key := r.table.keyOf(row); key != nil {
		r.undo = append(r.undo, RowChange{Op: "delete", Key: key, Was: only(row, change.Set)})
	}
	return nil
}

// change updates or deletes a row that is as it is thought to be. What the caller does not say about that is taken from
// the row as it is read just before, so that the undo is exact whoever else is at work.
func (r *rowChanger) change(index int, change RowChange) error {
	if len(change.Key) == 0 {
		return refusedf(http.StatusBadRequest, "bad_changes", "To change a row takes a key")
	}
	key, err := r.table.columnsOf(change.Key)
	if err != nil {
		return err
	}
	set, err := r.table.columnsOf(change.Set)
	if err != nil {
		return err
	}
	if _, err := r.table.columnsOf(change.Was); err != nil {
		return err
	}
	if (change.Op == "update") != (len(set) > 0) {
		return refusedf(http.StatusBadRequest, "bad_changes", "An update sets something, a delete nothing")
	}
	old, err := r.read(key, change.Key)
	if err != nil {
		return err
	}
	if old == nil {
		r.conflicts = append(r.conflicts, ConflictBody{index, change.Key, nil})
		return nil
	}
	was := r.table.writable(old)
	if change.Op == "update" {
		was = only(was, change.Set)
	}
	maps.Copy(was, change.Was)
	s := newStatement()
	if change.Op == "update" {
		s.text("update " + r.table.sql() + " set ")
		s.list(set, func(c *tableColumn) { s.text(c.sql() + " = "); s.value(change.Set[c.name]) })
	} else {
		s.text("delete from " + r.table.sql())
	}
	r.table.where(s, key, change.Key, was)
	rows, err := r.returning(s)
	switch {
	case err != nil:
		return err
	case len(rows) > 1:
		return ambiguous(len(rows))
	case len(rows) == 0:
		return r.notChanged(index, change, key)
	}
	if change.Op == "delete" {
		r.rows = append(r.rows, nil)
		r.undo = append(r.undo, RowChange{Op: "insert", Set: r.table.writable(old)})
		return nil
	}
	r.rows = append(r.rows, rows[0])
	now := r.table.named(rows[0])
	if found := only(now, change.Key); len(found) == len(change.Key) {
		r.undo = append(r.undo, RowChange{Op: "update", Key: found, Set: only(old, change.Set), Was: only(now, change.Set)})
	}
	return nil
}

func ambiguous(rows int) error {
	refused := refusedf(http.StatusConflict, "ambiguous_key", "The key names %d rows", rows)
	refused.Hint = "Give the table a primary key: rows that are equal in all columns cannot be told apart"
	return refused
}

// notChanged finds out why a row that was there was not changed: because it was changed by somebody else, or because a
// policy or a trigger has kept it from being changed.
func (r *rowChanger) notChanged(index int, change RowChange, key []*tableColumn) error {
	theirs, err := r.read(key, change.Key)
	if err != nil {
		return err
	}
	if theirs != nil {
		s := newStatement()
		s.text("select 1 from " + r.table.sql())
		r.table.where(s, key, change.Key, change.Was)
		same, err := s.run(r.ctx, r.tx)
		if err != nil {
			return err
		}
		if len(same) > 0 {
			refused := refusedf(http.StatusForbidden, "not_changed", "The row can be seen, but a policy or a trigger keeps it from being changed")
			refused.Schema, refused.Table = r.table.schema, r.table.name
			return refused
		}
	}
	r.conflicts = append(r.conflicts, ConflictBody{index, change.Key, theirs})
	return nil
}

// read gives the row of a key, nil when there is none.
func (r *rowChanger) read(key []*tableColumn, values map[string]*string) (map[string]*string, error) {
	s := newStatement()
	s.text("select ")
	s.list(r.table.readable, func(c *tableColumn) { s.text(c.sql()) })
	s.text(" from " + r.table.sql())
	r.table.where(s, key, values, nil)
	s.text(" limit 2")
	rows, err := r.run(s)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	if len(rows) > 1 {
		return nil, ambiguous(len(rows))
	}
	return r.table.named(rows[0]), nil
}

// returning runs a change and gives the rows as they are then.
func (r *rowChanger) returning(s *statement) ([][]*string, error) {
	if len(r.table.readable) == 0 {
		return nil, refusedf(http.StatusForbidden, "42501", "The role may not read any column of %s", r.table.name)
	}
	s.text(" returning ")
	s.list(r.table.readable, func(c *tableColumn) { s.text(c.sql()) })
	return r.run(s)
}

// run runs a statement and gives its rows, as long as all of them are not too much to hold.
func (r *rowChanger) run(s *statement) ([][]*string, error) {
	rows, err := s.run(r.ctx, r.tx)
	for _, row := range rows {
		for _, value := range row {
			if value != nil {
				r.bytes += len(*value)
			}
		}
	}
	if err == nil && r.bytes > mostRowBytes {
		return nil, refusedf(http.StatusRequestEntityTooLarge, "54000", "The rows hold more than %d MiB: change fewer of them at once", mostRowBytes>>20)
	}
	return rows, err
}

// only gives the values of those columns that another set has.
func only(values, wanted map[string]*string) map[string]*string {
	kept := map[string]*string{}
	for name := range wanted {
		if value, ok := values[name]; ok {
			kept[name] = value
		}
	}
	return kept
}

// byPosition orders columns as they are in their table.
func byPosition(a, b *tableColumn) int { return cmp.Compare(a.position, b.position) }
