package plan

import (
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
	if planned.Column = source.column(f.Name); planned.Column != nil {
		planned.Type = planned.Column.Type
	} else if planned.Computed = p.computed(source, f.Name); planned.Computed != nil {
		planned.Type = planned.Computed.Returns
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
