// Package sql writes plans as SQL text with bind parameters.
package sql

import (
	"basalt/query"
	"basalt/query/pgjson"
)

// Statement is a compiled plan, shared by all requests of one shape.
//
// Its SQL holds no text of a client's: literals are parameters, identifiers come from the catalog, and output
// names are not in the SQL at all (they are in Layout, which writes the answer). Only where functions of PostgreSQL
// take whole rows (see Media) are output names in it, quoted as identifiers.
type Statement struct {
	SQL    string
	Params []Param
	// Formats are the parameters' formats, 0 for text and 1 for binary; nil when all are text.
	Formats []int16
	// Layout says how result rows become JSON.
	Layout *pgjson.Layout
	// Count gives the total (one row, one bigint), nil when none is needed. It is run before the statement. For an
	// estimated count it stops one beyond Request.MaxRows: a total up to MaxRows is exact, otherwise the greater one of
	// it and Plan's estimate is the answer.
	Count *Statement
	// Plan gives the planner's estimate as EXPLAIN (format json), whose first node has it as "Plan Rows"; nil when none
	// is needed.
	Plan *Statement
	// Renamed are the embeds that the request addressed by their relation's name although they have an alias.
	Renamed []Renamed
	// Guarded says that the statement ends itself with an error when it writes another number of rows than may be: one
	// for PUT and where Request.One is set, no more than max-affected (see Miscounted).
	Guarded bool
	// AtMostOne says that no more than one row is written.
	AtMostOne bool
	// RowsAffected says that the number of rows is the command's own (a write that returns nothing).
	RowsAffected bool
	// Hidden is the number of leading result columns that the answer does not show (keys for Location, an
	// inserted flag, …); Layout describes the columns behind them.
	Hidden []Hidden
	// Page is set when rows come as a page that may have a next one (page=keyset): one row more than asked for is read,
	// which tells, and the hidden columns hold where each row stands in the order.
	Page *Page
	// Scalar says that each row is one bare value (a routine's scalar result), Single that the answer is one
	// value rather than an array, Void that it has none.
	Scalar, Single, Void bool
	// ReadOnly says that the routine called promises not to write.
	ReadOnly bool
	// Nothing says that there is nothing to do (a write without rows or columns): SQL is empty.
	Nothing bool
}

// Renamed is an embed with the alias that it should be addressed by.
type Renamed struct{ Relation, Alias string }

// Page says what a cursor to the next page is made of.
type Page struct{ Order uint64 }

// Hidden is a result column for the server's own use.
type Hidden struct {
	Kind HiddenKind
	Name string // of KeyColumn: the column
}

// HiddenKind tells what a hidden column is for.
type HiddenKind byte

// The hidden columns.
const (
	KeyColumn      HiddenKind = iota + 1 // part of the primary key as text
	InsertedColumn                       // boolean: the row was inserted, not updated
	TotalColumn                          // bigint: how many rows there are without limit and offset
	CursorColumn                         // the value of a term of the order as text
	ShownColumn                          // boolean, NULL where there is no row to show beside the total
	RowsColumn                           // bigint: how many rows went into the one that is given; the last hidden column
)

// Param says where the value of a bind parameter ($1 is the first) comes from.
type Param struct {
	Source ParamSource
	Index  int            // of Value: in Query.Values; of Cell, Cells and Given: of the key in Payload.Keys; of Argument: in Query.Arguments; of Cursor: in Cursor.Values
	Text   string         // of Constant
	Like   bool           // of Value: * stands for %
	List   bool           // of Value: the elements of in (…) or of an {…} array, to be written as an array literal
	Max    int64          // of Value: a number capped at this, 0 for no cap
	Form   query.CellForm // of Cell and Cells
}

// ParamSource is where a parameter's value comes from.
type ParamSource byte

// The sources.
const (
	Value    ParamSource = iota + 1 // a literal of the query string
	Argument                        // of Query.Arguments; the last value, or with List all as an array literal
	Constant                        // text fixed at compile time (JSON keys, configurations)
	Limit                           // of the top level
	Offset
	Cell  // the cell of a one-row payload
	Cells // the cells of one key in all rows as an array of text, in binary
	Given // which rows have the key, as an array of booleans, in binary
	Rows  // how many rows the payload has
	Body  // the whole payload as it came
	// BodyBytes is the whole payload as a bytea, in binary.
	BodyBytes
	// PageLimit is one more than Limit, which tells whether there is a next page.
	PageLimit
	Cursor      // a value of the request's cursor
	MaxAffected // the preference of this name
)

// binary says that the values of a parameter are in PostgreSQL's binary format.
func (p *Param) binary() bool { return p.Source == Cells || p.Source == Given || p.Source == BodyBytes }

// formats gives the formats of parameters, nil when all are text.
func formats(params []Param) []int16 {
	var list []int16
	for i := range params {
		if params[i].binary() {
			if list == nil {
				list = make([]int16, len(params))
			}
			list[i] = 1
		}
	}
	return list
}
