package sql

import (
	"slices"

	"basalt/query"
	"basalt/query/catalog"
	"basalt/query/pgjson"
	"basalt/query/plan"
)

// CompileWrite writes an insert, update, upsert or delete.
//
// What is shown of the rows written comes out of RETURNING when it is made of the row alone. Embeds, orderings and
// aggregates need a query over the rows written, which are then a common table expression.
//
// Nothing is read that was not asked for: who may write a row need not have the right to read it.
func CompileWrite(w *plan.Write) *Statement {
	b := newBuilder()
	switch {
	case w.Nothing && countsNothing(w):
		root := b.nothing(w)
		b.write("select ")
		b.items(root, false, wrapped)
		b.body(root, nil, nil)
		b.order(root)
		s := b.statement()
		s.Layout, s.Guard = &pgjson.Layout{Columns: columns(w.Returning)}, w.Guard
		return s
	case w.Nothing:
		return &Statement{Nothing: true, Layout: &pgjson.Layout{}}
	}
	target := b.bareScope(&plan.Node{Source: plan.RelationSource(w.Relation), Where: w.Where})
	layout := &pgjson.Layout{}
	var hidden []Hidden
	switch {
	case w.Returning == nil && w.Guard != plan.Guard{}:
		hidden = b.changeThenCount(w, target)
	case w.Returning == nil:
		b.change(w, target)
		hidden = b.returnHidden(w, target)
	case simple(w.Returning) && w.Guard == plan.Guard{}:
		b.change(w, target)
		hidden = b.returnHidden(w, target)
		b.write(listSeparator(len(hidden)))
		b.items(&scope{node: w.Returning, alias: target.alias}, false, wrapped)
		layout.Columns = columns(w.Returning)
	default:
		hidden = b.changeThenRead(w, target)
		layout.Columns = columns(w.Returning)
	}
	s := b.statement()
	s.Hidden, s.Layout = hidden, layout
	s.Guard, s.AtMostOne, s.ShowsEach = w.Guard, w.AtMostOne, w.ShowsEach
	s.RowsAffected = w.Returning == nil && len(hidden) == 0
	return s
}

// simple says that what is shown can stand in RETURNING.
func simple(n *plan.Node) bool {
	return len(n.Items) > 0 && len(n.Embeds) == 0 && len(n.Order) == 0 && !n.Aggregated()
}

// listSeparator is what comes before the next item of RETURNING.
func listSeparator(items int) string {
	if items == 0 {
		return "\nreturning "
	}
	return ", "
}

// returnHidden gives back what the answer does not show: the primary key as text, and whether the row is new.
func (b *builder) returnHidden(w *plan.Write, target *scope) (hidden []Hidden) {
	for _, key := range w.Keys {
		b.write(listSeparator(len(hidden)))
		b.keyText(target, key)
		hidden = append(hidden, Hidden{Kind: KeyColumn, Name: key.Name})
	}
	if tellsInserted(w) {
		b.write(listSeparator(len(hidden)), isInserted)
		hidden = append(hidden, Hidden{Kind: InsertedColumn})
	}
	return hidden
}

// dateCategory is what pg_type.typcategory says of dates and times.
const dateCategory = 'D'

// keyText writes a key as text that is read back as the same key. The text of a date depends on the role's DateStyle and
// may name a zone that stands for another one elsewhere; JSON's does not.
func (b *builder) keyText(target *scope, key *catalog.Column) {
	start := len(b.text)
	b.column(target.alias, key)
	if key.Type.Underlying().Category == dateCategory {
		b.enclose(start, "(pg_catalog.to_json(", ") operator(pg_catalog.#>>) '{}')")
		return
	}
	b.write("::text")
}

// tellsInserted says that the answer depends on which rows are new. Of PUT without a body it does not.
func tellsInserted(w *plan.Write) bool {
	return merges(w) && (w.Action != query.Put || w.Returning != nil)
}

func merges(w *plan.Write) bool { return w.Conflict != nil && len(w.Conflict.Update) > 0 }

// A row that is updated instead of inserted leaves a mark in a setting for RETURNING, and the next row of the payload
// takes it away again: rows are written one after the other. RETURNING cannot do that, because a trigger may drop a
// marked row before it. The system column xmax would tell too, but only of ordinary tables, and only who may read the
// whole table.
const (
	markUpdated = `pg_catalog.set_config('basalt.updated', 't', true) = 't'`
	isInserted  = `(pg_catalog.current_setting('basalt.updated', true) is distinct from 't')`
	takeMark    = `(pg_catalog.current_setting('basalt.updated', true) is distinct from 't' ` +
		`or pg_catalog.set_config('basalt.updated', '', true) = '')`
)

// written is the name of the rows written.
const written = "written"

// changeThenRead writes the command as a common table expression, and a query over it.
func (b *builder) changeThenRead(w *plan.Write, target *scope) (hidden []Hidden) {
	root, flag := b.changed(w, target)
	if tellsOfUnshown(w) {
		return b.readBeside(w, root)
	}
	b.write("select")
	separator := " "
	if flag != "" {
		b.write(" ", flag)
		hidden = []Hidden{{Kind: InsertedColumn}}
		separator = ", "
	}
	if len(w.Returning.Items) > 0 {
		b.write(separator)
		b.items(root, false, wrapped)
	}
	b.body(root, nil, nil)
	b.order(root)
	return hidden
}

// tellsOfUnshown says that the answer depends on rows written that may not be shown: inner embeds leave some out.
func tellsOfUnshown(w *plan.Write) bool {
	inner := slices.ContainsFunc(w.Returning.Embeds, func(e *plan.Embed) bool { return e.Inner })
	return inner && (tellsInserted(w) || w.Guard != plan.Guard{})
}

// readBeside writes a query over the rows written of which none may be left to be shown.
func (b *builder) readBeside(w *plan.Write, root *scope) (hidden []Hidden) {
	b.write("select ")
	if tellsInserted(w) {
		b.write("n.", flagColumn, ", ")
		hidden = append(hidden, Hidden{Kind: InsertedColumn})
	}
	b.write("p.shown")
	for i := range w.Returning.Items {
		b.write(", p.", showName(i))
	}
	b.besideWritten(w, root, wrapped)
	return append(hidden, Hidden{Kind: ShownColumn})
}

// besideWritten writes from with one row n about all rows written, which is there when none is shown, and beside it
// the rows p that are shown. The guard stands in n: where PostgreSQL knows that there is nothing to join to the rows
// written, it does not look at conditions on them.
func (b *builder) besideWritten(w *plan.Write, root *scope, wrap wrap) {
	guard := root.guard
	root.guard = plan.Guard{}
	b.write("\nfrom (\nselect ")
	if tellsInserted(w) {
		b.write("pg_catalog.bool_or(", flagName(w.Relation), ") as ", flagColumn)
	} else {
		b.write("pg_catalog.count(*)")
	}
	b.write("\nfrom ", written)
	if (guard != plan.Guard{}) {
		b.write("\nwhere ")
		b.guard(guard)
	}
	b.write("\n) n\nleft join (\nselect true as shown")
	b.write(commaBefore(w.Returning.Items))
	b.items(root, true, wrap)
	b.body(root, nil, nil)
	b.order(root)
	b.write("\n) p on true")
}

// countsNothing says that aggregates have a value though nothing is written. What a PUT of nothing puts is refused.
func countsNothing(w *plan.Write) bool {
	return w.Returning != nil && w.Returning.Aggregated() && w.Action != query.Put
}

// nothing stands for the command of a write that has nothing to write: no rows, of the columns that it would give back.
func (b *builder) nothing(w *plan.Write) *scope {
	source := b.bareScope(&plan.Node{Source: plan.RelationSource(w.Relation)})
	b.write("with ", written, " as (\nselect ")
	needed, _ := neededColumns(w.Returning)
	for i, column := range needed {
		if i > 0 {
			b.write(", ")
		}
		b.column(source.alias, column)
	}
	b.write("\nfrom ")
	b.name(w.Relation.Name)
	b.write(" ", source.alias, "\nlimit 0\n)\n")
	root := b.scope(w.Returning)
	root.from = written
	return root
}

// changed writes the command as a common table expression. It gives the scope of a query over the rows written, and
// the expression that tells there whether they were inserted, "" when nobody needs to know.
func (b *builder) changed(w *plan.Write, target *scope) (root *scope, inserted string) {
	b.write("with ", written, " as (\n")
	b.change(w, target)
	needed, whole := neededColumns(w.Returning)
	for i, column := range needed {
		b.write(listSeparator(i))
		b.column(target.alias, column)
	}
	tells, flag := tellsInserted(w), flagName(w.Relation)
	if tells {
		b.write(listSeparator(len(needed)), isInserted, " as ", flag)
	} else if len(needed) == 0 {
		b.write(listSeparator(0), "1")
	}
	b.write("\n)\n")
	root = b.scope(w.Returning)
	root.from, root.guard = written, w.Guard
	if !tells {
		return root, ""
	}
	source := root.alias
	if whole {
		// Computed columns take the row as it is in the relation, without the flag.
		root.from = b.cut(func() { b.writtenRow(needed) })
		source = written
	}
	switch {
	case w.Returning.Aggregated():
		return root, "pg_catalog.bool_or(" + source + "." + flag + ")"
	}
	return root, source + "." + flag
}

// writtenRow writes a source of rows that hold nothing but the columns.
func (b *builder) writtenRow(columns []*catalog.Column) {
	b.write(written, ", lateral (select ")
	for i, column := range columns {
		if i > 0 {
			b.write(", ")
		}
		b.column(written, column)
	}
	b.write(")")
}

// flagName gives a quoted name that no column of the relation has.
func flagName(relation *catalog.Relation) string {
	name := "inserted?"
	for relation.Column(name) != nil {
		name += "?"
	}
	return QuoteIdentifier(name)
}

// neededColumns are those of the rows written that the query over them speaks of: the caller may have no right to
// read others. Whole says that they are all, for computed columns.
func neededColumns(n *plan.Node) (list []*catalog.Column, whole bool) {
	needed := map[*catalog.Column]bool{}
	var system []*catalog.Column
	field := func(f *plan.Field) {
		switch {
		case f.Column == nil:
		case !f.Column.System():
			needed[f.Column] = true
		case !slices.ContainsFunc(system, func(c *catalog.Column) bool { return c.Number == f.Column.Number }):
			system = append(system, f.Column)
		}
		whole = whole || f.Computed != nil
	}
	for i := range n.Items {
		field(&n.Items[i].Field)
	}
	for i := range n.Order {
		if n.Order[i].Embed == nil {
			field(&n.Order[i].Field)
		}
	}
	for _, e := range n.Embeds {
		pairs := e.Relationship.Columns
		if e.Relationship.Junction != nil {
			pairs = e.Relationship.Junction.FromColumns
		}
		for _, pair := range pairs {
			needed[pair.From] = true
		}
		whole = whole || e.Relationship.Function != nil
	}
	for _, column := range n.Source.Columns {
		if whole || needed[column] {
			list = append(list, column)
		}
	}
	if whole {
		return list, true // which have to be the row as it is, without columns of the system
	}
	return append(list, system...), false
}

// change writes the command itself, up to RETURNING.
func (b *builder) change(w *plan.Write, target *scope) {
	switch w.Action {
	case query.Update:
		b.update(w, target)
	case query.Delete:
		b.write("delete from ")
		b.name(w.Relation.Name)
		b.write(" ", target.alias)
		b.where(target, nil, nil)
	default:
		b.insert(w, target)
	}
}

func (b *builder) update(w *plan.Write, target *scope) {
	b.write("update ")
	b.name(w.Relation.Name)
	b.write(" ", target.alias, "\nset ")
	for i, column := range w.Columns {
		if i > 0 {
			b.write(", ")
		}
		b.text = appendIdentifier(b.text, column.Column.Name)
		b.write(" = ")
		if w.Payload == plan.OneRow {
			b.cell(w, i)
		} else {
			b.payloadColumn(w, i)
		}
	}
	if w.Payload != plan.OneRow {
		b.write("\nfrom ")
		b.payload(w)
	}
	b.where(target, nil, nil)
}

func (b *builder) insert(w *plan.Write, target *scope) {
	b.write("insert into ")
	b.name(w.Relation.Name)
	b.write(" as ", target.alias)
	switch {
	case len(w.Columns) > 0:
		b.insertColumns(w)
	case w.Payload == plan.OneRow:
		b.write("\ndefault values")
	default:
		// A row without columns takes its defaults.
		b.write("\nselect from pg_catalog.generate_series(1, ")
		b.parameter(Param{Source: Rows}, "::int")
		b.write(")")
	}
	b.conflict(w)
}

func (b *builder) insertColumns(w *plan.Write) {
	b.write(" (")
	for i, column := range w.Columns {
		if i > 0 {
			b.write(", ")
		}
		b.text = appendIdentifier(b.text, column.Column.Name)
	}
	b.write(")\n")
	if w.Payload == plan.OneRow && w.Action != query.Put {
		b.write("values (")
		for i := range w.Columns {
			if i > 0 {
				b.write(", ")
			}
			b.cell(w, i)
		}
		b.write(")")
		return
	}
	b.write("select ")
	for i := range w.Columns {
		if i > 0 {
			b.write(", ")
		}
		b.payloadColumn(w, i)
	}
	b.write("\nfrom ")
	b.payload(w)
	switch {
	case w.Action == query.Put:
		b.putFilter(w)
	case tellsInserted(w):
		b.write("\nwhere ", takeMark)
	}
}

// putFilter lets the row through only when it is the one that the filters name.
func (b *builder) putFilter(w *plan.Write) {
	for i := range w.Where {
		predicate := &w.Where[i]
		if i == 0 {
			b.write("\nwhere ")
		} else {
			b.write("\n  and ")
		}
		for j, column := range w.Columns {
			if column.Column == predicate.Field.Column {
				b.payloadColumn(w, j)
				b.write(" ", own("=", false, column.Column.Type), " ")
				b.literal(predicate)
			}
		}
	}
}

func (b *builder) conflict(w *plan.Write) {
	if w.Conflict == nil {
		return
	}
	b.write("\non conflict (")
	for i, column := range w.Conflict.Target {
		if i > 0 {
			b.write(", ")
		}
		b.text = appendIdentifier(b.text, column.Name)
	}
	b.write(")")
	if !merges(w) {
		b.write(" do nothing")
		return
	}
	b.write(" do update\nset ")
	for i, column := range w.Conflict.Update {
		if i > 0 {
			b.write(", ")
		}
		b.text = appendIdentifier(b.text, column.Name)
		b.write(" = excluded.")
		b.text = appendIdentifier(b.text, column.Name)
	}
	if tellsInserted(w) {
		b.write("\nwhere ", markUpdated)
	}
}
