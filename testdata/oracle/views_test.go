package oracle_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// invoker runs a statement where PostgreSQL knows views with the rights of their reader.
const invoker = `do $do$
begin
  if current_setting('server_version_num')::int >= 150000 then
    execute %s;
  end if;
end
$do$;
`

// addView makes a view of a table or view.
func (s *schema) addView(r *rand.Rand) {
	over := pick(r, s.relations...)
	v := &relation{name: s.freshName(r, fmt.Sprintf("v%d", len(s.relations))), over: over, writable: true}
	own := &schema{used: map[string]bool{}}
	var shown []string
	for _, c := range over.columns {
		if chance(r, 6) {
			continue
		}
		name := c.name
		if own.used[name] || chance(r, 5) {
			name = own.freshName(r, "shown"+strconv.Itoa(len(shown)))
		}
		own.used[name] = true
		v.columns = append(v.columns, &column{name: name, kind: c.kind, shows: c, generated: c.generated})
		shown = append(shown, "b."+identifier(c.name)+" as "+identifier(name))
	}
	if len(v.columns) == 0 {
		return
	}
	if len(over.base().pk) > 0 {
		v.pk = v.showing(over.base().pk)
	}
	where := ""
	if c := pick(r, over.columns...); chance(r, 2) {
		where = " where b." + identifier(c.name) + pick(r, " is not null", " is null")
	}
	fmt.Fprintf(&s.ddl, "create view %s as select %s from %s b%s;\n", s.of(v.name), strings.Join(shown, ", "), s.of(over.name), where)
	if chance(r, 2) {
		fmt.Fprintf(&s.ddl, invoker, literal("alter view "+s.of(v.name)+" set (security_invoker = true)"))
	}
	s.relations = append(s.relations, v)
}

// addComputed makes a function of a relation's row.
func (s *schema) addComputed(r *rand.Rand, t *relation) {
	from := pick(r, t.columns...)
	c := &column{name: s.freshName(r, "f"), kind: s.kind("bool"), function: true}
	fmt.Fprintf(&s.ddl, "create function %s(%s) returns bool language sql stable as %s;\n", s.of(c.name), s.of(t.name), literal("select $1."+identifier(from.name)+" is not null"))
	if !slices.ContainsFunc(t.columns, func(other *column) bool { return other.name == c.name }) {
		t.computed = append(t.computed, c) // of two the column is meant
	}
}

// addComputedLink makes a function that leads from the rows of one relation to those of another.
func (s *schema) addComputedLink(r *rand.Rand) {
	from, to := pick(r, s.relations...), pick(r, s.relations...)
	l := &link{from: from, to: to, function: s.freshName(r, "rel"), toOne: chance(r, 2)}
	rows, limit := "", ""
	if l.toOne {
		rows = " rows 1"
		limit = fmt.Sprintf(" order by %s::text limit 1", identifier(pick(r, to.columns...).name))
	}
	fmt.Fprintf(&s.ddl, "create function %s(%s) returns setof %s language sql stable%s as %s;\n", s.of(l.function), s.of(from.name), s.of(to.name), rows,
		literal(fmt.Sprintf("select * from %s where ($1.%s is null) is not null%s", s.of(to.name), identifier(pick(r, from.columns...).name), limit)))
	l.spellings = []string{quoted(l.function)}
	s.links[from] = append(s.links[from], l)
}

// argumentKinds are the types without modifiers, which functions forget.
func (s *schema) argumentKinds() []*kind {
	return slices.DeleteFunc(slices.Clone(s.kinds), func(k *kind) bool { return strings.Contains(k.sql, "(") })
}

// addRoutine makes a function that can be called.
func (s *schema) addRoutine(r *rand.Rand) {
	f := &routine{name: s.freshName(r, fmt.Sprintf("call%d", len(s.routines)))}
	own := &schema{used: map[string]bool{"select": true, "columns": true, "order": true, "limit": true, "offset": true, "and": true, "or": true, "on_conflict": true, "apikey": true}}
	for i := range r.IntN(3) {
		f.args = append(f.args, argument{name: own.freshName(r, "x"+strconv.Itoa(i)), kind: pick(r, s.argumentKinds()...), optional: i > 0 && chance(r, 2)})
	}
	var parameters []string
	for _, a := range f.args {
		parameter := identifier(a.name) + " " + a.kind.sql
		if a.optional {
			parameter += " default " + literal(a.kind.values[0])
		}
		parameters = append(parameters, parameter)
	}
	volatility := pick(r, "stable", "volatile", "immutable")
	f.volatile = volatility == "volatile"
	returns, body := "void", "select"
	switch r.IntN(6) {
	case 0, 1:
		t := pick(r, s.relations...)
		f.rows, f.set = t, true
		returns, body = "setof "+s.of(t.name), "select * from "+s.of(t.name)
	case 2:
		if len(f.args) == 0 {
			f.void = true
			break
		}
		f.scalar = f.args[0].kind
		returns, body = f.scalar.sql, "select $1"
	case 3:
		f.scalar, f.set = s.kind("text"), true
		returns, body = "setof text", "values ('a'), (null), ('b,\"c')"
	case 4:
		a, b := &column{name: own.freshName(r, "out"), kind: pick(r, s.kinds...)}, &column{name: own.freshName(r, "Out"), kind: s.kind("int4")}
		f.rows, f.set = &relation{name: f.name, columns: []*column{a, b}}, true
		returns = fmt.Sprintf("table(%s %s, %s int)", identifier(a.name), a.kind.sql, identifier(b.name))
		body = fmt.Sprintf("values (%s::%s, 1), (null, 2), (%[1]s, null)", literal(a.kind.values[0]), a.kind.sql)
	default:
		f.void = true
	}
	if volatility == "immutable" && f.rows != nil {
		volatility = "stable"
	}
	fmt.Fprintf(&s.ddl, "create function %s(%s) returns %s language sql %s %s as %s;\n", s.of(f.name), strings.Join(parameters, ", "), returns, volatility,
		pick(r, "", "security definer"), literal(body))
	s.routines = append(s.routines, f)
}
