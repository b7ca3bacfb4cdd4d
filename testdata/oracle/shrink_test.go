package oracle_test

import "slices"

func (r *request) clone() *request {
	made := *r
	made.level = r.level.clone()
	made.given, made.columns, made.put = slices.Clone(r.given), slices.Clone(r.columns), slices.Clone(r.put)
	made.rows = make([][]*string, len(r.rows))
	for i := range r.rows {
		made.rows[i] = slices.Clone(r.rows[i])
	}
	return &made
}

func (l *level) clone() *level {
	made := *l
	made.items, made.where, made.order = slices.Clone(l.items), cloneConditions(l.where), slices.Clone(l.order)
	for i, each := range made.items {
		copied := *each
		if copied.level != nil {
			copied.level = copied.level.clone()
		}
		made.items[i] = &copied
	}
	return &made
}

func cloneConditions(list []*condition) []*condition {
	made := make([]*condition, len(list))
	for i, each := range list {
		copied := *each
		copied.within = cloneConditions(each.within)
		made[i] = &copied
	}
	return made
}

// cutter takes one thing out of a request: the n-th that can be taken.
type cutter struct{ left int }

func (c *cutter) here() bool {
	c.left--
	return c.left == -1
}

func cutOne[T any](c *cutter, list []T, least int) []T {
	if len(list) <= least {
		return list
	}
	for i := range list {
		if c.here() {
			return slices.Delete(list, i, i+1)
		}
	}
	return list
}

// without gives the request without one of its parts, nil when it has not so many.
func (r *request) without(n int) *request {
	made := r.clone()
	c := &cutter{left: n}
	made.cut(c)
	if c.left >= 0 {
		return nil
	}
	return made
}

func (r *request) cut(c *cutter) {
	switch {
	case r.count && c.here():
		r.count = false
	case r.accept != "" && c.here():
		r.accept = ""
	case r.resolution != "" && c.here():
		r.resolution, r.conflict = "", nil
	case r.conflict != nil && c.here():
		r.conflict = nil
	case r.missing && (r.listed || !r.sparse()) && c.here():
		r.missing = false
	case r.listed && (r.missing || !r.sparse()) && c.here():
		r.listed = false
	case r.affected >= 0 && c.here():
		r.affected = -1
	case r.csv && c.here():
		r.csv = false
	case r.ranged && c.here():
		r.ranged = false
	}
	if r.method == "HEAD" && c.here() {
		r.method = "GET"
	}
	if !r.single {
		r.rows = cutOne(c, r.rows, 1)
	}
	for i := range r.columns {
		if len(r.columns) > 1 && len(r.put) == 0 && c.here() {
			r.columns = slices.Delete(r.columns, i, i+1)
			for n := range r.rows {
				r.rows[n] = slices.Delete(r.rows[n], i, i+1)
			}
			break
		}
	}
	r.level.cut(c)
}

func (l *level) cut(c *cutter) {
	if l.limit >= 0 && c.here() {
		l.limit = -1
	}
	if l.offset >= 0 && c.here() {
		l.offset = -1
	}
	l.where = cutConditions(c, l.where)
	l.order = cutOne(c, l.order, 0)
	if !l.all {
		l.items = cutOne(c, l.items, 1)
	}
	for _, i := range l.items {
		switch {
		case i.cast != "" && c.here():
			i.cast = ""
		case i.aggCast != "" && c.here():
			i.aggCast = ""
		case i.inner && c.here():
			i.inner = false
		case i.spread && c.here():
			i.spread = false
		case len(i.field.path) > 0 && c.here():
			i.field.path = i.field.path[:len(i.field.path)-1]
		}
		if i.level != nil {
			i.level.cut(c)
		}
	}
}

func cutConditions(c *cutter, list []*condition) []*condition {
	list = cutOne(c, list, 0)
	for _, each := range list {
		if each.negated && c.here() {
			each.negated = false
		}
		if len(each.within) > 1 {
			each.within = cutConditions(c, each.within)
		}
	}
	return list
}
