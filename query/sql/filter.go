package sql

import (
	"basalt/query"
	"basalt/query/plan"
)

// where writes where: the tie to the parent, the embeds that rows must have, and the filters.
func (b *builder) where(s *scope, parent *scope, e *plan.Embed) {
	if s.filtered {
		return
	}
	const first, next = "\nwhere ", "\n  and "
	separator := first
	if e != nil && e.Relationship.Function == nil {
		b.write(separator)
		separator = next
		b.link(s, parent, e)
	}
	for i, e := range s.node.Embeds {
		// A join to one leaves out rows without a match by itself.
		if e.Inner && (s.joins[i] == "" || !e.ToOne()) {
			b.write(separator)
			separator = next
			b.exists(s, e)
		}
	}
	for i := range s.node.Where {
		b.write(separator)
		separator = next
		b.predicate(s, &s.node.Where[i])
	}
	if s.keyset != nil {
		b.write(separator)
		b.behind(s, s.keyset)
	}
	if (s.guard != plan.Guard{}) {
		b.write(separator)
		b.guard(s.guard)
	}
}

// predicate writes a condition and all below it.
func (b *builder) predicate(s *scope, p *plan.Predicate) {
	start := len(b.text)
	switch {
	case p.Logic == query.Compare && p.Embed != nil:
		b.presence(s, p)
		return
	case p.Logic == query.Compare:
		b.comparison(s, p)
	default:
		b.tree(s, p)
	}
	switch {
	case p.Negated && p.Logic == query.Compare:
		b.enclose(start, "not (", ")")
	case p.Negated:
		b.enclose(start, "not ", "")
	}
}

func (b *builder) tree(s *scope, p *plan.Predicate) {
	separator := " and "
	if p.Logic == query.Or {
		separator = " or "
	}
	b.write("(")
	for i := range p.Children {
		if i > 0 {
			b.write(separator)
		}
		b.predicate(s, &p.Children[i])
	}
	b.write(")")
}

// presence writes whether an embed has rows: it "is null" when it has none.
func (b *builder) presence(s *scope, p *plan.Predicate) {
	if (p.Is == query.IsNull) != p.Negated {
		b.write("not ")
	}
	b.exists(s, p.Embed)
}

// comparison writes a single condition.
func (b *builder) comparison(s *scope, p *plan.Predicate) {
	switch p.Operator.Kind {
	case query.TextSearch:
		b.textSearch(s, p)
		return
	case query.Is:
		b.field(s, &p.Field)
		b.write(isText(p.Is))
		return
	}
	b.field(s, &p.Field)
	b.write(" ", ownOperator(p.Operator, p.Field.Type), " ")
	switch {
	case p.Operator.Kind == query.InList:
		b.list(p, "(")
	case p.Quantifier == query.Any:
		b.list(p, "any(")
	case p.Quantifier == query.All:
		b.list(p, "all(")
	default:
		b.literal(p)
	}
}

func isText(kind query.IsKind) string {
	switch kind {
	case query.IsNull:
		return " is null"
	case query.IsNotNull:
		return " is not null"
	case query.IsTrue:
		return " is true"
	case query.IsFalse:
		return " is false"
	default:
		return " is unknown"
	}
}

// literal writes the right side of an operator.
func (b *builder) literal(p *plan.Predicate) {
	param := Param{Source: Value, Index: int(p.Value), Like: p.Operator.Kind == query.Pattern}
	if reader := textReader(p); reader != "" {
		b.write(reader, "(")
		b.parameter(param, "::text")
		b.write(")")
		return
	}
	b.parameter(param, "")
}

// list writes an array of right sides behind the word that begins with an open parenthesis.
func (b *builder) list(p *plan.Predicate, open string) {
	param := Param{Source: Value, Index: int(p.Value), Like: p.Operator.Kind == query.Pattern, List: true}
	b.write(open)
	if reader := textReader(p); reader != "" {
		b.write("array(select ", reader, "(v) from pg_catalog.unnest(")
		b.parameter(param, "::text[]")
		b.write(") v)")
	} else {
		b.parameter(param, "")
	}
	b.write(")")
}

// textReader is the function of a domain's cast from text, "" for other fields. Patterns are text in any case.
func textReader(p *plan.Predicate) string {
	if t := p.Field.Type; t != nil && t.FromText.Name != "" && p.Operator.Kind != query.Pattern {
		return string(appendName(nil, t.FromText))
	}
	return ""
}

const tsvectorOID = 3614

// textSearch writes document @@ query. Whatever is no document yet becomes one.
func (b *builder) textSearch(s *scope, p *plan.Predicate) {
	start := len(b.text)
	b.field(s, &p.Field)
	if t := p.Field.Type; t == nil || t.Underlying().OID != tsvectorOID {
		document := string(b.text[start:])
		b.text = b.text[:start]
		b.write("pg_catalog.to_tsvector(")
		b.configuration(p)
		b.write(document, ")")
	}
	b.write(" @@ pg_catalog.", p.Operator.SQL, "(")
	b.configuration(p)
	b.value(p.Value)
	b.write(")")
}

func (b *builder) configuration(p *plan.Predicate) {
	if p.Config != "" {
		b.constant(p.Config, "::regconfig")
		b.write(", ")
	}
}
