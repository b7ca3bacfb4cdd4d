package query

import "slices"

// ordering reads [path.]order=…, of which the first of a level counts.
func (p *parser) ordering(key, value string) error {
	path, err := p.level(key, "order")
	if err != nil {
		return err
	}
	q := p.query
	at := len(q.Order)
	if at == maxLevels {
		return tooMany("orderings", maxLevels)
	}
	if at < cap(q.Order) { // take up the memory of an earlier query's terms
		q.Order = q.Order[:at+1]
		q.Order[at] = Order{Path: path, Terms: q.Order[at].Terms[:0]}
	} else {
		q.Order = append(q.Order, Order{Path: path})
	}
	again := slices.ContainsFunc(q.Order[:at], func(o Order) bool { return slices.Equal(o.Path, path) })
	s := scanner{what: "order", text: value}
	for {
		if p.terms++; p.terms > maxTerms {
			return tooMany("order terms", maxTerms)
		}
		term, err := p.orderTerm(&s)
		if err != nil {
			return err
		}
		q.Order[at].Terms = append(q.Order[at].Terms, term)
		if s.accept(',') {
			continue
		}
		if again {
			q.Order = q.Order[:at]
		}
		return nil
	}
}

func (p *parser) orderTerm(s *scanner) (t OrderTerm, err error) {
	name, err := s.name()
	if err != nil {
		return t, err
	}
	if s.accept('(') {
		t.Relation = name
		if t.Field, err = p.field(s); err != nil {
			return t, err
		}
		if !s.accept(')') {
			return t, s.fail(`")"`)
		}
	} else if t.Field, err = p.pathOf(s, name); err != nil {
		return t, err
	}
	expecting := `"asc", "desc", "nullsfirst" or "nullslast"`
	if s.acceptWord("asc") {
		expecting = `"nullsfirst" or "nullslast"`
	} else if s.acceptWord("desc") {
		t.Descending = true
		expecting = `"nullsfirst" or "nullslast"`
	}
	if s.acceptWord("nullsfirst") {
		t.Nulls = NullsFirst
	} else if s.acceptWord("nullslast") {
		t.Nulls = NullsLast
	}
	s.space()
	switch {
	case s.done(), s.peek() == ',':
		return t, nil
	case s.peek() == '.' && t.Nulls == NullsDefault:
		return t, s.failAt(s.pos+1, expecting)
	case t.Nulls != NullsDefault:
		return t, s.fail(`"," or end of input`)
	default:
		return t, s.fail(`letter, digit, "-", "->>", "->", delimiter (.), "," or end of input`)
	}
}

// acceptWord takes .word if the word ends there.
func (s *scanner) acceptWord(word string) bool {
	ahead := *s
	if !ahead.accept('.') || !ahead.acceptText(word) {
		return false
	}
	if c := ahead.peek(); !ahead.done() && c != '.' && c != ',' && !isSpace(c) {
		return false
	}
	s.pos = ahead.pos
	return true
}
