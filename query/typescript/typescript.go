// Package typescript writes a catalog as the Database type that supabase-js takes.
package typescript

import (
	"slices"
	"strings"

	"basalt/query/catalog"
)

// postgrestVersion tells the client library what the server can do. The library knows 13 and 14 by name and takes any
// other for one that can do less.
const postgrestVersion = "14"

// Generate writes the types of all schemas that the catalog covers. Equal catalogs give equal text.
func Generate(c *catalog.Catalog) string {
	g := generator{catalog: c, schemas: slices.Clone(c.Schemas())}
	slices.SortFunc(g.schemas, compareNames)
	g.schemas = slices.Compact(g.schemas) // one may have been asked for twice
	database := &objectType{expanded: true}
	database.add("__InternalSupabase", &objectType{expanded: true, members: []member{{key: "PostgrestVersion", value: atom(quote(postgrestVersion))}}})
	constants := &objectType{expanded: true}
	for _, schema := range g.schemas {
		database.add(key(schema), g.schema(schema))
		constants.add(valueKey(schema), g.constants(schema))
	}
	p := printer{}
	p.write("export type Json =\n  | string\n  | number\n  | boolean\n  | null\n  | { [key: string]: Json | undefined }\n  | Json[]\n\n")
	p.write("export type Database = ")
	p.print(database, 0)
	p.write("\n\ntype DatabaseWithoutInternals = Omit<Database, \"__InternalSupabase\">\n\n")
	p.write("type DefaultSchemaName = " + quote(g.defaultSchema()) + "\n")
	p.write(helpers)
	p.write("\nexport const Constants = ")
	p.values = true
	p.print(constants, 0)
	p.write(" as const\n")
	return p.text.String()
}

// generator writes the types of one catalog.
type generator struct {
	catalog *catalog.Catalog
	schemas []string // sorted
}

// defaultSchema is the one that the helper types mean: supabase-js asks for public when nothing is said.
func (g *generator) defaultSchema() string {
	if slices.Contains(g.schemas, "public") {
		return "public"
	}
	return g.catalog.Schemas()[0]
}

// schema describes what one schema offers.
func (g *generator) schema(name string) *objectType {
	functions := g.functions(name)
	tables, views := &objectType{expanded: true}, &objectType{expanded: true}
	relations := slices.Clone(g.catalog.Relations(name))
	slices.SortFunc(relations, func(a, b *catalog.Relation) int { return compareNames(a.Name.Name, b.Name.Name) })
	for _, r := range relations {
		if r.IsView() {
			views.add(key(r.Name.Name), g.view(r, functions))
		} else {
			tables.add(key(r.Name.Name), g.table(r, functions))
		}
	}
	enums, composites := &objectType{expanded: true}, &objectType{expanded: true}
	for _, t := range g.types(name) {
		if t.Kind == catalog.EnumType {
			enums.add(key(t.Name.Name), labels(t))
		} else {
			composites.add(key(t.Name.Name), g.composite(t))
		}
	}
	o := &objectType{expanded: true}
	o.add("Tables", orNever(tables))
	o.add("Views", orNever(views))
	o.add("Functions", orNever(g.signatures(functions)))
	o.add("Enums", orNever(enums))
	o.add("CompositeTypes", orNever(composites))
	return o
}

// types gives the enumerations and composite types of a schema.
func (g *generator) types(schema string) []*catalog.Type {
	list := g.catalog.TypesOf(schema)
	slices.SortFunc(list, func(a, b *catalog.Type) int { return compareNames(a.Name.Name, b.Name.Name) })
	return list
}

// orNever makes an empty part a type that has no member.
func orNever(o *objectType) *objectType {
	if len(o.members) == 0 {
		o.add("[_ in never]", atom("never"))
	}
	return o
}

// columns gives those of a relation by name.
func columns(r *catalog.Relation) []*catalog.Column {
	list := slices.Clone(r.Columns)
	slices.SortFunc(list, func(a, b *catalog.Column) int { return compareNames(a.Name, b.Name) })
	return list
}

// row describes a row as it is read, without computed columns.
func (g *generator) row(r *catalog.Relation) *objectType {
	row := &objectType{expanded: true}
	for _, c := range columns(r) {
		row.add(key(c.Name), g.column(c, !c.NotNull))
	}
	return row
}

// computedRow describes a row with its computed columns.
func (g *generator) computedRow(r *catalog.Relation, functions []*catalog.Routine) *objectType {
	row := g.row(r)
	known := map[string]bool{}
	for _, f := range functions {
		if len(f.Args) != 1 || f.Variadic || f.Args[0].Type.Underlying().Relation != r || known[f.Name.Name] || r.Column(f.Name.Name) != nil {
			continue
		}
		known[f.Name.Name] = true
		row.add(key(f.Name.Name), orNull(g.result(f)))
	}
	return row
}

// column is the type of a column. Json takes null in, which a column that is never null must not.
func (g *generator) column(c *catalog.Column, nullable bool) node {
	t := g.typeOf(c.Type)
	switch {
	case nullable:
		return orNull(t)
	case t == atom("Json"):
		return atom("NonNullable<Json>")
	}
	return t
}

// table describes a table and what may be written to it.
func (g *generator) table(r *catalog.Relation, functions []*catalog.Routine) *objectType {
	insert, update := &objectType{expanded: true}, &objectType{expanded: true}
	for _, c := range columns(r) {
		if c.Generated || c.Identity == 'a' {
			insert.addOptional(key(c.Name), atom("never"))
			update.addOptional(key(c.Name), atom("never"))
			continue
		}
		t := g.column(c, !c.NotNull)
		if c.NotNull && !c.HasDefault() {
			insert.add(key(c.Name), t)
		} else {
			insert.addOptional(key(c.Name), t)
		}
		update.addOptional(key(c.Name), t)
	}
	o := &objectType{expanded: true}
	o.add("Row", g.computedRow(r, functions))
	o.add("Insert", insert)
	o.add("Update", update)
	o.add("Relationships", g.relationships(r))
	return o
}

// view describes a view. What it lets through has the checks of the tables below, so all may be left out.
func (g *generator) view(r *catalog.Relation, functions []*catalog.Routine) *objectType {
	o := &objectType{expanded: true}
	o.add("Row", g.computedRow(r, functions))
	for _, write := range []struct {
		name    string
		allowed bool
	}{{"Insert", r.Insertable}, {"Update", r.Updatable}} {
		if !write.allowed || r.Kind != catalog.View {
			continue
		}
		body := &objectType{expanded: true}
		for _, c := range columns(r) {
			t := node(atom("never"))
			if c.Writable {
				t = g.column(c, true)
			}
			body.addOptional(key(c.Name), t)
		}
		o.add(write.name, body)
	}
	o.add("Relationships", g.relationships(r))
	return o
}

// relationships lists what a relation refers to by foreign keys, for embeds.
func (g *generator) relationships(r *catalog.Relation) tupleType {
	var list []*catalog.Relationship
	for _, rel := range g.catalog.Relationships(r.Name) {
		if rel.Function == nil && rel.Junction == nil && !rel.Inverse && rel.Cardinality.ToOne() && rel.To.Name.Schema == r.Name.Schema {
			list = append(list, rel)
		}
	}
	names := func(rel *catalog.Relationship) (from, to []string) {
		for _, pair := range rel.Columns {
			from, to = append(from, quote(pair.From.Name)), append(to, quote(pair.To.Name))
		}
		return from, to
	}
	order := func(rel *catalog.Relationship) []string {
		from, to := names(rel)
		return []string{rel.Constraint, rel.To.Name.Name, strings.Join(to, ","), strings.Join(from, ",")}
	}
	slices.SortFunc(list, func(a, b *catalog.Relationship) int { return slices.CompareFunc(order(a), order(b), compareNames) })
	var tuple tupleType
	for _, rel := range list {
		from, to := names(rel)
		tuple = append(tuple, &objectType{expanded: true, members: []member{
			{key: "foreignKeyName", value: atom(quote(rel.Constraint))},
			{key: "columns", value: atom("[" + strings.Join(from, ", ") + "]")},
			{key: "isOneToOne", value: boolean(rel.Cardinality == catalog.OneToOne)},
			{key: "referencedRelation", value: atom(quote(rel.To.Name.Name))},
			{key: "referencedColumns", value: atom("[" + strings.Join(to, ", ") + "]")},
		}})
	}
	return tuple
}

// labels are the values of an enumeration.
func labels(t *catalog.Type) node {
	if len(t.Labels) == 0 {
		return atom("never")
	}
	var union unionType
	for _, label := range t.Labels {
		union = append(union, atom(quote(label)))
	}
	return union
}

// composite describes a composite type, any of whose fields can be NULL.
func (g *generator) composite(t *catalog.Type) *objectType {
	o := &objectType{expanded: true}
	for _, field := range t.Fields {
		o.add(key(field.Name), orNull(g.typeOf(field.Type)))
	}
	return o
}

// constants are the enumerations of a schema as values.
func (g *generator) constants(schema string) *objectType {
	enums := &objectType{expanded: true}
	for _, t := range g.types(schema) {
		if t.Kind == catalog.EnumType {
			var values arrayValue
			for _, label := range t.Labels {
				values = append(values, quote(label))
			}
			enums.add(valueKey(t.Name.Name), values)
		}
	}
	enums.expanded = len(enums.members) > 0
	o := &objectType{expanded: true}
	o.add("Enums", enums)
	return o
}
