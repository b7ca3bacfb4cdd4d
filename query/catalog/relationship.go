package catalog

// Cardinality is the shape of a relationship seen from its origin.
type Cardinality byte

// The cardinalities. The first two give an object or null, the others an array.
const (
	ManyToOne Cardinality = iota + 1
	OneToOne
	OneToMany
	ManyToMany
)

// ToOne says whether an embed along this cardinality is an object rather than an array.
func (c Cardinality) ToOne() bool { return c == ManyToOne || c == OneToOne }

// String is PostgREST's spelling.
func (c Cardinality) String() string {
	switch c {
	case ManyToOne:
		return "many-to-one"
	case OneToOne:
		return "one-to-one"
	case OneToMany:
		return "one-to-many"
	default:
		return "many-to-many"
	}
}

// Relationship leads from one relation to another.
type Relationship struct {
	From, To    *Relation
	Cardinality Cardinality
	Self        bool   // both ends are the same relation
	Constraint  string // the foreign key's name; "" for computed ones; of the first key for ManyToMany
	// Columns pairs the origin's columns with the target's (direct relationships), in key order.
	Columns []ColumnPair
	// Inverse says that the foreign key is the target's (OneToMany, and one side of each OneToOne).
	Inverse bool
	// Junction is set for ManyToMany only.
	Junction *Junction
	// Function is set for a computed relationship: takes From's row, gives To's rows.
	Function *Routine
}

// ColumnPair is one equation of a join.
type ColumnPair struct{ From, To *Column }

// Junction is the table between the ends of a many-to-many relationship.
type Junction struct {
	Table *Relation
	// ConstraintFrom and ConstraintTo are the names of its foreign keys to the two ends.
	ConstraintFrom, ConstraintTo string
	// FromColumns pairs origin columns with junction columns; ToColumns junction columns with target columns.
	FromColumns, ToColumns []ColumnPair
}
