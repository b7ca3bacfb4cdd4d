package plan

import (
	"slices"

	"basalt/query"
	"basalt/query/catalog"
)

// Call is a call of a routine with every name resolved.
type Call struct {
	Routine   *catalog.Routine
	Arguments []CallArgument
	// WholeBody says that the arguments are taken out of the JSON body by PostgreSQL, because some are composites.
	WholeBody bool
	// Positional says that the arguments stand without their names, in their order.
	Positional bool
	// Read is what is shown of the result; its root reads the routine's rows.
	Read *Read
	// Scalar says that the result is made of single values, of which there is nothing to select. Void says that it is
	// nothing at all.
	Scalar, Void bool
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
	source, rows := resultSource(routine)
	call.Scalar = !rows
	call.Void = call.Scalar && routine.Returns.Name == catalog.Name{Schema: "pg_catalog", Name: "void"}
	root, err := p.tree(source)
	if err != nil {
		return nil, err
	}
	if call.Scalar && len(root.Items) > 0 {
		return nil, notImplemented("There is nothing to select of a function that returns single values.")
	}
	if err := p.narrow(root); err != nil {
		return nil, err
	}
	call.Read = p.read(root)
	return call, nil
}

// CheckAffected refuses a strict max-affected of a routine that gives a single result. The preference is no part of a
// request's shape, so that requests with and without it share a statement.
func CheckAffected(r *query.Request, single bool) error {
	if single && r.Prefer.LimitsAffected(r.Action) {
		return &Error{
			Code:    "PGRST128",
			Message: "Function must return SETOF or TABLE when max-affected preference is used with handling=strict",
		}
	}
	return nil
}

// resultSource is what the rows of a routine's result are made of; false when they are scalars, which have no columns.
func resultSource(routine *catalog.Routine) (Source, bool) {
	source := Source{Name: routine.Name.Name}
	var fields []catalog.Field
	switch {
	case routine.Relation != nil:
		return RelationSource(routine.Relation), true
	case len(routine.Out) > 0:
		fields = routine.Out
	case routine.Returns.Underlying().Kind == catalog.CompositeType:
		fields = routine.Returns.Underlying().Fields
	default:
		return source, false
	}
	for _, field := range fields {
		source.Columns = append(source.Columns, &catalog.Column{Name: field.Name, Type: field.Type})
	}
	return source, true
}

// bind pairs the routine's arguments with what the request gives. The others take their defaults.
func (c *Call) bind(r *query.Request) {
	variadic := false
	leading := true // no argument was left out so far
	for i := range c.Routine.Args {
		arg := &c.Routine.Args[i]
		bound := CallArgument{Arg: arg, Key: -1, Given: -1, Variadic: c.Routine.Variadic && i == len(c.Routine.Args)-1}
		if takesKeys(r.Payload) {
			bound.Key = slices.Index(givenKeys(r), arg.Name)
		} else {
			bound.Given = slices.IndexFunc(r.Query.Arguments, func(given query.Argument) bool { return given.Name == arg.Name })
		}
		if bound.Key < 0 && bound.Given < 0 {
			leading = leading && bound.Variadic
			continue
		}
		variadic = variadic || bound.Variadic
		if bound.Key >= 0 {
			bound.Key = slices.Index(r.Payload.Keys, arg.Name)
			c.WholeBody = c.WholeBody || r.Payload.Format == query.JSON && madeFromJSON(arg.Type)
		}
		c.Arguments = append(c.Arguments, bound)
	}
	// PostgreSQL finds no routine by the names of its arguments when a variadic one takes its default.
	c.Positional = c.Routine.Variadic && !variadic && leading
}

// takesKeys says that the keys of a payload are arguments.
func takesKeys(payload *query.Payload) bool {
	return payload != nil && (payload.Format == query.JSON && payload.Single || payload.Format == query.CSV && payload.Rows > 0)
}

// givenKeys are the keys of a payload that count.
func givenKeys(r *query.Request) []string {
	if r.Query.HasColumns && r.Payload.Format == query.JSON {
		return r.Query.Columns
	}
	return r.Payload.Keys
}
