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
	b.write("select")
	hidden := totalOf(c)
	if hidden != nil {
		b.write(" ", countRows, ",")
	}
	var layout *pgjson.Layout
	if c.Scalar {
		layout = b.scalars(c)
	} else {
		layout = b.resultRows(c)
	}
	if c.Routine.ReturnsSet || !c.Scalar {
		b.topWindow(c.Read)
	}
	s := b.statement()
	s.Hidden, s.Layout, s.Renamed = hidden, layout, renamed(c.Read)
	s.Scalar, s.Void, s.Single = c.Scalar, c.Void, !c.Routine.ReturnsSet
	s.ReadOnly = c.Routine.Volatility != catalog.Volatile
	return s
}

// countRows counts the rows of a set beside showing them: the routine must run once only.
const countRows = "pg_catalog.count(*) over ()"

// totalOf is the hidden column of countRows, nil when nobody asks for it.
func totalOf(c *plan.Call) []Hidden {
	if c.Read.Count == query.CountNone || !c.Routine.ReturnsSet {
		return nil
	}
	return []Hidden{{Kind: TotalColumn}}
}

// resultRows writes what is shown of a result of rows.
func (b *builder) resultRows(c *plan.Call) *pgjson.Layout {
	from := b.cut(func() {
		b.arguments(c)
		b.call(c)
	})
	root := b.scope(c.Read.Root)
	root.from = from
	if len(c.Read.Root.Items) > 0 {
		b.write(" ")
		b.items(root, false, wrapped)
	}
	b.body(root, nil, nil)
	b.order(root)
	return &pgjson.Layout{Columns: columns(c.Read.Root)}
}

// scalars writes a result of single values.
func (b *builder) scalars(c *plan.Call) *pgjson.Layout {
	b.write(" ")
	b.scalar(c, func(start int) {
		switch t := c.Routine.Returns; {
		case t.JSONCast.Name != "":
			b.enclose(start, string(appendName(nil, t.JSONCast))+"(", ")")
		case !pgjson.Native(t):
			b.enclose(start, "pg_catalog.to_json(", ")")
		}
	})
	return &pgjson.Layout{Columns: []pgjson.Column{pgjson.NewColumn(c.Routine.Name.Name, scalarKind(c.Routine.Returns))}}
}

// scalar writes the value of a result of single ones, what show makes of it, and where it comes from. The call stands
// in select, as one that gives a record without names may not stand in from.
func (b *builder) scalar(c *plan.Call, show func(start int)) {
	start := len(b.text)
	if c.Routine.ReturnsSet {
		b.write("t.v")
	} else {
		b.call(c)
	}
	show(start)
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
