package oracle_test

import (
	"slices"
	"strconv"
	"strings"
)

// request is a request as a structure, which is written both as HTTP and as SQL.
type request struct {
	method string
	rel    *relation
	call   *routine
	given  []value // arguments
	level  *level
	faulty bool // has a deliberate fault
	count  bool
	ranged bool // limit and offset come as a Range header
	accept string
	who    int

	// Of writes:
	columns    []*column
	rows       [][]*string // JSON of each column, nil for absent
	csv        bool
	single     bool // one object instead of an array
	listed     bool // columns=
	missing    bool // missing=default
	returning  string
	resolution string
	conflict   []*column // on_conflict, nil for the primary key
	put        []string  // the key's values
	affected   int       // max-affected, -1 for none
}

// value is an argument with its value as text.
type value struct {
	argument argument
	text     string
}

// level is one pair of parentheses of select, with which rows are taken and in which order.
type level struct {
	rel           *relation
	all           bool // select is left out, or *
	items         []*item
	where         []*condition
	order         []*term
	limit, offset int // -1 for none
}

type item struct {
	alias     string
	star      bool
	field     field
	cast      string
	aggregate string
	aggCast   string
	link      *link
	spelling  string
	inner     bool
	spread    bool
	level     *level
}

type field struct {
	column *column
	path   []step
}

type step struct {
	key   string
	index bool
	text  bool
}

type condition struct {
	logic   string // and, or
	negated bool
	within  []*condition
	embed   string // the key of the embed whose presence it is about
	field   field
	op      string
	config  string
	quant   string
	text    string   // the right side
	list    []string // of in, any and all
}

type term struct {
	embed string
	field field
	tail  string // .desc.nullslast
}

// quoted writes a name as URLs have it.
func quoted(name string) string {
	plain := name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == "" && !slices.Contains(reserved(), name)
	if plain {
		return name
	}
	return inQuotes(name)
}

func inQuotes(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

func (f field) String() string {
	text := quoted(f.column.name)
	for _, s := range f.path {
		arrow := "->"
		if s.text {
			arrow = "->>"
		}
		if s.index || strings.Trim(s.key, "abcdefghijklmnopqrstuvwxyz ") == "" && s.key != "" {
			text += arrow + s.key
		} else {
			text += arrow + inQuotes(s.key)
		}
	}
	return text
}

// name is the key that the answer has without an alias.
func (f field) name() string {
	for _, s := range slices.Backward(f.path) {
		if !s.index {
			return s.key
		}
	}
	return f.column.name
}

// key is what an item is called in the answer.
func (i *item) key() string {
	switch {
	case i.alias != "":
		return i.alias
	case i.link != nil && i.link.function != "":
		return i.link.function
	case i.link != nil:
		return i.called()
	case i.aggregate != "":
		return i.aggregate
	case i.star:
		return "*"
	}
	return i.field.name()
}

// called is the name that an embed goes by in select, without hints.
func (i *item) called() string {
	if strings.HasPrefix(i.spelling, quoted(i.link.to.name)) {
		return i.link.to.name
	}
	if i.spelling == i.link.constraint {
		return i.spelling
	}
	return i.link.on[0][0].name
}

func (l *level) selection() string {
	if l.all {
		return "*"
	}
	items := make([]string, len(l.items))
	for n, i := range l.items {
		text := ""
		if i.alias != "" && !i.spread {
			text = quoted(i.alias) + ":"
		}
		switch {
		case i.star:
			text += "*"
		case i.link != nil:
			if i.spread {
				text = "..."
			}
			text += i.spelling
			if i.inner {
				text += "!inner"
			}
			text += "(" + i.level.selection() + ")"
		case i.field.column == nil:
			text += "count()"
		default:
			text += i.field.String()
			if i.cast != "" {
				text += "::" + i.cast
			}
			if i.aggregate != "" {
				text += "." + i.aggregate + "()"
			}
		}
		if i.aggCast != "" {
			text += "::" + i.aggCast
		}
		items[n] = text
	}
	return strings.Join(items, ",")
}

type parameter struct{ key, value string }

// narrowing gives the parameters of a level and of those below it.
func (l *level) narrowing(path string, top bool) []parameter {
	var list []parameter
	for _, c := range l.where {
		list = append(list, c.parameter(path))
	}
	if len(l.order) > 0 {
		terms := make([]string, len(l.order))
		for i, t := range l.order {
			terms[i] = t.field.String() + t.tail
			if t.embed != "" {
				terms[i] = quoted(t.embed) + "(" + t.field.String() + ")" + t.tail
			}
		}
		list = append(list, parameter{path + "order", strings.Join(terms, ",")})
	}
	if l.limit >= 0 && !top {
		list = append(list, parameter{path + "limit", strconv.Itoa(l.limit)})
	}
	if l.offset >= 0 && !top {
		list = append(list, parameter{path + "offset", strconv.Itoa(l.offset)})
	}
	for _, i := range l.items {
		if i.link != nil {
			list = append(list, i.level.narrowing(path+quoted(i.key())+".", false)...)
		}
	}
	return list
}

func (c *condition) parameter(path string) parameter {
	not := ""
	if c.negated {
		not = "not."
	}
	switch {
	case c.logic != "":
		return parameter{path + not + c.logic, c.group()}
	case c.embed != "":
		return parameter{path + quoted(c.embed), not + "is." + c.text}
	}
	return parameter{path + c.field.String(), not + c.operator() + "." + c.right(false)}
}

func (c *condition) group() string {
	parts := make([]string, len(c.within))
	for i, each := range c.within {
		not := ""
		if each.negated {
			not = "not."
		}
		switch {
		case each.logic != "":
			parts[i] = not + each.logic + each.group()
		case each.embed != "":
			parts[i] = quoted(each.embed) + "." + not + "is." + each.text
		default:
			parts[i] = each.field.String() + "." + not + each.operator() + "." + each.right(true)
		}
	}
	return "(" + strings.Join(parts, ",") + ")"
}

func (c *condition) operator() string {
	switch {
	case c.quant != "":
		return c.op + "(" + c.quant + ")"
	case c.config != "":
		return c.op + "(" + c.config + ")"
	}
	return c.op
}

func (c *condition) right(nested bool) string {
	switch {
	case c.op == "is":
		return c.text
	case c.op == "in":
		elements := make([]string, len(c.list))
		for i, element := range c.list {
			elements[i] = inQuotes(element)
		}
		return "(" + strings.Join(elements, ",") + ")"
	case c.quant != "":
		if text := arrayLiteral(c.list); nested {
			return inQuotes(text)
		} else {
			return text
		}
	case nested:
		return inQuotes(c.text)
	}
	return c.text
}

// arrayLiteral writes texts as PostgreSQL reads an array.
func arrayLiteral(list []string) string {
	elements := make([]string, len(list))
	for i, element := range list {
		elements[i] = inQuotes(element)
	}
	return "{" + strings.Join(elements, ",") + "}"
}
