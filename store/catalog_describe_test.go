package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"basalt/query/catalog"
)

func describeColumn(c *catalog.Column) string {
	var b strings.Builder
	b.WriteString(c.Name + " " + c.Type.SQL)
	if c.NotNull {
		b.WriteString(" not null")
	}
	if c.Default != "" {
		b.WriteString(" default " + c.Default)
	}
	if c.Identity != 0 {
		b.WriteString(" identity " + string(c.Identity))
	}
	if c.Generated {
		b.WriteString(" generated")
	}
	if c.MaxLength != 0 {
		fmt.Fprintf(&b, " length %d", c.MaxLength)
	}
	if c.Comment != "" {
		b.WriteString(" comment " + c.Comment)
	}
	return b.String()
}

func columnNames(columns []*catalog.Column) string {
	var names []string
	for _, c := range columns {
		names = append(names, c.Name)
	}
	return strings.Join(names, " ")
}

// describeRelationships describes those that lead to a relation of public.
func describeRelationships(c *catalog.Catalog, from catalog.Name, to string) []string {
	var list []string
	for _, r := range c.Relationships(from) {
		if r.To.Name == public(to) {
			list = append(list, describeRelationship(r))
		}
	}
	return list
}

func describeRelationship(r *catalog.Relationship) string {
	parts := []string{r.Cardinality.String()}
	if r.Self {
		parts = append(parts, "self")
	}
	if r.Inverse {
		parts = append(parts, "inverse")
	}
	pairs := func(columns []catalog.ColumnPair) {
		for _, p := range columns {
			parts = append(parts, p.From.Name+"="+p.To.Name)
		}
	}
	switch {
	case r.Function != nil:
		parts = append(parts, r.Function.Name.Name+"()")
	case r.Junction != nil:
		parts = append(parts, r.Junction.Table.Name.Name, r.Junction.ConstraintFrom)
		pairs(r.Junction.FromColumns)
		parts = append(parts, r.Junction.ConstraintTo)
		pairs(r.Junction.ToColumns)
	default:
		parts = append(parts, r.Constraint)
		pairs(r.Columns)
	}
	return strings.Join(parts, " ")
}

func describeRoutine(r *catalog.Routine) string {
	var args []string
	for i, a := range r.Args {
		text := a.Name + " " + a.Type.SQL
		if a.HasDefault {
			text += " default"
		}
		if r.Variadic && i == len(r.Args)-1 {
			text = "variadic " + text
		}
		args = append(args, text)
	}
	parts := []string{r.Name.Name + "(" + strings.Join(args, ", ") + ")"}
	parts = append(parts, map[catalog.Volatility]string{
		catalog.Immutable: "immutable", catalog.Stable: "stable", catalog.Volatile: "volatile",
	}[r.Volatility])
	if r.ReturnsSet {
		parts = append(parts, "setof")
	}
	parts = append(parts, r.Returns.SQL)
	for _, o := range r.Out {
		parts = append(parts, "out", o.Name, o.Type.SQL)
	}
	if r.Relation != nil {
		parts = append(parts, "relation", r.Relation.Name.Name)
	}
	if r.Rows != 0 {
		parts = append(parts, fmt.Sprintf("rows %g", r.Rows))
	}
	for _, s := range r.Settings {
		parts = append(parts, "set", s.Name+"="+s.Value)
	}
	if r.Comment != "" {
		parts = append(parts, "comment", r.Comment)
	}
	return strings.Join(parts, " ")
}

func compare(t *testing.T, got, want []string) {
	t.Helper()
	if slices.Equal(got, want) {
		return
	}
	t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
}
