package catalog

import (
	"cmp"
	"slices"
)

// Schemas gives the names of the exposed schemas, the default first.
func (c *Catalog) Schemas() []string { return c.options.Schemas }

// SchemaComment gives the comment of an exposed schema, "" when it has none.
func (c *Catalog) SchemaComment(name string) string {
	if s := c.schemas[name]; s != nil {
		return s.comment
	}
	return ""
}

// Relations gives the relations of an exposed schema by name.
func (c *Catalog) Relations(schema string) []*Relation {
	if s := c.schemas[schema]; s != nil {
		return s.relations
	}
	return nil
}

// RoutinesOf gives the routines of an exposed schema by name.
func (c *Catalog) RoutinesOf(schema string) []*Routine {
	if s := c.schemas[schema]; s != nil {
		return s.routines
	}
	return nil
}

// TypesOf gives the types that were made in a schema to be used by name, by name: enumerations, and composite types
// that are no rows of relations.
func (c *Catalog) TypesOf(schema string) []*Type {
	var list []*Type
	for _, t := range c.types {
		if t.Name.Schema == schema && (t.Kind == EnumType || t.IsComposite()) {
			list = append(list, t)
		}
	}
	slices.SortFunc(list, func(x, y *Type) int { return cmp.Compare(x.Name.Name, y.Name.Name) })
	return list
}

// FindRelationships gives the relationships that lead from a relation to what a request calls target, as far as the
// hints allow: one is the answer, several are ambiguous. Relations and functions outside of the request's schema do
// not count.
func (c *Catalog) FindRelationships(from Name, schema, target string, hints []string) []*Relationship {
	var found []*Relationship
	for _, r := range c.relationships[from] {
		if r.answers(schema, target, hints) {
			found = append(found, r)
		}
	}
	return found
}

// Related says whether some relationship leads from a relation into a schema.
func (c *Catalog) Related(from Name, schema string) bool {
	return slices.ContainsFunc(c.relationships[from], func(r *Relationship) bool { return r.To.Name.Schema == schema })
}

// answers says whether a request means this relationship.
//
// Without a hint the target is the other relation, the foreign key's constraint, or the one column of this relation that
// it joins by. With hints it is the other relation. A relation's references to itself have two directions with all names
// in common: there the relation's name means the many (rows that refer to this one) and the column's name the one.
func (r *Relationship) answers(schema, target string, hints []string) bool {
	if r.Function != nil {
		return r.Function.Name == Name{schema, target}
	}
	if r.To.Name.Schema != schema {
		return false
	}
	byName := r.To.Name.Name == target
	if len(hints) == 0 {
		byColumn := len(r.Columns) == 1 && r.Columns[0].From.Name == target
		if r.Self {
			return byName && r.Inverse || byColumn && !r.Inverse
		}
		return byName || byColumn || r.Junction == nil && r.Constraint == target
	}
	if !byName || r.Self && r.Junction == nil && !r.Inverse {
		return false
	}
	for _, hint := range hints {
		if !r.matches(hint) {
			return false
		}
	}
	return true
}

// matches says whether a hint fits: the junction, the constraint, or the one column of the foreign key on either
// side. Where both ends are one relation only the column of the referring side tells anything, and of a junction
// the constraint towards the target.
func (r *Relationship) matches(hint string) bool {
	if r.Junction != nil {
		return hint == r.Junction.Table.Name.Name || r.Self && hint == r.Junction.ConstraintTo
	}
	if r.Constraint == hint {
		return true
	}
	if len(r.Columns) != 1 {
		return false
	}
	return r.Columns[0].To.Name == hint || !r.Self && r.Columns[0].From.Name == hint
}

// SearchPath gives the schemas along which names are looked for in requests to a schema: that one, then the extra ones.
func (c *Catalog) SearchPath(schema string) []string {
	return append([]string{schema}, c.options.ExtraSearchPath...)
}
