package catalog

import "fmt"

// systemSchema holds PostgreSQL's own types; it precedes every search path.
const systemSchema = "pg_catalog"

func (b *builder) addTypes() error {
	types := make([]Type, len(b.raw.Types))
	for i := range b.raw.Types {
		raw, t := &b.raw.Types[i], &types[i]
		*t = Type{
			OID:      raw.OID,
			Name:     raw.Name,
			Kind:     raw.Kind,
			Category: raw.Category,
			SQL:      raw.SQL,
			Array:    raw.Array,
			Relation: b.relations[raw.Relation],
		}
		b.types[t.OID] = raw
		b.catalog.types[t.OID] = t
		b.catalog.typeNames[t.Name.Name] = append(b.catalog.typeNames[t.Name.Name], t)
	}
	for i := range types {
		raw, t := &b.raw.Types[i], &types[i]
		if raw.Elem != 0 {
			if t.Elem = b.catalog.types[raw.Elem]; t.Elem == nil {
				return fmt.Errorf("array type %s has the unknown element type %d", t.Name, raw.Elem)
			}
		}
		if raw.Kind == DomainType {
			if t.Base = b.catalog.types[raw.Base]; t.Base == nil {
				return fmt.Errorf("domain %s has the unknown base type %d", t.Name, raw.Base)
			}
		}
	}
	for _, label := range b.raw.Labels {
		if t := b.catalog.types[label.Type]; t != nil {
			t.Labels = append(t.Labels, label.Label)
		}
	}
	b.addRepresentations()
	return nil
}

// addRepresentations gives domains the functions that stand between them and their JSON and text forms.
func (b *builder) addRepresentations() {
	for _, cast := range b.raw.Casts {
		source, target := b.catalog.types[cast.Source], b.catalog.types[cast.Target]
		if source == nil || target == nil {
			continue
		}
		json, text := Name{systemSchema, "json"}, Name{systemSchema, "text"}
		switch {
		case source.Kind == DomainType && target.Name == json:
			source.JSONCast = cast.Function
		case target.Kind == DomainType && source.Name == json:
			target.FromJSON = cast.Function
		case target.Kind == DomainType && source.Name == text:
			target.FromText = cast.Function
		}
	}
}
