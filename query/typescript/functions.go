package typescript

import (
	"cmp"
	"slices"
	"strings"

	"basalt/query/catalog"
)

// functions gives the routines of a schema that requests can use, by name; those that share one in a stable order.
func (g *generator) functions(schema string) []*catalog.Routine {
	var list []*catalog.Routine
	for _, r := range g.catalog.RoutinesOf(schema) {
		if usable(r) {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b *catalog.Routine) int {
		return cmp.Or(compareNames(a.Name.Name, b.Name.Name), compareNames(signature(a), signature(b)))
	})
	return list
}

// usable says whether requests can give a routine its arguments: by name, the body as the only one, a row as the origin
// of a computed column, or not at all because they have defaults.
func usable(r *catalog.Routine) bool {
	for i := range r.Args {
		arg := &r.Args[i]
		if arg.Name != "" {
			continue
		}
		body := isBody(arg.Type)
		if !(body && arg.HasDefault) && !(len(r.Args) == 1 && (body || arg.Type.Kind == catalog.CompositeType)) {
			return false
		}
	}
	return true
}

// isBody says that the body of a request can be an argument of the type.
func isBody(t *catalog.Type) bool {
	return t.Name.Schema == "pg_catalog" && (t.Name.Name == "json" || t.Name.Name == "jsonb" || t.Name.Name == "text")
}

// signature tells overloads apart.
func signature(r *catalog.Routine) string {
	var parts []string
	for i := range r.Args {
		parts = append(parts, r.Args[i].Name+" "+r.Args[i].Type.SQL)
	}
	return strings.Join(parts, ", ")
}

// signatures describes routines; those of one name as a union.
func (g *generator) signatures(functions []*catalog.Routine) *objectType {
	o := &objectType{expanded: true}
	for len(functions) > 0 {
		name, n := functions[0].Name.Name, 1
		for n < len(functions) && functions[n].Name.Name == name {
			n++
		}
		var overloads unionType
		for _, r := range functions[:n] {
			overloads = append(overloads, g.function(r, functions[:n]))
		}
		if n == 1 {
			o.add(key(name), overloads[0])
		} else {
			o.add(key(name), overloads)
		}
		functions = functions[n:]
	}
	return o
}

// function describes one routine among those of its name.
func (g *generator) function(r *catalog.Routine, overloads []*catalog.Routine) *objectType {
	o := &objectType{}
	o.add("Args", g.arguments(r))
	to := returned(r)
	if problem := unreachable(r, overloads); problem != "" {
		o.add("Returns", atom("{ error: true } & "+quote(problem)))
	} else {
		result := g.result(r)
		// A set of at most one row is an object where the library is told so below.
		if r.ReturnsSet && (several(r) || to == "") {
			result = arrayOf(result)
		}
		o.add("Returns", result)
	}
	if to == "" {
		return o
	}
	from := "*"
	if len(r.Args) == 1 && r.Args[0].Type.Kind == catalog.CompositeType {
		from = r.Args[0].Type.Name.Name
	}
	o.add("SetofOptions", &objectType{expanded: true, members: []member{
		{key: "from", value: atom(quote(from))},
		{key: "to", value: atom(quote(to))},
		{key: "isOneToOne", value: boolean(!several(r))},
		{key: "isSetofReturn", value: boolean(r.ReturnsSet)},
	}})
	return o
}

// arguments describes what a call sends.
func (g *generator) arguments(r *catalog.Routine) node {
	args := slices.Clone(r.Args)
	slices.SortStableFunc(args, func(a, b catalog.Arg) int { return compareNames(a.Name, b.Name) })
	o := &objectType{}
	for i := range args {
		if args[i].Name == "" && len(args) > 1 {
			continue // no request can give it, beside others: it takes its default
		}
		o.members = append(o.members, member{key(args[i].Name), args[i].HasDefault, g.typeOf(args[i].Type)})
	}
	if len(o.members) == 0 {
		return atom("Record<PropertyKey, never>")
	}
	return o
}

// result describes one row or value of a result.
func (g *generator) result(r *catalog.Routine) node {
	if len(r.Out) > 0 {
		fields := slices.Clone(r.Out)
		slices.SortStableFunc(fields, func(a, b catalog.Field) int { return compareNames(a.Name, b.Name) })
		o := &objectType{expanded: true}
		for _, field := range fields {
			o.add(key(field.Name), g.typeOf(field.Type))
		}
		return o
	}
	if r.Relation != nil && r.Relation.Name.Schema == r.Name.Schema {
		return g.row(r.Relation)
	}
	return g.typeOf(r.Returns)
}

// returned is the relation or composite type whose rows a routine gives, "" when there is none to embed further ones in.
func returned(r *catalog.Routine) string {
	if t := r.Returns.Underlying(); len(r.Out) == 0 && t.Kind == catalog.CompositeType {
		return t.Name.Name
	}
	return ""
}

// several says that a result is expected to be more than one row.
func several(r *catalog.Routine) bool { return r.ReturnsSet && r.Rows > 1 }

// unreachable says why no request can call a routine by name, "" when one can.
func unreachable(r *catalog.Routine, overloads []*catalog.Routine) string {
	if len(r.Args) == 1 && r.Args[0].Name == "" && r.Args[0].Type.Kind == catalog.CompositeType && returned(r) == "" {
		return "the function " + r.Name.String() + " takes a row: select it as a column"
	}
	for _, other := range overloads {
		if other != r && alike(r, other) {
			return "the functions " + r.Name.String() + " cannot be told apart by the names of their arguments: rename one"
		}
	}
	return ""
}

// alike says that a call cannot choose between two overloads: the same one name, or none where a default stands in.
func alike(a, b *catalog.Routine) bool {
	switch {
	case len(a.Args) == 1 && len(b.Args) == 1:
		return a.Args[0].Name != "" && a.Args[0].Name == b.Args[0].Name
	case len(a.Args) == 0 && len(b.Args) == 1:
		return b.Args[0].Name == "" && b.Args[0].HasDefault
	}
	return false
}
