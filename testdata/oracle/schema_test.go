package oracle_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// relation is a table or a view of a world.
type relation struct {
	name     string
	columns  []*column
	computed []*column // functions of its row
	pk       []*column
	uniques  [][]*column
	over     *relation // of a view, what it shows
	rows     [][]*string
	writable bool
}

// column is a column of a relation, or a function of its row.
type column struct {
	name      string
	kind      *kind
	shows     *column // of a view
	notNull   bool
	generated bool // always by an expression
	identity  bool
	byDefault string // its default, "" for none
	refers    bool
	function  bool
}

// root is the column of a table that a view's column shows in the end.
func (c *column) root() *column {
	for c.shows != nil {
		c = c.shows
	}
	return c
}

// base is the table that a view shows in the end.
func (r *relation) base() *relation {
	for r.over != nil {
		r = r.over
	}
	return r
}

// showing gives the columns that show those of a table, nil unless all are shown.
func (r *relation) showing(roots []*column) []*column {
	var shown []*column
	for _, root := range roots {
		at := slices.IndexFunc(r.columns, func(c *column) bool { return c.root() == root })
		if at < 0 {
			return nil
		}
		shown = append(shown, r.columns[at])
	}
	return shown
}

// foreignKey is a key from one table to another, or to itself.
type foreignKey struct {
	name          string
	child, parent *relation
	columns, refs []*column
}

// link is a way from one relation to another, as select spells it.
type link struct {
	from, to   *relation
	toOne      bool
	constraint string
	inverse    bool
	on         [][2]*column // from and to; empty for functions
	junction   *relation
	into, out  [][2]*column // from and junction, junction and to
	function   string
	spellings  []string
}

// routine is a function that can be called.
type routine struct {
	name     string
	args     []argument
	set      bool
	scalar   *kind     // of what it gives values, nil when it gives rows
	rows     *relation // what its rows are like, nil for scalars
	void     bool
	volatile bool
}

type argument struct {
	name     string
	kind     *kind
	optional bool
}

// schema is all that a world has.
type schema struct {
	name      string
	kinds     []*kind
	keyKinds  []*kind
	relations []*relation
	keys      []*foreignKey
	links     map[*relation][]*link
	routines  []*routine
	ddl       strings.Builder
	used      map[string]bool
}

// reserved are names that mean something else when they are not quoted, in SQL or in URLs.
func reserved() []string {
	return []string{"order", "select", "limit", "offset", "and", "or", "not", "user", "table", "columns", "count", "inner", "null", "on_conflict", "in", "left", "apikey"}
}

// pick takes one of several.
func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// chance is true once in so many times.
func chance(r *rand.Rand, in int) bool { return r.IntN(in) == 0 }

// freshName gives a name, as often as not an awkward one, that the schema has not yet.
func (s *schema) freshName(r *rand.Rand, base string) string {
	name := base
	switch r.IntN(10) {
	case 0:
		name = strings.ToUpper(base[:1]) + base[1:] + "Name"
	case 1:
		name = pick(r, reserved()...)
	case 2:
		name = base + pick(r, " with blanks", `"quoted"`, "'s", ".dot", ",comma", "(p)", ":colon", "::cast", "->arrow", "->>", "*", "%41", "&amp", "+plus", "#", ";", `\`, "$1", " -- x", "?", "!inner", "=eq.1", "{}")
	case 3:
		name = pick(r, "straße", "Ünï", "日本", "x́", "emoji💥") + base
	}
	for s.used[name] {
		name = base + strconv.Itoa(len(s.used))
	}
	s.used[name] = true
	return name
}

// identifier quotes a name for SQL.
func identifier(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// literal writes a text as SQL does.
func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

func identifiers(columns []*column) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = identifier(c.name)
	}
	return strings.Join(names, ", ")
}

func (s *schema) of(name string) string { return identifier(s.name) + "." + identifier(name) }

// newSchema makes a random schema.
func newSchema(r *rand.Rand, name string) *schema {
	s := &schema{name: name, used: map[string]bool{}, links: map[*relation][]*link{}}
	s.kinds = kinds(identifier(name))
	s.keyKinds = keyKinds(s.kinds)
	fmt.Fprintf(&s.ddl, "create schema %s;\ncreate schema %s;\n", identifier(name), identifier(name+" parts"))
	s.ddl.WriteString(typesSQL(identifier(name)))
	for range 1 + r.IntN(6) {
		s.addTable(r)
	}
	tables := slices.Clone(s.relations)
	if len(tables) > 1 && !chance(r, 4) {
		s.addJunction(r, tables)
	}
	for range r.IntN(4) {
		s.addView(r)
	}
	for range 3 {
		s.addRoutine(r)
	}
	for _, t := range s.relations {
		if chance(r, 3) {
			s.addComputed(r, t)
		}
	}
	s.addLinks()
	if chance(r, 2) {
		s.addComputedLink(r)
	}
	return s
}

// addTable makes a table with keys to earlier ones or to itself.
func (s *schema) addTable(r *rand.Rand) {
	n := len(s.relations)
	t := &relation{name: s.freshName(r, fmt.Sprintf("t%d", n)), writable: true}
	own := &schema{used: map[string]bool{}} // names of columns
	for range pick(r, 1, 1, 1, 1, 2, 2, 0) {
		t.pk = append(t.pk, &column{name: own.freshName(r, fmt.Sprintf("k%d", len(t.pk))), kind: pick(r, s.keyKinds...), notNull: true})
	}
	t.columns = slices.Clone(t.pk)
	partitioned := len(t.pk) > 0 && chance(r, 8)
	if len(t.pk) == 1 && !partitioned && chance(r, 4) && strings.HasPrefix(t.pk[0].kind.sql, "int") {
		t.pk[0].identity = true
	}
	for range 2 + r.IntN(5) {
		c := &column{name: own.freshName(r, fmt.Sprintf("c%d", len(t.columns))), kind: pick(r, s.kinds...)}
		if chance(r, 4) {
			c.byDefault = literal(pick(r, c.kind.values...)) + "::" + c.kind.sql
		}
		c.notNull = c.byDefault != "" && chance(r, 2)
		t.columns = append(t.columns, c)
	}
	if chance(r, 2) {
		owner := &column{name: own.freshName(r, "owner"), kind: s.kind("uuid"), byDefault: "auth.uid()"}
		t.columns = append(t.columns, owner)
	}
	var constraints []string
	if len(t.pk) > 0 {
		constraints = append(constraints, "primary key ("+identifiers(t.pk)+")")
	}
	for range r.IntN(3) {
		s.addKey(r, t, own, &constraints)
	}
	if chance(r, 4) && !partitioned {
		c := &column{name: own.freshName(r, "u"), kind: s.kind("text")}
		t.columns = append(t.columns, c)
		t.uniques = append(t.uniques, []*column{c})
		constraints = append(constraints, "unique ("+identifier(c.name)+")")
	}
	s.addGenerated(r, t, own)
	s.create(r, t, constraints, partitioned)
	s.fill(r, t)
	s.relations = append(s.relations, t)
}

func (s *schema) kind(sql string) *kind {
	return s.kinds[slices.IndexFunc(s.kinds, func(k *kind) bool { return k.sql == sql })]
}

// addKey adds columns that refer to a table.
func (s *schema) addKey(r *rand.Rand, t *relation, own *schema, constraints *[]string) {
	parents := slices.DeleteFunc(append(slices.Clone(s.relations), t), func(p *relation) bool { return len(p.pk) == 0 })
	self := slices.ContainsFunc(s.keys, func(k *foreignKey) bool { return k.child == t && k.parent == t })
	if self {
		parents = parents[:len(parents)-1]
	}
	if len(parents) == 0 {
		return
	}
	key := &foreignKey{name: fmt.Sprintf("fk%d", len(s.keys)), child: t, parent: pick(r, parents...)}
	for _, ref := range key.parent.pk {
		c := &column{name: own.freshName(r, fmt.Sprintf("ref%d", len(t.columns))), kind: ref.kind, refers: true}
		key.columns, key.refs = append(key.columns, c), append(key.refs, ref)
		t.columns = append(t.columns, c)
	}
	*constraints = append(*constraints, fmt.Sprintf("constraint %s foreign key (%s) references %s (%s)", key.name, identifiers(key.columns), s.of(key.parent.name), identifiers(key.refs)))
	s.keys = append(s.keys, key)
}

// addGenerated adds a column that is made of others.
func (s *schema) addGenerated(r *rand.Rand, t *relation, own *schema) {
	if !chance(r, 4) {
		return
	}
	from := t.columns[r.IntN(len(t.columns))]
	t.columns = append(t.columns, &column{name: own.freshName(r, "gen"), kind: s.kind("bool"), generated: true, byDefault: identifier(from.name) + " is null"})
}

// create writes the statement that makes a table.
func (s *schema) create(r *rand.Rand, t *relation, constraints []string, partitioned bool) {
	var parts []string
	for _, c := range t.columns {
		part := identifier(c.name) + " " + c.kind.sql
		switch {
		case c.generated:
			part += " generated always as (" + c.byDefault + ") stored"
		case c.identity:
			part += " generated by default as identity (start 1000)"
		case c.byDefault != "":
			part += " default " + c.byDefault
		}
		if c.notNull {
			part += " not null"
		}
		parts = append(parts, part)
	}
	fmt.Fprintf(&s.ddl, "create table %s (%s)", s.of(t.name), strings.Join(append(parts, constraints...), ", "))
	if partitioned {
		part := func(n int) string {
			return identifier(s.name+" parts") + "." + identifier(fmt.Sprintf("%s part%d", t.name, n))
		}
		fmt.Fprintf(&s.ddl, " partition by hash (%s)", identifier(t.pk[0].name))
		for n := range 2 {
			fmt.Fprintf(&s.ddl, ";\ncreate table %s partition of %s for values with (modulus 2, remainder %d)", part(n), s.of(t.name), n)
		}
	}
	s.ddl.WriteString(";\n")
	if chance(r, 5) && !partitioned && len(t.pk) > 0 {
		fmt.Fprintf(&s.ddl, "create index on %s (%s) where %[2]s is not null;\n", s.of(t.name), identifier(t.columns[0].name))
	}
}

// addJunction makes a table between two others, whose primary key are its keys to both.
func (s *schema) addJunction(r *rand.Rand, tables []*relation) {
	keyed := slices.DeleteFunc(slices.Clone(tables), func(t *relation) bool { return len(t.pk) == 0 })
	if len(keyed) < 2 {
		return
	}
	r.Shuffle(len(keyed), func(i, j int) { keyed[i], keyed[j] = keyed[j], keyed[i] })
	j := &relation{name: s.freshName(r, "j"), writable: true}
	own := &schema{used: map[string]bool{}}
	var constraints []string
	for _, parent := range keyed[:2] {
		key := &foreignKey{name: fmt.Sprintf("fk%d", len(s.keys)), child: j, parent: parent}
		for _, ref := range parent.pk {
			c := &column{name: own.freshName(r, fmt.Sprintf("ref%d", len(j.columns))), kind: ref.kind, refers: true, notNull: true}
			key.columns, key.refs = append(key.columns, c), append(key.refs, ref)
			j.columns = append(j.columns, c)
		}
		constraints = append(constraints, fmt.Sprintf("constraint %s foreign key (%s) references %s (%s)", key.name, identifiers(key.columns), s.of(parent.name), identifiers(key.refs)))
		s.keys = append(s.keys, key)
	}
	j.pk = slices.Clone(j.columns)
	constraints = append(constraints, "primary key ("+identifiers(j.pk)+")")
	j.columns = append(j.columns, &column{name: own.freshName(r, "note"), kind: s.kind("text")})
	s.create(r, j, constraints, false)
	taken := map[string]bool{}
	for range 12 {
		row := make([]*string, len(j.columns))
		s.refer(r, j, row)
		id := ""
		for i := range j.pk {
			if row[i] == nil {
				id = ""
				break
			}
			id += *row[i] + "|"
		}
		if id == "" || taken[id] {
			continue
		}
		taken[id] = true
		note := pick(r, texts()...)
		row[len(j.pk)] = &note
		j.rows = append(j.rows, row)
		s.insert(j, row)
	}
	s.relations = append(s.relations, j)
}
