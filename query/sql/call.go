package sql

import (
	"basalt/query"
	"basalt/query/catalog"
	"basalt/query/pgjson"
	"basalt/query/plan"
)

// CompileCall writes the call of a routine: a query over its result.
func CompileCall(c *plan.Call) *Statement {
	b := newBuilder()
	var hidden []Hidden
	var layout *pgjson.Layout
	switch {
	case counts(c) && (c.Read.Offset || c.Read.Empty):
		hidden, layout = b.pageOfTotal(c)
	case counts(c):
		b.write("select pg_catalog.count(*) over (),")
		hidden, layout = []Hidden{{Kind: TotalColumn}}, b.result(c, false)
		b.topWindow(c.Read)
	default:
		b.write("select")
		layout = b.result(c, false)
		if c.Routine.ReturnsSet || !c.Scalar {
			b.topWindow(c.Read)
		}
	}
	s := b.statement()
	s.Hidden, s.Layout, s.Renamed = hidden, layout, renamed(c.Read)
	s.Scalar, s.Void, s.Single = c.Scalar, c.Void, !c.Routine.ReturnsSet
	s.ReadOnly = c.Routine.Volatility != catalog.Volatile
	return s
}

// counts says that the rows of a set are counted beside showing them: the routine must run once only. How many rows a
// routine gives is not planned.
func counts(c *plan.Call) bool {
	return c.Routine.ReturnsSet && c.Read.Count != query.CountNone && c.Read.Count != query.CountPlanned
}

// pageOfTotal writes a call whose total is wanted although the page asked for may lie beyond it: the total comes with
// each row, and alone where there is none.
func (b *builder) pageOfTotal(c *plan.Call) ([]Hidden, *pgjson.Layout) {
	layout := b.called(c)
	b.write("select n.total, p.shown")
	for i := range layout.Columns {
		b.write(", p.", showName(i))
	}
	b.page(c)
	return []Hidden{{Kind: TotalColumn}, {Kind: ShownColumn}}, layout
}

// called writes a call as a common table expression, its values by number.
func (b *builder) called(c *plan.Call) *pgjson.Layout {
	b.write("with called as (\nselect true as shown")
	start := len(b.text)
	layout := b.result(c, true)
	if len(layout.Columns) > 0 {
		b.enclose(start, ",", "")
	}
	b.write("\n)\n")
	return layout
}

// page writes from with the total n of what was called, and beside it the page p.
func (b *builder) page(c *plan.Call) {
	b.write("\nfrom (select pg_catalog.count(*) as total from called) n\nleft join (\nselect * from called")
	b.topWindow(c.Read)
	b.write("\n) p on true")
}

// result writes what is shown of a result, each value under a name of its own when named, and where it comes from.
func (b *builder) result(c *plan.Call, named bool) *pgjson.Layout {
	if c.Scalar {
		return b.scalars(c, named)
	}
	return b.resultRows(c, named)
}

// resultRows writes what is shown of a result of rows.
func (b *builder) resultRows(c *plan.Call, named bool) *pgjson.Layout {
	from := b.cut(func() {
		b.arguments(c)
		b.call(c)
	})
	root := b.scope(c.Read.Root)
	root.from = from
	if len(c.Read.Root.Items) > 0 {
		b.write(" ")
		b.items(root, named, b.shown())
	}
	b.body(root, nil, nil)
	b.order(root)
	return &pgjson.Layout{Columns: columns(c.Read.Root)}
}

// scalars writes a result of single values. The call stands in select, as one that gives a record without names may
// not stand in from.
func (b *builder) scalars(c *plan.Call, named bool) *pgjson.Layout {
	b.write(" ")
	start := len(b.text)
	if c.Routine.ReturnsSet {
		b.write("t.v")
	} else {
		b.call(c)
	}
	switch t := c.Routine.Returns; {
	case b.json && named: // for a function that takes it as it is
	case b.json:
		b.asText(start, t)
	case t.JSONCast.Name != "":
		b.enclose(start, string(appendName(nil, t.JSONCast))+"(", ")")
	case !pgjson.Native(t):
		b.enclose(start, "pg_catalog.to_json(", ")")
	}
	if named {
		b.write(" as ", showName(0))
	}
	if c.Routine.ReturnsSet {
		b.write("\nfrom ")
		b.arguments(c)
		b.write("(select ")
		b.call(c)
		b.write(" as v) t")
	} else if c.WholeBody {
		b.write("\nfrom ")
		b.bodyRecord(c)
	}
	return &pgjson.Layout{Columns: []pgjson.Column{pgjson.NewColumn(c.Routine.Name.Name, scalarKind(c.Routine.Returns))}}
}

// cut runs a writer and takes what it wrote out of the text again.
func (b *builder) cut(write func()) string {
	start := len(b.text)
	write()
	text := string(b.text[start:])
	b.text = b.text[:start]
	return text
}

// arguments writes the row of arguments before what reads them.
func (b *builder) arguments(c *plan.Call) {
	if c.WholeBody {
		b.bodyRecord(c)
		b.write(", lateral ")
	}
}

// bodyRecord writes the arguments as a row a that PostgreSQL itself takes out of the JSON body.
func (b *builder) bodyRecord(c *plan.Call) {
	b.write("pg_catalog.json_to_record(")
	b.parameter(Param{Source: Body}, "::json")
	b.write(") a(")
	for i, argument := range c.Arguments {
		if i > 0 {
			b.write(", ")
		}
		b.text = appendIdentifier(b.text, argument.Arg.Name)
		b.write(" ", argument.Arg.Type.SQL)
	}
	b.write(")")
}

// call writes the routine with its arguments.
func (b *builder) call(c *plan.Call) {
	b.name(c.Routine.Name)
	b.write("(")
	for i := range c.Arguments {
		if i > 0 {
			b.write(", ")
		}
		b.argument(c, &c.Arguments[i])
	}
	b.write(")")
}

func (b *builder) argument(c *plan.Call, a *plan.CallArgument) {
	cast := "::" + a.Arg.Type.SQL
	if a.Unnamed {
		source := Body
		if a.Arg.Type.Name == (catalog.Name{Schema: "pg_catalog", Name: "bytea"}) {
			source = BodyBytes
		}
		b.parameter(Param{Source: source}, cast)
		return
	}
	if a.Variadic {
		b.write("variadic ")
	}
	if !c.Positional {
		b.text = appendIdentifier(b.text, a.Arg.Name)
		b.write(" => ")
	}
	switch {
	case c.WholeBody:
		b.write("a.")
		b.text = appendIdentifier(b.text, a.Arg.Name)
	case a.Given >= 0:
		b.parameter(Param{Source: Argument, Index: a.Given, List: a.Variadic}, cast)
	default:
		b.parameter(Param{Source: Cell, Index: a.Key, Form: formOf(a.Arg.Type)}, cast)
	}
}
