package plan

import (
	"strings"

	"basalt/query"
	"basalt/query/catalog"
)

// Error is why a request cannot be planned, in the words that the client reads. Code is one of PostgREST's codes
// or the SQLSTATE that PostgreSQL would have given.
type Error struct {
	Code    string
	Message string
	Details string // "" for none
	Hint    string // "" for none
	// Choices are the details of an ambiguous embed.
	Choices []Choice
}

// Choice is one of several relationships that an embed may mean.
type Choice struct {
	Cardinality  string `json:"cardinality"`
	Embedding    string `json:"embedding"`
	Relationship string `json:"relationship"`
}

// Error gives the message.
func (e *Error) Error() string { return e.Message }

func notEmbedded(name string) error {
	return &Error{
		Code:    "PGRST108",
		Message: "'" + name + "' is not an embedded resource in this request",
		Hint:    "Verify that '" + name + "' is included in the 'select' query parameter.",
	}
}

func addressedByRelation(name, alias string) error {
	return &Error{
		Code:    "PGRST108",
		Message: "'" + name + "' is not an embedded resource in this request",
		Details: "Target names are not allowed in filters if they have an alias",
		Hint:    "Change '" + name + "' to '" + alias + "' in filters, orders or limits.",
	}
}

func relatedOrderToMany(from, name string) error {
	return &Error{
		Code:    "PGRST118",
		Message: "A related order on '" + name + "' is not possible",
		Details: "'" + from + "' and '" + name + "' do not form a many-to-one or one-to-one relationship",
	}
}

func badEmbedOperator(name string) error {
	return &Error{
		Code:    "PGRST120",
		Message: "Bad operator on the '" + name + "' embedded resource",
		Details: "Only is null or not is null filters are allowed on embedded resources",
	}
}

func aggregatesNotAllowed() error {
	return &Error{
		Code:    "PGRST123",
		Message: "Use of aggregate functions is not allowed",
		Hint:    "The operator can allow them with --rest-aggregates.",
	}
}

func tooComplex() error {
	return &Error{
		Code:    "PGRST100",
		Message: "The query is too complex",
		Details: "Conditions on embedded resources are checked for each of their mentions, which makes too many of them.",
		Hint:    "Send fewer conditions, or mention the embedded resources less often.",
	}
}

func notImplemented(details string) error {
	return &Error{Code: "PGRST127", Message: "Feature not implemented", Details: details}
}

func typeNotFound(name string) error {
	return &Error{Code: "42704", Message: `type "` + name + `" does not exist`}
}

func columnNotFound(source *Source, name string) error {
	return &Error{
		Code:    "42703",
		Message: "column " + source.Name + "." + name + " does not exist",
		Hint:    columnHint(source, name),
	}
}

func (p *planner) tableNotFound(name catalog.Name) error {
	e := &Error{
		Code:    "PGRST205",
		Message: "Could not find the table '" + name.String() + "' in the schema cache",
	}
	if near, ok := p.catalog.Similar(name.Schema, catalog.RelationName, name.Name); ok {
		e.Hint = "Perhaps you meant the table '" + catalog.Name{Schema: name.Schema, Name: near}.String() + "'"
	}
	return e
}

func (p *planner) noRelationship(source *Source, item *query.Item) error {
	details := "Searched for a foreign key relationship between '" + source.Name + "' and '" + item.Relation + "'"
	if len(item.Hints) > 0 {
		details += " using the hint '" + strings.Join(item.Hints, "!") + "'"
	}
	details += " in the schema '" + p.request.Schema + "', but no matches were found."
	e := &Error{
		Code: "PGRST200",
		Message: "Could not find a relationship between '" + source.Name + "' and '" + item.Relation +
			"' in the schema cache",
		Details: details,
	}
	if source.Relation == nil {
		return e
	}
	wrong, find := item.Relation, func() (string, bool) {
		return p.catalog.SimilarTarget(source.Relation.Name, p.request.Schema, item.Relation)
	}
	if !p.catalog.Related(source.Relation.Name, p.request.Schema) {
		wrong, find = source.Name, func() (string, bool) { return p.catalog.SimilarOrigin(source.Relation.Name) }
	}
	if near, ok := find(); ok {
		e.Hint = "Perhaps you meant '" + near + "' instead of '" + wrong + "'."
	}
	return e
}

func ambiguous(from, to string, found []*catalog.Relationship) error {
	e := &Error{
		Code:    "PGRST201",
		Message: "Could not embed because more than one relationship was found for '" + from + "' and '" + to + "'",
	}
	ways := make([]string, 0, len(found))
	for _, r := range found {
		e.Choices = append(e.Choices, choice(r))
		way := r.Constraint
		if r.Junction != nil {
			way = r.Junction.Table.Name.Name
		}
		ways = append(ways, "'"+r.To.Name.Name+"!"+way+"'")
	}
	e.Hint = "Try changing '" + to + "' to one of the following: " + strings.Join(ways, ", ") +
		". Find the desired relationship in the 'details' key."
	return e
}

func choice(r *catalog.Relationship) Choice {
	c := Choice{
		Cardinality: r.Cardinality.String(),
		Embedding:   r.From.Name.Name + " with " + r.To.Name.Name,
	}
	if j := r.Junction; j != nil {
		c.Relationship = j.Table.Name.Name + " using " + j.ConstraintFrom + columnList(j.FromColumns, pairTo) +
			" and " + j.ConstraintTo + columnList(j.ToColumns, pairFrom)
		return c
	}
	c.Relationship = r.Constraint + " using " + r.From.Name.Name + columnList(r.Columns, pairFrom) +
		" and " + r.To.Name.Name + columnList(r.Columns, pairTo)
	return c
}

func pairFrom(p catalog.ColumnPair) *catalog.Column { return p.From }
func pairTo(p catalog.ColumnPair) *catalog.Column   { return p.To }

func columnList(pairs []catalog.ColumnPair, side func(catalog.ColumnPair) *catalog.Column) string {
	names := make([]string, len(pairs))
	for i, p := range pairs {
		names[i] = side(p).Name
	}
	return "(" + strings.Join(names, ", ") + ")"
}
