package openapi

import (
	"net/url"

	"basalt/query/catalog"
)

// swagger writes the description as PostgREST does.
func (s *scope) swagger() object {
	o := object{
		{"swagger", text("2.0")},
		{"info", s.information()},
	}
	host, base, scheme := address(s.options.Server)
	o.add("host", text(host))
	o.add("basePath", text(base))
	o.add("schemes", texts(scheme))
	media := texts("application/json", "application/vnd.pgrst.object+json;nulls=stripped", "application/vnd.pgrst.object+json", "text/csv")
	o.add("consumes", media)
	o.add("produces", media)
	o.add("paths", s.swaggerPaths())
	o.add("definitions", s.definitions())
	o.add("parameters", s.parameters())
	if s.options.Security {
		o.add("securityDefinitions", object{{"JWT", object{
			{"type", text("apiKey")},
			{"name", text("Authorization")},
			{"in", text("header")},
			{"description", text(tokenHint)},
		}}})
		o.add("security", list{object{{"JWT", list{}}}})
	}
	o.add("externalDocs", object{{"description", text(manualName)}, {"url", text(manual)}})
	return o
}

// address splits a URL as Swagger wants it. The port is always said.
func address(u *url.URL) (host, base, scheme string) {
	port := u.Port()
	if port == "" {
		port = "80"
		if u.Scheme == "https" {
			port = "443"
		}
	}
	base = u.EscapedPath()
	if base == "" {
		base = "/"
	}
	name := u.Hostname()
	if len(u.Host) > 0 && u.Host[0] == '[' { // an IPv6 address keeps its brackets
		name = "[" + name + "]"
	}
	return name + ":" + port, base, u.Scheme
}

func (s *scope) swaggerPaths() object {
	paths := make(object, 0, 1+len(s.relations)+len(s.routines))
	paths.add("/", object{{"get", object{
		{"tags", texts("Introspection")},
		{"summary", text("OpenAPI description (this document)")},
		{"produces", texts("application/openapi+json", "application/json")},
		{"responses", responses("200", "OK")},
	}}})
	for i := range s.relations {
		paths.add(path("/", s.relations[i].Name.Name), s.relations[i].item())
	}
	for _, o := range s.routines {
		paths.add(path("/rpc/", o[0].Name.Name), o.item())
	}
	return paths
}

// operation starts an operation with what its comment says.
func operation(tag, comment string) object {
	summary, description := split(comment)
	o := object{{"tags", texts(tag)}}
	o.addText("summary", summary)
	o.addText("description", description)
	return o
}

func responses(status, description string) object {
	return object{{status, object{{"description", text(description)}}}}
}

// item describes the operations on a relation that are allowed.
func (r *relation) item() object {
	name := r.Name.Name
	filters := make(list, 0, len(r.Columns)+7)
	for _, c := range r.Columns {
		filters = append(filters, reference("parameters", filterName(name, c.Name)))
	}
	with := func(first list, names ...string) list { return withReferences(first, "parameters", names...) }
	var o object
	add := func(method string, parameters list, responses object) {
		op := operation(name, r.Comment)
		op.add("parameters", parameters)
		op.add("responses", responses)
		o.add(method, op)
	}
	body := "body." + name
	if r.verbs&Select != 0 {
		add("get", with(filters, "select", "order", "range", "rangeUnit", "offset", "limit", "preferCount"), object{
			{"200", object{
				{"description", text("OK")},
				{"schema", object{{"type", text("array")}, {"items", reference("definitions", name)}}},
			}},
			{"206", object{{"description", text("Partial Content")}}},
		})
	}
	if r.verbs&Insert != 0 {
		add("post", with(nil, body, "select", "preferPost"), responses("201", "Created"))
	}
	if r.verbs&Delete != 0 {
		add("delete", with(filters, "preferReturn"), responses("204", "No Content"))
	}
	if r.verbs&Update != 0 {
		add("patch", with(filters, body, "preferReturn"), responses("204", "No Content"))
	}
	return o
}

// item describes the calls of the routines of one name.
func (o overloads) item() object {
	name, arguments := o[0].Name.Name, o.arguments()
	call := func(parameters list) object {
		op := operation("(rpc) "+name, o.comment())
		op.add("produces", texts("application/json", "application/vnd.pgrst.object+json;nulls=stripped", "application/vnd.pgrst.object+json"))
		if len(o) == 1 && o[0].TakesBody() {
			op.add("consumes", texts(o[0].Args[0].Type.BodyType()))
		}
		op.add("parameters", parameters)
		op.add("responses", responses("200", "OK"))
		return op
	}
	var item object
	if o.readable() {
		parameters := make(list, len(arguments))
		for i := range arguments {
			parameters[i] = arguments[i].inQuery()
		}
		item.add("get", call(parameters))
	}
	body := object{
		{"name", text("args")},
		{"in", text("body")},
		{"required", flag(true)},
		{"schema", o.body(arguments)},
	}
	item.add("post", call(list{body, reference("parameters", "preferParams")}))
	return item
}

// body describes what a call sends: the arguments as an object, or the only one as it is.
func (o overloads) body(arguments []argument) object {
	if len(o) == 1 && o[0].TakesBody() {
		return typed(o[0].Args[0].Type)
	}
	var schema, properties object
	var required list
	schema.add("type", text("object"))
	schema.addText("description", o.comment())
	for i := range arguments {
		properties.add(arguments[i].Name, typed(arguments[i].Type))
		if arguments[i].required {
			required = append(required, text(arguments[i].Name))
		}
	}
	if properties != nil {
		schema.add("properties", properties)
	}
	schema.addList("required", required)
	return schema
}

// inQuery describes an argument in the query string, where an array is the text {…} and variadic ones are repeated.
func (a *argument) inQuery() object {
	o := object{{"name", text(a.Name)}, {"in", text("query")}, {"required", flag(a.required)}}
	spelling := spelled(a.Type)
	kind := swaggerType(spelling)
	if a.variadic && a.Type.Elem != nil {
		element := spelled(a.Type.Elem)
		items := object{{"format", text(swaggerFormat(element))}}
		kind = swaggerType(element)
		if kind == "" || kind == "array" {
			kind = "string"
		}
		items.add("type", text(kind))
		o.add("type", text("array"))
		o.add("items", items)
		o.add("collectionFormat", text("multi"))
		return o
	}
	if kind == "" || kind == "array" {
		kind = "string"
	}
	o.add("type", text(kind))
	o.add("format", text(swaggerFormat(spelling)))
	return o
}

func (s *scope) definitions() object {
	definitions := make(object, 0, len(s.relations))
	for i := range s.relations {
		r := &s.relations[i]
		o := object{{"type", text("object")}}
		o.addText("description", r.Comment)
		var required list
		properties := make(object, 0, len(r.Columns))
		for _, c := range r.Columns {
			properties.add(c.Name, s.property(r.Relation, c))
			if c.NotNull {
				required = append(required, text(c.Name))
			}
		}
		o.add("properties", properties)
		o.addList("required", required)
		definitions.add(r.Name.Name, o)
	}
	return definitions
}

// property describes a column.
func (s *scope) property(r *catalog.Relation, c *catalog.Column) object {
	o := typed(c.Type)
	o.addText("description", s.note(r, c))
	if d := defaultOf(c); d != "" {
		o.add("default", raw(d))
	}
	o.addList("enum", labels(c.Type))
	if c.MaxLength > 0 {
		o.add("maxLength", number(c.MaxLength))
	}
	return o
}

func filterName(relation, column string) string { return "rowFilter." + relation + "." + column }

// parameters are those that operations refer to.
func (s *scope) parameters() object {
	preference := func(values ...string) object {
		o := parameter("Prefer", "header", "Preference")
		o.addList("enum", texts(values...))
		return o
	}
	returns := []string{"return=representation", "return=minimal", "return=none"}
	unit := parameter("Range-Unit", "header", "Limiting and Pagination")
	unit.add("default", text("items"))
	o := object{
		{"preferParams", preference()},
		{"preferReturn", preference(returns...)},
		{"preferCount", preference("count=none")},
		{"preferPost", preference(append(returns, "resolution=ignore-duplicates", "resolution=merge-duplicates")...)},
		{"select", parameter("select", "query", "Filtering Columns")},
		{"on_conflict", parameter("on_conflict", "query", "On Conflict")},
		{"order", parameter("order", "query", "Ordering")},
		{"range", parameter("Range", "header", "Limiting and Pagination")},
		{"rangeUnit", unit},
		{"offset", parameter("offset", "query", "Limiting and Pagination")},
		{"limit", parameter("limit", "query", "Limiting and Pagination")},
	}
	// A dot in a name can make two keys alike; a key may stand there once.
	known := map[string]bool{}
	once := func(key string, p object) {
		if !known[key] {
			known[key] = true
			o.add(key, p)
		}
	}
	for i := range s.relations {
		name := s.relations[i].Name.Name
		once("body."+name, object{
			{"name", text(name)},
			{"description", text(name)},
			{"required", flag(false)},
			{"in", text("body")},
			{"schema", reference("definitions", name)},
		})
		for _, c := range s.relations[i].Columns {
			once(filterName(name, c.Name), parameter(c.Name, "query", c.Comment))
		}
	}
	return o
}

// parameter describes an optional text in the query string or a header.
func parameter(name, in, description string) object {
	o := object{{"name", text(name)}}
	o.addText("description", description)
	return append(o, member{"required", flag(false)}, member{"in", text(in)}, member{"type", text("string")})
}
