package sql_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"basalt/query"
	"basalt/query/catalog"
	"basalt/query/plan"
	"basalt/query/sql"
)

// compile parses, plans and compiles the request that lines such as
//
//	POST /orders?select=id # return=representation missing=default
//	> {"id": 1}
//
// stand for.
func (s *sample) compile(text string) (*query.Request, *sql.Statement, error) {
	r, err := s.request(text)
	if err != nil {
		return nil, nil, err
	}
	if cursor := r.Cursor; cursor != nil {
		r.Cursor = nil
		first, err := s.statement(r)
		if err != nil {
			return nil, nil, err
		}
		r.Cursor, cursor.Order = cursor, first.Page.Order
	}
	statement, err := s.statement(r)
	return r, statement, err
}

func (s *sample) statement(r *query.Request) (*sql.Statement, error) {
	switch r.Action {
	case query.Read:
		planned, err := plan.NewRead(s.catalog, r)
		if err != nil {
			return nil, err
		}
		return sql.CompileRead(planned), nil
	case query.Call:
		planned, err := plan.NewCall(s.catalog, r)
		if err != nil {
			return nil, err
		}
		return sql.CompileCall(planned), nil
	default:
		planned, err := plan.NewWrite(s.catalog, r)
		if err != nil {
			return nil, err
		}
		return sql.CompileWrite(planned), nil
	}
}

// request reads the lines of a request.
func (s *sample) request(text string) (*query.Request, error) {
	line, body, _ := strings.Cut(text, "\n")
	line, options, _ := strings.Cut(line, " # ")
	method, path, _ := strings.Cut(line, " /")
	target, raw, _ := strings.Cut(path, "?")
	r := &query.Request{
		Schema: "public", Target: target, Query: &query.Query{},
		Limit: -1, Aggregates: true, LegacyTargetNames: true, Prefer: query.Preferences{MaxAffected: -1},
	}
	kind, err := readOptions(r, options)
	if err != nil {
		return nil, err
	}
	var parse query.ParseOptions
	if routine, ok := strings.CutPrefix(target, "rpc/"); ok {
		r.Action, r.Target, parse.Call = query.Call, routine, true
		if method == "GET" {
			parse.IsArgument = s.isArgument(routine)
		}
	} else {
		r.Action = map[string]query.Action{
			"GET": query.Read, "POST": query.Insert, "PATCH": query.Update, "PUT": query.Put, "DELETE": query.Delete,
		}[method]
	}
	if err := r.Query.Parse(raw, parse); err != nil {
		return nil, err
	}
	if r.Action == query.Read || r.Action == query.Call {
		r.Returning = query.ReturnRows
		if r.Limit, r.Offset, err = query.Window(r.Query.TopRange(), "", r.MaxRows); err != nil {
			return nil, err
		}
	}
	if method != "GET" && r.Action != query.Delete {
		err = readBody(r, kind, bodyOf(body))
	}
	return r, err
}

// isArgument tells the arguments of the overloads of a routine.
func (s *sample) isArgument(routine string) func(name, value string) bool {
	overloads := s.catalog.Routines(catalog.Name{Schema: "public", Name: routine})
	return func(name, _ string) bool {
		return slices.ContainsFunc(overloads, func(r *catalog.Routine) bool {
			return slices.ContainsFunc(r.Args, func(arg catalog.Arg) bool { return arg.Name == name })
		})
	}
}

// bodyOf takes the marks from the lines of a body.
func bodyOf(marked string) []byte {
	var lines []string
	for line := range strings.Lines(marked) {
		lines = append(lines, strings.TrimPrefix(strings.TrimSuffix(line, "\n"), "> "))
	}
	return []byte(strings.Join(lines, "\n"))
}

func readBody(r *query.Request, kind string, body []byte) error {
	var err error
	switch kind {
	case "csv":
		r.Payload, err = query.ReadCSV(body)
	case "form":
		if r.Action == query.Call {
			return r.Query.AddArguments(string(body))
		}
		r.Payload, err = query.ReadForm(body)
	case "text/plain", "text/xml", "application/octet-stream":
		r.Payload = &query.Payload{Format: query.Opaque, Single: true, Rows: 1, Raw: body, MediaType: kind}
	default:
		if len(body) == 0 {
			body = []byte("{}")
		}
		r.Payload, err = query.ReadJSON(body, query.JSONOptions{
			Columns: r.Query.Columns, Any: r.Action == query.Call,
			Ragged: r.Query.HasColumns || r.Prefer.Missing == query.MissingDefault,
		})
	}
	return err
}

// readOptions reads what follows the address of a request, and gives the type of its body.
func readOptions(r *query.Request, options string) (kind string, err error) {
	for option := range strings.FieldsSeq(options) {
		name, value, _ := strings.Cut(option, "=")
		switch name {
		case "count":
			r.Prefer.Count = map[string]query.CountPreference{
				"exact": query.CountExact, "planned": query.CountPlanned, "estimated": query.CountEstimated,
			}[value]
		case "return":
			r.Returning = map[string]query.Returning{
				"minimal": query.ReturnNothing, "headers-only": query.ReturnKey, "representation": query.ReturnRows,
			}[value]
		case "missing":
			r.Prefer.Missing = map[string]query.MissingPreference{
				"null": query.MissingNull, "default": query.MissingDefault,
			}[value]
		case "resolution":
			r.Prefer.Resolution = map[string]query.ResolutionPreference{
				"merge": query.MergeDuplicates, "ignore": query.IgnoreDuplicates,
			}[value]
		case "max-affected":
			r.Prefer.Handling = query.HandlingStrict
			r.Prefer.MaxAffected, err = strconv.ParseInt(value, 10, 64)
		case "one":
			r.One = true
		case "page":
			r.Prefer.Page = query.PageKeyset
		case "after": // the cursor's values; its order is known when the first page is compiled
			r.Cursor = &query.Cursor{}
			for text := range strings.SplitSeq(value, ",") {
				r.Cursor.Values = append(r.Cursor.Values, query.CursorValue{Text: text, Null: text == "null"})
			}
		case "max-rows":
			r.MaxRows, err = strconv.ParseInt(value, 10, 64)
		case "no-aggregates":
			r.Aggregates = false
		case "no-legacy":
			r.LegacyTargetNames = false
		case "type":
			kind = value
		case "refused":
		default:
			err = fmt.Errorf("unknown option %q", option)
		}
		if err != nil {
			return "", err
		}
	}
	return kind, nil
}
