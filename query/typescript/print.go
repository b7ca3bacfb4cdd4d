package typescript

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"unicode"
)

// width is how long lines may be.
const width = 80

// node is a type to print.
type node interface {
	// flat writes it on one line; false when it must not stand on one.
	flat() (string, bool)
}

type (
	// atom is a type that is never broken.
	atom string
	// unionType is one of several.
	unionType []node
	// tupleType lists objects.
	tupleType []*objectType
	// arrayValue lists constants.
	arrayValue []string
	// objectType has members, each on its own line when it is expanded or too long; with array it is a list of such.
	objectType struct {
		members  []member
		expanded bool
		array    bool
	}
	member struct {
		key      string
		optional bool
		value    node
	}
)

func (o *objectType) add(key string, value node) {
	o.members = append(o.members, member{key, false, value})
}

func (o *objectType) addOptional(key string, value node) {
	o.members = append(o.members, member{key, true, value})
}

func (m *member) head() string {
	if m.optional {
		return m.key + "?:"
	}
	return m.key + ":"
}

func (a atom) flat() (string, bool) { return string(a), true }

func (u unionType) flat() (string, bool) {
	var parts []string
	for _, n := range u {
		part, ok := n.flat()
		if !ok {
			return "", false
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " | "), true
}

func (t tupleType) flat() (string, bool) { return "[]", len(t) == 0 }

func (v arrayValue) flat() (string, bool) { return "[" + strings.Join(v, ", ") + "]", true }

func (o *objectType) flat() (string, bool) {
	if o.expanded {
		return "", false
	}
	if len(o.members) == 0 {
		return "{}", true
	}
	var parts []string
	for i := range o.members {
		value, ok := o.members[i].value.flat()
		if !ok {
			return "", false
		}
		parts = append(parts, o.members[i].head()+" "+value)
	}
	return "{ " + strings.Join(parts, "; ") + " }" + o.suffix(), true
}

func (o *objectType) suffix() string {
	if o.array {
		return "[]"
	}
	return ""
}

// orNull lets a type be null too, where it does not take null in already.
func orNull(n node) node {
	switch n := n.(type) {
	case atom:
		if n == "unknown" {
			return n
		}
		return n + " | null"
	case unionType:
		return append(append(unionType(nil), n...), atom("null"))
	}
	return unionType{n, atom("null")}
}

// arrayOf is a list of a type.
func arrayOf(n node) node {
	switch n := n.(type) {
	case *objectType:
		list := *n
		list.array = true
		return &list
	case unionType:
		text, _ := n.flat()
		return atom("(" + text + ")[]")
	case atom:
		if strings.Contains(string(n), " | ") || strings.Contains(string(n), " & ") {
			return "(" + n + ")[]"
		}
		return n + "[]"
	}
	return n
}

// printer lays types out.
type printer struct {
	text   strings.Builder
	column int
	values bool // objects are values: their members are separated by commas
}

func (p *printer) write(s string) {
	p.text.WriteString(s)
	if at := strings.LastIndexByte(s, '\n'); at >= 0 {
		p.column = len(s) - at - 1
	} else {
		p.column += len(s)
	}
}

func (p *printer) newline(depth int) { p.write("\n" + strings.Repeat("  ", depth)) }

// print writes a type at a depth: on the line begun when it fits there.
func (p *printer) print(n node, depth int) {
	if text, ok := n.flat(); ok && p.column+len(text) <= width {
		p.write(text)
		return
	}
	switch n := n.(type) {
	case *objectType:
		p.object(n, depth)
	case unionType:
		if n.embraces() {
			p.print(n[0], depth)
			p.write(" | null")
			return
		}
		for _, part := range n {
			p.newline(depth + 1)
			p.write("| ")
			p.print(part, depth+2)
		}
	case tupleType:
		p.write("[")
		for _, o := range n {
			p.newline(depth + 1)
			p.print(o, depth+1)
			p.write(",")
		}
		p.newline(depth)
		p.write("]")
	case arrayValue:
		p.write("[")
		for _, value := range n {
			p.newline(depth + 1)
			p.write(value + ",")
		}
		p.newline(depth)
		p.write("]")
	case atom:
		p.write(string(n))
	}
}

func (p *printer) object(o *objectType, depth int) {
	p.write("{")
	for i := range o.members {
		m := &o.members[i]
		p.newline(depth + 1)
		p.write(m.head())
		if u, ok := m.value.(unionType); !ok || u.embraces() || p.fits(u) {
			p.write(" ")
		}
		p.print(m.value, depth+1)
		if p.values {
			p.write(",")
		}
	}
	p.newline(depth)
	p.write("}" + o.suffix())
}

// embraces says that a union is an object or null, whose braces stay on the lines around it.
func (u unionType) embraces() bool {
	if len(u) != 2 || u[1] != node(atom("null")) {
		return false
	}
	_, ok := u[0].(*objectType)
	return ok
}

// fits says whether a union can follow on the line begun.
func (p *printer) fits(u unionType) bool {
	text, ok := u.flat()
	return ok && p.column+1+len(text) <= width
}

// boolean is the type of one truth value.
func boolean(b bool) atom { return atom(strconv.FormatBool(b)) }

// quote writes a string.
func quote(s string) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(s); err != nil {
		panic(err) // strings always encode
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// key writes the name of a member, quoted where it must be.
func key(name string) string {
	for i, r := range name {
		if r != '_' && r != '$' && (r > unicode.MaxASCII || !unicode.IsLetter(r)) && (i == 0 || r < '0' || r > '9') {
			return quote(name)
		}
	}
	if name == "" {
		return `""`
	}
	return name
}

// valueKey writes the name of a member of a value. Only in brackets is __proto__ a member, not the object's prototype.
func valueKey(name string) string {
	if name == "__proto__" {
		return "[" + quote(name) + "]"
	}
	return key(name)
}

// compareNames orders names as people do, and as the original does on any machine: punctuation before digits before
// letters, capitals beside small ones.
func compareNames(a, b string) int {
	x, y := []rune(a), []rune(b)
	for i := range min(len(x), len(y)) {
		if order := cmp.Or(cmp.Compare(class(x[i]), class(y[i])), cmp.Compare(unicode.ToLower(x[i]), unicode.ToLower(y[i]))); order != 0 {
			return order
		}
	}
	// Small letters come first where nothing else differs: their code points are the greater ones.
	return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(b, a))
}

func class(r rune) int {
	switch {
	case r == '_':
		return 0
	case unicode.IsDigit(r):
		return 2
	case unicode.IsLetter(r):
		return 3
	}
	return 1
}
