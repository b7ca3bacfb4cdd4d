package oracle_test

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// request is a request as a structure, which is written both as HTTP and as SQL.
type request struct {
	method  string
	rel     *relation
	call    *routine
	given   []value // arguments
	level   *level
	noLimit bool
	count   bool
	ranged  bool // limit and offset come as a Range header
	accept  string
	who     int

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

// wire is a request as HTTP has it.
type wire struct {
	method, path, body string
	headers            []string
}

func (r *request) wire(schema string) wire {
	w := wire{method: r.method, headers: []string{"Content-Profile: " + schema, "Accept-Profile: " + schema}}
	w.path = "/rest/v1/" + url.PathEscape(r.target())
	if r.call != nil {
		w.path = "/rest/v1/rpc/" + url.PathEscape(r.target())
	}
	var list []parameter
	if !r.level.all || r.count {
		list = append(list, parameter{"select", r.level.selection()})
	}
	if r.call != nil && r.call.rows == nil {
		list = nil
	}
	list = append(list, r.level.narrowing("", true)...)
	if r.call != nil {
		list = r.arguments(&w, list)
	}
	list = append(list, r.writing(&w)...)
	list = append(list, r.window(&w)...)
	parts := make([]string, len(list))
	for i, p := range list {
		parts[i] = url.QueryEscape(p.key) + "=" + url.QueryEscape(p.value)
	}
	if len(parts) > 0 {
		w.path += "?" + strings.Join(parts, "&")
	}
	if r.accept != "" {
		w.headers = append(w.headers, "Accept: "+r.accept)
	}
	if prefer := r.preferences(); len(prefer) > 0 {
		w.headers = append(w.headers, "Prefer: "+strings.Join(prefer, ", "))
	}
	return w
}

func (r *request) target() string {
	if r.call != nil {
		return r.call.name
	}
	return r.rel.name
}

func (r *request) arguments(w *wire, list []parameter) []parameter {
	if r.method != "POST" {
		var given []parameter
		for _, v := range r.given {
			given = append(given, parameter{v.argument.name, v.text})
		}
		return append(given, list...)
	}
	w.body = "{"
	for i, v := range r.given {
		if i > 0 {
			w.body += ","
		}
		w.body += jsonText(v.argument.name) + ":" + jsonText(v.text)
	}
	w.body += "}"
	return list
}

func (r *request) window(w *wire) []parameter {
	l := r.level
	switch {
	case l.limit < 0 && l.offset < 0:
		return nil
	case r.ranged && l.limit > 0 && r.method == "GET":
		w.headers = append(w.headers, "Range-Unit: items", fmt.Sprintf("Range: %d-%d", max(l.offset, 0), max(l.offset, 0)+l.limit-1))
		return nil
	}
	var list []parameter
	if l.limit >= 0 {
		list = append(list, parameter{"limit", strconv.Itoa(l.limit)})
	}
	if l.offset >= 0 {
		list = append(list, parameter{"offset", strconv.Itoa(l.offset)})
	}
	return list
}

func (r *request) preferences() []string {
	var prefer []string
	if r.returning != "" {
		prefer = append(prefer, "return="+r.returning)
	}
	if r.resolution != "" {
		prefer = append(prefer, "resolution="+r.resolution+"-duplicates")
	}
	if r.missing {
		prefer = append(prefer, "missing=default")
	}
	if r.count {
		prefer = append(prefer, "count=exact")
	}
	if r.affected >= 0 {
		prefer = append(prefer, "handling=strict", fmt.Sprintf("max-affected=%d", r.affected))
	}
	return prefer
}

// writing gives the parameters of a write, and its body.
func (r *request) writing(w *wire) []parameter {
	var list []parameter
	for i, text := range r.put {
		list = append(list, parameter{quoted(r.rel.pk[i].name), "eq." + text})
	}
	names := make([]string, len(r.columns))
	for i, c := range r.columns {
		names[i] = quoted(c.name)
	}
	if r.listed {
		list = append(list, parameter{"columns", strings.Join(names, ",")})
	}
	if r.conflict != nil {
		targets := make([]string, len(r.conflict))
		for i, c := range r.conflict {
			targets[i] = quoted(c.name)
		}
		list = append(list, parameter{"on_conflict", strings.Join(targets, ",")})
	}
	switch {
	case r.call != nil || r.method == "GET" || r.method == "HEAD" || r.method == "DELETE":
	case r.csv:
		w.headers = append(w.headers, "Content-Type: text/csv")
		w.body = r.csvBody()
	default:
		objects := make([]string, len(r.rows))
		for i, row := range r.rows {
			var members []string
			for n, c := range r.columns {
				if row[n] != nil {
					members = append(members, jsonText(c.name)+":"+*row[n])
				}
			}
			objects[i] = "{" + strings.Join(members, ",") + "}"
		}
		w.body = "[" + strings.Join(objects, ",\n") + "]"
		if r.single {
			w.body = objects[0]
		}
	}
	return list
}

// csvBody writes the rows, whose values are all JSON strings or null then.
func (r *request) csvBody() string {
	lines := make([]string, 1+len(r.rows))
	cell := func(text string) string { return `"` + strings.ReplaceAll(text, `"`, `""`) + `"` }
	var names []string
	for _, c := range r.columns {
		names = append(names, cell(c.name))
	}
	lines[0] = strings.Join(names, ",")
	for i, row := range r.rows {
		var cells []string
		for _, value := range row {
			if *value == "null" {
				cells = append(cells, "NULL")
			} else {
				cells = append(cells, cell(textOfJSON(*value)))
			}
		}
		lines[i+1] = strings.Join(cells, ",")
	}
	return strings.Join(lines, "\n")
}
