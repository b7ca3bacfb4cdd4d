package catalog

import "slices"

// maxVariants bounds how many ways one view may stand for the same key, by showing its columns under several
// names each: the ways multiply.
const maxVariants = 16

// keyedView is a view that shows columns of a base relation.
type keyedView struct {
	view    *Relation
	columns map[int16][]*Column // of the base by number → of the view, in order
}

// addViewKeys gives views the primary keys that stand behind them: of each base relation whose whole key shows
// through, the first column of the view for each column of the key.
func (b *builder) addViewKeys() {
	b.addOrigins()
	for _, r := range b.relations {
		if len(r.PrimaryKey) == 0 {
			continue
		}
		for _, v := range b.viewsOf[r.OID] {
			if key := v.first(r.PrimaryKey); key != nil {
				v.view.PrimaryKey = append(v.view.PrimaryKey, key...)
			}
		}
	}
	for _, views := range b.viewsOf {
		for _, v := range views {
			v.view.PrimaryKey = inOrder(v.view.PrimaryKey)
		}
	}
}

// inOrder sorts columns by number and drops repeated ones.
func inOrder(columns []*Column) []*Column {
	slices.SortFunc(columns, func(x, y *Column) int { return int(x.Number) - int(y.Number) })
	return slices.Compact(columns)
}

// addOrigins follows the columns of views through views of views down to the base relations.
func (b *builder) addOrigins() {
	direct := make(map[columnID]columnID, len(b.raw.ViewColumns))
	for _, c := range b.raw.ViewColumns {
		direct[columnID{c.View, c.Number}] = columnID{c.Base, c.BaseNumber}
	}
	index := make(map[[2]OID]*keyedView)
	for _, c := range b.raw.ViewColumns {
		view := b.relations[c.View]
		if view == nil {
			continue
		}
		column := view.numbered([]int16{c.Number})
		if column == nil {
			continue
		}
		base := columnID{c.Base, c.BaseNumber}
		// Views cannot form a cycle that can be read, but system tables can hold one (made by create or replace):
		// no chain is longer than the number of links.
		for range len(direct) {
			next, found := direct[base]
			if !found {
				break
			}
			base = next
		}
		key := [2]OID{base.relation, view.OID}
		v := index[key]
		if v == nil {
			v = &keyedView{view: view, columns: make(map[int16][]*Column)}
			index[key] = v
			b.viewsOf[base.relation] = append(b.viewsOf[base.relation], v)
		}
		v.columns[base.number] = append(v.columns[base.number], column[0])
	}
}

// first gives for each column of a base relation the first of the view that shows it, nil when one is missing.
func (v *keyedView) first(base []*Column) []*Column {
	columns := make([]*Column, len(base))
	for i, c := range base {
		shown := v.columns[c.Number]
		if len(shown) == 0 {
			return nil
		}
		columns[i] = shown[0]
	}
	return columns
}

// variants gives every choice of the view's columns that shows the base columns, none when one is missing.
func (v *keyedView) variants(base []*Column) [][]*Column {
	lists := [][]*Column{nil}
	for _, c := range base {
		var longer [][]*Column
		for _, list := range lists {
			for _, shown := range v.columns[c.Number] {
				if len(longer) == maxVariants {
					break
				}
				longer = append(longer, append(slices.Clip(list), shown))
			}
		}
		lists = longer
	}
	return lists
}
