// Package pgjson writes PostgreSQL's binary values as the JSON text that its own to_json prints.
package pgjson

// Layout describes one result row: how its columns become the members of a JSON object.
type Layout struct {
	Columns []Column
}

// Column is one member of an object.
type Column struct {
	// Key is the member's name as JSON with the colon behind it: "name":
	Key  string
	Name string // the name as it is, for CSV headers
	Kind ColumnKind
	// Members are the fields of a Record or of the records in a Records column. A List with one member is an array
	// of records with that one field, which stands for the element: PostgreSQL has no arrays whose elements are arrays
	// of different lengths.
	Members []Column
	// Delimiter stands between the elements of a Wrapped array's text, 0 for the comma.
	Delimiter byte
	// Optional says that NULL of Records or a List is null: the row is not there that it would belong to.
	Optional bool
}

// absent is what stands for NULL of Records or a List.
func (c *Column) absent() string {
	if c.Optional {
		return "null"
	}
	return "[]"
}

// ColumnKind tells what a column's value is.
type ColumnKind byte

// The kinds of column.
const (
	Scalar  ColumnKind = iota // any value; its type decides
	Record                    // an anonymous record (a to-one embed): an object or null
	Records                   // an array of anonymous records (a to-many embed): an array, [] for NULL
	List                      // an array of values (a to-many spread): [] for NULL
	Wrapped                   // a value of a type that is not Native, as to_json(column): JSON, but text in CSV
)

// NewColumn makes a column with its key escaped as JSON.
func NewColumn(name string, kind ColumnKind, members ...Column) Column {
	key := append(AppendString(make([]byte, 0, len(name)+3), name), ':')
	return Column{Key: string(key), Name: name, Kind: kind, Members: members}
}
