package catalog

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

// The modes of pg_proc.proargmodes.
const (
	modeIn       = 'i'
	modeOut      = 'o'
	modeInOut    = 'b'
	modeVariadic = 'v'
	modeTable    = 't'
)

func (b *builder) addRoutines() error {
	routines := make([]Routine, len(b.raw.Routines))
	for i := range b.raw.Routines {
		raw, r := &b.raw.Routines[i], &routines[i]
		if err := b.routine(r, raw); err != nil {
			return fmt.Errorf("function %s: %w", raw.Name, err)
		}
		if s := b.catalog.schemas[r.Name.Schema]; s != nil {
			b.catalog.routines[r.Name] = append(b.catalog.routines[r.Name], r)
			s.routines = append(s.routines, r)
		}
		b.addComputedColumn(r)
	}
	for _, s := range b.catalog.schemas {
		slices.SortFunc(s.routines, func(x, y *Routine) int {
			return cmp.Or(cmp.Compare(x.Name.Name, y.Name.Name), cmp.Compare(x.OID, y.OID))
		})
	}
	return nil
}

func (b *builder) routine(r *Routine, raw *RawRoutine) error {
	*r = Routine{
		OID:        raw.OID,
		Name:       raw.Name,
		Comment:    raw.Comment,
		Variadic:   raw.Variadic,
		Volatility: raw.Volatility,
		ReturnsSet: raw.ReturnsSet,
		Rows:       raw.Rows,
		Settings:   settings(raw.Config),
	}
	if r.Returns = b.catalog.types[raw.Returns]; r.Returns == nil {
		return fmt.Errorf("unknown result type %d", raw.Returns)
	}
	r.Relation = r.Returns.Underlying().Relation
	all := raw.AllTypes
	if all == nil {
		all = raw.InTypes
	}
	if len(raw.InTypes) > 0 {
		r.Args = make([]Arg, 0, len(raw.InTypes))
	}
	for i, oid := range all {
		t := b.catalog.types[oid]
		if t == nil {
			return fmt.Errorf("argument %d has the unknown type %d", i+1, oid)
		}
		var name string
		if i < len(raw.ArgNames) {
			name = raw.ArgNames[i]
		}
		mode := byte(modeIn)
		if i < len(raw.Modes) {
			mode = raw.Modes[i]
		}
		switch mode {
		case modeIn, modeVariadic:
			r.Args = append(r.Args, Arg{Name: name, Type: t})
		case modeInOut:
			r.Args = append(r.Args, Arg{Name: name, Type: t})
			r.Out = append(r.Out, Field{Name: name, Type: t})
		case modeOut, modeTable:
			r.Out = append(r.Out, Field{Name: name, Type: t})
		}
	}
	// Only the last input arguments can have defaults.
	for i := max(0, len(r.Args)-int(raw.Defaults)); i < len(r.Args); i++ {
		r.Args[i].HasDefault = true
	}
	r.nameOut()
	return nil
}

// nameOut names the columns of a result as PostgreSQL does. A single one without a name is no column but the result, and
// the columns of a single composite one are those of the result.
func (r *Routine) nameOut() {
	if len(r.Out) == 1 && (r.Out[0].Name == "" || r.Returns.Underlying().Kind == CompositeType) {
		r.Out = nil
	}
	for i := range r.Out {
		if r.Out[i].Name == "" {
			r.Out[i].Name = "column" + strconv.Itoa(i+1)
		}
	}
}

// rowArgument gives the relation whose row is a routine's only argument, or nil.
func (r *Routine) rowArgument() *Relation {
	if len(r.Args) != 1 || r.Variadic {
		return nil
	}
	return r.Args[0].Type.Relation
}

// takesRow gives the relation whose row alone a routine can be called with, or nil.
func (r *Routine) takesRow() *Relation {
	if len(r.Args) == 0 || r.Variadic || len(r.Args) > 1 && !r.Args[1].HasDefault {
		return nil
	}
	return r.Args[0].Type.Relation
}

// addComputedColumn registers a routine that serves as a virtual column. PostgreSQL finds such functions along
// search_path, which begins with the relation's schema.
func (b *builder) addComputedColumn(r *Routine) {
	row := r.takesRow()
	if row == nil || !b.exposes(row.Name) {
		return
	}
	if r.Relation != nil && b.exposes(r.Relation.Name) {
		return
	}
	key := computedKey{row.Name, r.Name.Name}
	if known := b.catalog.computed[key]; known == nil || b.rank(r, row) < b.rank(known, row) {
		b.catalog.computed[key] = r
	}
}

// rank orders schemas as search_path does: the relation's own, the extra ones, then the other exposed ones.
func (b *builder) rank(r *Routine, row *Relation) int {
	if r.Name.Schema == row.Name.Schema {
		return -1
	}
	if at := slices.Index(b.raw.Options.ExtraSearchPath, r.Name.Schema); at >= 0 {
		return at
	}
	return len(b.raw.Options.ExtraSearchPath) + slices.Index(b.raw.Options.Schemas, r.Name.Schema)
}
