package plan

import (
	"hash/fnv"
	"slices"

	"basalt/query"
	"basalt/query/catalog"
)

// Keyset cuts a read into pages by the values of its order, which tell each row from every other.
type Keyset struct {
	// Order tells the order from others, so that a cursor is not taken for another's.
	Order uint64
	// After is nil for the first page; else the page begins behind a cursor, and After says which of its values are null.
	After []bool
	// Repeatable says that the conditions are few enough to stand in several parts of one statement.
	Repeatable bool
}

// mostRepeated is the weight of conditions that may be repeated.
const mostRepeated = maxWeight / 10

// keyset makes the order of the root one that tells rows apart, and checks that the cursor belongs to it.
func (p *planner) keyset(root *Node) (*Keyset, error) {
	if p.request.Offset > 0 {
		return nil, keysetError("An offset cannot be combined with Prefer: page=keyset",
			"Follow the Link headers from the first page on.")
	}
	if root.Aggregated() {
		return nil, keysetError("Aggregates cannot be combined with Prefer: page=keyset", "")
	}
	if !completeOrder(root) {
		return nil, keysetError("The order of '"+root.Source.Name+"' does not tell its rows apart, as Prefer: page=keyset needs it",
			"Let the order end in the columns of a primary key or of a unique constraint that are not null.")
	}
	k := &Keyset{Order: fingerprint(root), Repeatable: root.weight() <= mostRepeated}
	cursor := p.request.Cursor
	if cursor == nil {
		return k, nil
	}
	other := cursor.Order != k.Order || len(cursor.Values) != len(root.Order)
	k.After = make([]bool, len(cursor.Values))
	for i := range cursor.Values {
		k.After[i] = cursor.Values[i].Null
		other = other || i < len(root.Order) && k.After[i] && root.Order[i].NotNull()
	}
	if other {
		return nil, keysetError("The cursor in the parameter after belongs to another order",
			"Keep the other parameters as they stand in the Link header of the page before.")
	}
	return k, nil
}

// completeOrder cuts the order behind the first terms that tell rows apart. Where there are none it adds the primary
// key, in the direction of the last term, so that one index can serve them all. It returns false when there is no key.
func completeOrder(root *Node) bool {
	relation := root.Source.Relation
	var columns []*catalog.Column
	for i := range root.Order {
		if term := &root.Order[i]; term.Embed == nil && term.Item < 0 && len(term.Field.Path) == 0 && term.Field.Column != nil {
			columns = append(columns, term.Field.Column)
		}
		if relation.Identifies(columns) {
			root.Order = root.Order[:i+1]
			break
		}
	}
	if !relation.Identifies(columns) {
		descending := len(root.Order) > 0 && root.Order[len(root.Order)-1].Descending
		for _, column := range relation.PrimaryKey {
			if !slices.Contains(columns, column) {
				root.Order = append(root.Order, OrderTerm{
					Field: Field{Column: column, Type: column.Type}, Item: -1, Descending: descending,
				})
			}
		}
	}
	for i := range root.Order {
		if root.Order[i].NotNull() {
			root.Order[i].Nulls = query.NullsDefault // an index is not asked for a place of nulls that are not there
		}
	}
	return len(relation.PrimaryKey) > 0 || relation.Identifies(columns)
}

// NotNull says that no row has null in a term.
func (t *OrderTerm) NotNull() bool {
	return t.Embed == nil && t.Item < 0 && len(t.Field.Path) == 0 && t.Field.Column != nil && t.Field.Column.NotNull
}

// NullsFirst says that rows with null come before the others.
func (t *OrderTerm) NullsFirst() bool {
	return t.Nulls == query.NullsFirst || t.Nulls == query.NullsDefault && t.Descending
}

// fingerprint is a number for the relation and the order of a node.
func fingerprint(root *Node) uint64 {
	hash := fnv.New64a()
	write := func(texts ...string) {
		for _, text := range texts {
			hash.Write([]byte(text))
			hash.Write([]byte{0}) // which no name holds
		}
	}
	write(root.Source.Relation.Name.Schema, root.Source.Relation.Name.Name)
	for i := range root.Order {
		term := &root.Order[i]
		node := root
		if term.Embed != nil {
			write("embed", term.Embed.Name)
			node = term.Embed.Node
		}
		switch {
		case term.Item >= 0:
			write("item", node.Items[term.Item].Name)
		case term.Field.Column != nil:
			write("column", term.Field.Column.Name)
		default:
			write("routine", term.Field.Computed.Name.String())
		}
		for _, step := range term.Field.Path {
			write("step", step.Key)
			if step.AsText {
				write("as text")
			}
		}
		if term.Descending {
			write("desc")
		}
		if term.NullsFirst() {
			write("nulls first")
		}
	}
	return hash.Sum64()
}

func keysetError(message, hint string) error {
	return &Error{Code: query.CodeSyntax, Message: message, Hint: hint}
}
