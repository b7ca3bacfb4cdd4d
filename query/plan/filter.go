package plan

import "basalt/query"

// condition adds a root condition to the node that its path leads to.
func (p *planner) condition(root *Node, c *query.Condition) error {
	node, err := p.at(root, c.Path)
	if err != nil {
		return err
	}
	predicate, err := p.predicate(node, c)
	if err != nil {
		return err
	}
	node.Where = append(node.Where, predicate)
	return nil
}

// predicate resolves a condition and all below it.
func (p *planner) predicate(node *Node, c *query.Condition) (Predicate, error) {
	if c.Logic != query.Compare {
		return p.logic(node, c)
	}
	planned := Predicate{
		Negated:    c.Negated,
		Operator:   c.Operator,
		Quantifier: c.Quantifier,
		Config:     c.Config,
		Is:         c.Is,
		Value:      c.Value,
	}
	embed, err := p.presence(node, c)
	if err != nil {
		return Predicate{}, err
	}
	if embed != nil {
		planned.Embed = embed
		return planned, nil
	}
	planned.Field, err = p.field(&node.Source, c.Field)
	return planned, err
}

func (p *planner) logic(node *Node, c *query.Condition) (Predicate, error) {
	planned := Predicate{Logic: c.Logic, Negated: c.Negated, Children: make([]Predicate, len(c.Children))}
	for i := range c.Children {
		child, err := p.predicate(node, &c.Children[i])
		if err != nil {
			return Predicate{}, err
		}
		planned.Children[i] = child
	}
	return planned, nil
}

// presence finds the embed that a condition is about: is.null and its negation on the name of an embed ask
// whether there are rows. Any other operator can only mean a column of that name.
func (p *planner) presence(node *Node, c *query.Condition) (*Embed, error) {
	if len(c.Field.Path) > 0 {
		return nil, nil
	}
	embed := node.embed(c.Field.Name)
	if embed == nil {
		return nil, nil
	}
	if c.Operator.Kind == query.Is && (c.Is == query.IsNull || c.Is == query.IsNotNull) {
		return embed, nil
	}
	if node.Source.column(c.Field.Name) != nil || p.computed(&node.Source, c.Field.Name) != nil {
		return nil, nil
	}
	return nil, badEmbedOperator(c.Field.Name)
}
