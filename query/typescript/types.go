package typescript

import (
	"slices"

	"basalt/query/catalog"
)

// typeOf is the type that values of a type have in JSON: that of what a domain rests on, unknown where nothing is
// promised.
func (g *generator) typeOf(t *catalog.Type) node {
	if t.JSONCast.Name != "" {
		return atom("Json") // what the cast makes of it
	}
	t = t.Underlying()
	switch {
	case t.Elem != nil:
		return arrayOf(g.typeOf(t.Elem))
	case t.Kind == catalog.EnumType:
		if g.covers(t.Name.Schema) {
			return reference(t.Name.Schema, "Enums", t.Name.Name)
		}
		return labels(t)
	case t.Relation != nil:
		return g.rowOf(t.Relation)
	case t.Kind == catalog.CompositeType:
		if t.IsComposite() && g.covers(t.Name.Schema) {
			return reference(t.Name.Schema, "CompositeTypes", t.Name.Name)
		}
		return atom("unknown")
	case t.Kind == catalog.RangeType, t.Kind == catalog.MultirangeType:
		return atom("string")
	}
	return scalar(t.Name.Name)
}

// rowOf is a row of a relation.
func (g *generator) rowOf(r *catalog.Relation) node {
	if g.catalog.Relation(r.Name) == nil {
		return atom("unknown")
	}
	kind := "Tables"
	if r.IsView() {
		kind = "Views"
	}
	return reference(r.Name.Schema, kind, r.Name.Name) + `["Row"]`
}

func (g *generator) covers(schema string) bool { return slices.Contains(g.schemas, schema) }

// reference names a part of the Database type.
func reference(schema, kind, name string) atom {
	return atom("Database[" + quote(schema) + "][" + quote(kind) + "][" + quote(name) + "]")
}

// scalar is the type of values without parts.
func scalar(name string) atom {
	switch name {
	case "bool":
		return "boolean"
	case "int2", "int4", "int8", "float4", "float8", "numeric":
		return "number"
	case "bytea", "bpchar", "varchar", "text", "citext", "uuid", "date", "time", "timetz", "timestamp", "timestamptz",
		"interval", "vector":
		return "string"
	case "json", "jsonb":
		return "Json"
	case "void":
		return "undefined"
	case "record":
		return "Record<string, unknown>"
	}
	return "unknown"
}
