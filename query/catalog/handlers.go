package catalog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// AnyMediaType is the name of the domain that stands for every media type.
const AnyMediaType = "*/*"

// ownMediaTypes begin the names of the media types that cannot be given another meaning.
const ownMediaTypes = "application/vnd.pgrst."

// anyElement is the type of arguments that take a row of anything.
const anyElement OID = 2283

// Handler is an aggregate that makes the body of an answer out of rows. The domain that it returns says of which
// media type.
type Handler struct {
	OID     OID
	Name    Name
	Row     *Relation // whose rows it takes, nil when it takes any
	Returns *Type
}

// MediaType is the media type of what the handler makes, or AnyMediaType.
func (h *Handler) MediaType() string { return h.Returns.MediaType() }

// Handlers gives the handlers of a relation's rows, or for nil those of any rows. Of several for one media type the
// first counts.
func (c *Catalog) Handlers(r *Relation) []*Handler {
	if r == nil {
		return c.handlers[0]
	}
	return c.handlers[r.OID]
}

// MediaType is the media type that a domain is named as, AnyMediaType for the domain of that name, "" for other
// types (RFC 6838 §4.2).
func (t *Type) MediaType() string {
	if t.Kind != DomainType {
		return ""
	}
	name := t.Name.Name
	if name == AnyMediaType {
		return name
	}
	major, minor, found := strings.Cut(name, "/")
	if !found || !isMediaName(major, ".-") || !isMediaName(minor, ".+-") || strings.HasPrefix(strings.ToLower(name), ownMediaTypes) {
		return ""
	}
	return name
}

// isMediaName says that a name is made of letters, digits and the others.
func isMediaName(name, others string) bool {
	for i := range len(name) {
		c := name[i] | 0x20 // small letters
		if (c < 'a' || c > 'z') && (name[i] < '0' || name[i] > '9') && strings.IndexByte(others, name[i]) < 0 {
			return false
		}
	}
	return name != ""
}

// MediaType is the media type of a routine's result, "" unless that is one value of a type named so.
func (r *Routine) MediaType() string {
	if r.ReturnsSet {
		return ""
	}
	return r.Returns.MediaType()
}

// addHandlers collects the handlers, the oldest first.
func (b *builder) addHandlers() error {
	if b.raw.PostGIS != "" {
		b.catalog.GeoJSON = Name{b.raw.PostGIS, "st_asgeojson"}
	}
	slices.SortFunc(b.raw.Handlers, func(x, y RawHandler) int { return cmp.Compare(x.OID, y.OID) })
	for _, raw := range b.raw.Handlers {
		h := &Handler{OID: raw.OID, Name: raw.Name, Returns: b.catalog.types[raw.Returns]}
		row := b.catalog.types[raw.Row]
		if h.Returns == nil || row == nil {
			return fmt.Errorf("aggregate %s has an unknown type", raw.Name)
		}
		if h.MediaType() == "" || row.Relation == nil && row.OID != anyElement {
			continue
		}
		key := OID(0)
		if h.Row = row.Relation; h.Row != nil {
			key = h.Row.OID
		}
		b.catalog.handlers[key] = append(b.catalog.handlers[key], h)
		b.catalog.HasHandlers = true
	}
	for _, overloads := range b.catalog.routines {
		for _, r := range overloads {
			b.catalog.HasHandlers = b.catalog.HasHandlers || r.MediaType() != ""
		}
	}
	return nil
}
