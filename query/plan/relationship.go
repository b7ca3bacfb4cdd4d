package plan

import (
	"basalt/query"
	"basalt/query/catalog"
)

// relationship chooses the one relationship that an item of select means.
func (p *planner) relationship(source *Source, item *query.Item) (*catalog.Relationship, error) {
	if source.Relation == nil {
		return nil, p.noRelationship(source, item)
	}
	found := p.catalog.FindRelationships(source.Relation.Name, p.request.Schema, item.Relation, item.Hints)
	for _, r := range found {
		// A computed relationship takes the place of all detected ones of its name.
		if r.Function != nil {
			return r, nil
		}
	}
	found = withoutViews(found, item)
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, p.noRelationship(source, item)
	default:
		return nil, ambiguous(source.Name, item.Relation, found)
	}
}

// withoutViews leaves out what a column or constraint in place of the target's name cannot mean: the views of the
// table that the foreign key refers to are reached by their own names only. What refers to itself is no other's view.
func withoutViews(found []*catalog.Relationship, item *query.Item) []*catalog.Relationship {
	kept := make([]*catalog.Relationship, 0, len(found))
	for _, r := range found {
		if !r.To.IsView() || r.Self || r.To.Name.Name == item.Relation {
			kept = append(kept, r)
		}
	}
	return kept
}
