package sql

import (
	"slices"

	"basalt/query/catalog"
	"basalt/query/plan"
)

// maxRanges bounds the ranges that rows behind a cursor are looked for in: each names all terms before its own.
const maxRanges = 8

// begin makes a root's rows begin behind a cursor.
//
// One comparison of rows does it, in one scan of an index, when all terms go the same way. Otherwise the rows are those
// of several ranges of the order, each of which an index can find and give in order, as many as the page takes: behind
// the last value among the rows equal in all others, behind the one before among those equal in the rest, and so on.
// Where terms are not of the relation's own rows, or many, they are conditions on the joined rows.
func (b *builder) begin(root *scope, p *plan.Read) {
	if p.Limit && !comparable(root.node, p.Keyset) && separable(root.node, p.Keyset) {
		root.from = b.cut(func() { b.ranges(p) })
		root.filtered = true
		return
	}
	root.keyset = p.Keyset
}

// comparable says that one comparison of rows finds what is behind the cursor: all terms go the same way, and nulls,
// for which it never holds, stand before the cursor's values or nowhere.
func comparable(n *plan.Node, k *plan.Keyset) bool {
	for i := range n.Order {
		term := &n.Order[i]
		if k.After[i] || term.Descending != n.Order[0].Descending || !term.NotNull() && !term.NullsFirst() {
			return false
		}
	}
	return true
}

// separable says that all terms are made of the relation's row alone, and that there are ranges, but not too many.
func separable(n *plan.Node, k *plan.Keyset) bool {
	ranges := 0
	for i := range n.Order {
		term := &n.Order[i]
		if term.Embed != nil || term.Item >= 0 && n.Items[term.Item].Kind != plan.FieldItem {
			return false
		}
		ranges += len(stepsBehind(term, k.After[i]))
	}
	return 0 < ranges && ranges <= maxRanges && k.Repeatable
}

// ranges writes the rows behind a cursor as the union of ranges of the order, the nearest first. Filters stand in each,
// because a page's worth of rows is taken of each.
func (b *builder) ranges(p *plan.Read) {
	n, k := p.Root, p.Keyset
	columns := readColumns(n)
	separator := "(\n"
	for last := len(n.Order) - 1; last >= 0; last-- {
		for _, step := range stepsBehind(&n.Order[last], k.After[last]) {
			s := b.bareScope(n)
			b.write(separator, "(select")
			separator = "\nunion all\n"
			for i, column := range columns {
				if i > 0 {
					b.write(",")
				}
				b.write(" ")
				b.column(s.alias, column)
			}
			b.write("\nfrom ")
			b.name(n.Source.Relation.Name)
			b.write(" ", s.alias)
			b.where(s, nil, nil)
			b.write(conjunction(s))
			for i := range last {
				b.level(s, k, i)
				b.write("\n  and ")
			}
			b.further(s, last, step)
			b.order(s)
			b.topWindow(p)
			b.write(")")
		}
	}
	b.write("\n)")
}

// conjunction is what comes before another condition on a scope's rows.
func conjunction(s *scope) string {
	if len(s.node.Where) > 0 || slices.ContainsFunc(s.node.Embeds, func(e *plan.Embed) bool { return e.Inner }) {
		return "\n  and "
	}
	return "\nwhere "
}

// behind writes that a row stands behind the cursor.
func (b *builder) behind(s *scope, k *plan.Keyset) {
	if comparable(s.node, k) {
		b.furtherRow(s)
		return
	}
	last := len(s.node.Order) - 1
	for i := range s.node.Order {
		b.write("(")
		for _, step := range stepsBehind(&s.node.Order[i], k.After[i]) {
			b.further(s, i, step)
			b.write(" or ")
		}
		if i == last {
			b.write("false")
			break
		}
		b.level(s, k, i)
		b.write(" and ")
	}
	for range s.node.Order {
		b.write(")")
	}
}

// furtherRow compares all terms at once.
func (b *builder) furtherRow(s *scope) {
	types := make([]*catalog.Type, len(s.node.Order))
	b.write("(")
	for i := range s.node.Order {
		if i > 0 {
			b.write(", ")
		}
		b.orderBy(s, i)
		types[i] = termType(s.node, i)
	}
	b.write(") ", own(direction(&s.node.Order[0]), false, types...), " (")
	for i := range s.node.Order {
		if i > 0 {
			b.write(", ")
		}
		b.cursor(s.node, i)
	}
	b.write(")")
}

// step is a way to stand behind the cursor in one term.
type step byte

const (
	furtherStep step = iota // a value beyond the cursor's
	nullStep                // null, which comes after all values
	valueStep               // a value, which comes after all nulls
)

// stepsBehind are the ways to stand behind a value of the cursor, which may be null.
func stepsBehind(term *plan.OrderTerm, null bool) []step {
	switch {
	case null && term.NullsFirst():
		return []step{valueStep}
	case null:
		return nil
	case term.NotNull() || term.NullsFirst():
		return []step{furtherStep}
	default:
		return []step{furtherStep, nullStep}
	}
}

// isNull asks whether a value is null. "is null" would ask that of the fields of a composite.
const isNull = " is not distinct from null"

// further writes that a row stands behind the cursor in a term.
func (b *builder) further(s *scope, i int, how step) {
	b.orderBy(s, i)
	switch how {
	case nullStep:
		b.write(isNull)
	case valueStep:
		b.write(" is distinct from null")
	default:
		b.write(" ", own(direction(&s.node.Order[i]), false, termType(s.node, i)), " ")
		b.cursor(s.node, i)
	}
}

// level writes that a row has the cursor's own value in a term.
func (b *builder) level(s *scope, k *plan.Keyset, i int) {
	b.orderBy(s, i)
	if k.After[i] {
		b.write(isNull)
		return
	}
	b.write(" ", own("=", false, termType(s.node, i)), " ")
	b.cursor(s.node, i)
}

// direction is the operator between a row and the cursor.
func direction(term *plan.OrderTerm) string {
	if term.Descending {
		return "<"
	}
	return ">"
}

// cursor writes the cursor's value of a term.
func (b *builder) cursor(n *plan.Node, i int) {
	cast := ""
	if t := termType(n, i); t != nil {
		cast = "::" + t.Underlying().SQL
	}
	b.parameter(Param{Source: Cursor, Index: i}, cast)
}

// termType is the type of a term of the order, nil when it is not foreseen.
func termType(n *plan.Node, i int) *catalog.Type {
	term := &n.Order[i]
	switch {
	case term.Item < 0:
		return term.Field.Type
	case term.Embed != nil:
		return term.Embed.Node.Items[term.Item].Type
	default:
		return n.Items[term.Item].Type
	}
}

// readColumns are the columns that a node's rows are read for: the caller may have no right to read others.
func readColumns(n *plan.Node) []*catalog.Column {
	needed, whole := neededColumns(n)
	var visit func(predicates []plan.Predicate)
	visit = func(predicates []plan.Predicate) {
		for i := range predicates {
			predicate := &predicates[i]
			visit(predicate.Children)
			whole = whole || predicate.Field.Computed != nil
			if column := predicate.Field.Column; column != nil && !slices.Contains(needed, column) {
				needed = append(needed, column)
			}
		}
	}
	visit(n.Where)
	if whole {
		return n.Source.Columns
	}
	return needed
}
