package oracle_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// users are those who have rows.
func users() []string {
	return []string{"00000000-0000-4000-8000-00000000000a", "00000000-0000-4000-8000-00000000000b"}
}

// addRights gives roles what they may do, and tables policies.
func (s *schema) addRights(r *rand.Rand) {
	name := identifier(s.name)
	fmt.Fprintf(&s.ddl, "grant usage on schema %s to anon, authenticated, service_role;\n", name)
	fmt.Fprintf(&s.ddl, "revoke all on all tables in schema %s from anon, authenticated, service_role;\n", name)
	fmt.Fprintf(&s.ddl, "grant all on all tables in schema %s to service_role;\ngrant all on all sequences in schema %[1]s to anon, authenticated, service_role;\n", name)
	for i, t := range s.relations {
		for _, role := range []string{"anon", "authenticated"} {
			s.grant(r, t, role)
		}
		if t.over == nil && !chance(r, 4) {
			s.addPolicies(r, t, s.relations[:i])
		}
	}
	for _, f := range s.routines {
		if chance(r, 5) {
			fmt.Fprintf(&s.ddl, "revoke execute on function %s from public, anon;\n", s.of(f.name))
		}
	}
}

func (s *schema) grant(r *rand.Rand, t *relation, role string) {
	some := func() string {
		var names []string
		for _, c := range t.columns {
			if !chance(r, 4) {
				names = append(names, identifier(c.name))
			}
		}
		return strings.Join(names, ", ")
	}
	switch r.IntN(16) {
	case 0:
	case 1:
		fmt.Fprintf(&s.ddl, "grant select on %s to %s;\n", s.of(t.name), role)
	case 2:
		if list := some(); list != "" {
			fmt.Fprintf(&s.ddl, "grant select (%s) on %s to %s;\n", list, s.of(t.name), role)
		}
		fmt.Fprintf(&s.ddl, "grant insert, update, delete on %s to %s;\n", s.of(t.name), role)
	case 3:
		fmt.Fprintf(&s.ddl, "grant select on %s to %s;\n", s.of(t.name), role)
		if list := some(); list != "" {
			fmt.Fprintf(&s.ddl, "grant insert (%s), update (%[1]s) on %s to %s;\n", list, s.of(t.name), role)
		}
	case 4:
		fmt.Fprintf(&s.ddl, "grant insert, update, delete on %s to %s;\n", s.of(t.name), role)
	default:
		fmt.Fprintf(&s.ddl, "grant all on %s to %s;\n", s.of(t.name), role)
	}
}

// addPolicies protects a table. What the policies speak of is all that requests may depend on: the user, the claims,
// the role, the row, and rows of tables before it, which are under policies themselves.
func (s *schema) addPolicies(r *rand.Rand, t *relation, before []*relation) {
	conditions := []string{"true", "true", "current_user = 'authenticated'", "auth.role() = 'anon'", "coalesce((auth.jwt() ->> 'level')::int, 0) > 4"}
	for _, c := range t.columns {
		switch {
		case c.byDefault == "auth.uid()":
			own := identifier(c.name) + " = auth.uid()"
			conditions = append(conditions, own, own, own, identifier(c.name)+" = (select auth.uid())")
		case c.kind.order:
			conditions = append(conditions, identifier(c.name)+" is not null", fmt.Sprintf("%s <> %s::%s", identifier(c.name), literal(pick(r, c.kind.values...)), c.kind.sql))
		default:
			conditions = append(conditions, identifier(c.name)+" is null")
		}
	}
	for _, key := range s.keys {
		if key.child != t || key.parent == t {
			continue
		}
		for _, p := range before {
			if p == key.parent {
				conditions = append(conditions, fmt.Sprintf("exists (select from %s p where p.%s = %s.%s)", s.of(p.name), identifier(key.refs[0].name), s.of(t.name), identifier(key.columns[0].name)))
			}
		}
	}
	fmt.Fprintf(&s.ddl, "alter table %s enable row level security;\n", s.of(t.name))
	for i := range 2 + r.IntN(4) {
		command := pick(r, "all", "all", "select", "select", "insert", "update", "delete")
		kind := pick(r, "permissive", "permissive", "permissive", "permissive", "permissive", "permissive", "restrictive")
		fmt.Fprintf(&s.ddl, "create policy p%d on %s as %s for %s to %s", i, s.of(t.name), kind, command, pick(r, "public", "anon", "authenticated", "anon, authenticated"))
		if command != "insert" {
			fmt.Fprintf(&s.ddl, " using (%s)", pick(r, conditions...))
		}
		if command == "insert" || command == "update" && chance(r, 2) || command == "all" && chance(r, 2) {
			fmt.Fprintf(&s.ddl, " with check (%s)", pick(r, conditions...))
		}
		s.ddl.WriteString(";\n")
	}
}
