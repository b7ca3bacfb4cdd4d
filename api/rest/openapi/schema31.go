package openapi

import (
	"strconv"
	"strings"

	"basalt/query/catalog"
)

// deepest bounds how far composite types are spelled out inside each other.
const deepest = 8

// part is what a component describes: a relation, as it is sent by a write, or one of its columns.
type part struct{ relation, write, column string }

// names are the keys of components, which may hold few characters (OpenAPI 3.1 §4.8.7).
type names struct {
	schemas, parameters keys
}

type keys struct {
	of    map[part]string
	taken map[string]bool
}

// name gives a part a key of its own, like the words where they are free.
func (k *keys) name(p part, words ...string) {
	if k.of == nil {
		k.of, k.taken = map[part]string{}, map[string]bool{}
	}
	plain := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '.', r == '-', r == '_':
			return r
		}
		return '_'
	}, strings.Join(words, "."))
	key := plain
	for n := 2; k.taken[key]; n++ {
		key = plain + "_" + strconv.Itoa(n)
	}
	k.of[p], k.taken[key] = key, true
}

// nameComponents gives all of them their keys, relations first.
func (d *document31) nameComponents() {
	for i := range d.relations {
		name := d.relations[i].Name.Name
		d.names.schemas.name(part{relation: name}, name)
		for _, c := range d.relations[i].Columns {
			d.names.parameters.name(part{relation: name, column: c.Name}, "rowFilter", name, c.Name)
		}
	}
	for i := range d.relations {
		r := &d.relations[i]
		for _, write := range r.bodies() {
			d.names.schemas.name(part{relation: r.Name.Name, write: write}, r.Name.Name, write)
		}
	}
}

// bodies are the writes that send rows.
func (r *relation) bodies() []string {
	var kinds []string
	if r.verbs&Insert != 0 {
		kinds = append(kinds, "insert")
	}
	if r.verbs&Update != 0 {
		kinds = append(kinds, "update")
	}
	return kinds
}

func (d *document31) schemaReference(p part) object {
	return reference("components/schemas", d.names.schemas.of[p])
}

// schemas are the rows of relations as they are read, inserted and updated.
func (d *document31) schemas() object {
	var schemas object
	for i := range d.relations {
		r := &d.relations[i]
		name := r.Name.Name
		schemas.add(d.names.schemas.of[part{relation: name}], d.columns(r, "", func(c *catalog.Column) (shown, required bool) {
			return true, c.NotNull
		}))
		for _, kind := range r.bodies() {
			schemas.add(d.names.schemas.of[part{relation: name, write: kind}], d.columns(r, kind, func(c *catalog.Column) (shown, required bool) {
				shown = c.Writable && !c.Generated && c.Identity != 'a'
				return shown, shown && kind == "insert" && c.NotNull && !c.HasDefault()
			}))
		}
	}
	return schemas
}

// columns describes rows of a relation.
func (d *document31) columns(r *relation, kind string, use func(*catalog.Column) (shown, required bool)) object {
	o := object{{"type", text("object")}}
	if kind == "" {
		o.addText("description", r.Comment)
	}
	var required list
	properties := make(object, 0, len(r.Columns))
	for _, c := range r.Columns {
		shown, needed := use(c)
		if !shown {
			continue
		}
		if needed {
			required = append(required, text(c.Name))
		}
		properties.add(c.Name, d.column(r.Relation, c))
	}
	o.add("properties", properties)
	o.addList("required", required)
	return o
}

// column describes a column.
func (d *document31) column(r *catalog.Relation, c *catalog.Column) object {
	o := d.schemaOf(c.Type)
	if !c.NotNull {
		o = orNull(o)
	}
	o.addText("description", d.note(r, c))
	if value := defaultOf(c); value != "" {
		o.add("default", raw(value))
	}
	if c.MaxLength > 0 {
		o.add("maxLength", number(c.MaxLength))
	}
	if c.Generated || c.Identity == 'a' {
		o.add("readOnly", flag(true))
	}
	return o
}

// orNull lets a schema take null too. One without a type does already.
func orNull(o object) object {
	for i := range o {
		switch o[i].key {
		case "type":
			o[i].value = list{o[i].value, text("null")}
		case "enum":
			o[i].value = append(o[i].value.(list), raw("null"))
		case "$ref":
			return object{{"anyOf", list{o, object{{"type", text("null")}}}}}
		}
	}
	return o
}

// schemaOf is the schema of values of a type.
func (d *document31) schemaOf(t *catalog.Type) object { return d.nested(t, 0) }

func (d *document31) nested(t *catalog.Type, depth int) object {
	if t.JSONCast.Name != "" {
		return object{} // what the cast makes of it
	}
	t = t.Underlying()
	switch {
	case depth > deepest:
		return object{}
	case t.Elem != nil:
		return object{{"type", text("array")}, {"items", d.element(t.Elem, depth)}}
	case t.Kind == catalog.EnumType:
		return object{{"type", text("string")}, {"enum", texts(t.Labels...)}}
	case t.Relation != nil:
		return d.row(t.Relation)
	case t.Kind == catalog.CompositeType:
		return d.fields(t.Fields, depth+1)
	}
	return scalar(t)
}

// element is the schema of an array's elements, each of which can be NULL.
func (d *document31) element(t *catalog.Type, depth int) object { return orNull(d.nested(t, depth)) }

// fields describes a composite value.
func (d *document31) fields(fields []catalog.Field, depth int) object {
	properties := make(object, 0, len(fields))
	for _, field := range fields {
		properties.add(field.Name, orNull(d.nested(field.Type, depth)))
	}
	return object{{"type", text("object")}, {"properties", properties}}
}

// row describes a row of a relation: by reference when it is described, as any object otherwise.
func (d *document31) row(r *catalog.Relation) object {
	p := part{relation: r.Name.Name}
	if _, described := d.names.schemas.of[p]; described && r.Name.Schema == d.schema {
		return d.schemaReference(p)
	}
	return object{{"type", text("object")}}
}

// scalar is the schema of a value without parts. The format is the registered one where there is such, else
// PostgreSQL's name.
func scalar(t *catalog.Type) object {
	if t.Name.Schema != systemSchema {
		return object{{"type", text("string")}, {"format", text(t.SQL)}}
	}
	kind, format := "string", ""
	switch t.Name.Name {
	case "bool":
		return object{{"type", text("boolean")}}
	case "text", "varchar", "bpchar", "name", "char":
		return object{{"type", text("string")}}
	case "json", "jsonb":
		return object{}
	case "record":
		return object{{"type", text("object")}}
	case "int2", "int4":
		kind, format = "integer", "int32"
	case "int8":
		kind, format = "integer", "int64"
	case "oid":
		kind, format = "integer", "int64"
	case "float4":
		kind, format = "number", "float"
	case "float8":
		kind, format = "number", "double"
	case "numeric":
		kind, format = "number", "numeric"
	case "uuid", "date":
		format = t.Name.Name
	case "timestamptz":
		format = "date-time"
	default:
		format = t.SQL
	}
	return object{{"type", text(kind)}, {"format", text(format)}}
}

// common are the parameters that operations on all relations share.
func common() object {
	preference := func(values ...string) object { return object{{"type", text("string")}, {"examples", texts(values...)}} }
	const page = "Limiting and Pagination"
	return object{
		{"select", parameter31("select", "query", "Columns, embedded relations and functions to show", object{{"type", text("string")}})},
		{"columns", parameter31("columns", "query", "The keys of the body to use", object{{"type", text("string")}})},
		{"on_conflict", parameter31("on_conflict", "query", "The unique columns that decide whether a row is there", object{{"type", text("string")}})},
		{"order", parameter31("order", "query", "Ordering", object{{"type", text("string")}})},
		{"limit", parameter31("limit", "query", page, object{{"type", text("integer")}, {"minimum", number(0)}})},
		{"offset", parameter31("offset", "query", page, object{{"type", text("integer")}, {"minimum", number(0)}})},
		{"range", parameter31("Range", "header", page, object{{"type", text("string")}, {"examples", texts("0-9")}})},
		{"rangeUnit", parameter31("Range-Unit", "header", page, object{{"type", text("string")}, {"default", text("items")}})},
		{"preferRead", parameter31("Prefer", "header", "Preferences", preference("count=exact", "count=planned", "count=estimated"))},
		{"preferInsert", parameter31("Prefer", "header", "Preferences", preference("return=representation", "return=headers-only", "return=minimal", "resolution=merge-duplicates", "resolution=ignore-duplicates", "missing=default"))},
		{"preferUpdate", parameter31("Prefer", "header", "Preferences", preference("return=representation", "return=minimal", "count=exact"))},
		{"preferDelete", parameter31("Prefer", "header", "Preferences", preference("return=representation", "return=minimal", "count=exact"))},
	}
}

// parameters are those that operations refer to.
func (d *document31) parameters() object {
	o := common()
	for i := range d.relations {
		name := d.relations[i].Name.Name
		for _, c := range d.relations[i].Columns {
			key := d.names.parameters.of[part{relation: name, column: c.Name}]
			schema := object{{"type", text("string")}, {"examples", texts("eq.value")}}
			o.add(key, parameter31(c.Name, "query", c.Comment, schema))
		}
	}
	return o
}

// parameter31 describes an optional parameter.
func parameter31(name, in, description string, schema object) object {
	o := object{{"name", text(name)}, {"in", text(in)}, {"required", flag(false)}}
	o.addText("description", description)
	o.add("schema", schema)
	return o
}

// responses are the answers that all operations share.
func (d *document31) responses() object {
	nullable := object{{"type", list{text("string"), text("null")}}}
	return object{{"error", object{
		{"description", text("What was wrong")},
		{"content", object{{mediaJSON, object{{"schema", object{
			{"type", text("object")},
			{"properties", object{
				{"code", object{{"type", text("string")}}},
				{"message", object{{"type", text("string")}}},
				{"details", object{}},
				{"hint", nullable},
			}},
			{"required", texts("code", "details", "hint", "message")},
		}}}}}},
	}}}
}
