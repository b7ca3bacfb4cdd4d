package openapi

import (
	"basalt/query/catalog"
)

// document31 is a description in OpenAPI 3.1 in the making.
type document31 struct {
	*scope
	names names
}

// The media types that rows travel as.
const (
	mediaJSON   = "application/json"
	mediaObject = "application/vnd.pgrst.object+json"
	mediaCSV    = "text/csv"
	mediaLines  = "application/x-ndjson"
)

func (d *document31) write() object {
	d.nameComponents()
	o := object{
		{"openapi", text("3.1.0")},
		{"info", d.information()},
		{"externalDocs", object{{"description", text(manualName)}, {"url", text(manual)}}},
		{"servers", list{object{{"url", text(d.options.Server.String())}}}},
	}
	components := object{{"schemas", d.schemas()}, {"parameters", d.parameters()}, {"responses", d.responses()}}
	if d.options.Security {
		components.add("securitySchemes", object{{"JWT", object{
			{"type", text("http")},
			{"scheme", text("bearer")},
			{"bearerFormat", text("JWT")},
		}}})
		o.add("security", list{object{{"JWT", list{}}}})
	}
	o.add("paths", d.paths())
	o.add("components", components)
	return o
}

func (d *document31) paths() object {
	paths := make(object, 0, 1+len(d.relations)+len(d.routines))
	document := object{{"type", text("object")}}
	paths.add("/", object{{"get", object{
		{"tags", texts("Introspection")},
		{"summary", text("OpenAPI description (this document)")},
		{"responses", object{{"200", object{
			{"description", text("OK")},
			{"content", object{
				{"application/openapi+json", object{{"schema", document}}},
				{mediaJSON, object{{"schema", document}}},
			}},
		}}}},
	}}})
	for i := range d.relations {
		paths.add(path("/", d.relations[i].Name.Name), d.relationItem(&d.relations[i]))
	}
	for _, o := range d.routines {
		paths.add(path("/rpc/", o[0].Name.Name), d.routineItem(o))
	}
	return paths
}

// relationItem describes the operations on a relation that are allowed.
func (d *document31) relationItem(r *relation) object {
	name := r.Name.Name
	filters := make(list, 0, len(r.Columns)+8)
	for _, c := range r.Columns {
		filters = append(filters, reference("components/parameters", d.names.parameters.of[part{relation: name, column: c.Name}]))
	}
	with := func(first list, names ...string) list {
		return withReferences(first, "components/parameters", names...)
	}
	var o object
	add := func(method string, parameters list, body value, responses object) {
		op := operation(name, r.Comment)
		op.addList("parameters", parameters)
		if body != nil {
			op.add("requestBody", body)
		}
		responses.add("default", reference("components/responses", "error"))
		op.add("responses", responses)
		o.add(method, op)
	}
	rows := func(description string) object {
		return object{{"description", text(description)}, {"content", d.rows(r)}}
	}
	none := func(description string) object { return object{{"description", text(description)}} }
	if r.verbs&Select != 0 {
		add("get", with(filters, "select", "order", "limit", "offset", "range", "rangeUnit", "preferRead"), nil, object{
			{"200", rows("The rows")},
			{"206", rows("A part of the rows, with their total in Content-Range")},
		})
	}
	if r.verbs&Insert != 0 {
		add("post", with(nil, "columns", "on_conflict", "select", "preferInsert"), d.body(r, "insert", true), object{
			{"200", rows("The rows, of which none was new")},
			{"201", rows("The rows written, empty unless return=representation is preferred")},
		})
	}
	if r.verbs&Update != 0 {
		add("patch", with(filters, "columns", "select", "preferUpdate"), d.body(r, "update", false), object{
			{"200", rows("The rows written, with return=representation")},
			{"204", none("Done")},
		})
	}
	if r.verbs&Delete != 0 {
		add("delete", with(filters, "select", "preferDelete"), nil, object{
			{"200", rows("The rows deleted, with return=representation")},
			{"204", none("Done")},
		})
	}
	return o
}

// rows is the content of an answer with rows of a relation.
func (d *document31) rows(r *relation) object {
	row := d.schemaReference(part{relation: r.Name.Name})
	many := object{{"schema", object{{"type", text("array")}, {"items", row}}}}
	return object{
		{mediaJSON, many},
		{mediaObject, object{{"schema", row}}},
		{mediaLines, object{{"schema", row}}},
		{mediaCSV, object{{"schema", object{{"type", text("string")}}}}},
	}
}

// body is what a write sends.
func (d *document31) body(r *relation, kind string, several bool) object {
	row := d.schemaReference(part{relation: r.Name.Name, write: kind})
	content := object{{mediaJSON, object{{"schema", row}}}}
	if several {
		content = object{
			{mediaJSON, object{{"schema", object{{"oneOf", list{row, object{{"type", text("array")}, {"items", row}}}}}}}},
			{mediaCSV, object{{"schema", object{{"type", text("string")}}}}},
		}
	}
	return object{{"required", flag(true)}, {"content", content}}
}

// routineItem describes the calls of the routines of one name.
func (d *document31) routineItem(o overloads) object {
	name := o[0].Name.Name
	call := func() object { return operation("(rpc) "+name, o.comment()) }
	results := d.results(o)
	results.add("default", reference("components/responses", "error"))
	var item object
	if o.readable() {
		op := call()
		var parameters list
		for _, a := range o.arguments() {
			p := object{
				{"name", text(a.Name)},
				{"in", text("query")},
				{"required", flag(a.required)},
				{"schema", d.inQuery(a)},
			}
			parameters = append(parameters, p)
		}
		op.addList("parameters", parameters)
		op.add("responses", results)
		item.add("get", op)
	}
	op := call()
	op.add("requestBody", d.callBody(o))
	op.add("responses", results)
	item.add("post", op)
	return item
}

// inQuery is the schema of an argument in the query string: variadic ones are repeated, other arrays are the text {…}.
func (d *document31) inQuery(a argument) object {
	t := a.Type.Underlying()
	switch {
	case a.variadic:
		return d.schemaOf(t)
	case t.Elem != nil || t.Kind == catalog.CompositeType:
		return object{{"type", text("string")}, {"format", text(spelled(t))}}
	}
	return d.schemaOf(t)
}

// callBody is what a call sends: one of the overloads' arguments.
func (d *document31) callBody(o overloads) object {
	var content object
	var choices list
	for _, r := range o {
		if r.TakesBody() {
			media := r.Args[0].Type.BodyType()
			if media != mediaJSON {
				content.add(media, object{{"schema", object{{"type", text("string")}}}})
				continue
			}
			choices = append(choices, object{})
			continue
		}
		var required list
		properties := make(object, 0, len(r.Args))
		for i := range r.Args {
			properties.add(r.Args[i].Name, d.schemaOf(r.Args[i].Type))
			if !r.Args[i].HasDefault {
				required = append(required, text(r.Args[i].Name))
			}
		}
		schema := object{{"type", text("object")}}
		schema.addText("description", r.Comment)
		if len(properties) > 0 {
			schema.add("properties", properties)
		}
		schema.addList("required", required)
		schema.add("additionalProperties", flag(false))
		choices = append(choices, schema)
	}
	switch len(choices) {
	case 0:
	case 1:
		content = append(object{{mediaJSON, object{{"schema", choices[0]}}}}, content...)
	default:
		content = append(object{{mediaJSON, object{{"schema", object{{"anyOf", choices}}}}}}, content...)
	}
	return object{{"content", unique(content)}}
}

// unique keeps the first of members with the same key.
func unique(o object) object {
	known := map[string]bool{}
	kept := o[:0]
	for _, m := range o {
		if !known[m.key] {
			known[m.key] = true
			kept = append(kept, m)
		}
	}
	return kept
}

// results are what calls answer.
func (d *document31) results(o overloads) object {
	var choices list
	void := false
	known := map[string]bool{}
	for _, r := range o {
		if r.Returns.Name == (catalog.Name{Schema: systemSchema, Name: "void"}) && len(r.Out) == 0 {
			void = true
			continue
		}
		schema := d.result(r)
		if key := string(schema.append(nil)); !known[key] {
			known[key] = true
			choices = append(choices, schema)
		}
	}
	var results object
	if len(choices) > 0 {
		schema := choices[0]
		if len(choices) > 1 {
			schema = object{{"anyOf", choices}}
		}
		results.add("200", object{
			{"description", text("The result")},
			{"content", object{{mediaJSON, object{{"schema", schema}}}}},
		})
	}
	if void {
		results.add("204", object{{"description", text("Done")}})
	}
	return results
}

// result is what a call of a routine gives.
func (d *document31) result(r *catalog.Routine) object {
	var schema object
	switch {
	case len(r.Out) > 0:
		schema = d.fields(r.Out, 0)
	case r.Relation != nil:
		schema = d.row(r.Relation)
	default:
		schema = d.schemaOf(r.Returns)
	}
	if r.ReturnsSet {
		return object{{"type", text("array")}, {"items", schema}}
	}
	return schema
}
