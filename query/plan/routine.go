package plan

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"basalt/query"
	"basalt/query/catalog"
)

// routine chooses the overload whose arguments are those that the request names; one with a single unnamed argument
// takes the whole body when there is no such.
func (p *planner) routine() (chosen *catalog.Routine, unnamed bool, err error) {
	name := catalog.Name{Schema: p.request.Schema, Name: p.request.Target}
	payload := p.request.Payload
	given := givenNames(p.request)
	// An array or a scalar is no list of named arguments.
	named := payload == nil || takesKeys(payload)
	var matching, whole []*catalog.Routine
	for _, routine := range p.catalog.Routines(name) {
		switch {
		case named && takes(routine, given):
			matching = append(matching, routine)
		case takesBody(routine, payload):
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

// givenNames are the names of the arguments that a request gives, sorted, each once.
func givenNames(r *query.Request) []string {
	var names []string
	if r.Payload != nil {
		if takesKeys(r.Payload) {
			names = slices.Clone(givenKeys(r))
		}
	} else {
		for i := range r.Query.Arguments {
			names = append(names, r.Query.Arguments[i].Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
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
	if payload == nil || !routine.TakesBody() {
		return false
	}
	wanted := routine.Args[0].Type.BodyType()
	if payload.Format == query.JSON {
		return wanted == "application/json"
	}
	return payload.Format == query.Opaque && wanted == payload.MediaType
}

// opaqueType is the type that takes a body which is one value.
func opaqueType(payload *query.Payload) string {
	switch payload.MediaType {
	case "text/plain":
		return "text"
	case "text/xml":
		return "xml"
	default:
		return "bytea"
	}
}

func (p *planner) routineNotFound(name catalog.Name, given []string) error {
	payload := p.request.Payload
	searched, arguments := " without parameters", " without parameters"
	switch list := strings.Join(given, ", "); len(given) {
	case 0:
	case 1:
		searched, arguments = " with parameter "+list, "("+list+")"
	default:
		searched, arguments = " with parameters "+list, "("+list+")"
	}
	e := &Error{Code: "PGRST202"}
	switch {
	case payload != nil && payload.Format == query.Opaque:
		searched, arguments = " with a single unnamed "+opaqueType(payload)+" parameter", ""
	case payload != nil && payload.Format == query.JSON:
		searched += " or with a single unnamed json/jsonb parameter"
		fallthrough
	default:
		e.Hint = p.routineHint(name, given)
	}
	e.Message = "Could not find the function " + name.String() + arguments + " in the schema cache"
	e.Details = "Searched for the function " + name.String() + searched + ", but no matches were found in the schema cache."
	return e
}

// routineHint tells what a wrong call may have meant: the same name with arguments like those, or a name like it.
func (p *planner) routineHint(name catalog.Name, given []string) string {
	meant := "Perhaps you meant to call the function "
	overloads := slices.DeleteFunc(slices.Clone(p.catalog.Routines(name)), func(r *catalog.Routine) bool { return !r.Callable() })
	if len(overloads) == 0 {
		if near, ok := p.catalog.Similar(name.Schema, catalog.RoutineName, name.Name); ok && near != name.Name {
			return meant + catalog.Name{Schema: name.Schema, Name: near}.String()
		}
		return ""
	}
	if len(given) == 0 {
		return "" // no list of arguments is like none
	}
	// The share of the list of arguments that must be right.
	best := 1. / 3
	wanted := "(" + strings.Join(given, ", ") + ")"
	near := ""
	for _, routine := range overloads {
		names := make([]string, len(routine.Args))
		for i := range routine.Args {
			names[i] = routine.Args[i].Name
		}
		slices.Sort(names)
		list := "(" + strings.Join(names, ", ") + ")"
		longer := max(utf8.RuneCountInString(list), utf8.RuneCountInString(wanted))
		if likeness := 1 - float64(distance(list, wanted))/float64(longer); likeness > best {
			best, near = likeness, list
		}
	}
	if near == "" {
		return ""
	}
	return meant + name.String() + near
}

func ambiguousRoutine(found []*catalog.Routine) error {
	slices.SortFunc(found, func(x, y *catalog.Routine) int {
		return cmp.Or(
			cmp.Compare(len(x.Args), len(y.Args)),
			cmp.Compare(x.Comment, y.Comment),
			slices.CompareFunc(x.Args, y.Args, func(x, y catalog.Arg) int {
				return cmp.Or(cmp.Compare(x.Name, y.Name), cmp.Compare(x.Type.SQL, y.Type.SQL))
			}),
		)
	})
	names := make([]string, len(found))
	for i, routine := range found {
		names[i] = signature(routine)
	}
	return &Error{
		Code:    "PGRST203",
		Message: "Could not choose the best candidate function between: " + strings.Join(names, ", "),
		Hint:    "Try renaming the parameters or the function itself in the database so function overloading can be resolved",
	}
}

func signature(routine *catalog.Routine) string {
	args := make([]string, len(routine.Args))
	for i := range routine.Args {
		args[i] = routine.Args[i].Name + " => " + routine.Args[i].Type.SQL
	}
	return routine.Name.String() + "(" + strings.Join(args, ", ") + ")"
}
