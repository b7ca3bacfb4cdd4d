package sql

import (
	"strconv"

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
	hidden := b.through(m, p.Root.Items, false, nil, func() {
		b.write("select ")
		b.items(root, true, nil)
		b.body(root, nil, nil)
		b.order(root)
		b.topWindow(p)
	})
	s := b.media(hidden)
	s.Renamed = renamed(p)
	s.count(p)
	return s
}

// CompileWriteAs writes a write whose rows are given back and go through a function.
func CompileWriteAs(w *plan.Write, m *Media) *Statement {
	if w.Nothing {
		return CompileWrite(w)
	}
	b := newMediaBuilder()
	target := b.bareScope(&plan.Node{Source: plan.RelationSource(w.Relation), Where: w.Where})
	root, flag := b.changed(w, target)
	var hidden []Hidden
	if flag != "" {
		hidden = []Hidden{{Kind: InsertedColumn}}
	}
	return b.media(b.through(m, w.Returning.Items, false, hidden, func() {
		b.write("select ")
		if flag != "" {
			b.write(flag, " as ", hiddenName(0), commaBefore(w.Returning.Items))
		}
		b.items(root, true, nil)
		b.body(root, nil, nil)
		b.order(root)
	}))
}

// CompileCallAs writes the call of a routine whose result goes through a function, or is the body as it is.
func CompileCallAs(c *plan.Call, m *Media) *Statement {
	b := newMediaBuilder()
	var hidden []Hidden
	switch {
	case m.Function.Name == "":
		b.write("select ")
		b.scalar(c, func(start int) { b.asText(start, m.Returns) })
	case c.Scalar:
		items := []plan.Item{{Name: c.Routine.Name.Name}}
		hidden = b.through(m, items, !c.Routine.ReturnsSet, totalOf(c), func() {
			b.write("select ")
			b.namedTotal(c, items)
			b.scalar(c, func(int) { b.write(" as ", showName(0)) })
			if c.Routine.ReturnsSet {
				b.topWindow(c.Read)
			}
		})
	default:
		hidden = b.through(m, c.Read.Root.Items, false, totalOf(c), func() { b.namedRows(c) })
	}
	s := b.media(hidden)
	s.Renamed = renamed(c.Read)
	s.Single = !c.Routine.ReturnsSet
	s.ReadOnly = c.Routine.Volatility != catalog.Volatile
	return s
}

// namedRows writes the rows of a call with a name for each value.
func (b *builder) namedRows(c *plan.Call) {
	b.write("select ")
	b.namedTotal(c, c.Read.Root.Items)
	from := b.cut(func() {
		b.arguments(c)
		b.call(c)
	})
	root := b.scope(c.Read.Root)
	root.from = from
	b.items(root, true, nil)
	b.body(root, nil, nil)
	b.order(root)
	b.topWindow(c.Read)
}

// namedTotal writes the total with its name, when it is asked for, before items.
func (b *builder) namedTotal(c *plan.Call, items []plan.Item) {
	if totalOf(c) != nil {
		b.write(countRows, " as ", hiddenName(0), commaBefore(items))
	}
}

func commaBefore(items []plan.Item) string {
	if len(items) == 0 {
		return ""
	}
	return ", "
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
// their names on the way, apart from what is hidden. With value the function takes the only one instead of a row.
func (b *builder) through(m *Media, items []plan.Item, value bool, hidden []Hidden, rows func()) []Hidden {
	source, row := b.alias("y"), b.alias("x")
	b.write("select ")
	for i := range hidden {
		start := len(b.text)
		b.write(source, ".", hiddenName(i))
		if m.Aggregate {
			b.enclose(start, together(hidden[i].Kind)+"(", ")")
		}
		b.write(", ")
	}
	if m.Aggregate {
		b.write("pg_catalog.count(*), ")
		hidden = append(hidden, Hidden{Kind: RowsColumn})
	}
	start := len(b.text)
	b.name(m.Function)
	switch {
	case m.Aggregate && value:
		b.write("(", source, ".", showName(0), ")")
	case m.Row != nil:
		b.write("((", row, ".*)::")
		b.name(m.Row.Name)
		b.write(")")
	default:
		b.write("((", row, ".*))")
	}
	b.asText(start, m.Returns)
	b.write("\nfrom (\n")
	rows()
	b.write("\n) ", source, ", lateral ")
	b.record(items, source, row)
	return hidden
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

// hiddenName names a column that the answer does not show.
func hiddenName(i int) string { return "h" + strconv.Itoa(i+1) }

// together is the aggregate that makes one of the hidden values of all rows.
func together(kind HiddenKind) string {
	if kind == InsertedColumn {
		return "pg_catalog.bool_or"
	}
	return "pg_catalog.max"
}
