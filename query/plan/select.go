package plan

import (
	"slices"
	"strings"

	"basalt/query"
	"basalt/query/catalog"
)

// tree plans what select asks for, from the source down.
func (p *planner) tree(source Source) (*Node, error) {
	q := p.request.Query
	root := &Node{Source: source, Limit: query.None, Offset: query.None}
	if !q.HasSelect {
		p.star(root)
		return root, nil
	}
	if err := p.items(root, q.Select); err != nil {
		return nil, err
	}
	return root, nil
}

// items plans the elements of one pair of parentheses.
func (p *planner) items(node *Node, items []query.Item) error {
	node.Items = make([]Item, 0, len(items))
	for i := range items {
		if err := p.item(node, &items[i]); err != nil {
			return err
		}
	}
	return node.countsAlone()
}

// countsAlone refuses count without parentheses beside what is no aggregate: only aggregates by their own syntax group.
func (n *Node) countsAlone() error {
	counts := slices.ContainsFunc(n.Items, func(item Item) bool { return item.Bare })
	for i := range n.Items {
		if item := &n.Items[i]; counts && item.Aggregate == "" {
			return &Error{
				Code: "42803",
				Message: `column "` + n.Source.Name + "." + item.Name +
					`" must appear in the GROUP BY clause or be used in an aggregate function`,
			}
		}
	}
	return nil
}

func (p *planner) item(node *Node, item *query.Item) error {
	switch item.Kind {
	case query.StarItem:
		p.star(node)
		return nil
	case query.EmbedItem, query.SpreadItem:
		return p.embed(node, item)
	}
	planned := Item{Kind: RowItem, Aggregate: item.Aggregate}
	if item.Kind == query.CountItem {
		planned.Aggregate = "count"
	} else {
		field, err := p.field(&node.Source, item.Field)
		switch {
		case err == nil:
			planned.Kind, planned.Field, planned.Type = FieldItem, field, field.Type
		case isBareCount(item):
			planned.Aggregate, planned.Bare = "count", true
		default:
			return err
		}
	}
	if planned.Aggregate != "" && !planned.Bare && !p.request.Aggregates {
		return aggregatesNotAllowed()
	}
	var err error
	if planned.Cast, err = p.cast(item.Cast); err != nil {
		return err
	}
	if planned.AggCast, err = p.cast(item.AggCast); err != nil {
		return err
	}
	if planned.Bare {
		planned.Cast, planned.AggCast = Cast{}, planned.Cast
	}
	planned.Name = itemName(item, planned.Aggregate)
	planned.Type = resultType(&planned)
	node.Items = append(node.Items, planned)
	return nil
}

// isBareCount says that an item which is no column counts rows: PostgreSQL takes t.count for count(t). It is older than
// count(), and allowed where aggregates are not.
func isBareCount(item *query.Item) bool {
	return item.Kind == query.ColumnItem && item.Field.Name == "count" && len(item.Field.Path) == 0 && item.Aggregate == ""
}

// star adds every column of the source.
func (p *planner) star(node *Node) {
	for _, c := range node.Source.Columns {
		node.Items = append(node.Items, Item{Name: c.Name, Field: Field{Column: c, Type: c.Type}, Type: c.Type})
	}
}

// cast finds the type of a cast.
func (p *planner) cast(name string) (Cast, error) {
	if name == "" {
		return Cast{}, nil
	}
	t, sql := p.catalog.FindType(name, p.catalog.SearchPath(p.request.Schema))
	if t == nil {
		return Cast{}, typeNotFound(name)
	}
	return Cast{t, sql}, nil
}

// itemName is the key that an item has in the answer. It outlives the request, so it must not hold on to its URL.
func itemName(item *query.Item, aggregate string) string {
	switch {
	case item.Alias != "":
		return strings.Clone(item.Alias)
	case aggregate != "":
		return aggregate
	}
	for i := len(item.Field.Path) - 1; i >= 0; i-- {
		if step := &item.Field.Path[i]; !step.Index {
			return strings.Clone(step.Key)
		}
	}
	return strings.Clone(clip(item.Field.Name))
}

// resultType is the type of the value that an item shows, nil when PostgreSQL's choice is not foreseen.
func resultType(item *Item) *catalog.Type {
	switch {
	case item.AggCast.Type != nil:
		return item.AggCast.Type
	case item.Aggregate == "count":
		return nil
	case item.Cast.Type != nil:
		return item.Cast.Type
	}
	return item.Type
}
