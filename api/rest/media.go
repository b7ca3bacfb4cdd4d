package rest

import (
	"net/http"
	"slices"
	"strings"

	"basalt/query"
	"basalt/query/catalog"
	"basalt/query/sql"
)

// media is what an answer is written as.
type media byte

const (
	mediaJSON   media = iota // an array of objects
	mediaObject              // application/vnd.pgrst.object+json: exactly one object
	mediaCSV
	mediaNDJSON  // one object a line
	mediaGeoJSON // a collection of features, made by PostGIS of each row
	mediaText    // the bare text of a scalar result
	mediaXML     // the same of xml
	mediaBinary  // the same of bytea
	mediaMade    // what a function of the database has made of the rows
)

// format is a negotiated media type with its parameters.
type format struct {
	media    media
	stripped bool       // nulls=stripped
	made     string     // of mediaMade: the type
	through  *through   // what makes it in the database, nil for what is written here
	plan     *explained // PostgreSQL's plan is wanted instead
}

// through is a function of the database that rows go through.
type through struct {
	id catalog.OID // tells it from others of the same catalog
	*sql.Media
}

// pastHandlers is an id that no aggregate has.
const (
	ownResult catalog.OID = iota
	pastHandlers
)

func (f *format) contentType() string {
	switch f.media {
	case mediaObject:
		if f.stripped {
			return "application/vnd.pgrst.object+json;nulls=stripped; charset=utf-8"
		}
		return "application/vnd.pgrst.object+json; charset=utf-8"
	case mediaCSV:
		return "text/csv; charset=utf-8"
	case mediaNDJSON:
		return "application/x-ndjson; charset=utf-8"
	case mediaGeoJSON:
		return "application/geo+json; charset=utf-8"
	case mediaText:
		return "text/plain; charset=utf-8"
	case mediaXML:
		return "text/xml; charset=utf-8"
	case mediaBinary:
		return "application/octet-stream"
	case mediaMade:
		return madeType(f.made)
	}
	if f.stripped {
		return "application/vnd.pgrst.array+json;nulls=stripped; charset=utf-8"
	}
	return "application/json; charset=utf-8"
}

// madeType is the Content-Type of what a function of the database has made. The characters of the types that are
// known to be text are always those of UTF-8; of others the name says all.
func madeType(name string) string {
	switch strings.ToLower(name) {
	case catalog.AnyMediaType:
		return "application/octet-stream"
	case "application/json", "application/geo+json", "text/csv", "text/plain", "text/xml", "application/openapi+json",
		"application/x-www-form-urlencoded":
		return strings.ToLower(name) + "; charset=utf-8"
	}
	return name
}

// bareType is the type of PostgreSQL's own whose values a format writes as they are, "" when it takes any result.
func (f *format) bareType() string {
	switch f.media {
	case mediaText:
		return "text"
	case mediaXML:
		return "xml"
	case mediaBinary:
		return "bytea"
	}
	return ""
}

// isBare says that there is no JSON around the value.
func (f *format) isBare() bool { return f.media >= mediaText }

// frame is what stands around all rows.
func (f *format) frame() (opening, closing string) {
	if f.media == mediaGeoJSON {
		return `{"type" : "FeatureCollection", "features" : [`, "]}"
	}
	return "[", "]"
}

// builtin gives the format that a media range stands for without any doing of the database; a new one is one row.
func builtin(a *accepted) (format, bool) {
	switch a.name {
	case anything, "application/*", "application/json":
		return format{}, true
	case "text/csv":
		return format{media: mediaCSV}, true
	case "application/x-ndjson":
		return format{media: mediaNDJSON}, true
	case "application/geo+json":
		return format{media: mediaGeoJSON}, true
	case "text/plain":
		return format{media: mediaText}, true
	case "text/xml":
		return format{media: mediaXML}, true
	case "application/octet-stream":
		return format{media: mediaBinary}, true
	}
	return format{}, false
}

// offers are the media types that the result of one request can be had in.
type offers struct {
	catalog *catalog.Catalog
	*compiled
	request *query.Request
	plans   bool // whether PostgreSQL's plan may be seen
}

// choose gives the best format that a statement's result can be written in.
func (h *Handler) choose(p *Planner, list []accepted, statement *compiled, request *query.Request, header []string) (format, error) {
	if list == nil && !p.catalog.HasHandlers {
		return format{}, nil
	}
	o := offers{catalog: p.catalog, compiled: statement, request: request, plans: h.options.Plans}
	if list == nil {
		plain := accepted{name: anything}
		if len(header) > 0 {
			plain.name = header[0]
		}
		f, _ := o.match(&plain)
		return f, nil
	}
	for i := range list {
		if f, ok := o.match(&list[i]); ok {
			return f, nil
		}
	}
	wanted := make([]string, len(list))
	for i := range list {
		wanted[i] = list[i].mediaType()
	}
	e := notAcceptable(strings.Join(wanted, ", "))
	if !o.plans && slices.ContainsFunc(list, func(a accepted) bool { return a.plan != nil }) {
		e.Hint = text("The operator can allow plans with --rest-plan.")
	}
	return format{}, e
}

// match gives the format in which a media range can be had.
func (o *offers) match(a *accepted) (f format, ok bool) {
	switch {
	case a.plan != nil && (!o.plans || a.plan.of.plan != nil):
		return format{}, false
	case a.plan != nil:
		f, ok = o.match(&a.plan.of)
		f.plan = a.plan
		return f, ok
	case a.isObject():
		return format{media: mediaObject, stripped: a.stripped}, true
	case a.isArray() && a.stripped:
		return format{stripped: true}, true
	}
	name := a.name
	if a.isArray() {
		name = "application/json"
	}
	if o.catalog.HasHandlers && !o.Void {
		if f, ok := o.handled(name); ok {
			return f, true
		}
	}
	if name != a.name {
		return format{}, true
	}
	f, ok = builtin(a)
	switch {
	case f.media == mediaGeoJSON:
		if o.Void || o.catalog.GeoJSON.Name == "" {
			return format{}, false
		}
		f.through = &through{pastHandlers, &sql.Media{Function: o.catalog.GeoJSON}}
	case f.isBare():
		ok = o.gives(f.bareType())
	}
	return f, ok
}

// handled gives the format of a handler: first those of the target itself, and of these the one for all media types.
func (o *offers) handled(name string) (format, bool) {
	if o.routine != nil && o.Scalar {
		if own := o.routine.MediaType(); own == catalog.AnyMediaType || own != "" && strings.EqualFold(own, name) {
			return format{media: mediaMade, made: own, through: &through{ownResult, &sql.Media{Returns: o.routine.Returns}}}, true
		}
	}
	if target := o.target(); target != nil && o.whole() {
		own := o.catalog.Handlers(target)
		if f, ok := handledBy(own, catalog.AnyMediaType); ok {
			return f, true
		}
		if f, ok := handledBy(own, name); ok {
			return f, true
		}
	}
	return handledBy(o.catalog.Handlers(nil), name)
}

// handledBy gives the format of the first handler for a media type.
func handledBy(handlers []*catalog.Handler, name string) (format, bool) {
	for _, handler := range handlers {
		if made := handler.MediaType(); strings.EqualFold(made, name) {
			return format{media: mediaMade, made: made, through: &through{handler.OID, &sql.Media{
				Function: handler.Name, Aggregate: true, Row: handler.Row, Returns: handler.Returns,
			}}}, true
		}
	}
	return format{}, false
}

// target is the relation that the rows are of, nil when they are of none.
func (o *offers) target() *catalog.Relation {
	if o.routine == nil {
		return o.relation
	}
	if o.Scalar {
		return nil
	}
	return o.routine.Relation
}

// whole says that the rows are as they are in their relation.
func (o *offers) whole() bool {
	q := o.request.Query
	return !q.HasSelect || len(q.Select) == 1 && q.Select[0].Kind == query.StarItem
}

// gives says that the result is one value of a type of PostgreSQL's own.
func (c *compiled) gives(typeName string) bool {
	if !c.Scalar || !c.Single || c.Void || c.routine.Returns.JSONCast.Name != "" || c.routine.Returns.MediaType() != "" {
		return false
	}
	return c.routine.Returns.Underlying().Name == catalog.Name{Schema: "pg_catalog", Name: typeName}
}

func notAcceptable(wanted string) *Error {
	return failure(http.StatusNotAcceptable, "PGRST107", "None of these media types are available: "+wanted)
}
