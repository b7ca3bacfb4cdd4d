package catalog

// Options says which schemas a catalog covers.
type Options struct {
	// Schemas are the exposed ones, the default first: their relations and routines are reachable by name.
	Schemas []string
	// ExtraSearchPath follows the request's schema in search_path: computed columns may live there.
	ExtraSearchPath []string
}

// Raw is what PostgreSQL's system tables say, row by row, as Build takes it. The rows of one kind are ordered
// by the OID of what they belong to where an order is named.
type Raw struct {
	Options       Options
	ServerVersion int
	SetsResponse  bool
	PostGIS       string      // the schema of ST_AsGeoJSON(record, …) when it is one of Options', else ""
	Schemas       []RawSchema // the exposed ones that exist
	Relations     []RawRelation
	Columns       []RawColumn // by relation, then number; also the attributes of composite types
	Keys          []RawKey
	ForeignKeys   []RawForeignKey
	ViewColumns   []RawViewColumn
	Types         []RawType
	Labels        []RawLabel // by type, then enumsortorder
	Casts         []RawCast
	Routines      []RawRoutine
	Handlers      []RawHandler
	Roles         []RawRole
}

// RawSchema is one row of pg_namespace.
type RawSchema struct{ Name, Comment string }

// RawRelation is one row of pg_class: a table, partitioned table, view, materialised view or foreign table that
// is no partition. Relations of schemas that are not exposed are wanted too: views rest on them.
type RawRelation struct {
	OID     OID
	Name    Name
	Kind    RelationKind
	RowType OID
	Comment string
	Events  int32 // pg_relation_is_updatable's bits: 4 update, 8 insert, 16 delete
	Parent  bool  // a table that others may inherit from
}

// RawColumn is one row of pg_attribute.
type RawColumn struct {
	Relation  OID
	Number    int16
	Name      string
	Type      OID
	TypeMod   int32
	NotNull   bool
	Default   string
	Generated bool
	Identity  byte
	Comment   string
	Writable  bool
}

// RawKey is a primary key or unique constraint.
type RawKey struct {
	Relation OID
	Primary  bool
	Columns  []int16
}

// RawForeignKey is a foreign key that no partition inherited.
type RawForeignKey struct {
	Name                   string
	From, To               OID
	FromColumns, ToColumns []int16
}

// RawViewColumn says that a column of a view shows a column of another relation (maybe a view) as it is.
type RawViewColumn struct {
	View       OID
	Number     int16
	Base       OID
	BaseNumber int16
}

// RawType is one row of pg_type.
type RawType struct {
	OID      OID
	Name     Name
	Kind     TypeKind
	Category byte
	SQL      string
	Elem     OID // 0 unless a true array
	Base     OID
	Array    OID
	Relation OID // pg_type.typrelid
	NotNull  bool
	TypeMod  int32
	Default  string
}

// RawLabel is one row of pg_enum.
type RawLabel struct {
	Type  OID
	Label string
}

// RawCast is an implicit cast by function between a domain and text or json.
type RawCast struct {
	Source, Target OID
	Function       Name
}

// RawRoutine is one row of pg_proc: a function that is no trigger. Those of the extra search path are wanted only
// when they take one row of a relation.
type RawRoutine struct {
	OID        OID
	Name       Name
	Comment    string
	InTypes    []OID    // pg_proc.proargtypes
	AllTypes   []OID    // pg_proc.proallargtypes, nil when all arguments are IN
	Modes      []byte   // pg_proc.proargmodes, nil when all arguments are IN
	ArgNames   []string // pg_proc.proargnames, nil when none has a name
	Defaults   int16
	Variadic   bool
	Volatility Volatility
	Returns    OID
	ReturnsSet bool
	Rows       float32
	Config     []string // name=value
}

// RawHandler is an aggregate of one argument that returns a domain with a slash in its name.
type RawHandler struct {
	OID     OID
	Name    Name
	Row     OID // the type of its argument
	Returns OID
}

// RawRole is a role that requests may take. Config holds the settings for all databases first and those for
// this database behind them.
type RawRole struct {
	Name   string
	Config []string // name=value
}
