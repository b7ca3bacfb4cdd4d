package sql

import (
	"basalt/query"
	"basalt/query/catalog"
	"basalt/query/pgjson"
	"basalt/query/plan"
)

// CompileWrite writes an insert, update, upsert or delete.
//
// What is shown of the rows written comes out of RETURNING when it is made of the row alone. Embeds, orderings and
// aggregates need a query over the rows written, which are then a common table expression.
func CompileWrite(w *plan.Write) *Statement {
	if w.Nothing {
		return &Statement{Nothing: true}
	}
	b := newBuilder()
	target := b.bareScope(&plan.Node{Source: plan.RelationSource(w.Relation), Where: w.Where})
	if w.Returning == nil {
		b.change(w, target)
		hidden := b.returnKeys(w, target)
		s := b.statement()
		s.Hidden, s.RowsAffected = hidden, len(hidden) == 0
		s.Layout = &pgjson.Layout{}
		return s
	}
	var hidden []Hidden
	if simple(w.Returning) {
		b.change(w, target)
		b.write("\nreturning ")
		if tellsInserted(w) {
			b.write("(", target.alias, ".xmax = 0), ")
			hidden = append(hidden, Hidden{Kind: InsertedColumn})
		}
		shown := &scope{node: w.Returning, alias: target.alias}
		b.items(shown, false, wrapped)
	} else {
		hidden = b.changeThenRead(w, target)
	}
	s := b.statement()
	s.Hidden, s.Layout = hidden, &pgjson.Layout{Columns: columns(w.Returning)}
	return s
}

// simple says that what is shown can stand in RETURNING.
func simple(n *plan.Node) bool {
	return len(n.Items) > 0 && len(n.Embeds) == 0 && len(n.Order) == 0 && !n.Aggregated()
}

// tellsInserted says that rows can tell whether they were inserted or updated: those of ordinary tables have xmax.
func tellsInserted(w *plan.Write) bool {
	return w.Conflict != nil && len(w.Conflict.Update) > 0 && w.Relation.Kind == catalog.Table
}

// written is the name of the rows written, inserted that of the flag whether they are new.
const (
	written  = "written"
	inserted = `"?inserted?"`
)

func (b *builder) changeThenRead(w *plan.Write, target *scope) (hidden []Hidden) {
	b.write("with ", written, " as (\n")
	b.change(w, target)
	separator := "\nreturning "
	for _, column := range neededColumns(w.Returning) {
		b.write(separator)
		b.column(target.alias, column)
		separator = ", "
	}
	if tellsInserted(w) {
		b.write(separator, "(", target.alias, ".xmax = 0) as ", inserted)
		separator = ", "
		hidden = append(hidden, Hidden{Kind: InsertedColumn})
	}
	if separator != ", " {
		b.write(separator, "1")
	}
	b.write("\n)\nselect")
	root := b.scope(w.Returning)
	root.from = written
	separator = " "
	if hidden != nil {
		b.write(" ", root.alias, ".", inserted)
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

// returnKeys gives back the primary key as text.
func (b *builder) returnKeys(w *plan.Write, target *scope) (hidden []Hidden) {
	for i, key := range w.Keys {
		if i == 0 {
			b.write("\nreturning ")
		} else {
			b.write(", ")
		}
		b.column(target.alias, key)
		b.write("::text")
		hidden = append(hidden, Hidden{Kind: KeyColumn, Name: key.Name})
	}
	return hidden
}

// neededColumns are those of the rows written that the query over them speaks of: the caller may have no right to
// read others.
func neededColumns(n *plan.Node) []*catalog.Column {
	needed := map[*catalog.Column]bool{}
	all := false
	field := func(f *plan.Field) {
		if f.Column != nil {
			needed[f.Column] = true
		}
		all = all || f.Computed != nil
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
		all = all || e.Relationship.Function != nil
	}
	var list []*catalog.Column
	for _, column := range n.Source.Columns {
		if all || needed[column] {
			list = append(list, column)
		}
	}
	return list
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
			b.parameter(cell(column), "")
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
	case len(w.Columns) == 0 && w.DefaultColumn != nil:
		b.write(" (")
		b.text = appendIdentifier(b.text, w.DefaultColumn.Name)
		b.write(")\nselect ")
		b.defaultOf(w.Relation, w.DefaultColumn)
		b.write("\nfrom generate_series(1, ")
		b.parameter(Param{Source: Rows}, "::int")
		b.write(")")
	case len(w.Columns) == 0:
		b.write("\ndefault values")
	default:
		b.insertColumns(w)
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
		for i, column := range w.Columns {
			if i > 0 {
				b.write(", ")
			}
			b.parameter(cell(column), "")
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
	if w.Action == query.Put {
		b.putFilter(w)
	}
}

// putFilter lets the row through only when it is the one that the filters name.
func (b *builder) putFilter(w *plan.Write) {
	for i := range w.Where {
		predicate := &w.Where[i]
		separator := "\n  and "
		if i == 0 {
			separator = "\nwhere "
		}
		for j, column := range w.Columns {
			if column.Column == predicate.Field.Column {
				b.write(separator)
				b.payloadColumn(w, j)
				b.write(" = ")
				b.parameter(Param{Source: Value, Index: int(predicate.Value)}, "::"+column.Column.Type.SQL)
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
	if len(w.Conflict.Update) == 0 {
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
}
