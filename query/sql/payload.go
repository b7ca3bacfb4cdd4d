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

const (
	textOID  = 25
	jsonbOID = 3802
)

// formOf says how a JSON token becomes the text of a type.
func formOf(t *catalog.Type) query.CellForm {
	if t.FromJSON.Name != "" {
		return query.JSONCell
	}
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

// cell writes the value of a column in a payload of one row. Its parameter takes the column's type.
func (b *builder) cell(w *plan.Write, i int) {
	column := w.Columns[i]
	param := Param{Source: Cell, Index: column.Key, Form: formOf(column.Column.Type)}
	start := len(b.text)
	b.parameter(param, representation(w, column.Column.Type))
	b.fromJSON(w, column.Column.Type, start)
}

// representation is the cast of a value that a domain reads from JSON, "" for other types. What is no JSON is a JSON
// string then.
func representation(w *plan.Write, t *catalog.Type) string {
	switch {
	case t.FromJSON.Name == "":
		return ""
	case w.JSON:
		return "::json"
	default:
		return "::text"
	}
}

// fromJSON has a domain read the value that was written since start.
func (b *builder) fromJSON(w *plan.Write, t *catalog.Type, start int) {
	if t.FromJSON.Name == "" {
		return
	}
	if !w.JSON {
		b.enclose(start, "pg_catalog.to_json(", ")")
	}
	b.enclose(start, string(appendName(nil, t.FromJSON))+"(", ")")
}

// payload writes the rows of the payload as a source of the name p.
func (b *builder) payload(w *plan.Write) {
	switch w.Payload {
	case plan.OneRow:
		b.oneRow(w)
	case plan.ManyRows:
		b.arrays(w)
	case plan.WholeBody:
		b.wholeBody(w)
	}
}

// oneRow writes a payload of one row.
func (b *builder) oneRow(w *plan.Write) {
	b.write("(values (")
	for i, column := range w.Columns {
		if i > 0 {
			b.write(", ")
		}
		t := column.Column.Type
		cast := representation(w, t)
		if cast == "" {
			cast = "::" + t.SQL
		}
		b.parameter(Param{Source: Cell, Index: column.Key, Form: formOf(t)}, cast)
	}
	b.write(")) p(")
	for i := range w.Columns {
		if i > 0 {
			b.write(", ")
		}
		b.write(cellName(i))
	}
	b.write(")")
}

// arrays writes the payload as one array of text for each column. Set-returning functions beside each other in select
// go in step, and their rows are not stored before they are used, as those of functions in from are.
func (b *builder) arrays(w *plan.Write) {
	b.write("(select ")
	for i, column := range w.Columns {
		if i > 0 {
			b.write(", ")
		}
		b.write("pg_catalog.unnest(")
		b.parameter(Param{Source: Cells, Index: column.Key, Form: formOf(column.Column.Type)}, "::text[]")
		b.write(") ", cellName(i))
	}
	for i, column := range w.Columns {
		if defaulted(w, i) {
			b.write(", pg_catalog.unnest(")
			b.parameter(Param{Source: Given, Index: column.Key}, "::bool[]")
			b.write(") ", givenName(i))
		}
	}
	b.write(") p")
}

// defaulted says that a column has a default that a row may take.
func defaulted(w *plan.Write, i int) bool {
	return w.Defaults && w.Columns[i].Column.HasDefault()
}

// wholeBody writes the JSON body as rows that PostgreSQL itself takes apart.
func (b *builder) wholeBody(w *plan.Write) {
	body := func() { b.parameter(Param{Source: Body}, "::json") }
	switch {
	case w.Defaults && w.List:
		b.write("pg_catalog.json_array_elements(")
		body()
		b.write(") j(v), pg_catalog.json_to_record(j.v")
	case w.Defaults:
		b.write("(values (")
		body()
		b.write(")) j(v), pg_catalog.json_to_record(j.v")
	case w.List:
		b.write("pg_catalog.json_to_recordset(")
		body()
	default:
		b.write("pg_catalog.json_to_record(")
		body()
	}
	b.write(") p(")
	for i, column := range w.Columns {
		if i > 0 {
			b.write(", ")
		}
		b.text = appendIdentifier(b.text, column.Column.Name)
		if column.Column.Type.FromJSON.Name != "" {
			b.write(" json")
		} else {
			b.write(" ", column.Column.Type.Underlying().SQL)
		}
	}
	b.write(")")
}

// payloadColumn writes the value of a column in a row of p.
func (b *builder) payloadColumn(w *plan.Write, i int) {
	if !defaulted(w, i) {
		b.cellValue(w, i)
		return
	}
	column := w.Columns[i].Column
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
}

// cellValue writes the value that a row of p gives a column. Domains are left to the assignment to their column: that
// refuses what is too long, where a cast would cut it off, and lets NULL stand for what is absent.
func (b *builder) cellValue(w *plan.Write, i int) {
	column := w.Columns[i].Column
	start := len(b.text)
	if w.Payload == plan.WholeBody {
		b.column("p", column)
	} else {
		b.write("p.", cellName(i))
	}
	if w.Payload == plan.ManyRows {
		switch base := column.Type.Underlying(); {
		case column.Type.FromJSON.Name != "":
			if w.JSON {
				b.write("::json")
			}
		case base.OID != textOID:
			b.write("::", base.SQL)
		}
	}
	b.fromJSON(w, column.Type, start)
}

// defaultOf writes what a column takes when it is not given.
func (b *builder) defaultOf(relation *catalog.Relation, column *catalog.Column) {
	switch {
	case column.Identity != 0:
		b.write("pg_catalog.nextval(pg_catalog.pg_get_serial_sequence(")
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
