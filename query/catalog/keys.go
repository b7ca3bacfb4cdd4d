package catalog

import (
	"cmp"
	"slices"
)

// end is one relation that a foreign key touches, itself or through a view, with the columns that stand for the
// key's.
type end struct {
	relation *Relation
	columns  []*Column
}

// addRelationships finds all relationships: of foreign keys in both directions, through views, through junctions,
// and the computed ones.
func (b *builder) addRelationships() {
	toOne := make(map[*Relation][]*Relationship) // many-to-one, by origin
	for i := range b.raw.ForeignKeys {
		b.addForeignKey(&b.raw.ForeignKeys[i], toOne)
	}
	for junction, keys := range toOne {
		b.addManyToMany(junction, keys)
	}
	b.addComputedRelationships()
	for _, list := range b.catalog.relationships {
		slices.SortFunc(list, compareRelationships)
	}
}

func (b *builder) add(r *Relationship) {
	r.Self = r.From == r.To
	b.catalog.relationships[r.From.Name] = append(b.catalog.relationships[r.From.Name], r)
}

// addForeignKey adds the relationships of one key: between every exposed relation that shows the referencing
// columns and every one that shows the referenced columns.
func (b *builder) addForeignKey(key *RawForeignKey, toOne map[*Relation][]*Relationship) {
	child, parent := b.relations[key.From], b.relations[key.To]
	if child == nil || parent == nil {
		return
	}
	childColumns, parentColumns := child.numbered(key.FromColumns), parent.numbered(key.ToColumns)
	if childColumns == nil || parentColumns == nil {
		return
	}
	unique := child.isKey(childColumns)
	there, back := ManyToOne, OneToMany
	if unique {
		there, back = OneToOne, OneToOne
	}
	parents := b.ends(parent, parentColumns)
	for _, from := range b.ends(child, childColumns) {
		for _, to := range parents {
			r := &Relationship{
				From: from.relation, To: to.relation, Cardinality: there, Constraint: key.Name,
				Columns: pairs(from.columns, to.columns),
			}
			b.add(r)
			b.add(&Relationship{
				From: to.relation, To: from.relation, Cardinality: back, Constraint: key.Name,
				Columns: pairs(to.columns, from.columns), Inverse: true,
			})
			if !unique {
				toOne[from.relation] = append(toOne[from.relation], r)
			}
		}
	}
}

// ends gives the exposed relations that show the columns: the relation itself and views upon it.
func (b *builder) ends(r *Relation, columns []*Column) []end {
	var ends []end
	if b.exposes(r.Name) {
		ends = append(ends, end{r, columns})
	}
	for _, v := range b.viewsOf[r.OID] {
		if !b.exposes(v.view.Name) {
			continue
		}
		for _, shown := range v.variants(columns) {
			ends = append(ends, end{v.view, shown})
		}
	}
	return ends
}

// isKey says whether the columns, in any order, are the primary key or a unique constraint.
func (r *Relation) isKey(columns []*Column) bool {
	if sameColumns(r.PrimaryKey, columns) {
		return true
	}
	return slices.ContainsFunc(r.Uniques, func(key []*Column) bool { return sameColumns(key, columns) })
}

// Identifies says that no two rows have the same values in the columns: a key is among them that holds no null.
func (r *Relation) Identifies(columns []*Column) bool {
	if len(r.PrimaryKey) > 0 && containsColumns(columns, r.PrimaryKey) {
		return true
	}
	return slices.ContainsFunc(r.Uniques, func(key []*Column) bool {
		nullable := slices.ContainsFunc(key, func(c *Column) bool { return !c.NotNull })
		return len(key) > 0 && !nullable && containsColumns(columns, key)
	})
}

func sameColumns(x, y []*Column) bool {
	return len(x) == len(y) && containsColumns(x, y)
}

// containsColumns says whether all of some columns are among others.
func containsColumns(all, some []*Column) bool {
	for _, c := range some {
		if !slices.Contains(all, c) {
			return false
		}
	}
	return true
}

func pairs(from, to []*Column) []ColumnPair {
	list := make([]ColumnPair, len(from))
	for i := range from {
		list[i] = ColumnPair{From: from[i], To: to[i]}
	}
	return list
}

func swapped(columns []ColumnPair) []ColumnPair {
	list := make([]ColumnPair, len(columns))
	for i, c := range columns {
		list[i] = ColumnPair{From: c.To, To: c.From}
	}
	return list
}

// addManyToMany pairs the keys of a relation whose primary key contains both.
func (b *builder) addManyToMany(junction *Relation, keys []*Relationship) {
	within := keys[:0:0]
	for _, key := range keys {
		contained := !slices.ContainsFunc(key.Columns, func(p ColumnPair) bool {
			return !slices.Contains(junction.PrimaryKey, p.From)
		})
		if contained {
			within = append(within, key)
		}
	}
	for _, first := range within {
		for _, second := range within {
			if first.Constraint == second.Constraint {
				continue
			}
			b.add(&Relationship{
				From: first.To, To: second.To, Cardinality: ManyToMany, Constraint: first.Constraint,
				Junction: &Junction{
					Table:          junction,
					ConstraintFrom: first.Constraint,
					ConstraintTo:   second.Constraint,
					FromColumns:    swapped(first.Columns),
					ToColumns:      second.Columns,
				},
			})
		}
	}
}

// addComputedRelationships adds functions that take a row of one exposed relation and give rows of another. One
// that bears the name of a relation takes the place of what was detected towards that relation.
func (b *builder) addComputedRelationships() {
	for _, overloads := range b.catalog.routines {
		for _, f := range overloads {
			from, to := f.rowArgument(), f.Returns.Relation
			if from == nil || to == nil || !b.exposes(from.Name) || !b.exposes(to.Name) {
				continue
			}
			b.catalog.relationships[from.Name] = slices.DeleteFunc(b.catalog.relationships[from.Name],
				func(r *Relationship) bool { return r.Function == nil && r.To.Name == f.Name })
			cardinality := OneToMany
			if !f.ReturnsSet || f.Rows == 1 {
				cardinality = ManyToOne
			}
			b.add(&Relationship{From: from, To: to, Cardinality: cardinality, Function: f})
		}
	}
}

// listed is where PostgREST lists relationships of a cardinality among the choices of an ambiguous embed.
func (c Cardinality) listed() int {
	switch c {
	case OneToMany:
		return 0
	case ManyToOne:
		return 1
	case OneToOne:
		return 2
	default:
		return 3
	}
}

// compareRelationships orders the relationships of one origin, so that every load lists them alike.
func compareRelationships(x, y *Relationship) int {
	order := cmp.Or(
		cmp.Compare(x.To.Name.Schema, y.To.Name.Schema),
		cmp.Compare(x.To.Name.Name, y.To.Name.Name),
		cmp.Compare(x.Cardinality.listed(), y.Cardinality.listed()),
	)
	if order != 0 {
		return order
	}
	if x.Junction != nil && y.Junction != nil {
		return cmp.Or(
			cmp.Compare(x.Junction.Table.Name.Schema, y.Junction.Table.Name.Schema),
			cmp.Compare(x.Junction.Table.Name.Name, y.Junction.Table.Name.Name),
			cmp.Compare(x.Junction.ConstraintFrom, y.Junction.ConstraintFrom),
			cmp.Compare(x.Junction.ConstraintTo, y.Junction.ConstraintTo),
			comparePairs(x.Junction.FromColumns, y.Junction.FromColumns),
			comparePairs(x.Junction.ToColumns, y.Junction.ToColumns),
		)
	}
	switch order := cmp.Compare(x.Constraint, y.Constraint); {
	case order != 0:
		return order
	case x.Function != nil && y.Function != nil:
		return cmp.Or(
			cmp.Compare(x.Function.Name.Schema, y.Function.Name.Schema),
			cmp.Compare(x.Function.Name.Name, y.Function.Name.Name),
		)
	case x.Inverse != y.Inverse:
		if x.Inverse {
			return 1
		}
		return -1
	default:
		return comparePairs(x.Columns, y.Columns)
	}
}

func comparePairs(x, y []ColumnPair) int {
	return slices.CompareFunc(x, y, func(x, y ColumnPair) int {
		return cmp.Or(cmp.Compare(x.From.Name, y.From.Name), cmp.Compare(x.To.Name, y.To.Name))
	})
}
