package plan

import (
	"unicode/utf8"

	"basalt/query"
	"basalt/query/catalog"
)

// OIDs of the types that JSON paths lead from and to.
const (
	jsonOID  catalog.OID = 114
	jsonbOID catalog.OID = 3802
	textOID  catalog.OID = 25
)

// field resolves a name and the JSON path behind it. A column wins over a computed column.
func (p *planner) field(source *Source, f query.Field) (Field, error) {
	var planned Field
	name := clip(f.Name)
	if planned.Column = source.column(name); planned.Column != nil {
		planned.Type = planned.Column.Type
	} else if planned.Computed = p.computed(source, name); planned.Computed != nil {
		planned.Type = planned.Computed.Returns
	} else if planned.Column = p.systemColumn(source, name); planned.Column != nil {
		planned.Type = planned.Column.Type
	} else {
		return Field{}, columnNotFound(source, f.Name)
	}
	if len(f.Path) == 0 {
		return planned, nil
	}
	planned.Path = f.Path
	result := jsonbOID
	switch planned.Type.Underlying().OID {
	case jsonOID:
		result = jsonOID
	case jsonbOID:
	default:
		planned.ToJSON = true
	}
	if f.Path[len(f.Path)-1].AsText {
		result = textOID
	}
	planned.Type = p.catalog.Type(result)
	return planned, nil
}

func (p *planner) computed(source *Source, name string) *catalog.Routine {
	if source.Relation == nil {
		return nil
	}
	return p.catalog.ComputedColumn(source.Relation.Name, name)
}

// maxName is the length in bytes to which PostgreSQL cuts names (NAMEDATALEN - 1), between characters.
const maxName = 63

func clip(name string) string {
	if len(name) <= maxName {
		return name
	}
	end := maxName
	for !utf8.RuneStart(name[end]) {
		end--
	}
	return name[:end]
}

// systemColumn finds a column that every stored row has beside those of its relation. Rows that come from elsewhere
// have none.
func (p *planner) systemColumn(source *Source, name string) *catalog.Column {
	if p.request.Action == query.Call || source.Relation == nil || source.Relation.Kind == catalog.View {
		return nil
	}
	var number int16 // in pg_attribute
	var oid catalog.OID
	switch name {
	case "ctid":
		number, oid = -1, 27
	case "xmin":
		number, oid = -2, 28
	case "cmin":
		number, oid = -3, 29
	case "xmax":
		number, oid = -4, 28
	case "cmax":
		number, oid = -5, 29
	case "tableoid":
		number, oid = -6, 26
	default:
		return nil
	}
	return &catalog.Column{Name: name, Number: number, Type: p.catalog.Type(oid)}
}
