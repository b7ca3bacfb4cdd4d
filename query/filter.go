package query

import "strings"

const expectOperator = "operator (eq, gt, ...)"

// filter reads key=value where key is a column, maybe of an embed; in a call it may be an argument instead.
func (p *parser) filter(key, value string) error {
	if p.options.Call && p.isArgument(key, value) {
		return p.argument(key, value)
	}
	k := scanner{what: "tree path", text: key}
	c := Condition{Value: None}
	var err error
	if c.Path, c.Field, err = p.treePath(&k); err != nil {
		return err
	}
	if p.options.Call && len(c.Path) == 0 && len(c.Field.Path) == 0 &&
		(p.isArgument(c.Field.Name, value) || !IsPredicate(value)) {
		return p.argument(c.Field.Name, value)
	}
	s := scanner{what: "filter", text: value}
	if err := p.predicate(&s, &c, false); err != nil {
		return err
	}
	p.query.Where = append(p.query.Where, c)
	return nil
}

func (p *parser) isArgument(name, value string) bool {
	return p.options.IsArgument != nil && p.options.IsArgument(name, value)
}

// IsPredicate says whether a value begins like a filter.
func IsPredicate(value string) bool {
	if strings.HasPrefix(value, "not.") {
		return true
	}
	end := strings.IndexAny(value, ".(")
	return end > 0 && FindOperator(value[:end]) != nil
}

// treePath reads a.b.column->json: the embeds and the column.
func (p *parser) treePath(s *scanner) ([]string, Field, error) {
	var path []string
	for {
		name, err := s.name()
		if err != nil {
			return nil, Field{}, err
		}
		if s.accept('.') {
			if path = append(path, name); len(path) > maxDepth {
				return nil, Field{}, tooMany("levels of embedding", maxDepth)
			}
			continue
		}
		f, err := p.pathOf(s, name)
		if err == nil && !s.done() {
			err = s.fail(`letter, digit, "-", "->>", "->", delimiter (.) or end of input`)
		}
		return path, f, err
	}
}

// predicate reads [not.]operator.value into c. Within and/or (nested) a value ends at a comma or parenthesis.
func (p *parser) predicate(s *scanner, c *Condition, nested bool) error {
	if p.conditions++; p.conditions > maxConditions {
		return tooMany("filters", maxConditions)
	}
	expecting := `"not" or ` + expectOperator
	if s.acceptText("not.") {
		c.Negated, expecting = true, expectOperator
	}
	start := s.pos
	for s.peek() >= 'a' && s.peek() <= 'z' {
		s.pos++
	}
	op := FindOperator(s.text[start:s.pos])
	if op == nil {
		return s.failAt(start, expecting)
	}
	c.Operator = op
	if err := s.modifier(c); err != nil {
		return err
	}
	if err := s.delimiter(); err != nil {
		return err
	}
	switch {
	case op.Kind == Is:
		return s.isKind(c, nested)
	case op.Kind == InList:
		list, err := s.list()
		if err != nil {
			return err
		}
		c.Value = p.value(list)
		return s.valueEnd(nested)
	case nested:
		text, err := s.nestedValue()
		if err != nil {
			return err
		}
		c.Value = p.value(text)
	default:
		c.Value = p.value(s.rest())
		s.pos = len(s.text)
	}
	if c.Quantifier != NoQuantifier && strings.Count(p.query.Values[c.Value], ",") >= maxElements {
		return tooMany("list elements", maxElements)
	}
	return nil
}

// modifier reads what may stand in parentheses behind an operator.
func (s *scanner) modifier(c *Condition) (err error) {
	if s.peek() != '(' {
		return nil
	}
	op := c.Operator
	switch {
	case op.Quantifiable:
		switch {
		case s.acceptText("(any)"):
			c.Quantifier = Any
		case s.acceptText("(all)"):
			c.Quantifier = All
		default:
			return s.fail(`"(any)", "(all)" or delimiter (.)`)
		}
	case op.Kind == TextSearch:
		s.pos++
		if c.Config, err = s.identifier(); err != nil {
			return err
		}
		if !s.accept(')') {
			return s.fail(`")"`)
		}
	}
	return nil
}

func (s *scanner) isKind(c *Condition, nested bool) error {
	start := s.pos
	word := trimSpace(s.bare(nested))
	for _, kind := range [...]struct {
		name string
		is   IsKind
	}{{"null", IsNull}, {"not_null", IsNotNull}, {"true", IsTrue}, {"false", IsFalse}, {"unknown", IsUnknown}} {
		if strings.EqualFold(word, kind.name) {
			c.Is = kind.is
			return nil
		}
	}
	return s.failAt(start, "isVal: (null, not_null, true, false, unknown)")
}

// bare reads a raw value: to its end, or nested to the next comma or closing parenthesis.
func (s *scanner) bare(nested bool) string {
	start := s.pos
	s.pos = len(s.text)
	if nested {
		if i := strings.IndexAny(s.text[start:], ",)"); i >= 0 {
			s.pos = start + i
		}
	}
	return s.text[start:s.pos]
}

// nestedValue reads a value within and/or: quoted, an array in braces, or bare.
func (s *scanner) nestedValue() (string, error) {
	s.space()
	start := s.pos
	switch s.peek() {
	case '"':
		if end, _ := skipQuoted(s.text, start); end >= 0 && elementEnds(s.text, end) {
			text, err := s.quoted()
			s.space()
			return text, err
		}
	case '{':
		if end := skipBraces(s.text, start); end >= 0 && elementEnds(s.text, end) {
			s.pos = end
			s.space()
			return s.text[start:end], nil
		}
	}
	return trimSpace(s.bare(true)), nil
}

// elementEnds says whether only white space lies between pos and a comma, closing parenthesis or the end.
func elementEnds(text string, pos int) bool {
	for pos < len(text) && isSpace(text[pos]) {
		pos++
	}
	return pos == len(text) || text[pos] == ',' || text[pos] == ')'
}

// skipBraces gives the position behind the array literal that begins at pos, or -1.
func skipBraces(text string, pos int) int {
	depth := 0
	for i := pos; i < len(text); i++ {
		switch text[i] {
		case '"':
			end, _ := skipQuoted(text, i)
			if end < 0 {
				return -1
			}
			i = end - 1
		case '\\':
			i++
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

func (s *scanner) valueEnd(nested bool) error {
	s.space()
	if s.done() || nested && (s.peek() == ',' || s.peek() == ')') {
		return nil
	}
	if nested {
		return s.fail(`"," or ")"`)
	}
	return s.fail("end of input")
}

// logic reads [path.][not.]and=(…) and or=(…).
func (p *parser) logic(key, word, value string) error {
	c := Condition{Value: None, Logic: And}
	prefix := word
	if word == "or" {
		c.Logic = Or
	}
	if len(key) > len(word) {
		if err := p.logicPath(&c, key, word); err != nil {
			return err
		}
	}
	if c.Negated {
		prefix = "not." + word
	}
	s := scanner{what: "logic tree", text: value, shift: len(prefix)}
	if err := p.group(&s, &c, 1); err != nil {
		return err
	}
	if !s.done() {
		return s.fail("end of input")
	}
	p.query.Where = append(p.query.Where, c)
	return nil
}

// logicPath reads the words before and or or: the embeds, and not.
func (p *parser) logicPath(c *Condition, key, word string) error {
	s := scanner{what: "logic path", text: key}
	for end := len(key) - len(word); s.pos < end; {
		quoted := s.peek() == '"'
		name, err := s.name()
		if err != nil {
			return err
		}
		if err := s.delimiter(); err != nil {
			return err
		}
		if name == "not" && !quoted {
			c.Negated = true
			continue
		}
		if c.Path = append(c.Path, name); len(c.Path) > maxDepth {
			return tooMany("levels of embedding", maxDepth)
		}
	}
	return nil
}

// group reads the parentheses of and or or.
func (p *parser) group(s *scanner, c *Condition, depth int) error {
	if depth > maxDepth {
		return tooMany("levels of and/or", maxDepth)
	}
	if p.conditions++; p.conditions > maxConditions {
		return tooMany("filters", maxConditions)
	}
	s.space()
	if !s.accept('(') {
		return s.fail(`"("`)
	}
	for {
		child := Condition{Value: None}
		if err := p.member(s, &child, depth); err != nil {
			return err
		}
		c.Children = append(c.Children, child)
		s.space()
		if s.accept(',') {
			continue
		}
		if !s.accept(')') {
			return s.fail(`"," or ")"`)
		}
		s.space()
		return nil
	}
}

// member reads one condition of a group.
func (p *parser) member(s *scanner, c *Condition, depth int) (err error) {
	s.space()
	if s.groupAhead(c) {
		return p.group(s, c, depth+1)
	}
	if c := s.peek(); c == ')' || c == ',' || s.done() {
		return s.fail(expectName + `, negation operator (not) or logic operator (and, or)`)
	}
	if c.Field, err = p.field(s); err != nil {
		return err
	}
	if err := s.delimiter(); err != nil {
		return err
	}
	return p.predicate(s, c, true)
}

// groupAhead takes [not.]and or [not.]or if a parenthesis follows; otherwise it is a column of that name.
func (s *scanner) groupAhead(c *Condition) bool {
	ahead := *s
	negated := ahead.acceptText("not.")
	logic := And
	if !ahead.acceptText("and") {
		if !ahead.acceptText("or") {
			return false
		}
		logic = Or
	}
	ahead.space()
	if ahead.peek() != '(' {
		return false
	}
	s.pos = ahead.pos
	c.Logic, c.Negated = logic, negated
	return true
}
