package openapi

import (
	"encoding/json"
	"strings"

	"basalt/query/catalog"
)

const systemSchema = "pg_catalog"

// spelled is how the description spells a type: PostgreSQL's own name of what a domain rests on, or the domain's where
// that is no type of PostgreSQL's own.
func spelled(t *catalog.Type) string {
	if base := t.Underlying(); base.Name.Schema == systemSchema {
		t = base
	}
	element, suffix := t, ""
	if t.Elem != nil {
		element, suffix = t.Elem, "[]"
	}
	if element.Name.Schema == systemSchema {
		switch element.Name.Name {
		case "bpchar":
			return "character" + suffix
		case "bit":
			return "bit" + suffix
		}
	}
	return t.SQL
}

// swaggerType is the JSON type of values of a type as Swagger 2.0 names it, "" for any.
func swaggerType(spelling string) string {
	switch spelling {
	case "character varying", "character", "text":
		return "string"
	case "boolean":
		return "boolean"
	case "smallint", "integer", "bigint":
		return "integer"
	case "numeric", "real", "double precision":
		return "number"
	case "json", "jsonb":
		return ""
	}
	if strings.HasSuffix(spelling, "[]") {
		return "array"
	}
	return "string"
}

// swaggerFormat is the format of a type: the specification's own for integers, else PostgreSQL's name.
func swaggerFormat(spelling string) string {
	switch spelling {
	case "smallint", "integer":
		return "int32"
	case "bigint":
		return "int64"
	}
	return spelling
}

// typed starts a schema or parameter of a type.
func typed(t *catalog.Type) object {
	var o object
	spelling := spelled(t)
	o.addText("format", swaggerFormat(spelling))
	o.addText("type", swaggerType(spelling))
	if element, ok := strings.CutSuffix(spelling, "[]"); ok {
		var items object
		items.addText("type", swaggerType(element))
		o.add("items", items)
	}
	return o
}

// defaultOf gives a column's default as JSON, "" when it is no constant that JSON can tell.
func defaultOf(c *catalog.Column) string {
	if c.Default == "" {
		return ""
	}
	spelling := spelled(c.Type)
	expression := strings.TrimSuffix(c.Default, "::"+spelling)
	plain := strings.Trim(expression, "'")
	switch swaggerType(spelling) {
	case "string":
		return string(text(plain).append(nil))
	case "boolean", "integer", "number":
		if json.Valid([]byte(plain)) {
			return plain
		}
	}
	return ""
}

// labels gives the values of an enumeration.
func labels(t *catalog.Type) list {
	if t = t.Underlying(); t.Kind != catalog.EnumType {
		return nil
	}
	return texts(t.Labels...)
}
