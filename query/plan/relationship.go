package plan

import (
	"basalt/query"
	"basalt/query/catalog"
)

// relationship chooses the one relationship that an item of select means.
func (p *planner) relationship(source *Source, item *query.Item) (*catalog.Relationship, error) {
	var found []*catalog.Relationship
	var all []*catalog.Relationship
	if source.Relation != nil {
		all = p.catalog.Relationships(source.Relation.Name)
	}
	for _, r := range all {
		if r.To.Name.Schema != p.request.Schema {
			continue
		}
		if r.Function != nil && r.Function.Name.Name == item.Relation {
			// A computed relationship takes the place of all detected ones of its name.
			return r, nil
		}
		if r.Function == nil && matches(r, item) {
			found = append(found, r)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, p.noRelationship(source, item, all)
	default:
		return nil, ambiguous(source.Name, item.Relation, found)
	}
}

// matches says whether a detected relationship is one that an item may mean.
func matches(r *catalog.Relationship, item *query.Item) bool {
	byTarget := item.Relation == r.To.Name.Name
	if len(item.Hints) == 0 {
		if byTarget {
			return !r.Self || r.Cardinality == catalog.OneToMany || r.Cardinality == catalog.OneToOne
		}
		if r.To.Kind == catalog.View || r.To.Kind == catalog.MaterializedView {
			return false
		}
		if r.Cardinality.ToOne() && isOnlyFrom(r.Columns, item.Relation) {
			return true
		}
		return !r.Self && r.Junction == nil && item.Relation == r.Constraint
	}
	if !byTarget {
		return false
	}
	for _, hint := range item.Hints {
		if !hinted(r, hint) {
			return false
		}
	}
	return true
}

// hinted says whether a hint fits a relationship: a constraint, a column at either end, or a junction.
func hinted(r *catalog.Relationship, hint string) bool {
	switch {
	case r.Junction != nil:
		j := r.Junction
		return hint == j.Table.Name.Name || hint == j.ConstraintTo || isOnlyFrom(j.ToColumns, hint) ||
			!r.Self && hint == j.ConstraintFrom
	case r.Self:
		// Both directions of a self reference share constraint and columns: a hint means the one to the children,
		// the other is reached by the name of its column.
		return r.Cardinality != catalog.ManyToOne && (isOnlyTo(r.Columns, hint) ||
			r.Cardinality == catalog.OneToMany && hint == r.Constraint)
	default:
		return hint == r.Constraint || isOnlyFrom(r.Columns, hint) || isOnlyTo(r.Columns, hint)
	}
}

func isOnlyFrom(pairs []catalog.ColumnPair, name string) bool {
	return len(pairs) == 1 && pairs[0].From.Name == name
}

func isOnlyTo(pairs []catalog.ColumnPair, name string) bool {
	return len(pairs) == 1 && pairs[0].To.Name == name
}
