package oracle_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// generator makes the random requests of a world.
type generator struct {
	*rand.Rand
	schema *schema
	// faulty says that the request has a deliberate fault already: which of two PostgreSQL reports is its own choice.
	faulty bool
	names  int
}

func jsonText(text string) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func textOfJSON(value string) string {
	var text string
	if err := json.Unmarshal([]byte(value), &text); err != nil {
		panic(err)
	}
	return text
}

func (g *generator) request() *request {
	r := &request{affected: -1, who: g.IntN(4), rel: pick(g.Rand, g.schema.relations...)}
	switch g.IntN(20) {
	case 0, 1, 2:
		g.insert(r)
	case 3, 4:
		g.update(r)
	case 5:
		r.method = "DELETE"
		g.change(r)
	case 6:
		g.put(r)
	case 7, 8:
		g.call(r)
	default:
		g.read(r)
	}
	r.faulty = g.faulty
	return r
}

func (g *generator) read(r *request) {
	r.method = "GET"
	if chance(g.Rand, 15) {
		r.method = "HEAD"
	}
	r.level = g.level(r.rel, 0, false)
	g.top(r)
	r.count = chance(g.Rand, 3)
	r.accept = pick(g.Rand, "", "", "", "", "text/csv", "application/x-ndjson", "application/vnd.pgrst.object+json", "application/vnd.pgrst.array+json;nulls=stripped")
}

// top gives the top level a window.
func (g *generator) top(r *request) {
	l := r.level
	if !g.settled(l) {
		return
	}
	if chance(g.Rand, 3) {
		l.limit = g.IntN(6)
	}
	if chance(g.Rand, 5) {
		l.offset = g.IntN(9)
	}
	r.ranged = chance(g.Rand, 2)
}

// settled says that a level has an order that leaves nothing open.
func (g *generator) settled(l *level) bool {
	if l.aggregated() {
		return len(l.order) > 0 || !slices.ContainsFunc(l.items, func(i *item) bool { return i.aggregate == "" })
	}
	return len(l.rel.pk) > 0 && !slices.ContainsFunc(l.rel.pk, func(key *column) bool {
		return !slices.ContainsFunc(l.order, func(t *term) bool { return t.field.column == key && t.embed == "" })
	})
}

// level makes one pair of parentheses.
func (g *generator) level(rel *relation, depth int, written bool) *level {
	l := &level{rel: rel, limit: -1, offset: -1}
	switch {
	case depth == 0 && chance(g.Rand, 8):
		l.all = true
	case depth < 3 && chance(g.Rand, 7):
		g.aggregates(l, written && depth == 0)
	default:
		g.items(l, depth, written)
	}
	if !written || depth > 0 {
		for range pick(g.Rand, 0, 0, 1, 1, 2) {
			l.where = append(l.where, g.condition(l, 2))
		}
	}
	g.order(l, written && depth == 0)
	if depth > 0 && g.settled(l) && chance(g.Rand, 4) {
		l.limit = g.IntN(4)
		if chance(g.Rand, 3) {
			l.offset = g.IntN(3)
		}
	}
	return l
}

func (g *generator) alias() string {
	g.names++
	return pick(g.Rand, "x", "Y", "with blank", `qu"ote`, "ä", "a.b", "select", "c,d", "(e)", "f:g") + strconv.Itoa(g.names)
}

func (g *generator) items(l *level, depth int, written bool) {
	for range 1 + g.IntN(3) {
		i := &item{}
		if chance(g.Rand, 12) {
			i.star = true
			l.items = append(l.items, i)
			continue
		}
		i.field = g.field(l.rel, written && depth == 0)
		if chance(g.Rand, 4) {
			i.alias = g.alias()
		}
		if casts := i.field.column.kind.casts; len(i.field.path) == 0 && len(casts) > 0 && chance(g.Rand, 5) {
			i.cast = pick(g.Rand, casts...)
		}
		l.items = append(l.items, i)
	}
	links := g.schema.links[l.rel]
	if depth >= 3 || len(links) == 0 || depth > 0 && !chance(g.Rand, depth+1) {
		return // plain SQL repeats itself at each level: deep requests cost more than they tell
	}
	for range pick(g.Rand, 0, 1, 1, 2) {
		g.embed(l, pick(g.Rand, links...), depth, written)
	}
}

func (g *generator) embed(l *level, k *link, depth int, written bool) {
	if written && depth == 0 && k.function != "" {
		return // the rows written have the type of no relation in plain SQL
	}
	i := &item{link: k, spelling: pick(g.Rand, k.spellings...), inner: chance(g.Rand, 4)}
	i.spread = chance(g.Rand, 4)
	if !i.spread && chance(g.Rand, 2) {
		i.alias = g.alias()
	}
	if slices.ContainsFunc(l.items, func(other *item) bool { return other.link != nil && other.key() == i.key() || other.key() == i.key() }) {
		return
	}
	i.level = g.level(k.to, depth+1, false)
	if i.spread {
		if i.level.aggregated() {
			i.level.items = slices.DeleteFunc(i.level.items, func(each *item) bool { return each.aggregate != "" })
			if len(i.level.items) == 0 {
				i.level.items = []*item{{field: field{column: k.to.columns[0]}}}
			}
			i.level.order, i.level.limit, i.level.offset = nil, -1, -1
		}
	}
	l.items = append(l.items, i)
	if !i.spread && chance(g.Rand, 5) && !(written && depth == 0) {
		l.where = append(l.where, &condition{embed: i.key(), text: pick(g.Rand, "null", "not_null"), negated: chance(g.Rand, 3)})
	}
	if k.toOne && !i.spread && !i.level.aggregated() && chance(g.Rand, 3) {
		if f := g.ordered(k.to); f.column != nil {
			l.order = append(l.order, &term{embed: i.key(), field: f, tail: g.tail()})
		}
	}
}

// aggregates makes a level of groups.
func (g *generator) aggregates(l *level, written bool) {
	for range g.IntN(3) {
		if f := g.field(l.rel, written); f.column.kind.group && len(f.path) == 0 && !f.column.function {
			l.items = append(l.items, &item{field: f})
		}
	}
	for range 1 + g.IntN(3) {
		i := &item{aggregate: "count"}
		if f := g.field(l.rel, written); len(f.path) == 0 {
			switch {
			case f.column.kind.sum:
				i.field, i.aggregate = f, pick(g.Rand, "sum", "max", "min", "count")
				if strings.HasPrefix(f.column.kind.sql, "int") && chance(g.Rand, 3) {
					i.aggregate = "avg"
				}
			case f.column.kind.sql == "text" || f.column.kind.sql == "timestamptz":
				i.field, i.aggregate = f, pick(g.Rand, "max", "min", "count")
			case chance(g.Rand, 2):
				i.field = f
			}
		}
		if chance(g.Rand, 3) {
			i.alias = g.alias()
		}
		if chance(g.Rand, 4) {
			i.aggCast = "text"
		}
		l.items = append(l.items, i)
	}
}

// field picks a column, or a place inside of one.
func (g *generator) field(rel *relation, written bool) field {
	if len(rel.computed) > 0 && !written && chance(g.Rand, 6) {
		return field{column: rel.computed[0]}
	}
	f := field{column: pick(g.Rand, rel.columns...)}
	if f.column.kind.json != "" && chance(g.Rand, 3) {
		for range 1 + g.IntN(2) {
			s := step{key: pick(g.Rand, "a", "b c", `a"b`, "deep", "er", "x", "Y y", "n", "p", "it's")}
			if chance(g.Rand, 3) {
				s = step{key: pick(g.Rand, "0", "1", "-1", "2"), index: true}
			}
			f.path = append(f.path, s)
		}
		f.path[len(f.path)-1].text = chance(g.Rand, 2)
	}
	return f
}

func (g *generator) tail() string {
	return pick(g.Rand, "", "", ".asc", ".desc", ".desc") + pick(g.Rand, "", "", ".nullsfirst", ".nullslast")
}

// ordered picks a field that has an order, none if it picks badly.
func (g *generator) ordered(rel *relation) field {
	f := g.field(rel, true)
	switch {
	case len(f.path) == 0 && f.column.kind.order, len(f.path) > 0 && (f.path[len(f.path)-1].text || f.column.kind.json != "json"):
		return f
	}
	return field{}
}

// order gives a level an order which leaves nothing open where that is possible.
func (g *generator) order(l *level, written bool) {
	if l.aggregated() {
		l.order = nil
		for _, i := range l.items {
			if i.aggregate == "" && i.field.column != nil {
				if !i.field.column.kind.order {
					l.order = nil
					return
				}
				l.order = append(l.order, &term{field: i.field, tail: g.tail()})
			}
		}
		return
	}
	for range g.IntN(3) {
		if f := g.ordered(l.rel); f.column != nil {
			l.order = append(l.order, &term{field: f, tail: g.tail()})
		}
	}
	if chance(g.Rand, 8) {
		return
	}
	for _, c := range l.rel.pk {
		l.order = append(l.order, &term{field: field{column: c}, tail: pick(g.Rand, "", ".desc")})
	}
}

func (g *generator) condition(l *level, depth int) *condition {
	if depth > 0 && chance(g.Rand, 4) {
		c := &condition{logic: pick(g.Rand, "and", "or"), negated: chance(g.Rand, 4)}
		for range 1 + g.IntN(3) {
			c.within = append(c.within, g.condition(l, depth-1))
		}
		return c
	}
	for {
		if c := g.comparison(g.field(l.rel, false)); c != nil {
			c.negated = chance(g.Rand, 5)
			return c
		}
	}
}

// comparison makes a condition on a field, nil if there is none.
func (g *generator) comparison(f field) *condition {
	operators, values := f.column.kind.filters, f.column.kind.values
	if f.column.kind.right != nil {
		values = f.column.kind.right
	}
	if len(f.path) > 0 {
		last := f.path[len(f.path)-1]
		switch {
		case last.text:
			operators, values = searches(), []string{"a", "text", "1", "x", "", "null", "true"}
		case f.column.kind.json == "json":
			operators = []string{"is"}
		default:
			operators, values = []string{"eq", "neq", "cs", "cd", "gt", "is"}, []string{"1", `"text"`, "null", "[1]", `{"a":1}`, "true"}
		}
	}
	if f.column.function {
		operators, values = []string{"eq", "is", "neq"}, []string{"true", "false"}
	}
	op := pick(g.Rand, operators...)
	if chance(g.Rand, 60) && !g.faulty {
		g.faulty = true
		op = pick(g.Rand, "like", "ov", "adj", "gt", "eq", "cs")
	}
	c := &condition{field: f, op: op, text: pick(g.Rand, values...)}
	if base, rest, ok := strings.Cut(op, "("); ok {
		c.op = base
		if rest = strings.TrimSuffix(rest, ")"); rest == "any" || rest == "all" {
			c.quant = rest
		} else {
			c.config = rest
		}
	}
	g.rightSide(c, values)
	return c
}

func (g *generator) rightSide(c *condition, values []string) {
	k := c.field.column.kind
	adapt := func(text string) string { return text }
	switch {
	case strings.HasSuffix(c.op, "like"):
		adapt = func(string) string {
			return pick(g.Rand, "*a*", "b*", `*\\*`, "%", "_", "*ü*", "*'*", "", "a", "*", `\%`, "x_y", "*n*l*")
		}
	case strings.HasSuffix(c.op, "match"):
		adapt = func(string) string { return pick(g.Rand, "^a", "[xyz]", "b|c", "'", "", `\.`, "^$", "ü+") }
	case strings.HasSuffix(c.op, "fts"):
		c.text = pick(g.Rand, "cat", "dog & cat", "a | b", "!x", "'o''brien'", "cats:*")
		if c.op != "fts" {
			c.text = pick(g.Rand, "cat", "dog cat", `"the cat" or -dog`, "it's", "", "<->")
		}
		return
	case c.op == "is":
		c.text = pick(g.Rand, "null", "not_null")
		if k.sql == "bool" && len(c.field.path) == 0 {
			c.text = pick(g.Rand, "null", "not_null", "true", "false", "unknown")
		}
		return
	}
	c.text = adapt(c.text)
	if c.op == "in" || c.quant != "" {
		for range g.IntN(4) {
			c.list = append(c.list, adapt(pick(g.Rand, values...)))
		}
	}
	if k.bad != "" && len(c.field.path) == 0 && !strings.HasSuffix(c.op, "like") && !strings.HasSuffix(c.op, "match") && chance(g.Rand, 40) && !g.faulty {
		g.faulty = true
		c.text, c.list = k.bad, append(c.list, k.bad)
	}
}
