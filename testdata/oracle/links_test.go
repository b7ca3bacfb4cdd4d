package oracle_test

import "slices"

// ends are the relations that show the columns of a table: itself, and views of it.
func (s *schema) ends(t *relation, columns []*column) (relations []*relation, shown [][]*column) {
	for _, r := range s.relations {
		if r.base() != t {
			continue
		}
		if list := r.showing(columns); list != nil {
			relations, shown = append(relations, r), append(shown, list)
		}
	}
	return relations, shown
}

func couples(from, to []*column) [][2]*column {
	list := make([][2]*column, len(from))
	for i := range from {
		list[i] = [2]*column{from[i], to[i]}
	}
	return list
}

func turned(pairs [][2]*column) [][2]*column {
	list := make([][2]*column, len(pairs))
	for i, pair := range pairs {
		list[i] = [2]*column{pair[1], pair[0]}
	}
	return list
}

func sameSet(a, b []*column) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(c *column) bool { return !slices.Contains(b, c) })
}

// addLinks finds the ways between relations that foreign keys make, and how they are spelled.
func (s *schema) addLinks() {
	var all, there []*link
	for _, key := range s.keys {
		unique := sameSet(key.columns, key.child.pk) || slices.ContainsFunc(key.child.uniques, func(u []*column) bool { return sameSet(u, key.columns) })
		children, childColumns := s.ends(key.child, key.columns)
		parents, parentColumns := s.ends(key.parent, key.refs)
		for i, child := range children {
			for j, parent := range parents {
				forward := &link{from: child, to: parent, toOne: true, constraint: key.name, on: couples(childColumns[i], parentColumns[j])}
				all = append(all, forward, &link{from: parent, to: child, toOne: unique, constraint: key.name, inverse: true, on: turned(forward.on)})
				if !unique {
					there = append(there, forward)
				}
			}
		}
	}
	for _, first := range there {
		for _, second := range there {
			if first.from != second.from || first.constraint == second.constraint || !within(first) || !within(second) {
				continue
			}
			all = append(all, &link{from: first.to, to: second.to, junction: first.from, into: turned(first.on), out: second.on})
		}
	}
	for _, l := range all {
		l.spell(all)
		if len(l.spellings) > 0 {
			s.links[l.from] = append(s.links[l.from], l)
		}
	}
}

// within says that the columns of a link are part of its origin's primary key.
func within(l *link) bool {
	return !slices.ContainsFunc(l.on, func(pair [2]*column) bool { return !slices.Contains(l.from.pk, pair[0]) })
}

// origin is the one column that a link begins at, "" when it is not one.
func (l *link) origin() string {
	if l.junction != nil || len(l.on) != 1 {
		return ""
	}
	return l.on[0][0].name
}

// hasColumn says that the one column that a link begins or ends at has a name.
func (l *link) hasColumn(name string) bool {
	return l.origin() != "" && (l.on[0][0].name == name || l.on[0][1].name == name)
}

// byColumn is the column that refers to another row, by which a link can be named too.
func (l *link) byColumn() string {
	if l.inverse {
		return ""
	}
	return l.origin()
}

// spell finds the ways to name a link that mean no other.
func (l *link) spell(all []*link) {
	name := quoted(l.to.name)
	rivals, twins, sameJunction, sameConstraint, namesakes := 0, 0, 0, 0, 0
	for _, other := range all {
		if other.from != l.from {
			continue
		}
		if other.to == l.to {
			rivals++
			if other.constraint == l.constraint && l.constraint != "" {
				twins++ // both directions of a key within one table, to or from a view of it
			}
			if l.junction != nil && (other.junction == l.junction || other.hasColumn(l.junction.name)) {
				sameJunction++ // a hint can be a column as well
			}
		}
		if other.constraint == l.constraint && l.constraint != "" && other.to.over == nil {
			sameConstraint++
		}
		if other.origin() == l.to.name && other.to != l.to {
			rivals++ // the name can mean either
		}
		if l.byColumn() == other.to.name && other.to != l.to {
			namesakes++
		}
	}
	switch {
	case l.from == l.to && l.junction == nil:
		switch {
		case !l.inverse && l.from.over != nil:
			// By its column it could be the table's row as well.
		case l.byColumn() != "" && (namesakes > 0 || l.byColumn() == l.to.name):
		case l.byColumn() != "":
			l.spellings = []string{quoted(l.on[0][0].name)}
		case l.inverse && len(l.on) == 1:
			l.spellings = []string{name + "!" + quoted(l.on[0][1].name)}
		case l.inverse:
			l.spellings = []string{name + "!" + l.constraint}
		}
		return
	case l.junction != nil:
		if sameJunction == 1 {
			l.spellings = []string{name + "!" + quoted(l.junction.name)}
		}
	case twins == 1:
		l.spellings = []string{name + "!" + l.constraint}
		if l.to.over == nil && sameConstraint == 1 {
			l.spellings = append(l.spellings, l.constraint)
			if l.byColumn() != "" && namesakes == 0 {
				l.spellings = append(l.spellings, quoted(l.on[0][0].name))
			}
		}
	}
	if rivals == 1 {
		l.spellings = append(l.spellings, name, name)
	}
}
