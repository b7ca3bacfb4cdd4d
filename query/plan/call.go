package plan

import (
	"slices"
	"strings"

	"basalt/query"
	"basalt/query/catalog"
)

// Call is a call of a routine with every name resolved.
type Call struct {
	Routine   *catalog.Routine
	Arguments []CallArgument
	// WholeBody says that the arguments are taken out of the JSON body by PostgreSQL, because some are composites.
	WholeBody bool
	// Read is what is shown of the result; its root reads the routine's rows. Nil for a result of scalars or of
	// nothing.
	Read *Read
	// Void says that there is no result.
	Void bool
}

// CallArgument is one argument of a call.
type CallArgument struct {
	Arg      *catalog.Arg
	Variadic bool
	// Unnamed says that the whole body is the argument.
	Unnamed bool
	// Key is where the payload has it, -1 when the query string gives it.
	Key int
	// Given is which of Query.Arguments it is, -1 when the payload has it.
	Given int
}

// NewCall plans the call of a routine. Its errors are of type *Error.
func NewCall(c *catalog.Catalog, r *query.Request) (*Call, error) {
	p := &planner{catalog: c, request: r}
	routine, unnamed, err := p.routine()
	if err != nil {
		return nil, err
	}
	call := &Call{Routine: routine}
	if unnamed {
		call.Arguments = []CallArgument{{Arg: &routine.Args[0], Unnamed: true, Key: -1, Given: -1}}
	} else {
		call.bind(p.request)
	}
	if max := p.request.Prefer.MaxAffected; max >= 0 && p.request.Prefer.Handling == query.HandlingStrict && !routine.ReturnsSet {
		return nil, &Error{
			Code:    "PGRST128",
			Message: "Function must return SETOF or TABLE when max-affected preference is used with handling=strict",
		}
	}
	source, rows := p.resultSource(routine)
	if !rows {
		call.Void = routine.Returns.Name == catalog.Name{Schema: "pg_catalog", Name: "void"}
		return call, nil
	}
	root, err := p.tree(source)
	if err != nil {
		return nil, err
	}
	if err := p.narrow(root); err != nil {
		return nil, err
	}
	call.Read = p.read(root)
	return call, nil
}

// resultSource is what the rows of a routine's result are made of; false when they are scalars.
func (p *planner) resultSource(routine *catalog.Routine) (Source, bool) {
	source := Source{Name: routine.Name.Name, Relation: routine.Relation}
	var fields []catalog.Field
	switch {
	case routine.Relation != nil:
		source.Columns = routine.Relation.Columns
		return source, true
	case len(routine.Out) > 0:
		fields = routine.Out
	case routine.Returns.Underlying().Kind == catalog.CompositeType:
		fields = routine.Returns.Underlying().Fields
	default:
		return Source{}, false
	}
	for _, field := range fields {
		source.Columns = append(source.Columns, &catalog.Column{Name: field.Name, Type: field.Type})
	}
	return source, true
}

// bind pairs the routine's arguments with what the request gives. The others take their defaults.
func (c *Call) bind(r *query.Request) {
	for i := range c.Routine.Args {
		arg := &c.Routine.Args[i]
		bound := CallArgument{Arg: arg, Key: -1, Given: -1, Variadic: c.Routine.Variadic && i == len(c.Routine.Args)-1}
		if r.Payload != nil && r.Payload.Format == query.JSON {
			if bound.Key = slices.Index(r.Payload.Keys, arg.Name); bound.Key < 0 {
				continue
			}
			if r.Query.HasColumns && !slices.Contains(r.Query.Columns, arg.Name) {
				continue
			}
			c.WholeBody = c.WholeBody || madeFromJSON(arg.Type)
			c.Arguments = append(c.Arguments, bound)
			continue
		}
		bound.Given = slices.IndexFunc(r.Query.Arguments, func(given query.Argument) bool { return given.Name == arg.Name })
		if bound.Given >= 0 {
			c.Arguments = append(c.Arguments, bound)
		}
	}
}

// givenNames are the names of the arguments that a request gives, sorted.
func givenNames(r *query.Request) []string {
	var names []string
	switch {
	case r.Payload != nil && r.Payload.Format == query.JSON && r.Query.HasColumns:
		names = slices.Clone(r.Query.Columns)
	case r.Payload != nil && r.Payload.Format == query.JSON:
		names = slices.Clone(r.Payload.Keys)
	default:
		for i := range r.Query.Arguments {
			names = append(names, r.Query.Arguments[i].Name)
		}
	}
	slices.Sort(names)
	return names
}

// routine chooses the overload whose arguments are those that the request names; one with a single unnamed argument
// takes the whole body when there is no such.
func (p *planner) routine() (chosen *catalog.Routine, unnamed bool, err error) {
	name := catalog.Name{Schema: p.request.Schema, Name: p.request.Target}
	given := givenNames(p.request)
	// An array or a scalar is no list of named arguments.
	named := p.request.Payload == nil || p.request.Payload.Format == query.Form ||
		p.request.Payload.Format == query.JSON && p.request.Payload.Single
	var matching, whole []*catalog.Routine
	for _, routine := range p.catalog.Routines(name) {
		switch {
		case named && takes(routine, given):
			matching = append(matching, routine)
		case takesBody(routine, p.request.Payload):
			whole = append(whole, routine)
		}
	}
	if len(matching) == 0 {
		matching, unnamed = whole, true
	}
	switch len(matching) {
	case 0:
		return nil, false, p.routineNotFound(name, given)
	case 1:
		return matching[0], unnamed, nil
	}
	return nil, false, ambiguousRoutine(matching)
}

// takes says whether a routine can be called with exactly these arguments.
func takes(routine *catalog.Routine, given []string) bool {
	known := 0
	for i := range routine.Args {
		arg := &routine.Args[i]
		if _, ok := slices.BinarySearch(given, arg.Name); ok && arg.Name != "" {
			known++
		} else if !arg.HasDefault {
			return false
		}
	}
	return known == len(given)
}

// takesBody says whether a routine's only argument is unnamed and of the type that the body has.
func takesBody(routine *catalog.Routine, payload *query.Payload) bool {
	if payload == nil || len(routine.Args) != 1 || routine.Args[0].Name != "" || routine.Variadic {
		return false
	}
	switch routine.Args[0].Type.Name {
	case catalog.Name{Schema: "pg_catalog", Name: "json"}, catalog.Name{Schema: "pg_catalog", Name: "jsonb"}:
		return payload.Format == query.JSON
	case catalog.Name{Schema: "pg_catalog", Name: "text"}:
		return payload.Format == query.Opaque && payload.MediaType == "text/plain"
	case catalog.Name{Schema: "pg_catalog", Name: "xml"}:
		return payload.Format == query.Opaque && payload.MediaType == "text/xml"
	case catalog.Name{Schema: "pg_catalog", Name: "bytea"}:
		return payload.Format == query.Opaque && payload.MediaType == "application/octet-stream"
	}
	return false
}

func (p *planner) routineNotFound(name catalog.Name, given []string) error {
	list := strings.Join(given, ", ")
	e := &Error{Code: "PGRST202"}
	searched := "Searched for the function " + name.String()
	if len(given) == 0 {
		e.Message = "Could not find the function " + name.String() + " without parameters in the schema cache"
		searched += " without parameters"
	} else {
		e.Message = "Could not find the function " + name.String() + "(" + list + ") in the schema cache"
		noun := " with parameters "
		if len(given) == 1 {
			noun = " with parameter "
		}
		searched += noun + list
	}
	if payload := p.request.Payload; payload != nil && payload.Format == query.JSON {
		searched += " or with a single unnamed json/jsonb parameter"
	}
	e.Details = searched + ", but no matches were found in the schema cache."
	if near := p.nearRoutine(name); near != nil {
		e.Hint = "Perhaps you meant to call the function " + signature(near, false)
	}
	return e
}

// nearRoutine finds what a wrong call may have meant: the same name with other arguments, else a name like it.
func (p *planner) nearRoutine(name catalog.Name) *catalog.Routine {
	if same := p.catalog.Routines(name); len(same) > 0 {
		return same[0]
	}
	near, ok := p.catalog.Similar(name.Schema, catalog.RoutineName, name.Name)
	if !ok {
		return nil
	}
	return p.catalog.Routines(catalog.Name{Schema: name.Schema, Name: near})[0]
}

func signature(routine *catalog.Routine, types bool) string {
	args := make([]string, len(routine.Args))
	for i := range routine.Args {
		args[i] = routine.Args[i].Name
		if types {
			args[i] += " => " + routine.Args[i].Type.SQL
		}
	}
	return routine.Name.String() + "(" + strings.Join(args, ", ") + ")"
}

func ambiguousRoutine(found []*catalog.Routine) error {
	names := make([]string, len(found))
	for i, routine := range found {
		names[i] = signature(routine, true)
	}
	return &Error{
		Code:    "PGRST203",
		Message: "Could not choose the best candidate function between: " + strings.Join(names, ", "),
		Hint:    "Try renaming the parameters or the function itself in the database so function overloading can be resolved",
	}
}
