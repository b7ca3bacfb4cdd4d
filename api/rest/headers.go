package rest

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"basalt/query"
	"basalt/query/sql"
)

// mostLocation is the longest Content-Location: escaped, a long query grows to three times its length, and many clients
// give up on an answer whose headers are beyond 8 or 16 KiB.
const mostLocation = 4 << 10

// setHeaders sets the headers of an answer, its length excepted.
func (a *answer) setHeaders(status int) {
	header := a.c.Response().Header()
	request := a.request
	// The headers of every answer share one allocation; their names are canonical.
	values := new([4]string)
	set := func(i int, name, value string) {
		values[i] = value
		header[name] = values[i : i+1 : i+1]
	}
	if request.Action != query.Put {
		set(0, "Content-Range", a.contentRange())
	}
	if len(header["Vary"]) == 0 {
		set(1, "Vary", "Accept, Prefer, Range")
	}
	if request.Action == query.Read {
		if location := a.contentLocation(); len(location) <= mostLocation {
			set(2, "Content-Location", location)
		}
	}
	for _, renamed := range a.statement.Renamed {
		header.Add("Warning", `299 - "Addressing the embedded resource '`+headerText(renamed.Relation)+
			`' by its name is deprecated, use its alias '`+headerText(renamed.Alias)+`'"`)
	}
	if location := a.location(); location != "" {
		header.Set("Location", location)
	}
	if len(a.h.options.Schemas) > 1 || a.c.Request().Header[profileHeader(a.c.Request().Method)] != nil {
		header.Set("Content-Profile", request.Schema)
	}
	if a.c.Request().Header["Prefer"] != nil {
		target := len(request.Query.OnConflict) > 0 || a.statement.relation != nil && len(a.statement.relation.PrimaryKey) > 0
		if applied := request.Prefer.AppendApplied(nil, request.Action, target); len(applied) > 0 {
			header.Set("Preference-Applied", string(applied))
		}
	}
	if times := a.h.clock(a.c); times != nil {
		if !a.streamed {
			times.lap(lapResponse)
		}
		header.Set("Server-Timing", times.header())
	}
	if request.Returning == query.ReturnRows && status != http.StatusNoContent {
		if len(header["Content-Type"]) == 0 {
			set(3, "Content-Type", a.format.contentType())
		}
	}
}

// contentRange tells which rows of how many the answer holds.
func (a *answer) contentRange() string {
	total := "*"
	if n := a.count(); n >= 0 {
		total = strconv.FormatInt(n, 10)
	}
	first, last := a.request.Offset, a.request.Offset+a.rows-1
	switch {
	case a.request.Action == query.Insert, a.request.Action == query.Delete:
		return "*/" + total
	case a.request.Action == query.Update:
		first, last = 0, a.rows-1
	case a.statement.Single:
		last = first // a result that is no set counts as one row, even when it is nothing
	}
	if a.streamed {
		last = first + a.shown() - 1 // nothing when only the end will tell
	}
	if last < first || total == "0" || a.request.Cursor != nil { // where a cursor leads to is not counted
		return "*/" + total
	}
	return strconv.FormatInt(first, 10) + "-" + strconv.FormatInt(last, 10) + "/" + total
}

// contentLocation is the request's own address in canonical form.
func (a *answer) contentLocation() string {
	location := "/" + url.PathEscape(a.request.Target)
	if raw := withoutKey(a.c.Request().URL.RawQuery); raw != "" {
		return location + "?" + query.Canonical(raw)
	}
	return location
}

// location is the address of the one row that was written, for return=headers-only.
func (a *answer) location() string {
	if a.request.Returning != query.ReturnKey || a.rows != 1 || len(a.keys) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("/" + url.PathEscape(a.request.Target))
	separator := byte('?')
	for i, hidden := range a.statement.Hidden {
		if hidden.Kind != sql.KeyColumn || i >= len(a.keys) {
			continue
		}
		b.WriteByte(separator)
		b.WriteString(url.QueryEscape(hidden.Name) + "=" + url.QueryEscape(a.keys[i]))
		separator = '&'
	}
	return b.String()
}

// frames says that a header tells where an answer ends or what becomes of its connection (RFC 9112 §6): that is the
// server's to say, whatever a function decides.
func frames(name string) bool {
	switch name {
	case "Connection", "Content-Length", "Keep-Alive", "Trailer", "Transfer-Encoding", "Upgrade":
		return true
	}
	return strings.HasPrefix(name, http.TrailerPrefix)
}

// headerText keeps a value that came from a database from ending its header line.
func headerText(value string) string {
	return strings.Map(func(r rune) rune {
		if r == '\r' || r == '\n' || r == 0 {
			return ' '
		}
		return r
	}, value)
}
