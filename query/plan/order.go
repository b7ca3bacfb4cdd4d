package plan

import "basalt/query"

// orders gives every node the ordering that the request asks for.
func (p *planner) orders(root *Node) error {
	for i := range p.request.Query.Order {
		order := &p.request.Query.Order[i]
		node, err := p.at(root, order.Path)
		if err != nil {
			return err
		}
		node.Order = make([]OrderTerm, 0, len(order.Terms))
		for j := range order.Terms {
			term, err := p.orderTerm(node, &order.Terms[j])
			if err != nil {
				return err
			}
			node.Order = append(node.Order, term)
		}
	}
	return nil
}

func (p *planner) orderTerm(node *Node, term *query.OrderTerm) (OrderTerm, error) {
	planned := OrderTerm{Item: -1, Descending: term.Descending, Nulls: term.Nulls}
	var err error
	if term.Relation != "" {
		if planned.Embed = node.embed(term.Relation); planned.Embed == nil {
			return OrderTerm{}, notEmbedded(term.Relation)
		}
		if !planned.Embed.ToOne() {
			return OrderTerm{}, relatedOrderToMany(node.Source.Name, term.Relation)
		}
		node = planned.Embed.Node
	}
	planned.Field, err = p.field(&node.Source, term.Field)
	if err != nil && len(term.Field.Path) == 0 {
		// No column of that name: an item may have it as its alias.
		if planned.Item = node.aliased(term.Field.Name); planned.Item >= 0 {
			return planned, nil
		}
	}
	return planned, err
}

// aliased finds the value shown under a name, -1 when there is none.
func (n *Node) aliased(name string) int {
	for i := range n.Items {
		if item := &n.Items[i]; item.Name == name && item.Kind != EmbedItem {
			return i
		}
	}
	return -1
}

// ranges gives embeds their limits. The top level's own are in the request.
func (p *planner) ranges(root *Node) error {
	for i := range p.request.Query.Ranges {
		r := &p.request.Query.Ranges[i]
		if len(r.Path) == 0 {
			continue
		}
		node, err := p.at(root, r.Path)
		if err != nil {
			return err
		}
		if r.Limit >= 0 {
			node.Limit = r.LimitRef
		}
		if r.Offset >= 0 {
			node.Offset = r.OffsetRef
		}
	}
	return nil
}
