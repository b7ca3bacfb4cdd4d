package oracle_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// fill makes rows, and the statements that insert them.
func (s *schema) fill(r *rand.Rand, t *relation) {
	taken := map[string]bool{}
	for i := range 4 + r.IntN(9) {
		row := make([]*string, len(t.columns))
		for at, c := range t.columns {
			if value := pick(r, c.kind.values...); !chance(r, 5) || c.notNull {
				row[at] = &value
			}
			if c.name == "owner" || c.byDefault == "auth.uid()" {
				value := pick(r, users()...)
				row[at] = &value
			}
		}
		var key []string
		for n, c := range t.pk {
			value := keyValue(c.kind, i+n*(i%3))
			row[slices.Index(t.columns, c)] = &value
			key = append(key, value)
		}
		s.refer(r, t, row)
		for _, unique := range t.uniques {
			value := texts()[i%len(texts())]
			row[slices.Index(t.columns, unique[0])] = &value
		}
		if id := strings.Join(key, "|"); len(key) > 0 && taken[id] {
			continue
		} else {
			taken[id] = true
		}
		t.rows = append(t.rows, row)
		s.insert(t, row)
	}
}

// refer lets the keys of a row point to rows that are there.
func (s *schema) refer(r *rand.Rand, t *relation, row []*string) {
	for _, key := range s.keys {
		if key.child != t {
			continue
		}
		var target []*string
		if n := len(key.parent.rows); n > 0 && !chance(r, 5) {
			target = key.parent.rows[r.IntN(n)]
		}
		for i, c := range key.columns {
			row[slices.Index(t.columns, c)] = nil
			if target != nil {
				row[slices.Index(t.columns, c)] = target[slices.Index(key.parent.columns, key.refs[i])]
			}
		}
	}
}

func (s *schema) insert(t *relation, row []*string) {
	var names, values []string
	for i, c := range t.columns {
		if c.generated {
			continue
		}
		value := "null"
		if row[i] != nil {
			value = literal(*row[i])
		}
		names, values = append(names, identifier(c.name)), append(values, value)
	}
	fmt.Fprintf(&s.ddl, "insert into %s (%s) overriding system value values (%s);\n", s.of(t.name), strings.Join(names, ", "), strings.Join(values, ", "))
}
