package sql

import (
	"strconv"

	"basalt/query"
	"basalt/query/catalog"
	"basalt/query/plan"
)

// Names in the rows of a payload: p.c1 is the value of the first column, p.g1 whether the row has it, j.v the row as
// JSON.
func cellName(i int) string  { return "c" + strconv.Itoa(i+1) }
func givenName(i int) string { return "g" + strconv.Itoa(i+1) }

const jsonbOID = 3802

// formOf says how a JSON token becomes a column's text.
func formOf(t *catalog.Type) query.CellForm {
	t = t.Underlying()
	if t.Elem != nil {
		if isJSON(t.Elem) {
			return query.JSONArrayCell
		}
		return query.ArrayCell
	}
	if isJSON(t) {
		return query.JSONCell
	}
	return query.PlainCell
}

func isJSON(t *catalog.Type) bool {
	oid := t.Underlying().OID
	return oid == jsonOID || oid == jsonbOID
}

func cell(column plan.WriteColumn) Param {
	return Param{Source: Cell, Index: column.Key, Form: formOf(column.Column.Type)}
}

// payload writes the rows of the payload as a source of the name p.
func (b *builder) payload(w *plan.Write) {
	switch w.Payload {
	case plan.OneRow:
		b.write("(values (")
		for i, column := range w.Columns {
			if i > 0 {
				b.write(", ")
			}
			b.parameter(cell(column), "::"+column.Column.Type.SQL)
		}
		b.write(")) p(")
		b.cellNames(w)
		b.write(")")
	case plan.ManyRows:
		b.arrays(w)
	case plan.WholeBody:
		b.wholeBody(w)
	}
}

func (b *builder) cellNames(w *plan.Write) {
	for i := range w.Columns {
		if i > 0 {
			b.write(", ")
		}
		b.write(cellName(i))
	}
}

// arrays writes the payload as one array for each column.
func (b *builder) arrays(w *plan.Write) {
	b.write("unnest(")
	for i, column := range w.Columns {
		if i > 0 {
			b.write(", ")
		}
		t := column.Column.Type
		b.parameter(Param{Source: Cells, Index: column.Key, Form: formOf(t)}, "::"+carrier(t)+"[]")
	}
	if w.Defaults {
		for _, column := range w.Columns {
			b.write(", ")
			b.parameter(Param{Source: Given, Index: column.Key}, "::bool[]")
		}
	}
	b.write(") p(")
	b.cellNames(w)
	if w.Defaults {
		for i := range w.Columns {
			b.write(", ", givenName(i))
		}
	}
	b.write(")")
}

// carrier is the type whose arrays carry a column's values. Those without plain arrays (arrays, composites, types
// whose elements are not separated by commas) travel as text.
func carrier(t *catalog.Type) string {
	if isCarried(t) {
		return t.SQL
	}
	return "text"
}

func isCarried(t *catalog.Type) bool {
	below := t.Underlying()
	return t.Array != 0 && below.Elem == nil && below.Kind != catalog.CompositeType && below.Category != 'G'
}

// wholeBody writes the JSON body as rows that PostgreSQL itself takes apart.
func (b *builder) wholeBody(w *plan.Write) {
	b.write("json_array_elements(case json_typeof(")
	b.parameter(Param{Source: Body}, "::json")
	b.write(") when 'array' then ")
	b.parameter(Param{Source: Body}, "::json")
	b.write(" else json_build_array(")
	b.parameter(Param{Source: Body}, "::json")
	b.write(") end) j(v), json_to_record(j.v) p(")
	for i, column := range w.Columns {
		if i > 0 {
			b.write(", ")
		}
		b.text = appendIdentifier(b.text, column.Column.Name)
		b.write(" ", column.Column.Type.SQL)
	}
	b.write(")")
}

// payloadColumn writes the value of a column in a row of p.
func (b *builder) payloadColumn(w *plan.Write, i int) {
	column := w.Columns[i].Column
	if w.Defaults && w.Payload != plan.OneRow {
		b.write("case when ")
		if w.Payload == plan.WholeBody {
			b.write("(j.v -> ")
			b.constant(column.Name, "::text")
			b.write(") is not null")
		} else {
			b.write("p.", givenName(i))
		}
		b.write(" then ")
		b.cellValue(w, i)
		b.write(" else ")
		b.defaultOf(w.Relation, column)
		b.write(" end")
		return
	}
	b.cellValue(w, i)
}

func (b *builder) cellValue(w *plan.Write, i int) {
	column := w.Columns[i].Column
	if w.Payload == plan.WholeBody {
		b.column("p", column)
		return
	}
	b.write("p.", cellName(i))
	if w.Payload == plan.ManyRows && !isCarried(column.Type) {
		b.write("::", column.Type.SQL)
	}
}

// defaultOf writes what a column takes when it is not given.
func (b *builder) defaultOf(relation *catalog.Relation, column *catalog.Column) {
	switch {
	case column.Identity != 0:
		b.write("nextval(pg_get_serial_sequence(")
		b.constant(string(appendName(nil, relation.Name)), "::text")
		b.write(", ")
		b.constant(column.Name, "::text")
		b.write(")::regclass)")
	case column.Default != "":
		// The expression is the database's own text (pg_get_expr).
		b.write("(", column.Default, ")")
	default:
		b.write("null")
	}
}
