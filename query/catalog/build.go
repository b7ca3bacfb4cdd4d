package catalog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// mapFrom is the number of columns from which on a relation gets a map of them.
const mapFrom = 12

// The bits of pg_relation_is_updatable: 1 << CmdType.
const (
	updateEvent = 1 << 2
	insertEvent = 1 << 3
	deleteEvent = 1 << 4
)

// schema is what one exposed schema offers, in the order of names.
type schema struct {
	comment   string
	relations []*Relation
	routines  []*Routine
}

// builder holds what Build needs beside the catalog that it makes.
type builder struct {
	raw       *Raw
	catalog   *Catalog
	relations map[OID]*Relation // all, exposed or not
	types     map[OID]*RawType
	viewsOf   map[OID][]*keyedView // the views that show columns of a base relation
}

// columnID names a column by its relation and number.
type columnID struct {
	relation OID
	number   int16
}

// Build makes a catalog of the rows. It fails only when they contradict each other.
func Build(raw Raw, version uint64) (*Catalog, error) {
	b := builder{
		raw:       &raw,
		relations: make(map[OID]*Relation, len(raw.Relations)),
		types:     make(map[OID]*RawType, len(raw.Types)),
		viewsOf:   make(map[OID][]*keyedView),
		catalog: &Catalog{
			Version:       version,
			ServerVersion: raw.ServerVersion,
			SetsResponse:  raw.SetsResponse,
			options:       raw.Options,
			schemas:       make(map[string]*schema, len(raw.Options.Schemas)),
			relations:     make(map[Name]*Relation),
			routines:      make(map[Name][]*Routine),
			types:         make(map[OID]*Type, len(raw.Types)),
			typeNames:     make(map[string][]*Type, len(raw.Types)),
			roles:         make(map[string]*Role, len(raw.Roles)),
			relationships: make(map[Name][]*Relationship),
			computed:      make(map[computedKey]*Routine),
			handlers:      make(map[OID][]*Handler),
		},
	}
	b.addSchemas()
	b.addRelations()
	if err := b.addTypes(); err != nil {
		return nil, err
	}
	if err := b.addColumns(); err != nil {
		return nil, err
	}
	b.addKeys()
	b.addViewKeys()
	if err := b.addRoutines(); err != nil {
		return nil, err
	}
	if err := b.addHandlers(); err != nil {
		return nil, err
	}
	b.addRelationships()
	b.addRoles()
	return b.catalog, nil
}

func (b *builder) addSchemas() {
	for _, name := range b.raw.Options.Schemas {
		b.catalog.schemas[name] = &schema{}
	}
	for _, s := range b.raw.Schemas {
		if exposed := b.catalog.schemas[s.Name]; exposed != nil {
			exposed.comment = s.Comment
		}
	}
}

func (b *builder) exposes(n Name) bool { return b.catalog.schemas[n.Schema] != nil }

func (b *builder) addRelations() {
	relations := make([]Relation, len(b.raw.Relations))
	for i := range b.raw.Relations {
		raw, r := &b.raw.Relations[i], &relations[i]
		*r = Relation{
			OID:        raw.OID,
			Name:       raw.Name,
			Kind:       raw.Kind,
			Comment:    raw.Comment,
			RowType:    raw.RowType,
			Parent:     raw.Parent,
			Insertable: raw.Events&insertEvent != 0,
			Updatable:  raw.Events&updateEvent != 0,
			Deletable:  raw.Events&deleteEvent != 0,
		}
		b.relations[r.OID] = r
		if b.exposes(r.Name) {
			b.catalog.relations[r.Name] = r
			s := b.catalog.schemas[r.Name.Schema]
			s.relations = append(s.relations, r)
		}
	}
	for _, s := range b.catalog.schemas {
		slices.SortFunc(s.relations, func(x, y *Relation) int { return cmp.Compare(x.Name.Name, y.Name.Name) })
	}
}

// addColumns gives relations their columns and composite types their fields.
func (b *builder) addColumns() error {
	rowTypes := make(map[OID]*Type)
	for i := range b.raw.Types {
		if t := &b.raw.Types[i]; t.Relation != 0 {
			rowTypes[t.Relation] = b.catalog.types[t.OID]
		}
	}
	columns := make([]Column, len(b.raw.Columns))
	pointers := make([]*Column, len(b.raw.Columns))
	fields := make([]Field, len(b.raw.Columns))
	for i := range b.raw.Columns {
		raw := &b.raw.Columns[i]
		if err := b.column(&columns[i], raw); err != nil {
			return err
		}
		pointers[i] = &columns[i]
		fields[i] = Field{Name: raw.Name, Type: columns[i].Type}
	}
	for first := 0; first < len(columns); {
		owner := b.raw.Columns[first].Relation
		last := first + 1
		for last < len(columns) && b.raw.Columns[last].Relation == owner {
			last++
		}
		if t := rowTypes[owner]; t != nil {
			t.Fields = fields[first:last:last]
		}
		if r := b.relations[owner]; r != nil {
			r.Columns = pointers[first:last:last]
			if last-first >= mapFrom {
				r.columns = make(map[string]*Column, last-first)
				for _, c := range r.Columns {
					r.columns[c.Name] = c
				}
			}
		}
		first = last
	}
	return nil
}

func (b *builder) column(c *Column, raw *RawColumn) error {
	t := b.catalog.types[raw.Type]
	if t == nil {
		return fmt.Errorf("column %s of relation %d has the unknown type %d", raw.Name, raw.Relation, raw.Type)
	}
	*c = Column{
		Name:      raw.Name,
		Number:    raw.Number,
		Type:      t,
		TypeMod:   raw.TypeMod,
		NotNull:   raw.NotNull,
		Default:   raw.Default,
		Generated: raw.Generated,
		Writable:  raw.Writable,
		Identity:  raw.Identity,
		Comment:   raw.Comment,
	}
	mod := raw.TypeMod
	for t := b.types[raw.Type]; t.Kind == DomainType; t = b.types[t.Base] {
		c.NotNull = c.NotNull || t.NotNull
		if c.Default == "" && !c.Generated {
			c.Default = t.Default
		}
		mod = t.TypeMod
	}
	c.MaxLength = maxLength(t.Underlying().Name, mod)
	return nil
}

// maxLength reads the type modifier of the types that have a length; character types count a header of 4 bytes.
func maxLength(t Name, mod int32) int32 {
	if mod < 0 || t.Schema != systemSchema {
		return 0
	}
	switch t.Name {
	case "varchar", "bpchar":
		return mod - 4
	case "bit", "varbit":
		return mod
	default:
		return 0
	}
}

func (b *builder) addKeys() {
	for _, key := range b.raw.Keys {
		r := b.relations[key.Relation]
		if r == nil {
			continue
		}
		columns := r.numbered(key.Columns)
		switch {
		case columns == nil:
		case key.Primary:
			r.PrimaryKey = columns
		default:
			r.Uniques = append(r.Uniques, columns)
		}
	}
}

// numbered finds columns by their numbers, or gives nil when one is missing.
func (r *Relation) numbered(numbers []int16) []*Column {
	columns := make([]*Column, len(numbers))
	for i, n := range numbers {
		at, found := slices.BinarySearchFunc(r.Columns, n, func(c *Column, n int16) int {
			return cmp.Compare(c.Number, n)
		})
		if !found {
			return nil
		}
		columns[i] = r.Columns[at]
	}
	return columns
}

func (b *builder) addRoles() {
	for _, raw := range b.raw.Roles {
		b.catalog.roles[raw.Name] = &Role{Name: raw.Name, Settings: settings(raw.Config)}
	}
}

// settings splits name=value entries; a later one replaces an earlier one of the same name.
func settings(config []string) []Setting {
	var list []Setting
	for _, entry := range config {
		name, value, found := strings.Cut(entry, "=")
		if !found {
			continue
		}
		at := slices.IndexFunc(list, func(s Setting) bool { return s.Name == name })
		if at >= 0 {
			list[at].Value = value
			continue
		}
		list = append(list, Setting{Name: name, Value: value})
	}
	return list
}
