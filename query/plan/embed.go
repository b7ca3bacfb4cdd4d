package plan

import (
	"strings"

	"basalt/query"
)

// embed plans a relation named in select and what its parentheses ask for.
func (p *planner) embed(node *Node, item *query.Item) error {
	relationship, err := p.relationship(&node.Source, item)
	if err != nil {
		return err
	}
	child := &Node{Source: RelationSource(relationship.To), Limit: query.None, Offset: query.None}
	if !relationship.Cardinality.ToOne() {
		child.Max = p.request.MaxRows
	}
	if err := p.items(child, item.Items); err != nil {
		return err
	}
	e := &Embed{
		Name:         strings.Clone(item.Relation),
		Relation:     strings.Clone(item.Relation),
		Relationship: relationship,
		Node:         child,
		Inner:        item.Join == query.InnerJoin,
		Spread:       item.Kind == query.SpreadItem,
		Hidden:       len(child.Items) == 0,
	}
	if item.Alias != "" {
		e.Name = strings.Clone(item.Alias)
	}
	node.Embeds = append(node.Embeds, e)
	switch {
	case e.Hidden:
	case e.Spread:
		return spread(node, e)
	default:
		node.Items = append(node.Items, Item{Kind: EmbedItem, Name: e.Name, Embed: e})
	}
	return nil
}

// spread shows the items of an embed as the parent's own. Aggregates below a spread to one move up with them,
// as there is one row at most to aggregate below.
func spread(node *Node, e *Embed) error {
	for i := range e.Node.Items {
		below := &e.Node.Items[i]
		switch {
		case below.Aggregate != "" && !e.ToOne():
			return notImplemented("Aggregates are not implemented for one-to-many or many-to-many spreads.")
		case below.Bare:
			return notImplemented("A count without parentheses is not implemented for spreads.")
		}
		item := Item{
			Kind:      SpreadItem,
			Name:      below.Name,
			Embed:     e,
			Index:     i,
			Aggregate: below.Aggregate,
			AggCast:   below.AggCast,
			Type:      below.Type,
			List:      below.List || !e.ToOne(),
		}
		if item.List {
			item.Type = nil
		}
		node.Items = append(node.Items, item)
		if below.Aggregate != "" {
			below.Aggregate, below.AggCast = "", Cast{}
			below.Type = resultType(&Item{Cast: below.Cast, Type: below.Field.Type})
		}
	}
	return nil
}
