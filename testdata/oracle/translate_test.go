package oracle_test

import (
	"fmt"
	"slices"
	"strings"
)

// translator writes requests as SQL, the plain way: every embed is a subquery in select, JSON is made by PostgreSQL.
type translator struct {
	schema *schema
	count  int
	// broken says that a part refers to one that is not there, which happens to requests that were cut.
	broken bool
}

func (t *translator) alias() string {
	t.count++
	return fmt.Sprintf("a%d", t.count)
}

func (t *translator) table(r *relation) string { return t.schema.of(r.name) }

// field writes a field of the row of an alias.
func (t *translator) field(alias string, f field) string {
	text := alias + "." + identifier(f.column.name)
	if f.column.function {
		text = t.schema.of(f.column.name) + "(" + alias + ")"
	}
	if len(f.path) == 0 {
		return text
	}
	if f.column.kind.json == "other" {
		text = "to_jsonb(" + text + ")"
	}
	for _, s := range f.path {
		arrow := "->"
		if s.text {
			arrow = "->>"
		}
		key := literal(s.key)
		if s.index {
			key = s.key
		}
		text += " " + arrow + " " + key
	}
	return "(" + text + ")"
}

// shown is one member of what a row becomes.
type shown struct {
	name, sql string
	plain     bool // no aggregate
}

// items gives the members of the object that a row of an alias becomes.
func (t *translator) items(l *level, alias string) []shown {
	if l.all {
		return t.stars(l, alias)
	}
	var list []shown
	for _, i := range l.items {
		switch {
		case i.star:
			list = append(list, t.stars(l, alias)...)
		case i.link != nil && len(i.level.items) == 0 && !i.level.all:
		case i.spread:
			list = append(list, t.spread(i, alias)...)
		case i.link != nil && i.link.toOne:
			q := t.query(i.level, alias, i.link, nil)
			list = append(list, shown{i.key(), "(select row_to_json(_r) from (" + q + ") _r)", true})
		case i.link != nil:
			q := t.query(i.level, alias, i.link, nil)
			list = append(list, shown{i.key(), "(select coalesce(array_to_json(array_agg(_r)), '[]') from (" + q + ") _r)", true})
		default:
			list = append(list, t.value(i, alias))
		}
	}
	return list
}

func (t *translator) stars(l *level, alias string) []shown {
	var list []shown
	for _, c := range l.rel.columns {
		list = append(list, shown{c.name, alias + "." + identifier(c.name), true})
	}
	return list
}

func (t *translator) value(i *item, alias string) shown {
	text := "*"
	if i.field.column != nil {
		text = t.field(alias, i.field)
	}
	if i.cast != "" {
		text = "cast(" + text + " as " + i.cast + ")"
	}
	if i.aggregate != "" {
		text = "pg_catalog." + i.aggregate + "(" + text + ")" // schemas may have functions of that name
	}
	if i.aggCast != "" {
		text = "cast(" + text + " as " + i.aggCast + ")"
	}
	return shown{i.key(), text, i.aggregate == ""}
}

// spread gives the members that a spread adds to its parent, each by a query of its own.
func (t *translator) spread(i *item, alias string) []shown {
	var list []shown
	for n, below := range t.items(i.level, "x") {
		q := t.numbered(i.level, alias, i.link, n)
		text := "(select _r.v from (" + q + ") _r)"
		if !i.link.toOne {
			text = "(select coalesce(array_to_json(array_agg(to_json(_r.v))), '[]') from (" + q + ") _r)"
		}
		list = append(list, shown{below.name, text, true})
	}
	return list
}

// numbered writes a query of the n-th member only, as v.
func (t *translator) numbered(l *level, parent string, k *link, n int) string {
	return t.query(l, parent, k, func(alias string) string { return t.items(l, alias)[n].sql + " as v" })
}

// query writes the rows of a level, tied to the row of its parent by a link. What is shown is that of the level unless
// said otherwise.
func (t *translator) query(l *level, parent string, k *link, show func(alias string) string) string {
	source := t.table(l.rel)
	if k != nil && k.function != "" {
		source = t.schema.of(k.function) + "(" + parent + ")"
	}
	return t.from(l, source, parent, k, show)
}

func (t *translator) from(l *level, source, parent string, k *link, show func(alias string) string) string {
	alias := t.alias()
	var members, groups []string
	if show != nil {
		members = []string{show(alias)}
	}
	for _, s := range t.items(l, alias) {
		if show == nil {
			members = append(members, s.sql+" as "+identifier(s.name))
		}
		if s.plain {
			groups = append(groups, s.sql)
		}
	}
	q := "select " + strings.Join(members, ", ") + " from " + source + " " + alias
	var wheres []string
	if k != nil && k.function == "" {
		tie := ""
		q, tie = t.tie(q, alias, parent, k)
		wheres = append(wheres, tie)
	}
	for _, i := range l.items {
		if i.link != nil && i.inner {
			wheres = append(wheres, t.exists(i, alias))
		}
	}
	for _, c := range l.where {
		wheres = append(wheres, t.condition(l, c, alias))
	}
	if len(wheres) > 0 {
		q += " where " + strings.Join(wheres, " and ")
	}
	if l.aggregated() && len(groups) > 0 {
		q += " group by " + strings.Join(groups, ", ")
	}
	q += t.order(l, alias)
	if l.limit >= 0 {
		q += fmt.Sprintf(" limit %d", l.limit)
	}
	if l.offset >= 0 {
		q += fmt.Sprintf(" offset %d", l.offset)
	}
	return q
}

func (l *level) aggregated() bool {
	return slices.ContainsFunc(l.items, func(i *item) bool { return i.aggregate != "" })
}

// tie writes what links rows to the row of their parent.
func (t *translator) tie(q, alias, parent string, k *link) (string, string) {
	equal := func(from, to string, pairs [][2]*column) string {
		parts := make([]string, len(pairs))
		for i, pair := range pairs {
			parts[i] = from + "." + identifier(pair[0].name) + " = " + to + "." + identifier(pair[1].name)
		}
		return strings.Join(parts, " and ")
	}
	if k.junction == nil {
		return q, equal(parent, alias, k.on)
	}
	j := t.alias()
	return q + ", " + t.table(k.junction) + " " + j, equal(parent, j, k.into) + " and " + equal(j, alias, k.out)
}

func (t *translator) exists(i *item, alias string) string {
	one := func(string) string { return "1" }
	if i.level.aggregated() {
		one = nil
	}
	return "exists (" + t.query(i.level, alias, i.link, one) + ")"
}

// embed finds an embed of a level by its key.
func (t *translator) embed(l *level, key string) *item {
	for _, i := range l.items {
		if i.link != nil && i.key() == key {
			return i
		}
	}
	t.broken = true
	return nil
}

func (t *translator) order(l *level, alias string) string {
	if len(l.order) == 0 {
		return ""
	}
	terms := make([]string, len(l.order))
	for n, each := range l.order {
		text := ""
		if each.embed == "" {
			text = t.field(alias, each.field)
		} else if i := t.embed(l, each.embed); i != nil {
			q := t.query(i.level, alias, i.link, func(below string) string { return t.field(below, each.field) + " as v" })
			text = "(select _r.v from (" + q + ") _r)"
		}
		tail := strings.NewReplacer(".asc", " asc", ".desc", " desc", ".nullsfirst", " nulls first", ".nullslast", " nulls last")
		terms[n] = text + tail.Replace(each.tail)
	}
	return " order by " + strings.Join(terms, ", ")
}

func (t *translator) condition(l *level, c *condition, alias string) string {
	text := ""
	switch {
	case c.logic != "":
		parts := make([]string, len(c.within))
		for i, each := range c.within {
			parts[i] = t.condition(l, each, alias)
		}
		text = "(" + strings.Join(parts, " "+c.logic+" ") + ")"
	case c.embed != "":
		i := t.embed(l, c.embed)
		if i == nil {
			return ""
		}
		text = t.exists(i, alias)
		if c.text == "null" {
			text = "not " + text
		}
	default:
		if c.op == "is" && slices.ContainsFunc(l.items, func(i *item) bool { return i.link != nil && i.key() == c.field.column.name }) {
			t.broken = true // the name is the embed's, whatever the relation's columns are called
		}
		text = t.comparison(c, t.field(alias, c.field))
	}
	if c.negated {
		return "not (" + text + ")"
	}
	return "(" + text + ")"
}

func (t *translator) comparison(c *condition, left string) string {
	sign := map[string]string{
		"eq": "=", "neq": "<>", "gt": ">", "gte": ">=", "lt": "<", "lte": "<=", "like": "like", "ilike": "ilike", "match": "~", "imatch": "~*",
		"isdistinct": "is distinct from", "cs": "@>", "cd": "<@", "ov": "&&", "sl": "<<", "sr": ">>", "nxr": "&<", "nxl": "&>", "adj": "-|-",
		"fts": "to_tsquery", "plfts": "plainto_tsquery", "phfts": "phraseto_tsquery", "wfts": "websearch_to_tsquery",
	}[c.op]
	right := func(text string) string {
		if strings.HasSuffix(c.op, "like") {
			text = strings.ReplaceAll(text, "*", "%")
		}
		return literal(text)
	}
	switch {
	case c.op == "is":
		return left + " is " + strings.ReplaceAll(c.text, "_", " ")
	case c.op == "in":
		return left + " = any (" + literal(arrayLiteral(c.list)) + ")"
	case strings.HasSuffix(c.op, "fts"):
		config := ""
		if c.config != "" {
			config = literal(c.config) + ", "
		}
		if len(c.field.path) > 0 || c.field.column.kind.sql != "tsvector" {
			left = "to_tsvector(" + config + left + ")"
		}
		return left + " @@ " + sign + "(" + config + literal(c.text) + ")"
	case c.quant != "":
		return left + " " + sign + " " + c.quant + " (" + right(arrayLiteral(c.list)) + ")"
	}
	return left + " " + sign + " " + right(c.text)
}

// read writes a read: its rows as one JSON text, and how many there are without limit and offset.
func (t *translator) read(r *request) (rows, total string) {
	source := t.table(r.level.rel)
	if r.call != nil {
		source = t.called(r)
	}
	unlimited := *r.level
	unlimited.limit, unlimited.offset = -1, -1
	q := t.from(r.level, source, "", nil, nil)
	return rendered(r.accept, q), "select count(*) from (" + t.from(&unlimited, source, "", nil, nil) + ") _r"
}

// rendered writes the rows of a query in one text.
func rendered(accept, q string) string {
	switch {
	case accept == "text/csv":
		return `select coalesce(string_agg(substring(_r::text, 2, length(_r::text) - 2), e'\n'), '') from (` + q + ") _r"
	case strings.HasSuffix(accept, "nulls=stripped"):
		return "select coalesce(json_agg(json_strip_nulls(row_to_json(_r))), '[]')::text from (" + q + ") _r"
	}
	return "select coalesce(json_agg(_r), '[]')::text from (" + q + ") _r"
}

// called writes the call of a function.
func (t *translator) called(r *request) string {
	args := make([]string, len(r.given))
	for i, v := range r.given {
		args[i] = identifier(v.argument.name) + " := " + literal(v.text) + "::" + v.argument.kind.sql
		if r.method == "POST" {
			args[i] = identifier(v.argument.name) + " := (select v from json_to_record(" + literal(`{"v":`+jsonText(v.text)+`}`) + ") as _(v " + v.argument.kind.sql + "))"
		}
	}
	return t.schema.of(r.call.name) + "(" + strings.Join(args, ", ") + ")"
}

// scalars writes a call of a function that gives single values.
func (t *translator) scalars(r *request) string {
	if r.call.set {
		return "select coalesce(json_agg(_r.v), '[]')::text from (select " + t.called(r) + " as v) _r"
	}
	return "select to_json(" + t.called(r) + ")::text"
}
