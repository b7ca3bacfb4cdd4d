package plan

import (
	"basalt/query"
	"basalt/query/catalog"
)

// Write is an insert, update, upsert or delete with every name resolved.
type Write struct {
	Action   query.Action
	Relation *catalog.Relation
	// Columns are set from the payload, in the order of its keys. An insert without any makes rows of defaults.
	Columns []WriteColumn
	Payload PayloadForm
	// JSON says that the payload's values are JSON, List that they are in an array of objects.
	JSON, List bool
	// Nothing says that there is nothing to write: no rows, or no columns to change.
	Nothing bool
	// Defaults says that rows may lack keys and take the columns' defaults then, instead of NULL.
	Defaults bool
	Conflict *Conflict
	// Where are the conditions on the rows to change (of PUT: on the row to be written).
	Where []Predicate
	// Keys are given back for the Location header.
	Keys []*catalog.Column
	// Guard says how many rows must be written for the write to be kept; the zero Guard takes any number.
	Guard Guard
	// AtMostOne says that no more than one row can be written.
	AtMostOne bool
	// Returning is what is shown of the rows written, nil for nothing. Its conditions are those of embeds only.
	Returning *Node
}

// WriteColumn is a column that takes its value from a key of the payload.
type WriteColumn struct {
	Column *catalog.Column
	Key    int // in Payload.Keys
}

// PayloadForm is how the payload's values travel.
type PayloadForm byte

// The forms.
const (
	NoPayload PayloadForm = iota
	// OneRow binds one parameter for each column.
	OneRow
	// ManyRows binds one array for each column.
	ManyRows
	// WholeBody binds the JSON body itself, for columns of composites: only PostgreSQL knows how to make those from
	// JSON.
	WholeBody
)

// Conflict is what happens to rows whose key is there already.
type Conflict struct {
	Target []*catalog.Column
	Update []*catalog.Column // set from the new row; empty: the row there stays
}

// NewWrite plans a write to a relation. Its errors are of type *Error.
func NewWrite(c *catalog.Catalog, r *query.Request) (*Write, error) {
	uncapped := *r
	uncapped.MaxRows = 0 // caps what is read, not what is shown of a write
	p := &planner{catalog: c, request: &uncapped}
	relation, err := p.relation()
	if err != nil {
		return nil, err
	}
	w := &Write{Action: r.Action, Relation: relation}
	if err := p.columns(w); err != nil {
		return nil, err
	}
	if r.Action == query.Put {
		if err := p.put(w); err != nil {
			return nil, err
		}
	}
	if err := p.conflict(w); err != nil {
		return nil, err
	}
	if err := p.returning(w); err != nil {
		return nil, err
	}
	p.guard(w)
	return w, nil
}

// columns finds the columns that the payload sets and how it travels.
func (p *planner) columns(w *Write) error {
	payload := p.request.Payload
	if payload == nil {
		return nil
	}
	nested, err := p.setColumns(w)
	if err != nil {
		return err
	}
	w.JSON, w.List = payload.Format == query.JSON, !payload.Single
	w.Defaults = p.request.Prefer.Missing == query.MissingDefault && payload.Ragged
	w.Nothing = payload.Rows == 0 || w.Action == query.Update && len(w.Columns) == 0
	switch {
	case w.Nothing:
		return nil
	case w.Action == query.Update && payload.Rows > 1:
		// Which of them a row would get is PostgreSQL's whim.
		return &Error{Code: "PGRST102", Message: "The body of an update must be one object"}
	case nested && w.JSON:
		w.Payload = WholeBody
	case payload.Rows == 1 && !w.Defaults:
		w.Payload = OneRow
	default:
		w.Payload = ManyRows
	}
	return nil
}

// setColumns pairs the keys that count with columns. Nested says that some column is made of composites.
func (p *planner) setColumns(w *Write) (nested bool, err error) {
	payload := p.request.Payload
	keys := make(map[string]int, len(payload.Keys))
	for i, key := range payload.Keys {
		keys[key] = i
	}
	names := payload.Keys
	if p.request.Query.HasColumns {
		names = p.request.Query.Columns
	}
	for _, name := range names {
		column := w.Relation.Column(name)
		if column == nil {
			return false, &Error{
				Code:    "PGRST204",
				Message: "Could not find the '" + name + "' column of '" + w.Relation.Name.Name + "' in the schema cache",
			}
		}
		key, ok := keys[name]
		if !ok {
			continue // a name of columns= that the body does not speak of, or that was there before
		}
		delete(keys, name)
		nested = nested || madeFromJSON(column.Type)
		w.Columns = append(w.Columns, WriteColumn{column, key})
	}
	return nested, nil
}

// madeFromJSON says that only PostgreSQL knows how to make values of a type from JSON: composites, and arrays that
// cannot be spelled without knowing more of their elements.
func madeFromJSON(t *catalog.Type) bool {
	t = t.Underlying()
	if t.Elem == nil {
		return t.Kind == catalog.CompositeType
	}
	t = t.Elem.Underlying()
	return t.Elem == nil && !plainElement(t)
}

// plainElement says that arrays of a type are spelled with commas between their elements, none of which is an array. Of
// types that are not PostgreSQL's own this is not known.
func plainElement(t *catalog.Type) bool {
	switch t.Kind {
	case catalog.EnumType, catalog.RangeType, catalog.MultirangeType:
		return t.Array != 0
	case catalog.BaseType:
		box := catalog.Name{Schema: "pg_catalog", Name: "box"} // its arrays have semicolons
		return t.Array != 0 && t.Elem == nil && t.Name.Schema == box.Schema && t.Name != box
	}
	return false
}

// put checks that the filters name a row by its primary key. Of the payload's rows only that one is written.
func (p *planner) put(w *Write) error {
	filters := map[string]bool{}
	for i := range p.request.Query.Where {
		c := &p.request.Query.Where[i]
		if c.Logic == query.Compare && len(c.Path) > 0 {
			continue // on an embed of what is shown
		}
		if c.Logic != query.Compare || c.Negated || len(c.Field.Path) > 0 || c.Operator.Name != "eq" ||
			c.Quantifier != query.NoQuantifier {
			return putFilters()
		}
		filters[c.Field.Name] = true
	}
	set := map[*catalog.Column]bool{}
	for _, column := range w.Columns {
		set[column.Column] = true
	}
	for _, key := range w.Relation.PrimaryKey {
		if !filters[key.Name] {
			return putFilters()
		}
		if !set[key] {
			return PutMismatch()
		}
	}
	if len(filters) != len(w.Relation.PrimaryKey) || len(filters) == 0 {
		return putFilters()
	}
	if p.request.Payload.Rows == 0 {
		return PutMismatch()
	}
	return nil
}

func putFilters() error {
	return &Error{Code: "PGRST105", Message: "Filters must include all and only primary key columns with 'eq' operators"}
}

// PutMismatch is the error of a PUT whose body is not the one row that its filters name.
func PutMismatch() error {
	return &Error{Code: "PGRST115", Message: "Payload values do not match URL in primary key column(s)"}
}

// conflict plans what happens to rows whose key is there already.
func (p *planner) conflict(w *Write) error {
	r := p.request
	if r.Action != query.Put && (r.Action != query.Insert || r.Prefer.Resolution == query.ResolutionNone) {
		return nil
	}
	conflict := &Conflict{Target: w.Relation.PrimaryKey}
	if r.Action == query.Insert && len(r.Query.OnConflict) > 0 {
		conflict.Target = nil
		for _, name := range r.Query.OnConflict {
			column := w.Relation.Column(name)
			if column == nil {
				return conflictColumnNotFound(w.Relation, name)
			}
			conflict.Target = append(conflict.Target, column)
		}
	}
	if len(conflict.Target) == 0 {
		return nil
	}
	if r.Action == query.Put || r.Prefer.Resolution == query.MergeDuplicates {
		for _, column := range w.Columns {
			conflict.Update = append(conflict.Update, column.Column)
		}
	}
	w.Conflict = conflict
	return nil
}

func conflictColumnNotFound(relation *catalog.Relation, name string) error {
	source := RelationSource(relation)
	return &Error{
		Code:    "42703",
		Message: `column "` + name + `" does not exist`,
		Hint:    columnHint(&source, name),
	}
}

// returning plans what is shown of the rows written, and the conditions on the rows to change.
func (p *planner) returning(w *Write) error {
	source := RelationSource(w.Relation)
	root := &Node{Source: source, Limit: query.None, Offset: query.None}
	var err error
	if p.request.Returning == query.ReturnRows {
		if root, err = p.tree(source); err != nil {
			return err
		}
		w.Returning = root
	}
	if p.request.Returning == query.ReturnKey {
		w.Keys = w.Relation.PrimaryKey
	}
	for i := range p.request.Query.Where {
		c := &p.request.Query.Where[i]
		if len(c.Path) > 0 && w.Returning == nil {
			continue // a condition on rows that are not shown
		}
		if err := p.condition(root, c); err != nil {
			return err
		}
	}
	if err := root.bearable(); err != nil {
		return err
	}
	w.Where, root.Where = root.Where, nil
	if w.Returning == nil {
		return nil
	}
	if err := p.orders(root); err != nil {
		return err
	}
	return p.ranges(root)
}
