package oracle_test

import (
	"slices"
	"strings"
)

// write writes a change, with what is returned of the rows written, and queries over them, which are w: what is shown,
// and that in one text.
func (t *translator) write(r *request) (change, shown, rows string) {
	switch r.method {
	case "PATCH":
		change = t.update(r)
	case "DELETE":
		change = "delete from " + t.table(r.rel) + " d" + t.wheres(r, "d")
	default:
		change = t.insert(r)
	}
	switch {
	case r.returning == "representation":
		level := *r.level
		level.where = nil
		shown = t.from(&level, "w", "", nil, nil)
		return change + " returning " + t.needed(r), shown, rendered(r.accept, shown)
	case r.returning == "headers-only" && r.method == "POST" && len(r.rel.pk) > 0:
		shown = "select * from w"
		return change + " returning " + identifiers(r.rel.pk), shown, rendered("", shown)
	}
	return change, "", ""
}

func (t *translator) wheres(r *request, alias string) string {
	var list []string
	for _, c := range r.level.where {
		list = append(list, t.condition(r.level, c, alias))
	}
	if list == nil {
		return ""
	}
	return " where " + strings.Join(list, " and ")
}

// cell writes a value of a body, nil for the default.
func (t *translator) cell(r *request, c *column, value *string) string {
	switch {
	case value == nil:
		return "default"
	case r.csv && *value != "null" && strings.HasPrefix(c.kind.sql, "json") && !strings.HasSuffix(c.kind.sql, "[]"):
		return literal(textOfJSON(*value)) + "::" + c.kind.sql // a cell is the JSON itself
	}
	return "(select v from json_to_record(" + literal(`{"v":`+*value+`}`) + ") as _(v " + c.kind.sql + "))"
}

// gives says that some row of the body has a column.
func (r *request) gives(column int) bool {
	return slices.ContainsFunc(r.rows, func(row []*string) bool { return row[column] != nil })
}

func (t *translator) insert(r *request) string {
	var columns []*column
	rows := make([][]string, len(r.rows))
	for n, c := range r.columns {
		if !r.listed && !r.gives(n) {
			continue // a column that nobody speaks of
		}
		columns = append(columns, c)
		for i := range r.rows {
			value := r.rows[i][n]
			if value == nil && (!r.missing || r.rel.over != nil) { // the columns of views have no defaults
				null := "null"
				value = &null
			}
			rows[i] = append(rows[i], t.cell(r, c, value))
		}
	}
	text := "insert into " + t.table(r.rel)
	if len(columns) == 0 && len(rows) > 1 { // default values stands for one row
		return text + " (" + identifiers(r.rel.columns[:1]) + ") values " + strings.Repeat("(default), ", len(rows)-1) + "(default)"
	}
	if len(columns) == 0 {
		text += " default values"
	} else {
		lists := make([]string, len(rows))
		for i, cells := range rows {
			lists[i] = "(" + strings.Join(cells, ", ") + ")"
		}
		text += " (" + identifiers(columns) + ") values " + strings.Join(lists, ", ")
	}
	target := r.conflict
	if target == nil {
		target = r.rel.pk
	}
	if r.resolution == "" && r.method != "PUT" || len(target) == 0 {
		return text
	}
	text += " on conflict (" + identifiers(target) + ") do "
	if r.resolution == "ignore" || len(columns) == 0 {
		return text + "nothing"
	}
	sets := make([]string, len(columns))
	for i, c := range columns {
		sets[i] = identifier(c.name) + " = excluded." + identifier(c.name)
	}
	return text + "update set " + strings.Join(sets, ", ")
}

func (t *translator) update(r *request) string {
	sets := make([]string, len(r.columns))
	for i, c := range r.columns {
		sets[i] = identifier(c.name) + " = " + t.cell(r, c, r.rows[0][i])
	}
	return "update " + t.table(r.rel) + " d set " + strings.Join(sets, ", ") + t.wheres(r, "d")
}

// needed are the columns of the rows written that the answer speaks of.
func (t *translator) needed(r *request) string {
	if r.level.all {
		return identifiers(r.rel.columns)
	}
	wanted := map[*column]bool{}
	for _, i := range r.level.items {
		switch {
		case i.star:
			return identifiers(r.rel.columns)
		case i.link != nil:
			for _, pair := range append(slices.Clone(i.link.on), i.link.into...) {
				wanted[pair[0]] = true
			}
		case i.field.column != nil:
			wanted[i.field.column] = true
		}
	}
	for _, each := range r.level.order {
		if each.embed == "" {
			wanted[each.field.column] = true
		}
	}
	var list []*column
	for _, c := range r.rel.columns {
		if wanted[c] {
			list = append(list, c)
		}
	}
	if list == nil {
		return "1"
	}
	return identifiers(list)
}
