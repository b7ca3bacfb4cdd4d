package oracle_test

import (
	"encoding/json"
	"fmt"
	"slices"
)

// fault is true once in so many times, as long as the request has no other fault.
func (g *generator) fault(in int) bool {
	made := !g.faulty && chance(g.Rand, in)
	g.faulty = g.faulty || made
	return made
}

// insert makes an insert or upsert.
func (g *generator) insert(r *request) {
	r.method = "POST"
	g.returning(r)
	r.missing = chance(g.Rand, 3)
	r.csv = chance(g.Rand, 5)
	g.columns(r)
	r.single = !r.csv && chance(g.Rand, 2)
	rows := 1
	if !r.single {
		rows += g.IntN(3)
	}
	if len(r.columns) == 0 {
		r.csv, rows = false, 1
	}
	for range rows {
		r.rows = append(r.rows, g.row(r))
	}
	r.listed = len(r.columns) > 0 && (chance(g.Rand, 4) || r.sparse() && !r.missing)
	if chance(g.Rand, 3) {
		r.resolution = pick(g.Rand, "merge", "ignore")
		if len(r.rel.uniques) > 0 && chance(g.Rand, 2) {
			r.conflict = r.rel.uniques[0]
		} else if g.fault(8) {
			r.conflict = []*column{pick(g.Rand, r.rel.columns...)}
		}
		if r.conflict == nil && len(r.rel.pk) == 0 {
			r.resolution = ""
		}
	}
}

// sparse says that a row lacks a key.
func (r *request) sparse() bool {
	return slices.ContainsFunc(r.rows, func(row []*string) bool { return slices.Contains(row, nil) })
}

// columns picks those that a body has: those that have to be there, and others.
func (g *generator) columns(r *request) {
	for _, c := range r.rel.columns {
		must := slices.Contains(r.rel.pk, c) && !c.root().identity
		if c.generated && !g.fault(15) || !must && chance(g.Rand, 3) {
			continue
		}
		r.columns = append(r.columns, c)
	}
	g.Shuffle(len(r.columns), func(i, j int) { r.columns[i], r.columns[j] = r.columns[j], r.columns[i] })
}

// row makes the values of a body's row.
func (g *generator) row(r *request) []*string {
	row := make([]*string, len(r.columns))
	for i, c := range r.columns {
		if !r.csv && (r.missing || r.method == "POST") && !slices.Contains(r.rel.pk, c) && chance(g.Rand, 8) {
			continue
		}
		text := g.cell(r, c)
		if r.csv && text == `"NULL"` {
			text = "null" // so CSV spells it
		}
		row[i] = &text
	}
	return row
}

func (g *generator) cell(r *request, c *column) string {
	k := c.kind
	root := c.root()
	base := r.rel.base()
	switch {
	case slices.Contains(base.pk, root):
		return jsonText(keyValue(k, g.IntN(20)))
	case root.byDefault == "auth.uid()":
		return jsonText(pick(g.Rand, users()...))
	case root.refers && chance(g.Rand, 8):
		return "null"
	case root.refers:
		return jsonText(keyValue(k, g.IntN(12)))
	case chance(g.Rand, 8):
		return "null"
	case len(k.jsons) > 0 && !r.csv && chance(g.Rand, 2):
		if value := pick(g.Rand, k.jsons...); json.Valid([]byte(value)) {
			return value
		}
	case k.bad != "" && !g.faulty && r.method == "POST" && chance(g.Rand, 25):
		g.faulty = true
		return jsonText(k.bad)
	}
	if value := pick(g.Rand, k.values...); !r.csv || value != "NULL" {
		return jsonText(value)
	}
	return "null"
}

func (g *generator) returning(r *request) {
	r.level = &level{rel: r.rel, all: true, limit: -1, offset: -1}
	switch g.IntN(5) {
	case 0:
		r.returning = "minimal"
	case 1:
		r.returning = "headers-only"
	case 2, 3:
		r.returning = "representation"
		r.level = g.level(r.rel, 0, true)
		r.accept = pick(g.Rand, "", "", "", "text/csv", "application/vnd.pgrst.object+json", "application/vnd.pgrst.array+json;nulls=stripped")
	}
	r.count = chance(g.Rand, 4)
}

// change gives a write its filters.
func (g *generator) change(r *request) {
	g.returning(r)
	l := &level{rel: r.rel, limit: -1, offset: -1}
	for range pick(g.Rand, 0, 1, 1, 1, 2) {
		r.level.where = append(r.level.where, g.condition(l, 2))
	}
	if len(r.rel.pk) > 0 && chance(g.Rand, 3) {
		c := r.rel.pk[0]
		r.level.where = append(r.level.where, &condition{field: field{column: c}, op: "eq", text: keyValue(c.kind, g.IntN(12))})
	}
	if chance(g.Rand, 8) {
		r.affected = g.IntN(5)
	}
}

func (g *generator) update(r *request) {
	r.method, r.single = "PATCH", true
	g.change(r)
	for range 10 {
		if c := pick(g.Rand, r.rel.columns...); !slices.Contains(r.columns, c) && (!c.generated || g.fault(10)) && (!slices.Contains(r.rel.pk, c) || chance(g.Rand, 4)) && len(r.columns) < 3 {
			r.columns = append(r.columns, c)
		}
	}
	if len(r.columns) == 0 {
		r.method, r.single = "DELETE", false
		return
	}
	r.rows = [][]*string{g.row(r)}
}

func (g *generator) put(r *request) {
	for _, rel := range g.schema.relations {
		if len(rel.pk) > 0 && (len(r.rel.pk) == 0 || chance(g.Rand, 3)) {
			r.rel = rel
		}
	}
	if len(r.rel.pk) == 0 {
		g.read(r)
		return
	}
	r.method, r.single = "PUT", true
	g.returning(r)
	if r.returning == "headers-only" {
		r.returning = ""
	}
	r.accept, r.count = "", false
	for _, c := range r.rel.columns {
		if !c.generated {
			r.columns = append(r.columns, c)
		}
	}
	r.rows = [][]*string{g.row(r)}
	for i := range r.rows[0] {
		if r.rows[0][i] == nil {
			null := "null"
			r.rows[0][i] = &null
		}
	}
	for _, c := range r.rel.pk {
		r.put = append(r.put, textOfJSON(*r.rows[0][slices.Index(r.columns, c)]))
	}
}

func (g *generator) call(r *request) {
	if len(g.schema.routines) == 0 {
		g.read(r)
		return
	}
	f := pick(g.Rand, g.schema.routines...)
	r.call, r.rel = f, f.rows
	r.method = pick(g.Rand, "GET", "POST", "POST")
	r.level = &level{all: true, limit: -1, offset: -1}
	if f.rows != nil {
		r.level = g.level(f.rows, 0, f.rows.pk == nil && !slices.Contains(g.schema.relations, f.rows))
		g.top(r)
		r.count = chance(g.Rand, 3)
		r.accept = pick(g.Rand, "", "", "text/csv", "application/vnd.pgrst.object+json")
	}
	for _, a := range f.args {
		if a.optional && chance(g.Rand, 2) {
			continue
		}
		text := pick(g.Rand, a.kind.values...)
		if a.kind.bad != "" && r.method == "GET" && g.fault(20) {
			text = a.kind.bad
		}
		r.given = append(r.given, value{a, text})
	}
}

// who are those that ask, by their number.
func who() []identity {
	list := []identity{{role: "anon"}}
	for i, user := range users() {
		list = append(list, identity{role: "authenticated", more: fmt.Sprintf(`"sub":%q,"level":%d`, user, 3+4*i)})
	}
	return append(list, identity{role: "service_role"})
}
