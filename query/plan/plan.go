// Package plan resolves what a request names against the catalog.
package plan

import (
	"basalt/query"
	"basalt/query/catalog"
)

// Read is a read with every name resolved: all that is left is to write it as SQL.
type Read struct {
	Root *Node
	// Limit and Offset say that the top level has these clauses. Their numbers are bound, their presence is part
	// of the shape.
	Limit, Offset bool
	// Empty says that the limit is 0.
	Empty bool
	// Ceiling is a constant that Limit does not exceed, 0 for none: see query.Request.
	Ceiling int64
	Count   query.CountPreference
	// MaxRows is where an estimated count stops counting, 0 for never.
	MaxRows int64
	// Legacy are the embeds that the request addressed by their relation's name although they have an alias.
	Legacy []*Embed
	// Keyset is set when the client asked for pages by the values of the order.
	Keyset *Keyset
}

// Node is one level of a read: a source of rows, what is shown of each, which rows are taken and in which order.
type Node struct {
	Source Source
	Items  []Item
	Embeds []*Embed // in order of select, also those that nothing is shown of
	Where  []Predicate
	Order  []OrderTerm
	// Limit and Offset are of embeds; query.None leaves the clause out.
	Limit, Offset query.Ref
	// Max caps Limit, or stands in for it; 0 is no cap.
	Max int64

	conditionCount int // see conditions; 0 before it is known
}

// Aggregated says that some item is an aggregate, so that the others make the groups.
func (n *Node) Aggregated() bool {
	for i := range n.Items {
		if n.Items[i].Aggregate != "" {
			return true
		}
	}
	return false
}

// AlwaysOneRow says that all items are aggregates, which give a row even when there is nothing to aggregate.
func (n *Node) AlwaysOneRow() bool {
	for i := range n.Items {
		if n.Items[i].Aggregate == "" {
			return false
		}
	}
	return len(n.Items) > 0
}

// Source is what a node reads from.
type Source struct {
	Name string // as messages call it
	// Relation is where relationships and computed columns start; nil for rows that belong to no relation.
	Relation *catalog.Relation
	Columns  []*catalog.Column // what * means
}

// RelationSource is the source that reads a relation.
func RelationSource(r *catalog.Relation) Source {
	return Source{Name: r.Name.Name, Relation: r, Columns: r.Columns}
}

func (s *Source) column(name string) *catalog.Column {
	if s.Relation != nil {
		return s.Relation.Column(name)
	}
	for _, c := range s.Columns {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// Item is one member of the object that a row becomes.
type Item struct {
	Kind  ItemKind
	Name  string
	Field Field
	Cast  Cast // before the aggregate
	// Embed is the embed of an EmbedItem and the spread that a SpreadItem comes from.
	Embed *Embed
	// Index is which item of the spread's node a SpreadItem is.
	Index     int
	Aggregate string // "" for none
	// Bare says that the aggregate is a count without its parentheses.
	Bare    bool
	AggCast Cast // after the aggregate
	// Type is that of the value shown, nil for counts, embeds and lists.
	Type *catalog.Type
	// List says that the item came through a spread to many, which makes it an array.
	List bool
}

// Cast is the type that a value is cast to; the zero Cast is none.
type Cast struct {
	Type *catalog.Type
	SQL  string // how the type is spelled, with its modifiers
}

// ItemKind tells what an Item shows.
type ItemKind byte

// The kinds of item.
const (
	FieldItem  ItemKind = iota
	RowItem             // the row itself, for count() to count
	EmbedItem           // an object, or an array of objects
	SpreadItem          // one item of a spread, a list of its values when the spread is to many
)

// Field is an expression over a row: a column, a computed column, or a place inside the JSON that one holds.
type Field struct {
	Column   *catalog.Column
	Computed *catalog.Routine
	Path     []query.Step
	// ToJSON says that the path leads into a value that is no JSON yet.
	ToJSON bool
	// Type is that of the whole expression.
	Type *catalog.Type
}

// Embed is another relation's rows shown within a row.
type Embed struct {
	Name         string // the key, and how the request addresses it
	Relation     string // what select called it before the alias
	Relationship *catalog.Relationship
	Node         *Node
	Inner        bool // rows without a match are left out
	Spread       bool
	// Hidden says that nothing is shown of it: it serves for filters and orderings only.
	Hidden bool
}

// ToOne says whether the embed is an object rather than an array.
func (e *Embed) ToOne() bool { return e.Relationship.Cardinality.ToOne() }

// Predicate is a condition on a row, or a tree of them.
type Predicate struct {
	Logic    query.Logic
	Negated  bool
	Children []Predicate
	// Embed is set when the condition is on the presence of rows of an embed; Is tells which.
	Embed      *Embed
	Field      Field
	Operator   *query.Operator
	Quantifier query.Quantifier
	Config     string
	Is         query.IsKind
	Value      query.Ref
}

// OrderTerm is one term of an ordering.
type OrderTerm struct {
	Embed *Embed // the to-one embed whose column it is, nil for the node's own
	Field Field
	// Item is the aliased item that it orders by instead, an index of the items of Embed's node or else of the node's
	// own, -1 for none.
	Item       int
	Descending bool
	Nulls      query.NullsOrder
}

// planner holds what all levels of one request share.
type planner struct {
	catalog *catalog.Catalog
	request *query.Request
	legacy  []*Embed
}

// NewRead plans a read of a relation. Its errors are of type *Error.
func NewRead(c *catalog.Catalog, r *query.Request) (*Read, error) {
	p := &planner{catalog: c, request: r}
	relation, err := p.relation()
	if err != nil {
		return nil, err
	}
	root, err := p.tree(RelationSource(relation))
	if err != nil {
		return nil, err
	}
	if err := p.narrow(root); err != nil {
		return nil, err
	}
	read := p.read(root)
	if r.Prefer.Page == query.PageKeyset {
		read.Keyset, err = p.keyset(root)
	}
	return read, err
}

// narrow adds which rows are taken, and in which order, to every node of a tree.
func (p *planner) narrow(root *Node) error {
	for i := range p.request.Query.Where {
		if err := p.condition(root, &p.request.Query.Where[i]); err != nil {
			return err
		}
	}
	if err := root.bearable(); err != nil {
		return err
	}
	if err := p.orders(root); err != nil {
		return err
	}
	return p.ranges(root)
}

// read wraps a finished tree.
func (p *planner) read(root *Node) *Read {
	return &Read{
		Root:    root,
		Limit:   p.request.Limit >= 0,
		Offset:  p.request.Offset > 0,
		Empty:   p.request.Limit == 0,
		Ceiling: p.request.Ceiling(),
		Count:   p.request.Prefer.Count,
		MaxRows: p.request.MaxRows,
		Legacy:  p.legacy,
	}
}

// relation finds the request's target.
func (p *planner) relation() (*catalog.Relation, error) {
	name := catalog.Name{Schema: p.request.Schema, Name: p.request.Target}
	if relation := p.catalog.Relation(name); relation != nil {
		return relation, nil
	}
	return nil, p.tableNotFound(name)
}

// FindRelation finds a relation as the target of a request; its error is of type *Error.
func FindRelation(c *catalog.Catalog, name catalog.Name) (*catalog.Relation, error) {
	p := planner{catalog: c, request: &query.Request{Schema: name.Schema, Target: name.Name}}
	return p.relation()
}

// at finds the node that a path of embed names leads to.
func (p *planner) at(root *Node, path []string) (*Node, error) {
	node := root
	for _, name := range path {
		embed, err := p.embedNamed(node, name)
		if err != nil {
			return nil, err
		}
		node = embed.Node
	}
	return node, nil
}

// embedNamed finds an embed as the request addresses it: by its key, or by its relation's name where that is
// still allowed.
func (p *planner) embedNamed(node *Node, name string) (*Embed, error) {
	if e := node.embed(name); e != nil {
		return e, nil
	}
	for _, e := range node.Embeds {
		if e.Relation != name {
			continue
		}
		if !p.request.LegacyTargetNames {
			return nil, addressedByRelation(name, e.Name)
		}
		p.noteLegacy(e)
		return e, nil
	}
	return nil, notEmbedded(name)
}

func (p *planner) noteLegacy(e *Embed) {
	for _, known := range p.legacy {
		if known == e {
			return
		}
	}
	p.legacy = append(p.legacy, e)
}

// embed finds an embed by its key.
func (n *Node) embed(name string) *Embed {
	for _, e := range n.Embeds {
		if e.Name == name {
			return e
		}
	}
	return nil
}
