package query_test

import (
	"net/url"
	"strconv"
	"strings"

	"basalt/query"
)

// printQuery writes a query in the grammar again, every name quoted, so that tests can compare what was understood and
// parse it once more.
func printQuery(q *query.Query) string { return strings.Join(printParameters(q, url.QueryEscape), "&") }

// describe is printQuery without percent-encoding, for people.
func describe(q *query.Query) string {
	return strings.Join(printParameters(q, func(s string) string { return s }), " & ")
}

func printParameters(q *query.Query, escape func(string) string) []string {
	var out []string
	add := func(key, value string) { out = append(out, escape(key)+"="+escape(value)) }
	if q.HasSelect {
		add("select", printItems(q.Select))
	}
	type argument struct {
		name string
		ref  query.Ref
	}
	var arguments []argument
	for ref := range q.Values { // in the order of their values, between the conditions
		for _, a := range q.Arguments {
			for _, r := range a.Values {
				if r == query.Ref(ref) {
					arguments = append(arguments, argument{a.Name, r})
				}
			}
		}
	}
	takeArguments := func(before query.Ref) {
		for len(arguments) > 0 && arguments[0].ref < before {
			add(quote(arguments[0].name), q.Values[arguments[0].ref])
			arguments = arguments[1:]
		}
	}
	for i := range q.Where {
		c := &q.Where[i]
		takeArguments(firstRef(c))
		if c.Logic == query.Compare {
			add(printPath(c.Path)+printField(c.Field), printPredicate(q, c, false))
			continue
		}
		word := map[query.Logic]string{query.And: "and", query.Or: "or"}[c.Logic]
		if c.Negated {
			word = "not." + word
		}
		add(printPath(c.Path)+word, printChildren(q, c))
	}
	takeArguments(query.Ref(len(q.Values)))
	for _, o := range q.Order {
		add(printPath(o.Path)+"order", printTerms(o.Terms))
	}
	for _, r := range q.Ranges {
		if r.Limit >= 0 || r.Offset < 0 {
			limit := ""
			if r.Limit >= 0 {
				limit = strconv.FormatInt(r.Limit, 10)
			}
			add(printPath(r.Path)+"limit", limit)
		}
		if r.Offset >= 0 {
			add(printPath(r.Path)+"offset", strconv.FormatInt(r.Offset, 10))
		}
	}
	if q.HasColumns {
		add("columns", printNames(q.Columns, ","))
	}
	if q.OnConflict != nil {
		add("on_conflict", printNames(q.OnConflict, ","))
	}
	return out
}

func firstRef(c *query.Condition) query.Ref {
	if c.Value != query.None {
		return c.Value
	}
	for i := range c.Children {
		if ref := firstRef(&c.Children[i]); ref != query.None {
			return ref
		}
	}
	return query.None
}

func quote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

func printNames(names []string, separator string) string {
	var quoted []string
	for _, name := range names {
		quoted = append(quoted, quote(name))
	}
	return strings.Join(quoted, separator)
}

func printPath(path []string) string {
	if len(path) == 0 {
		return ""
	}
	return printNames(path, ".") + "."
}

func printField(f query.Field) string {
	out := quote(f.Name)
	for _, step := range f.Path {
		out += "->"
		if step.AsText {
			out += ">"
		}
		if step.Quoted {
			out += quote(step.Key)
		} else {
			out += step.Key
		}
	}
	return out
}

func printItems(items []query.Item) string {
	var out []string
	for i := range items {
		out = append(out, printItem(&items[i]))
	}
	return strings.Join(out, ",")
}

func printItem(item *query.Item) string {
	alias := ""
	if item.Alias != "" {
		alias = quote(item.Alias) + ":"
	}
	cast := func(name string) string {
		if name == "" {
			return ""
		}
		return "::" + name
	}
	switch item.Kind {
	case query.StarItem:
		return "*"
	case query.CountItem:
		return alias + "count()" + cast(item.AggCast)
	case query.ColumnItem:
		out := alias + printField(item.Field) + cast(item.Cast)
		if item.Aggregate != "" {
			out += "." + item.Aggregate + "()" + cast(item.AggCast)
		}
		return out
	}
	out := alias
	if item.Kind == query.SpreadItem {
		out = "..."
	}
	out += quote(item.Relation)
	for _, hint := range item.Hints {
		out += "!" + quote(hint)
	}
	if item.Join == query.InnerJoin {
		out += "!inner"
	}
	return out + "(" + printItems(item.Items) + ")"
}

func printPredicate(q *query.Query, c *query.Condition, nested bool) string {
	out := ""
	if c.Negated {
		out = "not."
	}
	out += c.Operator.Name
	switch {
	case c.Quantifier == query.Any:
		out += "(any)"
	case c.Quantifier == query.All:
		out += "(all)"
	case c.Config != "":
		out += "(" + c.Config + ")"
	}
	out += "."
	switch {
	case c.Operator.Kind == query.Is:
		return out + map[query.IsKind]string{query.IsNull: "null", query.IsNotNull: "not_null", query.IsTrue: "true",
			query.IsFalse: "false", query.IsUnknown: "unknown"}[c.Is]
	case nested && c.Operator.Kind != query.InList:
		return out + quote(q.Values[c.Value])
	default:
		return out + q.Values[c.Value]
	}
}

func printChildren(q *query.Query, c *query.Condition) string {
	var out []string
	for i := range c.Children {
		child := &c.Children[i]
		if child.Logic == query.Compare {
			out = append(out, printField(child.Field)+"."+printPredicate(q, child, true))
			continue
		}
		word := map[query.Logic]string{query.And: "and", query.Or: "or"}[child.Logic]
		if child.Negated {
			word = "not." + word
		}
		out = append(out, word+printChildren(q, child))
	}
	return "(" + strings.Join(out, ",") + ")"
}

func printTerms(terms []query.OrderTerm) string {
	var out []string
	for _, t := range terms {
		term := printField(t.Field)
		if t.Relation != "" {
			term = quote(t.Relation) + "(" + term + ")"
		}
		if t.Descending {
			term += ".desc"
		}
		switch t.Nulls {
		case query.NullsFirst:
			term += ".nullsfirst"
		case query.NullsLast:
			term += ".nullslast"
		}
		out = append(out, term)
	}
	return strings.Join(out, ",")
}
