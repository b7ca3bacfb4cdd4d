package rest

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/labstack/echo/v4"

	"basalt/api/rest/openapi"
	"basalt/auth"
	"basalt/query"
	"basalt/query/catalog"
	"basalt/query/sql"
	"basalt/store"
)

// Root is what an operator decides about the answer at the root of the API.
type Root struct {
	// Function answers in place of the description, "" for none.
	Function string
	Mode     DescriptionMode
	openapi.Options
}

// DescriptionMode says what the description covers.
type DescriptionMode string

// The modes.
const (
	FollowPrivileges DescriptionMode = "follow-privileges" // what the role of the request may use
	IgnorePrivileges DescriptionMode = "ignore-privileges" // everything in the schema
	NoDescription    DescriptionMode = "disabled"
)

// isRoot says that a path behind the prefix is that of the API's root.
func isRoot(path string) bool { return path == "" || path == "/" }

// rootTarget is the path that a request for the root means: the function's that answers there, else the same.
func (h *Handler) rootTarget(method, path string) string {
	root := &h.options.Root
	if root.Function == "" || root.Mode == NoDescription || method != http.MethodGet && method != http.MethodHead {
		return path
	}
	return "/rpc/" + root.Function
}

// answerRoot answers GET and HEAD of the root: the description of what the role of the request may do.
//
// It is OpenAPI 3.1 where Accept asks for application/openapi+json;version=3.1 (or the same of
// application/vnd.oai.openapi+json) or the address says ?openapi=3.1, Swagger 2.0 otherwise.
func (h *Handler) answerRoot(c echo.Context, p *Planner, principal *auth.Principal) error {
	r := c.Request()
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return failure(http.StatusMethodNotAllowed, "PGRST117", "Unsupported HTTP method: "+r.Method)
	}
	if h.options.Root.Mode == NoDescription {
		return failure(http.StatusNotFound, "PGRST126", "Root endpoint metadata is disabled")
	}
	request := &query.Request{Action: query.Read, Query: &query.Query{}}
	var err error
	if request.Schema, err = h.schema(r); err != nil {
		return err
	}
	version, err := descriptionVersion(r)
	if err != nil {
		return err
	}
	if err := h.permit(request, principal, p.catalog); err != nil {
		return err
	}
	var rights rightsSink
	ignored := h.options.Root.Mode == IgnorePrivileges
	if !ignored || h.preRequest != nil { // the function before each request may refuse this one
		flight := store.Flight{
			Session: h.session(r, "/", principal, request, p.catalog, nil),
			Steps:   []store.Step{{Statement: rightsStatement, Params: [][]byte{[]byte(request.Schema)}, Sink: &rights}},
		}
		flight.Session.ReadOnly = true
		if err := h.db.Run(r.Context(), &flight); err != nil {
			return err
		}
	}
	if ignored {
		rights = rightsSink{}
	}
	d := p.descriptions.of(descriptionKey{request.Schema, version, rights.digest()}, func() []byte {
		return openapi.Document(p.catalog, request.Schema, rights.rights, version, h.options.Root.Options)
	})
	return h.writeDescription(c, d, request.Schema, version)
}

// writeDescription sends a description, or tells a client that the one it has is still right (RFC 9110 §13.1.2).
func (h *Handler) writeDescription(c echo.Context, d *description, schema string, version openapi.Version) error {
	r, header := c.Request(), c.Response().Header()
	header.Set("Etag", d.etag)
	header.Set("Cache-Control", "private, no-cache")
	header.Add("Vary", "Accept, Accept-Profile, Authorization, Apikey")
	if len(h.options.Schemas) > 1 {
		header.Set("Content-Profile", schema)
	}
	if matches(r.Header["If-None-Match"], d.etag) {
		c.Response().WriteHeader(http.StatusNotModified)
		return nil
	}
	contentType := "application/openapi+json; charset=utf-8"
	if version == openapi.OpenAPI31 {
		contentType = "application/openapi+json; version=3.1; charset=utf-8"
	}
	header.Set("Content-Type", contentType)
	return writeBody(c.Response(), r.Method, http.StatusOK, d.body)
}

// matches says whether one of the tags of If-None-Match is this one, compared weakly.
func matches(header []string, etag string) bool {
	for _, tag := range strings.Split(strings.Join(header, ","), ",") {
		if tag = strings.TrimSpace(tag); tag == "*" || strings.TrimPrefix(tag, "W/") == strings.TrimPrefix(etag, "W/") {
			return true
		}
	}
	return false
}

// descriptionVersion is the version that a request wants: the best rated that there is.
func descriptionVersion(r *http.Request) (openapi.Version, error) {
	for parameter := range parameters(r.URL.RawQuery) {
		if wanted, ok := strings.CutPrefix(parameter, "openapi="); ok {
			if wanted, err := url.QueryUnescape(wanted); err == nil {
				if version, ok := versionNamed(wanted); ok {
					return version, nil
				}
			}
			return 0, failure(http.StatusNotAcceptable, "PGRST107", "None of these versions of OpenAPI are available: "+wanted)
		}
	}
	header := r.Header["Accept"]
	if len(header) == 0 {
		return openapi.Swagger2, nil
	}
	best, chosen := 0.0, openapi.Swagger2
	for _, element := range strings.Split(strings.Join(header, ","), ",") {
		name, parameters, err := mime.ParseMediaType(element)
		if err != nil {
			continue
		}
		quality, version := 1.0, openapi.Swagger2
		if q, rated := parameters["q"]; rated {
			if quality, err = strconv.ParseFloat(q, 64); err != nil {
				continue
			}
		}
		switch name {
		case "application/openapi+json", "application/vnd.oai.openapi+json":
			if wanted, ok := parameters["version"]; ok {
				if version, ok = versionNamed(wanted); !ok {
					continue
				}
			}
		case "application/json", "application/*", "*/*":
		default:
			continue
		}
		if quality > best {
			best, chosen = quality, version
		}
	}
	if best == 0 {
		return 0, notAcceptable(strings.Join(header, ", "))
	}
	return chosen, nil
}

// versionNamed finds a version by its number: a patch of the specification changes no document.
func versionNamed(number string) (openapi.Version, bool) {
	switch {
	case number == "2.0" || number == "2":
		return openapi.Swagger2, true
	case number == "3.1" || strings.HasPrefix(number, "3.1."):
		return openapi.OpenAPI31, true
	}
	return 0, false
}

// rightsStatement asks what the current role may do with the relations (the bits are openapi's verbs) and routines of a
// schema. The names are spelled with their schema: the search path is the request's.
var rightsStatement = &sql.Statement{
	SQL: `
select
  false as routine,
  c.oid,
  case when pg_catalog.has_any_column_privilege(c.oid, 'select') then 1 else 0 end
  | case when pg_catalog.has_any_column_privilege(c.oid, 'insert') then 2 else 0 end
  | case when pg_catalog.has_any_column_privilege(c.oid, 'update') then 4 else 0 end
  | case when pg_catalog.has_table_privilege(c.oid, 'delete') then 8 else 0 end
from pg_catalog.pg_class c
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
where n.nspname = $1
  and c.relkind in ('r', 'p', 'v', 'm', 'f')
  and not c.relispartition
  and pg_catalog.has_schema_privilege(n.oid, 'usage')
union all
select
  true,
  p.oid,
  0
from pg_catalog.pg_proc p
join pg_catalog.pg_namespace n on n.oid = p.pronamespace
where n.nspname = $1
  and p.prokind = 'f'
  and pg_catalog.has_schema_privilege(n.oid, 'usage')
  and pg_catalog.has_function_privilege(p.oid, 'execute')
order by
  1,
  2`,
	Params: []sql.Param{{}},
}

// rightsSink takes the answer to the rights statement. Roles with the same rights have the same digest.
type rightsSink struct {
	rights *openapi.Rights
	hash   hash.Hash
}

// Begin implements store.Sink.
func (s *rightsSink) Begin(store.Columns) error {
	s.rights = &openapi.Rights{Relations: map[catalog.OID]openapi.Verb{}, Routines: map[catalog.OID]bool{}}
	s.hash = sha256.New()
	return nil
}

// Row implements store.Sink. The values are a boolean, an oid and an integer in binary.
func (s *rightsSink) Row(values [][]byte) error {
	for _, value := range values {
		s.hash.Write(value)
	}
	oid := binary.BigEndian.Uint32(values[1])
	if values[0][0] != 0 {
		s.rights.Routines[oid] = true
	} else {
		s.rights.Relations[oid] = openapi.Verb(binary.BigEndian.Uint32(values[2]))
	}
	return nil
}

// End implements store.Sink.
func (s *rightsSink) End(int64) error { return nil }

// Restart implements store.Restarter.
func (s *rightsSink) Restart() bool {
	*s = rightsSink{}
	return true
}

// digest is empty for all rights.
func (s *rightsSink) digest() string {
	if s.hash == nil {
		return ""
	}
	return string(s.hash.Sum(nil))
}

// A catalog keeps so many descriptions, and so many bytes of them. Beyond either the oldest are forgotten: they are
// made again when they are asked for.
const (
	maxDescriptions     = 32
	maxDescriptionBytes = 64 << 20
)

// descriptions are those that were made of a catalog.
type descriptions struct {
	// One is made at a time, so that many who ask at once for the same large one cost one.
	mu    sync.Mutex
	kept  []*description // the oldest first
	bytes int
}

type descriptionKey struct {
	schema  string
	version openapi.Version
	rights  string
}

// description is one with what it was made for.
type description struct {
	key  descriptionKey
	body []byte
	etag string
}

// of finds a description or makes it.
func (d *descriptions) of(key descriptionKey, write func() []byte) *description {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := slices.IndexFunc(d.kept, func(one *description) bool { return one.key == key })
	if at >= 0 {
		return d.kept[at]
	}
	made := &description{key: key, body: write()}
	sum := sha256.Sum256(made.body)
	made.etag = `W/"` + hex.EncodeToString(sum[:16]) + `"` // weak: the body may be compressed on its way
	for len(d.kept) > 0 && (len(d.kept) == maxDescriptions || d.bytes+len(made.body) > maxDescriptionBytes) {
		d.bytes -= len(d.kept[0].body)
		d.kept = slices.Delete(d.kept, 0, 1)
	}
	if len(made.body) <= maxDescriptionBytes {
		d.kept = append(d.kept, made)
		d.bytes += len(made.body)
	}
	return made
}
