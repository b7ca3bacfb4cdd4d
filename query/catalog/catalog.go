// Package catalog is the immutable model of what a database offers: its relations, their keys and
// relationships, its routines and its types.
//
// A Catalog is built once from the rows that PostgreSQL's system tables give (see Build) and never
// changes afterwards; a schema change makes a new one. Requests keep the one that they began with.
package catalog

// OID is PostgreSQL's object identifier.
type OID = uint32

// Name is the schema-qualified name of a relation, routine or type, as PostgreSQL spells it (unquoted).
type Name struct {
	Schema string
	Name   string
}

// String gives schema.name without quotes, as PostgREST's messages spell it.
func (n Name) String() string { return n.Schema + "." + n.Name }

// RelationKind tells what kind of relation a Relation is.
type RelationKind byte

// The kinds of relation, by pg_class.relkind.
const (
	Table            RelationKind = 'r'
	PartitionedTable RelationKind = 'p'
	View             RelationKind = 'v'
	MaterializedView RelationKind = 'm'
	ForeignTable     RelationKind = 'f'
)

// Relation is a table or anything that is read like one.
type Relation struct {
	OID        OID
	Name       Name
	Kind       RelationKind
	Comment    string
	Columns    []*Column // in attribute order, dropped ones left out
	PrimaryKey []*Column // in key order; for a view the columns that stand for its base table's key
	Uniques    [][]*Column
	// Insertable, Updatable and Deletable follow pg_relation_is_updatable, INSTEAD OF triggers and rules included.
	Insertable, Updatable, Deletable bool
	RowType                          OID  // pg_class.reltype
	Parent                           bool // other tables may inherit from it, to whose rows its keys do not extend

	// columns is nil for narrow relations: a scan finds a name sooner than a map, and takes no memory.
	columns map[string]*Column
}

// Column finds a column by its name, or gives nil.
func (r *Relation) Column(name string) *Column {
	if r.columns != nil {
		return r.columns[name]
	}
	for _, c := range r.Columns {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// IsView says that the rows are those of a query, materialized or not.
func (r *Relation) IsView() bool { return r.Kind == View || r.Kind == MaterializedView }

// Column is one attribute of a relation.
type Column struct {
	Name      string
	Number    int16 // pg_attribute.attnum
	Type      *Type
	TypeMod   int32
	NotNull   bool
	Default   string // the expression of the column's or its domain's default, "" when none or Generated
	Generated bool   // GENERATED ALWAYS AS (…) STORED or VIRTUAL
	Writable  bool   // of a view: that a write may name it; of other relations true
	Identity  byte   // 'a' always, 'd' by default, 0 none
	MaxLength int32  // of varchar(n), char(n), bit(n) and bit varying(n), 0 when unbounded
	Comment   string
}

// HasDefault says whether an INSERT that leaves the column out stores something other than NULL.
func (c *Column) HasDefault() bool { return c.Default != "" || c.Identity != 0 || c.Generated }

// System says that PostgreSQL keeps the column in every stored row.
func (c *Column) System() bool { return c.Number < 0 }

// TypeKind is pg_type.typtype.
type TypeKind byte

// The kinds of type.
const (
	BaseType       TypeKind = 'b'
	CompositeType  TypeKind = 'c'
	DomainType     TypeKind = 'd'
	EnumType       TypeKind = 'e'
	PseudoType     TypeKind = 'p'
	RangeType      TypeKind = 'r'
	MultirangeType TypeKind = 'm'
)

// Type is one row of pg_type with what the compiler and the JSON writer need of it.
type Type struct {
	OID      OID
	Name     Name
	Kind     TypeKind
	Category byte   // pg_type.typcategory: 'A' array, 'N' numeric, 'S' string, …
	SQL      string // format_type(oid, -1): how SQL spells it without a length ("bit", bpchar), qualified where needed
	Elem     *Type  // element type of an array (typcategory 'A' with a true array subscript), else nil
	Base     *Type  // a domain's base type, else nil
	Array    OID    // the type of arrays of this, 0 when none
	Labels   []string
	Fields   []Field // of a composite type; empty for the row types of system tables
	Relation *Relation
	// JSONCast is the function that a cast from this domain to json names (a domain representation), zero when none.
	JSONCast Name
	// FromText and FromJSON are the functions of the casts from text and json to this domain, zero when none:
	// filters are read by the one, payloads by the other.
	FromText, FromJSON Name
}

// Field is one attribute of a composite type.
type Field struct {
	Name string
	Type *Type
}

// Underlying follows domains down to what they rest on.
func (t *Type) Underlying() *Type {
	for t.Base != nil {
		t = t.Base
	}
	return t
}

// IsComposite says that the type was made by create type as (…): rows of relations are of types that have a Relation.
func (t *Type) IsComposite() bool {
	return t.Kind == CompositeType && t.Relation == nil && len(t.Fields) > 0
}

// Volatility is pg_proc.provolatile.
type Volatility byte

// The volatilities.
const (
	Immutable Volatility = 'i'
	Stable    Volatility = 's'
	Volatile  Volatility = 'v'
)

// Routine is one function (not an aggregate, window function or procedure).
type Routine struct {
	OID        OID
	Name       Name
	Comment    string
	Args       []Arg // input arguments (IN, INOUT, VARIADIC) in order
	Variadic   bool  // the last argument is VARIADIC
	Volatility Volatility
	Returns    *Type // scalar, composite or pseudo type; record with several in Out
	ReturnsSet bool
	Out        []Field   // OUT, INOUT and TABLE columns, when the result is built of them
	Relation   *Relation // the relation whose row type is returned, else nil
	Rows       float32   // pg_proc.prorows
	Settings   []Setting // proconfig
}

// Arg is one input argument of a routine.
type Arg struct {
	Name       string // "" when unnamed
	Type       *Type
	HasDefault bool
}

// Setting is a configuration parameter with its value.
type Setting struct{ Name, Value string }

// Role is a role that requests may take, with its own settings (alter role … set …).
type Role struct {
	Name     string
	Settings []Setting
}

// Catalog is the model of one database at one moment. All its values are shared and must not be changed.
type Catalog struct {
	Version       uint64 // grows with every change that this process saw
	ServerVersion int    // server_version_num, e.g. 150018
	// SetsResponse says that some routine's source speaks of response.headers or response.status, so that
	// these settings have to be asked for after each statement.
	SetsResponse bool
	// HasHandlers says that there is a Handler, or a routine whose result has a MediaType.
	HasHandlers bool
	// GeoJSON is PostGIS's function that makes a GeoJSON feature of a row, zero when it is not to be had.
	GeoJSON Name

	options       Options
	schemas       map[string]*schema // the exposed ones
	relations     map[Name]*Relation
	routines      map[Name][]*Routine
	types         map[OID]*Type
	typeNames     map[string][]*Type
	roles         map[string]*Role
	relationships map[Name][]*Relationship
	computed      map[computedKey]*Routine
	handlers      map[OID][]*Handler // by the relation whose rows they take, 0 for those that take any
}

type computedKey struct {
	row  Name
	name string
}

// Relation finds a relation, or gives nil.
func (c *Catalog) Relation(n Name) *Relation { return c.relations[n] }

// Routines gives the overloads of a name, nil when there are none.
func (c *Catalog) Routines(n Name) []*Routine { return c.routines[n] }

// Type finds a type by its OID, or gives nil.
func (c *Catalog) Type(oid OID) *Type { return c.types[oid] }

// Role finds a role that requests may take (one that authenticator may become), or gives nil.
func (c *Catalog) Role(name string) *Role { return c.roles[name] }

// ComputedColumn finds the function that serves as a virtual column of a relation: it can be called with a row of the
// relation alone, and what it returns is no row of an exposed relation. Nil when there is none.
func (c *Catalog) ComputedColumn(rel Name, name string) *Routine {
	return c.computed[computedKey{rel, name}]
}

// Relationships gives every relationship that starts at a relation, in a stable order.
func (c *Catalog) Relationships(from Name) []*Relationship { return c.relationships[from] }
