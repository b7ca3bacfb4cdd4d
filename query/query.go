// Package query is the REST dialect as data: what a client asks of a relation or routine, parsed from a URL,
// its preferences and its body, before anything is known of the database.
//
// Parsing separates a request's shape (names, operators, structure) from its values (literals). Requests of
// one shape share one compiled statement; values only ever travel as bind parameters.
package query

import "math/bits"

// Action is what a request does.
type Action byte

// The actions.
const (
	Read   Action = iota + 1
	Insert        // POST
	Update        // PATCH
	Put           // PUT: upsert of one row by its primary key
	Delete
	Call // of a routine
)

// Request is one request to /rest/v1, free of HTTP.
type Request struct {
	Action Action
	Schema string // the schema it is looked for in
	Target string // the relation's or routine's name
	Query  *Query
	Prefer Preferences
	// Payload is the body of a write or call, nil when there is none.
	Payload *Payload
	// Limit and Offset of the top level after Range header, limit=, offset= and the server's maximum were brought
	// together; Limit < 0 means none.
	Limit, Offset int64
	// Cursor is where a page begins (page=keyset), nil for the first one.
	Cursor *Cursor
	// One says that a write must give back exactly one row: it is answered by one object.
	One bool
	// Returning says that the rows written are wanted back (return=representation, or the key for headers-only).
	Returning Returning
	// MaxRows caps every embed that asks for more or names no limit; 0 means no cap.
	MaxRows int64
	// Aggregates says whether aggregate functions may be used.
	Aggregates bool
	// LegacyTargetNames lets an aliased embed be addressed by its relation's name too.
	LegacyTargetNames bool
}

// Ceiling is the power of two that Limit does not exceed, for a statement to be planned for: PostgreSQL takes a bound
// limit for a tenth of all rows, finds a plan for that too dear to keep and plans at each execution. It is 0 for none,
// which goes for requests with conditions too: for their values a plan of its own each time is worth its price.
func (r *Request) Ceiling() int64 {
	if r.Action != Read || r.Prefer.Page != PageUnset || r.Limit <= 0 || r.Limit > maxCeiling || r.Offset > 0 || len(r.Query.Where) > 0 {
		return 0
	}
	return 1 << bits.Len64(uint64(r.Limit-1))
}

// maxCeiling is the largest Ceiling. So many rows take longer than to plan.
const maxCeiling = 1 << 16

// Returning says what a write gives back.
type Returning byte

// What a write may give back.
const (
	ReturnNothing Returning = iota
	ReturnKey               // the primary key, for Location
	ReturnRows              // what select asks for
)

// Query is a parsed query string. Its slices are reused by the next Parse.
type Query struct {
	Select     []Item // in order; meaningless unless HasSelect
	HasSelect  bool   // absent select means every column
	Where      []Condition
	Order      []Order
	Ranges     []Range  // of embeds; the top level's own has an empty path
	Columns    []string // columns=, nil when absent
	HasColumns bool
	OnConflict []string // on_conflict=, nil when absent
	Arguments  []Argument
	// Values are the literals that conditions, arguments and ranges refer to by their index, as text that is free of
	// the dialect's escapes, with these exceptions:
	//   - patterns (Operator.Kind Pattern) keep their *, which stands for %;
	//   - the list of the operator in keeps its parentheses and quotes: ("a,b",c);
	//   - the array behind (any) and (all) is in PostgreSQL's own spelling: {"a,b",c}, not checked.
	// AppendArrayLiteral turns both kinds of list into what PostgreSQL reads as an array.
	Values []string
	// Shape is the canonical text of all but the values: equal shapes compile to equal statements.
	Shape []byte
}

// Ref is the index of a literal in Query.Values; None where there is none.
type Ref int32

// None is the absent Ref.
const None Ref = -1

// ItemKind tells what an Item of select is.
type ItemKind byte

// The kinds of item.
const (
	ColumnItem ItemKind = iota
	StarItem            // every column
	CountItem           // count() of rows
	EmbedItem           // relation(…)
	SpreadItem          // ...relation(…)
)

// Item is one element of select.
type Item struct {
	Kind      ItemKind
	Alias     string // "" when none
	Field     Field  // of a ColumnItem
	Cast      string // type before the aggregate, "" when none
	Aggregate string // avg, count, max, min, sum, "" when none
	AggCast   string // type after the aggregate, "" when none
	// Of EmbedItem and SpreadItem:
	Relation string
	Hints    []string // constraint, column or junction names
	Join     JoinKind
	Items    []Item // empty parentheses embed for filtering only
}

// JoinKind is !inner or !left.
type JoinKind byte

// The joins.
const (
	LeftJoin JoinKind = iota
	InnerJoin
)

// Field is a column, or a place inside its JSON value.
type Field struct {
	Name string
	Path []Step
}

// Step is one -> or ->> of a JSON path. Keys are names (part of the shape), but travel as bind parameters.
type Step struct {
	Key    string
	Index  bool // Key is an array position such as 0 or -1
	AsText bool // ->>
	Quoted bool // the key was written in double quotes
}

// Logic tells how a Condition decides.
type Logic byte

// The kinds of condition.
const (
	Compare Logic = iota
	And
	Or
)

// Condition is a predicate or a tree of predicates.
type Condition struct {
	Path     []string // the embeds that lead to it, empty for the top level; only on the roots in Query.Where
	Logic    Logic
	Negated  bool
	Children []Condition // of And and Or
	// Of Compare:
	Field      Field
	Operator   *Operator
	Quantifier Quantifier
	Config     string // text search configuration, "" when none
	Is         IsKind // of operator is
	Value      Ref    // None for is
}

// Quantifier is (any) or (all) behind an operator.
type Quantifier byte

// The quantifiers.
const (
	NoQuantifier Quantifier = iota
	Any
	All
)

// IsKind is the right side of the operator is.
type IsKind byte

// The right sides of is.
const (
	IsNull IsKind = iota + 1
	IsNotNull
	IsTrue
	IsFalse
	IsUnknown
)

// Order is the ordering of the top level or of an embed.
type Order struct {
	Path  []string
	Terms []OrderTerm
}

// OrderTerm is one term of an ordering.
type OrderTerm struct {
	Relation   string // order by a column of this to-one embed, "" otherwise
	Field      Field
	Descending bool
	Nulls      NullsOrder
}

// NullsOrder is .nullsfirst or .nullslast.
type NullsOrder byte

// Where nulls stand.
const (
	NullsDefault NullsOrder = iota
	NullsFirst
	NullsLast
)

// Range is limit and offset of the top level or of an embed; -1 where absent or not a number.
// For embeds the number stands in Values too, so that it may be bound.
type Range struct {
	Path                []string
	Limit, Offset       int64
	LimitRef, OffsetRef Ref
}

// Argument is a routine's argument given in the query string; repeated keys give several values.
type Argument struct {
	Name   string
	Values []Ref
}
