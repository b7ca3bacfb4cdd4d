package query

import "strings"

// selection reads the value of select=.
func (p *parser) selection(value string) error {
	s := scanner{what: "select parameter", text: value}
	items, err := p.itemList(&s, p.query.Select, 0)
	if err != nil {
		return err
	}
	p.query.Select = items
	if !s.done() {
		return s.fail(`"," or end of input`)
	}
	return nil
}

// itemList reads items up to the end of the text or a closing parenthesis.
func (p *parser) itemList(s *scanner, items []Item, depth int) ([]Item, error) {
	s.space()
	if s.done() || s.peek() == ')' {
		return items, nil
	}
	for {
		if p.items++; p.items > maxItems {
			return nil, tooMany("select items", maxItems)
		}
		item, err := p.item(s, depth)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
		s.space()
		if !s.accept(',') {
			return items, nil
		}
	}
}

func (p *parser) item(s *scanner, depth int) (item Item, err error) {
	s.space()
	if s.acceptText("...") {
		item.Kind = SpreadItem
		if item.Relation, err = s.name(); err != nil {
			return item, err
		}
		return item, p.embed(s, &item, depth)
	}
	if s.accept('*') {
		item.Kind = StarItem
		return item, s.itemEnd(`")", "," or end of input`)
	}
	quoted := s.peek() == '"'
	name, err := s.name()
	if err != nil {
		return item, err
	}
	if s.peek() == ':' && !strings.HasPrefix(s.rest(), "::") {
		s.pos++
		s.space()
		item.Alias = name
		quoted = s.peek() == '"'
		if name, err = s.name(); err != nil {
			return item, err
		}
	}
	switch {
	case name == "count" && !quoted && s.acceptText("()"):
		item.Kind = CountItem
		if item.AggCast, err = s.cast(); err != nil {
			return item, err
		}
		return item, s.itemEnd(`"::", ")", "," or end of input`)
	case s.peek() == '(', s.peek() == '!':
		item.Kind, item.Relation = EmbedItem, name
		return item, p.embed(s, &item, depth)
	}
	return item, p.column(s, &item, name)
}

// embed reads the hints and the parentheses behind a relation's name.
func (p *parser) embed(s *scanner, item *Item, depth int) error {
	if depth++; depth > maxDepth {
		return tooMany("levels of embedding", maxDepth)
	}
	if p.embeds++; p.embeds > maxEmbeds {
		return tooMany("embedded relations", maxEmbeds)
	}
	joined := false
	for s.accept('!') {
		s.space()
		quoted := s.peek() == '"'
		hint, err := s.name()
		switch {
		case err != nil:
			return err
		case quoted || hint != "inner" && hint != "left":
			item.Hints = append(item.Hints, hint)
		case !joined: // the first join counts
			joined = true
			if hint == "inner" {
				item.Join = InnerJoin
			}
		}
	}
	if !s.accept('(') {
		return s.fail(`"!" or "("`)
	}
	items, err := p.itemList(s, nil, depth)
	if err != nil {
		return err
	}
	item.Items = items
	if !s.accept(')') {
		return s.fail(`"," or ")"`)
	}
	return s.itemEnd(`")", "," or end of input`)
}

// column reads what may stand behind a column's name.
func (p *parser) column(s *scanner, item *Item, name string) (err error) {
	if item.Field, err = p.pathOf(s, name); err != nil {
		return err
	}
	if item.Cast, err = s.cast(); err != nil {
		return err
	}
	if s.peek() == '.' {
		s.pos++
		if item.Aggregate = s.aggregate(); item.Aggregate == "" {
			return s.fail(`"sum()", "avg()", "count()", "max()" or "min()"`)
		}
		if item.AggCast, err = s.cast(); err != nil {
			return err
		}
	}
	return s.itemEnd(`letter, digit, "-", "->>", "->", "::", ".", ")", "," or end of input`)
}

func (s *scanner) aggregate() string {
	for _, name := range [...]string{"sum", "avg", "count", "max", "min"} {
		if strings.HasPrefix(s.rest(), name) && strings.HasPrefix(s.rest()[len(name):], "()") {
			s.pos += len(name) + 2
			return name
		}
	}
	return ""
}

// cast reads ::type, or nothing.
func (s *scanner) cast() (string, error) {
	if !s.acceptText("::") {
		return "", nil
	}
	return s.identifier()
}

func (s *scanner) itemEnd(expecting string) error {
	s.space()
	if c := s.peek(); s.done() || c == ',' || c == ')' {
		return nil
	}
	return s.fail(expecting)
}
