package sql

import (
	"basalt/query/catalog"
	"basalt/query/pgjson"
	"basalt/query/plan"
)

// Media says how PostgreSQL itself makes an answer's body out of the rows that a statement gives.
type Media struct {
	// Function takes a row, with Aggregate all of them. Without a name the single value of a routine is the body.
	Function  catalog.Name
	Aggregate bool
	// Row is the relation whose rows the function takes, nil when it takes any record.
	Row *catalog.Relation
	// Returns is the type of what is made.
	Returns *catalog.Type
}

// CompileReadAs writes a read whose rows go through a function.
func CompileReadAs(p *plan.Read, m *Media) *Statement {
	b := newMediaBuilder()
	root := b.scope(p.Root)
	hidden := b.through(m, p.Root.Items, false, false, func() { b.top(p, root, true) })
	s := b.media(hidden)
	s.Renamed = renamed(p)
	s.count(p)
	return s
}

// CompileWriteAs writes a write whose rows are given back and go through a function.
func CompileWriteAs(w *plan.Write, m *Media) *Statement {
	b := newMediaBuilder()
	switch {
	case w.Nothing && countsNothing(w):
		root := b.nothing(w)
		s := b.media(b.through(m, w.Returning.Items, false, false, func() {
			b.write("select ")
			b.items(root, true, nil)
			b.body(root, nil, nil)
			b.order(root)
		}))
		s.Guard = w.Guard
		return s
	case w.Nothing && m.Aggregate:
		root := b.scope(w.Returning)
		return b.media(b.through(m, w.Returning.Items, false, false, func() {
			b.write("select ")
			b.items(root, true, nil)
			b.body(root, nil, nil)
			b.write("\nlimit 0") // what an aggregate makes of no rows is its own to say
		}))
	case w.Nothing:
		return CompileWrite(w)
	}
	target := b.bareScope(&plan.Node{Source: plan.RelationSource(w.Relation), Where: w.Where})
	root, flag := b.changed(w, target)
	if tellsOfUnshown(w) {
		s := b.media(b.besideThrough(w, m, root))
		s.Guard, s.AtMostOne, s.ShowsEach = w.Guard, w.AtMostOne, w.ShowsEach
		return s
	}
	s := b.media(b.through(m, w.Returning.Items, false, flag != "", func() {
		b.write("select ")
		if flag != "" {
			b.write(flag, " as ", flagColumn, commaBefore(w.Returning.Items))
		}
		b.items(root, true, nil)
		b.body(root, nil, nil)
		b.order(root)
	}))
	s.Guard, s.AtMostOne, s.ShowsEach = w.Guard, w.AtMostOne, w.ShowsEach
	return s
}

// CompileCallAs writes the call of a routine whose result goes through a function, or is the body as it is.
func CompileCallAs(c *plan.Call, m *Media) *Statement {
	b := newMediaBuilder()
	var hidden []Hidden
	items, value := c.Read.Root.Items, false
	if c.Scalar {
		items, value = []plan.Item{{Name: c.Routine.Name.Name}}, !c.Routine.ReturnsSet
	}
	switch {
	case m.Function.Name == "":
		b.write("select")
		b.result(c, false)
	case counts(c):
		hidden = b.totalThrough(c, m, items)
	default:
		hidden = b.through(m, items, value, false, func() {
			b.write("select")
			b.result(c, true)
			if !value {
				b.topWindow(c.Read)
			}
		})
	}
	s := b.media(hidden)
	s.Renamed = renamed(c.Read)
	s.Single = !c.Routine.ReturnsSet
	s.ReadOnly = c.Routine.Volatility != catalog.Volatile
	return s
}

// totalThrough writes a call whose rows go through a function, beside the total that there are.
func (b *builder) totalThrough(c *plan.Call, m *Media, items []plan.Item) []Hidden {
	b.called(c)
	row := b.alias("x")
	hidden := []Hidden{{Kind: TotalColumn}, {Kind: ShownColumn}}
	if m.Aggregate {
		b.write("select pg_catalog.max(n.total), pg_catalog.count(p.shown), ")
		hidden[1].Kind = RowsColumn
	} else {
		b.write("select n.total, p.shown, ")
	}
	b.made(m, whole(row), "p.shown")
	b.page(c)
	b.write(", lateral ")
	b.record(items, "p", row)
	return hidden
}

// besideThrough writes a query that sends those of the rows written that are shown through a function.
func (b *builder) besideThrough(w *plan.Write, m *Media, root *scope) (hidden []Hidden) {
	row := b.alias("x")
	flag, shown, kind := "n."+flagColumn, "p.shown", ShownColumn
	if m.Aggregate {
		flag, shown, kind = "pg_catalog.bool_or("+flag+")", "pg_catalog.count(p.shown)", RowsColumn
	}
	b.write("select ")
	if tellsInserted(w) {
		b.write(flag, ", ")
		hidden = append(hidden, Hidden{Kind: InsertedColumn})
	}
	b.write(shown, ", ")
	b.made(m, whole(row), "p.shown")
	b.besideWritten(w, root, nil)
	b.write(", lateral ")
	b.record(w.Returning.Items, "p", row)
	return append(hidden, Hidden{Kind: kind})
}

// newMediaBuilder makes a builder whose rows PostgreSQL's own functions have to understand.
func newMediaBuilder() *builder {
	b := newBuilder()
	b.json = true
	return b
}

// media takes a statement that gives bodies, or parts of one.
func (b *builder) media(hidden []Hidden) *Statement {
	s := b.statement()
	s.Hidden = hidden
	s.Layout = &pgjson.Layout{Columns: []pgjson.Column{pgjson.NewColumn("body", pgjson.Scalar)}}
	s.Scalar = true
	return s
}

// through writes a query that sends rows through a function. The inner query gives their values by number; they get
// their names on the way. With value the function takes the only one instead of a row, with flagged the inner query
// tells of each row whether it was inserted.
func (b *builder) through(m *Media, items []plan.Item, value, flagged bool, rows func()) (hidden []Hidden) {
	source, row := b.alias("y"), b.alias("x")
	b.write("select ")
	if flagged {
		start := len(b.text)
		b.write(source, ".", flagColumn)
		if m.Aggregate {
			b.enclose(start, "pg_catalog.bool_or(", ")")
		}
		b.write(", ")
		hidden = append(hidden, Hidden{Kind: InsertedColumn})
	}
	if m.Aggregate {
		b.write("pg_catalog.count(*), ")
		hidden = append(hidden, Hidden{Kind: RowsColumn})
	}
	argument := whole(row)
	if m.Aggregate && value {
		argument = source + "." + showName(0)
	}
	b.made(m, argument, "")
	b.write("\nfrom (\n")
	rows()
	b.write("\n) ", source, ", lateral ")
	b.record(items, source, row)
	return hidden
}

// flagColumn names what tells whether a row was inserted.
const flagColumn = "h1"

// made writes the call of a function, where there is a filter only of the rows for which that is true.
func (b *builder) made(m *Media, argument, filter string) {
	start := len(b.text)
	b.name(m.Function)
	b.write("(", argument)
	if m.Row != nil {
		b.write("::")
		b.name(m.Row.Name)
	}
	b.write(")")
	switch {
	case filter == "":
	case m.Aggregate:
		b.write(" filter (where ", filter, ")")
	default:
		b.enclose(start, "case when "+filter+" then ", " end")
	}
	b.asText(start, m.Returns)
}

// record writes a row source of one row: values known by number, under their names.
func (b *builder) record(items []plan.Item, source, row string) {
	b.write("(select ")
	for i := range items {
		if i > 0 {
			b.write(", ")
		}
		b.write(source, ".", showName(i), " as ")
		b.text = appendIdentifier(b.text, columnName(items[i].Name))
	}
	b.write(") ", row)
}

// columnName is the name of a column in SQL, where none may be empty.
func columnName(name string) string {
	if name == "" {
		return "?column?" // so does PostgreSQL call a column without a name
	}
	return name
}

// asText makes text of a value that is neither text nor bytes already.
func (b *builder) asText(start int, t *catalog.Type) {
	if t != nil && t.Underlying().Name != (catalog.Name{Schema: "pg_catalog", Name: "bytea"}) {
		b.enclose(start, "(", ")::text")
	}
}

// commaBefore separates what comes before items from them.
func commaBefore(items []plan.Item) string {
	if len(items) == 0 {
		return ""
	}
	return ", "
}
