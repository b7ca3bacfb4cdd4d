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
	from := b.cut(func() { b.call(c) })
	if c.Read == nil {
		return b.scalarCall(c, from)
	}
	root := b.scope(c.Read.Root)
	root.from = from
	b.write("select")
	var hidden []Hidden
	separator := " "
	if c.Read.Count != query.CountNone {
		// A routine must run once only, so its rows are counted beside being shown.
		b.write(" count(*) over ()")
		hidden = append(hidden, Hidden{Kind: TotalColumn})
		separator = ", "
	}
	if len(c.Read.Root.Items) > 0 {
		b.write(separator)
		b.items(root, false, wrapped)
	}
	b.body(root, nil, nil)
	b.order(root)
	b.topWindow(c.Read)
	s := b.statement()
	s.Hidden, s.Layout = hidden, &pgjson.Layout{Columns: columns(c.Read.Root)}
	s.Single, s.ReadOnly = !c.Routine.ReturnsSet, c.Routine.Volatility != catalog.Volatile
	return s
}

// cut runs a writer and takes what it wrote out of the text again.
func (b *builder) cut(write func()) string {
	start := len(b.text)
	write()
	text := string(b.text[start:])
	b.text = b.text[:start]
	return text
}

// scalarCall writes the call of a routine whose result is no row.
func (b *builder) scalarCall(c *plan.Call, from string) *Statement {
	b.write("select ")
	start := len(b.text)
	b.write("t.v")
	switch t := c.Routine.Returns; {
	case t.JSONCast.Name != "":
		b.enclose(start, string(appendName(nil, t.JSONCast))+"(", ")")
	case !pgjson.Native(t):
		b.enclose(start, "to_json(", ")")
	}
	b.write("\nfrom ", from, " t(v)")
	s := b.statement()
	s.Layout = &pgjson.Layout{Columns: []pgjson.Column{pgjson.NewColumn(c.Routine.Name.Name, pgjson.Scalar)}}
	s.Scalar, s.Void, s.Single = true, c.Void, !c.Routine.ReturnsSet
	s.ReadOnly = c.Routine.Volatility != catalog.Volatile
	return s
}

// call writes the routine with its arguments as a source of rows.
func (b *builder) call(c *plan.Call) {
	if c.WholeBody {
		b.write("json_to_record(")
		b.parameter(Param{Source: Body}, "::json")
		b.write(") a(")
		for i, argument := range c.Arguments {
			if i > 0 {
				b.write(", ")
			}
			b.text = appendIdentifier(b.text, argument.Arg.Name)
			b.write(" ", argument.Arg.Type.SQL)
		}
		b.write("), lateral ")
	}
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
	b.text = appendIdentifier(b.text, a.Arg.Name)
	b.write(" => ")
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
