package sql

import (
	"basalt/query"
	"basalt/query/catalog"
	"basalt/query/plan"
)

// source writes what a node's rows come from.
func (b *builder) source(s *scope, parent *scope, e *plan.Embed) {
	switch {
	case e == nil && s.from != "":
		b.write(s.from)
	case e == nil:
		b.name(s.node.Source.Relation.Name)
	case e.Relationship.Function != nil:
		b.name(e.Relationship.Function.Name)
		b.write("(")
		b.row(parent)
		b.write(")")
	default:
		b.name(e.Relationship.To.Name)
	}
	b.write(" ", s.alias)
	if e != nil && e.Relationship.Junction != nil {
		j := e.Relationship.Junction
		s.junction = b.alias("j")
		b.write("\njoin ")
		b.name(j.Table.Name)
		b.write(" ", s.junction, " on ")
		b.equations(s.junction, s.alias, j.ToColumns)
	}
}

// link writes what ties an embed's rows to the row of its parent. A function is tied by its argument.
func (b *builder) link(s *scope, parent *scope, e *plan.Embed) {
	r := e.Relationship
	if r.Junction != nil {
		b.equations(parent.alias, s.junction, r.Junction.FromColumns)
		return
	}
	b.equations(parent.alias, s.alias, r.Columns)
}

func (b *builder) equations(from, to string, pairs []catalog.ColumnPair) {
	for i, pair := range pairs {
		if i > 0 {
			b.write(" and ")
		}
		b.column(to, pair.To)
		b.write(" ", own("=", false, pair.From.Type, pair.To.Type), " ")
		b.column(from, pair.From)
	}
}

// join joins an embed to its parent's rows, so that its values have names.
func (b *builder) join(parent *scope, e *plan.Embed, alias string) {
	if e.Inner && e.ToOne() {
		b.write("\njoin lateral (\n")
	} else {
		b.write("\nleft join lateral (\n")
	}
	comparable := parent.comparable || parent.node.Aggregated()
	switch {
	case !e.ToOne() && !e.Spread:
		b.write("select ")
		b.records(parent, e, comparable)
		b.write(" as r")
	case !e.ToOne():
		b.lists(parent, e, comparable)
	default:
		b.one(parent, e, comparable)
	}
	b.write("\n) ", alias, " on true")
}

// one writes the query of an embed to one: its record as r or, for a spread, its values by number, and what the
// parent orders by.
func (b *builder) one(parent *scope, e *plan.Embed, comparable bool) {
	s := b.scope(e.Node)
	s.comparable = comparable
	b.write("select ")
	separator := ""
	switch {
	case e.Hidden:
	case e.Spread:
		b.items(s, true, nil)
		separator = ", "
	case b.json:
		b.oneAsJSON(parent, s, e)
		return
	default:
		b.write("row(")
		b.items(s, false, wrapped)
		b.write(") as r")
		separator = ", "
	}
	b.orderedBy(parent, s, e, separator)
	b.body(s, parent, e)
	b.order(s)
	b.window(s.node)
}

// orderedBy writes what the parent orders by.
func (b *builder) orderedBy(parent, s *scope, e *plan.Embed, separator string) {
	for i := range parent.node.Order {
		if term := &parent.node.Order[i]; term.Embed == e {
			b.write(separator)
			if term.Item >= 0 {
				b.item(s, &e.Node.Items[term.Item])
			} else {
				b.field(s, &term.Field)
			}
			b.write(" as ", orderName(i))
			separator = ", "
		}
	}
}

// embedded writes an embed as a value in its parent's row.
func (b *builder) embedded(parent *scope, e *plan.Embed) {
	if alias := parent.join(e); alias != "" {
		b.write(alias, ".r")
		return
	}
	b.records(parent, e, parent.comparable)
}

// records writes an embed to many as an array of records, which is empty when there are none.
func (b *builder) records(parent *scope, e *plan.Embed, comparable bool) {
	s := b.scope(e.Node)
	s.comparable = comparable
	if b.json {
		b.recordsAsJSON(parent, s, e)
		return
	}
	b.write("array(\nselect row(")
	b.items(s, false, wrapped)
	b.write(")")
	b.body(s, parent, e)
	b.order(s)
	b.window(s.node)
	b.write("\n)")
}

// lists writes the query of a spread to many: an array for each item, all in the same order. There is always one, so
// that NULL tells that the row is not there that a spread around it would have them of.
func (b *builder) lists(parent *scope, e *plan.Embed, comparable bool) {
	s := b.scope(e.Node)
	s.comparable = comparable
	rows := b.alias("s")
	b.write("select ")
	for i := range s.node.Items {
		if i > 0 {
			b.write(", ")
		}
		name := showName(i)
		if b.json {
			b.listAsJSON(rows, name, comparable)
		} else if needsRow(&s.node.Items[i]) {
			b.write("coalesce(pg_catalog.array_agg(row(", rows, ".", name, ")), '{}') as ", name)
		} else {
			b.write("coalesce(pg_catalog.array_agg(", rows, ".", name, "), '{}') as ", name)
		}
	}
	b.write("\nfrom (\nselect ")
	b.items(s, true, wrapped)
	b.body(s, parent, e)
	b.order(s)
	b.window(s.node)
	b.write("\n) ", rows)
}

// exists writes a condition that an embed has rows.
func (b *builder) exists(parent *scope, e *plan.Embed) {
	windowed := e.Node.Limit != query.None || e.Node.Offset != query.None
	switch {
	case e.Node.Aggregated() && windowed:
		// The window is one of groups.
		child := b.scope(e.Node)
		b.write("exists (\nselect ")
		b.items(child, false, nil)
		b.body(child, parent, e)
		b.window(e.Node)
	case e.Node.AlwaysOneRow():
		b.write("true")
		return
	default:
		child := b.bareScope(e.Node)
		b.write("exists (\nselect 1")
		b.matches(child, parent, e)
		if windowed {
			b.window(e.Node)
		}
	}
	b.write("\n)")
}
