package sql

import (
	"strconv"

	"basalt/query"
	"basalt/query/catalog"
	"basalt/query/pgjson"
	"basalt/query/plan"
)

// Names of the columns of subqueries: what is shown, and what the level above orders by.
func showName(i int) string  { return "c" + strconv.Itoa(i+1) }
func orderName(i int) string { return "o" + strconv.Itoa(i+1) }

// wrap turns an expression just written, which began at start, into the one that is sent.
type wrap func(b *builder, s *scope, item *plan.Item, start int)

// items writes what is shown of a node's rows, each under a name of its own when named.
func (b *builder) items(s *scope, named bool, w wrap) {
	for i := range s.node.Items {
		if i > 0 {
			b.write(", ")
		}
		item := &s.node.Items[i]
		start := len(b.text)
		b.item(s, item)
		if w != nil {
			w(b, s, item, start)
		}
		if named {
			b.write(" as ", showName(i))
		}
	}
}

// item writes the value of an item as PostgreSQL has it.
func (b *builder) item(s *scope, item *plan.Item) {
	start := len(b.text)
	switch item.Kind {
	case plan.FieldItem:
		b.field(s, &item.Field)
		// A cast in select is of what would be shown.
		if t := item.Field.Type; item.Cast.Type != nil && item.Aggregate == "" && t != nil && t.JSONCast.Name != "" {
			b.enclose(start, string(appendName(nil, t.JSONCast))+"(", ")")
		}
	case plan.RowItem:
		if item.Aggregate != "" {
			b.write("*")
		} else {
			b.write("1") // what is not null wherever there is a row
		}
	case plan.EmbedItem:
		b.embedded(s, item.Embed)
	case plan.SpreadItem:
		b.write(s.join(item.Embed), ".", showName(item.Index))
	}
	b.cast(start, item.Cast)
	if item.Aggregate != "" {
		b.enclose(start, aggregate(item)+"(", ")")
	}
	b.cast(start, item.AggCast)
}

// aggregate names an item's aggregate function. PostgreSQL's own is named with its schema, or a better match for the
// type in the schemas of the request would come first. Other types may have aggregates of their own.
func aggregate(item *plan.Item) string {
	t := item.Field.Type
	switch {
	case item.Cast.Type != nil:
		t = item.Cast.Type
	case item.Kind == plan.SpreadItem:
		t = item.Embed.Node.Items[item.Index].Type
	}
	if item.Aggregate == "count" || t != nil && t.Underlying().Name.Schema == "pg_catalog" {
		return "pg_catalog." + item.Aggregate
	}
	return item.Aggregate
}

func (b *builder) cast(start int, to plan.Cast) {
	if to.Type != nil {
		b.enclose(start, "(", ")::"+to.SQL)
	}
}

// enclose puts text around what was written since start.
func (b *builder) enclose(start int, before, after string) {
	b.write(before, after)
	copy(b.text[start+len(before):], b.text[start:len(b.text)-len(before)-len(after)])
	copy(b.text[start:], before)
	copy(b.text[len(b.text)-len(after):], after)
}

// shown is the wrap of the values that a statement gives, nil when a function takes them as they are.
func (b *builder) shown() wrap {
	if b.json {
		return nil
	}
	return wrapped
}

// wrapped is the wrap of values that are shown: what the JSON writer cannot read goes as json.
func wrapped(b *builder, s *scope, item *plan.Item, start int) {
	t := item.Type
	if t == nil {
		return
	}
	switch {
	case t.JSONCast.Name != "" && item.Aggregate == "":
		b.enclose(start, string(appendName(nil, t.JSONCast))+"(", ")")
		if s.comparable {
			b.enclose(start, "(", ")::jsonb")
		}
	case s.comparable && (!pgjson.Native(t) || t.Underlying().OID == jsonOID):
		b.enclose(start, "pg_catalog.to_jsonb(", ")")
	case !pgjson.Native(t):
		b.enclose(start, "pg_catalog.to_json(", ")")
	}
}

const jsonOID = 114

// field writes a column, a computed column, or a place inside of one.
func (b *builder) field(s *scope, f *plan.Field) {
	start := len(b.text)
	if f.Column != nil {
		b.column(s.alias, f.Column)
	} else {
		b.name(f.Computed.Name)
		b.write("(")
		b.row(s)
		b.write(")")
	}
	if len(f.Path) == 0 {
		return
	}
	if f.ToJSON {
		b.enclose(start, "pg_catalog.to_jsonb(", ")")
	}
	for i := range f.Path {
		b.step(&f.Path[i])
	}
	b.enclose(start, "(", ")")
}

func (b *builder) step(step *query.Step) {
	if step.AsText {
		b.write(" ->> ")
	} else {
		b.write(" -> ")
	}
	if step.Index {
		b.constant(step.Key, "::int")
	} else {
		b.constant(step.Key, "::text")
	}
}

// row writes a whole row as an argument. The star keeps a column named like the alias from being meant; the cast
// gives a row that comes out of a subquery its relation's type.
func (b *builder) row(s *scope) {
	b.write("(", s.alias, ".*)::")
	b.name(s.node.Source.Relation.Name)
}

// columns describes what items writes.
func columns(n *plan.Node) []pgjson.Column {
	list := make([]pgjson.Column, len(n.Items))
	for i := range n.Items {
		list[i] = column(&n.Items[i])
	}
	return list
}

// boxArrayOID is the only type of array of PostgreSQL's own whose elements stand between semicolons.
const boxArrayOID = 1020

// scalarKind is the kind of a column that wrapped has written.
func scalarKind(t *catalog.Type) pgjson.ColumnKind {
	if t != nil && t.JSONCast.Name == "" && !pgjson.Native(t) {
		return pgjson.Wrapped
	}
	return pgjson.Scalar
}

func column(item *plan.Item) pgjson.Column {
	switch {
	case item.Kind == plan.EmbedItem && item.Embed.ToOne():
		return pgjson.NewColumn(item.Name, pgjson.Record, columns(item.Embed.Node)...)
	case item.Kind == plan.EmbedItem:
		return pgjson.NewColumn(item.Name, pgjson.Records, columns(item.Embed.Node)...)
	case item.Kind != plan.SpreadItem || item.Aggregate != "":
		c := pgjson.NewColumn(item.Name, scalarKind(item.Type))
		if t := item.Type; t != nil && t.Underlying().OID == boxArrayOID {
			c.Delimiter = ';'
		}
		return c
	}
	below := &item.Embed.Node.Items[item.Index]
	switch {
	case item.Embed.ToOne():
		c := column(below)
		c.Optional = true
		return c
	case needsRow(below):
		return pgjson.NewColumn(item.Name, pgjson.List, column(below))
	default:
		return pgjson.NewColumn(item.Name, pgjson.List)
	}
}

// needsRow says that a value cannot be an element of an array as it is: PostgreSQL has no arrays of arrays of
// different lengths. It becomes the only field of a record.
func needsRow(item *plan.Item) bool {
	switch {
	case item.List, item.Kind == plan.EmbedItem:
		return true
	case item.Kind == plan.SpreadItem && item.Aggregate == "":
		return needsRow(&item.Embed.Node.Items[item.Index])
	}
	return item.Type != nil && pgjson.Native(item.Type) && item.Type.Underlying().Category == 'A'
}
