package catalog

import (
	"slices"
	"strings"
)

// standardName gives the type that SQL's grammar means by words of its own, in lower case with single blanks
// (PostgreSQL's documentation, chapter 8), whatever the search path holds; "" for other words.
func standardName(words string) string {
	switch words {
	case "int", "integer":
		return "int4"
	case "smallint":
		return "int2"
	case "bigint":
		return "int8"
	case "real":
		return "float4"
	case "float", "double precision":
		return "float8"
	case "dec", "decimal", "numeric":
		return "numeric"
	case "boolean":
		return "bool"
	case "char", "character", "nchar", "national char", "national character":
		return "bpchar"
	case "varchar", "char varying", "character varying", "nchar varying", "national char varying",
		"national character varying":
		return "varchar"
	case "bit":
		return "bit"
	case "bit varying":
		return "varbit"
	case "time", "time without time zone":
		return "time"
	case "time with time zone":
		return "timetz"
	case "timestamp", "timestamp without time zone":
		return "timestamp"
	case "timestamp with time zone":
		return "timestamptz"
	case "interval":
		return "interval"
	default:
		return ""
	}
}

// floatDigits is the number of binary digits up to which float(n) is float4; maxFloatDigits is its greatest.
const (
	floatDigits    = 24
	maxFloatDigits = 53
)

// FindType finds a type as the type name in a cast spells it: a standard name such as double precision or
// timestamp(3) with time zone, or any type of pg_catalog or the search path, or schema.name; quoted or not, with
// modifiers such as numeric(10,2), and as an array with [], [n] or ARRAY. It gives nil when there is none.
//
// sql spells the type safely, with the modifiers: it is made of what was understood, not of the client's text.
func (c *Catalog) FindType(spelling string, searchPath []string) (t *Type, sql string) {
	name, ok := parseTypeName(spelling)
	if !ok {
		return nil, ""
	}
	if name.standard != "" {
		t = c.typeNamed(Name{systemSchema, name.standard})
	} else if name.schema != "" {
		t = c.typeNamed(Name{name.schema, name.name})
	} else {
		t = c.typeOnPath(name.name, searchPath)
	}
	if t == nil {
		return nil, ""
	}
	sql = t.SQL
	if len(name.modifiers) > 0 {
		modifiers := "(" + strings.Join(name.modifiers, ",") + ")"
		sql = quoteName(t.Name) + modifiers
		if t.Name == (Name{systemSchema, "interval"}) {
			// Only the keyword takes a precision; the type's own modifier has two parts.
			sql = "interval" + modifiers
		}
	}
	if name.array {
		if t = c.types[t.Array]; t == nil {
			return nil, ""
		}
		if len(name.modifiers) == 0 {
			return t, t.SQL
		}
		sql += "[]"
	}
	return t, sql
}

func (c *Catalog) typeNamed(n Name) *Type {
	for _, t := range c.typeNames[n.Name] {
		if t.Name.Schema == n.Schema {
			return t
		}
	}
	return nil
}

func (c *Catalog) typeOnPath(name string, searchPath []string) *Type {
	if !slices.Contains(searchPath, systemSchema) {
		if t := c.typeNamed(Name{systemSchema, name}); t != nil {
			return t
		}
	}
	for _, schema := range searchPath {
		if t := c.typeNamed(Name{schema, name}); t != nil {
			return t
		}
	}
	return nil
}

// quoteName spells a name for SQL.
func quoteName(n Name) string { return quoteIdentifier(n.Schema) + "." + quoteIdentifier(n.Name) }

func quoteIdentifier(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

// typeName is a type name taken apart.
type typeName struct {
	standard     string // PostgreSQL's name of a standard type, "" for others
	schema, name string
	modifiers    []string // numbers and quoted identifiers
	array        bool
}

// parseTypeName takes a type name apart.
func parseTypeName(spelling string) (n typeName, ok bool) {
	p := typeParser{text: spelling}
	words, quoted := p.words()
	switch {
	case len(words) == 0:
		return n, false
	case p.symbol('.'):
		rest, _ := p.words()
		if len(words) != 1 || len(rest) == 0 {
			return n, false
		}
		n.schema, words, quoted = words[0], rest, true
	}
	// The standard names that go on behind the modifiers, or that are followed by ARRAY, are words too.
	modifiers, ok := p.modifiers()
	if !ok {
		return n, false
	}
	if modifiers != nil {
		after, _ := p.words()
		words = append(words, after...)
	}
	if last := len(words) - 1; last > 0 && words[last] == "array" {
		words, n.array = words[:last], true
	}
	n.modifiers = modifiers
	if !quoted {
		n.standard = standardName(strings.Join(words, " "))
	}
	if n.standard == "" {
		if len(words) != 1 {
			return n, false
		}
		n.name = words[0]
	}
	if !p.dimensions(&n) || !p.end() {
		return n, false
	}
	return n, n.complete(strings.Join(words, " "))
}

// complete applies the rules of the standard names whose modifiers are more than a length.
func (n *typeName) complete(words string) bool {
	switch n.standard {
	case "bpchar", "bit":
		if len(n.modifiers) == 0 {
			n.modifiers = []string{"1"}
		}
	case "float8":
		if len(n.modifiers) == 0 {
			return true
		}
		digits, ok := number(n.modifiers[0])
		if words != "float" || len(n.modifiers) != 1 || !ok || digits < 1 || digits > maxFloatDigits {
			return false
		}
		if digits <= floatDigits {
			n.standard = "float4"
		}
		n.modifiers = nil
	}
	return true
}

func number(s string) (n int, ok bool) {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' || n > 1<<20 {
			return 0, false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n, s != ""
}

// typeParser reads a type name from left to right.
type typeParser struct {
	text string
	at   int
}

func (p *typeParser) space() {
	for p.at < len(p.text) && strings.IndexByte(" \t\n\r\f\v", p.text[p.at]) >= 0 {
		p.at++
	}
}

func (p *typeParser) end() bool {
	p.space()
	return p.at == len(p.text)
}

// symbol takes a character if it is the next one.
func (p *typeParser) symbol(c byte) bool {
	p.space()
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

// words takes identifiers in a row. A quoted one stands alone.
func (p *typeParser) words() (words []string, quoted bool) {
	if p.symbol('"') {
		word, ok := p.quoted()
		if !ok {
			return nil, true
		}
		return []string{word}, true
	}
	for {
		p.space()
		start := p.at
		for p.at < len(p.text) && isIdentifier(p.text[p.at], p.at > start) {
			p.at++
		}
		if p.at == start {
			return words, false
		}
		words = append(words, foldCase(p.text[start:p.at]))
	}
}

// quoted takes the rest of a quoted identifier.
func (p *typeParser) quoted() (string, bool) {
	var b strings.Builder
	for p.at < len(p.text) {
		c := p.text[p.at]
		p.at++
		if c == '"' {
			if p.at == len(p.text) || p.text[p.at] != '"' {
				return b.String(), b.Len() > 0
			}
			p.at++
		}
		b.WriteByte(c)
	}
	return "", false
}

// isIdentifier follows PostgreSQL's lexer: letters, everything beyond ASCII, and behind the first place digits and $.
func isIdentifier(c byte, inside bool) bool {
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_', c >= 0x80:
		return true
	default:
		return inside && (c >= '0' && c <= '9' || c == '$')
	}
}

// foldCase makes ASCII letters lower case, as PostgreSQL does with unquoted names in UTF-8.
func foldCase(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + ('a' - 'A')
		}
		return r
	}, s)
}

// modifiers takes (…, …), each an integer or an identifier; nil when there are none.
func (p *typeParser) modifiers() (list []string, ok bool) {
	if !p.symbol('(') {
		return nil, true
	}
	for {
		p.space()
		start := p.at
		if p.at < len(p.text) && p.text[p.at] == '-' {
			p.at++
		}
		for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
			p.at++
		}
		switch digits := p.text[start:p.at]; {
		case digits == "-":
			return nil, false
		case digits != "":
			list = append(list, digits)
		default:
			words, _ := p.words()
			if len(words) != 1 {
				return nil, false
			}
			list = append(list, quoteIdentifier(words[0]))
		}
		if p.symbol(')') {
			return list, true
		}
		if !p.symbol(',') {
			return nil, false
		}
	}
}

// dimensions takes [] and [n], any number of times: PostgreSQL does not tell their number or bounds apart.
func (p *typeParser) dimensions(n *typeName) bool {
	for p.symbol('[') {
		p.space()
		for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
			p.at++
		}
		if !p.symbol(']') {
			return false
		}
		n.array = true
	}
	return true
}
