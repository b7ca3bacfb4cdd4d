package rest

import (
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"basalt/query"
	"basalt/query/catalog"
)

// readRequest turns an HTTP request into a query.Request. Nothing of the database is touched, so that a bad
// request costs no connection.
func (h *Handler) readRequest(r *http.Request, path string, c *catalog.Catalog, q *query.Query) (*query.Request, []accepted, error) {
	request := &query.Request{
		Query: q, Limit: -1,
		MaxRows: h.options.MaxRows, Aggregates: h.options.Aggregates, LegacyTargetNames: h.options.LegacyTargetNames,
	}
	if err := target(request, r.Method, path); err != nil {
		return nil, nil, err
	}
	var err error
	if request.Schema, err = h.schema(r); err != nil {
		return nil, nil, err
	}
	if request.Prefer, err = preferences(r.Header["Prefer"], h.options.End); err != nil {
		return nil, nil, err
	}
	formats, err := accepts(r.Header["Accept"])
	if err != nil {
		return nil, nil, err
	}
	var options query.ParseOptions
	if request.Action == query.Call {
		if r.Method != http.MethodPost {
			options.Call = true
			options.IsArgument = arguments(c, catalog.Name{Schema: request.Schema, Name: request.Target}, r.URL.RawQuery)
		}
	}
	raw := withoutKey(r.URL.RawQuery)
	if request.Prefer.Page == query.PageKeyset && request.Action == query.Read {
		if raw, request.Cursor, err = takeCursor(raw); err != nil {
			return nil, nil, err
		}
	}
	if err := q.Parse(raw, options); err != nil {
		return nil, nil, err
	}
	if request.Action == query.Put {
		q.Columns, q.HasColumns = nil, false // a row is put as a whole
	}
	if err := window(request, r, h.options.MaxRows); err != nil {
		return nil, nil, err
	}
	if hasPayload(request.Action, r.Method) {
		if request.Payload, err = readPayload(r, request); err != nil {
			return nil, nil, err
		}
	}
	request.Returning = returning(request)
	return request, formats, nil
}

// preferences reads the Prefer headers. How the transaction ends is the client's choice only where that is allowed.
func preferences(headers []string, end TransactionEnd) (query.Preferences, error) {
	p := query.ParsePreferences(headers)
	if !end.Override {
		p.Transaction = query.TransactionUnset
	}
	if p.Handling == query.HandlingStrict && len(p.Invalid) > 0 {
		e := failure(http.StatusBadRequest, "PGRST122", "Invalid preferences given with handling=strict")
		e.Details = text("Invalid preferences: " + strings.Join(p.Invalid, ", "))
		return p, e
	}
	return p, nil
}

// withoutKey takes the API key, which clients may give as a parameter, out of a query string.
func withoutKey(raw string) string { return withoutParameter(raw, keyParameter) }

// withoutParameter takes the parameters that begin with a name and its equals sign out of a query string.
func withoutParameter(raw, name string) string {
	if !strings.Contains(raw, name) {
		return raw
	}
	var kept []string
	for parameter := range parameters(raw) {
		if !strings.HasPrefix(parameter, name) {
			kept = append(kept, parameter)
		}
	}
	return strings.Join(kept, "&")
}

const keyParameter = "apikey="

// KeyParameter is the API key that a query string holds, "" when there is none.
func KeyParameter(raw string) string { return parameterValue(raw, keyParameter) }

// parameterValue is the value of the first parameter that begins with a name and its equals sign, "" when there is none.
func parameterValue(raw, name string) string {
	if !strings.Contains(raw, name) {
		return ""
	}
	for parameter := range parameters(raw) {
		if value, ok := strings.CutPrefix(parameter, name); ok {
			if value, err := url.QueryUnescape(value); err == nil {
				return value
			}
		}
	}
	return ""
}

// parameters gives the parameters of a query string as they stand there. A semicolon separates like an ampersand.
func parameters(raw string) iter.Seq[string] {
	return strings.FieldsFuncSeq(raw, func(r rune) bool { return r == '&' || r == ';' })
}

// target fills in what is asked for and what to do with it from the path behind /rest/v1 and the method.
func target(request *query.Request, method, path string) error {
	name := strings.TrimPrefix(path, "/")
	if called, ok := strings.CutPrefix(name, "rpc/"); ok {
		if called == "" {
			return failure(http.StatusNotFound, "PGRST125", "Invalid path specified in request URL")
		}
		request.Action, request.Target = query.Call, called
		switch method {
		case http.MethodGet, http.MethodHead, http.MethodPost:
			return nil
		}
		return failure(http.StatusMethodNotAllowed, "PGRST101", "Cannot use the "+method+" method on RPC")
	}
	if name == "" {
		return failure(http.StatusNotFound, "PGRST125", "Invalid path specified in request URL")
	}
	request.Target = name
	switch method {
	case http.MethodGet, http.MethodHead:
		request.Action = query.Read
	case http.MethodPost:
		request.Action = query.Insert
	case http.MethodPatch:
		request.Action = query.Update
	case http.MethodPut:
		request.Action = query.Put
	case http.MethodDelete:
		request.Action = query.Delete
	default:
		return failure(http.StatusMethodNotAllowed, "PGRST117", "Unsupported HTTP method: "+method)
	}
	return nil
}

// profileHeader is the header that names the schema of a request with this method.
func profileHeader(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return "Accept-Profile"
	}
	return "Content-Profile"
}

// schema is the one that the profile header names, the first exposed one without it.
func (h *Handler) schema(r *http.Request) (string, error) {
	wanted := r.Header.Get(profileHeader(r.Method))
	if wanted == "" {
		return h.options.Schemas[0], nil
	}
	if !slices.Contains(h.options.Schemas, wanted) {
		e := failure(http.StatusNotAcceptable, "PGRST106", "Invalid schema: "+wanted)
		e.Hint = text("Only the following schemas are exposed: " + strings.Join(h.options.Schemas, ", "))
		return "", e
	}
	return wanted, nil
}

// arguments tells which parameters of a query string are arguments of a routine of that name. What looks like a filter
// is one, also beside an argument of its name, unless a routine would lack an argument that it must have.
func arguments(c *catalog.Catalog, name catalog.Name, raw string) func(key, value string) bool {
	routines := c.Routines(name)
	return func(key, value string) bool {
		wanted, needed := false, false
		for _, routine := range routines {
			for _, arg := range routine.Args {
				wanted = wanted || arg.Name == key
				needed = needed || arg.Name == key && !arg.HasDefault
			}
		}
		return wanted && (!query.IsPredicate(value) || needed && !query.HasArgument(raw, key))
	}
}

// window brings limit=, offset=, the Range header and the server's maximum together. Writes are never cut.
func window(request *query.Request, r *http.Request, maxRows int64) error {
	switch request.Action {
	case query.Read, query.Call:
	case query.Put:
		if request.Query.TopRange() != nil {
			return failure(http.StatusBadRequest, "PGRST114", "limit/offset querystring parameters are not allowed for PUT")
		}
		return nil
	default:
		return nil
	}
	var header string
	if r.Method == http.MethodGet {
		header = r.Header.Get("Range")
	}
	var err error
	request.Limit, request.Offset, err = query.Window(request.Query.TopRange(), header, maxRows)
	return err
}

// returning says what a write gives back, by its preference.
func returning(request *query.Request) query.Returning {
	switch request.Action {
	case query.Insert, query.Update, query.Put, query.Delete:
	default:
		return query.ReturnRows
	}
	switch request.Prefer.Return {
	case query.ReturnRepresentation:
		return query.ReturnRows
	case query.ReturnHeadersOnly:
		if request.Action == query.Insert {
			return query.ReturnKey
		}
	}
	return query.ReturnNothing
}

// writesOne says that a write must write one row: a single object is asked for, shown or not.
func writesOne(request *query.Request, f *format) bool {
	switch request.Action {
	case query.Insert, query.Update, query.Put, query.Delete:
		return f.media == mediaObject && f.plan == nil && f.through == nil
	}
	return false
}

// decodePath gives the path behind /rest/v1 decoded once, as the only form that is ever looked at. There is one name in
// it: a slash belongs to that where it is percent-encoded.
func decodePath(raw string) (string, error) {
	path, err := url.PathUnescape(raw)
	name := strings.TrimPrefix(strings.TrimPrefix(raw, "/"), "rpc/")
	if err != nil || !isText(path) || strings.Contains(name, "/") {
		return "", failure(http.StatusNotFound, "PGRST125", "Invalid path specified in request URL")
	}
	return path, nil
}

func isText(s string) bool {
	return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0
}
