package oracle_test

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

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
