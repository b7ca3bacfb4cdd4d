package sql

import "basalt/query/plan"

// oneAsJSON writes the query of an embed to one behind its select: an object r, and what the parent orders by.
func (b *builder) oneAsJSON(parent, s *scope, e *plan.Embed) {
	source, row := b.alias("y"), b.alias("x")
	b.write(jsonOf(s.comparable), "(", whole(row), ") as r")
	for i := range parent.node.Order {
		if parent.node.Order[i].Embed == e {
			b.write(", ", source, ".", orderName(i))
		}
	}
	b.write("\nfrom (\n")
	b.numbered(parent, s, e, true)
	b.write("\n) ", source, ", lateral ")
	b.record(s.node.Items, source, row)
}

// recordsAsJSON writes an embed to many as an array of objects.
func (b *builder) recordsAsJSON(parent, s *scope, e *plan.Embed) {
	source, row := b.alias("y"), b.alias("x")
	b.write("(select coalesce(", arrayOf(s.comparable), "(", whole(row), "), '[]')\nfrom (\n")
	b.numbered(parent, s, e, false)
	b.write("\n) ", source, ", lateral ")
	b.record(s.node.Items, source, row)
	b.write(")")
}

// whole is the row of a source as one value. A bare alias would be the column of that name, where there is one: names
// in answers are the clients' to choose.
func whole(source string) string { return "(" + source + ".*)" }

// numbered writes the query of an embed's rows, its values by number.
func (b *builder) numbered(parent, s *scope, e *plan.Embed, ordering bool) {
	b.write("select ")
	b.items(s, true, represented)
	if ordering {
		b.orderedBy(parent, s, e, commaBefore(s.node.Items))
	}
	b.body(s, parent, e)
	b.order(s)
	b.window(s.node)
}

// represented is the wrap of values that PostgreSQL's own functions make JSON of: these know nothing of a domain's
// cast to json.
func represented(b *builder, s *scope, item *plan.Item, start int) {
	if item.Type != nil && item.Type.JSONCast.Name != "" {
		wrapped(b, s, item, start)
	}
}

// listAsJSON writes the values of a spread to many as a JSON array.
func (b *builder) listAsJSON(rows, name string, comparable bool) {
	b.write("coalesce(", arrayOf(comparable), "(", rows, ".", name, "), '[]') as ", name)
}

// jsonOf names the function that makes JSON of a value. Values that are grouped by need an equality, which json lacks.
func jsonOf(comparable bool) string {
	if comparable {
		return "pg_catalog.to_jsonb"
	}
	return "pg_catalog.to_json"
}

// arrayOf names the aggregate that makes a JSON array of values.
func arrayOf(comparable bool) string {
	if comparable {
		return "pg_catalog.jsonb_agg"
	}
	return "pg_catalog.json_agg"
}
