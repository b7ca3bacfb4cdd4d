package plan

import (
	"slices"

	"basalt/query"
	"basalt/query/catalog"
)

// Guard is a condition on how many rows a write writes.
type Guard struct {
	One         bool // exactly one
	MaxAffected bool // no more than the request's max-affected
}

// guard plans the conditions that the statement itself can check, so that it takes its write back without being asked.
func (p *planner) guard(w *Write) {
	w.AtMostOne = p.atMostOne(w)
	w.ShowsEach = w.Returning == nil || showsEachRow(w.Returning)
	w.Guard = Guard{
		// What must be one object is what is shown; what a PUT puts is what is written.
		One:         p.request.One && w.ShowsEach || w.Action == query.Put,
		MaxAffected: p.request.Prefer.LimitsAffected(w.Action),
	}
}

// showsEachRow says that as many rows are shown as there are.
func showsEachRow(n *Node) bool {
	return !n.Aggregated() && !slices.ContainsFunc(n.Embeds, func(e *Embed) bool { return e.Inner })
}

// atMostOne says that a write has one row to insert, or changes the one that has a key's values. Keys do not extend to
// the rows of tables that inherit, and those that a view shows may come several times.
func (p *planner) atMostOne(w *Write) bool {
	switch w.Action {
	case query.Put:
		return true
	case query.Insert:
		return p.request.Payload != nil && p.request.Payload.Rows == 1
	}
	r := w.Relation
	if r.Kind != catalog.PartitionedTable && (r.Kind != catalog.Table || r.Parent) {
		return false
	}
	var columns []*catalog.Column
	for i := range w.Where {
		c := &w.Where[i]
		if c.Logic == query.Compare && !c.Negated && c.Embed == nil && c.Operator.Name == "eq" &&
			c.Quantifier == query.NoQuantifier && len(c.Field.Path) == 0 && c.Field.Column != nil {
			columns = append(columns, c.Field.Column)
		}
	}
	return r.Identifies(columns)
}
