package sql

import (
	"strconv"

	"basalt/query"
	"basalt/query/pgjson"
	"basalt/query/plan"
)

// CompileRead writes a read.
func CompileRead(p *plan.Read) *Statement {
	b := newBuilder()
	root := b.scope(p.Root)
	if p.Keyset != nil && p.Keyset.After != nil {
		b.begin(root, p)
	}
	hidden := b.top(p, root, false)
	s := b.statement()
	if s.Hidden = hidden; hidden != nil {
		s.Page = &Page{Order: p.Keyset.Order}
	}
	s.Layout = &pgjson.Layout{Columns: columns(p.Root)}
	s.Renamed = renamed(p)
	s.count(p)
	return s
}

// count adds what tells the total.
func (s *Statement) count(p *plan.Read) {
	switch p.Count {
	case query.CountExact:
		s.Count = compileCount(p, 0)
	case query.CountPlanned:
		s.Plan = compilePlan(p)
	case query.CountEstimated:
		s.Count = compileCount(p, p.MaxRows)
		if p.MaxRows > 0 {
			s.Plan = compilePlan(p)
		}
	}
}

// top writes the query of the top level, each value under a name of its own when named.
func (b *builder) top(p *plan.Read, root *scope, named bool) (hidden []Hidden) {
	if p.Ceiling > 0 {
		b.write("select *\nfrom (\n")
	}
	hidden = b.rows(root, named, p.Keyset != nil && p.Limit)
	if p.Ceiling > 0 {
		b.write("\nlimit ", strconv.FormatInt(p.Ceiling, 10), "\n) l")
	}
	b.topWindow(p)
	return hidden
}

func renamed(p *plan.Read) []Renamed {
	if len(p.Legacy) == 0 {
		return nil
	}
	list := make([]Renamed, len(p.Legacy))
	for i, e := range p.Legacy {
		list[i] = Renamed{Relation: e.Relation, Alias: e.Name}
	}
	return list
}

// topWindow writes limit and offset of the top level.
func (b *builder) topWindow(p *plan.Read) {
	if p.Limit {
		source := Limit
		if p.Keyset != nil {
			source = PageLimit
		}
		b.write("\nlimit ")
		b.parameter(Param{Source: source}, "")
	}
	if p.Offset {
		b.write("\noffset ")
		b.parameter(Param{Source: Offset}, "")
	}
}

// compileCount counts the rows that the read would give without limit and offset, no further than one beyond most
// when that is not 0.
func compileCount(p *plan.Read, most int64) *Statement {
	b := newBuilder()
	b.write("select pg_catalog.count(*)")
	if most == 0 && !p.Root.Aggregated() {
		b.matches(b.bareScope(p.Root), nil, nil)
		return b.statement()
	}
	b.write("\nfrom (\n")
	b.counted(p.Root)
	if most > 0 {
		b.write("\nlimit ", strconv.FormatInt(most+1, 10))
	}
	b.write("\n) c")
	return b.statement()
}

// compilePlan asks the planner how many rows it expects.
func compilePlan(p *plan.Read) *Statement {
	b := newBuilder()
	b.write("explain (format json)\n")
	b.counted(p.Root)
	return b.statement()
}

// counted writes a query of as many rows as the root has, with as little in them as may be.
func (b *builder) counted(root *plan.Node) {
	if root.Aggregated() {
		s := b.scope(root)
		b.write("select ")
		b.items(s, false, nil)
		b.body(s, nil, nil)
		return
	}
	b.write("select 1")
	b.matches(b.bareScope(root), nil, nil)
}

// rows writes the query of a root, without its limit, each value under a name of its own when named; placed: with where
// each row stands in the order before it.
func (b *builder) rows(s *scope, named, placed bool) (hidden []Hidden) {
	b.write("select")
	separator := " "
	if placed {
		for i := range s.node.Order {
			b.write(separator)
			separator = ", "
			b.orderBy(s, i)
			b.write("::text")
			hidden = append(hidden, Hidden{Kind: CursorColumn})
		}
	}
	if len(s.node.Items) > 0 {
		b.write(separator)
		b.items(s, named, b.shown())
	}
	b.body(s, nil, nil)
	b.order(s)
	return hidden
}

// body writes from, where and group by. parent and e are the scope that an embed belongs to, nil for a root.
func (b *builder) body(s *scope, parent *scope, e *plan.Embed) {
	b.matches(s, parent, e)
	if s.node.Aggregated() {
		b.groups(s)
	}
}

// matches writes from and where: the rows that are taken.
func (b *builder) matches(s *scope, parent *scope, e *plan.Embed) {
	b.write("\nfrom ")
	b.source(s, parent, e)
	for i, e := range s.node.Embeds {
		if s.joins[i] != "" {
			b.join(s, e, s.joins[i])
		}
	}
	b.where(s, parent, e)
}

// groups writes group by with all items that are no aggregates.
func (b *builder) groups(s *scope) {
	separator := "\ngroup by "
	for i := range s.node.Items {
		item := &s.node.Items[i]
		if item.Aggregate == "" {
			b.write(separator)
			b.item(s, item)
			separator = ", "
		}
	}
}

// order writes order by.
func (b *builder) order(s *scope) {
	separator := "\norder by "
	for i := range s.node.Order {
		term := &s.node.Order[i]
		b.write(separator)
		separator = ", "
		b.orderBy(s, i)
		if term.Descending {
			b.write(" desc")
		}
		switch term.Nulls {
		case query.NullsFirst:
			b.write(" nulls first")
		case query.NullsLast:
			b.write(" nulls last")
		}
	}
}

// orderBy writes the expression of a term of the order.
func (b *builder) orderBy(s *scope, i int) {
	term := &s.node.Order[i]
	switch {
	case term.Embed != nil:
		if item := s.grouped(term); item != nil {
			b.item(s, item)
		} else {
			b.write(s.join(term.Embed), ".", orderName(i))
		}
	case term.Item >= 0:
		b.item(s, &s.node.Items[term.Item])
	default:
		b.field(s, &term.Field)
	}
}

// grouped finds the item of a spread that groups are made by and a term orders by: of groups nothing else is known. It
// is nil when the rows are not grouped, or not by that.
func (s *scope) grouped(term *plan.OrderTerm) *plan.Item {
	if !s.node.Aggregated() {
		return nil
	}
	for i := range s.node.Items {
		item := &s.node.Items[i]
		if item.Kind != plan.SpreadItem || item.Embed != term.Embed || item.Aggregate != "" {
			continue
		}
		below := &item.Embed.Node.Items[item.Index]
		if term.Item == item.Index || term.Item < 0 && below.Kind == plan.FieldItem && below.Cast.Type == nil &&
			len(below.Field.Path) == 0 && len(term.Field.Path) == 0 &&
			below.Field.Column == term.Field.Column && below.Field.Computed == term.Field.Computed {
			return item
		}
	}
	return nil
}

// window writes limit and offset of an embed.
func (b *builder) window(n *plan.Node) {
	switch {
	case n.Limit != query.None:
		b.write("\nlimit ")
		b.parameter(Param{Source: Value, Index: int(n.Limit), Max: n.Max}, "")
	case n.Max > 0:
		b.write("\nlimit ", strconv.FormatInt(n.Max, 10))
	}
	if n.Offset != query.None {
		b.write("\noffset ")
		b.value(n.Offset)
	}
}
