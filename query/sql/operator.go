package sql

import (
	"basalt/query"
	"basalt/query/catalog"
)

const (
	varcharOID = 1043
	cidrOID    = 650
)

// own spells an operator of PostgreSQL's with its schema where one of the request's schemas could hold a better match:
// for types that have no such operator of their own but use that of another type, or of any. Where the types match to
// the letter PostgreSQL's own comes first by itself. Types of extensions have theirs in any schema.
func own(operator string, pattern bool, types ...*catalog.Type) string {
	borrows := false
	for _, t := range types {
		if t == nil || t.Underlying().Name.Schema != "pg_catalog" {
			return operator
		}
		t = t.Underlying()
		switch {
		case pattern:
			borrows = borrows || t.OID != textOID
		case t.OID == varcharOID, t.OID == cidrOID, t.Category == 'A', t.Category == 'R':
			borrows = true
		}
	}
	if !borrows {
		return operator
	}
	switch operator {
	case "like":
		return "operator(pg_catalog.~~)"
	case "ilike":
		return "operator(pg_catalog.~~*)"
	case "= any":
		return "operator(pg_catalog.=) any"
	case "=", "<>", "<", "<=", ">", ">=", "~", "~*":
		return "operator(pg_catalog." + operator + ")"
	}
	return operator
}

// ownOperator spells the operator of a condition.
func ownOperator(o *query.Operator, t *catalog.Type) string {
	return own(o.SQL, o.Kind == query.Pattern || o.SQL == "~" || o.SQL == "~*", t)
}
