package sql

import (
	"strconv"
	"strings"

	"basalt/query"
	"basalt/query/catalog"
	"basalt/query/plan"
)

// builder writes the text of one statement and collects its parameters.
type builder struct {
	text   []byte
	params []Param
	// casts tells for each parameter how its constant is typed: the same text serves as a key and as a position.
	casts []string
	// numbers finds parameters once there are too many to look through.
	numbers map[typedParam]int
	aliases int
	// json says that embeds are written as JSON, since functions of PostgreSQL read the rows, which know no Layout.
	json bool
}

// typedParam is a parameter with the type that it is cast to, "" for none.
type typedParam struct {
	Param
	cast string
}

// manyParams is the number of parameters from which on a map finds one sooner than a scan.
const manyParams = 24

// newBuilder makes a builder with room for a common statement.
func newBuilder() *builder {
	const text, params = 768, 8
	return &builder{text: make([]byte, 0, text), params: make([]Param, 0, params), casts: make([]string, 0, params)}
}

// statement takes what was written.
func (b *builder) statement() *Statement {
	return &Statement{SQL: string(b.text), Params: b.params, Formats: formats(b.params)}
}

func (b *builder) write(parts ...string) {
	for _, part := range parts {
		b.text = append(b.text, part...)
	}
}

func (b *builder) name(n catalog.Name) { b.text = appendName(b.text, n) }

// column writes alias."name".
func (b *builder) column(alias string, c *catalog.Column) {
	b.write(alias, ".")
	b.text = appendIdentifier(b.text, c.Name)
}

// alias makes a name that no other row source of the statement has.
func (b *builder) alias(prefix string) string {
	b.aliases++
	return prefix + strconv.Itoa(b.aliases)
}

// parameter writes $n for a parameter, the same n for the same parameter: PostgreSQL takes expressions in select and
// group by for equal only when they are so to the letter.
func (b *builder) parameter(p Param, cast string) {
	b.text = append(b.text, '$')
	b.text = strconv.AppendInt(b.text, int64(b.number(p, cast)), 10)
	b.write(cast)
}

func (b *builder) number(p Param, cast string) int {
	if b.numbers == nil {
		for i := range b.params {
			if b.params[i] == p && b.casts[i] == cast {
				return i + 1
			}
		}
	} else if n, ok := b.numbers[typedParam{p, cast}]; ok {
		return n
	}
	b.params, b.casts = append(b.params, p), append(b.casts, cast)
	n := len(b.params)
	switch {
	case b.numbers != nil:
		b.numbers[typedParam{p, cast}] = n
	case n == manyParams:
		b.numbers = make(map[typedParam]int, 2*n)
		for i := range b.params {
			b.numbers[typedParam{b.params[i], b.casts[i]}] = i + 1
		}
	}
	return n
}

// value writes the parameter of a literal. It stays without a type, so that PostgreSQL reads it as what it is
// compared with.
func (b *builder) value(ref query.Ref) {
	b.parameter(Param{Source: Value, Index: int(ref)}, "")
}

// constant writes the parameter of a text that is part of the shape. It outlives the request's URL.
func (b *builder) constant(text, cast string) {
	b.parameter(Param{Source: Constant, Text: strings.Clone(text)}, cast)
}

// scope is a node in the text being written.
type scope struct {
	node  *plan.Node
	alias string
	// from is what a root reads from instead of its relation: the name of a common table expression, or a call.
	from     string
	junction string // the alias of the junction on the way here
	// keyset leaves out the rows before its cursor; it is of a root.
	keyset *plan.Keyset
	// guard ends the statement when another number of rows was written; it is of the root of a write.
	guard plan.Guard
	// filtered says that what a root reads from holds no rows but those that are taken.
	filtered bool
	// joins are the aliases of the node's embeds, "" for those that are not joined.
	joins []string
	// comparable says that the rows shown are grouped by, so that their values must have an equality.
	comparable bool
}

// join finds the alias under which an embed is joined.
func (s *scope) join(e *plan.Embed) string {
	for i, known := range s.node.Embeds {
		if known == e {
			return s.joins[i]
		}
	}
	return ""
}

// scope opens a node whose rows are shown: embeds are joined as far as that is how they are shown or ordered by.
func (b *builder) scope(node *plan.Node) *scope {
	s := b.bareScope(node)
	aggregated := node.Aggregated()
	for i, e := range node.Embeds {
		if !e.Hidden && (e.Spread || e.ToOne() || aggregated) || ordersBy(node, e) {
			s.joins[i] = b.alias("e")
		}
	}
	return s
}

// bareScope opens a node whose rows only have to exist.
func (b *builder) bareScope(node *plan.Node) *scope {
	alias := "t"
	if b.aliases++; b.aliases > 1 {
		alias += strconv.Itoa(b.aliases)
	}
	return &scope{node: node, alias: alias, joins: make([]string, len(node.Embeds))}
}

func ordersBy(node *plan.Node, e *plan.Embed) bool {
	for i := range node.Order {
		if node.Order[i].Embed == e {
			return true
		}
	}
	return false
}
