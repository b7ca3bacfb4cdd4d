package query

// OperatorKind tells how an operator is written in SQL.
type OperatorKind byte

// The kinds of operator.
const (
	Binary     OperatorKind = iota + 1 // column SQL value
	Pattern                            // like and ilike: * becomes %
	InList                             // in: = any(array)
	Is                                 // is null, is true, …
	TextSearch                         // @@ with the function named in SQL
	Distinct                           // is distinct from
)

// Operator is one operator of the dialect.
type Operator struct {
	Name         string
	SQL          string
	Kind         OperatorKind
	Quantifiable bool // may take (any) and (all)
}

// operators are all operators of the dialect; a new one is one row.
var operators = [...]Operator{
	{"eq", "=", Binary, true},
	{"neq", "<>", Binary, false},
	{"gt", ">", Binary, true},
	{"gte", ">=", Binary, true},
	{"lt", "<", Binary, true},
	{"lte", "<=", Binary, true},
	{"like", "like", Pattern, true},
	{"ilike", "ilike", Pattern, true},
	{"match", "~", Binary, true},
	{"imatch", "~*", Binary, true},
	{"in", "= any", InList, false},
	{"is", "is", Is, false},
	{"isdistinct", "is distinct from", Distinct, false},
	{"cs", "@>", Binary, false},
	{"cd", "<@", Binary, false},
	{"ov", "&&", Binary, false},
	{"sl", "<<", Binary, false},
	{"sr", ">>", Binary, false},
	{"nxr", "&<", Binary, false},
	{"nxl", "&>", Binary, false},
	{"adj", "-|-", Binary, false},
	{"fts", "to_tsquery", TextSearch, false},
	{"plfts", "plainto_tsquery", TextSearch, false},
	{"phfts", "phraseto_tsquery", TextSearch, false},
	{"wfts", "websearch_to_tsquery", TextSearch, false},
}

// FindOperator finds an operator by its name in the dialect, or gives nil.
func FindOperator(name string) *Operator {
	for i := range operators {
		if operators[i].Name == name {
			return &operators[i]
		}
	}
	return nil
}
